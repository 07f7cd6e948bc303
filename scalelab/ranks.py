"""Which two sorted samples enclose the true median, whatever the distribution.

Each sample falls below the median with probability 1/2, so how many do is binomial, and the
interval from the i-th smallest to the i-th largest of n samples covers the median with
probability P(i <= Binomial(n, 1/2) <= n - i): exact, for any continuous distribution.
Source: Thompson 1936, doi:10.1214/aoms/1177732502. Standard library only; any layer may import it.
"""

import math
from collections.abc import Iterable

from scalelab.arguments import real, scalar, shown, whole
from scalelab.refusal import Refusal


def narrowest(n: int, level: float = 0.95) -> tuple[int, float]:
    """Return (i, coverage) of the narrowest such interval that reaches the level.

    Fewer than six samples cannot reach 0.95: then it is the whole range, with what that covers.

    >>> narrowest(6), narrowest(20), narrowest(5)
    ((1, 0.96875), (6, 0.9586105346679688), (1, 0.9375))
    """
    n = whole("n", n, "it counts the samples", 1, 10**9)
    level = real("level", level, "it is the chance to cover the median", 0, 0.999_999, above=True)
    # Outwards from the middle, where a term can be computed without underflow.
    coverage = 0.0
    for i in range(n // 2, 0, -1):
        coverage += (1 if 2 * i == n else 2) * _share(n, i)
        if coverage >= level - 1e-12:
            return i, coverage
    return 1, coverage


def enclosing(values: Iterable[float], level: float = 0.95) -> tuple[float, float]:
    """Return the two values that enclose the true median, as surely as so many can.

    >>> enclosing([5, 1, 4, 2, 3, 90])
    (1.0, 90.0)
    """
    try:
        ordered = sorted(map(scalar, values))
    except TypeError:
        ordered = []
    if not ordered or not all(map(math.isfinite, ordered)):
        raise Refusal(
            f"values must be finite numbers, at least one, got {shown(values)}: give all repetitions"
        )
    i, _ = narrowest(len(ordered), level)
    return ordered[i - 1], ordered[-i]


def _share(n: int, k: int) -> float:
    """Return P(Binomial(n, 1/2) = k)."""
    if n <= 1000:
        return math.comb(n, k) / 2**n
    return math.exp(
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    )
