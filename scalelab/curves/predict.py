"""A size that was not measured: a value, a 90% interval, and how often such intervals were right.

Families describe what was measured. Beyond it, on programs that had no part in choosing, the plainest
reading of the last two sizes foretold about as well as the best of them: where the work is fixed, Amdahl's
law through both; where the work grows with the workers, or the rate falls already, their slope on doubly
logarithmic paper. Of the answers here only it comes with an interval that was tested. How far it is off was
learned from public results (`tests/learning`): it grows a little more slowly than the doublings ahead, and
the closer to linear a job still is, the further it can fall.
"""

import functools
import json
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from scalelab.arguments import real
from scalelab.curves.families import EXTRAPOLATING
from scalelab.curves.fit import FEWEST, Refused, fit, too_few
from scalelab.curves.intervals import of_rate
from scalelab.curves.rows import Rows
from scalelab.refusal import Refusal

LEVEL = 0.90
WIDENS = 0.75  # the power of the doublings ahead by which an interval widens
TESTED = 64  # times the largest size: no interval was tested further out
STRAIGHT = 0.95  # from this slope on a job is still nearly linear, and falls further than most
APART = math.sqrt(2)  # times: closer sizes say more of their noise than of a slope
_FLOATS = 600.0  # logarithms this far from 0 stay finite, whatever unit they are turned into


@dataclass(frozen=True)
class Coverage:
    """How often the truth lay inside, on sizes of programs that had no say in the intervals."""

    kind: str  # "strong", "weak" or "load"; "" is all of them
    few: bool | None  # three or four sizes to go by, or more; None is both
    near: bool | None  # at most one doubling beyond, or more; None is both
    straight: bool | None  # only where the last doubling brought nearly all of one; None is all
    inside: int
    of: int
    programs: int
    share: float  # of those held, every program counting once


@dataclass(frozen=True)
class Prediction:
    """What to expect on some number of workers."""

    workers: float
    value: float
    low: float
    high: float
    level: float
    unit: str  # "seconds" or "throughput"
    beyond: float  # how many times the largest measured size this is; below 1, inside the table


def predict(rows: Rows, workers: float, *, family: str | None = None) -> Prediction:
    """Predict the value on any number of workers from the smallest measured one on.

    From the last two sizes, or, between two, from these; or from one family that the reader has reason
    to believe in: the interval is then true only if the family is. Section 3.9.

    >>> from scalelab.curves.rows import Rows
    >>> found = predict(Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25]), 16)
    >>> found.low < 100 * (0.1 + 0.9 / 16) < found.high
    True
    """
    workers = _checked(rows, workers, family)
    if family is not None:
        ends = of_rate(rows, fit(rows, family), workers, LEVEL)
    else:
        ends = _beyond(rows, workers) if workers > rows.workers[-1] else _between(rows, workers)
    if max(map(abs, ends)) > _FLOATS:
        raise Refused(
            "the rows must agree on some curve, got values that jump by so many orders of magnitude "
            "that no interval can be written down: look for a wrong unit or digit in them"
        )
    low, value, high = sorted(float(rows.value(workers, math.exp(x))) for x in ends)
    beyond = float(workers / rows.workers[-1])
    return Prediction(workers, value, low, high, LEVEL, rows.unit, beyond)


def slope(rows: Rows) -> float:
    """By which share of a doubling the rate rose with the last doubling of workers: from -1 to 1.

    >>> from scalelab.curves.rows import Rows
    >>> round(slope(Rows.of([1, 2, 4], throughput=[10, 19, 19 * 2**0.5])), 9)
    0.5
    """
    times, rose = _last_step(rows)
    return math.log(rose) / math.log(times)


def carried_on(rows: Rows, times: float) -> float:
    """How many times the rate `times` the workers of the largest size bring.

    >>> from scalelab.curves.rows import Rows
    >>> k = [1, 2, 4, 8]
    >>> amdahl, flat = Rows.of(k, seconds=[100, 55, 32.5, 21.25]), Rows.of(k, throughput=[1, 2, 2, 2])
    >>> round(carried_on(amdahl, 2), 3), carried_on(flat, 8)
    (1.36, 1.0)
    """
    step, rose = _last_step(rows)
    if rows.grows or rose <= 1:
        return times ** (math.log(rose) / math.log(step))
    # The share of the time that divides, on the smaller size of the two, and then on the larger.
    divided = (1 - 1 / rose) / (1 - 1 / step)
    divides = divided * rose / step
    return 1 / (1 - divides + divides / times)


def _last_step(rows):
    """How many times the workers the largest size has of one before it, and how many times its rate."""
    near = rows.workers > rows.workers[-1] / APART * (1 + 1e-9)
    before = max(0, int(np.argmax(near)) - 1)
    times = float(rows.workers[-1] / rows.workers[before])
    rose = float(rows.rate[-1] / rows.rate[before])
    return times, min(max(rose, 1 / times), times)


def _beyond(rows, workers):
    share, times = slope(rows), workers / rows.workers[-1]
    middle = math.log(rows.rate[-1]) + math.log(carried_on(rows, times))
    spread = math.log2(times) ** WIDENS * math.log(2)
    taught = learned()
    low, high = (spread * (taught[end][0] + taught[end][1] * share) for end in ("low", "high"))
    # Where a rate halves with each doubling, public results mostly did better than to go on so.
    return min(middle, middle + low), middle, max(middle, middle + high)


def _between(rows, workers):
    """On the straight line between two sizes, on doubly logarithmic paper; at a size, what was measured."""
    steps, rates = np.log2(rows.workers), np.log(rows.rate)
    at = float(np.log2(workers))
    middle = float(np.interp(at, steps, rates))
    after = max(1, int(np.searchsorted(steps, at - 1e-12)))
    left, right = max(0.0, at - steps[after - 1]), max(0.0, steps[after] - at)
    off = learned()["between"] * math.sqrt(left * right / (left + right)) * math.log(2)
    return middle - off, middle, middle + off


def coverage(kind: str, rows: Rows, beyond: float) -> Coverage | None:
    """What was measured of predictions like this one, or of more kinds where such are too few to tell."""
    few, near = len(rows.workers) <= 4, beyond <= 2
    known = {(one.kind, one.few, one.near, one.straight): one for one in held()}
    straight = [("", None, near, True)] if slope(rows) >= STRAIGHT else []
    alike = ((kind, few, near), (kind, None, near), ("", few, near), ("", None, near))
    wanted = [*straight, *((*key, None) for key in alike)]
    return next((known[key] for key in wanted if key in known), None)


def measured(found: Coverage) -> str:
    """One sentence for under a prediction: what its interval is worth.

    >>> measured(Coverage("weak", True, True, None, 9, 10, 4, 0.875))
    'such 90% intervals held 9 of 10 sizes up to one doubling beyond weak-scaling tables of 3 or 4 sizes, \
from 4 programs that had no part in making them; 88% when every program counts once'
    """
    far = {True: "up to one doubling", False: "more than one doubling", None: "any distance"}
    tables = {"": "tables", "load": "tables of load"}.get(
        found.kind, f"{found.kind}-scaling tables"
    )
    sizes = {True: " of 3 or 4 sizes", False: " of 5 sizes or more", None: ""}[found.few]
    if found.straight:
        sizes = " that are still nearly linear"
    return (
        f"such {LEVEL:.0%} intervals held {found.inside} of {found.of} sizes {far[found.near]} beyond "
        f"{tables}{sizes}, from {found.programs} programs that had no part in making them; "
        f"{found.share:.0%} when every program counts once"
    )


@functools.cache
def held() -> tuple[Coverage, ...]:
    """How often intervals held, by kind, number of sizes and distance, where enough programs tell."""
    return tuple(Coverage(**one) for one in learned()["held"])


@functools.cache
def learned() -> dict[str, Any]:
    """What public results taught, as `python -m tests.learning.learned` wrote it down.

    `low` and `high` are the ends of an interval one doubling of workers ahead, in doublings of the
    rate: at a slope of 0, and what a slope of 1 adds.
    """
    file = resources.files("scalelab.data") / "extrapolation.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _checked(rows: Rows, workers: float, family: str | None) -> float:
    workers = real("workers", workers, "it counts the workers to predict for", 1, 1e12)
    if workers < rows.base:
        raise Refused(
            f"workers must be a number from the smallest measured size {rows.base:g} on, got "
            f"{workers:g}: the rows say nothing of smaller ones, so measure one"
        )
    if len(rows.workers) < FEWEST:
        raise Refused(too_few(rows))
    if family is not None and family not in EXTRAPOLATING:
        raise Refusal(
            f"family must be one of {', '.join(EXTRAPOLATING)}, got {family!r}: others describe a table "
            "but do not extrapolate"
        )
    return workers
