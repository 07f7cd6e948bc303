"""Which worker count, measured once more, would narrow a prediction most, by how much, at what price.

Nobody knows yet what that measurement will say. But the prediction for its size says how likely each
outcome is; for a low, a middle and a high one the table gets the new row, the target is predicted
again, and the widths are averaged: those of the logarithms, as the intervals are made. Source: preposterior
analysis, Raiffa and Schlaifer 1961, Applied Statistical Decision Theory, chapter 4; the three outcomes
and their weights, Keefer and Bodily 1983, doi:10.1287/mnsc.29.5.595.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from scalelab.arguments import real, whole
from scalelab.curves.predict import predict
from scalelab.curves.rows import Rows

# The ends of a 90% interval and its median stand for the outcomes around them.
WEIGHTS = (0.185, 0.63, 0.185)
WORTH = 0.05  # less than a twentieth narrower is nothing to measure for
NARROW = 1.02  # and what is known to a percent is known
_MOST = 8  # sizes to look at
_EXACT, _OPEN = 1e-9, 300.0  # an interval without a width, or without an end, as logarithms


@dataclass(frozen=True)
class Option:
    """One more measurement, and what it may be expected to do to the answer at the target."""

    workers: int
    before: float  # how many times the low end of the 90% interval at the target its high end is
    after: float  # the same, to be expected once this row is there
    seconds: float | None  # one run of it; None where the table counts throughput
    price: float | None  # of that run, or, of a throughput, of an hour; None without a price

    @property
    def narrower(self) -> float:
        """The share of the width that goes, in logarithms."""
        return 1 - math.log(self.after) / math.log(self.before)


@dataclass(frozen=True)
class NextMeasurement:
    """Every option, and the two to choose from; None where no measurement is worth it."""

    target: int
    most: int  # workers that can be had
    options: tuple[Option, ...]  # by workers
    best: Option | None  # narrows most
    affordable: Option | None  # narrows most of those that take no more workers than the table has


def advise(
    rows: Rows,
    target: int,
    *,
    sizes: Iterable[int] | None = None,
    most: int | None = None,
    rate: float | None = None,
    family: str | None = None,
) -> NextMeasurement:
    """Compare one more measurement at each of `sizes`, up to `most` workers.

    Sizes that are not given are `candidates`; `rate` is
    the price of one worker in dollars per hour. The width that is promised is an average: where a
    job bends, the interval becomes wider than that. Section 3.9.

    >>> from scalelab.curves.rows import Rows
    >>> found = advise(Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25]), 64, rate=2.0)
    >>> found.best.workers, found.best.narrower > 0.3
    (32, True)
    """
    target = whole("target", target, "it counts the workers to predict for")
    most = target if most is None else whole("most", most, "it counts the workers you can get")
    if rate is not None:
        rate = real("rate", rate, "it is the price of one worker per hour", 0)
    before = _ratio(rows, target, family)
    options = tuple(
        _option(rows, target, size, before, rate, family)
        for size in (candidates(rows, target, most) if sizes is None else sizes)
        if size <= max(most, rows.base)
    )
    worth = [option for option in options if before > NARROW and option.narrower >= WORTH]
    here = [option for option in worth if option.workers <= rows.workers[-1]]
    return NextMeasurement(
        target, most, options, *(min(o, key=_order, default=None) for o in (worth, here))
    )


def candidates(rows: Rows, target: int, most: int) -> list[int]:
    """Sizes that could be measured on up to `most` workers: the eight largest of several kinds.

    Those of the table, doublings of the smallest, one half-way, and as many as there are. To measure
    the target itself is the answer and no advice, unless it lies inside the table.
    """
    base, top = int(rows.base), int(rows.workers[-1])
    doublings = [base * 2**n for n in range(64) if base * 2**n < max(top, target)]
    sizes = {*map(int, rows.workers), *doublings} | ({target} if target <= top else set())
    if 2 * top >= target > max(sizes):  # no doubling in between: half-way, in logarithms
        sizes |= {base * round(math.sqrt(top * target) / base)} - {target}
    sizes |= {most} if top < most < target else set()
    # The largest tell most of a target beyond them.
    within = sorted(size for size in sizes if size <= max(most, base))
    return sorted({base, *within[1 - _MOST :]})


def _option(
    rows: Rows, target: int, size: int, before: float, rate: float | None, family: str | None
) -> Option:
    outcome = predict(rows, size, family=family)
    outcomes = (outcome.low, outcome.value, outcome.high)
    again = [_ratio(_with(rows, size, value), target, family) for value in outcomes]
    after = math.exp(float(np.dot(WEIGHTS, np.log(again))))
    seconds = outcome.value if rows.unit == "seconds" else None
    hours = 1.0 if seconds is None else seconds / 3600
    return Option(size, before, after, seconds, None if rate is None else size * hours * rate)


def _with(rows: Rows, size: int, value: float) -> Rows:
    """The rows and one more; at a size that was measured, the median of the two stands for both."""
    rate = rows.value(size, 1.0) / value if rows.unit == "seconds" else value
    others = rows.workers != size
    again = [*rows.rate[~others], rate]
    workers = np.append(rows.workers[others], float(size))
    rates = np.append(rows.rate[others], np.median(again))
    order = np.argsort(workers)
    return replace(rows, workers=workers[order], rate=rates[order])


def _ratio(rows: Rows, target: int, family: str | None) -> float:
    """High over low; an outcome that contradicts all others may leave no end that a float can hold."""
    try:
        prediction = predict(rows, target, family=family)
        logs = math.log(prediction.high) - math.log(max(prediction.low, math.ulp(0)))
    except OverflowError:
        logs = _OPEN
    return math.exp(min(max(logs, _EXACT), _OPEN))


def _order(option: Option) -> tuple[float, int]:
    return option.after, option.workers
