"""Find every student's submission, in nbgrader's folders or in an archive from a platform.

Nothing is extracted, no link followed, no pipe opened; whatever is in the way becomes a reason.
Standard library only.
"""

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self

from scalelab.grading.inputs.read import BYTES
from scalelab.refusal import Refusal

MEMBERS = 20_000  # files of an archive
# ada_01_speedup.ipynb · Moodle: Ada Lovelace_123_assignsubmission_file_/x.ipynb · Canvas:
# lovelaceada_LATE_123_456_x.ipynb · nbgrader: ada/01_speedup/01_speedup.ipynb
PATTERNS = (
    r"(.*/)?(?P<student>[^/]+)_\d+_assignsubmission_file(_.*)?/(.*/)?[^/]+\.ipynb",
    r"(.*/)?(?P<student>[^/_]+)(_LATE)?_\d+_\d+_[^/]+\.ipynb",
    r"(.*/)?(?P<student>[^/]+)/{slug}/[^/]+\.ipynb",
    r"(.*/)?(?P<student>[^/]+)_{slug}(-\d+)?\.ipynb",
    r"(.*/)?(?P<student>[^/]+)/[^/]+\.ipynb",
)


@dataclass
class Submission:
    """One student's file: its bytes, or the reason why there are none."""

    student: str
    data: bytes | None = None
    reason: str = ""
    flags: list[str] = field(default_factory=list)
    when: str = ""  # ISO date and time of the hand-in, where known
    # Gives (bytes, reason) when it is this one's turn.
    load: Callable[[], tuple[bytes | None, str]] | None = None

    @property
    def missing(self) -> bool:
        """Whether nothing was handed in."""
        return self.data is None and not self.reason and self.load is None

    def loaded(self) -> Self:
        """Return the submission with its bytes: a class of them would not fit into memory."""
        if self.load is None:
            return self
        data, reason = self.load()
        return replace(self, data=data, reason=reason, load=None)


def collect(
    place: str | Path, slug: str, pattern: str = "", roster: Iterable[str] = ()
) -> list[Submission]:
    """Return the submissions by student, and one without bytes for everybody else on the roster."""
    place = Path(place)
    if place.is_dir():
        submissions = _folder(place, slug)
    elif zipfile.is_zipfile(place):
        submissions = _archive(place, slug, pattern)
    else:
        raise Refusal(
            f"submissions must be a folder of students or a zip file, got {str(place)!r}: "
            "collect them first, or name the place by --submitted"
        )
    for student in roster:
        submissions.setdefault(student, Submission(student))
    return [submissions[student] for student in sorted(submissions)]


def _folder(place, slug):
    submissions = {}
    for entry in sorted(os.scandir(os.fsencode(place)), key=lambda e: e.name):
        if entry.name.startswith(b"."):
            continue
        student = entry.name.decode(errors="backslashreplace")
        if entry.is_symlink():
            submissions[student] = Submission(student, reason="the student's folder is a link")
        elif entry.is_dir():
            submissions[student] = _of_student(
                student, os.path.join(entry.path, slug.encode()), slug
            )
    return submissions


def _of_student(student, folder, slug):
    """Read the notebook in one student's folder of this assignment."""
    try:
        if os.path.islink(folder):
            return Submission(student, reason="the folder of the assignment is a link")
        names = sorted(n for n in os.listdir(folder) if n.lower().endswith(b".ipynb"))
    except FileNotFoundError:
        return Submission(student)
    except OSError as error:
        return Submission(student, reason=f"its folder cannot be read ({error.strerror})")
    wanted = f"{slug}.ipynb".encode()
    if not names:
        return Submission(student, reason="the folder holds no notebook")
    flags, name = [], wanted
    if wanted not in names:
        name = names[0]
        flags.append("the notebook was renamed")
    if len(names) > 1:
        flags.append(f"{len(names)} notebooks; {name.decode(errors='backslashreplace')} counts")
    load = partial(_file, os.path.join(folder, name))
    return Submission(student, None, "", flags, _timestamp(folder), load)


def _file(path):
    try:
        return _bytes(path), ""
    except OSError as error:
        return None, error.strerror or "it cannot be read"


def _bytes(path):
    """Read a regular file that is not too large; anything else raises OSError with a reason."""
    # A pipe would wait for ever, a link could show the secret, a device has no end.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        cause = "it is a link" if os.path.islink(path) else f"it cannot be read ({error.strerror})"
        raise OSError(0, cause) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no regular file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(BYTES + 1)


def _timestamp(folder):
    """Return what nbgrader's collect wrote, as ISO text, or ""."""
    from nbgrader.utils import parse_utc

    try:
        text = _bytes(os.path.join(folder, b"timestamp.txt"))[:100].decode().strip()
        when = parse_utc(text)
        return when.replace(tzinfo=UTC).isoformat() if when else ""
    except (OSError, ValueError, OverflowError):
        return ""


def _archive(place, slug, pattern):
    """Read the notebooks in a zip file by their names; the latest of each student counts."""
    patterns = [pattern] if pattern else [p.replace("{slug}", re.escape(slug)) for p in PATTERNS]
    if pattern and "(?P<student>" not in pattern:
        raise Refusal(
            f"--pattern must name the student, got {pattern!r}: write (?P<student>...) into it"
        )
    try:
        patterns = [re.compile(p) for p in patterns]
    except re.error as error:
        raise Refusal(
            f"--pattern must be a regular expression, got {pattern!r} ({error}): mend it"
        ) from None
    submissions = {}
    for member in _members(place):
        if "__MACOSX" in member.filename:
            continue
        # A name is only ever read, so one with ../ in it leads nowhere.
        match = next(filter(None, (p.fullmatch(member.filename) for p in patterns)), None)
        name = match["student"] if match else PurePosixPath(member.filename).stem
        student = name.encode(errors="backslashreplace").decode() or "?"
        before = submissions.get(student)
        submission = submissions[student] = Submission(
            student, when=_when(member), load=partial(_member, place, member)
        )
        if before:
            submission.flags.append("handed in more than once; the latest counts")
        if not match:
            submission.flags.append("the file's name does not tell the student")
    return submissions


def _members(place):
    """List the notebooks in an archive, the earliest first."""
    try:
        with zipfile.ZipFile(place) as archive:
            notebooks = [m for m in archive.infolist()[:MEMBERS] if m.filename.endswith(".ipynb")]
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise Refusal(
            f"an archive must be whole, got {str(place)!r} ({error}): download it again"
        ) from None
    return sorted(notebooks, key=lambda m: (m.date_time, m.filename))


def _member(place, member):
    try:
        with zipfile.ZipFile(place) as archive, archive.open(member) as file:
            return file.read(BYTES + 1), ""  # whatever the archive says of its size
    except (RuntimeError, NotImplementedError):
        return None, "it is encrypted or packed in an unknown way"
    except Exception:  # each way of packing has its own word for it
        return None, "the archive is damaged here"


def _when(member):
    try:
        return datetime(*member.date_time).isoformat()
    except ValueError:
        return ""
