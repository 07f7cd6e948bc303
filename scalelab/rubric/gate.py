"""The quality gate: is a row as good as the baseline, within the tolerance? Pass, fail or undecided.

One run each is compared as it stands. With replicates, or a noise that is known, two one-sided tests
decide, each wrong at most once in twenty: a row passes when its loss is surely within the tolerance,
fails when it is surely beyond, and is undecided else. Being better never fails. Runs of the same seeds
are compared seed by seed: what luck does to both is no difference between them.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scalelab.arguments import real, whole

LEVEL = 0.95
_HAIR = 1e-9  # relative: what rounding may do to a difference
MOST_RUNS = 10_000


@dataclass(frozen=True)
class Noise:
    """How much quality moves when nothing but the seed does: known from elsewhere."""

    deviation: float  # standard deviation of one run
    runs: int = 0  # that it was estimated from; 0 where it is known exactly

    def __post_init__(self) -> None:
        real("deviation", self.deviation, "it is how much the quality of one run varies", 0)
        if self.runs != 0:
            whole("runs", self.runs, "the noise was estimated from so many, at least two", 2)


@dataclass(frozen=True)
class Gate:
    """What the gate says of one row."""

    verdict: str  # "pass", "fail" or "undecided"
    loss: float  # how much worse than the baseline; negative, it is better
    low: float  # the loss, with the noise, one-sided each way at LEVEL
    high: float
    tested: bool  # against noise, and not taken as it stands
    runs: int | None = None  # of each size that would decide, if the loss is what it seems

    @property
    def passes(self) -> bool | None:
        """True, False, or None where the noise leaves it open."""
        return {"pass": True, "fail": False}.get(self.verdict)


def judge(
    base: Sequence[float],
    row: Sequence[float],
    others: Iterable[Sequence[float]],
    tolerance: float,
    *,
    better: str = "higher",
    noise: Noise | None = None,
    paired: bool = False,
) -> Gate:
    """Compare the qualities of a row with those of the baseline.

    `others` are the qualities of all sizes, from whose replicates the noise of a single run is
    taken. With two or more runs on both sides it is Welch's test; `paired`, where base and row list
    the same seeds in the same order, Student's on the differences.
    Source: non-inferiority as in Schuirmann 1987, doi:10.1007/BF01068419; Welch 1947,
    doi:10.1093/biomet/34.1-2.28. Section 41.6.

    >>> judge([0.871], [0.860], [[0.871], [0.860]], 0.005).verdict
    'fail'
    >>> judge([24.59], [24.30], [[24.59], [24.30]], 0.2, noise=Noise(0.159, runs=50)).verdict
    'undecided'
    """
    sign = 1 if better == "higher" else -1
    loss = sign * (statistics.fmean(base) - statistics.fmean(row))
    hair = _HAIR * max(map(abs, (*base, *row, tolerance)))
    error, freedom = _error(base, row, others, noise, paired)
    margin = error * _quantile(freedom) if error else 0.0
    low, high = loss - margin, loss + margin
    if high <= tolerance + hair:
        verdict = "pass"
    elif low > tolerance + hair:
        verdict = "fail"
    else:
        verdict = "undecided"
    runs = None
    if verdict == "undecided":
        runs = _runs_needed(error, len(base), len(row), abs(tolerance - loss))
    return Gate(verdict, loss, low, high, error is not None, runs)


def _error(base, row, others, noise, paired):
    """Return the standard error of the loss and its degrees of freedom; None where nothing tells."""
    share = 1 / len(base) + 1 / len(row)
    if noise is not None:
        return noise.deviation * math.sqrt(share), (noise.runs - 1 if noise.runs else math.inf)
    if paired and len(base) > 1:
        differences = [b - r for b, r in zip(base, row, strict=True)]
        return statistics.stdev(differences) / math.sqrt(len(base)), len(base) - 1
    if len(base) > 1 and len(row) > 1:
        first, second = (statistics.variance(q) / len(q) for q in (base, row))
        if not first + second:
            return 0.0, math.inf
        # Shares, because squares of tiny variances vanish.
        a, b = first / (first + second), second / (first + second)
        return math.sqrt(first + second), 1 / (a * a / (len(base) - 1) + b * b / (len(row) - 1))
    repeated = [q for q in others if len(q) > 1]
    freedom = sum(len(q) - 1 for q in repeated)
    if not freedom:
        return None, 0
    pooled = sum(statistics.variance(q) * (len(q) - 1) for q in repeated) / freedom
    return math.sqrt(pooled * share), freedom


def _quantile(freedom):
    from scipy.special import ndtri, stdtrit

    return float(ndtri(LEVEL) if math.isinf(freedom) else stdtrit(freedom, LEVEL))


def _runs_needed(error, first, second, room):
    """Runs of each size whose margin would fit into what lies between loss and tolerance; None if absurd."""
    from scipy.special import ndtri

    variance = error**2 / (1 / first + 1 / second)
    # The margin, and as much again, so that four of five such repetitions decide.
    wanted = float(ndtri(LEVEL) + ndtri(0.8)) ** 2 * 2 * variance
    if wanted > MOST_RUNS * room**2:
        return None
    return max(2, math.ceil(wanted / room**2)) if wanted else 2
