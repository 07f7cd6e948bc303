"""What students asked to have graded again, and what they were answered: course/regrades.csv.

Its columns are student, assignment, task, request and answer, which is empty while a request is open.
Standard library only.
"""

from collections.abc import Container
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.lists import rows
from scalelab.grading.inputs.source import Source, by_name

TABLE = "regrades.csv"
COLUMNS = ("student", "assignment", "task", "request")


@dataclass(frozen=True)
class Request:
    """What a student asked about a task, named by its graded cell, and the answer; "" while it is open."""

    student: str
    task: str
    text: str
    answer: str = ""


def accepted(course: Course) -> bool:
    """Say whether the course takes such requests: whether it has the table, be it empty."""
    return (course.root / "course" / TABLE).exists()


def requests(
    course: Course, source: Source, students: Container[str] | None = None
) -> list[Request]:
    """Return the requests about one assignment; each must be of one of the students, if these are given."""
    named = by_name(source)
    asked = []
    for row in rows(course, TABLE, COLUMNS):
        if row["assignment"] != source.slug:
            continue
        if row["task"] not in named:
            raise row.wrong(f"a task of {source.slug}", shown(row["task"]))
        if students is not None and row["student"] not in students:
            raise row.wrong("a student of the course", shown(row["student"]))
        asked.append(Request(row["student"], named[row["task"]], row["request"], row["answer"]))
    return asked
