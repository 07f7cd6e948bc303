"""What a device holds up, not what it starts with: cold, and within its power budget, it clocks higher.

Nothing here knows what is run: a reading is a function that returns the seconds of one call.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

# Slower than the window before by more than this: it has not settled yet.
_STEADY = 0.01


class Heat(NamedTuple):
    """What came before the measurement."""

    burst: float  # seconds of the fastest reading
    steady: bool  # whether the last window was no slower than the one before
    seconds: float  # how long it took


def heat(
    reading: Callable[[], float],
    least: float,
    window: float,
    most: float,
    clock: Callable[[], float] = time.perf_counter,
) -> Heat:
    """Read for `least` seconds, then until a window is no slower than the one before.

    Or until `most` seconds are over. Section 3.7.

    >>> ticks = iter(range(1000))
    >>> heat(lambda: 2.0, 20, 5, 60, clock=lambda: next(ticks))
    Heat(burst=2.0, steady=True, seconds=21)
    """
    start, before, burst = clock(), math.inf, math.inf
    while True:
        readings: list[float] = []
        opened = clock()
        while not readings or clock() - opened < window:
            readings.append(reading())
        burst, now = min(burst, *readings), statistics.median(readings)
        steady, spent = now <= (1 + _STEADY) * before < math.inf, clock() - start
        if (steady and spent >= least) or spent >= most:
            return Heat(burst, steady, spent)
        before = now


def finalists(rates: Mapping[int, float], count: int) -> list[int]:
    """Return the `count` fastest of {size: rate}, fastest first: worth the time of a long run.

    A short survey may favour a size that only starts fast, so more than one is run to the end.

    >>> finalists({256: 90, 512: 110, 1024: 108}, 2)
    [512, 1024]
    """
    return sorted(rates, key=lambda size: rates[size], reverse=True)[:count]


def affordable(size: int, rates: Mapping[int, float], longest: float) -> bool:
    """Whether a product of this size ends within `longest` seconds, at the rate of the last size.

    The first is always tried. A product of n x n matrices takes 2 n**3 operations.

    >>> affordable(2000, {1000: 1e9}, longest=1.0), affordable(2000, {1000: 1e11}, longest=1.0)
    (False, True)
    """
    return not rates or 2 * size**3 / rates[max(rates)] <= longest
