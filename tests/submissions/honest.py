"""Honest classes under stock nbgrader and under ours: `python -m tests.submissions.honest [SLUG ...]`.

Thirty students for each assignment. To each task of theirs belongs the reference, an answer in
another style, a slip that students make, or nothing, by lot; the lot follows from assignment and
student. Both grade the same files, each in a course of its own with the same secret, and each check
of each student is compared. honest.json keeps what came of it; minutes for each assignment.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateAssignment

from scalelab.grading.inputs.source import VERSION
from tests.assignments.runner import Assignment, table
from tests.notebooks import SLUGS
from tests.submissions.nbgrader_course import Course, entered

FILE = Path(__file__).with_suffix(".json")
STUDENTS = 30
WAYS = {"reference": 50, "another style": 20, "a slip": 20, "nothing": 10}  # percent


def answers(slug: str, number: int) -> dict[str, str]:
    """Return what a student hands in, by answer cell; a cell that is not named stays as released."""
    luck, known, written = random.Random(f"{slug} {number}"), table(slug), Assignment(slug)
    chosen = {}
    for cell in written.answers:
        (way,) = luck.choices([*WAYS], [*WAYS.values()])
        slips = known.WRONG.get(cell.removeprefix("answer-"), ())
        if way == "another style":
            chosen[cell] = known.ALTERNATIVE[cell]
        elif way == "a slip" and slips:
            chosen[cell] = luck.choice(slips)[2]
        elif way != "nothing":
            chosen[cell] = written.cells[cell].source
    return chosen


def compare(slug: str, root: Path) -> dict[str, Any]:
    """Grade one assignment's class twice; return how many checks were compared, and which differ."""
    names = [f"student{n:02}" for n in range(STUDENTS)]
    with entered(root):
        stock = Course(root, slug, keys=names[::2])  # the others have the public numbers
        stock.run(GenerateAssignment)
        for n, name in enumerate(names):
            stock.submit(name, answers(slug, n))
        ours = root.parent / f"{root.name} ours"
        shutil.copytree(root, ours)
        stock.run(Autograde)
    line = [sys.executable, "-m", "scalelab", "grade", slug, "--workers", "1"]
    said = subprocess.run(line, cwd=ours, capture_output=True, text=True)
    if said.returncode:
        raise RuntimeError(said.stderr)
    theirs = {name: stock.scores(name) for name in names}
    stock.database = f"sqlite:///{ours / 'course' / 'gradebook.db'}"
    both = [
        (f"{name} {check}", points, stock.scores(name).get(check))
        for name in names
        for check, points in theirs[name].items()
    ]
    most = {
        key: cell.metadata.nbgrader.get("points", 0) for key, cell in Assignment(slug).cells.items()
    }
    differ = [one for one in both if one[2] is None or abs(one[1] - one[2]) > 1e-6]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "grader": VERSION,
        "nbgrader": version("nbgrader"),
        "submissions": len(names),
        "checks": len(both),
        "points": round(sum(points for _, points, _ in both), 2),
        "most": round(sum(most[name.split()[1]] for name, _, _ in both), 2),
        "differ": differ,
    }


def read() -> dict[str, Any]:
    """Return what is recorded, by assignment."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def record(slug: str) -> Mapping[str, Any]:
    """Compare, and keep what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        root.mkdir()
        found = compare(slug, root)
    FILE.write_text(json.dumps({**read(), slug: found}, indent=1, sort_keys=True) + "\n")
    return found


if __name__ == "__main__":
    for slug in sys.argv[1:] or SLUGS:
        found = record(slug)
        print(
            f"{slug}: {found['checks']} checks of {found['submissions']}, differ {found['differ']}"
        )
