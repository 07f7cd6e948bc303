"""Results as if something had been handed in and judged, and a course that records them: nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalelab.grading import classroom
from scalelab.grading.inputs import course as courses
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.source import Source, load
from scalelab.grading.judging.result import Result, result


def handed(source: Source, tests: Mapping[str, Any] | tuple = (), **found: Any) -> Result:
    """Return a result without points whose texts are still to be read; `tests` and `found` change it."""
    judged = [
        {"id": cell.id, "name": source.titles[cell.id], "score": 0.0, "max_score": cell.points,
         "output": "", "states": ["wrong"], "slips": []} | dict(tests).get(cell.id, {})
        for cell in source.cells if cell.check
    ]  # fmt: skip
    manual = [
        {"id": cell.id, "name": source.titles[cell.id], "score": None, "max_score": cell.points}
        for cell in source.cells
        if cell.manual
    ]
    found = {"tests": judged, "manual": manual} | found
    student = found.pop("student", "ada")
    return result(source, Submission(student, flags=found.pop("odd", [])), **found)


def write(root: Path, slug: str, class_: Sequence[Result]) -> dict[str, Any]:
    """Record a class; return its report."""
    return classroom.write(courses.find(root), load(root, slug), class_)


def page(root: Path, slug: str, student: str) -> str:
    """Return what a student reads."""
    return (root / "course" / "feedback" / student / slug / f"{slug}.html").read_text()


def table(root: Path, name: str, *rows: str) -> None:
    """Write one of the tables that an instructor keeps."""
    place = root / "course" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("\n".join(rows) + "\n", encoding="utf-8")
