"""The two notes beside each page by which nbgrader's exchange returns it to its student.

nbgrader writes them when a notebook is handed in, and names the feedback by the secret, which only
the student's side has besides. Standard library only.
"""

import re

from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging.result import Result, is_plain

SECRET = "submission_secret.txt"


def notes(course: Course, source: Source, result: Result) -> dict[str, str]:
    """Return {file name: text}: of work from elsewhere a secret of ours, so that the others' is returned.

    The time is ours in any case: what a student's side wrote there may be anything.
    """
    return {
        "timestamp.txt": result["handed_in"],
        SECRET: _secret(course, source, result["student"]),
    }


def _secret(course, source, student):
    path = course.folder("submitted") / student / source.slug / SECRET
    if is_plain(student) and path.is_file() and not path.is_symlink():
        with path.open("rb") as file:
            text = file.read(1000).decode(errors="replace")
        if re.fullmatch(r"\w{16,512}", text):
            return text
    return source.key("feedback", student)
