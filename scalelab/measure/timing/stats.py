"""What repeated timings say: intervals for medians, and what spoils them.

Nothing is assumed about the distribution, and no value is ever dropped. Standard library only.
"""

import math
import statistics
from collections.abc import Iterable

from scalelab import ranks
from scalelab.arguments import real, scalar, shown
from scalelab.measure.timing import advice as _cases
from scalelab.records import Caution
from scalelab.refusal import Refusal
from scalelab.units import text


def median_interval(values: Iterable[float], level: float = 0.95) -> tuple[float, float]:
    """The two sorted values that enclose the true median with at least this probability.

    The i-th smallest and i-th largest of n values do so with P(i <= Binomial(n, 1/2) <= n - i).
    Source: Thompson 1936, doi:10.1214/aoms/1177732502. Section 3.1.

    >>> median_interval([5, 1, 4, 2, 3, 90])
    (1.0, 90.0)
    """
    values = _positive(values)
    if ranks.narrowest(len(values), level)[1] < level - 1e-12:
        raise Refusal(
            f"values must be at least {fewest(level)} for a {text(level, '%')} interval of the "
            f"median, got {len(values)}: repeat the measurement, or ask for a lower level"
        )
    return ranks.enclosing(values, level)


def margin(values: Iterable[float]) -> float:
    """How far off the median may be, as a share of it: the wider side of its 95% interval.

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


def _positive(values: Iterable[float]) -> list[float]:
    try:
        listed = [scalar(v) for v in values]
    except TypeError:
        listed = []
    if not listed or not all(0 < v < math.inf for v in listed):
        raise Refusal(
            f"values must be positive finite numbers, at least one, got {shown(values)}: "
            "give the seconds of each repetition"
        )
    return listed
