"""Every page as it looks: light and dark, at a desk and on a phone, beside the pictures in `looks/`."""

from __future__ import annotations

import os

import pytest

from tests.browser import looks
from tests.browser.conftest import nothing
from tests.browser.test_pages import DESK, PAGES, PHONE

SCREENS = {"desk": DESK, "phone": PHONE}
# Further down than a first screen: what pages are made of, each once.
PARTS = {
    "boxes": ("book/how_to_read", "#the-furniture"),
    "figure": ("chapters/05_laws", ".sl-figure:has(.sl-controls)"),
    "table": ("chapters/05_laws", ".sl-block:has(.sl-model)"),
    "code": ("chapters/05_laws", ".cell_input"),
    "formula": ("chapters/05_laws", "div.math"),
    "panel": ("book/my_hardware", "#hardware-panel"),
}
HIDDEN = {"book/status": "article table { display: none; }"}  # says when the book was built
ICONS = "document.documentElement.classList.contains('fontawesome-i2svg-complete')"
# Without what stands around it, lest a word more above it move it by half a point.
ALONE = """(thing) => {
  for (let e = thing; e.tagName !== "ARTICLE"; e = e.parentElement) {
    [...e.parentElement.children].filter((one) => one !== e && one.tagName !== "STYLE")
      .forEach((one) => one.remove());
  }
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
        one.page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            one.page.emulate_media(color_scheme=scheme)
            one.page.wait_for_function(
                "scheme => document.documentElement.dataset.theme === scheme", arg=scheme
            )
            pictures[f"{screen} {scheme}"] = take()
    return looks.Sheet.of(pictures)


@pytest.mark.parametrize("page", PAGES)
def test_the_first_screen_of_a_page_looks_as_it_did(visit, book, page):
    one = visit(viewport=DESK, reduced_motion="reduce")
    one.open((book / f"{page}.html").as_uri())
    style = looks.STILL + HIDDEN.get(page, "")
    seen = sheet(one, lambda: one.page.screenshot(animations="disabled", style=style))
    nothing(list(filter(None, [looks.differs(named(page), seen, anew=RENEW)])))


@pytest.mark.parametrize("part", PARTS)
def test_what_pages_are_made_of_looks_as_it_did(visit, book, part):
    page, selector = PARTS[part]
    one = visit(viewport=DESK, reduced_motion="reduce")
    one.open((book / f"{page}.html").as_uri())
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


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("", False),
        ("h1 { margin-left: 1px; }", False),
        ("h1, p { margin-left: 6px; }", True),
        ("body, .bd-main { background: #f2f2f2 !important; }", True),
    ],
)
def test_the_eye_sees_a_shift_and_a_tint_and_forgives_a_hair(visit, book, change, seen):
    """The tests above would say nothing if this one failed."""
    one = visit(viewport=PHONE, reduced_motion="reduce")
    one.open((book / "book" / "my_hardware.html").as_uri())
    then, now = (
        looks.Sheet.of(
            {"phone": one.page.screenshot(animations="disabled", style=looks.STILL + more)}
        )
        for more in ("", change)
    )
    assert (now.off(then.image)["phone"] > looks.SHARE) == seen
