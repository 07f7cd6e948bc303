"""The command that runs the benches: which ones, and what a broken promise does."""

import math

import pytest

from tests.bench import Row, importing, workers
from tests.bench.__main__ import main


@pytest.fixture
def quick(monkeypatch):
    """Two benches whose rows are known at once; the promise of the second is broken."""
    kept, broken = Row("kept", 1.0, 2.0, 1.0), Row("broken", 3.0, 2.0, 1.0)
    monkeypatch.setattr(importing, "rows", lambda: [kept])
    monkeypatch.setattr(workers, "rows", lambda: [broken, Row("free", 9.0, 1.0, math.inf)])


def test_only_what_is_named_runs_and_each_says_how_long_it_took(quick, capsys):
    assert main(["importing"]) == 0
    _, row, took = capsys.readouterr().out.splitlines()
    assert row.split() == ["kept", "1", "s", "2", "s", "0.50", "1.00"]
    assert took.startswith("importing took ")


def test_a_broken_promise_is_marked_and_ends_in_an_error(quick, capsys):
    assert main(["importing", "workers"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("BROKEN") for line in lines].count(True) == 1
    assert "nothing" in next(line for line in lines if line.startswith("free"))


def test_an_unknown_name_is_answered_with_the_known_ones(capsys):
    assert main(["importing", "moon"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "importing" in err
    assert "got 'moon'" in err
