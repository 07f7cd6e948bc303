"""From the readings of a counter or a power sensor to joules; what cannot be known is None."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class MachinePart(NamedTuple):
    """One part of the machine over the block, by each way to know."""

    counter: float | None  # joules
    integral: float | None  # joules

    @property
    def joules(self) -> float | None:
        """Joules by the counter, and without one by the integral of the power."""
        return self.integral if self.counter is None else self.counter

    @property
    def disagreement(self) -> float | None:
        """By how much of the counter the integral is off; None without both."""
        if self.counter is None or self.integral is None:
            return None
        return self.integral / self.counter - 1


def from_counter(readings: Iterable[float | None], wraps: float | None = None) -> float | None:
    """Return what a counter rose by over its readings, or None if that cannot be known.

    A counter that starts again at `wraps` goes on from there; one that falls and should not, was
    reset. One that never moved was not read long enough. Section 3.9.

    >>> from_counter([90.0, 99.0, 4.0], wraps=100.0), from_counter([90.0, 4.0]), from_counter([7.0, 7.0])
    (14.0, None, None)
    """
    total = 0.0
    for before, after in itertools.pairwise(readings):
        if before is None or after is None:
            return None
        if after >= before:
            total += after - before
        elif wraps:
            total += wraps - before + after
        else:
            return None
    return total or None


def integrated(times: Sequence[float], watts: Sequence[float | None]) -> float | None:
    """Return the joules under the power, by trapezoids, or None where a reading is missing.

    Section 3.9.

    >>> integrated([0, 1, 3], [100.0, 200.0, 200.0]), integrated([0, 1], [100.0, None])
    (550.0, None)
    """
    known = [power for power in watts if power is not None]
    if len(known) < len(watts) or len(times) < 2:
        return None
    ends = itertools.pairwise(zip(times, known, strict=True))
    return sum((t2 - t1) * (w1 + w2) / 2 for (t1, w1), (t2, w2) in ends) or None
