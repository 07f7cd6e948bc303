"""What a submission is worth: what was judged, what a person gave, and what nobody has read yet.

Standard library only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from scalelab.grading.inputs.comments import Item
from scalelab.grading.inputs.regrades import Request
from scalelab.grading.judging.result import FAILED, MISSING, Result


@dataclass(frozen=True)
class Mark:
    """What a person gave one cell: a score in place of ours, points on top of it, a comment.

    The comment is as it was typed; `items` are those that its codes stand for, `unknown` its other codes.
    """

    score: float | None = None
    extra: float = 0.0
    comment: str = ""
    items: tuple[Item, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def points(self) -> bool:
        """Whether a person gave points by it."""
        given = [item.points for item in self.items if item.points is not None]
        return bool(self.score is not None or self.extra or given)


@dataclass(frozen=True)
class Known:
    """What the course knows of one student's work beside its result; `due` is an ISO time.

    `may_ask` says whether the course takes requests to grade again; `requests` are this student's.
    """

    marks: Mapping[str, Mark] = field(default_factory=dict)  # by cell
    penalty: float = 0.0
    name: str = ""
    due: str = ""
    may_ask: bool = False
    requests: tuple[Request, ...] = ()


NOTHING = Known()


@dataclass(frozen=True)
class Part:
    """The points of one task, None as long as a person has still to read it."""

    id: str
    name: str
    points: float | None
    most: float


@dataclass(frozen=True)
class Worth:
    """The points of one submission, task by task; `points` are those that are certain."""

    parts: tuple[Part, ...]
    penalty: float = 0.0

    @property
    def points(self) -> float:
        """What is certain, less the penalty."""
        return round(max(sum(part.points or 0.0 for part in self.parts) - self.penalty, 0.0), 2)

    @property
    def most(self) -> float:
        """What all tasks are worth."""
        return round(sum(part.most for part in self.parts), 2)

    @property
    def waiting(self) -> tuple[Part, ...]:
        """The tasks that a person has still to read."""
        return tuple(part for part in self.parts if part.points is None)

    @property
    def unread(self) -> float:
        """What the tasks are worth that a person has still to read."""
        return round(sum(part.most for part in self.waiting), 2)

    def told(self) -> str:
        """Say the points; as long as somebody has to read, that more may come.

        >>> Worth((Part("c", "1.1", 3.0, 4.0),)).told()
        '3 of 4 points'
        >>> Worth((Part("c", "1.1", 3.0, 4.0), Part("a", "1.2", None, 2.0))).told()
        '3 of 6 points; 2 more are still to be read'
        """
        more = f"; {self.unread:g} more are still to be read" if self.waiting else ""
        return f"{self.points:g} of {self.most:g} points{more}"


def worth(result: Result, known: Known = NOTHING) -> Worth | None:
    """Return what a result is worth with what a person gave; None where it has no score.

    >>> worth({"status": "failed"}) is None
    True
    """
    if result["status"] in (FAILED, MISSING):
        return None
    parts = []
    for cell in (*result["tests"], *result["manual"]):
        mark = known.marks.get(cell["id"], Mark())
        score = first(mark.score, cell["score"], by_items(mark.items, cell["max_score"]))
        points = None if score is None else score + mark.extra
        parts.append(Part(cell["id"], cell["name"], points, cell["max_score"]))
    return Worth(tuple(parts), known.penalty)


def joint(own: Mapping[str, Mark], theirs: Mapping[str, Mark]) -> dict[str, Mark]:
    """Return the marks of who stands beside another in a group: `theirs`, and one's own points first.

    >>> joint({"a": Mark(2.0), "b": Mark(comment="Ada!")}, {"a": Mark(1.0), "b": Mark(3.0)})["b"].score
    3.0
    """
    marks = {**theirs, **own}
    for cell in own.keys() & theirs.keys():
        if not own[cell].points:
            marks[cell] = theirs[cell]
            if own[cell].comment:  # its own words, with the points of theirs
                items = (*own[cell].items, *theirs[cell].items)
                marks[cell] = replace(
                    own[cell], score=theirs[cell].score, extra=theirs[cell].extra, items=items
                )
    return marks


def by_items(items: Iterable[Item], most: float) -> float | None:
    """Return the score that the items of a comment give: the maximum and their points, if they have any.

    >>> by_items([Item("a", "units", "No unit", -1.0), Item("a", "neat", "Neat")], 4.0)
    3.0
    >>> by_items([Item("a", "neat", "Neat")], 4.0) is None
    True
    """
    points = [item.points for item in items if item.points is not None]
    return round(min(max(most + sum(points), 0.0), most), 2) if points else None


def first(*scores: float | None) -> float | None:
    """Return the first score that there is.

    >>> first(None, 0.0, 3.0)
    0.0
    """
    return next((score for score in scores if score is not None), None)


def late(result: Result, due: str) -> str:
    """Say how late a submission came, "" where it did not or where nobody knows.

    A time without a zone is UTC, as everywhere in nbgrader.

    >>> late({"handed_in": "2027-03-03T21:30:00+00:00"}, "2027-03-01T18:00:00")
    '2 d 3 h late'
    >>> late({"handed_in": "2027-03-01T18:20:00"}, "2027-03-01T18:00:00+00:00")
    '20 min late'
    """
    if not (due and result["handed_in"]):
        return ""
    after = _moment(result["handed_in"]) - _moment(due)
    if after <= timedelta():
        return ""
    days, hours = after.days, after.seconds // 3600
    if not days and not hours:
        return f"{after.seconds // 60} min late"
    return " ".join([*([f"{days} d"] if days else []), f"{hours} h late"])


def readable_time(iso: str) -> str:
    """Return a time as people read it.

    >>> readable_time("2027-03-01T18:00:00+00:00"), readable_time("")
    ('2027-03-01 18:00 UTC', '')
    """
    return f"{_moment(iso):%Y-%m-%d %H:%M} UTC" if iso else ""


def _moment(iso: str) -> datetime:
    found = datetime.fromisoformat(iso)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
