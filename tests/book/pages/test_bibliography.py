"""How the sources are sorted and named where they are listed."""

import pybtex.database as pybtex

from tests.book.test_extension import extension
from tests.notebooks import ROOT


def test_an_organisation_stands_among_the_authors_under_a_short_name():
    entries = pybtex.parse_file(ROOT / "book" / "references.bib").entries.values()
    found = list(extension("bibliography").Sources().format_entries(entries))
    letters = [one.label[0].upper() for one in found]
    assert letters == sorted(letters)
    labels = {one.key: one.label for one in found}
    assert max(map(len, labels.values())) <= 10
    assert (labels["codecarbon"], labels["mlperf40"]) == ("Cod", "MLC24")
    assert labels["amdahl1967"] == "Amd67"
