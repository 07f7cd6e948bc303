"""What can be wrong with repeated timings: each case one sentence with its remedy, or "".

Called by `stats.advice`, which has checked the values. Standard library only.
"""

import math
import statistics
from collections.abc import Sequence

from scalelab import ranks
from scalelab.units import counted, text

_HOPELESS = 1000  # times as many repetitions are asked of nobody


def few(count: int, need: int) -> str:
    """Too few to say anything about the median."""
    if count >= need:
        return ""
    return (
        f"Only {counted(count, 'repetition')}: {need} are the fewest that bound the median with 95% "
        "confidence. Repeat more often, or time a shorter job."
    )


def wide(off: float, wanted: float) -> str:
    """The median is not known as well as it should be."""
    if not wanted < off < math.inf:
        return ""
    # The interval narrows with the square root of the number of repetitions.
    further = off / wanted
    known = f"The median is known within {text(off, '%', 2)}, not {text(wanted, '%', 2)}."
    if further > math.sqrt(_HOPELESS):
        return f"{known} No number of repetitions mends that: quieten the machine, or ask for less."
    return (
        f"{known} Quieten the machine, or repeat about {text(further**2, digits=2)} times as often."
    )


def outliers(values: Sequence[float]) -> str:
    """Some repetitions lie five normal standard deviations away, and more than a rounding step."""
    middle = statistics.median(values)
    spread = 1.4826 * statistics.median(abs(v - middle) for v in values)
    far = [v for v in values if abs(v - middle) > max(5 * spread, 0.01 * middle)]
    if not far or not _bounded(len(values)):
        return ""
    worst = max(far, key=lambda v: abs(v - middle))
    lie, they = ("lies", "It is") if len(far) == 1 else ("lie", "They are")
    return (
        f"{len(far)} of {len(values)} repetitions {lie} far from the median, the farthest at "
        f"{text(worst / middle)} times it. {they} kept: quote the median, not the mean, and "
        "look for other programs on this machine."
    )


def drift(values: Sequence[float], wanted: float) -> str:
    """The last third is slower or faster than the first, by more than chance and more than wanted."""
    third = len(values) // 3
    if not _bounded(third):
        return ""
    first, last = values[:third], values[-third:]
    change = statistics.median(last) / statistics.median(first) - 1
    (low1, high1), (low2, high2) = ranks.enclosing(first), ranks.enclosing(last)
    if abs(change) <= wanted or (low1 <= high2 and low2 <= high1):
        return ""
    return (
        f"The last third is {text(abs(change), '%', 2)} {'slower' if change > 0 else 'faster'} than "
        "the first: the machine changed while it was measured. Let it cool or warm up, then repeat."
    )


def dependent(values: Sequence[float]) -> str:
    """Slow repetitions come in groups, so that more of them say less than they seem to."""
    alone = worth(values)
    if alone == len(values):
        return ""
    return (
        f"Slow repetitions come in groups: {len(values)} of them say as much as "
        f"{text(alone, digits=2)} that do not depend on each other, and another run may differ by "
        "more than the interval says. Repeat the run at other times; to compare two functions, let "
        "them take turns."
    )


def worth(values: Sequence[float]) -> float:
    """How many independent values would say as much about the median as these, in their order.

    Cut into about sqrt(n) blocks: how many of a block exceed the median scatters like coin tosses
    when the values do not depend on each other. When it scatters with d times that variance, and
    that is three standard errors more, n values are worth n / d. Fewer than 36 cannot tell.

    >>> worth([1, 2] * 50), worth(([1] * 10 + [2] * 10) * 5)
    (100, 10.0)
    """
    blocks = math.isqrt(len(values))
    if blocks < 6:
        return len(values)
    size, middle = len(values) // blocks, statistics.median(values)
    above = [v > middle for v in values[: blocks * size]]
    share = statistics.fmean(above)
    tossed = size * share * (1 - share)
    counts = (sum(above[k : k + size]) for k in range(0, len(above), size))
    scatter = statistics.fmean((c - size * share) ** 2 for c in counts)
    # The variance of the variance of so many blocks, relative to it, is 2 / blocks.
    by_chance = scatter <= tossed * (1 + 3 * math.sqrt(2 / blocks))
    return len(values) if by_chance else len(values) * tossed / scatter


def _bounded(count: int) -> bool:
    """Whether so many values can bound their median with 95% confidence."""
    return count > 0 and ranks.narrowest(count)[1] >= 0.95
