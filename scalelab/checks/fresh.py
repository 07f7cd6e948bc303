"""Inputs that nobody can know beforehand: random numbers drawn from the course's secret.

The assignments and their solutions are public, so a check that always used the same inputs could
be answered from a list. Standard library only.
"""

import hashlib
import hmac
import os
import random
from pathlib import Path

PUBLIC = b"public"  # what a reader without a course draws from


def fresh(name: str) -> random.Random:
    """Return the random numbers of one task: the same for everybody within a course.

    >>> fresh("01_speedup/2.2").random() == fresh("01_speedup/2.2").random()
    True
    >>> fresh("01_speedup/2.2").random() == fresh("01_speedup/2.3").random()
    False
    """
    digest = hmac.new(secret(), name.encode(), hashlib.sha256).digest()
    return random.Random(int.from_bytes(digest, "big"))


def secret(folder: str | Path | None = None) -> bytes:
    """Find the course's secret: SCALELAB_COURSE_SECRET, else course/secret here or above.

    >>> secret(folder="/")
    b'public'
    """
    word = os.environ.get("SCALELAB_COURSE_SECRET", "").strip()
    if word:
        return word.encode()
    course = course_folder(folder)
    return (course / "secret").read_bytes().strip() if course else PUBLIC


def course_folder(folder: str | Path | None = None) -> Path | None:
    """Find the folder `course`, here or above, that holds a secret; None where there is none."""
    here = Path(folder or Path.cwd()).resolve()
    for place in (here, *here.parents):
        try:
            if (place / "course" / "secret").read_bytes().strip():
                return place / "course"
        except OSError:
            continue
    return None
