"""Where you stand: what the last cell of an assignment says of the checks that ran before it."""

import pytest

from scalelab.checks import Task, where_you_stand
from scalelab.checks.standing import _noted

CHECKED, READ = {"1.1": 3, "1.2": 4, "1.10": 5, "2.1": 2}, {"1.3": 3}


@pytest.fixture(autouse=True)
def nobody_else():
    """No other test's checks are remembered, and none of these."""
    before = dict(_noted)
    _noted.clear()
    yield
    _noted.clear()
    _noted.update(before)


def check(name, points, answers, sub_check):
    """Run a check as its cell does."""
    task = Task(name, points=points, answers=answers)
    sub_check(task)
    task.score()


def half(task):
    task.function("half", cases=[(4,), (9,)], expect=[2.0, 4.5])


def test_points_are_certain_undecided_or_open(capsys):
    check("1.1", 3, {"half": lambda x: x / 2}, half)
    check("1.2", 4, {"cost": 7.0}, lambda task: task.number("cost"))
    check("1.10", 5, {"half": lambda x: x}, half)
    check("2.1", 2, {}, half)
    capsys.readouterr()
    where_you_stand(CHECKED, READ)
    assert capsys.readouterr().out.splitlines() == [
        "Where you stand: 3 of 17 points; 4 more judged when it is graded",
        "  right          1.1: 3 of 3 points",
        "  readable       1.2: 0 of 4 points; 4 more judged when it is graded",
        "  for a person   1.3: up to 3 points, given when it is read",
        "  wrong          1.10: 0 of 5 points",
        "  not attempted  2.1: 2 points",
    ]


def test_a_check_that_runs_again_counts_once_and_as_it_is_now(capsys):
    for answer in (lambda x: x, lambda x: x / 2):
        check("1.1", 3, {"half": answer}, half)
    where_you_stand({"1.1": 3}, {})
    assert "Where you stand: 3 of 3 points\n" in capsys.readouterr().out


def test_a_check_that_did_not_run_here_is_told_from_one_that_found_nothing(capsys):
    where_you_stand({"1.1": 3}, {})
    assert "1.1: 3 points; its check has not been run here" in capsys.readouterr().out
