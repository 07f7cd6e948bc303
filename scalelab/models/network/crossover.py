"""Which algorithm is the fastest, from which size on, and at which worker count first (Section 3.8)."""

import math

import numpy as np

from scalelab.models.checking import Answer, Numbers
from scalelab.models.choice import chosen
from scalelab.models.network.algorithms import ALGORITHMS, seconds
from scalelab.models.network.network import Network


def fastest(
    size: Numbers, workers: Numbers, network: Network, collective: str = "all-reduce"
) -> Answer:
    """The name of the algorithm that takes the fewest seconds; of equals, the first listed.

    Source: the least of the costs of `collectives`. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> [str(name) for name in fastest([1e3, 1e9], 100, Network(5e-6, 1 / 50e9))]
    ['recursive doubling', 'ring']
    """
    names = list(chosen("collective", collective, ALGORITHMS))
    times = [seconds(size, workers, network, collective, name) for name in names]
    least = np.array(names)[np.argmin(times, axis=0)]
    return str(least) if least.ndim == 0 else least


def crossover_size(
    workers: Numbers, network: Network, first: str, second: str, collective: str = "all-reduce"
) -> Answer:
    """The bytes from which the second algorithm is at least as fast as the first.

    List first the algorithm that is better for short messages. 0 if the second is at least as fast
    from a single byte on, infinite if not below 2^60 bytes.
    Source: the size at which their costs are equal, by bisection. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> round(crossover_size(8, Network(5e-6, 1 / 50e9), "recursive doubling", "halving-doubling"))
    600000
    """

    def behind(doublings):
        ours, theirs = (
            seconds(2.0**doublings, workers, network, collective, name) for name in (second, first)
        )
        return np.greater(ours, theirs)

    soonest, latest = behind(0), behind(60)
    low, high = np.zeros(soonest.shape), np.full(soonest.shape, 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        later = behind(middle)
        low, high = np.where(later, middle, low), np.where(later, high, middle)
    size = np.where(latest, math.inf, np.where(soonest, 2.0**high, 0))
    return float(size) if size.ndim == 0 else size
