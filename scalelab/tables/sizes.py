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
    rate: float  # work per second, relative to the smallest size: the median of its rows
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
    """The curve: one Size per worker count, ascending.

    Seconds become rates by the work column; without one the job is fixed, or grows with the workers
    if `weak`.
    """
    rates: dict[int, list[tuple[float, int]]] = {}
    for row, rate in zip(table.rows, _rates(table, weak), strict=True):
        rates.setdefault(row.workers, []).append((rate, row.line))
    base = statistics.median(rate for rate, _ in rates[min(rates)])
    return [
        Size(
            workers,
            statistics.median(rate for rate, _ in rows) / base,
            tuple(rate / base for rate, _ in rows),
            tuple(line for _, line in rows),
        )
        for workers, rows in sorted(rates.items())
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


def _rates(table, weak):
    if table.measure == "throughput":
        return table.columns["throughput"]
    work = table.work(weak) or [1] * len(table.rows)
    return [amount / seconds for amount, seconds in zip(work, table.values, strict=True)]
