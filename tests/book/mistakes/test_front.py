"""Mistakes that stood on the front pages and behind the chapters."""

import re

import pytest

from scalelab import data
from scalelab.models.scaling import laws
from tests.notebooks import ROOT


def page(name):
    return (ROOT / "book" / name).read_text(encoding="utf-8")


def test_the_planner_says_how_much_longer_two_programs_took_than_planned():
    text = page("planner.md")
    longer = {}
    for name, took, planned in re.findall(
        r"^\| (\S+) .*?\| \d+ \| ([\d.]+) s \| ([\d.]+) s \|", text, re.MULTILINE
    ):
        longer.setdefault(name, []).append(100 * (float(took) / float(planned) - 1))
    said = {
        name: (int(least), int(most))
        for name, least, most in re.findall(r"(\S+) takes (\d+) to (\d+)% longer", text)
    }
    for name, least, most in re.findall(r"on which (\S+) takes (\d+) to (\d+)%", text):
        said[name] = int(least), int(most)
    assert said == {
        name: (round(min(longer[name])), round(max(longer[name])))
        for name in ("MT-NLG", "Megatron-LM")
    }


def test_beyond_the_users_that_are_named_every_row_gets_less_done():
    (said,) = re.findall(r"from (\d+) users on, every row with more load", page("datasets.md"))
    series = data.datasets.load("usl_specsdm91")
    tail = [
        rate
        for users, rate in zip(series.workers, series.values, strict=True)
        if users >= int(said)
    ]
    assert len(tail) > 3
    assert tail == sorted(tail, reverse=True)


def test_the_ceiling_of_an_overhead_is_for_work_that_divides_without_rest():
    """T(K) = W_s + W_p / K + o on endless workers: W_p / o is the ceiling only without W_s."""
    parallel, overhead = 90, 1

    def ceiling(serial):
        return (serial + parallel) / (serial + overhead)

    share = overhead / (parallel / 2 + overhead)  # on two workers
    assert laws.overhead_ceiling(share, 2) == pytest.approx(ceiling(serial=0))
    assert ceiling(serial=10) < 10
    (row,) = [line for line in page("notation.md").splitlines() if "overhead_ceiling" in line]
    assert row.startswith("| with $W_s = 0$")
