"""How the sources are sorted and named where they are listed."""

from collections import Counter

import pybtex.database as pybtex
from pybtex.backends.plaintext import Backend

from tests.book.test_extension import extension
from tests.notebooks import ROOT


def listed():
    entries = pybtex.parse_file(ROOT / "book" / "references.bib").entries.values()
    return list(extension("bibliography").Sources().format_entries(entries))


def test_an_organisation_stands_among_the_authors():
    order = [one.key for one in listed()]
    around = {key: order[order.index(key) - 1] for key in ("codecarbon", "mlperf40")}
    people = pybtex.parse_file(ROOT / "book" / "references.bib").entries
    for key, before in around.items():
        first = people[key].persons["author"][0].last_names[0].strip("{}")
        assert people[before].persons["author"][0].last_names[0].strip("{}") <= first


def test_an_entry_begins_with_the_surname_that_the_text_cites():
    texts = {one.key: one.text.render(Backend()) for one in listed()}
    assert texts["williams2009"].startswith(
        "Williams, Samuel, Andrew Waterman, and David Patterson. Roofline"
    )
    assert texts["amdahl1967"].startswith("Amdahl, Gene M. Validity")
    assert texts["nccl"].startswith("NVIDIA. ")
    assert "Devlin, and others. " in texts["chowdhery2022"]


def test_no_two_sources_are_cited_alike():
    """The text names the first author, or two, and the year."""
    cited = Counter()
    for one in pybtex.parse_file(ROOT / "book" / "references.bib").entries.values():
        names = [" ".join(person.last_names) for person in one.persons["author"]]
        named = names if len(names) < 3 else [names[0], "and others"]
        cited[(*named, one.fields.get("year", "n.d."))] += 1
    assert [one for one, times in cited.items() if times > 1] == []


def test_a_title_keeps_the_letters_it_is_written_with():
    texts = {one.key: one.text.render(Backend()) for one in listed()}
    assert "Über eine Aufgabe der Wahrscheinlichkeitstheorie. I." in " ".join(texts.values())
