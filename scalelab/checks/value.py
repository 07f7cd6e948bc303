"""Judge one value, or one part of it: against a number, an earlier answer, or its own data.

Follow-through: where only an earlier answer was wrong, what follows from it counts as right.
Standard library only, plus this package.
"""

from collections.abc import Mapping, Sequence

from scalelab.checks.plain import Unreadable, plain
from scalelab.checks.quantity import number_in, quantity, unit_slip
from scalelab.checks.report import MISSING, READABLE, RIGHT, WRONG, Judged
from scalelab.checks.words import Difference, Fault, Known, difference, show

GRADED = {  # all that a hidden sub-check tells of a wrong answer
    "type": "is another kind of value than was asked for",
    "shape": "has another number of values than was asked for",
    "finite": "is not a finite number",
    "value": "is not the right answer",
}


def judge_value(
    answers: Mapping[str, object],
    name: str,
    fault: Fault,
    expect: object,
    *,
    part: str | int | None = None,
    unit: str = "",
    follows: Mapping[str, object] | None = None,
    own: Sequence[str] = (),
    known: Known = (),
    hidden: bool = False,
    final: bool = True,
) -> Judged:
    """Judge a value; `fault` maps it, as plain data, and what was expected to a Difference.

    Where its kind is all that is looked at, it is right if that is `final`, else merely readable.

    >>> judge_value({"k": 16}, "k", difference, 32, known=[(16, "that is K before")]).text
    'it is 16; that is K before'
    >>> judge_value({"a": 3, "b": 6}, "b", difference, lambda a: 2 * a, follows={"a": 4}).text
    'follows from your own `a`, which is not right itself'
    """
    # All names are looked up first, whatever they hold: a grader plans by what is looked up.
    value = _part(plain(answers.get(name)), part)
    others = [plain(answers.get(other)) for other in own or follows or ()]
    if value is None or value is ...:
        return Judged(MISSING)
    value = quantity(value, unit) if unit else value
    if isinstance(value, Difference):
        return Judged(WRONG, value.text, value.slip)
    if own and any(item is None or item is ... for item in others):
        return Judged.saying(MISSING, f"it is judged by {_listed(own)}: answer that first")
    right = others if own else list((follows or {}).values())
    try:
        want = expect(*right) if callable(expect) else expect
        if own and not all(map(_solid, (want, *others))):
            raise ValueError
        wrong = fault(value, want)
    except Exception:
        if not own:
            raise
        return Judged.saying(WRONG, f"{_listed(own)} cannot be read, and this is judged by it")
    slip = "" if want is not None and not wrong else _slip(value, known, right)
    if not wrong and not slip:
        if want is None and not (final or hidden or own):
            return Judged(READABLE, "judged when it is graded")
        return Judged(RIGHT)
    if wrong and follows and _follows(value, fault, expect, others, right):
        return Judged(RIGHT, f"follows from your own {_listed(follows)}, which is not right itself")
    if wrong and not slip:
        if isinstance(value, (int, float)) and wrong.stage == "value":
            slip = unit_slip(value, want, unit)
        if hidden and not slip:
            return Judged(WRONG, GRADED[wrong.stage])
        reason, slip = slip or wrong.text, slip or wrong.slip
    else:
        reason = slip
    return Judged(WRONG, reason if hidden else f"it is {show(value)}; {reason}", slip)


def _part(value, part):
    """Return the part of an answer that is asked for: a key of a dictionary, or a position."""
    if part is None or value is None or value is ...:
        return value
    if isinstance(value, dict) and isinstance(part, int) and part not in value:
        value = [*value.values()]  # parts by name, asked for in order
    try:
        return value[part]
    except (LookupError, TypeError):
        return Difference.of("shape", f"{{}} without a part {part!r}", value)


def _follows(value, fault, expect, given, right):
    """Say whether a value is what follows from the student's own earlier answers."""
    theirs = [
        number_in(got) if number_in(r) is not None else got
        for got, r in zip(given, right, strict=True)
    ]
    try:
        for got, want in zip(theirs, right, strict=True):
            # Zero or a negative time would make all that follows trivial.
            if not _solid(got) or (number_in(want) and not got * want > 0):
                return False
        wanted = expect(*theirs)
        return theirs != right and wanted is not None and not fault(value, wanted)
    except Exception:  # from what was answered nothing follows
        return False


def _solid(value):
    """Say whether a value is there in all its parts: what a student left open fits anything."""
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(parts, (list, tuple)) or parts is not value:
        return all(part is None or _solid(part) for part in parts)
    return not (value is None or value is ... or isinstance(value, (Unreadable, Difference)))


def _slip(value, known, right):
    for wrong, message in known:
        try:
            expected = wrong(*right) if callable(wrong) else wrong
        except (ArithmeticError, ValueError, TypeError, LookupError):
            continue  # where it has no value it explains nothing
        if not difference(value, expected):
            return message
    return ""


def _listed(names):
    return " and ".join(f"`{name}`" for name in names)
