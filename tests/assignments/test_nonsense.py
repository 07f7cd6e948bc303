"""Nonsense is never told to be right: what a released check calls so, the hidden one does as well."""

import random
from unittest import mock

import pytest

from scalelab.checks.report import READABLE, RIGHT
from scalelab.checks.task import Task
from tests.assignments.runner import SLUGS, Assignment, graded_cell, in_course
from tests.sampling import sampled, seed

PLAIN = (
    *(0, 1, -1, 2, 7, 16, 64, 1000, 0.5, 0.1, 0.964, 1e-3, 3.7e9, -2.5, float("inf"), float("nan")),
    *("amdahl", "yes", "a", "b", "3", "46 GPUs", "12 ms", "$5", "", "none", True, False, None, ...),
    *([], [1], [1, 2], ["up", "a"], [[1, 2], [3, 4]], {}, {"a": 1}, (0.5, 0.25), 10**400),
)
ROUNDS = 12


def verdicts(cell, names):
    """Run a check cell; return its verdicts, and the words it lets one choose from."""
    tasks, words = [], []
    score, choice = Task.score, Task.choice

    def note(task):
        tasks.append(task)
        return score(task)

    def choose(task, name, *, options, reasons=None, **how):
        words.extend([*options, *((o, r) for o in options for r in reasons or ())])
        return choice(task, name, options=options, reasons=reasons, **how)

    with mock.patch.multiple(Task, score=note, choice=choose):
        graded_cell(cell, names)
    return [verdict for task in tasks for verdict in task.verdicts], words


@pytest.mark.parametrize("slug", sampled(SLUGS, 3))
def test_nothing_is_called_right_that_the_hidden_check_calls_wrong(slug):
    draw, said, seen = random.Random(seed()), [], 0
    hidden = Assignment(slug)
    released = Assignment(slug, "exercises")
    with in_course():
        for check, cell, names in hidden.at_each_check():
            _, words = verdicts(cell, dict(names))
            own = {v.name for v in verdicts(cell, dict(names))[0] if not v.called}
            for _ in range(ROUNDS):
                guess = {name: draw.choice([*PLAIN, *words]) for name in own}
                shown, _ = verdicts(released.cells[check], {**names, **guess})
                judged, _ = verdicts(cell, {**names, **guess})
                for verdict in shown:
                    if verdict.called or verdict.state not in (RIGHT, READABLE):
                        continue
                    seen += 1
                    again = [v for v in judged if (v.name, v.what) == (verdict.name, verdict.what)]
                    final = [v for v in again if v.hidden] or again
                    if verdict.state == RIGHT and any(v.state != RIGHT for v in final):
                        said.append((check, verdict.name, guess[verdict.name]))
                    if verdict.state == READABLE and not any(v.hidden for v in final):
                        said.append((check, verdict.name, "is never judged"))
    assert seen or not any(
        cell for cell in hidden.checks if "task.number" in hidden.cells[cell].source
    )
    assert not said
