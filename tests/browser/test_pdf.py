"""The book on paper: one file, all of it, and nothing cut off."""

from __future__ import annotations

import functools
import random
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.browser.conftest import nothing
from tests.notebooks import ROOT, WRITTEN, chapter
from tests.sampling import seed

pypdf = pytest.importorskip("pypdf")


EXTENSIONS = ROOT / "book" / "_ext"
PRINT = "import sys, pathlib, pdf; pdf.printed(*map(pathlib.Path, sys.argv[1:]))"


@dataclass(frozen=True)
class Paper:
    """A PDF, the chapters that it holds, and the words of its pages."""

    pdf: pypdf.PdfReader
    slugs: tuple[str, ...]

    @functools.cached_property
    def words(self) -> list[str]:
        return [page.extract_text() for page in self.pdf.pages]


@pytest.fixture(
    scope="module", params=["a chapter", pytest.param("the book", marks=pytest.mark.thorough)]
)
def paper(request, book, tmp_path_factory):
    """The PDF, printed as `make pdf` prints: of one chapter, drawn each day, or of the whole book."""
    if request.param == "the book":
        subprocess.run([sys.executable, EXTENSIONS / "pdf.py"], check=True)
        return Paper(pypdf.PdfReader(ROOT / "_build" / "pdf" / "scalelab.pdf"), WRITTEN)
    slug = random.Random(seed()).choice(WRITTEN)
    page = book / "chapters" / f"{slug}.html"
    target = tmp_path_factory.mktemp("pdf") / "chapter.pdf"
    subprocess.run([sys.executable, "-c", PRINT, page, target], cwd=EXTENSIONS, check=True)
    return Paper(pypdf.PdfReader(target), (slug,))


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry.title


def tight(text):
    return re.sub(r"\s+", "", text.replace("’", "'"))


def test_every_chapter_has_a_bookmark(paper):
    titles = {tight(title) for title in flat(paper.pdf.outline)}
    for slug in paper.slugs:
        title = chapter(slug).headings()[0][1]
        assert tight(title) in titles, title


def test_no_page_is_empty_and_no_glyph_is_missing(paper):
    assert [n for n, text in enumerate(paper.words, 1) if len(tight(text)) < 20] == []
    assert [n for n, text in enumerate(paper.words, 1) if "\ufffd" in text] == []


def test_every_font_travels_with_the_file(paper):
    strangers = set()
    for page in paper.pdf.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            font = font.get_object()
            for one in font.get("/DescendantFonts", [font]):
                one = one.get_object()
                described = one.get("/FontDescriptor", {})
                drawn = one["/Subtype"] == "/Type3"  # its glyphs are drawings in the file
                if not drawn and not {"/FontFile", "/FontFile2", "/FontFile3"} & set(described):
                    strangers.add(one.get("/BaseFont"))
    assert strangers == set()


def test_code_is_there_to_its_last_character(paper):
    everything = tight("".join(paper.words))
    lost = []
    for slug in paper.slugs:
        lines = (line for code in chapter(slug).code for line in code.splitlines())
        longest = sorted(lines, key=len)[-5:]
        lost += [(slug, line) for line in longest if tight(line) not in everything]
    nothing(lost)


def test_figures_tables_and_folded_answers_are_on_paper(paper):
    everything = tight("".join(paper.words))
    assert everything.count("Thenumbers") >= 2 * len(paper.slugs)
    for slug in paper.slugs:
        answer = re.search(r":::\{dropdown\} Answer\n(\w+ \w+ \w+)", chapter(slug).prose)
        assert answer is None or tight(answer[1]) in everything


def test_the_numbers_of_a_figure_stand_at_the_end_on_the_page_that_it_tells(paper):
    if len(paper.slugs) > 1:
        pytest.skip("a chapter tells")
    everything = "".join(paper.words)
    told = [int(page) for page in re.findall(r"The numbers:\s*page\s*(\d+)", everything)]
    assert len(told) >= 5 * len(paper.slugs)
    first = min(told)
    assert first > 0.5 * len(paper.words)
    assert "The numbers of the" in " ".join(paper.words[first - 1].split())
    assert sorted(told)[-2] <= len(paper.words)  # the last may run into the number below its page


def test_a_page_says_in_which_chapter_it_is(paper):
    if len(paper.slugs) > 1:
        pytest.skip("one sheet has one head")
    for slug in paper.slugs:
        title = tight(chapter(slug).headings()[0][1])
        assert sum(tight(text).startswith(title) for text in paper.words) >= 5, title


WIDE = """() => {
  const right = document.querySelector("article").getBoundingClientRect().right;
  return [...document.querySelectorAll("article :is(table, pre, svg, mjx-container)")]
    .map((one) => [one.getBoundingClientRect().right, one.textContent.trim().slice(0, 50)])
    .filter(([end]) => end > right + 2).map(([end, text]) => `${Math.round(end - right)} px: ${text}`);
}"""
PAPER = {"width": 673, "height": 980}  # an A4 page between its margins, in px


@pytest.mark.parametrize("name", ["terminology", "glossary", "records", "status"])
def test_no_table_is_wider_than_the_paper(visit, book, name):
    one = visit(viewport=PAPER)
    one.page.emulate_media(media="print")
    one.open((book / f"book/{name}.html").as_uri())
    nothing(one.page.evaluate(WIDE))
