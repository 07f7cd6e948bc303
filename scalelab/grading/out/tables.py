"""Tables of a class: ours, those that Canvas and Moodle import, and what has changed since the last.

Standard library only.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping

from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import Result
from scalelab.grading.out.remarks import remarks
from scalelab.grading.out.worth import NOTHING, Known, late, worth

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
# What a terminal obeys, and what turns the direction of a line.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def tables(source: Source, results: Iterable[Result], known: Mapping[str, Known]) -> dict[str, str]:
    """Return {file name: text} of the three tables; a submission without a score has no number."""
    graded = [cell for cell in source.cells if cell.graded]
    most = sum(cell.points for cell in graded)
    ours: list[list] = []
    canvas: list[list] = [["    Points Possible", "", "", "", "", most]]
    moodle: list[list] = []
    for result in results:
        student, number = result["student"], str(result.get("platform_id") or "")
        of = known.get(student, NOTHING)
        total = worth(result, of)
        when = late(result, of.due)
        why = "; ".join(remark.text for remark in remarks(source, result, when))
        points = total.points if total else ""
        parts = {part.id: part.points for part in total.parts} if total else {}
        unread = f"{total.unread:g} points are still to be read" if total and total.waiting else ""
        ours.append(
            [
                student, of.name, result["status"], points, "yes" if unread else "",
                total.most if total else "", len(total.waiting) if total else "",
                *("" if parts.get(cell.id) is None else parts[cell.id] for cell in graded),
                of.penalty if total else "", result["handed_in"], why,
            ]
        )  # fmt: skip
        # From an archive we know the platform's number and a name, but neither login nor ID number.
        login = "" if number else student
        canvas.append([of.name or student, number, login, login, "", points])
        moodle.append(
            [
                f"Participant {number}" if number else "", login, of.name or student, points,
                "; ".join(filter(None, [unread, why])),
            ]
        )  # fmt: skip
    head = ["student", "name", "status", "score", "provisional", "max_score", "to_read"]
    head += [*(cell.id for cell in graded), "penalty", "handed_in", "remarks"]
    return {
        "scores.csv": csv_text(head, ours),
        "canvas.csv": csv_text(
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", source.slug], canvas
        ),
        "moodle.csv": csv_text(
            ["Identifier", "ID number", "Full name", source.slug, "Feedback comments"], moodle
        ),
    }


def changes(source: Source, before: str, now: str) -> str:
    r"""Return whose score differs between two tables of ours, and in which tasks.

    >>> changes(Source("x", ()), "student,score\nada,1.0\nben,\n", "student,score\nada,2.0\nben,\n")
    'student,before,after,tasks\nada,1.0,2.0,\n'
    """
    old = {row.get("student"): row for row in csv.DictReader(io.StringIO(before))}
    rows = []
    for row in csv.DictReader(io.StringIO(now)):
        was = old.get(row["student"])
        if was is None:
            continue
        tasks = [c.id for c in source.cells if c.graded and was.get(c.id) != row.get(c.id)]
        if tasks or was.get("score") != row["score"]:
            names = "; ".join(source.titles[task] for task in tasks)
            rows.append([row["student"], was.get("score"), row["score"], names])
    return csv_text(["student", "before", "after", "tasks"], rows)


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV that does no harm in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def harmless(cell: object) -> object:
    r"""Keep a spreadsheet from taking a text for a formula, and a terminal from obeying it.

    >>> harmless("=cmd|' /C calc'!A0"), harmless(-1.5)
    ("'=cmd|' /C calc'!A0", -1.5)
    >>> harmless("＝1+1"), harmless("ada\x1b[2J"), harmless("\u202eadA")
    ("'＝1+1", 'ada�[2J', '�adA')
    """
    if not isinstance(cell, str):
        return cell
    cell = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", cell)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
