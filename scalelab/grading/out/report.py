"""What the instructor reads: how the class went, task by task, and who needs a person first."""

import collections
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from scalelab import units
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import FAILED, MISSING, STATES, Result, file_name
from scalelab.grading.out.codes import unknown, used
from scalelab.grading.out.remarks import remarks
from scalelab.grading.out.requests import listed
from scalelab.grading.out.worth import NOTHING, Known, Worth, late, worth
from scalelab.show.template import link, rendered

BARS = 10  # of the histogram


def summary(
    source: Source,
    results: Sequence[Result],
    known: Mapping[str, Known] | None = None,
    changed: int = 0,
) -> dict[str, Any]:
    """Return the class report as plain data.

    `points` are over the tasks that nobody has still to read, so that one student's compare with
    another's; these are worth `certain`. `changed` scores are not what they were the last time.
    """
    known = known or {}
    graded = [result for result in results if result["tests"]]
    worths = {r["student"]: worth(r, known.get(r["student"], NOTHING)) for r in graded}
    counted = {name: total for name, total in worths.items() if total}
    open_tasks = {part.id for total in counted.values() for part in total.waiting}
    sure = [cell for cell in source.cells if cell.graded and cell.id not in open_tasks]
    points = [_certain(total, open_tasks) for total in counted.values()]
    certain = round(sum(cell.points for cell in sure), 2)
    return {
        "assignment": source.slug,
        "states": {state: sum(result["status"] == state for result in results) for state in STATES},
        "points": _spread(points),
        "histogram": _histogram(points, certain),
        "certain": certain,
        "max_score": round(sum(cell.points for cell in source.cells if cell.graded), 2),
        "changed": changed,
        "to_read": sum(bool(total.waiting) for total in counted.values()),
        "tasks": [_task(source, cell, graded, counted) for cell in source.cells if cell.graded],
        "students": _students(source, results, known, counted),
        "regrades": listed(source, known),
        "comments": used(source, known),
        "unknown_codes": unknown(source, known),
    }


def _certain(found, open_tasks):
    """Return the points of the tasks that nobody has still to read."""
    parts = tuple(part for part in found.parts if part.id not in open_tasks)
    return Worth(parts, found.penalty).points


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


def _histogram(points, most):
    """Count the points in bars of equal width; the last one has what lies above all as well."""
    counts = [0] * BARS
    for value in points if most else ():
        counts[min(int(BARS * value / most), BARS - 1)] += 1
    return counts


def _task(source, cell, graded, worths):
    """Return how one task went: of a text, among those that were read."""
    tests = [test for result in graded for test in result["tests"] if test["id"] == cell.id]
    slips = collections.Counter(slip for test in tests for slip in dict.fromkeys(test["slips"]))
    pairs = [(_points(total, cell.id), _rest(source, total, cell)) for total in worths.values()]
    read = [(points, rest) for points, rest in pairs if points is not None]
    blank = sum(set(test["states"]) == {"not attempted"} for test in tests)
    return {
        "id": cell.id,
        "name": source.titles[cell.id],
        "text": cell.manual,
        "max_score": cell.points,
        "to_read": len(pairs) - len(read),
        "mean": round(statistics.fmean(points for points, _ in read), 2) if read else None,
        "solved": statistics.fmean(points >= cell.points for points, _ in read) if read else None,
        "not_attempted": blank / max(len(tests), 1),
        "discrimination": discrimination(read),
        # Of equals the first in the alphabet, so that the report does not depend on the order.
        "slip": min(slips.most_common(), key=lambda s: (-s[1], s[0])) if slips else None,
    }


def _points(found, name):
    return next((part.points for part in found.parts if part.id == name), None)


def _rest(source, found, cell):
    """Return the points of all other tasks that have a check: everybody has those."""
    others = {c.id for c in source.cells if c.check} - {cell.id}
    return sum(part.points or 0.0 for part in found.parts if part.id in others)


def discrimination(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return how the points of a task go with those of the rest (Pearson); None where either is constant.

    Near 0, who can do the rest does this one no better; below 0, look for a fault in the check.

    >>> discrimination([(0, 1), (1, 5), (1, 4), (0, 2)])
    0.95
    >>> discrimination([(1, 1), (1, 2)]) is None
    True
    """
    try:
        return round(statistics.correlation(*zip(*pairs, strict=True)), 2)
    except (statistics.StatisticsError, TypeError):
        return None


def _students(source, results, known, worths):
    """Return a record for everybody, those first who need a person most."""
    rows = []
    for result in results:
        student = result["student"]
        total = worths.get(student)
        due = late(result, known.get(student, NOTHING).due)
        odd = remarks(source, result, due)
        rows.append(
            {
                "student": student,
                "name": known.get(student, NOTHING).name,
                "status": result["status"],
                "points": total.points if total else None,
                "to_read": total.unread if total else 0.0,
                "remarks": [remark.text for remark in odd],
                "gravity": odd[0].gravity if odd else 0,
            }
        )
    return sorted(rows, key=_need)


def _need(row):
    gravity = row["gravity"] if row["status"] != MISSING and row["remarks"] else -1
    return row["status"] != FAILED, -gravity, -row["to_read"], row["status"], row["student"]


def html(report: Mapping[str, Any], feedback: str = "") -> str:
    """Return the class report as a page; `feedback` is the relative place of the students' pages."""
    states = ", ".join(f"{count} {state}" for state, count in report["states"].items() if count)
    return rendered(
        "grading/out/report.html",
        title=f"{report['assignment']}: the class",
        report=report,
        states=states,
        headline=headline(report),
        bars=_bars(report),
        changes=changes(report),
        requests=_requests(report, feedback),
        tasks=_tasks(report),
        comments=[(c["title"], c["code"], c["text"], c["times"]) for c in report["comments"]],
        people=_people(report, feedback),
    )


def headline(report: Mapping[str, Any]) -> str:
    """Say how the points are spread, and of which maximum, as long as somebody has to read."""
    spread = report["points"]
    if not spread:
        return "Nobody has points yet."
    open_points = round(report["max_score"] - report["certain"], 2)
    more = (
        f" (provisional: {open_points:g} more points are still to be read, "
        f"of {units.counted(report['to_read'], 'student')})"
    )
    return (
        f"Points: median {spread['median']:g} of {report['certain']:g}{more * bool(open_points)}, "
        f"the middle half from {spread['low']:g} to {spread['high']:g}, least {spread['least']:g}, "
        f"most {spread['most']:g}."
    )


def changes(report: Mapping[str, Any]) -> str:
    """Say how many scores are not what they were the last time, "" for none."""
    count = report["changed"]
    return f"{units.counted(count, 'score')} changed since the last time: changes.csv" * bool(count)


def asked(report: Mapping[str, Any]) -> str:
    """Say how many requests to grade again are open, "" for none.

    >>> asked({"regrades": {"open": 2}})
    '2 requests to grade again are open'
    """
    count = report["regrades"]["open"]
    several = "requests to grade again are" if count > 1 else "request to grade again is"
    return f"{count} {several} open" * bool(count)


def _bars(report):
    """Return how many students have how many points, and each count as a share of the largest."""
    counts, most = report["histogram"], report["certain"]
    edges = [f"{most * edge / BARS:g}" for edge in range(BARS + 1)]
    return [
        {"count": count, "low": low, "high": high, "share": count / max(counts)}
        for count, (low, high) in zip(counts, itertools.pairwise(edges), strict=True)
        if any(counts)
    ]


def _tasks(report):
    rows = []
    for task in report["tasks"]:
        slip = f"{task['slip'][0]} ({task['slip'][1]})" if task["slip"] else ""
        unread = task["to_read"] and f"a text, {task['to_read']} still to be read"
        power = task["discrimination"]
        rows.append(
            (
                task["name"],
                "" if task["solved"] is None else f"{task['solved']:.0%}",
                "" if task["text"] else f"{task['not_attempted']:.0%}",
                "" if task["mean"] is None else f"{task['mean']:g} / {task['max_score']:g}",
                "" if power is None else f"{power:g}",
                slip or unread or ("a text, read" if task["text"] else ""),
            )
        )
    return rows


def _requests(report, feedback):
    """Return the requests to grade again, each with a link to its task on the student's page."""
    with_page = {row["student"] for row in report["students"] if row["status"] != MISSING}
    rows = []
    for row in report["regrades"]["all"]:
        task = row["title"]
        if feedback and row["student"] in with_page:
            task = link(f"{_address(report, feedback, row['student'])}#{row['task']}", task)
        rows.append((_called(row), task, row["request"], row["answer"] or "open"))
    return rows


def _called(row):
    return f"{row['name']} ({row['student']})" if row["name"] else row["student"]


def _address(report, feedback, student):
    slug = report["assignment"]
    return f"{feedback}/{quote(file_name(student))}/{slug}/{slug}.html"


def _people(report, feedback):
    rows = []
    for row in report["students"]:
        student = _called(row)
        if feedback and row["status"] != MISSING:
            student = link(_address(report, feedback, row["student"]), student)
        points = "" if row["points"] is None else f"{row['points']:g}"
        unread = f"{row['to_read']:g}" if row["to_read"] else ""
        why = Markup("<br>").join(row["remarks"])
        rows.append((student, row["status"], points, unread, why))
    return rows
