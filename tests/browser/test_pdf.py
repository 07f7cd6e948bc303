"""The book on paper: one file, all of it, and nothing cut off."""

import re
import subprocess
import sys

import pytest

from tests.notebooks import ROOT, WRITTEN, chapter

pypdf = pytest.importorskip("pypdf")


@pytest.fixture(scope="module")
def paper(book):
    """The PDF, printed from the book as it was built."""
    subprocess.run([sys.executable, ROOT / "book" / "_ext" / "pdf.py"], check=True)
    return pypdf.PdfReader(ROOT / "_build" / "pdf" / "scalelab.pdf")


@pytest.fixture(scope="module")
def words(paper):
    return [page.extract_text() for page in paper.pages]


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry.title


def tight(text):
    return re.sub(r"\s+", "", text.replace("’", "'"))


def test_every_chapter_has_a_bookmark(paper):
    titles = {tight(title) for title in flat(paper.outline)}
    for slug in WRITTEN:
        title = chapter(slug).headings()[0][1]
        assert tight(title) in titles, title


def test_no_page_is_empty_and_no_glyph_is_missing(words):
    assert [n for n, text in enumerate(words, 1) if len(tight(text)) < 20] == []
    assert [n for n, text in enumerate(words, 1) if "\ufffd" in text] == []


def test_every_font_travels_with_the_file(paper):
    strangers = set()
    for page in paper.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            font = font.get_object()
            for one in font.get("/DescendantFonts", [font]):
                one = one.get_object()
                described = one.get("/FontDescriptor", {})
                drawn = one["/Subtype"] == "/Type3"  # its glyphs are drawings in the file
                if not drawn and not {"/FontFile", "/FontFile2", "/FontFile3"} & set(described):
                    strangers.add(one.get("/BaseFont"))
    assert strangers == set()


@pytest.mark.parametrize("slug", WRITTEN)
def test_code_is_there_to_its_last_character(words, slug):
    everything = tight("".join(words))
    longest = sorted((line for code in chapter(slug).code for line in code.splitlines()), key=len)
    for line in longest[-5:]:
        assert tight(line) in everything, line


def test_figures_tables_and_folded_answers_are_on_paper(paper, words):
    everything = tight("".join(words))
    assert everything.count("Thenumbers") >= 2 * len(WRITTEN)
    for slug in WRITTEN:
        answer = re.search(r":::\{dropdown\} Answer\n(\w+ \w+ \w+)", chapter(slug).prose)
        assert answer is None or tight(answer[1]) in everything
