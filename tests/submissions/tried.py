"""What was tried on real assignments, as the instructor's page tells it.

`python -m tests.submissions.tried` prints it.
recorded.json holds classes of troublesome submissions, honest.json honest classes under stock nbgrader
and under ours, kills.json runs that were killed again and again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.submissions import honest, recorded

KILLS = Path(__file__).with_name("kills.json")
COLUMNS = (
    *("assignment", "kinds", "as due", "honest points lost"),
    *("neighbours harmed", "class aborted", "unearned points"),
)


def kills() -> dict[str, Any]:
    """Return what is recorded of killed runs, by what was killed."""
    return json.loads(KILLS.read_text()) if KILLS.exists() else {}


def keep_kills(victim: str, times: int, slug: str, results: int) -> None:
    """Record that a class was whole and the same to the byte after so many kills."""
    found = {
        "date": time.strftime("%Y-%m-%d"),
        "kills": times,
        "assignment": slug,
        "results": results,
    }
    KILLS.write_text(json.dumps({**kills(), victim: found}, indent=1, sort_keys=True) + "\n")


def table() -> str:
    """Return what became of the troublesome classes; a class is aborted where somebody has no state."""
    rows = [
        f"| `{slug}` | {run['kinds']} | {run['as due']} | {run['honest points lost']:g} | "
        f"{run['neighbours harmed']} | {run['without a state']} | {run['points unearned']:g} |"
        for slug, run in sorted(recorded.read().items())
    ]
    head = [f"| {' | '.join(COLUMNS)} |", "|---" + "|--:" * (len(COLUMNS) - 1) + "|"]
    return "\n".join([*head, *rows])


def honest_classes() -> str:
    """Return what became of the honest classes."""
    runs = honest.read().values()
    checks, students = (sum(run[what] for run in runs) for what in ("checks", "submissions"))
    differ = sum(len(run["differ"]) for run in runs)
    (stock,) = {run["nbgrader"] for run in runs}
    return (
        f"{students} honest submissions, thirty for each assignment, were graded by nbgrader {stock} and by "
        f"`scalelab grade`: of {checks:,} checks {differ or 'none'} got other points."
    )


def killed_runs() -> str:
    """Return what became of the runs that were killed."""
    killed = kills()
    (slug,) = {one["assignment"] for one in killed.values()}
    times = {victim: one["kills"] for victim, one in killed.items()}
    return (
        f"A class of `{slug}` was killed {sum(times.values())} times at random moments "
        f"({times['the run itself']} times the run, "
        f"{times['something below it']} times a process of its own) "
        "and taken up again: all results were the same to the byte as those of a run that nobody disturbed."
    )


if __name__ == "__main__":
    print(f"{table()}\n\n{honest_classes() if honest.read() else ''}\n{killed_runs()}")
