"""The pages without code state numbers too; these are recomputed from what the pages say."""

import importlib
import re
import shlex
from types import SimpleNamespace

import pytest
from docutils.nodes import SkipNode

from scalelab.models.scaling import speedup
from tests.cli.command import scalelab
from tests.notebooks import ROOT, WRITTEN


def page(name):
    """Text of a page or paper of the repository."""
    return (ROOT / name).read_text()


def rows(text, columns):
    """Rows of Markdown tables whose first cell is a number and that have this many columns."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [
        [float(re.sub(r"[^\d.]", "", cell) or "nan") for cell in row]
        for row in cells
        if len(row) == columns and re.fullmatch(r" *[\d,]+ *", row[0])
    ]


def test_the_bill_on_the_overview_follows_from_its_model():
    """80 h on one $20 node, 4 of them serial: hours, dollars, efficiency, price of an hour saved."""
    table = rows(page("book/index.md"), 5)
    assert [int(row[0]) for row in table] == [1, 16, 32, 64, 512]
    hours = [speedup.fixed_job_seconds(row[0], 4 / 80, baseline=80) for row in table]
    bills = [h * row[0] * 20 for h, row in zip(hours, table, strict=True)]
    for i, (nodes, shown_hours, bill, share, _) in enumerate(table):
        assert shown_hours == pytest.approx(hours[i], abs=0.0051)
        assert bill == pytest.approx(bills[i])
        assert share == pytest.approx(speedup.efficiency(80, hours[i], nodes), abs=0.005)
        assert bill == pytest.approx(1600 / speedup.efficiency(80, hours[i], nodes))
    for i in range(1, len(table)):
        price = (bills[i] - bills[i - 1]) / (hours[i - 1] - hours[i])
        assert table[i][4] == pytest.approx(price, abs=0.5)


def test_the_figure_on_the_cover_says_what_its_table_says(monkeypatch):
    """And with nothing serial the bill stays what it was."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    cover = importlib.import_module("cover")
    for nodes, hours, bill, *_ in rows(page("book/index.md"), 5):
        chart = cover.bill(nodes, 4)
        assert chart.readouts["Done after"] == f"{hours:.2f} h"
        assert chart.readouts["Bill"] == f"${bill:,.0f}"
        assert chart.readouts["Bought waiting"] == f"${bill - 1600:,.0f}"
        assert cover.bill(nodes, 0).readouts["Bill"] == "$1,600"


def test_the_curve_on_the_cover_ends_at_the_nodes_chosen_so_that_one_may_guess(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    cover = importlib.import_module("cover")
    start = cover.SLIDERS["workers"].start
    assert start < 512  # which the page asks for
    for nodes in cover.COUNTS:
        for serial in cover.SLIDERS["serial"].values:
            curve = cover.bill(nodes, serial).series[0]
            assert (curve.x[0], 2.0 ** (len(curve.x) - 1)) == (80, nodes)
            assert {curve.words[0], curve.words[-1]} == {"1", f"{nodes:.0f}"}


def test_the_map_on_the_cover_leads_to_every_section_by_the_questions_of_the_page(monkeypatch):
    """It says of each question what the table further down says, and numbers sections as they do."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    cover = importlib.import_module("cover")
    asked = re.findall(r"^\| (\d) \| \*\*(.+?)\*\* \|(.*)$", page("book/index.md"), re.M)
    assert [(int(n), words) for n, words, _ in asked] == [
        (n, one.words) for n, one in enumerate(cover.MAP, 1)
    ]
    for (*_, answer), one in zip(asked, cover.MAP, strict=True):
        told = set(re.findall(r"chapters/(\w+)\.ipynb", answer))
        assert told == {section.slug for section in one.sections}
    sections = [section for one in cover.MAP for section in one.sections]
    assert {section.slug for section in sections} == set(WRITTEN)
    for section in sections:
        number = re.search(r'"# ([\d.]+) ', page(f"chapters/{section.slug}.ipynb"))[1]
        assert section.name.split()[0] == number
    writer = SimpleNamespace(
        body=[], builder=SimpleNamespace(get_relative_uri=lambda here, name: f"{here}>{name}")
    )
    with pytest.raises(SkipNode):
        cover.write_map(writer, cover.Map(here="book/index"))
    links = re.findall(r'href="book/index&gt;chapters/(\w+)"', writer.body[0])
    assert links == [section.slug for section in sections]


def test_the_starved_baseline_of_the_corrections_page_follows_from_its_model():
    """600 s and 60 s as measured, 400 s as they should be; every cell of the table."""
    after = page("book/corrections.md").partition("(correction-superlinear)=")[2]
    table = rows(after.partition("\n(correction-")[0], 6)
    assert [int(row[0]) for row in table] == [8, 16, 32, 64]
    for workers, seconds, *claims in table:
        exact = speedup.fixed_job_seconds(workers, 1 / 35, baseline=400)
        assert seconds == pytest.approx(exact, abs=0.05)
        for baseline, shown_speedup, shown_share in (
            (600, *claims[:2]),
            (400, *claims[2:]),
        ):
            assert shown_speedup == pytest.approx(speedup.speedup(baseline, exact), abs=0.051)
            assert shown_share == pytest.approx(
                speedup.efficiency(baseline, exact, workers), abs=0.0051
            )


def test_the_roadmap_lists_exactly_the_written_sections():
    """A section appears when it exists, and no link promises one that does not."""
    links = re.findall(
        r"^\[(?:3\.\d|41\.6)[^\]]*\]\(\.\./chapters/(\w+)\.ipynb\)", page("book/index.md"), re.M
    )
    assert tuple(links) == WRITTEN
    assert set(re.findall(r"chapters/(\w+)\.ipynb", page("book/index.md"))) == set(WRITTEN)


def test_every_reference_is_cited_and_every_citation_has_a_reference():
    """The bibliography page says of each source why it is there."""
    keys = set(re.findall(r"^@\w+\{(\w+),", page("book/references.bib"), re.M))
    cited = {
        key
        for name in [*ROOT.glob("book/*.md"), *ROOT.glob("chapters/*.ipynb")]
        for group in re.findall(r"\{cite:[a-z]+\}`([^`]+)`", name.read_text())
        for key in group.split(",")
    }
    annotated = set(re.findall(r"\{cite:[tp]\}`(\w+)`\n: ", page("book/bibliography.md")))
    assert cited == keys == annotated


@pytest.mark.parametrize("slug", WRITTEN)
def test_a_paper_that_a_chapter_names_is_found_in_the_bibliography_by_that_name(slug):
    """On paper a link leads nowhere, and the chapters say that all sources are there."""
    entries = page("book/references.bib").split("\n@")
    named = re.findall(
        r"\[(\w[^\],]*?)(?: and | et al\.,|, )[^\]\d]*(\d{4})[^\]]*\]\(http",
        page(f"chapters/{slug}.ipynb"),
    )
    assert [
        f"{first}, {year}"
        for first, year in named
        if not any(
            re.search(rf"^ *author *= {{{re.escape(first)},", one, re.M) and f"{{{year}}}" in one
            for one in entries
        )
    ] == []


def test_commands_in_the_papers_are_targets_of_the_makefile():
    """A reader who types what the README, the guide or the rules say gets what they say."""
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.M))
    for name in ("README.md", ".github/CONTRIBUTING.md", "book/how_to_read.md", "CHANGELOG.md"):
        said = set(re.findall(r"(?:^|`)make ([a-z]+)", page(name), re.M))
        assert said, name
        assert said <= targets, name


@pytest.mark.parametrize("shown", re.findall(r"```\n\$ (.+?)\n```", page("README.md"), re.S))
def test_what_the_readme_shows_of_a_command_is_what_it_prints(shown, tmp_path):
    """Line by line; three dots stand for what is left out."""
    line, *lines = filter(None, shown.splitlines())
    said = scalelab(*shlex.split(line)[1:], folder=tmp_path).stdout
    # A line may end in dots as well.
    ways = [
        "(?s:.*)" if one == "..." else ".*".join(map(re.escape, one.split(" ..."))) for one in lines
    ]
    assert re.fullmatch("\n+".join(ways), said.strip())


def test_formulas_are_listed_by_the_alphabet():
    """One looks for a name where the alphabet has it."""
    listed = page("book/notation.md").partition("| name | where |")[2].partition("## Units")[0]
    cells = [row.split("|")[1].strip() for row in listed.strip().splitlines()[1:]]
    names = [re.sub(r"^\{index\}`!?([^`<]*).*", r"\1", cell).strip().lower() for cell in cells]
    assert len(names) > 40
    assert names == sorted(names)


def test_words_of_the_glossary_stand_under_their_letters():
    """The contents beside the page list these."""
    letters = re.findall(
        r"^## (\w)\n\n```\{glossary\}\n(.+?)\n```$", page("book/glossary.md"), re.M | re.S
    )
    words = {letter: re.findall(r"^(\w.*)$", listed, re.M) for letter, listed in letters}
    assert sum(map(len, words.values())) > 100
    assert page("book/glossary.md").count("```{glossary}") == len(letters)
    for letter, listed in words.items():
        assert {word[0].upper() for word in listed} == {letter}
    everything = [word.lower() for listed in words.values() for word in listed]
    assert everything == sorted(everything)


def test_notation_names_functions_that_exist():
    """Formula and call stand side by side; the call must be real."""
    calls = re.findall(r"`speedup\.(\w+)\(", page("book/notation.md") + page("book/index.md"))
    assert len(calls) >= 8
    assert [name for name in calls if not hasattr(speedup, name)] == []
