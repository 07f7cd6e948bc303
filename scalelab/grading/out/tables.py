"""Scores as CSV: ours, and those that Canvas and Moodle import.

Standard library only.
"""

import csv
import io
from collections.abc import Iterable, Mapping

from scalelab.grading.course.source import Source
from scalelab.grading.judging.result import FAILED, MISSING, Marks, Result
from scalelab.grading.out.feedback import total


def tables(
    source: Source,
    results: Iterable[Result],
    marks: Mapping[str, Marks],
    penalties: Mapping[str, float],
) -> dict[str, str]:
    """Return {file name: text} of all three tables; a submission without a score has no number."""
    ours: list[list] = []
    canvas: list[list] = []
    moodle: list[list] = []
    for one in results:
        student, status = one["student"], one["status"]
        scored = status not in (FAILED, MISSING)
        of = marks.get(student, {}), penalties.get(student, 0.0)
        points, most, waiting = total(one, *of) if scored else ("", "", "")
        tests = {test["id"]: test["score"] for test in one["tests"]}
        per_task = [tests.get(cell.id, "") for cell in source.cells if cell.check]
        why = "; ".join(one["flags"]) or one["reason"]
        ours.append([student, status, points, most, waiting, *per_task, one["handed_in"], why])
        canvas.append([student, "", student, student, "", points])
        moodle.append([student, points, why if scored else one["reason"]])
    checks = [cell.id for cell in source.cells if cell.check]
    head = ["student", "status", "score", "max_score", "to_read", *checks, "handed_in", "remarks"]
    return {
        "scores.csv": _csv(head, ours),
        "canvas.csv": _csv(
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", source.slug], canvas
        ),
        "moodle.csv": _csv(["ID number", source.slug, "Feedback comments"], moodle),
    }


def _csv(head, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell):
    """Keep a spreadsheet from taking a text for a formula.

    >>> _harmless("=cmd|' /C calc'!A0"), _harmless(-1.5)
    ("'=cmd|' /C calc'!A0", -1.5)
    """
    risky = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if risky else cell
