"""Whose numbers these are: a student's key, made from the course's secret and the student's id.

A key gives its student the numbers of the assignments and nothing else: the secret cannot be had
back from it. Who grades makes the key again, so nothing that is handed in is believed.
Standard library only.
"""

import contextlib
import contextvars
import hashlib
import hmac
import os
import re
from collections.abc import Iterator
from pathlib import Path

from scalelab.checks.fresh import course_folder, secret
from scalelab.refusal import Refusal

FILE = "scalelab.key"  # what a student keeps beside the notebook: the id and the key
VARIABLE = "SCALELAB_STUDENT_KEY"  # the same in the environment; empty means the public numbers
_chosen: contextvars.ContextVar[str | None] = contextvars.ContextVar("key", default=None)


def student_key(student: str, word: bytes | None = None) -> str:
    """Make a student's key, "ID KEY", from the id and the course's secret.

    >>> student_key("ada", b"course").split()[0], len(student_key("ada", b"course").split()[1])
    ('ada', 32)
    """
    word = secret() if word is None else word
    made = hmac.new(word, f"student {student}".encode(), hashlib.sha256).hexdigest()
    return f"{student} {made[:32]}"


def course_key(student: str, course: str | Path) -> str:
    """Return the key of a student of a course; "" where none was handed out, so all is public.

    Who was handed one stands in course/keys/; what is written in there is not read.
    """
    course = Path(course)
    if not (course / "keys" / f"{student}.key").is_file():
        return ""
    return student_key(student, secret(course.parent))


def owner() -> str:
    """Return the key that holds here, "ID KEY", or "" for the public numbers.

    In this order: `using`, the student in whose folder of the course this runs, the environment,
    the file scalelab.key here or above.
    """
    if _chosen.get() is not None:
        return _checked(_chosen.get(), "using()")
    if (key := _graded_here()) is not None:
        return key
    if (given := os.environ.get(VARIABLE)) is not None:
        return _checked(given, VARIABLE)
    here = Path.cwd().resolve()
    for place in (here, *here.parents):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return _checked((place / FILE).read_text(encoding="utf-8"), place / FILE)
    return ""


@contextlib.contextmanager
def using(key: str) -> Iterator[None]:
    """Use a key ("" for the public numbers) within a block: how a grader says whose turn it is."""
    token = _chosen.set(key)
    try:
        yield
    finally:
        _chosen.reset(token)


def _graded_here():
    """Return the key of course/autograded/STUDENT/..., where stock nbgrader runs a notebook."""
    course = course_folder()
    if course is None:
        return None
    try:
        folder, student, *_ = Path.cwd().resolve().relative_to(course).parts
    except ValueError:
        return None
    return course_key(student, course) if folder in ("autograded", "submitted") else None


def _checked(given, where):
    key = " ".join(given.split())
    if key and not re.fullmatch(r"\S+ [0-9a-f]{32}", key):
        raise Refusal(
            f"{where} must hold an id and a key of 32 digits, got {key[:40]!r}: "
            "copy the line you were given as it is"
        )
    return key
