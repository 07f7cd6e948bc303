"""Figures that move in a page without a kernel: each must show what the same Python function returns."""

from __future__ import annotations

import contextlib
import functools
import gzip
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import roofline
from scalelab.show.sliders import Figure, Replay, Slider
from scalelab.show.template import rendered
from tests.browser.conftest import Visit, nothing, visiting
from tests.browser.figures import Live, made_anew
from tests.browser.test_pages import PAGES
from tests.notebooks import ROOT, WRITTEN, explored

pytestmark = pytest.mark.turns(3)

HEAVIEST = 300_000  # bytes that we may add to a page, compressed
OURS = re.compile(rb"<(figure|style)\b.*?</\1>", re.DOTALL)


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
            Points("limit", x, np.full_like(x, 20.0), "dashed", tone=0),
            Points("curve", x, y**1.5),
            Points("spread", x, y, "band", tone=2, low=0.8 * y, high=1.2 * y),
            Points("part", x, 0.5 * y, "part", tone=5, low=0.5 * y, high=y),
            Points("dots", dots, scale * dots, "points", tone=3, low=dots, high=6 * dots),
            Points("broken", x, np.where(x == gap, np.nan, 2 * y), tone=4),
            Points("path", x[1::3], 3 * y[1::3], "joined", words=tuple(f"{v:g}" for v in y[1::3])),
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


# The sampler holds all that a figure can do; the chapters' own start and end as Python says in `test_pages`.
FIGURES = [
    ("sampler", 0),
    *(
        pytest.param((slug, n), marks=pytest.mark.thorough)
        for slug in WRITTEN
        for n in range(len(explored(slug)))
    ),
]


@pytest.fixture(scope="module", params=FIGURES, ids=lambda figure: f"{figure[0]}-{figure[1]}")
def made(request, book, tmp_path_factory):
    """A figure, as Python makes it here, and the page that holds it: (replay, address, which figure)."""
    name, number = request.param
    if name != "sampler":
        return made_anew(name, number), (book / "chapters" / f"{name}.html").as_uri(), number
    return alone(tmp_path_factory.mktemp("figures"))


def alone(folder):
    """The sampler in a page of its own."""
    file = folder / "sampler.html"
    replay = sampled()
    file.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sampler</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f"<body>{replay.html()}</body></html>",
    )
    return replay, file.as_uri(), 0


def opened(visit: Visit, made) -> Live:
    """Go to the figure."""
    replay, address, number = made
    visit.open(address)
    return Live.on(visit, number, replay)


class Readers:
    """One reader for each kind of screen, who stays on a page for all figures that it holds."""

    def __init__(self, browser) -> None:
        self.browser, self.ends, self.there = browser, contextlib.ExitStack(), {}

    def at(self, made, **screen) -> Live:
        """Return the figure in its page, where it starts."""
        replay, address, number = made
        kind = repr(screen)
        if kind not in self.there:
            self.there[kind] = self.ends.enter_context(visiting(self.browser, **screen))
        visit = self.there[kind]
        if visit.page.url.partition("#")[0] != address:
            visit.open(address)
        return Live.on(visit, number, replay)


@pytest.fixture(scope="module")
def readers(browser):
    """Readers who must have met no fault when all figures were seen."""
    readers = Readers(browser)
    with readers.ends:
        yield readers
        faults = [fault for one in readers.there.values() for fault in one.faults]
    nothing(faults)


@pytest.fixture(scope="module")
def shared(made, readers):
    """The figure in a page at a desk, for all tests that leave no trace there."""
    return readers.at(made, plain=True)


@pytest.fixture
def live(shared):
    """The same figure, where it starts."""
    shared.reset()
    return shared


def test_a_figure_opens_where_python_starts_it(shared):
    assert shared.agrees(shared.first)["values"] == shared.start


def test_every_key_moves_all_that_the_figure_says(live):
    fresh = live.agrees()
    for at, slider in enumerate(live.sliders()):
        last = live.end[at]
        live.reset()  # each from where the figure starts
        slider.focus()
        shown = []
        for key, value in (("Home", 0), ("ArrowRight", 1), ("End", last), ("ArrowLeft", last - 1)):
            slider.press(key)
            shown.append(live.agrees())
            assert shown[-1]["values"][at] == value
        first, _, end, _ = shown
        assert first["spoken"] != end["spoken"]
        for part in ("drawn", "readouts"):
            assert not fresh[part] or first[part] != end[part], part


def test_reset_restores_what_was_there_at_first(live):
    for slider in live.sliders():
        slider.press("End")
    assert live.agrees()["values"] == live.end
    live.reset()
    assert {**live.agrees(), "drawn": None} == {**live.first, "drawn": None}


BESIDE = """(figure) => {
  const marks = [...figure.querySelectorAll("[id$='-series-6'] use")].map((e) => e.getBoundingClientRect());
  const words = [...figure.querySelectorAll("svg text")].filter((e) => e.closest("[id*='-word-']"));
  const left = (a, b) => a.left - b.left;
  return words.map((e) => e.getBoundingClientRect()).sort(left)
    .map((word, i) => [word.left - marks.sort(left)[i].right, marks[i].top - word.bottom]);
}"""


def test_a_word_stays_as_far_from_its_mark_as_python_put_it(visit, tmp_path):
    live = opened(visit(plain=True, reduced_motion="reduce"), alone(tmp_path))
    first = live.figure.evaluate(BESIDE)
    assert len(first) == 3
    for slider in live.sliders():
        slider.press("End")
        assert np.allclose(live.figure.evaluate(BESIDE), first, atol=1.5)


# Of each word that is the name of a line: the number of the series that comes nearest to its middle.
NEAREST = """(svg) => {
  const lines = [...svg.querySelectorAll("[id*='-series-'] > path")].map((path) => {
    const screen = path.getScreenCTM(), length = path.getTotalLength();
    const at = (i) => path.getPointAtLength(length * i / 500).matrixTransform(screen);
    return [Number(path.parentNode.id.split("-").pop()), Array.from({ length: 501 }, (_, i) => at(i))];
  });
  return Object.fromEntries([...svg.querySelectorAll("text")].map((text) => {
    const box = text.getBoundingClientRect();
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const away = ([, line]) => Math.min(...line.map((one) => Math.hypot(one.x - x, one.y - y)));
    return [text.textContent.trim(), lines.sort((a, b) => away(a) - away(b))[0][0]];
  }));
}"""


@pytest.mark.parametrize("width", [360, 1280])
def test_the_name_of_a_roof_stands_nearest_to_that_roof(visit, tmp_path, width):
    """The flat of bf16 begins at the end of that of fp32, where its name was read as the name of that."""
    flats = {"fp32": 212e9, "fp64": 116e9, "bf16": 951e9, "int8": 1930e9, "fp16": 2.75e9}
    slopes = {"DRAM": 84e9, "L3": 238e9, "L2": 467e9, "L1d": 624e9}
    chart = roofline.roofs("Roofs", flats, slopes)
    file = tmp_path / "roofs.html"
    file.write_text(rendered("page.html", title="Roofs", body=Figure(chart).html()))
    one = visit(plain=True, viewport={"width": width, "height": 900})
    one.open(file.as_uri())
    seen = one.page.locator(".sl-figure > svg").evaluate(NEAREST)
    for turn, series in enumerate(chart.series):
        for name in filter(None, (series.tag, series.end)):
            assert seen[name] == turn, name


@pytest.mark.parametrize(("motion", "glides"), [("no-preference", True), ("reduce", False)])
def test_a_curve_glides_to_its_next_place_unless_the_reader_wants_no_motion(
    visit, tmp_path, motion, glides
):
    live = opened(visit(plain=True, reduced_motion=motion), alone(tmp_path))
    moving = """(figure, at) => {
      const slider = figure.querySelector("input");
      slider.value = at;
      slider.dispatchEvent(new Event("input"));
      const all = figure.getAnimations({ subtree: true });
      return Promise.all(all.map((one) => one.finished)).then(() => all.length > 0);
    }"""
    assert live.figure.evaluate(moving, 8) == glides
    live.agrees()


def test_a_link_brings_another_reader_to_the_same_view(live, made, visit):
    for slider in live.sliders():
        slider.press("End")
    seen = live.agrees()
    address = live.figure.locator(".sl-link").evaluate("a => a.href")
    replay, _, number = made
    other = opened(visit(plain=True), (replay, address, number))
    assert {**other.agrees(), "drawn": None} == {**seen, "drawn": None}


def test_a_link_survives_another_figure_before_its_own_and_another_stop(visit, tmp_path):
    """What it says of the figure and of each slider is a name, and no place in a row."""
    old, values = sampled(), (0.5, 1.25, *sampled().sliders["scale"].values)
    new = Replay(sampler, {**old.sliders, "scale": replace(old.sliders["scale"], values=values)})
    other = Replay(lambda scale: sampler(scale, 4.0), {"scale": old.sliders["scale"]})
    file = tmp_path / "later.html"
    file.write_text(rendered("page.html", title="Later", body=other.html() + new.html()))
    one = visit(plain=True)
    one.open(f"{file.as_uri()}#fig-sampler?scale=3.5&gap=6")
    chosen = [[values.index(3.5), 2], [other.sliders["scale"].values.index(2.0)]]
    assert [
        Live.on(one, n, which).agrees()["values"] for n, which in ((1, new), (0, other))
    ] == chosen


@pytest.mark.parametrize(
    "hostile", ["{}?{}=x", "{}?{}=", "{}?", "%00", "{}?{}=%00&{}", "fig-?{}=1"]
)
def test_an_address_that_asks_for_nonsense_changes_nothing(live, hostile):
    live.go(hostile.format(live.replay.name, *live.replay.sliders, "", ""))
    assert live.agrees()["values"] == live.start
    assert live.visit.faults == []


def test_tab_walks_through_the_controls_and_shows_where_it_is(live):
    keyboard = live.visit.page.keyboard
    stamps = live.figure.locator("a.sl-stamp").all()  # links on a page of the book
    panel = live.figure.locator(".sl-mine a").all()  # and so is the way to My hardware
    stops = [*live.sliders(), *live.buttons(), *panel, *stamps, live.figure.locator("summary")]
    stops[0].focus()
    keyboard.press("Shift+Tab")
    for stop in stops:
        keyboard.press("Tab")
        assert stop.evaluate("e => e === document.activeElement")
        assert stop.evaluate("e => getComputedStyle(e).outlineStyle") != "none"
    numbers = live.figure.locator(".sl-twin tbody")
    for shown in (True, False):
        keyboard.press("Enter")
        assert numbers.is_visible() == shown


def test_a_mouse_drags_a_slider(live):
    mouse = live.visit.page.mouse
    for at, slider in enumerate(live.sliders()):
        slider.press("Home")
        box = slider.bounding_box()
        middle = box["y"] + box["height"] / 2
        mouse.move(box["x"] + 8, middle)
        mouse.down()
        mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
        if live.end[at] > 1:  # of two stops none is in the middle
            assert 0 < live.agrees()["values"][at] < live.end[at]
        mouse.move(box["x"] + box["width"] + 20, middle, steps=4)
        mouse.up()
        assert live.agrees()["values"][at] == live.end[at]


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
    expect(slider).to_have_value(slider.get_attribute("max"))


def test_a_finger_drags_a_slider_on_a_phone(made, readers):
    one = readers.at(made, plain=True, **PHONE)
    for at, slider in enumerate(one.sliders()):
        drag(one.visit, slider)
        assert one.agrees()["values"][at] == one.end[at]


def test_a_finger_drags_every_slider_outside_chapters(visit, book):
    moved = 0
    for page in set(PAGES) - {f"chapters/{slug}" for slug in WRITTEN}:
        if b"sl-controls" not in (book / f"{page}.html").read_bytes():
            continue
        one = visit(plain=True, **PHONE)
        one.open((book / f"{page}.html").as_uri())
        for figure in one.page.locator(".sl-figure.sl-alive").all():
            for slider in figure.get_by_role("slider").all():
                before = figure.locator(".sl-title").inner_text()
                drag(one, slider)
                assert figure.locator(".sl-title").inner_text() != before
                moved += 1
    assert moved >= 2  # the cover has a figure


def test_without_a_script_picture_numbers_and_stamp_are_there_and_no_dead_control(made, readers):
    one = readers.at(made, java_script_enabled=False)
    chart = one.replay.chart
    assert one.figure.get_by_role("img", name=chart.describe()).is_visible()
    assert one.figure.locator(".sl-controls").is_hidden()
    assert one.figure.locator(".sl-readouts dd").all_inner_texts() == list(chart.readouts.values())
    said = re.sub(r"\s+", " ", one.figure.locator("figcaption").inner_text())
    assert said == f"{chart.see} {chart.stamp.text}".strip()
    one.figure.locator("summary").click()
    rows = one.figure.locator(".sl-twin tbody tr")
    shown = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    assert shown == list(chart.rows())


def test_paper_shows_a_table_that_is_open_and_no_control(live):
    page, twin = live.visit.page, live.figure.locator(".sl-twin")
    page.emulate_media(media="print")
    try:
        assert live.figure.locator(".sl-controls").is_hidden()
        assert live.figure.locator("figcaption").is_visible()
        table = twin.locator("table")
        # In the book a fold is printed as it stands; a page of its own prints all.
        assert table.evaluate("e => e.checkVisibility()") != ("/chapters/" in page.url)
        twin.evaluate("e => { e.open = true; }")
        assert table.evaluate("e => e.checkVisibility()")
        assert table.bounding_box()["height"] > 20
    finally:
        twin.evaluate("e => { e.open = false; }")
        page.emulate_media(media="screen")


@functools.cache
def weight(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))


def shared_weight(book: Path, html: str) -> int:
    """What a first visit of a page fetches: our fonts, and those of our styles and scripts that it names."""
    ours = {file.name for file in (ROOT / "book" / "_static").rglob("*")} | {
        "figure.js",
        "stepper.js",
    }
    named = ours & set(re.findall(r"_static/([\w.-]+\.(?:js|css))", html))
    fonts = (ROOT / "book" / "_static").rglob("*.woff2")
    return sum(map(weight, [*fonts, *(book / "_static" / name for name in named)]))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_weighs_little_more_than_a_plain_one(book, page):
    html = (book / f"{page}.html").read_bytes()
    figures = len(gzip.compress(html)) - len(gzip.compress(OURS.sub(b"", html)))
    assert figures + shared_weight(book, html.decode()) <= HEAVIEST
