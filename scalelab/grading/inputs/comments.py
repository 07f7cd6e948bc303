"""Comments that are given often, each by a code: course/comments.csv.

Its columns are assignment, task, code, points and text; points may be empty. Standard library only.
"""

import math
import re
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.lists import Entry, rows
from scalelab.grading.inputs.source import Source, by_name

COLUMNS = ("assignment", "task", "code", "text")
WORD = r"[^\W\d]\w*(?:-\w+)*"  # no number: people write of #2


@dataclass(frozen=True)
class Item:
    """What a code in a comment on a task stands for; `points` are on top of the task's maximum."""

    task: str  # its graded cell
    code: str
    text: str
    points: float | None = None


def items(course: Course, source: Source) -> dict[tuple[str, str], Item]:
    """Return {(task, code): Item} of one assignment; codes are in lower case."""
    named = by_name(source)
    by_task_and_code: dict[tuple[str, str], Item] = {}
    for row in rows(course, "comments.csv", COLUMNS):
        if row["assignment"] != source.slug:
            continue
        task, code = named.get(row["task"], ""), row["code"].removeprefix("#").lower()
        if not task:
            raise row.wrong(f"a task of {source.slug}", shown(row["task"]))
        if not re.fullmatch(WORD, code):
            raise row.wrong("a code such as units", shown(row["code"]))
        if (task, code) in by_task_and_code:
            raise row.wrong(f"{code} once for {row['task']}", "it again")
        points = _points(row)
        if points is not None and source.by_id[task].check:
            raise row.wrong("points only for what a person reads", f"some for {row['task']}")
        by_task_and_code[task, code] = Item(task, code, row["text"], points)
    return by_task_and_code


def _points(row: Entry) -> float | None:
    if not row["points"]:
        return None
    try:
        points = float(row["points"].replace(",", "."))  # as spreadsheets of some countries write
    except ValueError:
        points = math.nan
    if not math.isfinite(points):
        raise row.wrong("points such as -1 or 0.5", shown(row["points"])) from None
    return points
