"""How much communication a training step waits for, and at what scale it is half (Section 3.8).

Gradients are ready from the last layer to the first while the backward pass still runs, so their
all-reduce can hide behind it, bucket by bucket; what outlasts the backward pass is exposed.
"""

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.choice import counts
from scalelab.models.network.collectives import all_reduce
from scalelab.models.network.network import SIZE, Network

_BACKWARD = "it is the time of the backward pass, in seconds"
_COMPUTE = "it is the time in which one worker computes the whole step, in seconds"
_BUCKETS = "it counts the equal buckets into which the gradients are cut"


def exposed_seconds(ready: Numbers, seconds: Numbers, backward: Numbers) -> Answer:
    """Seconds by which communication outlasts the backward pass, its pieces one after another.

    Piece j starts when it is ready and the one before is done, so the last is done at the largest
    of ready_j + seconds_j + ... + seconds_n.
    Source: unroll done_j = max(done_(j-1), ready_j) + seconds_j. Section 3.8.

    >>> exposed_seconds(ready=[1, 2, 3], seconds=[0.5, 2, 0.5], backward=3)
    1.5
    """
    ready = numbers("ready", ready, "it is when each piece is ready, in seconds", 0)
    seconds = numbers("seconds", seconds, "it is how long each piece takes, in seconds", 0)
    backward = numbers("backward", backward, _BACKWARD, 0)
    ready, seconds = table(ready=ready, seconds=seconds)

    def beyond(r, c, b):
        return np.maximum(np.max(r + np.cumsum(c[::-1])[::-1]) - b, 0)

    return answer(beyond, ready, seconds, backward)


def bucketed_seconds(
    buckets: Numbers, backward: float, workers: int, network: Network, algorithm: str = "ring"
) -> float:
    """Exposed seconds of an all-reduce in buckets of these bytes, in the order they get ready.

    A bucket is ready when the backward pass, at a steady pace, has made its last byte.
    Source: Li et al. 2020, doi:10.14778/3415478.3415530, section 3.2. Section 3.8.

    >>> ethernet = Network(alpha=30e-6, beta=1 / 10e9)
    >>> [round(bucketed_seconds(b, 0.03, 8, ethernet), 4) for b in ([100e6], [25e6] * 4)]
    [0.0179, 0.0048]
    """
    ready, seconds = _ready(buckets, backward, workers, network, algorithm)
    return exposed_seconds(ready, seconds, backward)


def bucket_times(
    buckets: Numbers, backward: float, workers: int, network: Network, algorithm: str = "ring"
) -> Floats:
    """When each bucket is full, begins to travel, and has arrived: a row of seconds for each of the three.

    They travel one after another, in the order they get ready, as in `bucketed_seconds`.
    Source: done_j = max(done_(j-1), ready_j) + seconds_j. Section 3.8.

    >>> ethernet = Network(alpha=0, beta=1 / 1e9)
    >>> bucket_times([10e6, 10e6], 0.010, 2, ethernet).round(3).tolist()
    [[0.005, 0.01], [0.005, 0.015], [0.015, 0.025]]
    """
    ready, seconds = _ready(buckets, backward, workers, network, algorithm)

    def times(full, took):
        # The last bucket that found the link idle began when it was full, and those after it follow.
        done = np.cumsum(took) + np.maximum.accumulate(full - np.cumsum(took) + took)
        return np.array([full, done - took, done])

    return answer(times, ready, seconds)


def equal_buckets_seconds(
    size: Numbers,
    buckets: Numbers,
    backward: Numbers,
    workers: Numbers,
    network: Network,
    algorithm: str = "ring",
) -> Answer:
    """Exposed seconds with b buckets of M / b bytes, c seconds each: max(c, b c - (1 - 1/b) backward).

    The last bucket is never hidden; if one travels longer than the next takes to make, they queue.
    Source: exposed_seconds with ready_j = j / b backward, largest at j = 1 or b. Section 3.8.

    >>> ethernet = Network(alpha=30e-6, beta=1 / 10e9)
    >>> equal_buckets_seconds(100e6, [1, 4, 30, 100], 0.03, 8, ethernet).round(4)
    array([0.0179, 0.0048, 0.0011, 0.0298])
    """
    size = numbers("size", size, SIZE, 0)
    buckets = counts("buckets", buckets, _BUCKETS)
    backward = numbers("backward", backward, _BACKWARD, 0)
    each = np.asarray(answer(lambda m, n: m / n, size, buckets))
    seconds = np.asarray(all_reduce(each, workers, network, algorithm))
    return answer(
        lambda n, b, c: np.maximum(c, n * c - (1 - 1 / n) * b), buckets, backward, seconds
    )


def best_buckets(
    size: float,
    backward: float,
    workers: int,
    network: Network,
    algorithm: str = "ring",
    most: int = 4096,
) -> int:
    """The number of equal buckets, up to `most`, that exposes the least communication.

    Source: the least of equal_buckets_seconds over 1, 2, ... buckets. Section 3.8.

    >>> best_buckets(100e6, 0.03, 8, Network(alpha=30e-6, beta=1 / 10e9))
    29
    """
    size = real("size", size, SIZE, 0)
    backward = real("backward", backward, _BACKWARD, 0)
    workers = whole("workers", workers, "it counts the workers that take part")
    buckets = np.arange(1, whole("most", most, _BUCKETS, 1, 10**6) + 1)
    exposed = equal_buckets_seconds(size, buckets, backward, workers, network, algorithm)
    return int(buckets[np.argmin(exposed)])


def synchronizing_seconds(
    size: Numbers,
    workers: Numbers,
    network: Network,
    ratio: Numbers = 1.0,
    every: Numbers = 1,
    algorithm: str = "ring",
) -> Answer:
    """All-reduce seconds per step if gradients shrink by a ratio and travel every H-th step only.

    T(M / ratio) / H: compression divides the bytes and keeps every latency, local steps divide
    both. What compressing costs, and what either does to the learning, comes on top. A sparse
    selection cannot be added up on the way: price it as an all-gather of K M / ratio bytes.
    Source: put both into the cost of the all-reduce; for H, Douillard et al. 2023,
    arXiv:2311.08105. Section 3.8.

    >>> ethernet = Network(alpha=30e-6, beta=1 / 10e9)
    >>> synchronizing_seconds(100e6, 8, ethernet, ratio=[1, 100, 1], every=[1, 1, 100]).round(6)
    array([0.01792 , 0.000595, 0.000179])
    """
    size = numbers("size", size, SIZE, 0)
    ratio = numbers("ratio", ratio, "it is how many times smaller compression makes the bytes", 1)
    every = counts("every", every, "it counts the steps from one exchange to the next")
    sent = np.asarray(answer(lambda m, r: m / r, size, ratio))
    seconds = np.asarray(all_reduce(sent, workers, network, algorithm))
    return answer(lambda t, h: t / h, seconds, every)


def critical_workers(compute: Numbers, communication: Numbers) -> Answer:
    """The scale at which a constant communication time equals the computation: K = T(1) / T_comm.

    Half of every step is waiting there, so E = 1/2; and no number of workers gains more than that
    factor over one. It is infinite without communication.
    Source: solve T(1) / K = T_comm for K. Section 3.8.

    >>> critical_workers(compute=6.4, communication=0.1)
    64.0
    """
    compute = numbers("compute", compute, _COMPUTE, 0, above=True)
    meaning = "it is the communication in every step, in seconds"
    communication = numbers("communication", communication, meaning, 0)
    return answer(_share, compute, communication)


def critical_ring_workers(compute: Numbers, size: Numbers, network: Network) -> Answer:
    """The scale at which a ring all-reduce of M bytes takes as long as the computation, T(1) / K.

    With x = K - 1: 2 alpha x^2 + (2 alpha + M (2 beta + gamma)) x = T(1). It is infinite if
    messages cost nothing.
    Source: multiply T(1) / K = 2 (K - 1) alpha + (K - 1) / K M (2 beta + gamma) by K. Section 3.8.

    >>> round(critical_ring_workers(6.4, 1e9, Network(alpha=5e-6, beta=1 / 50e9)), 1)
    155.0
    """
    compute = numbers("compute", compute, _COMPUTE, 0, above=True)
    size = numbers("size", size, SIZE, 0)
    network = Network.checked(network)

    def scale(t, m):
        middle = 2 * network.alpha + m * (2 * network.beta + network.gamma)
        # The positive root in the form that subtracts nothing.
        return 1 + _share(2 * t, middle + np.sqrt(middle * middle + 8 * network.alpha * t))

    return answer(scale, compute, size)


def _ready(buckets, backward, workers, network, algorithm):
    """Return when each bucket is full, and how long it travels."""
    buckets = numbers("buckets", buckets, "it lists the bytes of each bucket", 0, above=True)
    (buckets,) = table(buckets=buckets)
    backward = real("backward", backward, _BACKWARD, 0)
    workers = whole("workers", workers, "it counts the workers that take part")
    seconds = all_reduce(buckets, workers, network, algorithm)
    return answer(lambda m: backward * (np.cumsum(m) / np.sum(m)), buckets), seconds


def _share(part, whole):
    with np.errstate(divide="ignore"):
        return part / whole
