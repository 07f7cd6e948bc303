"""A small assignment in a course of its own: a function, a number, another function, an explanation."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import nbformat

from scalelab.grading.release import release
from tests.notebooks import ROOT

SLUG = "demo"
MOST = 6.0  # points that are given automatically
HONEST = {
    "answer-1-1": "def half(x):\n    return x / 2",
    "answer-2-1": "limit = 1 / 0.05",
    "answer-3-1": "def mean(values):\n    return sum(values) / len(values)",
    "answer-3-2": "Because it must be so.",
}
_CHECK = """from scalelab.checks import Task

task = Task("{number}", points={points}, answers=globals())
{shown}
### BEGIN HIDDEN TESTS
from scalelab.checks import fresh

_rng = fresh("demo/{number}")
{hidden}
### END HIDDEN TESTS
task.score()"""
_CHECKS = {
    "check-1-1": (
        2,
        'task.function("half", cases=[(8,), (3.0,)], expect=[4.0, 1.5], '
        'known=[([16, 6.0], "that is twice, not half")])',
        'task.function("half", cases=[(_rng.uniform(1, 99),) for _ in range(5)], '
        "expect=lambda x: x / 2, hidden=True)",
    ),
    "check-2-1": (
        1,
        'task.number("limit", between=(1, 1000))',
        'task.number("limit", expect=20.0, hidden=True)',
    ),
    "check-3-1": (
        3,
        'task.function("mean", cases=[([1, 2, 6],)], expect=[3.0])',
        'task.function("mean", cases=[([_rng.uniform(0, 9) for _ in range(4)],) for _ in "abc"], '
        "expect=lambda v: sum(v) / len(v), hidden=True)",
    ),
}


def source():
    """Return the notebook as its author writes it."""
    cells = [
        _cell("title", "# A small assignment"),
        _cell("setup", "import numpy as np", "code"),
    ]
    for number, (exercise, tasks) in enumerate(
        (("Half, and a limit", ["1-1", "2-1"]), ("A mean", ["3-1", "3-2"])), 1
    ):
        cells.append(_cell(f"exercise-{number}", f"## Exercise {number}. {exercise}"))
        for task in tasks:
            cells.append(
                _cell(f"question-{task}", f"### {task.replace('-', '.')} A task\n\nDo it.")
            )
            cells += _task(task)
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    return notebook


def _task(task):
    name = f"answer-{task}"
    if task == "3-2":
        return [_cell(name, HONEST[name], grade=True, solution=True, points=2)]
    code = HONEST[name]
    head, _, body = code.partition("\n")
    lines = (
        f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
        if body
        else (f"### BEGIN SOLUTION\n{code}\n### END SOLUTION")
    )
    check = f"check-{task}"
    points, shown, hidden = _CHECKS[check]
    text = _CHECK.format(number=task.replace("-", "."), points=points, shown=shown, hidden=hidden)
    return [
        _cell(name, lines, "code", solution=True),
        _cell(check, text, "code", grade=True, points=points),
    ]


def _cell(name, text, kind="markdown", grade=False, solution=False, points=None):
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    cell = make(text, id=name)
    cell.metadata["nbgrader"] = {
        "grade": grade,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    } | ({"points": points} if points is not None else {})
    return cell


def course(root):
    """Make a course that holds this assignment, released; return its root."""
    root = Path(root)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        (root / folder / SLUG).mkdir(parents=True)
    nbformat.write(source(), root / "solutions" / SLUG / f"{SLUG}.ipynb")
    (root / "exercises" / SLUG / f"{SLUG}.ipynb").write_text(release.build(root, SLUG))
    return root


def handed_in(root, answers=None):
    """Return the released notebook with answers in it, as plain JSON data."""
    path = Path(root) / "exercises" / SLUG / f"{SLUG}.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        given = HONEST if answers is None else answers
        cell["source"] = given.get(cell["id"], "".join(cell["source"]))
    return copy.deepcopy(notebook)
