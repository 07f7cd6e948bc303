"""What a benchmark of collectives prints, and what the wires carried meanwhile (Section 3.8).

The factors are those of nccl-tests, so that its columns can be read and predicted.
"""

from collections.abc import Callable

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import chosen
from scalelab.models.network.network import SIZE

_SECONDS = "it is the time of the collective, in seconds"
_WORKERS = "it counts the workers, and one alone moves no bytes"

# Bytes through the busiest port per byte of the message, whatever algorithm of sends and receives.
# https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
FACTORS: dict[str, Callable[[Floats], Floats]] = {
    "all-reduce": lambda k: 2 * ((k - 1) / k),
    "reduce-scatter": lambda k: (k - 1) / k,
    "all-gather": lambda k: (k - 1) / k,
    "all-to-all": lambda k: (k - 1) / k,
    "broadcast": np.ones_like,
    "reduce": np.ones_like,
}


def algorithm_bandwidth(size: Numbers, seconds: Numbers) -> Answer:
    """Bytes of the message per second, the column algbw: M / T.

    Source: nccl-tests, doc/PERFORMANCE.md. Section 3.8.

    >>> algorithm_bandwidth(8e9, 0.04)
    200000000000.0
    """
    size = numbers("size", size, SIZE, 0)
    seconds = numbers("seconds", seconds, _SECONDS, 0, above=True)
    return answer(lambda m, t: m / t, size, seconds)


def bus_factor(workers: Numbers, collective: str = "all-reduce") -> Answer:
    """Bytes that the busiest link must carry per byte of the message: 2 (K - 1) / K for all-reduce.

    (K - 1) / K for reduce-scatter, all-gather and all-to-all, 1 for broadcast and reduce.
    Source: nccl-tests, doc/PERFORMANCE.md. Section 3.8.

    >>> bus_factor([2, 8, 128])
    array([1.      , 1.75    , 1.984375])
    """
    workers = numbers("workers", workers, _WORKERS, 2)
    return answer(chosen("collective", collective, FACTORS), workers)


def bus_bandwidth(
    size: Numbers, seconds: Numbers, workers: Numbers, collective: str = "all-reduce"
) -> Answer:
    """The link speed that point-to-point messages need for this time, the column busbw.

    busbw = factor M / T. Above the link it is no error: a switch that reduces (NVLS, SHARP) or
    phases that stay inside a node saved the wire some of these bytes.
    Source: nccl-tests, doc/PERFORMANCE.md. Section 3.8.

    >>> bus_bandwidth(8e9, 0.04, 8)
    350000000000.0
    """
    rate = algorithm_bandwidth(size, seconds)
    factor = bus_factor(workers, collective)
    return answer(lambda a, b: a * b, np.asarray(rate), np.asarray(factor))


def switch_bandwidth(size: Numbers, seconds: Numbers, workers: Numbers) -> Answer:
    """What each link carried when the switch reduced: (K + 1) / K M / T, in each direction.

    Up go the whole message and the finished K-th part, for the switch to copy; down come a finished
    K-th part and the whole result.
    Source: NVIDIA/nccl-tests pull request 239, a maintainer's n / (n + 1). Section 3.8.

    >>> switch_bandwidth(8e9, 0.04, 8)
    225000000000.0
    """
    rate = algorithm_bandwidth(size, seconds)
    workers = numbers("workers", workers, _WORKERS, 2)
    return answer(lambda a, k: a * ((k + 1) / k), np.asarray(rate), workers)


def nic_bandwidth(size: Numbers, seconds: Numbers, nodes: Numbers, nics: Numbers) -> Answer:
    """What each NIC carried per direction when nodes reduce inside first: 2 (n - 1) / n M / (c T).

    n nodes with c NICs each. Rings through every worker, one for each NIC, load it with busbw / c
    instead. Two nodes have the factor 1, many have 2: a fabric measured on two flatters itself.
    Source: the bytes of an all-reduce among nodes, Patarasuk and Yuan 2009,
    doi:10.1016/j.jpdc.2008.09.002. Section 3.8.

    >>> nic_bandwidth(8e9, 0.04, nodes=[2, 16], nics=8)
    array([2.5000e+10, 4.6875e+10])
    """
    rate = algorithm_bandwidth(size, seconds)
    nodes = numbers("nodes", nodes, "it counts the nodes, and one alone uses no NIC", 2)
    nics = numbers("nics", nics, "it counts the network cards of one node", 1)
    return answer(lambda a, n, c: a * (2 * ((n - 1) / n)) / c, np.asarray(rate), nodes, nics)


def bus_reading(bus: Numbers, link: Numbers, workers: Numbers, tolerance: float = 0.005) -> Answer:
    """How an all-reduce came to a bus bandwidth: "messages", "in-network" or "impossible".

    Messages reach the link's own speed; a switch that reduces by parts, as NVLink's does, reaches
    2 (K - 1) / (K + 1) of it. The tolerance is for what a benchmark rounds and a clock misses.
    Source: bus_factor divided by the (K + 1) / K of switch_bandwidth. Section 3.8.

    >>> bus_reading([366e9, 482e9, 800e9], 450e9, 8)
    array(['messages', 'in-network', 'impossible'], dtype='<U10')
    """
    bus = numbers("bus", bus, "it is the measured bus bandwidth, in bytes per second", 0)
    link = numbers("link", link, "it is the speed of a link in one direction, in bytes/s", 0)
    workers = numbers("workers", workers, _WORKERS, 2)
    tolerance = real("tolerance", tolerance, "it is the rounding you allow, as a fraction", 0, 1)
    bus = np.asarray(answer(lambda b: b / (1 + tolerance), bus))
    level = answer(
        lambda b, w, k: 1.0 * (b > w) + (b > w * np.maximum(1, 2 * ((k - 1) / (k + 1)))),
        *(bus, link, workers),
    )
    read = np.array(["messages", "in-network", "impossible"])[np.asarray(level, int)]
    return str(read) if read.ndim == 0 else read
