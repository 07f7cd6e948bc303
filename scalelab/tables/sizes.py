"""A scaling table as one curve: the rate of work at each size, relative to the smallest."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scalelab.tables.nouns import ScalingTable

# Work counts as constant, or as proportional to the workers, within this: rounding of batches.
SAME = 0.05


@dataclass(frozen=True)
class Size:
    """All rows at one worker count."""

    workers: int
    rate: float  # work per second, relative to the smallest size: that of the median run
    rates: tuple[float, ...]
    lines: tuple[int, ...]


def fixed(pairs: Sequence[tuple[float, float]]) -> str:
    """What stays the same over (workers, amount) pairs: "strong", "weak", "neither", or "" if one size.

    >>> fixed([(1, 64), (8, 64)]), fixed([(1, 64), (8, 512)]), fixed([(1, 64), (8, 128)]), fixed([(8, 1)])
    ('strong', 'weak', 'neither', '')
    """
    if len({k for k, _ in pairs}) < 2:
        return ""
    for name, amounts in (("strong", [a for _, a in pairs]), ("weak", [a / k for k, a in pairs])):
        if max(amounts) <= (1 + SAME) * min(amounts):
            return name
    return "neither"


def stated(table: ScalingTable, quantity: str) -> str:
    """What a column of the table says stays the same, or "" if not every row has it."""
    amounts = [(row.workers, getattr(row, quantity)) for row in table.rows]
    return "" if any(amount is None for _, amount in amounts) else fixed(amounts)


def sizes(table: ScalingTable, weak: bool = False) -> list[Size]:
    r"""The curve: one Size per worker count, ascending.

    Seconds become rates by the work column; without one the job is fixed, or grows with the workers
    if `weak`. The median is taken of what was written down, as fits do: of times, not of their inverses.

    >>> from scalelab.tables.table import parse
    >>> sizes(parse("runs", "workers,seconds\n1,10\n1,20\n4,4\n4,8\n"))[1].rate
    2.5
    """
    values: dict[int, list[tuple[float, int]]] = {}
    for row, value in zip(table.rows, _values(table, weak), strict=True):
        values.setdefault(row.workers, []).append((value, row.line))
    base = statistics.median(value for value, _ in values[min(values)])
    timed = table.measure == "seconds"
    return [
        Size(
            workers,
            _gain(statistics.median(value for value, _ in rows), base, timed),
            tuple(_gain(value, base, timed) for value, _ in rows),
            tuple(line for _, line in rows),
        )
        for workers, rows in sorted(values.items())
    ]


def efficiency(curve: Sequence[Size]) -> list[float]:
    """Rate per worker of each size, relative to the smallest."""
    return [size.rate / (size.workers / curve[0].workers) for size in curve]


def bend(curve: Sequence[Size], at: int) -> float:
    """How far a size lies above the straight line between its neighbours, in logarithms of both axes.

    Every law whose slope falls as workers are added bends upwards here; a row below the line is news.
    """
    left, here, right = curve[at - 1 : at + 2]
    share = math.log(here.workers / left.workers) / math.log(right.workers / left.workers)
    line = math.log(left.rate) + share * math.log(right.rate / left.rate)
    return math.log(here.rate) - line


def _gain(value: float, base: float, timed: bool) -> float:
    return base / value if timed else value / base


def _values(table: ScalingTable, weak: bool) -> Sequence[float]:
    """Seconds for a unit of work, or work in a second, of each row."""
    if table.measure == "throughput":
        return table.columns["throughput"]
    work = table.work(weak) or [1] * len(table.rows)
    return [seconds / amount for amount, seconds in zip(work, table.values, strict=True)]
