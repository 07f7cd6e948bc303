"""What runs in the box: one kind between two honest neighbours, under stock `nbgrader autograde`.

The first neighbour is graded already, which saves a kernel. This is the first process of the box,
so that it outlives whatever the students' code ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.submissions.box import FONTS, HOME
from tests.submissions.kinds import kinds
from tests.submissions.stage import of

FIRST, BEFORE, MIDDLE, LAST = "a", "b", "m", "z"  # students; nbgrader takes them in this order
SECONDS = 90  # for all of them
FINDS, KILLED, HANGS, RUNS_ON = "finds it", "nbgrader is killed", "nbgrader hangs", "it runs on"
GONE, ENDED = "the gradebook is gone", "the machine is gone"
_PR_SET_DUMPABLE = 4
_POINTS = """
SELECT sum(auto_score) FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
WHERE student_id = ? AND base_cell.name LIKE 'check%'
"""


def main(name: str) -> None:
    """Print the points of the three, and what else became of them, as JSON."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)  # nobody may stop this process, or read it
    found = {kind.name: kind for kind in kinds()}
    root = Path(HOME) / "scaling"
    shutil.copytree("/given", root)
    slug = of(root).slug
    with contextlib.suppress(FileNotFoundError):
        shutil.copytree(FONTS, Path(HOME) / ".cache" / "matplotlib")
    with socket.create_server(("127.0.0.1", 0)) as server:
        (root / "port").write_text(str(server.getsockname()[1]))
        students = {MIDDLE: found[name], LAST: found["honest"]}
        if name.endswith(", again"):
            students[BEFORE] = found[name]  # who leaves something for the second
        for student, kind in students.items():
            kind.put(root, root / "course" / "submitted" / student / slug)
        also = [*_autograded(root, slug)]
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # all but this process
    points = {"given": None, "first": None, "last": None}
    try:
        with contextlib.closing(sqlite3.connect(root / "course" / "gradebook.db")) as book:
            students = zip(points, (MIDDLE, FIRST, LAST), strict=True)
            points = {name: _points(book, student) for name, student in students}
    except sqlite3.Error:
        also.append(GONE)
    if _leaked(root / "course" / "autograded" / MIDDLE / slug / f"{slug}.ipynb"):
        also.insert(0, FINDS)
    print(json.dumps(points | {"also": "; ".join(also)}))


def _autograded(root, slug):
    """Run nbgrader; say how it ended, where that was not by itself, and what goes on after it."""
    process = subprocess.Popen(
        ["nbgrader", "autograde", slug, "--Execute.timeout=5"],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if process.wait(SECONDS) < 0:
            yield KILLED
    except subprocess.TimeoutExpired:
        yield HANGS
    else:
        time.sleep(1)  # what ends by itself may do so
        if any(_running()):
            yield RUNS_ON


def _running():
    """Yield the processes besides this one that have not ended."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            if process.name != "1" and state not in "ZX":
                yield process


def _points(book, student):
    """Return what a student has in the gradebook; None where no check has a score."""
    return book.execute(_POINTS, (student,)).fetchone()[0]


def _leaked(path):
    """Say whether a spy's line stands in what the cells of a graded notebook printed."""
    if not path.exists():
        return False
    cells = json.loads(path.read_text())["cells"]
    shown = [output.get("text", "") for cell in cells for output in cell.get("outputs", ())]
    return any(line.startswith("LEAK") for text in shown for line in "".join(text).splitlines())


if __name__ == "__main__":
    main(sys.argv[1])
