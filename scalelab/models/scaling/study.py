"""A scaling study: what its times say, and how fast the problem must grow (Section 3.3).

Strong scaling fixes the work, weak scaling the work per worker. Rows compare with a base row, which
need not be one worker.
"""

from collections.abc import Callable

import numpy as np

from scalelab.arguments import real, shown
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.refusal import Refusal

_WORKERS = "it counts the workers that share the job"
_BASE = "it counts the workers of the base row"
_BASELINE = "it is the time of the base row, in seconds"
_SECONDS = "it is the time on K workers, in seconds"
_GROWTH = "it is the work on K workers, in multiples of the work of the base row"
_EPOCHS = "it counts the epochs, steps or samples until the target is reached"
_FIXED = "it is what each step costs beside its samples, in seconds"
_SAMPLE = "it is what one sample costs one worker, in seconds"
_CRITICAL = "it is the critical batch, in samples"
_WORK = 1e-60, 1e60  # in any unit that a problem is measured in, no problem is smaller or larger


def strong_efficiency(
    baseline: Numbers, seconds: Numbers, workers: Numbers, base: Numbers = 1
) -> Answer:
    """Efficiency at fixed work: E(K) = K0 T(K0) / (K T(K)), relative to a base row of K0 workers.

    Source: Eager, Zahorjan and Lazowska 1989, doi:10.1109/12.21127, with K0 = 1. Section 3.3.

    >>> strong_efficiency(100, 20, workers=64, base=8)
    0.625
    """
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    workers = numbers("workers", workers, _WORKERS, 1)
    base = numbers("base", base, _BASE, 1)
    return answer(lambda t0, t, k, k0: t0 / t * (k0 / k), baseline, seconds, workers, base)


def weak_efficiency(baseline: Numbers, seconds: Numbers) -> Answer:
    """Efficiency at fixed work per worker: E(K) = T(K0) / T(K), whatever K0 and K are.

    Source: Gustafson 1988, doi:10.1145/42411.42415, as a share of the workers. Section 3.3.

    >>> weak_efficiency(100, [100, 105, 125]).round(3)
    array([1.   , 0.952, 0.8  ])
    """
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    return answer(lambda t0, t: t0 / t, baseline, seconds)


def scaled_speedup(baseline: Numbers, seconds: Numbers, growth: Numbers) -> Answer:
    """How many times more work per second: S = G T(K0) / T(K), for a job grown G-fold.

    G = 1 is strong scaling; G = K / K0 is weak scaling, where S / G is the weak efficiency.
    Source: Gustafson 1988, doi:10.1145/42411.42415. Section 3.3.

    >>> scaled_speedup(100, 125, growth=64)
    51.2
    """
    baseline = numbers("baseline", baseline, _BASELINE, 0, above=True)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    growth = numbers("growth", growth, _GROWTH, 0, above=True)
    return answer(lambda t0, t, g: g * (t0 / t), baseline, seconds, growth)


def algorithmic_efficiency(base_epochs: Numbers, epochs: Numbers) -> Answer:
    """What a changed batch leaves of learning per sample: epochs to the target, before over after.

    Source: the ratio is defined here; McCandlish et al. 2018, arXiv:1812.06162, say why it falls
    with the batch. Section 3.3.

    >>> algorithmic_efficiency(40, 50)
    0.8
    """
    base_epochs = numbers("base_epochs", base_epochs, _EPOCHS, 0, above=True)
    epochs = numbers("epochs", epochs, _EPOCHS, 0, above=True)
    return answer(lambda n0, n: n0 / n, base_epochs, epochs)


def total_efficiency(system: Numbers, algorithmic: Numbers) -> Answer:
    """Efficiency to the target: that of the machines, in samples per second, times that of learning.

    It is the strong efficiency of the time to the target. Source: time to target = epochs x time of
    an epoch. Sections 3.3 and 41.6.

    >>> total_efficiency(0.5, algorithmic_efficiency(40, 50))
    0.4
    """
    system = numbers("system", system, "it is the efficiency in samples per second", 0)
    algorithmic = numbers("algorithmic", algorithmic, "it is epochs before over epochs after", 0)
    return answer(lambda s, a: s * a, system, algorithmic)


def target_seconds(
    workers: Numbers,
    batch: Numbers,
    *,
    fixed: Numbers,
    sample: Numbers,
    critical: Numbers,
    least_steps: Numbers,
) -> Answer:
    """Seconds to a target: T(K, B) = Umin (1 + Bc / B) (a + b B / K), steps times seconds of a step.

    Each step costs a fixed time a, whatever it holds, and b for each sample of a worker.
    Source: McCandlish et al. 2018, arXiv:1812.06162, for the steps. Section 3.3.

    >>> target_seconds(64, 2048, fixed=0.02, sample=0.002, critical=8192, least_steps=1000)
    420.0
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    batch = numbers("batch", batch, "it counts the samples of one step", 0, above=True)
    fixed, sample, critical = _step(fixed, sample, critical)
    least_steps = numbers("least_steps", least_steps, "it counts steps", 0, above=True)
    return answer(
        lambda k, n, a, b, c, u: u * (1 + c / n) * (a + b * n / k),
        workers,
        batch,
        fixed,
        sample,
        critical,
        least_steps,
    )


def fastest_batch(
    workers: Numbers, *, fixed: Numbers, sample: Numbers, critical: Numbers
) -> Answer:
    """The batch that reaches the target first: B = sqrt(Bc a K / b).

    It is the geometric mean of the critical batch and of aK / b, where computing takes as long as the
    fixed part. There the machines and the learning are equally efficient, and the time to the target is
    Umin (sqrt(a) + sqrt(b Bc / K))^2. Where it is less than K, some workers would have no sample: take K.
    Source: set the derivative of `target_seconds` to zero. Section 3.3.

    >>> round(fastest_batch(64, fixed=0.02, sample=0.002, critical=8192))
    2290
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    fixed, sample, critical = _step(fixed, sample, critical)
    return answer(lambda k, a, b, c: np.sqrt(c * a * k / b), workers, fixed, sample, critical)


def _step(fixed, sample, critical):
    return (
        numbers("fixed", fixed, _FIXED, 0, above=True),
        numbers("sample", sample, _SAMPLE, 0, above=True),
        numbers("critical", critical, _CRITICAL, 0, above=True),
    )


def isoefficiency(
    workers: Numbers, efficiency: Numbers, overhead: Callable[[float, float], float]
) -> Answer:
    """The least work W that keeps the efficiency: W = E / (1 - E) To(W, K).

    `overhead(work, workers)` is To: the time that all K workers together lose, in the unit of the
    work, K T(K) - W. It must grow more slowly than the work. The answer is 0 where any problem will
    do, and infinite where none does.
    Source: Grama, Gupta and Kumar 1993, doi:10.1109/88.242438. Section 3.3.

    >>> isoefficiency([4, 8, 16], 0.8, lambda work, workers: 2 * workers * np.log2(workers)).round(6)
    array([ 64., 192., 512.])
    """
    workers = numbers("workers", workers, _WORKERS, 1)
    efficiency = numbers("efficiency", efficiency, "it is the efficiency to keep", 0, 1, above=True)
    if not callable(overhead):
        raise Refusal(
            f"overhead must be a function of work and workers, got {shown(overhead)}: "
            "it returns the time that all workers together lose"
        )
    pairs = answer(lambda k, e: np.stack(np.broadcast_arrays(k, e)), workers, efficiency)
    work = [_least_work(k, e, overhead) for k, e in pairs.reshape(2, -1).T]
    return work[0] if pairs.ndim == 1 else np.reshape(work, pairs.shape[1:])


def _least_work(workers, efficiency, overhead):
    from scipy import optimize

    def spare(exponent):
        work = 10.0**exponent
        lost = real("overhead", overhead(work, workers), "it is the time lost by all workers", 0)
        return (1 - efficiency) * work - efficiency * lost

    least, most = np.log10(_WORK)
    if spare(most) < 0:
        return np.inf
    return 0.0 if spare(least) >= 0 else 10.0 ** optimize.bisect(spare, least, most, xtol=1e-14)
