"""Every drawing of the book, step by step: what a browser makes of it can be read, wide or narrow."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from markupsafe import Markup

from scalelab.show.template import rendered
from tests.browser.conftest import nothing
from tests.browser.drawings.test_stepper import Playing
from tests.browser.figures import GO
from tests.browser.test_figures import PHONE
from tests.browser.test_pages import LETTERS, ODD_LETTERS, resize
from tests.sampling import sampled
from tests.show.drawings import every

# What cannot be read in a step: a text outside of the paper, wider than its box, on another text or box.
UNREADABLE = """(figure) => {
  const there = (e) => getComputedStyle(e).visibility === "visible";
  const paper = figure.querySelector(".sl-stage .sl-paper > svg").getBoundingClientRect();
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
    && a.top >= b.top - 2 && a.bottom <= b.bottom + 2;
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const groups = [...figure.querySelectorAll(".sl-stage .sl-paper > svg > g")].filter(there);
  const texts = groups.map((group, at) => ({
    at, said: group.querySelector("text")?.textContent.trim(),
    box: group.querySelector("text")?.getBoundingClientRect(),
    own: group.querySelector("rect, ellipse")?.getBoundingClientRect(),
  })).filter(({ said }) => said);
  const found = [];
  texts.forEach((one, turn) => {
    if (!inside(one.box, paper)) found.push(`${one.said}: outside of the paper`);
    if (one.own && (one.box.width > one.own.width + 1 || one.box.height > one.own.height + 5))
      found.push(`${one.said}: larger than its box`);
    texts.slice(turn + 1).filter((other) => over(one.box, other.box))
      .forEach((other) => found.push(`${one.said}: on ${other.said}`));
    groups.slice(one.at + 1).map((group) => group.querySelector("rect, ellipse")?.getBoundingClientRect())
      .filter((box) => box?.width && over(one.box, box))
      .forEach(() => found.push(`${one.said}: under a box`));
  });
  return found;
}"""

# How tall the figure is at each step, as the slider is moved from the first to the last.
HEIGHTS = """(figure) => {
  const slider = figure.querySelector("input");
  return Array.from({ length: Number(slider.max) + 1 }, (_, step) => {
    slider.value = step;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    return figure.getBoundingClientRect().height;
  });
}"""

drawings = pytest.mark.parametrize("name", sampled(list(every()), 2))


@pytest.fixture
def open_drawing(visit, tmp_path):
    """Open a drawing in a page of its own."""

    def opened(name: str, **options) -> Playing:
        stepper = every()[name]()
        file = tmp_path / "page.html"
        file.write_text(
            rendered("page.html", title=name, body=Markup("<h1>A drawing</h1>") + stepper.html())
        )
        return Playing(visit(reduced_motion="reduce", **options), stepper, file.as_uri())

    return opened


@drawings
def test_every_step_is_what_python_drew_and_can_be_read_on_a_phone(name, open_drawing):
    one, found = open_drawing(name, **PHONE), []
    for which, drawing in enumerate(one.stepper.drawings):
        for step in range(len(drawing.frames)):
            view = {"show": drawing.name, "step": step}
            one.page.evaluate(GO, f"{one.stepper.name}?{urlencode(view)}")
            one.shows(step, which)
            found += [f"{drawing.name} {step}: {what}" for what in one.figure.evaluate(UNREADABLE)]
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 360
    nothing(found)


@drawings
def test_it_breaks_no_rule_of_accessibility(name, open_drawing):
    from axe_playwright_python.sync_playwright import Axe

    one, found = open_drawing(name, color_scheme="light"), []
    one.slider.press("End")
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        one.page.emulate_media(color_scheme=scheme)
        faults = Axe().run(one.page, options=options).response["violations"]
        found += [
            f"{scheme}, {one['id']}: {node['html']}" for one in faults for node in one["nodes"]
        ]
    nothing(found)


@drawings
def test_it_fills_the_page_and_its_words_do_not_push_what_is_below(name, open_drawing):
    one = open_drawing(name)
    for width in (360, 1280):
        resize(one.page, {"width": width, "height": 900})
        picture, page = (
            one.page.locator(part).bounding_box() for part in (".sl-stage .sl-paper > svg", "h1")
        )
        assert (picture["x"], picture["width"]) == pytest.approx((page["x"], page["width"]), abs=1)
        nothing(one.page.evaluate(ODD_LETTERS, LETTERS))
        heights = set()
        for which, drawing in enumerate(one.stepper.drawings):
            if len(one.stepper.drawings) > 1:
                one.figure.locator("select").select_option(drawing.name)
            found = one.figure.evaluate(HEIGHTS)
            assert len(found) == len(drawing.frames)
            heights |= {*found}
            one.shows(len(drawing.frames) - 1, which)
        assert len(heights) == 1
