"""The same trouble under stock nbgrader: `python -m tests.submissions.stock [NAME ...]`.

Each kind stands between two honest submissions; a row of the table says what became of all three.
The instructor's page shows it as it is printed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from tests.submissions import assignment
from tests.submissions.kinds import FAILED, kinds
from tests.submissions.runaways import MARK

SHOWN = (  # of every class; what stock nbgrader would do to this machine is left out
    *("cut off", "renamed", "byte-order mark"),
    *("answer copied", "schema version lost", "check missing", "tests to be skipped"),
    *("endless loop in a cell", "hard exit in a cell", "detached process"),
    *("many lines", "long error"),
    *("task replaced", "judge replaced", "always equal"),
    *("files of the course", "rights", "inputs kept in a global"),
    *("warns", "top-level await", "raises after the answer"),
)
HEAD = """| trouble | due | nbgrader gives | its neighbours get | `scalelab grade` gives |
|---|---|---|---|---|"""


def row(kind, given="", neighbours=""):
    """Return one row of the table; without what stock nbgrader did, the part that is ours."""
    due = "no score" if kind.score is None else f"{kind.score:g}"
    ours = due if kind.status is None else {FAILED: kind.status}.get(kind.status, due)
    flagged = ", flagged" if kind.status == "graded with flags" else ""
    return f"| {kind.group}: {kind.name} | {due} | {given} | {neighbours} | {ours}{flagged} |"


def stock(kind, course):
    """Return (points of the kind, points of its neighbours, what else) under `nbgrader autograde`."""
    honest = next(one for one in kinds() if one.name == "honest")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        shutil.copytree(course, root)
        (root / "port").write_text("9")
        for student, one in (("a", honest), ("m", kind), ("z", honest)):
            one.put(root, root / "course" / "submitted" / student / assignment.SLUG)
        _nbgrader(root, "autograde", assignment.SLUG, "--Execute.timeout=5", check=False)
        with Gradebook(f"sqlite:///{root / 'course' / 'gradebook.db'}") as book:
            first, given, last = (_points(book, student) for student in "amz")
        graded = root / "course" / "autograded" / "m" / assignment.SLUG / f"{assignment.SLUG}.ipynb"
        text = graded.read_text() if graded.exists() else ""
        more = [", and finds it"] if '"LEAK' in text.split('"outputs"', 1)[-1] else []
        return given, (first, last), "".join([*more, *_left_behind()])


def _left_behind():
    """End what is still running, and say so."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_text() == f"sleep\0{MARK}\0":
                os.kill(int(process.name), signal.SIGKILL)
                yield ", and it runs on"


def _nbgrader(root, *words, check=True):
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": bins}
    how = {"cwd": root, "env": environment, "capture_output": True, "check": check}
    subprocess.run(["nbgrader", *words], **how)


def _points(book, student):
    try:
        submission = book.find_submission(assignment.SLUG, student)
    except MissingEntry:
        return None
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    scores = [grade.auto_score for grade in grades if grade.name.startswith("check")]
    return None if None in scores else sum(scores)


def _told(points, due=None):
    """Write points; more than are due stand out."""
    told = "nothing" if points is None else f"{points:g}"
    return f"**{told}**" if points is not None and points > (due or 0) else told


def main(names):
    """Print the table: due, given, and what the honest neighbours of six points got."""
    found = {kind.name: kind for kind in kinds()}
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        course = assignment.course(folder)
        shutil.rmtree(course / "exercises" / assignment.SLUG)
        _nbgrader(course, "generate_assignment", assignment.SLUG)
        for name in names or SHOWN:
            given, neighbours, more = stock(found[name], course)
            told = _told(given, found[name].score) + more
            print(row(found[name], told, ", ".join(_told(n, 6) for n in neighbours)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
