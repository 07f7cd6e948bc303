"""Speedup, efficiency, and what a serial fraction leaves of them (Section 3.1).

One quantity is measured, the time T(K) of a fixed job on K workers; the rest is arithmetic.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.refusal import Refusal

_WORKERS = "it counts the workers that share the job"
_SERIAL = "it is the fraction of the work that cannot run in parallel"
_SECONDS = "it is the time of the job on K workers, in seconds"
_BASELINE = "it is the time of the same job on one worker, in seconds"
_SPEEDUP = "it is how many times sooner the job ends than on one worker"
_EFFICIENCY = "it is the share of the paid workers that did useful work"
_FLOOR = "it is the lowest efficiency you accept, as a fraction"


def speedup(baseline: Numbers, seconds: Numbers) -> Answer:
    """How many times sooner the job ends: S(K) = T(1) / T(K).

    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.1.

    >>> speedup(80, [40, 20])
    array([2., 4.])
    """
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    return answer(lambda t1, t: t1 / t, baseline, seconds)


def efficiency(baseline: Numbers, seconds: Numbers, workers: Numbers) -> Answer:
    """The share of the paid workers that did useful work: E(K) = S(K) / K = T(1) / (K T(K)).

    Above 1 the speedup is superlinear, and the baseline wants an audit.
    Source: Eager, Zahorjan and Lazowska 1989, doi:10.1109/12.21127. Section 3.1.

    >>> efficiency(600, 60, 8)
    1.25
    """
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    workers = numbers("workers", workers, _WORKERS, 1)
    return answer(lambda t1, t, k: t1 / t / k, baseline, seconds, workers)


def relative_efficiency(base_efficiency: Numbers, efficiency: Numbers) -> Answer:
    """What is left of the efficiency of a base configuration: SE(K) = E(K) / E(K0).

    From times it is `study.strong_efficiency` with a base of K0 workers. It says nothing of E(K0).
    Source: the definition. Sections 3.1 and 3.9.

    >>> relative_efficiency(0.4, [0.36, 0.32])
    array([0.9, 0.8])
    """
    meaning = f"{_EFFICIENCY}, the one to compare with"
    base_efficiency = numbers("base_efficiency", base_efficiency, meaning, 0, above=True)
    efficiency = numbers("efficiency", efficiency, _EFFICIENCY, 0)
    return answer(lambda e0, e: e / e0, base_efficiency, efficiency)


def fixed_job_seconds(workers: Numbers, serial: Numbers, baseline: Numbers = 1.0) -> Answer:
    """Seconds of a job whose parallel part divides evenly: T(K) = T(1) (s + (1 - s) / K).

    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.1.

    >>> round(fixed_job_seconds(4, 0.05), 4)
    0.2875
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    return answer(lambda k, s, t1: t1 * (1 - s) / k + t1 * s, workers, serial, baseline)


def ceiling(serial: Numbers) -> Answer:
    """The speedup that no number of workers passes: S(infinity) = 1 / s, infinite for s = 0.

    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.1.

    >>> ceiling(0.05)
    20.0
    """
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    with np.errstate(divide="ignore", over="ignore"):
        limit = 1 / np.abs(serial)  # -0.0 is zero too
    return float(limit) if np.ndim(limit) == 0 else limit


def karp_flatt(speedup: Numbers, workers: Numbers) -> Answer:
    """The serial fraction that a measured speedup implies: e = (1/S - 1/K) / (1 - 1/K).

    Constant over K, it is a serial part, or a cost that grows as 1 - 1/K, like the bytes of an all-reduce;
    growing with K, it is overhead; negative, S exceeds K.
    Source: Karp and Flatt 1990, doi:10.1145/78607.78614. Section 3.1.

    >>> round(karp_flatt(180, 256), 5)
    0.00166
    """
    speedup = numbers("speedup", speedup, _SPEEDUP, 0, above=True)
    workers = numbers("workers", workers, f"{_WORKERS}; one worker shows no scaling", 1, above=True)
    return answer(lambda s, k: (1 / s - 1 / k) / (1 - 1 / k), speedup, workers)


def largest_serial(workers: Numbers, floor: Numbers) -> Answer:
    """The largest serial fraction that keeps E(K) at the floor: s = (1/E - 1) / (K - 1), at most 1.

    Source: solve E(K) = 1 / (1 + s (K - 1)) of Amdahl's law for s. Section 3.1.

    >>> largest_serial([2, 6, 251], 0.8)
    array([0.25 , 0.05 , 0.001])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    floor = numbers("floor", floor, _FLOOR, 0, 1, above=True)

    # One worker is always fully efficient, so any fraction will do there: fmin turns 0/0 into 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        return answer(lambda k, e: np.fmin((1 / e - 1) / (k - 1), 1), workers, floor)


def first_below(workers: Numbers, efficiency: Numbers, floor: float) -> float | None:
    """The smallest worker count of a table whose efficiency is below the floor, or None.

    Source: the definition of E(K), read off a table. Section 3.1.

    >>> first_below([8, 16, 32], [0.7407, 0.5714, 0.3922], 0.5)
    32
    """
    workers, efficiency, floor = _table(workers, efficiency, floor)
    below = workers[efficiency < floor]
    return _count(below.min()) if below.size else None


def knee(workers: Numbers, efficiency: Numbers, floor: float) -> float | None:
    """The largest worker count up to which every count of a table keeps the floor, or None.

    A count beyond a dip does not qualify: nobody buys through a hole. Section 3.1.

    >>> knee([8, 16, 32, 64], [0.9, 0.4, 0.8, 0.3], 0.75)
    8
    """
    below = first_below(workers, efficiency, floor)
    workers, efficiency, floor = _table(workers, efficiency, floor)
    above = workers if below is None else workers[workers < below]
    return _count(above.max()) if above.size else None


def _table(workers: Numbers, efficiency: Numbers, floor: float) -> tuple[Floats, Floats, float]:
    workers = numbers("workers", workers, _WORKERS, 1)
    efficiency = numbers("efficiency", efficiency, "it is speedup divided by workers", 0)
    limit = numbers("floor", floor, _FLOOR, 0, 1, above=True)
    if limit.ndim:
        raise Refusal(f"floor must be one number, got {limit.size} in an array: {_FLOOR}")
    workers, efficiency = table(workers=workers, efficiency=efficiency)
    return workers, efficiency, float(limit)


def _count(value: float) -> float:
    return int(value) if value == int(value) else float(value)
