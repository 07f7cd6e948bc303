"""Where a student stands: the points of all tasks of a notebook, in its last cell.

Every check that was run in this session has noted its task; tasks that nobody ran are open.
Standard library only, plus this package.
"""

from collections.abc import Mapping, Sequence

from scalelab.checks.report import MISSING, READABLE, RIGHT, WRONG, Verdict, open_points
from scalelab.checks.shown import block, show

_noted: dict[str, tuple[float, float, str]] = {}  # by task: points, points still open, state


def note(task: str, earned: float, worth: float, verdicts: Sequence[Verdict]) -> None:
    """Remember what a check found, in place of what it found before."""
    later = open_points(verdicts, worth)
    if all(v.state == MISSING for v in verdicts):
        state = MISSING
    elif earned + later < worth - 0.01:
        state = WRONG
    else:
        state = READABLE if later else RIGHT
    _noted[task] = earned, later, state


def where_you_stand(tasks: Mapping[str, float], read: Mapping[str, float] = {}) -> None:
    """Show the points so far: `tasks` are those with a check, `read` those that a person reads.

    >>> where_you_stand({"9.1": 4, "9.2": 2}, {"9.3": 3})
    Where you stand: 0 of 9 points, 3 for a person to read
      open           9.1: its check was not run, 4 points
      open           9.2: its check was not run, 2 points
    """
    rows, certain, later = [], 0.0, 0.0
    for task, worth in tasks.items():
        earned, open_, state = _noted.get(task, (0.0, 0.0, ""))
        certain, later = certain + earned, later + open_
        if not state:
            rows.append((MISSING, task, f"its check was not run, {worth:g} points"))
        elif state != RIGHT:
            more = f", {open_:g} judged when it is graded" if open_ else ""
            rows.append((state, task, f"{earned:g} of {worth:g} points{more}"))
    most = sum(tasks.values()) + sum(read.values())
    parts = [f"{certain:g} of {most:g} points"]
    parts += [f"{later:g} judged when it is graded"] if later else []
    parts += [f"{sum(read.values()):g} for a person to read"] if read else []
    title = f"Where you stand: {', '.join(parts)}"
    words = {MISSING: "open", WRONG: "short", READABLE: "readable"}
    lines = [f"  {words[state]:<13}  {task}: {said}" for state, task, said in rows]
    show("\n".join([title, *lines]), block(title, rows))
