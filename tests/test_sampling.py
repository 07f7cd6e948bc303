"""What waits for another day is not forgotten: every test has its turn, and a seed repeats a choice."""

import pytest

from tests.sampling import SEED, sampled

pytest_plugins = ["pytester"]
TESTS = """
import pytest
pytestmark = pytest.mark.turns(3)
def test_a(): pass
@pytest.mark.parametrize("n", [1, 2])
def test_b(n): pass
class TestC:
    def test_c(self): pass
    @pytest.mark.turns(1)
    def test_every_day(self): pass
@pytest.mark.thorough
def test_thorough(): pass
def test_d(): pass
"""


def today(pytester, monkeypatch, seed: int) -> set[str]:
    monkeypatch.setenv(SEED, str(seed))
    run = pytester.inline_run("-m", "not thorough", "-p", "no:cacheprovider")
    return {one.nodeid.partition("::")[2] for one in run.listoutcomes()[0]}


def test_tests_that_take_turns_have_all_run_within_so_many_days_each_once(pytester, monkeypatch):
    pytester.makeconftest(
        "from tests.sampling import take_turns\n"
        "def pytest_collection_modifyitems(items): take_turns(items)\n"
    )
    pytester.makeini("[pytest]\nmarkers =\n    turns(days)\n    thorough\n")
    pytester.makepyfile(test_many=TESTS)
    days = [today(pytester, monkeypatch, seed) for seed in (7, 8, 9, 10)]
    assert days[0] == days[3]
    assert all("TestC::test_every_day" in day for day in days)
    own = [day - {"TestC::test_every_day"} for day in days[:3]]
    assert set.union(*own) == {"test_a", "test_b[1]", "test_b[2]", "TestC::test_c", "test_d"}
    assert sum(map(len, own)) == 5
    assert all(
        {"test_b[1]", "test_b[2]"} & day in (set(), {"test_b[1]", "test_b[2]"}) for day in own
    )


def test_of_many_cases_a_seed_draws_the_same_and_those_always_tried_are(monkeypatch):
    monkeypatch.setenv(SEED, "1")

    def chosen():
        return {one.values[0] for one in sampled(range(50), 3, always=[49]) if not one.marks}

    first = chosen()
    assert 49 in first
    assert 3 <= len(first) <= 4
    assert chosen() == first
    monkeypatch.setenv(SEED, "2")
    assert chosen() != first


@pytest.mark.parametrize("number", [0, 50, 99])
def test_all_are_drawn_when_there_are_no_more_and_none_when_none_is_asked(number):
    kept = [one for one in sampled(range(50), number) if not one.marks]
    assert len(kept) == min(number, 50)
