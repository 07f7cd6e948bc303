"""What was odd about a submission, in the words of who reads it: tasks by name, alike ones together.

Standard library only.
"""

import re
from collections.abc import Iterable

from scalelab.grading.inputs.source import Source
from scalelab.grading.inputs.steps import cell_of
from scalelab.grading.judging.result import Result

NAMED = 3  # cells of one line; of more, only the count is told
# Points may be lost or doubtful by the first; the last never cost any.
_GRAVE = re.compile(
    r"isolation|counts?$|counts,|not tell the student|missing|took longer|ended|stopped|sent too much|not run"
)
_HARMLESS = re.compile(
    r"student's own|the course's own was used|old notebook format|read as|lost its tag"
)


def remarks(source: Source, result: Result, late: str = "") -> list[str]:
    """Return what is to be said of a result, one line for each kind, the gravest first."""
    said = [*grouped(source, result["flags"]), late]
    return [*filter(None, [result["reason"], *sorted(said, key=severity, reverse=True)])]


def severity(remark: str) -> int:
    """Return 2 where points may be lost or doubtful, 0 where none ever are, else 1.

    >>> [severity(what) for what in ("took longer than 10 s", "2 d late", "3 own cells of the student's own")]
    [2, 1, 0]
    """
    return 0 if _HARMLESS.search(remark) else 2 if _GRAVE.search(remark) else 1


def grouped(source: Source, flags: Iterable[str]) -> list[str]:
    """Return flags with tasks in place of cells, those that say the same of several in one line."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    counts: dict[tuple[str, str], int] = {}
    for flag in flags:
        role, place, what = _split(source, flag)
        places.setdefault((role, what), {})[place] = None
        counts[role, what] = counts.get((role, what), 0) + 1
    return [
        _line(role, what, [*tasks], counts[role, what]) for (role, what), tasks in places.items()
    ]


def _line(role, what, places, count):
    if not role:
        return what
    if count == 1:
        return f"the {role} of {places[0]} {what}"
    rest = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"the {role} of {', '.join(places[:NAMED])}{rest} {what} ({count} times)"


def _split(source, flag):
    """Return (what kind of cell a flag is about, of which task, what it says); "" for no cell."""
    key, _, what = flag.partition(" ")
    cell = source.by_id.get(cell_of(key))
    if not what or (cell is None and not re.fullmatch(r"\+\d+", key)):
        return "", "", _named(source, flag)
    if "+" in key or cell is None:
        return "own cell", _task(source, cell), what
    return _role(cell), _task(source, cell), _named(source, what)


def _named(source, words):
    """Return what is said with tasks in place of cells."""

    def name(found):
        cell = source.by_id.get(found[0])
        return f"the {_role(cell)} of {_task(source, cell)}" if cell else found[0]

    return re.sub(r"[\w-]+", name, words)


def _role(cell):
    return "answer" if cell.answer else "check" if cell.check else "given cell"


def _task(source, cell):
    """Return the number of the task that a cell belongs to: the next one that is graded."""
    at = source.cells.index(cell) if cell else 0
    graded = next((c for c in source.cells[at:] if c.graded), None)
    return source.titles[graded.id].split(" ")[0].rstrip(".") if graded else "the end"
