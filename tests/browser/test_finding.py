"""What a reader looks for is found: old addresses, the citation, and words in the search, all from disk."""

import importlib.util
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import nothing
from tests.browser.test_pages import anchors
from tests.notebooks import ROOT

pytestmark = pytest.mark.turns(3)


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


# What readers type, and the page that must come first. Where two explain it, either may.
FIRST = {
    "amdahl": "05_laws",
    "Gustafson's law": "05_laws",
    "universal scalability law": "05_laws",
    "efficiency": "01_speedup",
    "Karp-Flatt": "01_speedup",
    "superlinear speedup": "01_speedup",
    "speedup formula": "01_speedup",
    "weak scaling": "03_study",
    "strong scaling": "03_study",
    "batch size": "03_study",
    "isoefficiency": "03_study",
    "GPU memory": "02_hardware",
    "NVLink": "02_hardware",
    "InfiniBand": "02_hardware",
    "KV cache": "02_hardware",
    "ZeRO": "02_hardware",
    "activation checkpointing": "02_hardware",
    "checkpoint interval": "02_hardware",
    "p99": "04_tail",
    "tail latency": "04_tail",
    "little's law": "04_tail",
    "hedged requests": "04_tail",
    "coordinated omission": "04_tail",
    "Erlang C": "04_tail",
    "continuous batching": "04_tail",
    "percentile confidence interval": "04_tail",
    "Pollaczek-Khinchine": "04_tail",
    "straggler": "04_tail",
    "critical path": "06_workdepth",
    "Brent's theorem": "06_workdepth",
    "prefix sum": "06_workdepth",
    "pipeline bubble": "06_workdepth",
    "roofline": "07_roofline",
    "arithmetic intensity": "07_roofline",
    "torch.compile": "07_roofline",
    "all-reduce": "08_network",
    "ring allreduce": "08_network",
    "busbw": "08_network",
    "bus bandwidth": "08_network",
    "alpha-beta": "08_network",
    "bucket_cap_mb": "08_network",
    "tensor parallelism": "02_hardware",
    "gradient compression": "08_network",
    "MFU": "09_cost",
    "cost per run": "09_cost",
    "cluster size": "09_cost",
    "how many GPUs do I need": "09_cost",
    "joules": "09_cost",
    "spot instances": "09_cost",
    "quality gate": "10_rubric",
    "learning rate for a large batch": "10_rubric",
    "install": "how_to_read",
}
READ = """() => ({
  status: document.querySelector(".book-found").textContent,
  pages: [...document.querySelectorAll("#book-results section:not(.book-meant)")].map((page) => ({
    address: page.querySelector("h2 a").getAttribute("href"), title: page.querySelector("h2 a").textContent,
    found: [...page.querySelectorAll("li")].map((one) => ({
      heading: one.querySelector("a")?.textContent ?? "",
      to: one.querySelector("a")?.getAttribute("href") ?? "",
      said: one.querySelector("p").textContent, marked: one.querySelectorAll("mark").length,
    })),
  })),
  meant: document.querySelector(".book-meant")?.textContent ?? "",
})"""


@pytest.fixture
def find(visit, book):
    """Return a way to search the book as one types, on a page opened from disk."""
    one = visit(plain=True)
    one.open((book / "search.html").as_uri())
    field = one.page.locator(".book-search").get_by_role("searchbox")

    def found(words: str) -> dict:
        field.fill(words)
        return one.page.evaluate(READ)

    found.page = one.page
    return found


def test_what_readers_type_finds_the_page_that_explains_it_first_and_the_sentence(find, book):
    faults = []
    for words, wanted in FIRST.items():
        pages = find(words)["pages"]
        first = pages[0] if pages else {"address": "nothing", "found": []}
        if not first["address"].endswith(f"/{wanted}.html"):
            faults.append(f"{words}: {[page['address'] for page in pages[:4]]}, not {wanted}")
        faults += [
            f"{words}: no word of it is marked in {one['said'][:80]!r}"
            for one in first["found"][:1]
            if not one["marked"]
            and words.split()[0].lower() not in (one["heading"] or first["title"]).lower()
        ]
        faults += [
            f"{words}: {one['to']} leads nowhere"
            for page in pages
            for one in page["found"]
            if not there(book, one["to"])
        ]
        faults += [
            f"{words}: {page['title']} stands under itself"
            for page in pages
            for one in page["found"]
            if one["heading"] == page["title"]
        ]
        if len({page["address"] for page in pages}) < len(pages):
            faults.append(f"{words}: a page stands there twice")
    nothing(faults)


def there(book, address: str) -> bool:
    """Whether an address of a search result leads to something."""
    page, _, anchor = address.partition("#")
    return not anchor or anchor in anchors(book / page)


def test_contents_longer_than_the_window_keep_the_marked_line_in_view(visit, book):
    one = visit(plain=True, viewport={"width": 1440, "height": 700})
    one.open((book / "book" / "corrections.html").as_uri())
    marked = one.page.locator("nav.page-toc [aria-current]")
    for number in (33, 2):
        one.page.locator("article h2", has_text=f"{number}. ").first.evaluate(
            "e => e.scrollIntoView()"
        )
        expect(marked).to_contain_text(f"{number}. ")
        expect(marked).to_be_in_viewport()


# Of the contents' marks: the section marked, and whether something of it is to be seen.
MARKED = """async (height) => {
  scrollTo(0, height);
  await new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(seen))));
  const marks = [...document.querySelectorAll("#pst-page-toc-nav [aria-current]")];
  const section = marks[0] && document.getElementById(decodeURIComponent(marks[0].hash.slice(1)));
  const box = section?.getBoundingClientRect();
  const first = document.querySelector("article h2").getBoundingClientRect().top;
  return [scrollY, marks.length, box ? box.top < innerHeight && box.bottom > 0 : first > 0];
}"""


@pytest.mark.parametrize("page", ["chapters/08_network", "book/proposal"])
def test_contents_mark_the_section_in_view_also_for_who_leaps_by_screens(visit, book, page):
    one = visit(plain=True, viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    one.open((book / f"{page}.html").as_uri())
    high = one.page.evaluate("document.documentElement.scrollHeight")
    faults = []
    for height in [*range(0, high, 1700), 2600, high]:
        found = one.page.evaluate(MARKED, height)
        faults += [f"at {found[0]}: {found}"] if found[1] > 1 or not found[2] else []
    nothing(faults)


def test_a_word_of_the_glossary_is_told_at_once_and_nonsense_is_answered(find):
    assert find("Stragglers")["meant"].startswith("straggler")
    assert find("usl_peak")["meant"].startswith("usl_peak(")
    assert find("qzxv")["status"].startswith("Nothing for “qzxv”")
    assert find("")["status"] == ""
    assert find("<b>amdahl</b>")["pages"]
    assert find.page.locator("#book-results b").count() == 0


def test_an_address_with_words_searches_and_what_is_typed_goes_into_the_address(visit, book):
    one = visit(plain=True)
    one.open(f"{(book / 'search.html').as_uri()}?q={quote('little’s law & queues')}")
    field = one.page.locator(".book-search").get_by_role("searchbox")
    assert field.input_value() == "little’s law & queues"
    assert one.page.evaluate(READ)["pages"][0]["address"].endswith("/04_tail.html")
    field.fill("ring + tree")
    one.page.wait_for_url(lambda url: url.endswith("?q=ring%20%2B%20tree"))
    one.page.reload()
    assert field.input_value() == "ring + tree"
