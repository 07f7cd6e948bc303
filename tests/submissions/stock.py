"""The same trouble under stock nbgrader: `python -m tests.submissions.stock [--summary | NAME ...]`.

Each kind stands between two honest submissions of a real assignment, in a box of its own; a row says
what became of all three. `stock.csv` holds the rows: without names, the kinds that it lacks are run,
so a run that was stopped goes on; all are printed. The instructor's page shows the summary and some rows.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from scalelab.grading.box import bubblewrap
from tests.submissions import box, boxed, stage
from tests.submissions.kinds import FAILED, Kind, kinds

SLUG = "01_speedup"
FILE = Path(__file__).with_suffix(".csv")
AT_ONCE = 2
POINTS = ("due", "given", "first", "last")
EXAMPLES = (  # of every family
    *("cut off", "renamed", "byte-order mark"),
    *("answer copied", "schema version lost", "check missing", "tests to be skipped"),
    *("endless loop in a cell", "hard exit in a cell", "detached process"),
    *("many lines", "long error"),
    *("task replaced", "judge replaced", "always equal"),
    *("files of the course", "network", "inputs kept in a global"),
    *("warns", "top-level await", "raises after the answer"),
    *("progress bar", "hard exit on hidden inputs only", "a window for pictures"),
)
HEAD = """| trouble | due | nbgrader gives | its neighbours get | `scalelab grade` gives |
|---|---|---|---|---|"""


class Row(NamedTuple):
    """What became of a kind and of the two around it; None where there is no score."""

    kind: str
    group: str
    due: float | None
    given: float | None = None
    first: float | None = None
    last: float | None = None
    also: str = ""  # what else there is to say, in words that boxed.py has

    def harms(self, most: float) -> bool:
        """Whether a neighbour has less than an honest submission earns."""
        return any(points is None or points < most for points in (self.first, self.last))

    @property
    def finds(self) -> bool:
        """Whether a spy saw what it looked for."""
        return boxed.FINDS in self.also

    @property
    def breaks(self) -> bool:
        """Whether it cost more than scores: nbgrader, the gradebook or the box, or runs on."""
        return self.also not in ("", boxed.FINDS)


SUMMARY = {  # what is counted in each family
    "kinds": lambda row, most: True,
    "nbgrader: as due": lambda row, most: row.given == row.due,
    "more": lambda row, most: _more(row.given, row.due),
    "less": lambda row, most: None not in (row.given, row.due) and row.given < row.due,
    "no score": lambda row, most: row.given is None and row.due is not None,
    "neighbour loses": lambda row, most: row.harms(most),
    "spy finds it": lambda row, most: row.finds,
    "breaks": lambda row, most: row.breaks,
    "`scalelab grade`: as due": lambda row, most: True,  # as test_corpus.py holds
}


def run(kind: Kind, course: Path) -> Row:
    """Return the Row of a kind, run in a box."""
    inside = [sys.executable, "-m", "tests.submissions.boxed", kind.name]
    said = box.run(inside, course, boxed.SECONDS + 60)
    found = json.loads(said) if said else {"also": boxed.ENDED}
    return Row(kind.name, kind.group, kind.due(stage.of(course)), **found)


def course(folder: Path) -> Path:
    """Make a course that stock nbgrader has released, with an honest submission graded."""
    root = stage.course(folder, SLUG)
    shutil.rmtree(root / "exercises" / SLUG)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    how = {"cwd": root, "env": {**os.environ, "PATH": path}, "capture_output": True, "check": True}
    subprocess.run(["nbgrader", "generate_assignment", SLUG], **how)
    honest = next(kind for kind in kinds() if kind.name == "honest")
    honest.put(root, root / "course" / "submitted" / boxed.FIRST / SLUG)
    subprocess.run(["nbgrader", "autograde", SLUG], **how)
    return root


def recorded() -> dict[str, Row]:
    """Return the rows of the file: {name of the kind: Row}."""
    with FILE.open(newline="") as lines:
        next(lines)  # the stamp
        rows = [
            {name: _number(text) if name in POINTS else text for name, text in row.items()}
            for row in csv.DictReader(lines)
        ]
    return {row["kind"]: Row(**row) for row in rows}


def _number(text):
    return float(text) if text else None


def record(rows: Mapping[str, Row]) -> None:
    """Write the file: its stamp, then a line for each kind, in the order of the corpus."""
    with FILE.open("w", newline="") as out:
        out.write(f"{stamp()}, {time.strftime('%Y-%m-%d')}\n")
        table = csv.writer(out, lineterminator="\n")
        table.writerow(Row._fields)
        for kind in kinds():
            if kind.name in rows:
                told = (f"{v:g}" if isinstance(v, float) else v for v in rows[kind.name])
                table.writerow(told)


def stamp() -> str:
    """Return what rows must share to stand in one file."""
    return f"# nbgrader {version('nbgrader')}"


def line(row: Row, kind: Kind, most: float) -> str:
    """Return one line of the table."""
    due = "no score" if row.due is None else f"{row.due:g}"
    ours = {FAILED: FAILED}.get(kind.status, due)
    flagged = ", flagged" if kind.status == "graded with flags" else ""
    given = ", and ".join([_told(row.given, row.due), *filter(None, row.also.split("; "))])
    neighbours = ", ".join(_told(points, most) for points in (row.first, row.last))
    return f"| {kind.group}: {kind.name} | {due} | {given} | {neighbours} | {ours}{flagged} |"


def _told(points, due):
    """Write points; more than are due stand out."""
    told = "nothing" if points is None else f"{points:g}"
    return f"**{told}**" if _more(points, due) else told


def _more(points, due):
    """Say whether points are more than are due; where no score is due, any score is."""
    return points is not None and (due is None or points > due)


def most(rows: Mapping[str, Row]) -> float:
    """Return what an honest submission earns."""
    return max(row.due for row in rows.values() if row.due is not None)


def table(rows: Mapping[str, Row], names: Iterable[str]) -> str:
    """Return the table of some kinds."""
    found = {kind.name: kind for kind in kinds()}
    full = most(rows)
    return "\n".join([HEAD, *(line(rows[name], found[name], full) for name in names)])


def summary(rows: Mapping[str, Row]) -> str:
    """Return a table with a line for each family, and one for all."""
    groups, full = list(dict.fromkeys(row.group for row in rows.values())), most(rows)
    lines = [f"| family | {' | '.join(SUMMARY)} |", "|---" + "|--:" * len(SUMMARY) + "|"]
    for group in (*groups, "all"):
        some = [row for row in rows.values() if group in (row.group, "all")]
        counts = (sum(holds(row, full) for row in some) for holds in SUMMARY.values())
        lines.append(f"| {group} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> None:
    """Run kinds, record them, and print their rows; or print what is recorded, by family."""
    rows = recorded() if FILE.exists() and FILE.read_text().startswith(stamp()) else {}
    if [*words] == ["--summary"]:
        print(summary(rows))
        return
    if not bubblewrap.find().cgroup:
        sys.exit("kinds that take all memory need control groups, and these cannot be written here")
    wanted = [kind for kind in kinds() if kind.name in words or not (words or kind.name in rows)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        released = course(Path(folder))
        onward = stage.of(released).onward
        wanted = [kind for kind in wanted if onward or not kind.onward]
        for row in pool.map(lambda kind: run(kind, released), wanted):
            rows[row.kind] = row
            record(rows)
    print(table(rows, words or rows))


if __name__ == "__main__":
    main(sys.argv[1:])
