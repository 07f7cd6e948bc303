"""Hand each student of a course a key, which gives them numbers of their own.

A key is one line. The student keeps it as `scalelab.key` beside the notebook; the grader makes it
again from the course's secret. Who was handed no key works, and is graded, with the public numbers.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from scalelab.checks.fresh import PUBLIC, secret
from scalelab.checks.keys import student_key
from scalelab.files import atomic
from scalelab.refusal import Refusal


def hand_out(course: str | Path, students: Sequence[str]) -> list[Path]:
    """Write course/keys/ID.key for each student and return the paths.

    A key that is there already is written again as it was: it follows from secret and id.
    """
    course = Path(course)
    word = secret(course.parent)
    if word == PUBLIC:
        raise Refusal(
            f"{course / 'secret'} must hold the course's secret before keys are made, got none: "
            "run any nbgrader command once"
        )
    for student in students:
        if not re.fullmatch(r"[^\s/\\.][^\s/\\]*", student):
            raise Refusal(
                f"a student's id must be a word without spaces and slashes, got {student!r}: "
                "use the id of the gradebook"
            )
    (course / "keys").mkdir(mode=0o700, exist_ok=True)
    made = [course / "keys" / f"{student}.key" for student in students]
    for student, path in zip(students, made, strict=True):
        atomic.put(path, student_key(student, word) + "\n")
    return made
