"""Make a course with a class of given kinds in it, and grade it."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbgrader import api

from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses, source
from scalelab.grading.judging import grade_all, grade_one
from scalelab.grading.judging.execute import Limits
from tests.submissions import assignment

MODULES = (
    "numpy",
    "matplotlib.pyplot",
    "scalelab.checks",
)  # those this assignment wants; torch would take seconds
LIMITS = Limits(cell=1.5, call=1.0, submission=20.0)


class OneThread(ThreadPoolExecutor):
    """The smallest executor there is, and its size."""

    def __init__(self):
        super().__init__(1)

    def threads(self):
        return 1


_THREAD = OneThread()
# nbgrader starts a program to learn this, for every new gradebook.
api.get_alembic_version = functools.cache(api.get_alembic_version)


@contextlib.contextmanager
def here():
    """Give one thread of this process; its fork server is kept for the next run, until `close`."""
    yield _THREAD


def close():
    """End the fork server of `here`."""
    _THREAD.submit(grade_one.close).result()


def enrol(root, kinds, named=False):
    """Put one submission of each kind into a course; return {student: kind}."""
    enrolled = {}
    for n, kind in enumerate(kinds):
        student = re.sub(r"\W+", "-", kind.name) if named else f"s{n:03}"
        kind.put(root, root / "course" / "submitted" / student / assignment.SLUG)
        enrolled[student] = kind
    return enrolled


def grade(root, workers=2, executor=None, progress=lambda *_: None, **wish):
    """Grade the course's class as the command does; return {student: result}."""
    found = {}

    def report(done, total, result):
        found[result["student"]] = result
        progress(done, total, result)

    wish = {"modules": MODULES, "limits": LIMITS, "gradebook": False} | wish
    classroom.grade(
        courses.find(root),
        source.load(root, assignment.SLUG),
        classroom.Wish(**wish),
        executor or (lambda: grade_all.local(workers)),
        grade_all.slots,
        report,
    )
    return found


def main(root, *words):
    """Grade a class in a process of its own, that tests may kill; `words` are set to True."""
    grade(Path(root), modules=("numpy", "scalelab.checks"), **dict.fromkeys(words, True))


if __name__ == "__main__":
    main(*sys.argv[1:])
