"""What came of whole classes; `python -m tests.submissions --record SLUG ...` writes it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalelab.grading.box.sandbox import MODULES
from scalelab.grading.inputs.flag import Flag
from scalelab.grading.inputs.source import VERSION
from scalelab.grading.judging.result import Result
from tests.submissions import classes, stage
from tests.submissions.kinds import GRADED, Kind, kinds
from tests.submissions.stage import USERS, Stage

FILE = Path(__file__).with_suffix(".json")
NEVER = ("neighbours harmed", "without a state", "points unearned")
FIELDS = (
    "date",
    "grader",
    "kinds",
    "as due",
    "not as due",
    "neighbours",
    *NEVER,
    "honest points lost",
)


def fault(kind: Kind, stage: Stage, found: Result) -> str:
    """Say how a result is not what is due, or "" where it is."""
    said = "; ".join([*(str(Flag.of(flag)) for flag in found["flags"]), found["reason"]])
    if not _in_bounds(found["score"], kind.least(stage), kind.due(stage)):
        lost = [t["number"] for t in found["tests"] if t["score"] < t["max_score"]]
        return f"{kind.due(stage)} due, got {found['score']} (short in {lost}; {said})"
    # Another exercise that builds on what is lost may stop, and be flagged.
    carried = kind.lost and stage.due((*kind.lost, USERS)) < stage.due(kind.lost)
    either = kind.status is None or (carried and kind.status == GRADED)
    if not either and found["status"] != kind.status:
        return f"{kind.status} due, got {found['status']} ({said})"
    return "" if kind.remark(stage) in said else f"{kind.remark(stage)!r} is not said, but {said!r}"


def _in_bounds(score, least, most):
    return score is most is None if None in (score, most) else least <= score <= most


def figures(stage: Stage, enrolled: Mapping[str, Kind], found: Mapping[str, Result]) -> Any:
    """Return the figures of one class."""
    without = enrolled.keys() - found.keys()
    enrolled = {student: kind for student, kind in enrolled.items() if student in found}
    faults = {k.name: fault(k, stage, found[s]) for s, k in enrolled.items()}
    honest = {k.name for k in enrolled.values() if k.group == "neighbours"}
    others = [(k, found[s]["score"] or 0.0) for s, k in enrolled.items() if k.name not in honest]
    more = sum(max(score - (kind.due(stage) or 0.0), 0.0) for kind, score in others)
    less = sum(stage.most - score for kind, score in others if kind.honest)
    wrong = sorted(name for name, said in faults.items() if said and name not in honest)
    tried = len(enrolled) - len(honest)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "grader": VERSION,
        "kinds": tried,
        "as due": tried - len(wrong),
        "not as due": wrong,
        "neighbours": len(honest),
        "neighbours harmed": sum(bool(faults[name]) for name in honest),
        "without a state": len(without),
        "points unearned": round(more, 2),
        "honest points lost": round(less, 2),
    }


def read() -> dict[str, Any]:
    """Return what is recorded, by assignment."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def record(slug: str) -> dict[str, str]:
    """Grade the class of all kinds on an assignment, keep its figures; return {kind: what is not as due}."""
    with tempfile.TemporaryDirectory() as folder:
        root = stage.course(Path(folder), slug)
        enrolled = classes.enrol(root, kinds(), spread=classes.neighbours())
        found = classes.grade(root, modules=MODULES)
        here = stage.of(root)
        made = read() | {slug: figures(here, enrolled, found)}
    FILE.write_text(json.dumps(dict(sorted(made.items())), indent=1) + "\n")
    faults = {kind.name: fault(kind, here, found[s]) for s, kind in enrolled.items()}
    return {name: said for name, said in faults.items() if said}
