"""From the verdicts on one task to its points, and to the text or the block that a student reads.

Standard library only, but for what a notebook shows: IPython is there then, and MarkupSafe escapes.
"""

import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

RIGHT, WRONG, MISSING = "right", "wrong", "not attempted"
READABLE = "readable"  # looked over; only a hidden sub-check knows whether it is right
READ = "for a person"  # nobody has looked, not even whether anything stands there
WIDTH = 80  # nbgrader's validator cuts longer lines


_LATER = {  # by whether functions are asked for
    True: "When this is graded, the same is asked again on fresh inputs.",
    False: "When this is graded, more is asked of it than here.",
}
# Marks that read without colour; colours that read on light and dark.
_MARKS = {
    RIGHT: ("✓", "#1e8f5e"),
    WRONG: ("✗", "#d1522b"),
    READABLE: ("◔", "#8a7a1f"),
    READ: ("✎", "#7d8590"),
    MISSING: ("○", "#7d8590"),
}


class Incomplete(AssertionError):
    """Raised under `nbgrader validate` only, so that the validator shows the report."""

    def _render_traceback_(self):
        """Tell IPython to print the report alone, without the stack that led to it."""
        return str(self).splitlines()


class Judged(NamedTuple):
    """What judging one aspect of an answer gave: the state, and what a student reads of it."""

    state: str
    text: str = ""
    # What went wrong, in the words of the course alone: no value, name or text that a student
    # chose, so that it may be counted and shown to a class. "" where nothing is told of it.
    slip: str = ""

    @classmethod
    def saying(cls, state: str, text: str) -> Self:
        """Return one whose text is all about what went wrong, and nobody's but ours."""
        return cls(state, text, text)


@dataclass(frozen=True)
class Verdict:
    """What one sub-check found about one aspect of one answer, and what it weighs."""

    name: str
    what: str
    weight: float
    hidden: bool
    state: str
    text: str
    slip: str = ""  # as in Judged
    called: bool = True  # a function, which hidden sub-checks call on fresh inputs; else a value


def counting(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts that earn points: the hidden ones, and what no hidden one repeats.

    Otherwise an answer that only repeats the visible values would be paid for.

    >>> shown = Verdict("half", "", 1, False, RIGHT, "")
    >>> fresh = Verdict("half", "", 2, True, WRONG, "")
    >>> counting([shown]) == [shown], counting([shown, fresh]) == [fresh]
    (True, True)
    """
    repeated = {(v.name, v.what) for v in verdicts if v.hidden}
    return [v for v in verdicts if v.hidden or (v.name, v.what) not in repeated]


def points(verdicts: Sequence[Verdict], worth: float) -> float:
    """Return the points earned as a plain float, which stock nbgrader reads as partial credit.

    >>> points([Verdict("half", "", 1, False, RIGHT, ""), Verdict("third", "", 2, False, WRONG, "")], 4)
    1.33
    """
    counted = counting(verdicts)
    # What nothing hidden looks at again is as good as right: there is no more to know of it.
    graded = any(v.hidden for v in verdicts)
    paid = (RIGHT, READABLE) if graded else (RIGHT,)
    return _share(counted, [v for v in counted if v.state in paid], worth)


def open_points(verdicts: Sequence[Verdict], worth: float) -> float:
    """Return the points that only grading decides: of values that are merely looked over here.

    >>> open_points([Verdict("a", "", 1, False, RIGHT, ""), Verdict("b", "", 1, False, READABLE, "")], 4)
    2.0
    """
    if any(v.hidden for v in verdicts):
        return 0.0
    return _share(verdicts, [v for v in verdicts if v.state == READABLE], worth)


def _share(verdicts, some, worth):
    part, total = sum(v.weight for v in some), sum(v.weight for v in verdicts)
    # Rounded, yet never past the maximum: nbgrader loses the whole submission over 4.0000001 of 4.
    return float(worth) if part == total else min(round(worth * part / total, 2), float(worth))


def report(title: str, verdicts: Sequence[Verdict], worth: float) -> str:
    """Write what was found, one sub-check per line, wrapped for every place that shows it.

    >>> print(report("Task 1", [Verdict("half", "", 1, True, WRONG, "a wrong value")], 2))
    Task 1: 0 of 2 points
      wrong          half, on fresh inputs: a wrong value
    """
    score = sum_of(verdicts, worth)
    if all(v.state == MISSING for v in verdicts):
        reasons = dict.fromkeys(_line(v) for v in verdicts if v.text)
        return "\n".join([f"{title}: not attempted, {score}", *reasons])
    lines = [f"{title}: {score}", *(_line(v) for v in worth_telling(verdicts)), to_come(verdicts)]
    return "\n".join(filter(None, lines))


def sum_of(verdicts: Sequence[Verdict], worth: float) -> str:
    """Say the points, and those that only grading decides.

    >>> sum_of([Verdict("a", "", 1, False, RIGHT, ""), Verdict("b", "", 1, False, READABLE, "")], 4)
    '2 of 4 points; 2 more are judged when it is graded'
    """
    later = open_points(verdicts, worth)
    more = f"; {later:g} more {'is' if later == 1 else 'are'} judged when it is graded" * bool(
        later
    )
    return f"{points(verdicts, worth):g} of {worth:g} points{more}"


def to_come(verdicts: Sequence[Verdict]) -> str:
    """Say what these verdicts do not tell yet, "" for nothing."""
    called = any(v.called for v in verdicts)
    if not any(v.hidden for v in verdicts):
        looked = any(v.state == READABLE for v in verdicts)
        return _LATER[called] if called or not looked else ""
    if called and len(counting(verdicts)) < len(verdicts):
        return "The examples are practice: the points come from the fresh inputs."
    return ""


def worth_telling(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts that say something: a look at a value does not, once it is judged."""
    judged = {(v.name, v.what) for v in verdicts if v.hidden}
    return [v for v in verdicts if v.state != READABLE or (v.name, v.what) not in judged]


def about(verdict: Verdict) -> str:
    """Return what a verdict is about.

    >>> about(Verdict("half", "of nine", 1, True, RIGHT, ""))
    'half, of nine, on fresh inputs'
    """
    graded = (", on fresh inputs" if verdict.called else ", as graded") if verdict.hidden else ""
    return f"{verdict.name}, {verdict.what}{graded}" if verdict.what else f"{verdict.name}{graded}"


def _line(verdict):
    subject = about(verdict)
    return textwrap.fill(
        f"{subject}: {verdict.text}" if verdict.text else subject,
        WIDTH,
        initial_indent=f"  {verdict.state:<13}  ",
        subsequent_indent=" " * 17,
    )


class Earned(float):
    """Points as stock nbgrader reads them, of which a notebook shows nothing: the verdict has said it."""

    def _ipython_display_(self) -> None:
        if "NBGRADER_EXECUTION" in os.environ:
            raise NotImplementedError  # then it is an output, like any float


def show(text: str, title: str, rows: list[tuple[str, str, str]], more: str = "") -> None:
    """Show a text: as a block of these rows where a notebook's own output takes one, else itself."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    # Where somebody reads along what is printed, as a grader does, it is printed.
    if shell is None or not type(sys.stdout).__module__.startswith("ipykernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": block(title, rows, more)}, raw=True)


def block(title: str, rows: list[tuple[str, str, str]], more: str = "") -> str:
    """Return rows of (state, what it is about, what is said) as HTML, under a title.

    >>> "<b>Task 1</b>" in block("Task 1", [(RIGHT, "half", "")])
    True
    """
    from markupsafe import Markup

    whole = Markup(
        '<div style="border-left:.3em solid {};padding:.2em .9em;line-height:1.5;max-width:48em">'
        "<div><b>{}</b></div>{}{}</div>"
    )
    row = Markup(
        '<div style="padding-left:1.6em;text-indent:-1.6em;margin:.15em 0">'
        '<span style="color:{colour};font-weight:700;display:inline-block;width:1.6em;text-indent:0" '
        'title="{state}">{mark}</span><b>{subject}</b> {state}{said}</div>'
    )
    items = []
    for state, subject, text in rows:
        mark, colour = _MARKS[state]
        said = f": {text}" if text else ""
        items.append(row.format(mark=mark, colour=colour, state=state, subject=subject, said=said))
    end = Markup('<div style="opacity:.75;margin-top:.3em">{}</div>').format(more) if more else ""
    edge = _MARKS[_worst(state for state, *_ in rows)][1]
    return whole.format(edge, title, Markup().join(items), end)


def _worst(states):
    order = (WRONG, MISSING, READABLE, READ, RIGHT)
    return min(states, key=order.index, default=RIGHT)
