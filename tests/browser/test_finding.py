"""What a reader looks for is found: old addresses, the citation, and words in the search, all from disk."""

import importlib.util
import re
from urllib.parse import quote

import pytest

from tests.browser.conftest import nothing, visiting
from tests.browser.test_pages import soup
from tests.notebooks import ROOT, WRITTEN
from tests.sampling import sampled


@pytest.fixture
def moved(tmp_path):
    """A folder with a page, and the file that stands where it was before."""
    source = ROOT / "book" / "_ext" / "redirects.py"
    spec = importlib.util.spec_from_file_location("redirects", source)
    redirects = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(redirects)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "old.html").write_text(redirects.page("part/old", "new page"))
    new = '<!doctype html><html lang="en"><title>New</title><link rel="icon" href="data:,">'
    (tmp_path / "new page.html").write_text(f'{new}<h1 id="there">New</h1>')
    return tmp_path


def test_an_old_address_keeps_its_fragment_and_stays_out_of_the_way_back(visit, moved):
    one = visit()
    one.page.goto("about:blank")
    one.page.goto(f"{(moved / 'part' / 'old.html').as_uri()}#there")
    one.page.wait_for_url("**/new%20page.html#there")
    assert one.page.locator("h1").inner_text() == "New"
    one.page.go_back()
    assert one.page.url == "about:blank"


def test_an_old_address_leads_on_without_a_script_too(visit, moved):
    one = visit(java_script_enabled=False)
    one.page.goto((moved / "part" / "old.html").as_uri())
    one.page.wait_for_url("**/new%20page.html")


def test_the_figure_on_the_cover_answers_its_question_and_four_doors_lead_on(visit, book):
    one = visit(plain=True)
    one.open((book / "book" / "index.html").as_uri())
    one.page.get_by_role("slider", name="nodes", exact=True).press("End")
    title = one.page.locator(".sl-figure .sl-title")
    assert title.inner_text() == "512 nodes: 4.15 hours for $42,480"
    doors = one.page.locator("#four-doors .sd-card a")
    leads = [door.get_attribute("href") for door in doors.all()]
    assert leads == [
        "how_to_read.html",
        "../chapters/01_speedup.html",
        "instructor.html",
        "proposal.html",
    ]


def test_the_citation_on_the_cover_has_a_button_that_copies_it(visit, book):
    one = visit(plain=True, permissions=["clipboard-read", "clipboard-write"])
    one.open((book / "book" / "index.html").as_uri())
    box = one.page.locator(".highlight-bibtex")
    box.hover()
    box.get_by_role("button").click()
    copied = one.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == box.locator("pre").inner_text().strip()
    assert copied.startswith("@misc{scalelab")


PLACES = {
    "Amdahl": "05_laws",
    "Gustafson's law": "05_laws",
    "universal scalability law": "05_laws",
    "Karp-Flatt": "01_speedup",
    "Daly's interval": "02_hardware",
    "isoefficiency": "03_study",
    "Little's law": "04_tail",
    "coordinated omission": "04_tail",
    "Pollaczek-Khinchine": "04_tail",
    "critical path": "06_workdepth",
    "Brent's theorem": "notation",
    "Erlang C": "notation",
    "roofline": "07_roofline",
    "arithmetic intensity": "07_roofline",
    "busbw": "08_network",
    "alpha-beta": "08_network",
    "bisection bandwidth": "glossary",
    "MFU": "09_cost",
}


@pytest.fixture(scope="module")
def search(browser, book):
    """Return a way to search the book: words in, addresses of what is found out."""
    with visiting(browser, plain=True) as one:

        def find(words: str) -> list[str]:
            one.page.goto(f"{(book / 'search.html').as_uri()}?q={quote(words)}")
            one.page.get_by_text("Search finished").first.wait_for()
            links = one.page.locator("#search-results li a")
            return links.evaluate_all("links => links.map((link) => link.getAttribute('href'))")

        yield find
        faults = one.faults
    nothing(faults)


@pytest.mark.parametrize("words", sampled(PLACES, 4))
def test_searching_a_term_or_the_name_of_a_formula_finds_its_page_among_the_first_three(
    search, words
):
    first = search(words)[:3]
    assert any(f"/{PLACES[words]}.html" in address for address in first), first


def test_searching_a_plain_word_finds_the_glossary_too(search):
    assert any("/glossary.html" in address for address in search("efficiency"))


def test_every_formula_that_has_a_name_is_numbered_and_the_notation_leads_to_it(book):
    """Numbers run through the book in the order of its pages, none twice."""
    shown = {}
    for slug in WRITTEN:
        page = soup(book / "chapters" / f"{slug}.html")
        for number in page.select(".math .eqno"):
            place = f"../chapters/{slug}.html#{number.parent['id']}"
            shown[place] = re.match(r"\(\d+\)", number.text)[0]
    assert list(shown.values()) == [f"({n})" for n in range(1, len(shown) + 1)]
    page = soup(book / "book" / "notation.html")
    links = page.select("#formulas-by-name a[href*='#equation-']")
    assert {link["href"]: link.text for link in links} == shown


@pytest.mark.parametrize("slug", WRITTEN)
def test_every_stamp_of_a_chapter_leads_to_the_row_of_its_run(book, slug):
    """The row says when it was, how long it took, where, and with which versions."""
    page = soup(book / "chapters" / f"{slug}.html")
    stamps = page.select(".sl-stamp")
    assert stamps
    assert {stamp.get("href") for stamp in stamps} == {f"../book/status.html#{row_of(slug)}"}
    status = soup(book / "book" / "status.html")
    title, ended, seconds, machine, *versions = status.select(f"tr#{row_of(slug)} td")
    assert title.a["href"] == f"../chapters/{slug}.html"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", ended.text)
    assert float(seconds.text) > 0
    here = {stamp.text.split(" · ")[1] for stamp in page.select(".sl-stamp.sl-measured")}
    assert all(machine.text.startswith(name) for name in here)
    assert [bool(re.match(r"\d+\.\d+", one.text)) for one in versions] == [True] * 3


def row_of(slug):
    return f"chapters-{slug.replace('_', '-')}"
