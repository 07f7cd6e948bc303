"""Who may hand in later: course/extensions.csv, with the columns student, assignment and due.

Standard library only.
"""

from datetime import UTC, datetime

from scalelab.arguments import shown
from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.lists import by_student, rows


def extensions(course: Course, slug: str) -> dict[str, datetime]:
    """Return {student: due} of one assignment; a time without a zone is UTC."""
    entries = rows(course, "extensions.csv", ("student", "assignment", "due"))
    times = {
        row.line: _due(row) for row in entries
    }  # those of other assignments must be some as well
    return {student: times[row.line] for student, row in by_student(entries, slug).items()}


def _due(row):
    try:
        when = datetime.fromisoformat(row["due"])
    except ValueError:
        raise row.wrong("a time such as 2027-03-08T18:00", shown(row["due"])) from None
    return when.replace(tzinfo=when.tzinfo or UTC)
