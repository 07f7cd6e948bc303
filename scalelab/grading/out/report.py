"""What the instructor reads: how the class went, task by task, and tables that platforms import."""

import collections
import csv
import io
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import FAILED, GRADED, MISSING, STATES, Marks, Result
from scalelab.grading.out.feedback import page, table, text, total


def summary(
    source: Source,
    results: Sequence[Result],
    marks: Mapping[str, Marks] | None = None,
    penalties: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the class report as plain data."""
    marks, penalties = marks or {}, penalties or {}
    graded = [result for result in results if result["tests"]]
    points = [
        total(result, marks.get(result["student"], {}), penalties.get(result["student"], 0.0))[0]
        for result in graded
    ]
    return {
        "assignment": source.slug,
        "states": {state: sum(result["status"] == state for result in results) for state in STATES},
        "points": _spread(points),
        "max_score": sum(cell.points for cell in source.cells if cell.graded),
        "tasks": [_task(source, cell, graded) for cell in source.cells if cell.check],
        "flags": [
            {"student": result["student"], "status": result["status"], "what": what}
            for result in results
            for what in (result["flags"] or [result["reason"]])
            if result["status"] != GRADED
        ],
    }


def html(report: Mapping[str, Any]) -> str:
    """Return the class report as a page."""
    states = ", ".join(f"{count} {state}" for state, count in report["states"].items() if count)
    spread = report["points"]
    of = f" of {report['max_score']:g}"
    points = "Nobody has points yet."
    if spread:
        points = (
            f"Points: median {spread['median']:g}{of}, the middle half from {spread['low']:g} "
            f"to {spread['high']:g}, least {spread['least']:g}, most {spread['most']:g}."
        )
    tasks = [
        (
            task["name"],
            f"{task['solved']:.0%}",
            f"{task['not_attempted']:.0%}",
            f"{task['mean']:g} / {task['max_score']:g}",
            f"{task['slip'][0]} ({task['slip'][1]})" if task["slip"] else "",
        )
        for task in report["tasks"]
    ]
    head = ("task", "solved", "not attempted", "mean points", "commonest slip")
    flags = [(flag["student"], flag["status"], flag["what"]) for flag in report["flags"]]
    odd = table(("student", "state", "why"), flags) if flags else "<p>None.</p>"
    return page(
        f"{report['assignment']}: the class",
        f"<h1>{text(report['assignment'])}</h1><p>{text(states)}.</p><p>{text(points)}</p>",
        f"<h2>Tasks</h2>{table(head, tasks, numbers=(1, 2, 3))}",
        f"<h2>Worth a look</h2>{odd}",
    )


def _spread(points):
    if not points:
        return None
    low, middle, high = statistics.quantiles(points * 2, n=4, method="inclusive")
    return {
        "least": min(points),
        "low": round(low, 2),
        "median": round(middle, 2),
        "high": round(high, 2),
        "most": max(points),
    }


def _task(source, cell, graded):
    tests = [test for result in graded for test in result["tests"] if test["id"] == cell.id]
    slips = collections.Counter(slip for test in tests for slip in dict.fromkeys(test["slips"]))
    count = max(len(tests), 1)
    blank = sum(set(test["states"]) == {"not attempted"} for test in tests)
    return {
        "id": cell.id,
        "name": source.titles[cell.id],
        "max_score": cell.points,
        "mean": round(sum(test["score"] for test in tests) / count, 2),
        "solved": sum(test["score"] == cell.points for test in tests) / count,
        "not_attempted": blank / count,
        # Of equals the first in the alphabet, so that the report does not depend on the order.
        "slip": min(slips.most_common(), key=lambda s: (-s[1], s[0])) if slips else None,
    }


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
    for result in results:
        student, status = result["student"], result["status"]
        scored = status not in (FAILED, MISSING)
        of = marks.get(student, {}), penalties.get(student, 0.0)
        points, most, waiting = total(result, *of) if scored else ("", "", "")
        tests = {test["id"]: test["score"] for test in result["tests"]}
        per_task = [tests.get(cell.id, "") for cell in source.cells if cell.check]
        why = "; ".join(result["flags"]) or result["reason"]
        ours.append([student, status, points, most, waiting, *per_task, result["handed_in"], why])
        canvas.append([student, "", student, student, "", points])
        moodle.append([student, points, why if scored else result["reason"]])
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
