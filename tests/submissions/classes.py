"""Make a course with a class of given kinds in it, and grade it."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nbgrader import api

from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses, source
from scalelab.grading.judging import grade_all, grade_one
from scalelab.grading.judging.grade_all import Pool, Progress
from scalelab.grading.judging.result import Result
from tests.assignments.runner import table
from tests.submissions import stage as stages
from tests.submissions.kinds import Kind, notebook_kind
from tests.submissions.stage import LIMITS

MODULES = (
    "numpy",
    "matplotlib.pyplot",
    "scalelab.checks",
)  # what any assignment wants; torch would take seconds


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


def enrol(
    root: Path, kinds: Iterable[Kind], named: bool = False, spread: Iterable[Kind] = ()
) -> dict[str, Kind]:
    """Put a submission of each kind into a course, honest ones among them; return {student: kind}."""
    stage = stages.of(root)
    wanted = [kind for kind in kinds if stage.onward or not kind.onward]
    honest = [*spread]
    for n, kind in enumerate(honest):
        wanted.insert((2 * n + 1) * len(wanted) // (2 * len(honest)), kind)
    enrolled = {}
    for n, kind in enumerate(wanted):
        student = re.sub(r"\W+", "-", kind.name) if named else f"s{n:03}"
        kind.put(root, root / "course" / "submitted" / student / stage.slug)
        enrolled[student] = kind
    return enrolled


def neighbours() -> list[Kind]:
    """Return honest submissions, of the reference and in another style, that must not notice the others."""

    def alternative(notebook, stage):
        given = table(stage.slug).ALTERNATIVE
        for cell in notebook["cells"]:
            cell["source"] = given.get(cell["id"], cell["source"])

    def kind(name, change):
        return notebook_kind(name, "neighbours", change)

    return [
        kind("neighbour 1", lambda notebook, stage: None),
        kind("neighbour 2, in another style", alternative),
        kind("neighbour 3", lambda notebook, stage: None),
        kind("neighbour 4, in another style", alternative),
        kind("neighbour 5", lambda notebook, stage: None),
    ]


def grade(
    root: Path,
    workers: int = 2,
    executor: Pool | None = None,
    progress: Progress = lambda *_: None,
    **wish: Any,
) -> dict[str, Result]:
    """Grade the course's class as the command does; return {student: result}."""
    found = {}

    def report(done, total, result):
        found[result["student"]] = result
        progress(done, total, result)

    wish = {"modules": MODULES, "limits": LIMITS, "gradebook": False, **wish}
    classroom.grade(
        courses.find(root),
        source.load(root, stages.of(root).slug),
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
