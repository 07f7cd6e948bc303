"""Hand each student of a course a key, which gives them numbers of their own.

    python -m scalelab.grading.release.keys ada ben       # writes course/keys/ada.key and ben.key

A key is one line. The student keeps it as `scalelab.key` beside the notebook; the grader makes it
again from the course's secret. Who was handed no key works, and is graded, with the public numbers.
"""

import argparse
import re
import sys
from pathlib import Path

from scalelab.checks.fresh import PUBLIC, secret
from scalelab.checks.keys import FILE, student_key


def hand_out(course, students):
    """Write course/keys/ID.key for each student and return the paths.

    A key that is there already is written again as it was: it follows from secret and id.
    """
    course = Path(course)
    word = secret(course.parent)
    if word == PUBLIC:
        raise ValueError(
            f"{course / 'secret'} must hold the course's secret before keys are made, got none: "
            "run any nbgrader command once"
        )
    for student in students:
        if not re.fullmatch(r"[^\s/\\.][^\s/\\]*", student):
            raise ValueError(
                f"a student's id must be a word without spaces and slashes, got {student!r}: "
                "use the id of the gradebook"
            )
    (course / "keys").mkdir(mode=0o700, exist_ok=True)
    made = [course / "keys" / f"{student}.key" for student in students]
    for student, path in zip(students, made, strict=True):
        path.write_text(student_key(student, word) + "\n")
    return made


def main(arguments=None):
    """Run the command line; return 0, or 2 after one sentence."""
    parser = argparse.ArgumentParser(
        prog="python -m scalelab.grading.release.keys",
        description=f"Make the keys that students keep as {FILE} beside their notebooks.",
    )
    parser.add_argument("students", nargs="+", metavar="ID", help="as in the gradebook")
    try:
        made = hand_out(Path.cwd() / "course", parser.parse_args(arguments).students)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(made)} keys in {made[0].parent}: each student keeps the own one as {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
