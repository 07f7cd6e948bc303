"""Judge a function: not attempted, wrong and why, or right.

It is called with plain data and what comes back is read as plain data; nothing else is done.
Standard library only, plus this package.
"""

import builtins
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from scalelab.checks.call import calls
from scalelab.checks.plain import Unreadable, plain
from scalelab.checks.reading import readings
from scalelab.checks.report import MISSING, RIGHT, WRONG, Judged
from scalelab.checks.words import Difference, Known, difference, show

Cases = Sequence[Sequence[object]]  # the arguments of every call
Expected = Callable[..., object] | Sequence[object]  # of each case: its value, or what gives it
# For all cases of one sub-check: far more than they need, and eight endless ones stay within the
# 30 s after which stock nbgrader gives up on a cell.
SECONDS = 10.0
FRESH = {  # all that a hidden sub-check tells of a wrong answer
    "type": "gives another kind of value than was asked for",
    "shape": "gives another number of values than was asked for",
    "finite": "gives something that is not a finite number",
    "value": "gives a wrong answer",
}


def judge_function(
    name: str,
    answer: object,
    cases: Cases,
    expect: Expected,
    read: Callable[[Any], object] | None,
    what: str,
    known: Known,
    hidden: bool,
) -> Judged:
    """Judge a function, called on every case; see `Task.function`.

    >>> judge_function("half", None, [(4,)], [2.0], None, "", [], False).text
    '`half` is not defined: has its cell been run?'
    """
    if answer is None or answer is ...:
        return Judged.saying(MISSING, f"`{name}` is not defined: has its cell been run?")
    if not callable(answer):
        no_function = Difference.of("type", "a function was expected, not {}", plain(answer))
        return Judged(WRONG, no_function.text, no_function.slip)
    outcomes = [*calls(answer, cases, SECONDS)]
    if _untouched(outcomes):
        return Judged(MISSING)
    for case, outcome in zip(cases, outcomes, strict=False):
        if outcome.error:
            return _failed(_written(name, case), outcome, hidden)
    wanted = _values(expect, cases)  # only now: what is expected may take longer than the answer
    if all(o.value is None for o in outcomes) and any(w is not None for w in wanted):
        return Judged.saying(
            WRONG, f"`{name}` returned nothing (None): does it end with a `return`?"
        )
    judged = [_part(o.value, read, what, want) for o, want in zip(outcomes, wanted, strict=True)]
    parts, faults = [part for part, _ in judged], [fault for _, fault in judged]
    if not any(faults):
        return Judged(RIGHT)
    slip = _slip(parts, known, cases)
    n, fault = next((n, fault) for n, fault in enumerate(faults) if fault)
    if hidden:
        return Judged(WRONG, slip or FRESH[fault.stage], slip)
    reason, value = slip or fault.text, show(outcomes[n].value)
    returned = f"{_written(name, cases[n])} returned {value}"
    text = returned if reason == value else f"{returned}; {reason}"
    return Judged(WRONG, text, slip or fault.slip)


def _values(given, cases):
    return [given(*case) for case in cases] if callable(given) else list(given)


def _untouched(outcomes):
    """Tell an answer that is not there yet from one that is wrong."""
    return all(not o.error and (o.value is ... or not o.attempted) for o in outcomes)


def _part(value, read, what, want):
    """Return the part of a result that is to be judged, and how it differs from what is wanted."""
    if isinstance(value, Unreadable):
        missing = Difference.of("type", "{}", value)
        return missing, missing
    if not read:
        return value, difference(value, want)
    read_so = []
    for shape in readings(value):
        with contextlib.suppress(TypeError, LookupError, ValueError):
            read_so.append((part := read(shape), difference(part, want)))
    missing = Difference("shape", f"it holds no {what}")
    right = (one for one in read_so if one[1] is None)
    return next(right, read_so[0] if read_so else (missing, missing))


def _slip(values, known, cases):
    """Return the message of the known misconception that explains every value, or ""."""
    for wrong, message in known:
        try:
            expected = _values(wrong, cases)
        except ArithmeticError:  # where it has no value it explains nothing
            continue
        pairs = zip(values, expected, strict=True)
        if not any(difference(value, want) for value, want in pairs):
            return message
    return ""


def _written(name, case):
    return f"{name}({', '.join(show(argument) for argument in case)})"


def _failed(written, outcome, hidden):
    """Judge a call that gave nothing, by the name of what it raised."""
    error, said = outcome.error, outcome.said
    if error == "Timeout":
        text = f"took longer than {said or f'{SECONDS:g} s'}: does a loop never end?"
        return Judged(WRONG, text, "took too long")
    if hidden:  # the name of an exception, as its text, could carry a hidden input to the student
        text = "ended the process" if error == "Crash" else "raised an exception"
        return Judged.saying(WRONG, text)
    kind = getattr(builtins, error, None)
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    slip = f"raised {error if known else 'an exception'}"
    return Judged(WRONG, f"{written} raised {error}{f': {said}' if said else ''}", slip)
