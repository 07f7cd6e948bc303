"""What repeated timings say: intervals for medians and ratios, and what spoils them.

Nothing is assumed about the distribution, and no value is ever dropped. NumPy and SciPy are
imported only by what needs them.
"""

import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple

from scalelab import ranks
from scalelab.arguments import real, scalar, shown
from scalelab.measure.timing import advice as _cases
from scalelab.refusal import Refusal
from scalelab.units import text


class Caution(NamedTuple):
    """A named case, with its remedy in the text."""

    name: str
    text: str


class Estimate(NamedTuple):
    """A value, and the interval that covers the true one with the level asked for."""

    value: float
    low: float
    high: float


def median_interval(values: Iterable[float], level: float = 0.95) -> tuple[float, float]:
    """The two sorted values that enclose the true median with at least this probability.

    The i-th smallest and i-th largest of n values do so with P(i <= Binomial(n, 1/2) <= n - i).
    Source: Thompson 1936, doi:10.1214/aoms/1177732502. Section 3.1.

    >>> median_interval([5, 1, 4, 2, 3, 90])
    (1.0, 90.0)
    """
    values = sorted(_positive(values))
    i, coverage = ranks.narrowest(len(values), level)
    if coverage < level - 1e-12:
        raise Refusal(
            f"values must be at least {fewest(level)} for a {text(level, '%')} interval of the "
            f"median, got {len(values)}: repeat the measurement, or ask for a lower level"
        )
    return values[i - 1], values[-i]


def margin(values: Iterable[float]) -> float:
    """How far off the median may be, as a share of it: the wider side of its 95 % interval.

    Fewer than six values cannot say, and the answer is infinite. Section 3.1.

    >>> margin([98, 99, 100, 100, 101, 104])
    0.04
    """
    values = _positive(values)
    if len(values) < fewest():
        return math.inf
    middle, (low, high) = statistics.median(values), median_interval(values)
    return max(high - middle, middle - low) / middle


def fewest(level: float = 0.95) -> int:
    """How many values it takes until two of them can enclose the median.

    All n fall on one side of it with probability 2^-n, which may not exceed (1 - level) / 2.
    Section 3.1.

    >>> fewest(), fewest(0.99)
    (6, 8)
    """
    level = real("level", level, "it is the chance to cover the truth", 0, 0.999_999, above=True)
    return max(1, math.ceil(math.log2(2 / (1 - level)) - 1e-12))


def ratio(
    values: Iterable[float], baseline: Iterable[float], *, paired: bool, level: float = 0.95
) -> Estimate:
    """How many times the baseline's time these take, with an interval.

    Paired: the k-th values were timed one right after the other. Then what slowed the machine
    slowed both and cancels in their ratio; the median of these ratios has an exact interval.
    Not paired: the ratio of the two medians, and 50 / (1 - level) bootstrap resamples of each side.
    Source: Efron 1979, doi:10.1214/aos/1176344552. Section 3.1.

    >>> ratio([2, 4, 6, 2, 4, 6], [1, 2, 3, 1, 2, 3], paired=True)
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    values, baseline = _positive(values), _positive(baseline, "baseline")
    if not isinstance(paired, bool):
        raise Refusal(
            f"paired must be True or False, got {shown(paired)}: were they timed by turns?"
        )
    most = 0.999_999 if paired else 0.999
    level = real("level", level, "it is the chance to cover the true ratio", 0, most, above=True)
    if paired and len(values) != len(baseline):
        raise Refusal(
            f"values must be as many as the baseline's {len(baseline)} when they are paired, got "
            f"{len(values)}: give one of each round, or paired=False"
        )
    need = max(fewest(), fewest(level))
    if min(len(values), len(baseline)) < need:
        raise Refusal(
            f"values must be at least {need} on either side for a {text(level, '%')} interval, got "
            f"{len(values)} and {len(baseline)}: repeat the measurement, or ask for a lower level"
        )
    estimate = (_paired if paired else _resampled)(values, baseline, level)
    if not all(0 < v < math.inf for v in estimate):
        raise Refusal(
            f"values must be within 1e300 times the baseline's, got {shown(values)}: check the units"
        )
    return estimate


def advice(values: Iterable[float], wanted: float = 0.02) -> tuple[Caution, ...]:
    """Named cases of what is wrong with these timings, in the order they were taken.

    Section 3.1.

    >>> [a.name for a in advice([1.0, 1.1, 0.9])]
    ['few']
    """
    values = _positive(values)
    wanted = real("wanted", wanted, "it is the error you accept in the median", 0, above=True)
    drift = _cases.drift(values, wanted)
    cases = {
        "few": _cases.few(len(values), fewest()),
        "wide": _cases.wide(margin(values), wanted),
        "outliers": _cases.outliers(values),
        "drift": drift,
        # A drift is a dependence too, and says more.
        "dependent": "" if drift else _cases.dependent(values),
    }
    return tuple(Caution(name, say) for name, say in cases.items() if say)


def _paired(values, baseline, level):
    ratios = [v / b for v, b in zip(values, baseline, strict=True)]
    if not all(0 < r < math.inf for r in ratios):
        return ratios
    return Estimate(statistics.median(ratios), *median_interval(ratios, level))


def _resampled(values, baseline, level):
    import numpy as np
    from scipy.stats import bootstrap

    def medians(a, b, axis=-1):
        return np.median(a, axis) / np.median(b, axis)

    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        interval = bootstrap(
            (values, baseline),
            medians,
            n_resamples=max(1000, math.ceil(50 / (1 - level))),
            batch=max(1, 10**6 // (len(values) + len(baseline))),
            confidence_level=level,
            method="percentile",
            rng=0,  # the same values, the same interval
        ).confidence_interval
        middle = medians(np.array(values), np.array(baseline))
    return Estimate(*map(float, (middle, *interval)))


def _positive(values: Iterable[float], name: str = "values") -> list[float]:
    try:
        listed = [scalar(v) for v in values]
    except TypeError:
        listed = []
    if not listed or not all(0 < v < math.inf for v in listed):
        raise Refusal(
            f"{name} must be positive finite numbers, at least one, got {shown(values)}: "
            "give the seconds of each repetition"
        )
    return listed
