"""Who wrote the same: pairs of students whose answers share runs of tokens that few others have.

Answers become tokens without layout, comments and names, and these the set of all runs of RUN of them.
Two answers are as like as their sets: the Jaccard index, shared over all that either has. What the
release or the solution has is left out, and what more than a third of the class shares. Runs (k-grams)
as in Schleimer, Wilkerson and Aiken, Winnowing, SIGMOD 2003; answers are short, so all of them are kept.
Standard library only.
"""

import builtins
import collections
import functools
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from scalelab.grading.inputs.source import Cell, Source, task_of
from scalelab.grading.judging.result import Result

RUN = 5  # tokens
LEAST = 8  # runs that two must share in an answer: below, it is chance
LIKE = 0.3  # a copy whose names and order were changed still has this
SHARE, FEW = 1 / 3, 5  # of the class, and at least so many, may have a run that is not common
MET = 20  # students of one run who are all compared with each other
_FIXED = {*keyword.kwlist, *vars(builtins)}  # names that a student cannot choose
# No possessive group here fails once it has begun: Python before 3.11.5 would go on at the wrong place.
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*+)
    | (?P<s>[a-zA-Z]{0,2}(?:'''(?:[^\\]|\\.?)*?(?:'''|\Z)|\"""(?:[^\\]|\\.?)*?(?:\"""|\Z)
        |'[^'\\\n]*+(?:\\.?+[^'\\\n]*+)*+'?+|"[^"\\\n]*+(?:\\.?+[^"\\\n]*+)*+"?+))
    | (?P<n>\d[\w.]*+|\.\d[\w.]*+)
    | (?P<attribute>\.\s*+[^\W\d]\w*+)
    | (?P<name>[^\W\d]\w*+)
    | (?P<layout>[\s(),;]++)
    | (?P<sign>\*\*|//|[-+*/%<>=!:@&|^]=|->|<<|>>|.)""",
    re.VERBOSE | re.DOTALL,
)

Run = tuple[str, ...]


class Token(NamedTuple):
    """A token as it is compared, and the line on which it begins."""

    text: str
    line: int


class Shared(NamedTuple):
    """What two students' answers to one task have in common; `likeness` is from 0 to 1."""

    answer: str
    task: str
    runs: int
    likeness: float


@dataclass(frozen=True)
class Pair:
    """Two students, and the answers in which they are alike, the one with most in common first."""

    students: tuple[str, str]
    shared: tuple[Shared, ...]

    @property
    def rank(self) -> float:
        """How much there is to look at: the shared runs, each for what the answers' likeness is."""
        return round(sum(one.runs * one.likeness for one in self.shared), 6)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        shared = [one._asdict() for one in self.shared]
        return {"students": [*self.students], "rank": self.rank, "shared": shared}


def tokens(text: str, kind: str = "code") -> list[Token]:
    r"""Return the tokens of an answer, with names of one's own, texts and numbers each of one kind.

    >>> [token.text for token in tokens("total = sum(x[0:3])  # all\nrows.append('a')")]
    ['n', '=', 'sum', 'n', '[', '0', ':', '0', ']', 'n', '.append', "''"]
    >>> [token.text for token in tokens("It falls. *Always*", "markdown")]
    ['it', 'falls', 'always']
    """
    in_order, line, at = [], 1, 0
    for match in _TOKEN.finditer(text) if kind == "code" else re.finditer(r"\w+", text.lower()):
        line, at = line + text.count("\n", at, match.start()), match.start()
        token = _compared(match) if kind == "code" else match[0]
        if token:
            in_order.append(Token(token, line))
    return in_order


def _compared(match):
    kind, text = match.lastgroup, match[0]
    if kind in ("comment", "layout"):
        return ""
    if kind == "name":
        return text if text in _FIXED else "n"
    if kind == "attribute":
        return "." + text[1:].strip()
    return {"s": "''", "n": "0"}.get(kind, text)


def runs(found: Sequence[Token]) -> Iterator[Run]:
    """Yield all runs of some tokens, the one that begins with the first of them first."""
    words = [token.text for token in found]
    return zip(*(words[n:] for n in range(RUN)), strict=False)


def pairs(source: Source, results: Iterable[Result]) -> list[Pair]:
    """Return the pairs of students who wrote much the same in an answer, those with most of it first."""
    alike: dict[tuple[str, str], list[Shared]] = {}
    handed = [*results]
    for cell in source.cells:
        if cell.answer:
            rare = rare_runs(source, cell, answers(handed, cell.id))
            for students, shared in _alike(source, cell, rare):
                alike.setdefault(students, []).append(shared)
    made = [Pair(students, tuple(sorted(some, key=_least))) for students, some in alike.items()]
    return sorted(made, key=lambda pair: (-pair.rank, pair.students))


def _least(shared):
    return -shared.runs * shared.likeness, shared.answer


def answers(results: Iterable[Result], name: str) -> dict[str, str]:
    """Return the texts of one answer by student; of a group only its hand-in, which is all of theirs."""
    return {
        result["student"]: answer["text"]
        for result in results
        for answer in result["answers"]
        if answer["id"] == name and not result.get("by")
    }


def rare_runs(source: Source, cell: Cell, texts: dict[str, str]) -> dict[str, set[Run]]:
    """Return, by student, the runs of an answer that are neither given nor common in the class."""
    given = _given(source, cell.kind)
    own_runs = {
        student: {*runs(tokens(text, cell.kind))} - given for student, text in texts.items()
    }
    count = collections.Counter(run for mine in own_runs.values() for run in mine)
    most = max(sum(map(bool, own_runs.values())) * SHARE, FEW)
    return {s: {run for run in mine if count[run] <= most} for s, mine in own_runs.items()}


@functools.cache
def _given(source, kind):
    """Return the runs of all that students were given, and of the author's answers."""
    texts = (text for cell in source.cells for text in (cell.stub, cell.text))
    return frozenset(run for text in texts for run in runs(tokens(text, kind)))


def _alike(source, cell, runs_of):
    """Yield (two students, what their answers to one task share)."""
    title = source.titles.get(task_of(source).get(cell.id, ""), cell.id)
    for first, second in _candidates(runs_of):
        both = len(runs_of[first] & runs_of[second])
        likeness = both / len(runs_of[first] | runs_of[second])
        if both >= LEAST and likeness >= LIKE:
            yield (first, second), Shared(cell.id, title, both, round(likeness, 6))


def _candidates(runs_of):
    """Return the pairs of students who meet in enough runs; their number grows as the class does.

    In a run of many, each meets the next only, and who copied meets the same next one in every run.
    """
    having = collections.defaultdict(list)
    for student in sorted(runs_of):
        for run in runs_of[student]:
            having[run].append(student)
    met: collections.Counter[tuple[str, str]] = collections.Counter()
    for students in having.values():
        met.update(combinations(students, 2) if len(students) <= MET else pairwise(students))
    return sorted(pair for pair, count in met.items() if count >= LEAST)
