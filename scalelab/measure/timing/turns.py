"""Several jobs timed by turns, so that what slows the machine for a while slows all of them."""

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from scalelab.arguments import shown, whole
from scalelab.measure.timing import devices, rounds
from scalelab.records import Sample
from scalelab.refusal import Refusal

_Name = TypeVar("_Name", bound=Hashable)


def by_turns(
    jobs: Mapping[_Name, Callable[[], object]],
    *,
    turns: int = 21,
    budget: float = 1.0,
    clock: devices.Clock = time.perf_counter,
) -> dict[_Name, Sample]:
    """Time each job once a turn, first to last, and return a Sample of as many seconds as turns for each.

    Readings of one turn lie side by side in time, so the ratio of two jobs is the median of the ratios
    of their turns. `budget` is what each job may warm up for, five times over. Section 3.2.

    >>> pair = by_turns({"short": lambda: sum(range(99)), "long": lambda: sum(range(9999))}, turns=5)
    >>> turn_ratio(pair["long"], pair["short"]) > 3
    True
    """
    if not jobs:
        raise Refusal(f"jobs must hold at least one function, got {shown(jobs)}: name some")
    turns = whole("turns", turns, "it counts the readings of each job", 1)
    device = devices.pick("cpu", clock)
    readings = {}
    for name, job in jobs.items():
        rounds.checked(job, budget, 0.02)
        reading = rounds.reader(job, device)
        readings[name] = reading, rounds.settle(reading, device.shortest, budget)
    seconds: dict[_Name, list[float]] = {name: [] for name in jobs}
    for _ in range(turns):
        for name, (reading, inner) in readings.items():
            seconds[name].append(reading(inner))
    stopped = f"turns: {turns} by turns with {len(jobs) - 1} other"
    return {
        name: rounds.sample(
            str(name), seconds[name], readings[name][1], stopped, 0.02, {"turns": turns}
        )
        for name in jobs
    }


def turn_ratio(first: Sample, second: Sample) -> float:
    """How many times as long the first takes as the second: the median of the turns' ratios. Section 3.2."""
    import numpy as np

    if len(first.seconds) != len(second.seconds):
        raise Refusal(
            f"first and second must have taken turns, got {len(first.seconds)} and "
            f"{len(second.seconds)} readings: time them by one call of by_turns"
        )
    return float(np.median(np.divide(first.seconds, second.seconds)))
