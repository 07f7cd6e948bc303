"""Drawings that play, in a page of their own: each step must show what Python drew, however it is asked."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
from markupsafe import Markup
from playwright.sync_api import expect

from scalelab.models.network import messages
from scalelab.show.drawings import Drawing, Frame, Shape, Stepper
from scalelab.show.drawings.network import all_reduce
from scalelab.show.drawings.still import outline
from scalelab.show.template import rendered
from tests.browser.conftest import nothing, visiting
from tests.browser.figures import GO
from tests.browser.test_figures import PHONE, drag

pytestmark = pytest.mark.turns(3)

NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?")
STATE = """(figure) => ({
  words: figure.querySelector(".sl-caption").textContent,
  title: figure.querySelector(".sl-title").textContent,
  alt: figure.querySelector(".sl-stage .sl-paper > svg").getAttribute("aria-label"),
  facts: [...figure.querySelectorAll(".sl-readouts dd")].map((e) => e.textContent),
  spoken: figure.querySelector("input").getAttribute("aria-valuetext"),
  step: Number(figure.querySelector("input").value),
  which: Number(figure.querySelector("select")?.value ?? 0),
  play: figure.querySelector(".sl-play").textContent,
  things: [...figure.querySelectorAll(".sl-stage .sl-paper > svg > g")]
    .filter((e) => getComputedStyle(e).visibility === "visible")
    .map((e) => [
      e.classList[0].slice(3), e.style.transform, e.style.color,
      e.querySelector(":scope > svg path")?.getAttribute("d") ?? "", e.textContent,
      e.querySelector("line")
        && [e.style.strokeWidth, ...["x2", "y2"].map((end) => e.querySelector("line").getAttribute(end))],
      e.matches(".sl-block")
        ? ["x", "y", "width", "height"].map((side) => e.querySelector("rect").style[side]) : null,
    ]),
})"""

OPENING = 1  # the first messages are on their way


@pytest.fixture(scope="module")
def stepper():
    """The four of Section 3.8."""
    return Stepper(
        *[all_reduce(name, plan(8)) for name, plan in messages.ALL_REDUCE.items()],
        choose="algorithm",
    )


@pytest.fixture(scope="module")
def address(stepper, tmp_path_factory):
    file = tmp_path_factory.mktemp("stepper") / "page.html"
    body = Markup("<h1>All-reduce</h1>") + stepper.html()
    file.write_text(rendered("page.html", title="All-reduce", body=body))
    return file.as_uri()


class Playing:
    """The drawing in an open page, beside what Python draws."""

    def __init__(self, visit, stepper, address) -> None:
        self.visit, self.stepper = visit, stepper
        visit.open(address)
        self.page, self.figure = visit.page, visit.page.locator(".sl-figure")
        self.slider = self.figure.get_by_role("slider", name="step", exact=True)

    def button(self, name: str):
        return self.figure.get_by_role("button", name=name, exact=True)

    def shows(self, step: int, which: int = 0) -> dict:
        """Hold all that the page shows against Python's frame, once it is there.

        A browser makes a click of a finger's tap a little later than the tap ends.
        """
        expect(self.slider).to_have_value(str(step))
        state = self.figure.evaluate(STATE)
        assert (state["which"], state["step"]) == (which, step)
        drawing = self.stepper.drawings[which]
        frame = drawing.frames[step]
        assert state["words"] == frame.caption
        assert state["title"] == drawing.title
        assert state["alt"] == drawing.describe(step)
        assert state["facts"] == list(frame.facts.values())
        assert state["spoken"] == f"{step} of {len(drawing.frames) - 1}"
        words, numbers = apart(state["things"])
        python, there = apart([drawn(one, drawing.width) for one in frame.shapes])
        assert words == python
        assert numbers == pytest.approx(
            there, abs=0.06
        )  # of a pixel, or of a hundredth of the width
        return state

    def settled(self, step: int, which: int = 0) -> dict:
        """Wait until what moves has arrived, then hold it against Python's frame."""
        self.page.wait_for_timeout(900)
        return self.shows(step, which)


def drawn(shape, wide: float) -> list:
    """What a page says of a shape on paper so wide."""
    x, y, width, height = (round(n, 1) for n in (shape.x, shape.y, shape.width, shape.height))
    share = 100 / wide
    line = shape.kind in ("line", "arrow")
    return [
        shape.kind,
        f"translate({share * x}%, {y}px)",
        f"var(--sl-tone-{shape.tone})",
        outline(shape) if shape.kind == "bar" else "",
        shape.text,
        [f"{round(shape.weight, 1)}px", f"{share * width}%", f"{height}"] if line else None,
        [f"{-share * width / 2}%", f"{-height / 2}px", f"{share * width}%", f"{height}px"]
        if shape.kind == "block"
        else None,
    ]


def apart(things: list) -> tuple[list[str], list[float]]:
    """Return what things say, in order, without its numbers, and these."""
    said = [json.dumps(one) for one in things]
    told = sorted((NUMBER.sub("#", one), [*map(float, NUMBER.findall(one))]) for one in said)
    return [words for words, _ in told], [number for _, numbers in told for number in numbers]


@pytest.fixture
def playing(visit, stepper, address):
    """The drawing where nothing moves, so that a step is there at once."""
    return Playing(visit(reduced_motion="reduce"), stepper, address)


def test_every_step_of_every_drawing_is_what_python_drew(playing):
    playing.shows(OPENING)
    for which, one in enumerate(playing.stepper.drawings):
        playing.figure.get_by_label("algorithm").select_option(one.name)
        playing.shows(one.opening, which)
        playing.slider.press("Home")
        playing.shows(0, which)
        for step in range(1, len(one.frames)):
            playing.slider.press("ArrowRight")
            playing.shows(step, which)


def test_a_step_forward_and_back_is_where_one_was(playing):
    step, back = playing.button("Step"), playing.button("Back")
    playing.shows(OPENING)
    step.click()
    step.click()
    playing.shows(OPENING + 2)
    back.click()
    playing.shows(OPENING + 1)
    playing.slider.press("Home")
    assert back.is_disabled()
    playing.slider.press("End")
    playing.shows(14)
    assert step.is_disabled()


def test_keys_step_from_the_buttons_and_play_from_the_slider(playing):
    keyboard = playing.page.keyboard
    playing.figure.get_by_label("algorithm").focus()
    for stop in (*map(playing.button, ("Play", "Back", "Step")), playing.slider):
        keyboard.press("Tab")
        assert stop.evaluate("e => e === document.activeElement")
        assert stop.evaluate("e => getComputedStyle(e).outlineStyle") != "none"
    playing.button("Play").focus()
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowLeft")
    playing.shows(OPENING + 1)
    playing.slider.focus()
    keyboard.press(" ")
    assert playing.shows(OPENING + 2)["play"] == "Pause"
    keyboard.press(" ")
    assert playing.shows(OPENING + 2)["play"] == "Play"


def test_it_plays_from_the_beginning_to_the_end_and_begins_anew(visit, stepper, address):
    one = Playing(visit(reduced_motion="reduce"), stepper, address)
    one.page.clock.install()
    one.visit.open(address)
    one.shows(OPENING)
    one.button("Play").click()
    one.shows(0)
    one.page.clock.run_for(1900 * 3 + 100)
    one.shows(3)
    one.button("Pause").click()
    one.page.clock.run_for(1900 * 3)
    one.shows(3)
    one.button("Play").click()
    one.shows(4)
    one.page.clock.run_for(1900 * 12)
    assert one.shows(14)["play"] == "Play"
    one.button("Play").click()
    one.shows(0)


def test_a_message_moves_from_its_sender_and_is_counted_when_it_arrives(visit, stepper, address):
    one = Playing(visit(), stepper, address)
    one.button("Step").click()
    place = "(e) => { const box = e.getBoundingClientRect(); return [box.x, box.y]; }"
    box = one.figure.locator(".sl-stage g.sl-box:not(.sl-gone)").last
    moves = "(e) => e.getAnimations({ subtree: true }).length"
    assert one.figure.evaluate(moves) > 0
    begin = box.evaluate(place)
    one.settled(OPENING + 1)
    assert one.figure.evaluate(moves) == 0
    assert box.evaluate(place) != begin


def test_nothing_moves_for_a_reader_who_wants_it_still(playing):
    playing.button("Step").click()
    assert playing.figure.evaluate("(e) => e.getAnimations({ subtree: true }).length") == 0
    playing.shows(OPENING + 1)


def test_a_link_brings_another_reader_to_the_same_step(playing, visit, stepper):
    playing.figure.get_by_label("algorithm").select_option("halving-doubling")
    playing.slider.press("End")
    playing.slider.press("ArrowLeft")
    link = playing.figure.get_by_role("link", name="Link to this step").evaluate("a => a.href")
    assert link.endswith("#fig-algorithm?show=halving-doubling&step=5")
    Playing(visit(), stepper, link).shows(5, 2)


@pytest.mark.parametrize(
    ("hostile", "where"),
    [("fig-algorithm?step=x", (OPENING, 0)), ("fig-algorithm?", (OPENING, 0)), ("%00", (OPENING, 0)),
     ("fig-algorithm?step=-3&show=%00", (OPENING, 0)), ("fig-other?step=5", (OPENING, 0)),
     ("fig-algorithm?show=nobody&step=5", (5, 0)), ("fig-algorithm?show=binomial+tree&step=99", (6, 3)),
     ("fig-algorithm?show=binomial+tree", (OPENING, 3)), ("fig-algorithm?step=5&more=1?2", (5, 0))],
)  # fmt: skip
def test_an_address_that_asks_for_nonsense_changes_nothing_or_stops_at_the_end(
    playing, hostile, where
):
    playing.page.evaluate(GO, hostile)
    playing.shows(*where)


def test_a_finger_drags_the_slider_and_wipes_the_picture(visit, stepper, address):
    one = Playing(visit(reduced_motion="reduce", **PHONE), stepper, address)
    drag(one.visit, one.slider)
    one.shows(14)
    wipe(one, 0.3, 0.7)
    one.shows(13)
    wipe(one, 0.7, 0.3)
    one.shows(14)
    one.button("Back").tap()
    one.shows(13)


def wipe(one, start: float, end: float) -> None:
    """Wipe over the picture with a finger, from one share of its width to another, once it stands still."""
    finger = one.visit.context.new_cdp_session(one.page)
    stage = one.figure.locator(".sl-stage")
    stage.scroll_into_view_if_needed()
    stage.element_handle().wait_for_element_state("stable")
    box = stage.bounding_box()
    middle = box["y"] + box["height"] / 2
    # It rests before it is lifted: Chromium takes a tap that follows a flick for the finger that stops it.
    for kind, share, ago in (
        ("Start", start, 1.0), ("Move", (start + end) / 2, 0.9), ("Move", end, 0.8), ("End", 0, 0),
    ):  # fmt: skip
        at = {"x": box["x"] + share * box["width"], "y": middle}
        points = [] if kind == "End" else [at]
        event = {"type": f"touch{kind}", "touchPoints": points, "timestamp": time.time() - ago}
        finger.send("Input.dispatchTouchEvent", event)


def test_two_on_one_page_play_each_for_itself(visit, tmp_path):
    """Each of one drawing, so there is nothing to choose; the second has every kind of shape."""
    circle = Shape("a", "circle", 10, 10, 8, 8, text="A")
    frames = [
        Frame("Here.", (circle, Shape("t", "text", 30, 5, text="here"))),
        Frame("There.", (replace(circle, x=30, tone=2), Shape("t", "text", 30, 5, text="there"))),
    ]
    two = [Stepper(Drawing(name, name, "A circle.", 40, 20, frames)) for name in ("one", "two")]
    file = tmp_path / "page.html"
    file.write_text(rendered("page.html", title="Two", body=two[0].html() + two[1].html()))
    page = visit(reduced_motion="reduce").page
    page.goto(f"{file.as_uri()}#fig-two?step=1")
    words = page.locator(".sl-caption")
    expect(words).to_have_text(["Here.", "There."])
    texts = [stage.locator("text").all_text_contents() for stage in page.locator(".sl-stage").all()]
    assert texts == [["A", "here"], ["A", "there"]]
    page.get_by_role("button", name="Step").first.click()
    page.get_by_role("button", name="Back").last.click()
    expect(words).to_have_text(["There.", "Here."])
    links = page.locator(".sl-link").evaluate_all("all => all.map((a) => a.hash)")
    assert links == ["#fig-one?step=1", "#fig-two?step=0"]


STILLS = """() => ["sl-player", "sl-stills"].map((name) =>
  document.querySelector(`.${name}`).checkVisibility())"""


def test_on_paper_and_without_a_script_chosen_frames_stand_instead(visit, stepper, address):
    one = Playing(visit(), stepper, address)
    assert one.page.evaluate(STILLS) == [True, False]
    one.page.emulate_media(media="print")
    assert one.page.evaluate(STILLS) == [False, True]
    other = visit(java_script_enabled=False, viewport={"width": 360, "height": 740})
    other.page.goto(address)
    assert other.page.evaluate(STILLS) == [False, True]
    assert other.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_chosen_frame_stands_whole_on_a_sheet_and_the_next_row_may_go_on_overleaf(
    visit, stepper, tmp_path
):
    """What is over each picture and what is below it, wherever on a sheet the figure would begin."""
    pypdf = pytest.importorskip("pypdf")
    body, figures = Markup("<h1>All-reduce</h1>"), []
    for copy in range(5):
        named = [replace(one, title=f"{one.title}, copy {copy}") for one in stepper.drawings]
        figures.append([(one.title, one.frames[one.chosen[-1]].caption) for one in named])
        body += Markup('<div style="height: {}px"></div>').format(150 + 97 * copy)
        body += Stepper(*named, choose="algorithm").html()
    file = tmp_path / "paper.html"
    file.write_text(rendered("page.html", title="Paper", body=body))
    page = visit().page
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    page.pdf(path=tmp_path / "paper.pdf", format="A4", margin={"top": "17mm", "bottom": "17mm"})
    reader = pypdf.PdfReader(tmp_path / "paper.pdf")
    sheets = ["".join(one.extract_text().split()) for one in reader.pages]
    spread = []
    for words in figures:
        tight = [["".join(text.split()) for text in pair] for pair in words]
        found = [
            {turn for turn, sheet in enumerate(sheets) if title in sheet and said in sheet}
            for title, said in tight
        ]
        assert all(found), words
        spread.append(not set.intersection(*found))
    assert any(spread)  # or half a sheet stays white


def test_it_plays_where_a_notebook_puts_it_into_a_page_that_is_there(browser, stepper, tmp_path):
    """As JupyterLab does: HTML first, then each script made anew."""
    (tmp_path / "lab.html").write_text(
        '<!doctype html><link rel="icon" href="data:,"><body data-jp-theme-light="false"><div></div>'
    )
    insert = """(html) => {
      const box = document.querySelector("div");
      box.innerHTML = html;
      box.querySelectorAll("script").forEach((script) => {
        const anew = document.createElement("script");
        [...script.attributes].forEach(({ name, value }) => anew.setAttribute(name, value));
        anew.textContent = script.textContent;
        script.replaceWith(anew);
      });
    }"""
    with visiting(browser) as visit:
        visit.page.goto((tmp_path / "lab.html").as_uri())
        visit.page.evaluate(insert, str(stepper.html()))
        visit.page.get_by_role("button", name="Step").click()
        assert visit.page.locator(".sl-caption").inner_text().startswith("Round 2 of 14")
        nothing(visit.faults)
