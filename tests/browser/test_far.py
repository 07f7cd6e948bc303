"""How far a reader of a chapter goes without a picture: four screens of a desk at most."""

from __future__ import annotations

import pytest

from tests.browser.conftest import nothing, walking
from tests.notebooks import WRITTEN
from tests.sampling import sampled

DESK = {"width": 1440, "height": 900}
SCREENS = 4
LEAST = 60  # pixels of height; what is smaller is an icon

# The stretches of the article between the foot of one picture and the head of the next, in pixels, each with
# the headings that stand in it. A page in a frame is a picture, too.
STRETCHES = """(least) => {
  const article = document.querySelector("article");
  const box = (e) => [e, e.getBoundingClientRect().top + scrollY, e.getBoundingClientRect().bottom + scrollY];
  const [, start, end] = box(article);
  const pictures = [...article.querySelectorAll("figure, svg[role=img], img, iframe")]
    .map(box).filter(([, top, foot]) => foot - top > least).sort((a, b) => a[1] - b[1]);
  const heads = [...article.querySelectorAll("h2, h3")].map(box);
  const found = [];
  let last = start;
  for (const [, top, foot] of [...pictures, [null, end, end]]) {
    const inside = heads.filter(([, y]) => y >= last && y < top).map(([e]) => e.firstChild.textContent);
    found.push([top - last, inside.join("; ")]);
    last = Math.max(last, foot);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def walker(browser):
    """One reader who goes from chapter to chapter."""
    with walking(browser, viewport=DESK, reduced_motion="reduce") as visit:
        yield visit


def too_far(page) -> list[str]:
    """Return the stretches that are longer than they may be."""
    found = page.evaluate(STRETCHES, LEAST)
    most = SCREENS * DESK["height"]
    return [f"{px / DESK['height']:.1f} screens: {heads}" for px, heads in found if px > most]


@pytest.mark.parametrize("slug", sampled(WRITTEN, 1))
def test_nobody_reads_four_screens_without_a_picture(walker, book, slug):
    walker.open((book / "chapters" / f"{slug}.html").as_uri())
    nothing(too_far(walker.page))


def test_a_stretch_is_noticed_wherever_it_stands(visit, tmp_path):
    tall = "<h2>{}</h2><p style='height: 3700px'>words</p>"
    picture = "<figure style='height: 100px'></figure>"
    icon = "<svg role='img' style='height: 20px'></svg>"
    file = tmp_path / "page.html"
    file.write_text(
        f"<article>{tall.format('first')}{picture}{tall.format('middle')}{icon}"
        f"{picture}{picture}<p>short</p>{picture}{tall.format('last')}</article>"
    )
    one = visit(viewport=DESK)
    one.page.goto(file.as_uri())
    assert [fault.split(": ")[1] for fault in too_far(one.page)] == ["first", "middle", "last"]
