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

LEVEL = 0.95  # of each of the two one-sided tests
POWER = 0.80  # of the runs that are asked for: so often they decide
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
    runs: int | None = (
        None  # of each size that would decide with POWER, if the loss is what it seems
    )

    @property
    def passes(self) -> bool | None:
        """True, False, or None where the noise leaves it open."""
        return {"pass": True, "fail": False}.get(self.verdict)


def of_runs(
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

    >>> of_runs([0.871], [0.860], [[0.871], [0.860]], 0.005).verdict
    'fail'
    >>> of_runs([24.59], [24.30], [[24.59], [24.30]], 0.2, noise=Noise(0.159, runs=50)).verdict
    'undecided'
    """
    sign = 1 if better == "higher" else -1
    loss = sign * (statistics.fmean(base) - statistics.fmean(row))
    hair = _HAIR * max(map(abs, (*base, *row, tolerance)))
    error, freedom = _error(base, row, others, noise, paired)
    return _gate(loss, error, freedom, tolerance, hair, (len(base), len(row)))


def of_means(
    base: float,
    row: float,
    tolerance: float,
    noise: Noise,
    runs: tuple[int, int] = (1, 1),
    better: str = "higher",
) -> Gate:
    """Compare two means of so many runs each, where only their noise is published.

    The loss lies within t s sqrt(1/n + 1/m): s is the noise of one run, t Student's quantile at LEVEL
    with the degrees of freedom of s, n and m the runs behind the means. Section 41.6.

    >>> found = of_means(24.59, 24.423, 0.5, Noise(0.159, runs=50), runs=(1, 50))
    >>> found.verdict, round(found.loss, 3), round(found.high, 3)
    ('pass', 0.167, 0.436)
    """
    sizes = whole("runs", runs[0], "of the base"), whole("runs", runs[1], "of the row")
    loss = (1 if better == "higher" else -1) * (base - row)
    error = noise.deviation * math.sqrt(1 / sizes[0] + 1 / sizes[1])
    freedom = noise.runs - 1 if noise.runs else math.inf
    hair = _HAIR * max(abs(base), abs(row), tolerance)
    return _gate(loss, error, freedom, tolerance, hair, sizes)


def _gate(
    loss: float,
    error: float | None,
    freedom: float,
    tolerance: float,
    hair: float,
    sizes: tuple[int, int],
) -> Gate:
    margin = error * quantile(freedom) if error else 0.0
    low, high = loss - margin, loss + margin
    if high <= tolerance + hair:
        verdict = "pass"
    elif low > tolerance + hair:
        verdict = "fail"
    else:
        verdict = "undecided"
    runs = _runs_needed(error, *sizes, abs(tolerance - loss)) if verdict == "undecided" else None
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
    deviation, freedom = _pooled(others)
    return None if deviation is None else deviation * math.sqrt(share), freedom


def single(runs: Sequence[float], others: Iterable[Sequence[float]]) -> tuple[float | None, float]:
    """The standard error of a mean and its degrees of freedom; None where nothing tells."""
    if len(runs) > 1:
        return statistics.stdev(runs) / math.sqrt(len(runs)), len(runs) - 1
    return _pooled(others)


def _pooled(others):
    """Return the standard deviation of a run that sizes with replicates share."""
    repeated = [q for q in others if len(q) > 1]
    freedom = sum(len(q) - 1 for q in repeated)
    if not freedom:
        return None, 0
    pooled = sum(statistics.variance(q) * (len(q) - 1) for q in repeated) / freedom
    return math.sqrt(pooled), freedom


def quantile(freedom: float) -> float:
    """Student's quantile at LEVEL; the normal one where the freedom is infinite."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(LEVEL) if math.isinf(freedom) else stdtrit(freedom, LEVEL))


def _runs_needed(error, first, second, room):
    """Runs of each size whose margin would fit into what lies between loss and tolerance; None if absurd."""
    from scipy.special import ndtri

    variance = error**2 / (1 / first + 1 / second)
    # The margin, and as much again, so that POWER of such repetitions decide.
    wanted = float(ndtri(LEVEL) + ndtri(POWER)) ** 2 * 2 * variance
    if wanted > MOST_RUNS * room**2:
        return None
    return max(2, math.ceil(wanted / room**2)) if wanted else 2
