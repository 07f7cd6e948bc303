"""What was odd about a submission, in the words of who reads it: tasks by name, alike ones together.

Standard library only.
"""

from collections.abc import Iterable
from typing import NamedTuple

from scalelab.grading.inputs.flag import GRAVE, NOTICED, Flag
from scalelab.grading.inputs.source import Source, number
from scalelab.grading.inputs.steps import cell_of
from scalelab.grading.judging.result import Result

NAMED = 3  # cells of one line; of more, only the count is told


class Remark(NamedTuple):
    """One line, and how grave it is."""

    text: str
    gravity: int


def remarks(source: Source, result: Result, late: str = "") -> list[Remark]:
    """Return what is to be said of a result, one line for each kind, the gravest first."""
    said = [*grouped(source, map(Flag.of, result["flags"])), Remark(late, NOTICED)]
    said.sort(key=lambda remark: remark.gravity, reverse=True)
    return [remark for remark in (Remark(result["reason"], GRAVE), *said) if remark.text]


def grouped(source: Source, flags: Iterable[Flag]) -> list[Remark]:
    """Return flags with tasks in place of cells, those that say the same of several in one line."""
    places: dict[tuple[str, str, int], list[str]] = {}
    for flag in flags:
        what = " ".join([flag.text, *filter(None, [_cells(source, flag.into)])])
        role, task = _place(source, flag.cell) if flag.cell else ("", "")
        places.setdefault((role, what, flag.gravity), []).append(task)
    return [
        Remark(_line(role, what, tasks) if role else what, gravity)
        for (role, what, gravity), tasks in places.items()
    ]


def _line(role, what, tasks):
    if len(tasks) == 1:
        return f"the {role} of {tasks[0]} {what}"
    names = [*dict.fromkeys(tasks)]
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"the {role} of {', '.join(names[:NAMED])}{rest} {what} ({len(tasks)} times)"


def _cells(source, keys):
    return " and ".join("the {} of {}".format(*_place(source, key)) for key in keys)


def _place(source, key):
    """Return what kind of cell a key is of, and of which task."""
    cell = source.by_id.get(cell_of(key))
    if "+" in key or cell is None:
        return "own cell", _task(source, cell)
    return "answer" if cell.answer else "check" if cell.check else "given cell", _task(source, cell)


def _task(source, cell):
    """Return the number of the task that a cell belongs to: the next one that is graded."""
    at = source.cells.index(cell) if cell else 0
    graded = next((c for c in source.cells[at:] if c.graded), None)
    return number(source, graded.id) if graded else "the end"
