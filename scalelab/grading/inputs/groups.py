"""Who hands in together: course/groups.csv, with the columns assignment, group and student.

Whoever of a group handed in did so for all. Standard library only.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.course import Course
from scalelab.grading.inputs.flag import GRAVE, HARMLESS, Flag
from scalelab.grading.inputs.lists import by_student, rows
from scalelab.grading.inputs.read import blank, read
from scalelab.grading.inputs.source import Source


@dataclass(frozen=True)
class Group:
    """A group of one assignment, by the name that the instructor gave it."""

    name: str
    students: tuple[str, ...]


class _Priority(NamedTuple):
    """What makes the work of one member count before that of another; `digest` is the same for the same."""

    readable: bool = False
    written: bool = False
    when: datetime = datetime.min.replace(tzinfo=UTC)
    letters: int = 0
    digest: str = ""


def groups(course: Course, slug: str) -> list[Group]:
    """Return the groups of one assignment, no student in two of them."""
    entries = rows(course, "groups.csv", ("assignment", "group", "student"))
    members: dict[str, list[str]] = {}
    for student, row in by_student(entries, slug).items():
        members.setdefault(row["group"], []).append(student)
    return [Group(name, tuple(sorted(students))) for name, students in members.items()]


def counting(group: Group, submissions: Iterable[Submission], source: Source) -> Submission | None:
    """Return the submission that counts for all members, flagged; None where nobody handed in.

    Of several that were worked on it is the latest; of one time, or where none is known, the longest;
    of equals the first in the alphabet.
    """
    handed = sorted((s for s in submissions if not s.missing), key=lambda one: one.student)
    if not handed or len(group.students) < 2:
        return next(iter(handed), None)
    # A single one counts whatever it is, so it need not be read.
    works = [_priority(one, source) for one in handed] if len(handed) > 1 else [_Priority()]
    best = works.index(max(works, key=lambda work: work[:4]))
    names = [one.student for one in handed]
    others = [n for n in range(len(handed)) if n != best]
    same = [n for n in others if works[n].digest and works[n].digest == works[best].digest]
    other = [n for n in others if n not in same and (works[n].written or not works[n].readable)]
    said = f"handed in by {names[best]}, of group {group.name}"
    if same:
        said += f"; {_listed(names, same)} handed in the same"
    if other:
        said += f"; {_listed(names, other)} handed in other work, which does not count"
    flag = Flag(said, GRAVE if other else HARMLESS)
    return replace(handed[best], flags=[*handed[best].flags, flag])


def _listed(names, places):
    return " and ".join(names[n] for n in places)


def _priority(submission, source):
    """Return what a submission holds, without its bytes: a class of them would fill the memory."""
    loaded = submission.loaded()
    try:
        handed = read(loaded.data or b"", source)
    except Exception:  # why it cannot be read is told where it counts
        return _Priority()
    written = {
        name: texts
        for name, texts in handed.answers.items()
        if not blank(source.by_id[name], texts)
    }
    contents = json.dumps([written, handed.own])
    when = datetime.fromisoformat(loaded.when) if loaded.when else datetime.min
    return _Priority(
        readable=True,
        written=bool(written or handed.own),
        when=when.replace(tzinfo=when.tzinfo or UTC),
        letters=len(contents),
        digest=hashlib.sha256(contents.encode()).hexdigest(),
    )
