"""From a folder of submissions to scores, feedback and reports: the whole run.

Standard library only; the steps are the other modules.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalelab.checks.keys import course_key
from scalelab.files import atomic
from scalelab.grading.box.sandbox import MODULES
from scalelab.grading.inputs.collect import collect
from scalelab.grading.inputs.course import Course, roster as read_roster, writing
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging import result as results
from scalelab.grading.judging.execute import Limits
from scalelab.grading.judging.grade_all import Pool, Progress, Slots, run
from scalelab.grading.judging.grade_one import Unit
from scalelab.grading.judging.judge import Judge
from scalelab.grading.judging.result import Marks, Result
from scalelab.grading.out import autograded, record, report
from scalelab.grading.out.feedback import feedback
from scalelab.refusal import Refusal


@dataclass(frozen=True)
class Wish:
    """What an instructor asked for; the defaults are those of the command line."""

    submitted: Path | None = None
    pattern: str = ""
    roster: Path | None = None
    only: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    resume: bool = False
    unsafe: bool = False
    gradebook: bool = True
    modules: tuple[str, ...] = MODULES
    limits: Limits = field(default_factory=Limits)


def grade(
    course: Course,
    source: Source,
    wish: Wish,
    executor: Pool,
    slots: Slots,
    progress: Progress = lambda done, total, result: None,
) -> dict[str, Any]:
    """Grade and record a class; return the class report as plain data."""
    Judge(source)  # refuses an assignment that cannot be judged before anything is run
    checks = _checks(source, wish.tasks)
    place = course.graded / source.slug
    with writing(place):
        for left in place.glob(f"**/.*{atomic.UNFINISHED}"):  # half a file of a run that was killed
            left.unlink()
        submissions = _submissions(course, source, wish)
        jobs = [_job(course, source, submission, wish, checks) for submission in submissions]
        graded = run(jobs, executor, slots, place / "results", progress)
        everybody = _everybody(place, graded) if wish.only else graded
        return write(
            course, source, [everybody[name] for name in sorted(everybody)], wish.gradebook
        )


def write(
    course: Course, source: Source, graded: Sequence[Result], gradebook: bool = True
) -> dict[str, Any]:
    """Write gradebook, graded notebooks, feedback, tables and the class report from results."""
    place = course.graded / source.slug
    marks: dict[str, Marks] = {}
    penalties: dict[str, float] = {}
    if gradebook:
        record.record(course, source, graded)
        marks, penalties = record.by_hand(course, source)
    for result in graded:
        _pages(course, source, result, marks, penalties)
    for name, text in report.tables(source, graded, marks, penalties).items():
        atomic.keep(place / name, text.encode())
    summary = report.summary(source, graded, marks, penalties)
    atomic.keep(place / "report.json", (json.dumps(summary, indent=1) + "\n").encode())
    atomic.keep(place / "report.html", report.html(summary).encode())
    return summary


def _submissions(course, source, wish):
    """Return the submissions that are wanted, and an empty one for everybody without."""
    expected = set(read_roster(wish.roster)) if wish.roster else set()
    if wish.gradebook:
        expected.update(record.students(course))
    expected.update(wish.only)
    place = wish.submitted or course.folder("submitted")
    everybody = collect(place, source.slug, wish.pattern, expected)
    return [
        submission for submission in everybody if not wish.only or submission.student in wish.only
    ]


def _job(course, source, submission, wish, checks):
    """Return the work on one submission, with its last result where that may be kept."""
    student, previous, key = submission.student, None, ""
    if wish.resume or checks:
        place = course.graded / source.slug / "results"
        previous = results.read(place / f"{results.file_name(student)}.json")
    if results.is_plain(student):
        key = course_key(student, course.root / "course")
    return Unit(
        source,
        submission,
        key=key,
        limits=wish.limits,
        unsafe=wish.unsafe,
        modules=(*wish.modules, *(m for m in source.modules if m not in wish.modules)),
        previous=previous,
        only=checks or None,
    )


def _checks(source, tasks):
    """Return the ids of the checks of some tasks, each named by number or id."""
    named = {}
    for cell in source.cells:
        if cell.check:
            number = source.titles[cell.id].split(" ")[0].rstrip(".")
            named |= {cell.id: cell.id, number: cell.id}
    for task in tasks:
        if task not in named:
            raise Refusal(
                f"--task must be one of {', '.join(sorted(set(named) - set(named.values())))}, "
                f"got {task!r}: name one that has a check"
            )
    return frozenset(named[task] for task in tasks)


def _everybody(place, found):
    """Return the results of all students, of this run and of those before."""
    earlier = map(results.read, sorted((place / "results").glob("*.json")))
    return {result["student"]: result for result in earlier if result} | found


def _pages(course, source, result, marks, penalties):
    """Write what is shown of one result, in the folders where nbgrader looks for it."""
    student = result["student"]
    name = results.file_name(student)
    of = marks.get(student, {}), penalties.get(student, 0.0)
    for step, suffix, data in (
        ("feedback", "html", feedback(source, result, *of).encode()),
        ("autograded", "ipynb", autograded.notebook(course, source, result)),
    ):
        shown = step == "feedback" or result["tests"]
        if shown and result["status"] != results.MISSING:
            place = course.folder(step) / name / source.slug / f"{source.slug}.{suffix}"
            atomic.keep(place, data, sync=False)  # it can be made again
