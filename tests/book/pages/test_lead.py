"""What stands before a page is read, and what its sections say: for those who link to it or search it."""

import doctest
import html
import json
import re

import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree

from tests.book.test_extension import extension
from tests.notebooks import ROOT, WRITTEN
from tests.sampling import sampled

HTML = ROOT / "_build" / "html"
KEY = re.compile(r"\b[a-z]{3,}(19|20)\d\d\b")  # of a source, as amdahl1967


@pytest.mark.parametrize("name", ["lead", "sections", "narrow"])
def test_the_examples_of_an_extension_hold(name):
    failed, tried = doctest.testmod(extension(name))
    assert (failed, tried > 0) == (0, True)


def test_each_section_has_its_own_words_and_what_it_sets_in_bold():
    page = "Below\n-----\n\nA **bold** word.\n\n  Said by nobody.\n\nOther\n-----\n\n::\n\n  code\n"
    doctree = publish_doctree(page)
    sections = extension("sections")
    found = {one.heading: (one.text, one.defined) for one in sections.sections(doctree)}
    assert found["Below"] == ("A bold word.", ["bold"])
    assert found["Other"] == ("", [])


def test_a_letter_that_sorts_words_is_no_section():
    """Or who asks the search for "a" is told of a letter."""
    doctree = publish_doctree("A\n-\n\nall\n  Of them.\n\nBoth\n----\n\nOf two.\n")
    assert [one.heading for one in extension("sections").sections(doctree)] == ["Both"]


@pytest.mark.parametrize(
    ("printed", "stands"),
    [
        ("ring   1.26 ms\ntree  12.80 ms", True),
        ("after  35 ms: 50%\nafter 115 ms: 50.16%", True),  # the second has no room to give
        ("  8: lost every 180 min\n256: lost every 6 min", True),
        ("weak,   K = 256: E\nstrong, K = 256: E\nand S/K", True),
        ("A word.\n   It goes on below.", False),
        ("7 GPUs\n7 GPUs", False),
        (" 10 Gbit/s\n2.5 Gbit/s\ndays:  6.95 on 8  4.91 on 16", False),  # the longest is no row
        (f"one   {'word ' * 20}\ntwo   words", False),
        ("", False),
    ],
)
def test_what_has_room_to_stand_under_each_other_stands_in_columns(printed, stands):
    assert extension("narrow").in_columns(printed) is stands


def test_a_level_stays_beside_its_dot_and_the_number_of_a_part_beside_its_title():
    """The dot was held to the word before it, too, and a title of one word was wider than a phone."""
    titles = BeautifulSoup(
        (HTML / "chapters/04_tail.html").read_text("utf-8"), "html.parser"
    ).select("h2")
    levels = [title.get_text() for title in titles if "·" in title.get_text()]
    assert len(levels) > 5
    assert [title for title in levels if " ·\xa0" not in title] == []
    numbered = [title for title in levels if re.match(r"\d+\.", title)]
    assert len(numbered) > 5
    assert [title for title in numbered if not re.match(r"\d+\.\xa0\S", title)] == []


def test_who_wrote_it_is_said_in_one_sentence():
    page = BeautifulSoup((HTML / "chapters/04_tail.html").read_text("utf-8"), "html.parser")
    assert page.select_one(".component-author").get_text().strip() == "By the scalelab authors"


def test_every_page_says_what_it_is_about_in_one_line():
    told = {}
    for path in [*HTML.glob("book/*.html"), *HTML.glob("chapters/*.html")]:
        found = re.findall(r'<meta name="description" content="([^"]*)">', path.read_text())
        assert len(found) == 1, path
        told[path] = html.unescape(found[0])
        assert 30 <= len(told[path]) <= 200, path
        assert "The question" not in told[path]
    assert len(set(told.values())) == len(told)


@pytest.mark.parametrize("slug", sampled(WRITTEN, 2))
def test_a_chapter_says_how_long_it_takes(slug):
    page = BeautifulSoup((HTML / f"chapters/{slug}.html").read_text(), "html.parser")
    said = page.select_one("h1 + .book-time").text
    for seen in page.select("article :is(.sl-figure, .sl-block, pre, script, style)"):
        seen.decompose()
    words = len(page.select_one("article").get_text(" ").split())
    assert int(said.split()[1]) == pytest.approx(words / 200, rel=0.25)


def test_what_the_search_knows_has_all_pages_and_no_markup():
    script = (HTML / "_static" / "sections.js").read_text()
    found = json.loads(script.removeprefix("window.bookSections = ").rstrip(";\n"))
    pages = {page for page, *_ in found}
    assert {f"chapters/{slug}" for slug in WRITTEN} <= pages
    assert {"book/glossary", "book/api", "book/corrections"} <= pages
    assert not [one for one in found if "<div" in one[3] or "\\frac" in one[3]]
    assert not [one for one in found if KEY.search(one[3])]
    assert len(script) < 1_000_000
