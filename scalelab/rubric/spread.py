"""How sure a speedup, an efficiency and a bill are: intervals from the replicates that the gate uses too.

Times of one size differ from run to run by factors, so their logarithms are compared, by Welch's test as
in the gate. One run of each size says nothing of its noise: then there is no interval, and nothing here
pretends one.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scalelab.refusal import Refusal
from scalelab.rubric import gate

ASKED = {
    "speedup": "least", "efficiency": "least", "loss": "most", "cost": "most", "cost_per_work": "most",
}  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """Between what a quantity surely lies, each end one-sided at gate.LEVEL."""

    low: float
    high: float
    tested: bool  # against noise; else both ends are the number as it stands

    def verdict(self, least: float = -math.inf, most: float = math.inf) -> str:
        """Whether "at least" or "at most" is supported, contradicted or undecided.

        >>> ratio = Spread(0.94, 1.32, True)
        >>> ratio.verdict(least=0.9), ratio.verdict(least=1.0), ratio.verdict(least=1.5)
        ('supported', 'undecided', 'contradicted')
        """
        if least <= self.low and self.high <= most:
            return "supported"
        if self.high < least or self.low > most:
            return "contradicted"
        return "undecided"

    def times(self, factor: float) -> "Spread":
        """The spread of a multiple."""
        return Spread(self.low * factor, self.high * factor, self.tested)


def ratio(base: Sequence[float], row: Sequence[float], others: Sequence[Sequence[float]]) -> Spread:
    """The geometric mean of the base's times over that of the row's.

    Source: Hoefler and Belli 2015, doi:10.1145/2807591.2807644: a speedup without an interval hides
    whether it is one; Welch 1947, doi:10.1093/biomet/34.1-2.28. Section 41.6.

    >>> found = ratio([3.93, 2.30, 2.98], [3.23, 2.30, 2.61], [])
    >>> round(found.low, 2), round(found.high, 2)
    (0.74, 1.68)
    """
    logs = [[math.log(time) for time in times] for times in (base, row, *others)]
    difference = gate.of_runs(logs[0], logs[1], logs[2:], 0.0)
    return Spread(_exp(difference.low), _exp(difference.high), difference.tested)


def alone(times: Sequence[float], others: Sequence[Sequence[float]]) -> Spread:
    """The geometric mean of one size's times, by Student's test, over their median.

    >>> alone([2.0, 2.0], [])
    Spread(low=1.0, high=1.0, tested=True)
    """
    logs = [math.log(time) for time in times]
    error, freedom = gate.single(logs, [[math.log(t) for t in each] for each in others])
    margin = error * gate.quantile(freedom) if error else 0.0
    middle = statistics.fmean(logs) - math.log(statistics.median(times))
    return Spread(_exp(middle - margin), _exp(middle + margin), error is not None)


def _exp(value):
    return math.exp(value) if value < 700 else math.inf


def bound(name: str) -> str:
    """Return whether a claim of this name is an "at least" or an "at most"."""
    if name not in ASKED:
        raise Refusal(f"a claim must be about {', '.join(ASKED)}, got {name!r}: name one of them")
    return ASKED[name]
