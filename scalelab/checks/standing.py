"""Where a student stands: the points of all tasks of a notebook, in its last cell.

Every check that ran in this session has noted its task; the others are open.
Standard library only, plus this package.
"""

from collections.abc import Mapping, Sequence

from scalelab.checks.report import (
    MISSING,
    READ,
    READABLE,
    RIGHT,
    WRONG,
    Verdict,
    open_points,
    points,
    show,
)

_noted: dict[str, tuple[float, float, str]] = {}  # by task: points, points still open, state


def note(task: str, worth: float, verdicts: Sequence[Verdict]) -> None:
    """Remember what a check found, in place of what it found before."""
    earned, later = points(verdicts, worth), open_points(verdicts, worth)
    if all(verdict.state == MISSING for verdict in verdicts):
        state = MISSING
    elif earned + later < worth - 0.01:
        state = WRONG
    else:
        state = READABLE if later else RIGHT
    _noted[task] = earned, later, state


def where_you_stand(checked: Mapping[str, float], read: Mapping[str, float]) -> None:
    """Show the points so far, of tasks with a check and of those that a person reads.

    >>> where_you_stand({"9.1": 4, "9.2": 2}, read={"9.3": 3})
    Where you stand: 0 of 9 points
      not attempted  9.1: 4 points; its check has not been run here
      not attempted  9.2: 2 points; its check has not been run here
      for a person   9.3: up to 3 points, given when it is read
    """
    rows, certain, later = [], 0.0, 0.0
    for task, worth in checked.items():
        earned, undecided, state = _noted.get(task, (0.0, 0.0, ""))
        certain, later = certain + earned, later + undecided
        if state in ("", MISSING):
            unseen = "" if state else "; its check has not been run here"
            rows.append((MISSING, task, f"{worth:g} points{unseen}"))
        else:
            more = f"; {undecided:g} more judged when it is graded" if undecided else ""
            rows.append((state, task, f"{earned:g} of {worth:g} points{more}"))
    rows += [
        (READ, task, f"up to {worth:g} points, given when it is read")
        for task, worth in read.items()
    ]
    rows.sort(key=lambda row: [int(part) for part in row[1].split(".")])
    most = sum(checked.values()) + sum(read.values())
    more = f"; {later:g} more judged when it is graded" if later else ""
    title = f"Where you stand: {certain:g} of {most:g} points{more}"
    lines = [f"  {state:<13}  {task}: {said}" for state, task, said in rows]
    tasks = [(state, f"Task {task}:", said) for state, task, said in rows]
    show("\n".join([title, *lines]), title, tasks)
