"""What grading one submission gives, and the name of the file it is kept in.

A result is plain JSON in the shape of Gradescope's results.json plus `status`, `reason`, `flags`,
and holds no time, so that the same input gives the same bytes. Standard library only.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import Source

GRADED, FLAGGED, FAILED, MISSING = "graded", "graded with flags", "failed", "missing"
STATES = (GRADED, FLAGGED, FAILED, MISSING)
SCHEMA = 3
Result = dict[str, Any]


def result(source: Source, submission: Submission, **found: Any) -> Result:
    """Return a result; `found` is what this one has beyond the common fields."""
    flags = [*submission.flags, *found.pop("flags", ())]
    status = found.pop("status", FLAGGED if flags else GRADED)
    checks = [cell for cell in source.cells if cell.check]
    return {
        "schema": SCHEMA,
        "assignment": source.slug,
        "student": submission.student,
        "platform_id": submission.platform_id,
        "status": status,
        "reason": "",
        "flags": [flag.plain() for flag in flags],
        "handed_in": submission.when,
        "score": None,
        "max_score": sum(cell.points for cell in checks),
        "tests": [],
        "manual": [],
        "answers": [],
        "own": [],
        "typed": {},
        "keys": {},
        **found,
    }


def written(result: Result) -> bytes:
    """Return the bytes of a result: the same for the same result."""
    return (json.dumps(result, indent=1, sort_keys=True) + "\n").encode()


def read(path: str | Path) -> Result | None:
    """Return the result in a file, or None where there is none that is whole."""
    try:
        found = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def file_name(student: str) -> str:
    """Return a file name that no student's id can turn into another place.

    >>> file_name("ada"), file_name("../x"), file_name(".ssh")
    ('ada', '%2E.%2Fx', '%2Essh')
    """
    name = quote(student, safe="@+ ")
    name = f"%2E{name[1:]}" if name.startswith(".") else name or "%"
    if len(name) > 200:  # a file system allows 255 bytes
        import hashlib

        name = f"{name[:150]}%{hashlib.sha256(student.encode()).hexdigest()[:16]}"
    return name


def is_plain(student: str) -> bool:
    """Say whether an id is its own file name, so that any tool can make a folder of it."""
    return bool(student) and file_name(student) == student
