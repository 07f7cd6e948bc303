"""Who may hand in later: course/extensions.csv, with the columns student, assignment and due.

Standard library only.
"""

import csv
from datetime import UTC, datetime

from scalelab.grading.inputs.course import Course
from scalelab.refusal import Refusal

COLUMNS = ("student", "assignment", "due")


def extensions(course: Course, slug: str) -> dict[str, datetime]:
    """Return {student: due} of one assignment; a time without a zone is UTC."""
    path = course.root / "course" / "extensions.csv"
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            names = [(name or "").strip().lower() for name in rows.fieldnames or ()]
            if not set(COLUMNS) <= set(names):
                raise _refusal(f"line 1 with the columns {', '.join(COLUMNS)}", ", ".join(names))
            rows.fieldnames = names
            entries = [
                (rows.line_num, *_row(rows.line_num, row)) for row in rows if any(row.values())
            ]
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _refusal("a CSV file", f"another ({error})") from None
    mine: dict[str, datetime] = {}
    for line, student, assignment, due in entries:
        if assignment == slug:
            if student in mine:
                raise _refusal(f"{student!r} once for {slug}", f"again in line {line}")
            mine[student] = due
    return mine


def _row(line, row):
    """Return (student, assignment, due) of one line."""
    student, assignment, due = ((row[name] or "").strip() for name in COLUMNS)
    if not (student and assignment):
        raise _refusal(
            f"a student and an assignment in line {line}", f"{student!r}, {assignment!r}"
        )
    try:
        when = datetime.fromisoformat(due)
    except ValueError:
        wanted = f"a time such as 2027-03-08T18:00 in line {line}"
        raise _refusal(wanted, repr(due)) from None
    return student, assignment, when.replace(tzinfo=when.tzinfo or UTC)


def _refusal(wanted, got):
    return Refusal(f"course/extensions.csv must have {wanted}, got {got}: mend it")
