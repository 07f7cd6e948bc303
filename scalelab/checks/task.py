"""One graded task: independent sub-checks on a student's answers, then a report and a score.

`answers` maps names to objects. A check only looks a name up there, reads it as plain data, or
calls it with plain data; so the mapping may as well hold stand-ins for objects that live in
another process. Standard library only, plus this package.

What every sub-check of a value understands besides its own arguments:
`expect`   the value; or a function of earlier answers, see the next two; None for its kind only:
           such a number, word or list is merely readable until a hidden sub-check judges it.
`follows`  {earlier answer: its right value}: where that one is wrong and this one follows from
           it, this one is right.
`own`      (earlier answer, ...): there is no right value but what the student's own data give.
`known`    pairs (wrong value or function of the same arguments, what to say).
`part`     the key or the position of the part of the answer to judge.
`what`     the aspect: a hidden sub-check of the same name and aspect replaces the visible one.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from scalelab.checks import standing
from scalelab.checks.faults import (
    choice_fault,
    figure_fault,
    list_fault,
    number_fault,
    text_fault,
)
from scalelab.checks.judge import Cases, Expected, judge_function
from scalelab.checks.measured import record_fault
from scalelab.checks.report import (
    Earned,
    Incomplete,
    Verdict,
    about,
    open_points,
    points,
    report,
    show,
    sum_of,
    to_come,
    worth_telling,
)
from scalelab.checks.value import judge_value
from scalelab.checks.words import Known
from scalelab.refusal import Refusal


class How(TypedDict, total=False):
    """What every sub-check of a value understands, see above."""

    follows: Mapping[str, object]
    own: Sequence[str]
    known: Known
    part: str | int
    what: str
    weight: float
    hidden: bool


class Task:
    """The sub-checks of one task, in the order they are called; `score()` ends it.

    A visible sub-check is practice: once a hidden one repeats the same aspect on fresh inputs,
    only that one counts, so that an answer made of the visible values earns nothing.

    >>> task = Task("1.1", points=2, answers={"half": lambda x: x / 2})
    >>> task.function("half", cases=[(4,), (9,)], expect=[2.0, 4.5])
    >>> task.score()
    Task 1.1: 2 of 2 points
      right          half
    When this is graded, the same is asked again on fresh inputs.
    2.0
    """

    def __init__(self, name: str, *, points: float, answers: Mapping[str, object]) -> None:
        if isinstance(points, bool) or not isinstance(points, (int, float)) or not points > 0:
            raise Refusal(
                f"points must be a number above 0, got {points!r}: it is what task {name} is worth"
            )
        self.name, self.points, self.answers = name, points, answers
        self.verdicts: list[Verdict] = []

    def number(
        self,
        name: str,
        *,
        expect: object = None,
        between: Sequence[float] | None = None,
        within: float | None = None,
        unit: str = "",
        **how: Unpack[How],
    ) -> None:
        """Check a number, within 0.1% or `within`; texts with a unit are read where it has one.

        >>> task = Task("1.2", points=1, answers={"share": 96.4, "wait": "35 ms"})
        >>> slips = [(96.4, "that is a percentage; hand in the fraction")]
        >>> task.number("share", between=(0, 1), known=slips)
        >>> task.verdicts[0].text
        'it is 96.4; that is a percentage; hand in the fraction'
        >>> task.number("wait", expect=0.035, unit="s")
        >>> task.verdicts[1].state
        'right'
        """
        self._value(name, number_fault(between, within), expect, unit=unit, final=False, **how)

    def choice(
        self,
        name: str,
        *,
        options: Sequence[str],
        expect: object = None,
        reasons: Sequence[str] | None = None,
        **how: Unpack[How],
    ) -> None:
        """Check a word from a list; with `reasons`, a pair of a word and the reason for it.

        >>> task = Task("1.3", points=1, answers={"verdict": "Maybe", "buy": ("no", "dear")})
        >>> task.choice("verdict", options=["yes", "no"], expect="no")
        >>> task.verdicts[0].text
        "it is 'Maybe'; expected one of 'yes', 'no'"
        >>> task.choice("buy", options=["yes", "no"], reasons=["late", "dear"], expect=("no", "late"))
        >>> task.verdicts[1].text
        "it is ['no', 'dear']; the choice is right, and another reason supports it"
        """
        self._value(name, choice_fault(options, reasons), expect, final=False, **how)

    def text(self, name: str, *, expect: object = None, **how: Unpack[How]) -> None:
        """Check a short text; upper and lower case, and the width of spaces, do not matter.

        >>> task = Task("1.4", points=1, answers={"cause": " Memory  hierarchy"})
        >>> task.text("cause", expect="memory hierarchy")
        >>> task.verdicts[0].state
        'right'
        """
        self._value(name, text_fault, expect, final=False, **how)

    def sequence(
        self,
        name: str,
        *,
        expect: object = None,
        length: int | None = None,
        unit: str = "",
        **how: Unpack[How],
    ) -> None:
        """Check a list, tuple, array or column, item by item; without `expect` only its length.

        >>> task = Task("1.5", points=1, answers={"pair": (32, 16)})
        >>> task.sequence("pair", expect=[16, 32], known=[([32, 16], "the smaller comes first")])
        >>> task.verdicts[0].text
        'it is [32, 16]; the smaller comes first'
        """
        self._value(name, list_fault(length), expect, unit=unit, final=False, **how)

    def measured(
        self,
        name: str,
        *,
        least: int = 10,
        between: Sequence[float] = (1e-9, 3600.0),
        states: Mapping[str, Callable[[list[float]], float]] | None = None,
        **how: Unpack[How],
    ) -> None:
        """Check a record of times by its own data: a Sample, or a dictionary with `seconds`.

        At least so many times, each plausible (`between`, in seconds); `states` maps a statistic
        that the record states to the function of the times that gives it again.

        >>> task = Task("1.6", points=1, answers={"run": {"seconds": [0.2, 0.1, 0.3]}})
        >>> task.measured("run", least=3)
        >>> task.number("run", part="median", own=("run",), expect=lambda run: 0.2)
        >>> [v.state for v in task.verdicts]
        ['right', 'wrong']
        """
        self._value(name, record_fault(least, between, states), None, **how)

    def figure(
        self,
        name: str,
        *,
        expect: object = None,
        line: int | str = 0,
        panel: int = 0,
        lines: int = 1,
        scales: Sequence[str] | None = None,
        labelled: bool = True,
        **how: Unpack[How],
    ) -> None:
        """Check what a figure of matplotlib shows, in one of its panels.

        At least so many lines or clouds of points, both axes labelled, the `scales` of x and y,
        such as ("log", "linear"). `expect` is the x and the y of one line, by position or label.

        >>> task = Task("1.7", points=1, answers={"chart": {"figure": [{"lines": [], "points": []}]}})
        >>> task.figure("chart")
        >>> task.verdicts[0].text
        'it is a figure of 1 panel; 0 lines are drawn, where 1 were expected'
        """
        fault = figure_fault(panel, line, lines, scales, labelled)
        self._value(name, fault, expect, **how)

    def function(
        self,
        name: str,
        *,
        cases: Cases,
        expect: Expected,
        what: str = "",
        read: Callable[[Any], object] | None = None,
        known: Known = (),
        weight: float = 1,
        hidden: bool = False,
    ) -> None:
        """Check a function on every case, each a tuple of plain arguments.

        `expect`, and the first half of each pair in `known`, is a function of the same arguments
        or a list with one value per case (`...` in `known` stands for any value). `read` takes
        from each result the part to judge, and `what` names it.

        >>> task = Task("2.1", points=1, answers={"efficiency": lambda s, k: s})
        >>> slips = [(lambda s, k: s, "that is the speedup; efficiency divides it by K")]
        >>> task.function("efficiency", cases=[(10, 8)], expect=[1.25], known=slips)
        >>> task.verdicts[0].text
        'efficiency(10, 8) returned 10; that is the speedup; efficiency divides it by K'
        """
        answer = self.answers.get(name)
        judged = judge_function(name, answer, cases, expect, read, what, known, hidden)
        self.verdicts.append(Verdict(name, what, weight, hidden, *judged))

    def score(self) -> float:
        """Print the report and return the points earned; under `nbgrader validate`, insist on all.

        >>> Task("3.1", points=3, answers={}).score()
        Traceback (most recent call last):
        ...
        scalelab.refusal.Refusal: task 3.1 must have a sub-check before its score, got none: call one first
        """
        if not self.verdicts:
            raise Refusal(
                f"task {self.name} must have a sub-check before its score, got none: call one first"
            )
        standing.note(self.name, self.points, self.verdicts)
        text = report(f"Task {self.name}", self.verdicts, self.points)
        earned = points(self.verdicts, self.points)
        if os.environ.get("NBGRADER_VALIDATING"):
            if earned + open_points(self.verdicts, self.points) < self.points - 0.01:
                raise Incomplete(text)
            earned = self.points  # nbgrader's validator calls partial credit a failure
        rows = [(v.state, about(v), v.text) for v in worth_telling(self.verdicts)]
        title = f"Task {self.name}: {sum_of(self.verdicts, self.points)}"
        show(text, title, rows, to_come(self.verdicts))
        return Earned(earned)

    def _value(self, name, fault, expect, *, what="", weight=1, hidden=False, **how):
        part = how.get("part")
        what = what or ("" if part is None else str(part))
        judged = judge_value(self.answers, name, fault, expect, hidden=hidden, **how)
        self.verdicts.append(Verdict(name, what, weight, hidden, *judged, called=False))
