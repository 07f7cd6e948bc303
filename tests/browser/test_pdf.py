"""The book on paper: one file, all of it, and nothing cut off."""

from __future__ import annotations

import contextlib
import functools
import random
import re
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from tests.book.test_extension import extension
from tests.browser.conftest import nothing
from tests.notebooks import ROOT, WRITTEN, chapter
from tests.sampling import seed

pytestmark = pytest.mark.turns(3)

pypdf = pytest.importorskip("pypdf")
pdfium = pytest.importorskip("pypdfium2")


EXTENSIONS = ROOT / "book" / "_ext"
PRINT = "import sys, pathlib, pdf; pdf.printed(pathlib.Path(sys.argv[1]), sys.argv[2:])"
MOST = 300  # pages of the book


@dataclass(frozen=True)
class Paper:
    """A PDF, the chapters that it holds, whether it is all of the book, and the words of its pages."""

    file: Path
    slugs: tuple[str, ...]
    whole: bool = False

    @functools.cached_property
    def pdf(self) -> pypdf.PdfReader:
        return pypdf.PdfReader(self.file)

    @functools.cached_property
    def words(self) -> list[str]:
        """What its pages say, by the reader of Chromium: pypdf would need a minute for a book."""
        with contextlib.closing(pdfium.PdfDocument(self.file)) as pages:
            return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in pages]

    @functools.cached_property
    def bookmarks(self) -> list[tuple[str, int]]:
        return [(tight(one.title), self.page(one)) for one in flat(self.pdf.outline)]

    def page(self, place) -> int:
        return self.pdf.get_destination_page_number(place) + 1


@pytest.fixture(
    scope="module", params=["a chapter", pytest.param("the book", marks=pytest.mark.thorough)]
)
def paper(request, book, tmp_path_factory):
    """The PDF, printed as `make pdf` prints: of a chapter, drawn each day, and a page of tables, or all."""
    if request.param == "the book":
        subprocess.run([sys.executable, EXTENSIONS / "pdf.py"], check=True)
        return Paper(ROOT / "_build" / "pdf" / "scalelab.pdf", WRITTEN, whole=True)
    slug = random.Random(seed()).choice(WRITTEN)
    target = tmp_path_factory.mktemp("pdf") / "chapter.pdf"
    printed = [sys.executable, "-c", PRINT, target, f"chapters/{slug}", "book/status"]
    subprocess.run(printed, cwd=EXTENSIONS, check=True)
    return Paper(target, (slug,))


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def tight(text):
    """Without what a font or the end of a line changes: spaces, ligatures, the sort of an apostrophe."""
    return re.sub(r"\s+", "", re.sub("[’\u02bc]", "'", unicodedata.normalize("NFKC", text)))


def unbroken(text):
    """Tight, and without hyphens, U+FFFE at the end of a line: a narrow column puts some into words."""
    return re.sub("[-\ufffe]", "", tight(text))


def plain(text):
    """Without the marks of Markdown, and with quotes as they are typed."""
    straight = text.translate(str.maketrans("’ʼ“”", "''\"\"", "*`$"))
    return " ".join(unicodedata.normalize("NFKC", straight).split())


def test_every_chapter_has_a_bookmark(paper):
    titles = {title for title, _ in paper.bookmarks}
    for slug in paper.slugs:
        title = chapter(slug).headings()[0][1]
        assert tight(title) in titles, title


def test_a_bookmark_says_what_its_heading_says_to_the_last_formula(paper):
    """Two words at the end of a line were one, and of a formula there was nothing."""
    told = {plain(one.title) for one in flat(paper.pdf.outline)}
    wanted = [title for slug in paper.slugs for _, title in chapter(slug).headings()]
    if paper.whole:
        wanted += [
            "13. Profile a node, and $K$ counts nodes",
            "22. A hierarchy of many nodes saves rounds, hardly any bytes between them",
        ]
    nothing([one for one in wanted if plain(one) not in told])


def test_no_page_is_empty_and_no_glyph_is_missing(paper):
    assert [n for n, text in enumerate(paper.words, 1) if len(tight(text)) < 120] == []
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


def test_the_book_has_a_cover_with_its_title_and_who_wrote_it(paper):
    cover = " ".join(paper.words[0].split())
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    for words in (config["title"], config["author"], "Measure, model, predict and judge"):
        assert words in cover
    assert "Contents" not in cover
    assert paper.pdf.metadata.title == config["title"]


def test_the_contents_tell_the_page_of_every_title_and_lead_there(paper):
    first = next(number for number, text in enumerate(paper.words, 1) if "Contents" in text)
    start = min(page for _, page in paper.bookmarks)
    contents = tight(" ".join(paper.words[first - 1 : start - 1]))
    links = {
        paper.page(paper.pdf.named_destinations[note.get_object()["/Dest"]])
        for page in paper.pdf.pages[first - 1 : start - 1]
        for note in page.get("/Annots", [])
        if "/Dest" in note.get_object()
    }
    faults = []
    for slug in paper.slugs:
        title = tight(chapter(slug).headings()[0][1])
        page = next(page for name, page in paper.bookmarks if name == title)
        faults += [f"{title} on {page}: not told"] * (f"{title}{page}" not in contents)
        faults += [f"{title} on {page}: no link"] * (page not in links)
        faults += [f"{title} on {page}: not there"] * (title not in tight(paper.words[page - 1]))
    nothing(faults)


def test_every_link_inside_leads_somewhere(paper):
    known = paper.pdf.named_destinations
    lost = [
        (number, note.get_object()["/Dest"])
        for number, page in enumerate(paper.pdf.pages, 1)
        for note in page.get("/Annots", [])
        if isinstance(note.get_object().get("/Dest"), str)
        and note.get_object()["/Dest"] not in known
    ]
    nothing(lost)
    outside = [
        note.get_object()["/A"]["/URI"]
        for page in paper.pdf.pages
        for note in page.get("/Annots", [])
        if "/URI" in note.get_object().get("/A", {})
    ]
    assert [
        one for one in outside if one.startswith("file:")
    ] == []  # a folder of whoever printed it


def test_a_page_says_in_which_chapter_it_is_and_which_page_it_is(paper):
    first = min(page for _, page in paper.bookmarks)
    for slug in paper.slugs:
        title = tight(chapter(slug).headings()[0][1])
        assert sum(tight(text).startswith(title) for text in paper.words) >= 5, title
    unnumbered = [
        number
        for number, text in enumerate(paper.words, 1)
        if number > first and str(number) not in text.split("\n")[:2]  # below its head, apart
    ]
    assert unnumbered == []


def test_the_book_is_no_thicker_than_a_book(paper):
    if not paper.whole:
        pytest.skip("a chapter is short")
    assert len(paper.words) < MOST


def test_code_of_the_page_is_there_to_its_last_character_and_no_folded_code(paper):
    folded = extension("folding").folded
    everything = tight("".join(paper.words))
    lost, shown = [], []
    for slug in paper.slugs:
        codes = chapter(slug).code
        lines = [line for code in codes if not folded(code) for line in code.splitlines()]
        lost += [
            (slug, line) for line in sorted(lines, key=len)[-5:] if tight(line) not in everything
        ]
        shown += [(slug, code) for code in codes if folded(code) and tight(code) in everything]
    nothing(lost)
    nothing(shown)


def test_figures_and_folded_answers_are_on_paper(paper):
    everything = tight("".join(paper.words))
    for slug in paper.slugs:
        answer = re.search(r":::\{dropdown\} Answer\n(\w+ \w+ \w+)", chapter(slug).prose)
        assert answer is None or tight(answer[1]) in everything
    assert everything.count("Figure1.") >= len(paper.slugs)


def test_no_figure_is_torn_from_its_caption(paper):
    """What a figure is called, and where its numbers are, stand on one page."""
    told, torn = 0, []
    for number, text in enumerate(paper.words, 1):
        called = len(re.findall(r"Figure\s\d+\.", text))
        ends = len(re.findall(r"Its (?:numbers|steps, one by one):\s*(?:on\s*the\s*)?page", text))
        told += ends
        torn += [(number, called, ends)] * (called < ends)
    nothing(torn)
    assert told >= 5 * len(paper.slugs)


def test_the_numbers_of_a_figure_are_on_the_page_that_it_names(paper):
    start = dict(paper.bookmarks)[tight("The numbers of the figures")]
    told = []
    for number, page in enumerate(paper.pdf.pages[: start - 1], 1):
        named = re.findall(r"Its numbers:\s*page\s*(\d+)", paper.words[number - 1])
        links = [note.get_object().get("/Dest", "") for note in page.get("/Annots", [])]
        there = [
            paper.pdf.named_destinations[one] for one in dict.fromkeys(links) if "-numbers-" in one
        ]
        assert sorted(map(int, named)) == sorted(map(paper.page, there)), number
        told += named
    tables = re.findall(r"Figure\s\d+\.", " ".join(paper.words[start - 1 :]))
    assert len(tables) == len(told) >= 5 * len(paper.slugs)


TABLES_IN_ORDER = """() => [...document.querySelectorAll(".print-numbers")].map((one) => [
  +one.textContent.match(/Figure (\\d+)/)[1],
  [...one.querySelectorAll("tbody td")].map((cell) => cell.textContent)])"""


def test_tables_of_figures_stand_in_the_order_of_the_figures_and_none_is_words_alone(visit, book):
    """The wide ones came last, and eight queues of tasks by their names once filled half a page."""
    page = visit(viewport=PAPER).page
    for slug in ("02_hardware", "06_workdepth"):
        extension("pdf").bind(page, [f"chapters/{slug}"])
        tables = page.evaluate(TABLES_IN_ORDER)
        figures = [figure for figure, _ in tables]
        assert figures == sorted(figures)
        assert len(figures) >= 5
        for figure, cells in tables:
            assert any(re.match(r"-?[\d.,]+(\s|$)", cell) for cell in cells), (slug, figure)


def test_a_page_in_a_frame_is_on_paper_to_its_end_and_its_headings_are_no_bookmarks(
    visit, book, tmp_path
):
    page = visit(viewport=PAPER).page
    page.goto((book / "chapters/10_rubric.html").as_uri())
    texts = "[...new DOMParser().parseFromString({}, 'text/html').querySelectorAll('{}')]"
    source = "document.querySelector('iframe').srcdoc"
    told, heads = (
        page.evaluate(f"{texts.format(source, found)}.map((one) => one.textContent)")
        for found in ("main :is(p, h2, dd, li, .sl-block td)", "main :is(h1, h2)")
    )
    extension("pdf").bind(page, ["chapters/10_rubric"])
    page.pdf(path=tmp_path / "paper.pdf", tagged=True, outline=True, prefer_css_page_size=True)
    paper = Paper(tmp_path / "paper.pdf", ("10_rubric",))
    everything = tight("".join(paper.words))
    nothing([one for one in told if tight(one) not in everything])
    assert len(heads) >= 5
    assert {tight(one) for one in heads}.isdisjoint(title for title, _ in paper.bookmarks)


def test_cards_stand_whole_on_a_page_with_the_heading_over_them(visit, book, tmp_path):
    page = visit(viewport=PAPER).page
    extension("pdf").bind(page, ["book/index"])
    cards = page.locator(".sd-card :is(.sd-card-title, p.sd-card-text)").all_inner_texts()
    assert len(cards) == 3 * 4  # the last says where a door leads
    for share in (0.89, 0.92, 0.95, 1):  # the cards begin at the foot of a page, or farther up
        page.evaluate("(by) => { document.querySelector('.print-part').style.zoom = by; }", share)
        page.pdf(path=tmp_path / "paper.pdf", tagged=True, outline=True, prefer_css_page_size=True)
        paper = Paper(tmp_path / "paper.pdf", ())
        there = paper.words[dict(paper.bookmarks)["Fourdoors"] - 1]
        nothing([one for one in cards if unbroken(one) not in unbroken(there)])


WIDE = """() => {
  const right = document.querySelector("article").getBoundingClientRect().right;
  return [...document.querySelectorAll("article :is(table, pre, svg, mjx-container)")]
    .map((one) => [one.getBoundingClientRect().right, one.textContent.trim().slice(0, 50)])
    .filter(([end]) => end > right + 2).map(([end, text]) => `${Math.round(end - right)} px: ${text}`);
}"""
PAPER = {"width": 673, "height": 1001}  # an A4 page between its margins, in px
TABLES = ("notation", "datasets", "terminology", "glossary", "records", "status", "api")


def test_nothing_is_wider_than_the_paper(visit, book):
    one = visit(viewport=PAPER)
    slug = random.Random(seed()).choice(WRITTEN)
    extension("pdf").bind(one.page, [f"chapters/{slug}", *(f"book/{name}" for name in TABLES)])
    one.page.emulate_media(media="print")
    nothing(one.page.evaluate(WIDE))


@pytest.mark.parametrize("name", TABLES)
def test_no_table_is_wider_than_the_paper(visit, book, name):
    one = visit(viewport=PAPER)
    one.page.emulate_media(media="print")
    one.open((book / f"book/{name}.html").as_uri())
    nothing(one.page.evaluate(WIDE))


def test_what_a_link_outside_leads_to_is_printed(paper, book):
    """On paper an underlined word led nowhere."""
    if paper.whole:
        pytest.skip("the bibliography has its own ways to name a work: one chapter is looked at")
    said = "".join(unbroken(page).casefold() for page in paper.words)
    missing = []
    for slug in paper.slugs:
        page = BeautifulSoup((book / "chapters" / f"{slug}.html").read_bytes(), "html.parser")
        links = {link["href"] for link in page.select("article a[href^=http]")}
        assert links
        bare = {re.sub(r"^https?://(www\.)?|/$", "", link) for link in links}
        missing += [one for one in bare if unbroken(one).casefold() not in said]
    nothing(missing)
