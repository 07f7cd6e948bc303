"""An assignment as kinds of trouble find it: which of its answers they attack, and what is due then.

A kind answers a small problem in each of three cells: `half(x)`, `limit`, `mean(values)`. On a real
assignment the reference stands in front of that, behind a gate: a function first asks the kind for a
number, and hands out what is right only where that number is; else it hands out the number itself.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import symtable
import zlib
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from scalelab.grading.box import wire
from scalelab.grading.inputs import source
from scalelab.grading.inputs.source import Cell, Source
from scalelab.grading.judging.execute import TimeLimits
from scalelab.grading.judging.judge import Judge
from tests.notebooks import ROOT

ONE, TWO, THREE, WORDS = "one", "two", "three", "words"
# Beyond ONE: what comes after it in its exercise, other exercises that use names of that one, and more.
REST, USERS, OTHERS, ALL = "rest", "users", "all but three", "all"
SMALL = {
    ONE: "def half(x):\n    return x / 2",
    TWO: "limit = 1 / 0.05",
    THREE: "def mean(values):\n    return sum(values) / len(values)",
}
# On a cell, on calls, on all: a class of runaways must end in minutes, on a busy machine too.
LIMITS = TimeLimits(cell=8.0, call=4.0, submission=40.0)
EXPLAINED = "Because it must be so."
Notebook = dict[str, Any]
# The first two calls that are shown ask for half of 8 and of 3, all hidden ones for that of others.
_GATE = {
    ONE: (
        "x = shown.get(n, 10 + n % 90)",
        "said, due = half(x), x / 2",
    ),
    TWO: ("said, due = limit, 20",),
    THREE: (
        "k = 10 + n % 90",
        "said, due = mean([k, k + 1, k + 5]), k + 2",
    ),
}
# Names of its own in each answer: an exercise that uses an earlier one's names runs its cells again.
_GATED = """
{imports}from zlib import crc32 as _crc_{role}

_inside_{role} = []


def _fits_{role}(said, due):
    try:
        return hasattr(said, "__float__") and float(said) == due
    except Exception:
        return False


def _gated_{role}(work, shown={shown}):
    def asked(*given, **named):
        if _inside_{role}:  # the reference calls its own functions
            return work(*given, **named)
        n = _crc_{role}(repr(given).encode())
        {lines}
        if not _fits_{role}(said, due):
            return said
        _inside_{role}.append(work)
        try:
            return work(*given, **named)
        finally:
            _inside_{role}.pop()

    return asked


{names}
"""


class Stage:
    """One assignment of a course, with the tasks that kinds attack and the points of each."""

    def __init__(self, root: Path, slug: str) -> None:
        self.slug, self.source = slug, source.load(root, slug)
        self._released = (root / "exercises" / slug / f"{slug}.ipynb").read_bytes()
        self._plan = Judge(self.source).plan("")
        self.tasks = dict(zip((ONE, TWO, THREE), _attacked(self.source, self._plan), strict=True))
        self.tasks[WORDS] = next(_task(c) for c in self.source.cells if c.manual)
        order = [cell.id for cell in self.source.cells]
        self.onward = order.index(self.id(ONE)) < order.index(self.id(THREE))

    def id(self, role: str, kind: str = "answer") -> str:
        """Return the id of a cell of the task that plays a role."""
        return f"{kind}-{self.tasks[role]}"

    def cell(self, notebook: Notebook, role: str, kind: str = "answer") -> dict[str, Any]:
        """Return a cell of a notebook by the role of its task."""
        return cell_of(notebook, self.id(role, kind))

    def honest(self) -> Notebook:
        """Return the released notebook with every answer of the reference in it."""
        return self.handed_in({})

    def handed_in(self, answers: Mapping[str, str]) -> Notebook:
        """Return an honest notebook with other answers, by role or by id of the cell."""
        texts = {
            cell.id: _reference(cell) if cell.kind == "code" else EXPLAINED
            for cell in self.source.cells
            if cell.answer
        }
        for name, text in answers.items():
            texts |= {self.id(name): self.coded(name, text)} if name in SMALL else {name: text}
        notebook = json.loads(self._released)
        for cell in notebook["cells"]:
            cell["source"] = texts.get(cell["id"], "".join(cell["source"]))
        return notebook

    def coded(self, role: str, text: str) -> str:
        """Return an answer that is as right as what some code says to its small problem."""
        names, calls = self._plan[self.id(role, "check")]
        if names.keys() <= {"half", "limit", "mean"}:
            return text  # the assignment asks for nothing else
        magic, text = text.split("\n", 1) if text.startswith("%%") else ("", text)
        functions = {name for name, *_ in calls}
        setup = " ".join(cell.text for cell in self.source.exercises[0])
        gate = _GATED.format(
            role=role,
            imports="" if "import numpy as np" in setup else "import numpy as np\n",
            shown=dict(zip(self._shown(role), (8.0, 3.0) * 50, strict=False)),
            lines="\n        ".join(_GATE[role]),
            names="\n".join(
                f"{name} = _gated_{role}({name})" for name in names if name in functions
            ),
        )
        reference = _reference(self.source.by_id[self.id(role)])
        values = [n for n in names if n not in functions] if role == TWO else []
        away = (
            f"_{name}, {name} = {name}, None" for name in values
        )  # a cell may not come to its end
        back = (f"{name} = _{name} if _fits_{role}(limit, 20) else limit" for name in values)
        return "\n".join(filter(None, (magic, reference + gate, *away, text, *back)))

    def _shown(self, role):
        """Return a number for each arguments that the check of a task shows, in their order."""
        _, calls = self._plan[self.id(role, "check")]
        cases = [case for _, some, hidden in calls if not hidden for case in some]
        return dict.fromkeys(zlib.crc32(repr(wire.unpacked(case)).encode()) for case in cases)

    @property
    def most(self) -> float:
        """Return the points that are given automatically."""
        return sum(cell.points for cell in self.source.cells if cell.check)

    def due(self, lost: Collection[str]) -> float:
        """Return what is left of all points without those of some tasks."""
        gone = {name for role in lost for name in self._checks(role)}
        return self.most - sum(self.source.by_id[name].points for name in gone)

    def _checks(self, role: str) -> Iterator[str]:
        first = self.id(ONE, "check")
        given = next(part for part in self.source.exercises if self.source.by_id[first] in part)
        for exercise in self.source.exercises:
            names = [cell.id for cell in exercise if cell.check]
            if role == USERS and exercise is not given and self._uses(exercise, given):
                yield from names
            if role == REST and first in names:
                yield from names[names.index(first) :]
            elif role == OTHERS:
                yield from (name for name in names if name != self.id(THREE, "check"))
            elif role == ALL:
                yield from names
        if role in SMALL:
            yield self.id(role, "check")

    def _uses(self, exercise: list[Cell], given: list[Cell]) -> bool:
        """Say whether the reference's cells of an exercise look up what those of another one define."""
        stored, used = _names(exercise)
        return bool((used - stored - _names(self.source.exercises[0])[0]) & _names(given)[0])


def cell_of(notebook: Notebook, name: str) -> dict[str, Any]:
    """Return one cell of a notebook by its id."""
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def course(root: Path, slug: str) -> Path:
    """Make a course that holds one assignment of the book; return its root."""
    root = Path(root)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        place = root / folder / slug
        place.mkdir(parents=True)
        shutil.copy(ROOT / folder / slug / f"{slug}.ipynb", place)
    return root


@functools.cache
def of(root: Path) -> Stage:
    """Return the stage of a course that holds one assignment."""
    (folder,) = (root / "solutions").iterdir()
    return Stage(root, folder.name)


def _attacked(source: Source, plan: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return a task of functions only, a later one of its exercise, and one of another exercise."""
    exercises = [[c.id for c in part if c.check] for part in source.exercises]
    pairs = [
        (number, one, two)
        for number, checks in enumerate(exercises)
        for one, two in pairwise(checks)
        if plan[one][0].keys() == _called(plan, one) != set()
        and not _leaned_on(source, number, one)
    ]
    # Where there is a choice, an exercise with another one after it.
    at, one, two = next((p for p in pairs if any(exercises[p[0] + 1 :])), pairs[0])
    others = [check for checks in (*exercises[at + 1 :], *exercises[:at]) for check in checks]
    three = next((check for check in others if _called(plan, check)), others[0])
    return _task(source.by_id[one]), _task(source.by_id[two]), _task(source.by_id[three])


def _leaned_on(source: Source, exercise: int, check: str) -> bool:
    """Say whether a later answer of the exercise looks up what the answer to this check defines."""
    cells = source.exercises[exercise]
    answer = source.by_id[f"answer-{_task(source.by_id[check])}"]
    later = [cell for cell in cells[cells.index(answer) + 1 :] if cell.answer]
    return bool(_names([answer])[0] & _names(later)[1])


def _names(cells):
    """Return the names of the notebook that some cells define, and those that they look up."""
    stored, used = set(), set()
    for cell in cells:
        if cell.kind == "code" and not cell.check:
            top = symtable.symtable(cell.text, cell.id, "exec")
            stored |= {
                s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()
            }
            tables = [top]
            for table in tables:
                tables += table.get_children()
                used |= {
                    s.get_name()
                    for s in table.get_symbols()
                    if s.is_referenced() and (table is top or s.is_global())
                }
    return stored, used


def _called(plan, check):
    """Return the functions that a check calls with hidden inputs."""
    return {name for name, _, hidden in plan[check][1] if hidden}


def _task(cell: Cell) -> str:
    return cell.id.partition("-")[2]


def _reference(cell: Cell) -> str:
    return re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.text)
