"""Every student has numbers of their own, equally hard, and nobody is helped by a neighbour's.

All twenty variants of a task are tried, and the public one: of some assignments today, of all by `--all`.
"""

import ast
import random

import pytest

from scalelab.checks.plain import Unreadable, plain
from tests.assignments.asked import asked, commonest
from tests.assignments.messages import every
from tests.assignments.runner import SLUGS, VARIANTS, Assignment, in_course, table
from tests.assignments.seeds import MOST_ALIKE, calls, drawn, numbers, outside
from tests.sampling import sampled, seed

ONE_PER_SLUG = pytest.mark.parametrize("slug", sampled(SLUGS, 2))
SOME_SLUGS = pytest.mark.parametrize("slug", sampled(SLUGS, 2))


@ONE_PER_SLUG
def test_a_check_draws_the_numbers_that_the_notebook_shows(slug):
    written = {True: set(), False: set()}
    for key, cell in Assignment(slug).cells.items():
        if cell.cell_type == "code":
            written[key.startswith("check-")] |= {ast.unparse(call) for call in calls(cell.source)}
    assert written[True] == written[False]


@ONE_PER_SLUG
def test_every_variant_is_within_the_bounds_of_equal_difficulty(slug):
    bounds = getattr(table(slug), "BOUNDS", {})
    assert set(bounds) == set(drawn(slug))
    for task, (call, names) in drawn(slug).items():
        variants = list(numbers(call, names))
        assert [n.variant for n in variants] == list(VARIANTS)
        assert len({str(sorted(n.values.items())) for n in variants}) >= 15, f"{task}: too alike"
        assert bounds[task]
        assert outside(bounds[task], variants) == {}, task


@SOME_SLUGS
def test_a_neighbours_values_lose_points(slug):
    assignment = Assignment(slug)
    for task in assignment.tasks:
        if not calls(assignment.cells[f"check-{task}"].source):
            continue
        with in_course():
            copied = {f"answer-{task}": _with_values(assignment, task)}
        paid = []
        for number in VARIANTS[1:]:
            with in_course(number=number):
                graded = assignment.grade(copied, only=task)[f"check-{task}"]
            paid += [number] if graded.points == graded.most else []
        assert len(paid) <= 2, f"{task}: copied values are right for variants {paid}"


@SOME_SLUGS
def test_every_value_differs_between_students_unless_it_is_fixed_for_a_reason(slug):
    """FIXED names them: {"2-1": why no value of the task does, "2-2 kept": why this one does not}."""
    fixed = getattr(table(slug), "FIXED", {})
    same = set()
    for task in Assignment(slug).tasks:
        values = {name: kinds for name, (kinds, _) in commonest(slug, task).items()}
        alike = {name for name, kinds in values.items() if kinds == 1}
        same |= {task} if alike == set(values) != set() else {f"{task} {name}" for name in alike}
    assert set(fixed) == same
    assert all(isinstance(why, str) and why.strip() for why in fixed.values())


@SOME_SLUGS
def test_no_answer_is_right_for_many_more_than_half_of_the_students(slug):
    """COMMON names the values that may be: {"2-2 stage": why}. FIXED has those of everybody."""
    often = {
        f"{task} {name}"
        for task in Assignment(slug).tasks
        for name, (kinds, most) in commonest(slug, task).items()
        if kinds > 1 and most > MOST_ALIKE * len(VARIANTS)
    }
    assert often == set(getattr(table(slug), "COMMON", {}))
    assert all(len(why) > 20 for why in getattr(table(slug), "COMMON", {}).values())


@ONE_PER_SLUG
def test_no_slip_is_right_by_luck_or_gets_the_message_of_another_with_todays_numbers(slug):
    """ALIKE names what may coincide: {("1-2 needed", the message that is not told): why}."""
    alike = getattr(table(slug), "ALIKE", {})
    today = random.Random(seed()).sample(VARIANTS, 2)
    found = every(slug, today)
    assert {key: variants for key, variants in found.items() if key not in alike} == {}
    assert all(len(why) > 20 for why in alike.values())


@pytest.mark.thorough
@ONE_PER_SLUG
def test_no_slip_is_right_by_luck_or_gets_the_message_of_another(slug):
    alike, found = getattr(table(slug), "ALIKE", {}), every(slug)
    assert {key: variants for key, variants in found.items() if key not in alike} == {}
    assert set(alike) <= set(found), "no longer alike: take it off the list"


@ONE_PER_SLUG
def test_every_function_is_called_on_inputs_of_the_course(slug):
    for task in Assignment(slug).tasks:
        here, there = (asked(slug, task, 0, word)[1] for word in ("course 0", "course 1"))
        assert {name for name in here if here[name] == there[name]} == set(), task


def _with_values(assignment, task):
    """Return the reference's answer with every value that it works out written as a literal."""
    source = assignment.cells[f"answer-{task}"].source
    names = assignment.run(only=task)
    for node in ast.parse(source).body:
        targets = [n for target in getattr(node, "targets", ()) for n in ast.walk(target)]
        for name in {n.id for n in targets if isinstance(n, ast.Name)}:
            value = plain(names.get(name, ...))
            if value is not ... and not isinstance(value, Unreadable):
                source += f"\n{name} = {value!r}"
    return "from numpy import inf, nan\n" + source
