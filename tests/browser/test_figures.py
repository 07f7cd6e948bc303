"""Figures that move in a page without a kernel: each must show what the same Python function returns."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from bs4 import BeautifulSoup

from scalelab.records import Stamp
from scalelab.show import draw
from scalelab.show.chart import Axis, Chart, Series
from scalelab.show.explore import Replay, Slider
from tests.browser.conftest import Visit
from tests.browser.test_pages import PAGES
from tests.notebooks import ROOT, WRITTEN, chapter

HEAVIEST = 300_000  # bytes that we may add to a page, compressed
SHARED = (".css", ".js", ".woff2")
SVG = "{http://www.w3.org/2000/svg}"

STATE = """(figure) => {
  const texts = (selector) => [...figure.querySelectorAll(selector)].map((e) => e.textContent);
  const inputs = [...figure.querySelectorAll(".sl-control input")];
  return {
    values: inputs.map((e) => Number(e.value)),
    spoken: inputs.map((e) => e.getAttribute("aria-valuetext")),
    outputs: texts(".sl-control output"),
    title: figure.querySelector(".sl-title").textContent,
    alt: figure.querySelector("svg[role=img]").getAttribute("aria-label"),
    readouts: texts(".sl-readouts dd"),
    rows: [...figure.querySelectorAll(".sl-twin tbody tr")]
      .map((row) => [...row.cells].map((e) => e.textContent)),
    drawn: [...figure.querySelectorAll("svg [id*='-series-']")].map((group) => [
      group.id.replace(/.*(series-)/, "$1"),
      group.querySelector(":scope > path")?.getAttribute("d") ?? "",
      [...group.querySelectorAll("use")].filter((e) => e.style.display !== "none")
        .map((e) => [Number(e.getAttribute("x")), Number(e.getAttribute("y"))]),
    ]),
  };
}"""


def sampler(scale: float, gap: float) -> Chart:
    """A chart with every kind of series, in which points come and go with the second slider."""
    x = np.linspace(1.0, 9.0, 9)
    y = scale * x
    dots = x[x >= gap]
    return Chart(
        f"A sampler of scale {scale:g}",
        Axis("x"),
        Axis("y", log=True),
        (
            Series("limit", x, np.full_like(x, 20.0), "dashed", tone=0),
            Series("curve", x, y**1.5),
            Series("spread", x, y, "band", tone=2, low=0.8 * y, high=1.2 * y),
            Series("part", x, 0.5 * y, "part", tone=5, low=0.5 * y, high=y),
            Series("dots", dots, scale * dots, "points", tone=3, low=dots, high=6 * dots),
            Series("broken", x, np.where(x == gap, np.nan, 2 * y), tone=4),
        ),
        {"Scale": f"{scale:g}", "Gap": f"at {gap:g}"},
        Stamp("model"),
    )


def sampled() -> Replay:
    return Replay(
        sampler,
        {
            "scale": Slider("scale of it all", tuple(np.linspace(1, 5, 9).tolist()), 2.0),
            "gap": Slider("where the gap is", (2.0, 4.0, 6.0, 8.0), 4.0),
        },
    )


def explored(slug: str) -> list[str]:
    """The cells of a chapter that show a figure to play with, in the order of its page."""
    return [cell for cell in chapter(slug).code if re.search(r"^explore\(", cell, re.MULTILINE)]


def made_anew(slug: str, number: int) -> Replay:
    """The figure that a chapter's own cell makes here, on top of nothing but the chapter's imports."""
    found: list[Replay] = []
    names: dict = {}
    exec(chapter(slug).code[0], names)
    names["explore"] = lambda make, **sliders: found.append(Replay(make, sliders))
    exec(explored(slug)[number], names)
    return found[0]


@dataclass
class Live:
    """A figure in a page, and the same figure made anew by Python."""

    visit: Visit
    figure: object
    replay: Replay

    def state(self) -> dict:
        return self.figure.evaluate(STATE)

    def buttons(self) -> list:
        """Return what stands below the sliders, in order."""
        return self.figure.locator(".sl-link, .sl-reset").all()

    def sliders(self) -> list:
        """The sliders as an assistive technology finds them: by role and name."""
        return [
            self.figure.get_by_role("slider", name=one.label, exact=False)
            for one in self.replay.sliders.values()
        ]

    def agrees(self) -> dict:
        """Hold all that the page shows against Python's chart of the same choice, and return it."""
        state = self.state()
        chart = self.replay.frames[np.ravel_multi_index(state["values"], self.replay.shape)]
        sliders = self.replay.sliders.values()
        texts = [one.texts[at] for one, at in zip(sliders, state["values"], strict=True)]
        assert state["outputs"] == state["spoken"] == texts
        assert state["title"] == chart.title
        assert state["alt"] == chart.describe()
        assert state["readouts"] == list(chart.readouts.values())
        assert state["rows"] == list(chart.rows())
        for name, distance in distances(state["drawn"], chart).items():
            assert distance < 0.5, f"{name} is {distance:g} px from where Python draws it"
        return state


def distances(drawn: list, chart: Chart) -> dict[str, float]:
    """How far each series in the page is from the one in Python's own picture of the chart."""
    text, scales = draw.svg(chart)
    corners = []
    for scale, axis in ((scales["x"], chart.x), (scales["y"], chart.y)):
        start, slope, log = scale
        corners.append(
            sorted(start + slope * (np.log10(v) if log else v) for v in (axis.low, axis.high))
        )
    python = {
        group.get("id").split("-", 1)[1]: (
            getattr(group.find(f"{SVG}path"), "attrib", {}).get("d", ""),
            [
                [float(use.get("x")), float(use.get("y"))]
                for use in group.iter(f"{SVG}use")
                if "display: none" not in use.get("style", "")
            ],
        )
        for group in ElementTree.fromstring(text).iter(f"{SVG}g")
        if "-series-" in group.get("id", "")
    }
    assert {name for name, *_ in drawn} == set(python)
    found = {}
    for name, path, marks in drawn:
        there_path, there_marks = python[name]
        one, two = segments(path, marks), segments(there_path, there_marks)
        found[name] = max(farthest(one, two, corners), farthest(two, one, corners))
    return found


def segments(path: str, marks: list) -> np.ndarray:
    """The straight pieces (from, to) of a path; a lone point, and a mark, is a piece of no length."""
    pieces = [(mark, mark) for mark in marks]
    for stroke in path.split("M")[1:]:
        points = np.array(re.findall(r"-?\d+\.?\d*", stroke), float).reshape(-1, 2)
        if stroke.strip().lower().endswith("z"):
            points = np.vstack([points, points[:1]])
        pieces += list(zip(points, points[1:] if len(points) > 1 else points, strict=False))
    return np.array(pieces, float).reshape(-1, 2, 2)


def farthest(one: np.ndarray, two: np.ndarray, corners: list) -> float:
    """The largest distance of ends and middles of `one` inside the axes from the pieces of `two`."""
    (left, right), (top, bottom) = corners
    ends = np.concatenate([one[:, 0], one[:, 1], one.mean(axis=1)])
    x, y = ends.T
    ends = ends[(x >= left) & (x <= right) & (y >= top) & (y <= bottom)]
    if not len(ends):
        return 0.0
    if not len(two):
        return np.inf
    start, step = two[:, 0], two[:, 1] - two[:, 0]
    length = (step**2).sum(-1)
    along = ((ends[:, None] - start) * step).sum(-1) / np.where(length > 0, length, 1)
    nearest = start + np.clip(along, 0, 1)[..., None] * step
    return float(np.sqrt(((ends[:, None] - nearest) ** 2).sum(-1)).min(-1).max())


FIGURES = [("sampler", 0), *((slug, n) for slug in WRITTEN for n in range(len(explored(slug))))]
chapters = pytest.mark.parametrize("slug", WRITTEN)


@pytest.fixture(scope="module", params=FIGURES, ids=lambda figure: f"{figure[0]}-{figure[1]}")
def made(request, book, tmp_path_factory):
    """A figure, as Python makes it here, and the page that holds it: (replay, address, which figure)."""
    name, number = request.param
    if name != "sampler":
        return made_anew(name, number), (book / "chapters" / f"{name}.html").as_uri(), number
    file = tmp_path_factory.mktemp("figures") / "sampler.html"
    replay = sampled()
    file.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sampler</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f"<body>{replay.html()}</body></html>",
    )
    return replay, file.as_uri(), number


@pytest.fixture
def live(made, visit):
    """Return a way to open the figure in a fresh visit."""

    def start(**options) -> Live:
        replay, address, number = made
        one = visit(**options)
        one.open(address)
        figure = one.page.locator(".sl-figure:has(.sl-controls)").nth(number)
        figure.scroll_into_view_if_needed()
        return Live(one, figure, replay)

    return start


def test_every_key_moves_all_that_the_figure_says(live):
    one = live()
    fresh = one.agrees()
    assert fresh["values"] == list(np.unravel_index(one.replay.start, one.replay.shape))
    for at, slider in enumerate(one.sliders()):
        last = one.replay.shape[at] - 1
        one.figure.get_by_role("button", name="Reset").click()  # each from where the figure starts
        slider.focus()
        shown = []
        for key, value in (("Home", 0), ("ArrowRight", 1), ("End", last), ("ArrowLeft", last - 1)):
            slider.press(key)
            shown.append(one.agrees())
            assert shown[-1]["values"][at] == value
        first, _, end, _ = shown
        assert first["spoken"] != end["spoken"]
        for part in ("drawn", "readouts"):
            assert not fresh[part] or first[part] != end[part], part


def test_reset_restores_what_was_there_at_first(live):
    one = live()
    fresh = one.agrees()
    for slider in one.sliders():
        slider.press("End")
    assert one.agrees()["values"] != fresh["values"]
    one.figure.get_by_role("button", name="Reset").click()
    again = one.agrees()
    assert {**again, "drawn": None} == {**fresh, "drawn": None}


def test_a_link_brings_another_reader_to_the_same_view(live):
    one = live()
    for slider in one.sliders():
        slider.press("End")
    seen = one.agrees()
    address = one.figure.locator(".sl-link").evaluate("a => a.href")
    other = live()
    other.visit.page.goto("about:blank")
    other.visit.open(address)
    assert {**other.agrees(), "drawn": None} == {**seen, "drawn": None}


@pytest.mark.parametrize("hostile", ["figure-1=x", "figure-1=9999.9999.3", "figure-1=", "%00"])
def test_an_address_that_asks_for_nonsense_changes_nothing_or_stops_at_the_end(live, hostile):
    one = live()
    one.visit.page.evaluate("hash => { location.hash = hash; }", hostile)
    one.agrees()
    assert one.visit.faults == []


def test_tab_walks_through_the_controls_and_shows_where_it_is(live):
    one = live()
    keyboard = one.visit.page.keyboard
    stamps = one.figure.locator("a.sl-stamp").all()  # links on a page of the book
    stops = [*one.sliders(), *one.buttons(), *stamps, one.figure.locator("summary")]
    stops[0].focus()
    keyboard.press("Shift+Tab")
    for stop in stops:
        keyboard.press("Tab")
        assert stop.evaluate("e => e === document.activeElement")
        assert stop.evaluate("e => getComputedStyle(e).outlineStyle") != "none"
    keyboard.press("Enter")
    assert one.figure.locator(".sl-twin tbody").is_visible()


def test_a_mouse_drags_a_slider(live):
    one = live()
    mouse = one.visit.page.mouse
    for at, slider in enumerate(one.sliders()):
        slider.press("Home")
        box = slider.bounding_box()
        middle = box["y"] + box["height"] / 2
        mouse.move(box["x"] + 8, middle)
        mouse.down()
        mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
        assert 0 < one.agrees()["values"][at] < one.replay.shape[at] - 1
        mouse.move(box["x"] + box["width"] + 20, middle, steps=4)
        mouse.up()
        assert one.agrees()["values"][at] == one.replay.shape[at] - 1


PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}


def drag(visit: Visit, slider) -> None:
    """Take a slider by a finger from its left end to its right one."""
    finger = visit.context.new_cdp_session(visit.page)

    def touch(kind: str, *points) -> None:
        spots = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

    slider.scroll_into_view_if_needed()
    slider.press("Home")
    box = slider.bounding_box()
    assert box["height"] >= 24
    middle = box["y"] + box["height"] / 2
    touch("touchStart", (box["x"] + 8, middle))
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        touch("touchMove", (box["x"] + share * box["width"], middle))
    touch("touchEnd")


def test_a_finger_drags_a_slider_on_a_phone(live):
    one = live(**PHONE)
    for at, slider in enumerate(one.sliders()):
        drag(one.visit, slider)
        assert one.agrees()["values"][at] == one.replay.shape[at] - 1


def test_a_finger_drags_every_slider_outside_chapters(visit, book):
    moved = 0
    for page in set(PAGES) - {f"chapters/{slug}" for slug in WRITTEN}:
        if b"sl-controls" not in (book / f"{page}.html").read_bytes():
            continue
        one = visit(**PHONE)
        one.open((book / f"{page}.html").as_uri())
        for figure in one.page.locator(".sl-figure.sl-alive").all():
            for slider in figure.get_by_role("slider").all():
                before = figure.locator(".sl-title").inner_text()
                drag(one, slider)
                assert slider.input_value() == slider.get_attribute("max")
                assert figure.locator(".sl-title").inner_text() != before
                moved += 1
    assert moved >= 2  # the cover has a figure


def test_without_a_script_picture_numbers_and_stamp_are_there_and_no_dead_control(live):
    one = live(java_script_enabled=False)
    chart = one.replay.chart
    assert one.figure.get_by_role("img", name=chart.describe()).is_visible()
    assert one.figure.locator(".sl-controls").is_hidden()
    assert one.figure.locator(".sl-readouts dd").all_inner_texts() == list(chart.readouts.values())
    assert one.figure.locator("figcaption").inner_text() == chart.stamp.text
    one.figure.locator("summary").click()
    rows = one.figure.locator(".sl-twin tbody tr")
    shown = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    assert shown == list(chart.rows())


def test_paper_shows_the_table_and_no_control(live):
    one = live()
    one.visit.page.emulate_media(media="print")
    assert one.figure.locator(".sl-controls").is_hidden()
    table = one.figure.locator(".sl-twin table")
    assert table.evaluate("e => e.checkVisibility()")
    assert table.bounding_box()["height"] > 20
    assert one.figure.locator("figcaption").is_visible()


@chapters
def test_a_page_moves_every_figure_its_chapter_explores(visit, book, slug):
    one = visit()
    one.open((book / "chapters" / f"{slug}.html").as_uri())
    assert one.page.locator(".sl-figure.sl-alive").count() == len(explored(slug))


@chapters
def test_every_figure_has_a_stamp_and_its_numbers(book, slug):
    soup = BeautifulSoup((book / "chapters" / f"{slug}.html").read_bytes(), "html.parser")
    for figure in soup.select(".sl-figure"):
        title = figure.select_one(".sl-title").text
        assert figure.select_one("figcaption .sl-stamp"), title
        assert figure.select(".sl-twin tbody tr"), title


@pytest.mark.parametrize("page", PAGES)
def test_a_page_weighs_little_more_than_a_plain_one(book, page):
    """Its figures, and our styles, scripts and fonts as a first visit fetches them."""
    html = (book / f"{page}.html").read_bytes()
    plain = BeautifulSoup(html, "html.parser")
    for part in plain.select("figure.sl-figure, style"):
        part.decompose()
    figures = len(gzip.compress(html)) - len(gzip.compress(plain.encode()))
    shared = [file for file in (ROOT / "book" / "_static").rglob("*") if file.suffix in SHARED]
    assert figures + sum(len(gzip.compress(file.read_bytes())) for file in shared) <= HEAVIEST
