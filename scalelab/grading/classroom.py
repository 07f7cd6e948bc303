"""From a folder of submissions to scores, feedback and reports: the whole run.

Standard library only; the steps are the other modules.
"""

import json
import os
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from scalelab.checks.keys import course_key
from scalelab.files import atomic
from scalelab.grading.box.sandbox import MODULES
from scalelab.grading.inputs.choose import BYTES
from scalelab.grading.inputs.collect import collect
from scalelab.grading.inputs.comments import items
from scalelab.grading.inputs.course import (
    Course,
    roster as read_roster,
    texts_of_others,
    with_gradebooks,
    writing,
)
from scalelab.grading.inputs.extensions import extensions
from scalelab.grading.inputs.groups import counting, groups
from scalelab.grading.inputs.read import worked_on
from scalelab.grading.inputs.regrades import requests
from scalelab.grading.inputs.source import Source
from scalelab.grading.judging import result as results
from scalelab.grading.judging.execute import TimeLimits
from scalelab.grading.judging.grade_all import Pool, Progress, Slots, run
from scalelab.grading.judging.grade_one import Unit
from scalelab.grading.judging.judge import Judge
from scalelab.grading.judging.result import Result
from scalelab.grading.out import record, report, side_by_side, similar, tables
from scalelab.grading.out.requests import joined
from scalelab.grading.out.worth import NOTHING, Known, joint
from scalelab.grading.returned import autograded, exchange
from scalelab.grading.returned.feedback import feedback
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
    similar: bool = False
    most_bytes: int = BYTES
    modules: tuple[str, ...] = MODULES
    limits: TimeLimits = field(default_factory=TimeLimits)


def grade(
    course: Course,
    source: Source,
    wish: Wish,
    executor: Pool,
    slots: Slots,
    progress: Progress = lambda done, total, result: None,
) -> dict[str, Any]:
    """Grade and record a class; return the class report as plain data."""
    judge = Judge(source)  # refuses an assignment that cannot be judged before anything is run
    wish = replace(wish, modules=(*wish.modules, *source.modules, *judge.imports))
    checks = _checks(source, wish.tasks)
    extensions(course, source.slug)  # refuses a bad row before anything is run
    items(course, source)
    together = groups(course, source.slug)
    place = course.graded / source.slug
    with writing(place):
        for left in place.glob(f"**/.*{atomic.UNFINISHED}"):  # half a file of a run that was killed
            left.unlink()
        everybody = _submissions(course, source, wish, together)
        submissions, shared = _counting(together, everybody, source)
        jobs = [_job(course, source, submission, wish, checks) for submission in submissions]
        if wish.gradebook:  # which takes seconds, and there is time until the first result
            threading.Thread(target=with_gradebooks, daemon=True).start()
        graded = run(jobs, executor, slots, place / "results", progress)
        graded |= _for_the_others(place, graded, shared)
        latest = _everybody(place, graded) if wish.only else graded
        whole_class = [latest[name] for name in sorted(latest)]
        summary = write(course, source, whole_class, wish.gradebook)
        return summary | (compare(course, source, whole_class) if wish.similar else {})


def write(
    course: Course, source: Source, graded: Sequence[Result], gradebook: bool = True
) -> dict[str, Any]:
    """Write gradebook, graded notebooks, feedback, tables and the class report from results."""
    place = course.graded / source.slug
    known: dict[str, Known] = {}
    later = extensions(course, source.slug)
    if gradebook:
        comments = items(course, source)
        record.record(course, source, graded, later, comments)
        known = record.known(course, source, comments)
        known |= _of_the_group(known, graded)
    for student, due in later.items():
        known[student] = replace(known.get(student, NOTHING), due=due.isoformat())
    known = joined(known, [result["student"] for result in graded], course, source)
    for result in graded:
        _pages(course, source, result, known.get(result["student"], NOTHING))
    made = tables.tables(source, graded, known)
    before = place / "scores.csv"
    old = before.read_text(encoding="utf-8", errors="replace") if before.exists() else ""
    # Changes first: a run that is killed here finds the old scores again.
    made = {"changes.csv": tables.changes(source, old, made["scores.csv"]), **made}
    for name, text in made.items():
        atomic.keep(place / name, text.encode())
    changed = len(made["changes.csv"].splitlines()) - 1
    summary = report.summary(source, graded, known, changed)
    atomic.keep(place / "report.json", (json.dumps(summary, indent=1) + "\n").encode())
    pages = os.path.relpath(course.folder("feedback"), place)
    atomic.keep(place / "report.html", report.html(summary, pages).encode())
    return summary


def _of_the_group(known, graded):
    """Return what is known of those whose work another one handed in: that one's marks are theirs."""
    shared_marks = {}
    for result in graded:
        own, by = known.get(result["student"]), known.get(result.get("by", ""))
        if own and by:
            shared_marks[result["student"]] = replace(own, marks=joint(own.marks, by.marks))
    return shared_marks


def compare(course: Course, source: Source, graded: Sequence[Result]) -> dict[str, Any]:
    """Write the pairs of students who wrote the same; return them as plain data."""
    place = course.graded / source.slug
    pairs = similar.pairs(source, graded)
    pages = os.path.relpath(course.folder("feedback"), place)
    atomic.keep(place / "similar.csv", side_by_side.csv(pairs).encode())
    atomic.keep(place / "similar.html", side_by_side.html(source, graded, pairs, pages).encode())
    return {"similar": [pair.plain() for pair in pairs]}


def _submissions(course, source, wish, together):
    """Return the submissions that are wanted, and an empty one for everybody without."""
    expected = set(read_roster(wish.roster)) if wish.roster else set()
    if wish.gradebook:
        expected.update(record.students(course))
    expected.update(wish.only, *(group.students for group in together))
    place = wish.submitted or course.folder("submitted")
    look = partial(worked_on, source=source, others=texts_of_others(course.root, source.slug))
    everybody = collect(place, source.slug, wish.pattern, expected, look, wish.most_bytes)
    requests(course, source, {one.student for one in everybody})
    wanted = {*wish.only}
    for group in together:  # one result: who asks for a member asks for all
        if wanted.intersection(group.students):
            wanted.update(group.students)
    return [one for one in everybody if not wish.only or one.student in wanted]


def _counting(together, everybody, source):
    """Return the submissions to grade, and by student those of a group that another one's stands for."""
    left = {submission.student: submission for submission in everybody}
    of_groups, shared = [], {}
    for group in together:
        members = [left[student] for student in group.students if student in left]
        counts = counting(group, members, source)
        if counts:
            of_groups.append(counts)
            for member in members:
                del left[member.student]
                if member.student != counts.student:
                    shared[member.student] = counts.student, member
    return sorted([*of_groups, *left.values()], key=lambda one: one.student), shared


def _for_the_others(place, graded, shared):
    """Give the members of a group the result of the one who handed in, each in a file of its own."""
    copies = {}
    for student, (by, member) in shared.items():
        own = {"student": student, "platform_id": member.platform_id, "by": by}
        copies[student] = graded[by] | own
        atomic.keep(
            place / "results" / f"{results.file_name(student)}.json",
            results.written(copies[student]),
        )
    return copies


def _job(course, source, submission, wish, checks):
    """Return the work on one submission, with its last result where that may be kept."""
    student, previous, key = submission.student, None, ""
    if wish.resume or checks:
        place = course.graded / source.slug / "results"
        previous = results.read(place / f"{results.file_name(student)}.json")
        if previous and "by" in previous:  # it is of another one's work
            previous = None
    if results.is_plain(student):
        key = course_key(student, course.root / "course")
    return Unit(
        source,
        submission,
        key=key,
        limits=wish.limits,
        unsafe=wish.unsafe,
        modules=wish.modules,
        previous=previous,
        only=checks or None,
    )


def _checks(source, tasks):
    """Return the ids of the checks of some tasks, each named by number or id."""
    named: dict[str, str] = {}
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


def _pages(course, source, result, known):
    """Write what is shown of one result, in the folders where nbgrader looks for it."""
    handed_in = result["status"] != results.MISSING
    for step, suffix, there in (
        ("feedback", "html", handed_in),
        ("autograded", "ipynb", handed_in and result["tests"]),
    ):
        place = course.folder(step) / results.file_name(result["student"]) / source.slug
        if not there:  # nor is what was shown of an earlier hand-in
            shutil.rmtree(place, ignore_errors=True)
            continue
        if step == "feedback":
            data = feedback(source, result, known)
        else:
            data = autograded.notebook(course, source, result)
        files = {f"{source.slug}.{suffix}": data, **exchange.notes(course, source, result)}
        for name, text in files.items():
            atomic.keep(place / name, text.encode(), sync=False)  # it can be made again
