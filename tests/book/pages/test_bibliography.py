"""How the sources are sorted and named where they are listed."""

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


def test_a_title_keeps_the_letters_it_is_written_with():
    texts = {one.key: one.text.render(Backend()) for one in listed()}
    assert "Über eine Aufgabe der Wahrscheinlichkeitstheorie. I." in " ".join(texts.values())
