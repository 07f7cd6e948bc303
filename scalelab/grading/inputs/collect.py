"""Find every student's submission, in nbgrader's folders or in an archive from a platform.

Whatever is in the way becomes a reason, of that one student. Standard library only.
"""

import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Self

from scalelab.grading.inputs.choose import (
    BYTES,
    File,
    Loaded,
    Look,
    choose,
    in_folder,
    in_zip,
    junk,
    regular,
)
from scalelab.grading.inputs.flag import GRAVE, Flag
from scalelab.refusal import Refusal

MEMBERS, NAME = 100_000, 1_000  # files of an archive, letters of a name
AHEAD = timedelta(days=1)  # by which a clock may be wrong
# Moodle: Ada Lovelace_123_assignsubmission_file_/x.ipynb · Canvas: lovelaceada_LATE_123_456_x.ipynb
# nbgrader: ada/01_speedup/x.ipynb · ada_01_speedup.ipynb. `path` is where a student has the say.
PATTERNS = (
    r"(?:^|/)(?P<student>[^/]+)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_[^/]*/|/|_)(?P<path>.+)",
    r"(?:^|/)(?P<student>[^/_]+)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<path>[^/]+)$",
    r"(?:^|/)(?P<student>[^/]+)/{slug}/(?P<path>.+)",
    r"(?:^|/)(?P<student>[^/]+)_{slug}(?:-\d+)?\.[^/]+$",
)
FOLDER = r"(?:^|/)(?P<student>[^/]+)/(?P<path>[^/]+)$"  # where nothing else tells


@dataclass
class Submission:
    """One student's file: its bytes, or the reason why there are none."""

    student: str
    data: bytes | None = None
    reason: str = ""
    flags: list[Flag] = field(default_factory=list)
    when: str = ""  # ISO date and time of the hand-in, where known
    # Gives the fields of a Loaded, the first two at least, when it is this one's turn.
    load: Callable[[], tuple[Any, ...]] | None = None
    platform_id: str = ""  # the number by which Moodle or Canvas knows the student

    @property
    def missing(self) -> bool:
        """Whether nothing was handed in."""
        return self.data is None and not self.reason and self.load is None

    def loaded(self) -> Self:
        """Return the submission with its bytes: a class of them would not fit into memory."""
        if self.load is None:
            return self
        try:
            content = Loaded(*self.load())
            when, more = _told(content.when) if content.when else (self.when, [])
        except Exception as error:  # of this student; the others go on
            content, when, more = Loaded(None, _unforeseen(error)), "", []
        flags = [*self.flags, *content.flags, *more]
        return replace(
            self, data=content.data, reason=content.reason, flags=flags, when=when, load=None
        )


def collect(
    place: str | Path,
    slug: str,
    pattern: str = "",
    roster: Iterable[str] = (),
    look: Look = lambda data: True,
    most_bytes: int = BYTES,
) -> list[Submission]:
    """Return the submissions by student, and one without bytes for everybody else on the roster.

    `look` says of a notebook's bytes whether it was worked on, or raises NotASubmission.
    """
    place = Path(place)
    choice = partial(choose, slug=slug, look=look, most_bytes=most_bytes)
    if place.is_dir():
        submissions = _folder(place, slug, choice)
    elif zipfile.is_zipfile(place):
        submissions = _archive(place, _patterns(slug, pattern), choice)
    else:
        raise Refusal(
            f"submissions must be a folder of students or a zip file, got {str(place)!r}: "
            "collect them first, or name the place by --submitted"
        )
    for student in roster:
        submissions.setdefault(student, Submission(student))
    return [submissions[student] for student in sorted(submissions)]


def now() -> datetime:
    """Return the time in UTC, without its zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def _told(when):
    """Return (ISO text, flags) of the time of a hand-in."""
    if when.replace(tzinfo=None) > now() + AHEAD:
        return "", [Flag(f"its time of hand-in, {when:%Y-%m-%d %H:%M}, is still to come")]
    return when.isoformat() if when != datetime.min else "", []


def _unforeseen(error):
    return f"it cannot be collected ({type(error).__name__}: {str(error)[:100]})"


# --- a folder of students ------------------------------------------------------------------------


def _folder(place, slug, choice):
    submissions = {}
    for entry in sorted(os.scandir(os.fsencode(place)), key=lambda e: e.name):
        student = entry.name.decode(errors="backslashreplace")
        if entry.name.startswith(b"."):
            continue
        if entry.is_symlink():
            submissions[student] = Submission(student, reason="the student's folder is a link")
        elif entry.is_dir():
            folder = os.path.join(entry.path, slug.encode())
            submissions[student] = _of_student(student, folder, choice)
    return submissions


def _of_student(student, folder, choice):
    """Return what lies in one student's folder of this assignment."""
    if os.path.islink(folder):
        return Submission(student, reason="the folder of the assignment is a link")
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        return Submission(student)
    except OSError as error:
        return Submission(student, reason=f"its folder cannot be read ({error.strerror})")
    when, flags = _timestamp(folder)

    def load():
        # When a file was changed does not say when it was handed in.
        return choice(in_folder(folder))._replace(when=None)

    return Submission(student, flags=flags, when=when, load=load)


def _timestamp(folder):
    """Return (ISO text, flags) of what nbgrader's collect wrote, or ("", [])."""
    path = os.path.join(folder, b"timestamp.txt")
    if not os.path.lexists(path):
        return "", []
    try:
        return _told(_moment(regular(path, 100).decode().strip()))
    except Exception:  # students can write this file, and parsers stumble in many ways
        return "", [Flag("timestamp.txt holds no time that can be read")]


def _moment(text):
    """Return the time that a text says, in UTC."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f UTC").replace(tzinfo=UTC)
    except (
        ValueError
    ):  # not as nbgrader writes it; its reader knows more, and takes seconds to import
        from nbgrader.utils import parse_utc

        return parse_utc(text).replace(tzinfo=UTC)


# --- an archive ----------------------------------------------------------------------------------


def _archive(place, patterns, choice):
    """Return what lies in a zip file, by what the names of its files tell."""
    handed: dict[tuple[str, str], list[File]] = defaultdict(list)
    numbers: dict[str, set[str]] = defaultdict(set)
    unsure = set()
    for student, number, file, sure in _by_student(_members(place), *patterns):
        handed[student, number].append(file)
        numbers[student].add(number)
        if not sure:
            unsure.add(student)
    submissions = {}
    for (student, number), files in handed.items():
        numbered, *others = (
            _id(student, n) for n in (number, *sorted(numbers[student] - {number}))
        )
        flags = [Flag("the file's name does not tell the student", GRAVE)] * (student in unsure)
        if others:
            same = f"shares the name with {', '.join(others)}: told apart by {_NUMBER}"
            flags.append(Flag(same))
        name = numbered if others else student
        load = partial(choice, files)
        submissions[name] = Submission(name, flags=flags, load=load, platform_id=number)
    return submissions


_NUMBER = "the platform's number"


def _id(student, number):
    return f"{student}_{number}" if number else student


def _members(place):
    """List the files in an archive that a person may have put there."""
    try:
        files = in_zip(place)
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise Refusal(
            f"an archive must be whole, got {str(place)!r} ({error}): download it again"
        ) from None
    if len(files) > MEMBERS:
        raise Refusal(
            f"an archive must hold at most {MEMBERS} files, got {len(files)} in {str(place)!r}: "
            "unpack it into a folder of students"
        )
    return [file for file in files if not junk(file.path)]


def _patterns(slug, pattern):
    """Return what finds a student in a name for certain, and what is tried after that."""
    if not pattern:
        certain = [re.compile(p.replace("{slug}", re.escape(slug))).search for p in PATTERNS]
        return certain, [re.compile(FOLDER).search]
    if "(?P<student>" not in pattern:
        raise Refusal(
            f"--pattern must name the student, got {pattern!r}: write (?P<student>...) into it"
        )
    try:
        return [re.compile(pattern).fullmatch], []
    except re.error as error:
        raise Refusal(
            f"--pattern must be a regular expression, got {pattern!r} ({error}): mend it"
        ) from None


def _by_student(files, certain, likely):
    """Yield (student, platform's number, file, whether that is sure), the path being the student's."""
    folders: dict[str, tuple[str, str]] = {}
    left = []
    for file in files:
        match = _match(certain, file.path) if file.notebook else None
        if match:
            yield *_owner(match, folders), _inside(match, file), True
        else:
            left.append(file)
    # From the top downwards: what lies in the folder of a student who is known is that student's.
    for file in sorted(left, key=lambda file: (not file.notebook, file.path.count("/"))):
        folder = next((above for above in _above(file.path) if above in folders), None)
        match = _match([*certain, *likely], file.path)
        if folder is not None:
            yield *folders[folder], replace(file, path=file.path[len(folder) + 1 :]), True
        elif match:
            yield *_owner(match, folders), _inside(match, file), True
        else:
            yield _plain(PurePosixPath(file.path).stem), "", file, False


def _match(finders, path):
    """Return what is found first in a path, or in that of a notebook called so, or None."""
    # A name is only ever read, so one with ../ in it leads nowhere; a long one could take long.
    names = (path, re.sub(r"(\.\w{1,9})*$", ".ipynb", path, count=1)) if len(path) <= NAME else ()
    return next(filter(None, (find(name) for name in names for find in finders)), None)


def _owner(match, folders):
    """Return (student, number), and note the folder where all is theirs."""
    groups = match.groupdict("")
    owner = _plain(groups["student"]), groups.get("number", "")
    if groups.get("path"):
        folder, slash, _ = match.string[: match.start("path")].rpartition("/")
        if slash and match.start("path") == len(folder) + 1:
            folders[folder] = owner
    return owner


def _inside(match, file):
    """Return a file with its path in what the student handed in."""
    start = match.start("path") if match.groupdict().get("path") else file.path.rfind("/") + 1
    return replace(file, path=file.path[start:])


def _above(path):
    """Yield the folders above a file, the nearest first."""
    parts = path.split("/")
    yield from ("/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))


def _plain(name):
    return name.encode(errors="backslashreplace").decode() or "?"
