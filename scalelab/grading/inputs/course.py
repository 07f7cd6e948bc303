"""The course as its nbgrader_config.py describes it: where things lie, and one writer at a time.

nbgrader is imported inside functions only.
"""

import contextlib
import csv
import fcntl
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalelab.refusal import Refusal

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Course:
    """The folders of a course and the address of its gradebook."""

    root: Path
    config: Any
    db_url: str

    def folder(self, step: str) -> Path:
        """Return nbgrader's folder for a step, such as "submitted"."""
        return self.root / self.config.CourseDirectory.get(f"{step}_directory", step)

    @property
    def graded(self) -> Path:
        """The folder of our results."""
        return self.root / "course" / "graded"


def find(root: str | Path, db_url: str | None = None) -> Course:
    """Read the configuration of the course at this folder."""
    root = Path(root)
    if not (root / CONFIG).is_file():
        raise Refusal(
            f"the current folder must be a course's root, got no {CONFIG} in it: change there first"
        )
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    url = db_url or config.CourseDirectory.get("db_url") or f"sqlite:///{root / 'gradebook.db'}"
    return Course(root, config, url)


def texts_of_others(root: str | Path, slug: str) -> dict[str, str]:
    """Return {text of a released cell: its assignment} of all assignments but one, answers left out."""
    texts: dict[str, str] = {}
    for path in sorted(Path(root, "exercises").glob("*/*.ipynb")):
        if path.stem == path.parent.name != slug:
            # One that cannot be read is told when it is graded itself.
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
                for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                    if not cell.get("metadata", {}).get("nbgrader", {}).get("solution"):
                        texts["".join(cell["source"]).strip()] = path.stem
    texts.pop("", None)
    return texts


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold a folder of results for one run; refuse where another one has it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(
                f"{folder} must have one writer, got another run at work on it: wait for its end"
            ) from None
        yield


def roster(path: str | Path) -> list[str]:
    """Return the students' ids in the first column of a CSV file, or in the one called `id`."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        cause = getattr(error, "strerror", None) or error
        raise Refusal(
            f"--roster must be a CSV file of students, got {str(path)!r} ({cause}): name another"
        ) from None
    head = [name.strip().lower() for name in rows[0]] if rows else []
    named = [name for name in ("id", "student", "student_id") if name in head]
    column = head.index(named[0]) if named else 0
    rows = rows[1:] if named else rows
    return [row[column].strip() for row in rows if len(row) > column and row[column].strip()]


def with_gradebooks() -> None:
    """Import nbgrader's gradebooks, in a third of the time they would take, and without its commands."""
    # jsonschema does without it where it is not installed, and parses a grammar for two seconds where it is.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from nbgrader import api

    api.get_alembic_version = _newest_tables  # a process of its own would import all of it again


def _newest_tables():
    """Return the version of nbgrader's tables."""
    import nbgrader
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(Path(nbgrader.__file__).with_name("alembic"))).get_current_head()
