"""Amdahl, Gustafson, Sun-Ni and the universal scalability law (Section 3.5).

Work is split in two: a serial part that more workers do not shorten, and a part that divides evenly.
The laws differ in how far the second part grows with the workers, and in whose time is 100%.
What only exists between workers, such as an exchange, is no work of one worker: it is `overhead`, and
`seconds`, `overhead_speedup` and `overhead_ceiling` keep it apart.
"""

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers

_WORKERS = "it counts workers, as multiples of the configuration where s was measured"
_SERIAL = "it is the fraction of the work that cannot run in parallel"
_CONTENTION = "it is the share of the work that workers queue for"
_COHERENCY = (
    "it is what each further worker adds to the time because all talk to all, "
    "as a share of the one-worker time"
)
_OVERHEAD = "it is what K workers pay and one worker does not, such as an exchange"


def seconds(
    workers: Numbers, serial: Numbers, parallel: Numbers, overhead: Numbers = 0.0
) -> Answer:
    """Seconds of a fixed job, its three parts apart: T(K) = serial + parallel / K + overhead, for K > 1.

    One worker has nobody to talk to: T(1) = serial + parallel. Without overhead it is Amdahl's law;
    an overhead may be given for each K. Source: the definition of parallel overhead, Grama, Gupta and
    Kumar 1993, doi:10.1109/88.242438. Section 3.5.

    >>> seconds([1, 2, 9], serial=0, parallel=180, overhead=20)
    array([180., 110.,  40.])
    """
    workers = numbers("workers", workers, "it counts the workers that share the job", 1)
    serial = numbers("serial", serial, "it is the part that no number of workers shortens", 0)
    parallel = numbers("parallel", parallel, "it is what one worker takes for the rest", 0)
    overhead = numbers("overhead", overhead, _OVERHEAD, 0)
    return answer(
        lambda k, s, p, o: s + p / k + np.where(k > 1, o, 0), workers, serial, parallel, overhead
    )


def overhead_speedup(workers: Numbers, share: Numbers, measured_on: Numbers) -> Answer:
    """Speedup over one worker that never pays the overhead: S(K) = K (1 - s_K) where s was measured.

    `share` is the overhead's part of a step on `measured_on` workers, all of them waiting together;
    for another K its seconds stay as long: S(K) = 1 / (1/K + o/W), with o/W = s / (measured_on (1 - s)).
    `gustafson` would charge it to the one worker too, and promise s more. Source: `seconds`, solved.
    Section 3.5.

    >>> overhead_speedup([1, 2, 32, 256], share=0.2, measured_on=32).round(2)
    array([ 1.  ,  1.97, 25.6 , 85.33])
    """
    workers = numbers("workers", workers, "it counts the workers that share the job", 1)
    share, measured_on = _overhead(share, measured_on)

    def over_one(k, s, k0):
        work = k0 * (1 - s)
        return np.where(k > 1, work * k / (work + s * k), 1)

    return answer(over_one, workers, share, measured_on)


def overhead_ceiling(share: Numbers, measured_on: Numbers) -> Answer:
    """The speedup that no number of workers passes while the overhead stays: W_p/o = K (1 - s_K) / s_K.

    It is infinite for a share of 0. Source: `overhead_speedup` for endless workers. Section 3.5.

    >>> round(overhead_ceiling(share=0.2, measured_on=32), 9)
    128.0
    """
    share, measured_on = _overhead(share, measured_on)
    with np.errstate(divide="ignore"):
        return answer(lambda s, k0: k0 * (1 - s) / s, share, measured_on)


def after_losses(baseline: float, workers: float, lost: Numbers) -> Answer:
    """The speedup that is left after each loss in turn: S_j = K T(1) / (T(1) + lost_1 + ... + lost_j).

    A loss counts the seconds of all K workers together, and a gain is below 0. When all that is
    between K T(K) and T(1) is listed, the last S is T(1) / T(K). Source: K T(K) less T(1) is the
    parallel overhead of Grama, Gupta and Kumar 1993, doi:10.1109/88.242438. Section 3.5.

    >>> after_losses(30, workers=2, lost=[10, 0, 20])
    array([1.5, 1.5, 1. ])
    """
    alone = real("baseline", baseline, "it is what one worker takes", 0, above=True)
    count = real("workers", workers, "it counts the workers that share the job", 1)
    lost = np.atleast_1d(numbers("lost", lost, "it is worker-seconds beside those of one worker"))
    total = answer(lambda t1, more: t1 + more.cumsum(), alone, lost)
    spent = numbers("spent", total, "it is what K workers take", 0, above=True)
    return answer(lambda t1, k, total: k * (t1 / total), alone, count, spent)


def _overhead(share, measured_on):
    meaning = f"{_OVERHEAD}, as a share of their step"
    share = numbers("share", share, meaning, 0, 1)
    meaning = "it counts the workers of that run; one worker has no overhead"
    return share, numbers("measured_on", measured_on, meaning, 1, above=True)


def amdahl(workers: Numbers, serial: Numbers) -> Answer:
    """Speedup of a fixed job: S(K) = 1 / (s + (1 - s) / K), s a share of the one-worker time.

    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.5.

    >>> amdahl([1, 16, 1024], 0.1).round(2)
    array([1.  , 6.4 , 9.91])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    return answer(lambda k, s: 1 / (s + (1 - s) / k), workers, serial)


def gustafson(workers: Numbers, serial: Numbers) -> Answer:
    """Speedup of a job that fills K workers: S(K) = s + K (1 - s), s a share of the K-worker time.

    Source: Gustafson 1988, doi:10.1145/42411.42415. Section 3.5.

    >>> round(gustafson(1024, 0.1), 2)
    921.7
    """
    workers = numbers("workers", workers, "it counts the workers of that run", 1)
    serial = numbers("serial", serial, "it is the serial share of the time on K workers", 0, 1)
    return answer(lambda k, s: s + k * (1 - s), workers, serial)


def sun_ni(workers: Numbers, serial: Numbers, parallel_growth: Numbers) -> Answer:
    """Speedup when the parallel part grows G-fold: S = (s + (1 - s) G) / (s + (1 - s) G / K).

    s is a share of the one-worker time before growth. G = 1 is Amdahl's law, G = K Gustafson's.
    Memory that grows with K lets a matrix product grow by G = K^1.5: n^3 work on n^2 data.
    Source: Sun and Ni 1993, doi:10.1006/jpdc.1993.1087. Sections 3.3 and 3.5.

    >>> sun_ni(64, 0.1, [1, 64, 64**1.5]).round(1)
    array([ 8.8, 57.7, 63.1])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    meaning = "it is the parallel work, in multiples of one worker's"
    parallel_growth = numbers("parallel_growth", parallel_growth, meaning, 1)
    return answer(
        lambda k, s, g: (s + (1 - s) * g) / (s + (1 - s) * g / k), workers, serial, parallel_growth
    )


def step_serial(compute: Numbers, exposed: Numbers) -> Answer:
    """The serial fraction of a training step: s = exposed / (compute + exposed), both in seconds.

    A profiled step also launches and idles: its `exposed_share` is over all of that, s is not.
    It belongs to the configuration on which both were timed: that is K = 1 in `amdahl`, whose
    ceiling 1/s is over that configuration. To go from there to one worker, that never exchanges,
    take `overhead_speedup`; `rebase` is for work that one worker has, too. Communication that runs
    behind the compute is not exposed. Source: Amdahl's law, solved for a step. Section 3.5.

    >>> round(step_serial(0.180, 0.020), 9)
    0.1
    """
    compute = numbers("compute", compute, "it is the compute time of a step", 0, above=True)
    exposed = numbers("exposed", exposed, "it is communication that no compute hides, per step", 0)
    return answer(lambda c, x: x / (c + x), compute, exposed)


def rebase(serial: Numbers, measured_on: Numbers, base: Numbers = 1) -> Answer:
    """A serial fraction measured on K workers, as a share of the time on K0: s / (s + (1 - s) K / K0).

    From K workers to one it turns Gustafson's s into Amdahl's, and the two laws agree. The serial part
    must be work that one worker has as well; an exchange is none (`overhead_speedup`).
    Source: Shi 1996, http://spartan.cis.temple.edu/shi/public_html/docs/amdahl/amdahl.html.
    Section 3.5.

    >>> round(gustafson(8, 0.2), 9), round(amdahl(8, rebase(0.2, measured_on=8)), 9)
    (6.6, 6.6)
    """
    serial = numbers("serial", serial, "it is the serial share of the time of that run", 0, 1)
    measured_on = numbers("measured_on", measured_on, "it counts the workers of that run", 1)
    base = numbers("base", base, "it counts the workers whose time becomes 100%", 1)
    return answer(lambda s, k, k0: s / (s + (1 - s) * (k / k0)), serial, measured_on, base)


def share_of_ceiling(workers: Numbers, serial: Numbers) -> Answer:
    """How much of Amdahl's ceiling K workers reach: S(K) / (1/s) = s S(K), 0 where there is none.

    It equals the serial share of the K-worker time: at 99% of the ceiling, 99% of the time is serial.
    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.5.

    >>> share_of_ceiling(1024, [0.5, 0.1, 0.02]).round(3)
    array([0.999, 0.991, 0.954])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    return answer(lambda k, s: s / (s + (1 - s) / k), workers, serial)


def workers_for_share(share: Numbers, serial: Numbers) -> Answer:
    """The fewest workers that reach a share q of Amdahl's ceiling: K >= q (1 - s) / (s (1 - q)).

    It counts multiples of the configuration where s was measured; all of the ceiling takes infinite K.
    Source: solve s S(K) = q for K. Section 3.5.

    >>> workers_for_share(0.9, step_serial(0.240, 0.060))
    36.0
    """
    share = numbers("share", share, "it is the part of the ceiling to reach", 0, 1, above=True)
    serial = numbers(
        "serial", serial, f"{_SERIAL}; without one there is no ceiling", 0, 1, above=True
    )

    def fewest(q, s):
        # Rounding must not cost a worker: 36.000000000000007 is 36. For s = 1, fmax drops 0/0.
        return np.fmax(np.ceil(q * (1 - s) / (s * (1 - q)) * (1 - 1e-12)), 1)

    with np.errstate(divide="ignore", invalid="ignore"):
        return answer(fewest, share, serial)


def workers_at_floor(serial: Numbers, floor: Numbers) -> Answer:
    """Where Amdahl's efficiency comes down to a floor E: K = 1 + (1/E - 1) / s, infinite for s = 0.

    Any number, not a whole one: for a curve, or for what to interpolate. To buy, see `most_workers`.
    Source: solve E = 1 / (1 + s (K - 1)) for K. Section 3.5.

    >>> workers_at_floor(0.05, floor=[0.8, 0.5])
    array([ 6., 21.])
    """
    serial = numbers("serial", serial, _SERIAL, 0, 1)
    floor = numbers("floor", floor, "it is the lowest efficiency you accept", 0, 1, above=True)

    def crossing(s, e):
        # One worker keeps any floor, and only one keeps the floor 1 if s > 0; else 0/0 is infinite.
        return np.where(s > 0, 1 + (1 / e - 1) / np.where(s > 0, s, 1), np.inf)

    return answer(crossing, serial, floor)


def most_workers(serial: Numbers, floor: Numbers) -> Answer:
    """The most workers, a whole number, whose efficiency keeps a floor under Amdahl's law.

    It is `workers_at_floor` rounded down, infinite for s = 0; `speedup.largest_serial` asks the
    other way round. Source: as there. Section 3.5.

    >>> most_workers([0.05, 0.03], floor=0.8)
    array([6., 9.])
    """
    # Rounding must not cost a worker: 5.999999999999999 is 6.
    return answer(lambda k: np.floor(k * (1 + 1e-12)), np.asarray(workers_at_floor(serial, floor)))


def usl(workers: Numbers, contention: Numbers, coherency: Numbers) -> Answer:
    """Speedup under queueing and crosstalk: C(K) = K / (1 + σ (K - 1) + κ K (K - 1)).

    Without crosstalk, κ = 0, it is Amdahl's law with s = σ. With it, the speedup falls beyond
    `usl_peak`, and beyond the square of that peak K workers are slower than one.
    Source: Gunther 2008, arXiv:0808.1431. Section 3.5.

    >>> usl([1, 10, 100], 0.01, 0.01).round(2)
    array([1.  , 5.03, 0.99])
    """
    workers = numbers("workers", workers, "it counts workers, or users", 1)
    contention = numbers("contention", contention, _CONTENTION, 0, 1)
    coherency = numbers("coherency", coherency, _COHERENCY, 0)

    def curve(k, sigma, kappa):
        slower = 1 + sigma * (k - 1) + kappa * k * (k - 1)
        return k / slower

    return answer(curve, workers, contention, coherency)


def usl_peak(contention: Numbers, coherency: Numbers) -> Answer:
    """The worker count of the largest `usl` speedup: K = sqrt((1 - σ) / κ), at least 1.

    It is infinite for κ = 0 and σ < 1. Beyond it scaling is retrograde: each worker makes the job slower.
    Source: Gunther 2008, arXiv:0808.1431. Section 3.5.

    >>> round(usl_peak(0.0277284, 1.04366e-4), 2)
    96.52
    """
    contention = numbers("contention", contention, _CONTENTION, 0, 1)
    coherency = numbers("coherency", coherency, _COHERENCY, 0)
    # With σ = 1 and κ = 0 every count is as good as one: fmax turns 0/0 into 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        return answer(
            lambda sigma, kappa: np.fmax(np.sqrt((1 - sigma) / kappa), 1), contention, coherency
        )
