"""Every page as it looks: light and dark, at a desk and on a phone, beside the pictures in `looks/`."""

from __future__ import annotations

import os

import pytest

from tests.browser import looks
from tests.browser.conftest import nothing, visiting, walking
from tests.browser.test_pages import DESK, PAGES, PHONE, resize, turn
from tests.notebooks import WRITTEN
from tests.sampling import sampled

SCREENS = {"desk": DESK, "phone": PHONE}
# Further down than a first screen: what pages are made of, each once.
PARTS = {
    "boxes": ("book/how_to_read", "#the-furniture"),
    "figure": ("chapters/05_laws", ".sl-figure:has(.sl-controls)"),
    "table": ("chapters/05_laws", ".sl-block:has(.sl-model)"),
    "code": ("chapters/05_laws", ".cell > .cell_input"),
    "formula": ("chapters/05_laws", "div.math"),
    "panel": ("book/my_hardware", "#hardware-panel"),
    # The first drawing of each chapter, on the step at which it opens.
    **{f"drawing-{slug}": (f"chapters/{slug}", ".sl-figure:has(.sl-stepper)") for slug in WRITTEN},
}
# Says when the book was built, and on which machine.
HIDDEN = {"book/status": "article :is(table, .book-machine) { display: none; }"}
# The theme keeps where the list of pages was scrolled to on the page before, or goes by fonts not yet there.
UNSCROLLED = "document.querySelector('.bd-sidebar-primary')?.scrollTo(0, 0)"
ICONS = "document.documentElement.classList.contains('fontawesome-i2svg-complete')"
# Without what stands around it, lest a word more above it move it by half a point.
ALONE = """(thing) => {
  for (let e = thing; e.tagName !== "ARTICLE"; e = e.parentElement) {
    [...e.parentElement.children].filter((one) => one !== e && one.tagName !== "STYLE")
      .forEach((one) => one.remove());
  }
}"""
# Of the article what the first screens can show; the rest would only be laid out anew for each of them.
BEGINNING = """(most) => {
  const after = [...document.querySelectorAll("article > section > *, article > section > section > *")];
  after.filter((e) => e.getBoundingClientRect().top > most && !e.matches("h1, h2, h3"))
    .forEach((e) => e.remove());
}"""
COVERS = "#pst-back-to-top, #pst-skip-link, .bd-header-article { visibility: hidden !important; }"
RENEW = os.environ.get(looks.ANEW) == "1"


def named(page: str) -> str:
    return page.replace("/", "-")


def sheet(one, take) -> looks.Sheet:
    """Return what `take` sees, small, on every screen in light and dark."""
    one.page.wait_for_function(ICONS)
    pictures = {}
    for screen, size in SCREENS.items():
        resize(one.page, size)
        for scheme in ("light", "dark"):
            turn(one.page, scheme)
            one.page.evaluate(UNSCROLLED)
            pictures[f"{screen} {scheme}"] = take()
    return looks.Sheet.of(pictures)


@pytest.fixture(scope="module")
def walker(browser):
    """One reader who goes from page to page; the sidebar may not stay where it was scrolled to."""
    with walking(browser, viewport=DESK, reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture
def open_page(walker, book):
    """Return a way to send the reader to a page; nothing may go wrong there until the test ends."""

    def go(page: str):
        walker.page.goto("about:blank")
        walker.page.set_viewport_size(DESK)
        walker.open((book / f"{page}.html").as_uri())
        return walker

    walker.forget()
    yield go
    nothing(walker.faults)


@pytest.mark.parametrize("page", sampled(PAGES, 1))
def test_the_first_screen_of_a_page_looks_as_it_did(open_page, page):
    one = open_page(page)
    one.page.wait_for_function(ICONS)
    one.page.evaluate(BEGINNING, 2 * DESK["height"])
    style = looks.STILL + HIDDEN.get(page, "")
    seen = sheet(one, lambda: one.page.screenshot(animations="disabled", style=style))
    nothing(list(filter(None, [looks.differs(named(page), seen, anew=RENEW)])))


@pytest.mark.parametrize("part", sampled(PARTS, 1))
def test_what_pages_are_made_of_looks_as_it_did(open_page, part):
    page, selector = PARTS[part]
    one = open_page(page)
    thing = one.page.locator(f"article {selector}").first
    thing.evaluate(ALONE)
    style = looks.STILL + COVERS
    seen = sheet(one, lambda: thing.screenshot(animations="disabled", style=style))
    nothing(list(filter(None, [looks.differs(part, seen, anew=RENEW)])))


def test_every_picture_kept_is_of_something():
    known = {*map(named, PAGES), *PARTS}
    nothing(
        [f"{one} is of nothing: remove it" for one in looks.KEPT.iterdir() if one.stem not in known]
    )


@pytest.fixture(scope="module")
def glance(browser, book):
    """Return a way to see a page on a phone, with a style of one's own."""
    with visiting(browser, plain=True, viewport=PHONE, reduced_motion="reduce") as visit:
        visit.open((book / "book" / "my_hardware.html").as_uri())

        def see(style: str) -> looks.Sheet:
            style = looks.STILL + style
            return looks.Sheet.of({"it": visit.page.screenshot(animations="disabled", style=style)})

        yield see


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("", False),
        ("h1 { margin-left: 1px; }", False),
        ("h1, p { margin-left: 6px; }", True),
        ("body, .bd-main { background: #f2f2f2 !important; }", True),
    ],
)
def test_the_eye_sees_a_shift_and_a_tint_and_forgives_a_hair(glance, change, seen):
    """The tests above would say nothing if this one failed."""
    then, now = glance(""), glance(change)
    assert (now.off(then.image)["it"] > looks.SHARE) == seen
