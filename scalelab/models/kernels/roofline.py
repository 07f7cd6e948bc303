"""The roofline: two limits of a machine, one ratio of a kernel, and what they allow (Section 3.7).

A kernel computes F FLOPs and moves Q bytes; a machine offers a peak P and a bandwidth b. The caller
gives the roofs, measured or from a data sheet: the dense peak for dense work.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import chosen

_FLOPS = "it counts the floating-point operations of the kernel"
_BYTES = "it counts the bytes that the kernel moves to and from memory"
_INTENSITY = "it is FLOPs per byte moved"
_PEAK = "it is the peak in FLOP/s, dense, for the number format in use"
_BANDWIDTH = "it is the bandwidth of the memory in bytes per second"
_LAUNCH = "it is the time to start one kernel, in seconds"

ADVICE = {
    "compute": (
        "Arithmetic is the wall. Use a narrower number format and the units made for it, do less "
        "arithmetic, or get more FLOP/s. More bandwidth changes nothing."
    ),
    "memory": (
        "Traffic is the wall. Fuse kernels, use narrower numbers, block for a cache, or take more "
        "work per byte, such as a larger batch per read of the weights. More FLOP/s change nothing."
    ),
    "launch": (
        "Starting is the wall. Launch fewer kernels: fuse them, capture them in one graph, or give "
        "each more work. Higher roofs change nothing."
    ),
}


def intensity(flops: Numbers, bytes: Numbers) -> Answer:
    """FLOPs done per byte moved: I = F / Q.

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785. Section 3.7.

    >>> intensity(2, 12)  # one nonzero of a sparse matrix: 8 bytes of value, 4 of index
    0.16666666666666666
    """
    flops = numbers("flops", flops, _FLOPS, 0)
    bytes = numbers("bytes", bytes, _BYTES, 0, above=True)
    return answer(lambda f, q: f / q, flops, bytes)


def ridge(peak: Numbers, bandwidth: Numbers) -> Answer:
    """The least intensity at which arithmetic can run at its peak: P / b.

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785. Section 3.7.

    >>> round(ridge(989e12, 3.35e12))
    295
    """
    peak = numbers("peak", peak, _PEAK, 0, above=True)
    bandwidth = numbers("bandwidth", bandwidth, _BANDWIDTH, 0, above=True)
    return answer(lambda p, b: p / b, peak, bandwidth)


def attainable(intensity: Numbers, peak: Numbers, bandwidth: Numbers) -> Answer:
    """The most FLOP/s that an intensity allows: min(P, b I).

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785. Section 3.7.

    >>> attainable([0.25, 4], 17.6e9, 15e9)
    array([3.75e+09, 1.76e+10])
    """
    intensity = numbers("intensity", intensity, _INTENSITY, 0)
    peak = numbers("peak", peak, _PEAK, 0, above=True)
    bandwidth = numbers("bandwidth", bandwidth, _BANDWIDTH, 0, above=True)
    return answer(lambda i, p, b: np.minimum(p, b * i), intensity, peak, bandwidth)


def bounds(
    flops: Numbers, bytes: Numbers, peak: Numbers, bandwidth: Numbers, launch: Numbers = 0.0
) -> tuple[Answer, Answer, Answer]:
    """Seconds of a kernel: no fewer than max(F / P, Q / b); their sum if the clocks never overlap; 2 max.

    Only the first bounds a real kernel. One that keeps each clock busy at its roof, but never both,
    takes the sum, which is at most 2 max. What exceeds the sum has a cause that is neither clock.
    A launch time is a third term, and the last number 3 max.
    Source: Austin et al. 2025, https://jax-ml.github.io/scaling-book/roofline. Section 3.7.

    >>> bounds(6e12, 2e9, 1e15, 1e12)
    (0.006, 0.008, 0.012)
    """
    times = _times(flops, bytes, peak, bandwidth, launch)
    slowest = answer(lambda c, m, wait: np.maximum(np.maximum(c, m), wait), *times)
    return (
        slowest,
        answer(lambda c, m, wait: c + m + wait, *times),
        answer(lambda t, wait: np.where(wait > 0, 3, 2) * t, np.asarray(slowest), times[-1]),
    )


def classify(
    flops: Numbers, bytes: Numbers, peak: Numbers, bandwidth: Numbers, launch: Numbers = 0.0
) -> Answer:
    """What a kernel waits for: "compute", "memory" or "launch", the largest of F / P, Q / b and launch.

    Exactly on the ridge it is "compute". Sources: Williams, Waterman and Patterson 2009,
    doi:10.1145/1498765.1498785; for the launch, He 2022, https://horace.io/brrr_intro.html.
    Section 3.7.

    >>> classify(2e9, 1e8, 989e12, 3.35e12), classify(2e6, 1e5, 989e12, 3.35e12, launch=5e-6)
    ('memory', 'launch')
    """
    times = _times(flops, bytes, peak, bandwidth, launch)
    largest = answer(lambda c, m, wait: np.where(wait > np.maximum(c, m), 2, m > c), *times)
    kinds = np.array(list(ADVICE))[np.asarray(largest, dtype=int)]
    return str(kinds) if np.ndim(kinds) == 0 else kinds


def advice(kind: str) -> str:
    """What helps a kernel of this class, and what does not. Section 3.7.

    >>> advice("launch")[:21]
    'Starting is the wall.'
    """
    return chosen("kind", kind, ADVICE)


def _times(
    flops: Numbers, bytes: Numbers, peak: Numbers, bandwidth: Numbers, launch: Numbers
) -> tuple[Floats, Floats, Floats]:
    """Seconds that each resource needs on its own, in the order of ADVICE."""
    flops = numbers("flops", flops, _FLOPS, 0)
    bytes = numbers("bytes", bytes, _BYTES, 0, above=True)
    peak = numbers("peak", peak, _PEAK, 0, above=True)
    bandwidth = numbers("bandwidth", bandwidth, _BANDWIDTH, 0, above=True)
    compute = np.asarray(answer(np.divide, flops, peak))
    memory = np.asarray(answer(np.divide, bytes, bandwidth))
    return compute, memory, numbers("launch", launch, _LAUNCH, 0)
