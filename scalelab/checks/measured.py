"""Judge a measurement by its own data: enough of it, plausible, and stated as it is.

Never by the clock: the same record always gets the same verdict, on whatever machine it was made.
Standard library only, plus this package.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scalelab.checks.words import Difference, Fault, difference, show


def seconds_of(record: Any) -> Any:
    """Return the times of a record as plain data: a Sample, a dictionary with them, or a list.

    >>> seconds_of({"label": "sum", "seconds": [0.2, 0.1]}), seconds_of([0.2, 0.1])
    ([0.2, 0.1], [0.2, 0.1])
    """
    return record["seconds"] if isinstance(record, dict) else record


def record_fault(
    least: int,
    between: Sequence[float],
    states: Mapping[str, Callable[[list[float]], float]] | None,
) -> Fault:
    """Return the fault of a record; `states` maps what it claims to a function of its times.

    >>> fault = record_fault(3, (1e-9, 60), {"slowest": max})
    >>> fault({"seconds": [0.1, 0.2, 0.3], "slowest": 0.2}, None).text
    "its 'slowest' is not what its own times give"
    """

    def fault(record, _):
        try:
            seconds = seconds_of(record)
        except KeyError:
            return Difference("type", "a record without `seconds`")
        if not isinstance(seconds, list):
            return Difference.of("type", "{}, where a list of times was expected", seconds)
        if any(isinstance(t, bool) or not isinstance(t, (int, float)) for t in seconds):
            return Difference("type", "not all of its times are numbers")
        if len(seconds) < least:
            return Difference("shape", f"only {len(seconds)} times; {least} are needed")
        if not all(0 < t < math.inf for t in seconds):
            return Difference("finite", "a time is a finite number above 0")
        return _implausible(seconds, between) or _misstated(record, seconds, states or {})

    return fault


def _implausible(seconds, between):
    low, high = between
    if not all(low <= t <= high for t in seconds):
        return Difference("value", f"a time is not within {show(low)} s and {show(high)} s")
    if len(set(seconds)) < min(3, len(seconds)):
        return Difference("value", "the times are all alike, and no two runs ever are")
    return None


def _misstated(record, seconds, states):
    for name, compute in states.items():
        stated = record.get(name) if isinstance(record, dict) else None
        if stated is None:
            return Difference("shape", f"a record without {name!r}")
        if difference(stated, float(compute(seconds))):
            return Difference("value", f"its {name!r} is not what its own times give")
    return None
