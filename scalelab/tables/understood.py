"""What was understood of a scaling table: its columns, its kind, its rows, and the curve that they make.

A table that was read wrongly gives numbers that look right. So an audit says first what it took for
what, and shows speedup and efficiency, in which a wrong column or unit is seen at once.
"""

import statistics
from dataclasses import dataclass

from scalelab.tables import sizes, study
from scalelab.tables.nouns import ScalingTable


@dataclass(frozen=True)
class Scaled:
    """All runs of one size, in SI; speedup and efficiency are over the smallest size."""

    workers: int
    runs: int
    value: float  # the median of seconds, or of the throughput of all workers
    speedup: float  # of work per second: of a weak study it is the scaled speedup
    efficiency: float


@dataclass(frozen=True)
class Understood:
    """As what a table was read."""

    kind: str  # "strong", "weak", "load", "neither" or "mixed"
    why: str
    lines: tuple[Scaled, ...]

    @property
    def base(self) -> int:
        """The workers of the smallest size."""
        return self.lines[0].workers


def understood(table: ScalingTable) -> Understood:
    r"""Return as what a table was read, and its curve. Section 3.3.

    >>> from scalelab.tables.table import parse
    >>> found = understood(parse("runs", "workers,seconds\n1,60\n2,40\n"))
    >>> found.kind, found.lines[1].speedup, found.lines[1].efficiency
    ('strong', 1.5, 0.75)
    """
    totals = table.columns[table.measure]
    values: dict[int, list[float]] = {}
    for workers, value in zip(table.workers, totals, strict=True):
        values.setdefault(workers, []).append(value)
    curve = sizes.sizes(table, weak=study.weak(table))
    lines = tuple(
        Scaled(
            size.workers,
            len(size.rates),
            statistics.median(values[size.workers]),
            size.rate,
            share,
        )
        for size, share in zip(curve, sizes.efficiency(curve), strict=True)
    )
    return Understood(*study.kind(table), lines)
