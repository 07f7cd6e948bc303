"""The check of numbers in prose: what it takes for a number, for vouched, and for a reason."""

import json

import pytest

from tests.book import numbers
from tests.notebooks import WRITTEN


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("**1.** In 2019 the run of section 3.4 used 12 of 1,792 GPUs", ["1,792"]),
        ("## 2. Heads have numbers", []),
        ("$S = 32 \\times 0.8 = 25.6$", ["32", "0.8", "25.6"]),
        ("an H100 moves 3{,}350 GB/s, [14](https://x.org/99) of `17`", ["3,350", "14"]),
        ("Exercise 3.5.1, corrections 11 to 13", ["13"]),
    ],
)
def test_what_counts_as_a_number(text, found):
    assert numbers.numbers(text) == found


@pytest.mark.parametrize(
    ("written", "exact", "agree"),
    [("25.8", 25.81, True), ("25.8", 25.6, False), ("31", 0.312, True), ("5.0", 5.04, True),
     ("5.0", 5.06, False), ("1,200,000", 1_199_700, True), ("11,200", 11_250, False)],
)  # fmt: skip
def test_a_number_agrees_with_what_rounds_to_it(written, exact, agree):
    assert numbers.agrees(written, exact) is agree


def made(tmp_path, monkeypatch, text, prints):
    """Give the check one chapter of one text cell, whose cells print something."""
    shown = tmp_path / "numbers.json"
    shown.write_text(json.dumps({"x": prints}))
    monkeypatch.setattr(numbers, "PRINTED", shown)
    chapter = type("Chapter", (), {"markdown": [text], "code": []})
    monkeypatch.setattr(numbers, "chapter", lambda slug: chapter)


def test_a_wrong_sum_in_prose_is_found_though_it_has_a_reason(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch, "So it is 25.8 times as fast.", "S = 25.6")
    assert "nothing vouches for 25.8" in next(numbers.faults("x", {}))
    assert "which is 25.6" in next(numbers.faults("x", {"25.8": "= 32 * (1 - 0.2)"}))
    assert not [*numbers.faults("x", {"25.8": "= 32 * (1 - 0.2) + 0.2"})]


def test_a_reason_for_a_number_that_is_gone_is_refused(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch, "So it is 25.6 times as fast.", "S = 25.6")
    assert not [*numbers.faults("x", {"25.6": "given"})]
    assert "25.8 stands in the prose no more" in next(numbers.faults("x", {"25.8": "given"}))


def test_a_source_vouches_for_its_paragraph_alone(tmp_path, monkeypatch):
    made(tmp_path, monkeypatch, "It was 1,021 ([he said](https://x.org)).\n\nAnd 1,016.", "")
    assert [*numbers.unvouched("x")] == ["1,016"]


def test_a_reason_is_arithmetic_and_runs_nothing():
    for code in ("__import__('os')", "(1).real", "[1]", "'1' * 9", "print(1)"):
        with pytest.raises((ValueError, KeyError)):
            numbers.computed(code)


def test_every_reason_is_of_a_chapter():
    import tomllib

    assert set(tomllib.loads(numbers.REASONS.read_text())) <= set(WRITTEN)
