"""What commands and chapters print is what they printed when somebody last kept it."""

from __future__ import annotations

import json

import pytest

from tests.golden import CHAPTERS, COMMANDS, commands, printed, rounded, shown
from tests.notebooks import WRITTEN, executed
from tests.sampling import sampled

KEPT = json.loads(COMMANDS.read_text())
CELLS = json.loads(CHAPTERS.read_text())
CLOSE = 1e-6  # of a number: what a solver leaves open


def differences(now, then, at="", size=0.0):
    """Yield where two documents differ by more than the last digits of a number.

    A value with an interval is as large as its ends: rates that differ in their 16th digit, as another
    processor's do, move one of 0.0001 between 0 and 0.01 in its sixth.
    """
    if isinstance(now, dict) and isinstance(then, dict) and now.keys() == then.keys():
        if now.keys() == {"value", "low", "high"}:
            size = max(abs(number) for number in then.values() if number is not None)
        for key in now:
            yield from differences(now[key], then[key], f"{at}.{key}", size)
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for place, pair in enumerate(zip(now, then, strict=True)):
            yield from differences(*pair, f"{at}[{place}]")
    elif isinstance(now, float) and isinstance(then, (int, float)):
        if abs(now - then) > CLOSE * max(abs(now), abs(then), size):
            yield f"{at}: {now}, not {then}"
    elif now != then:
        yield f"{at}: {now!r}, not {then!r}"


def test_every_command_line_is_kept():
    assert sorted(KEPT) == sorted(commands())


@pytest.mark.parametrize("line", sampled(commands(), 3, always=("plan plan.toml --json",)))
def test_a_command_prints_what_it_printed(line, tmp_path):
    assert list(differences(rounded(printed(line, tmp_path)), KEPT[line])) == []


@pytest.mark.parametrize("slug", WRITTEN)
def test_a_chapter_prints_what_it_printed(slug):
    now = shown(executed(slug))
    assert [
        f"{cell}: {now.get(cell)}" for cell, text in CELLS[slug].items() if now.get(cell) != text
    ] == []


def test_a_difference_is_seen_and_a_last_digit_is_not():
    kept = {"a": [1.0, {"b": "x"}]}
    assert list(differences({"a": [1.0 + 1e-8, {"b": "x"}]}, kept)) == []
    assert list(differences({"a": [1.1, {"b": "y"}]}, kept)) == [
        ".a[0]: 1.1, not 1.0",
        ".a[1].b: 'y', not 'x'",
    ]


def test_a_value_is_as_large_as_its_interval():
    kept = {"guess": {"value": 1e-4, "low": 0.0, "high": 0.01}, "alone": 1e-4}
    moved = {"guess": {**kept["guess"], "value": 0.000100005}, "alone": 0.000100005}
    assert list(differences(moved, kept)) == [".alone: 0.000100005, not 0.0001"]
    moved = {"guess": {**kept["guess"], "value": 0.00010002}, "alone": 1e-4}
    assert list(differences(moved, kept)) == [".guess.value: 0.00010002, not 0.0001"]
