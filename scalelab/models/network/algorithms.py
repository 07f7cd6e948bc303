"""The algorithms behind the collectives: how many rounds, how many bytes (Section 3.8).

All assume workers that send and receive at once, one message each way at a time, rounds that start
together, and messages that split into equal chunks; what does not split evenly costs at most what
the next larger size that does would cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import chosen, counts
from scalelab.models.network.network import SIZE, Network


@dataclass(frozen=True)
class Traffic:
    """What a collective waits for, one round after the other: of each its busiest worker."""

    rounds: float | Floats
    moved: float | Floats  # bytes of the largest message of every round
    reduced: float | Floats  # bytes that the busiest worker of every round adds up

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.rounds + other.rounds, self.moved + other.moved, self.reduced + other.reduced
        )

    def seconds(self, network: Network) -> Answer:
        """Return alpha x rounds + beta x moved + gamma x reduced."""
        return (
            network.alpha * self.rounds + network.beta * self.moved + network.gamma * self.reduced
        )


def seconds(
    size: Numbers, workers: Numbers, network: Network, collective: str, algorithm: str
) -> Answer:
    """Seconds of a collective among K workers with M bytes: alpha r + beta b + gamma c.

    r rounds, b bytes and c bytes are its `traffic`.

    The functions of `collectives`, one for each, say what M is and write the formulas out.
    Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> seconds(1e9, 8, Network(5e-6, 1 / 50e9), "all-reduce", "ring")
    0.03507
    """
    size, workers, network, count = _checked(size, workers, network, collective, algorithm)
    return answer(lambda m, k: count(k, m, network).seconds(network), size, workers)


def traffic(
    size: Numbers, workers: Numbers, network: Network, collective: str, algorithm: str
) -> Traffic:
    """What that waits for: r rounds, b bytes moved, c bytes reduced, by the busiest of each round.

    The network matters only to the double binary tree, which cuts blocks to suit it.
    Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> traffic(1e9, 8, Network(5e-6, 1 / 50e9), "all-reduce", "ring")
    Traffic(rounds=14.0, moved=1750000000.0, reduced=875000000.0)
    """
    size, workers, network, count = _checked(size, workers, network, collective, algorithm)

    def terms(m, k):
        return np.stack(np.broadcast_arrays(*vars(count(k, m, network)).values()))

    return Traffic(*(float(t) if t.ndim == 0 else t for t in answer(terms, size, workers)))


def best_blocks(size: Numbers, workers: Numbers, network: Network) -> Answer:
    """Blocks per tree that make the double binary tree fastest: b (b + 1) >= c, the least such b.

    c = (lg q - 1) M (2 beta + gamma) / (4 alpha), q the largest power of two in K: more blocks
    fill the pipeline sooner and pay more latencies. None is smaller than a byte.
    Source: set the gain of the last block, (c / (b (b + 1)) - 1) 4 alpha, to zero. Section 3.8.

    >>> best_blocks([1e3, 1e6, 1e9], 64, Network(5e-6, 1 / 50e9))
    array([  1.,   3., 100.])
    """
    size, workers, network, _ = _checked(size, workers, network, "all-reduce", "double binary tree")
    return answer(lambda m, k: _blocks(k, m, network), size, workers)


def _checked(size, workers, network, collective, algorithm):
    known = chosen("collective", collective, ALGORITHMS) | IN_NETWORK.get(collective, {})
    count = chosen("algorithm", algorithm, known)
    size = numbers("size", size, SIZE, 0)
    workers = counts("workers", workers, "it counts the workers that take part")
    return size, workers, Network.checked(network), count


def _phases(rounds, moved, times, adding):
    # All that arrives is added up in one phase, if in any; the others copy.
    return Traffic(times * rounds, times * moved, moved if adding else 0.0)


def _ring(k, m, times=1, adding=False):
    # A K-th of the message to the next neighbour, K - 1 times.
    return _phases(k - 1, (k - 1) / k * m, times, adding)


def _halving(k, m, times=1, adding=False):
    # The same bytes in fewer rounds, to partners at distance 1, 2, 4, ...
    return _phases(_up(k), (k - 1) / k * m, times, adding)


def _tree(k, m, times=1, adding=False):
    # The whole message in every round, between as many pairs as there are.
    rounds = _up(k)
    return _phases(rounds, rounds * m, times, adding)


def _folded(count, k, m, times):
    # Workers beyond a power of two hand their message to another first, and get the result last.
    core = 2.0 ** _down(k)
    surplus = (k > core) * 1.0
    return count(core, m, times, adding=True) + _phases(surplus, surplus * m, 2, adding=True)


def _double_tree(k, m, network):
    # Each tree carries half of the message, up and then down, a block per two rounds on each edge.
    blocks = _blocks(k, m, network)
    rounds = 2 * (_down(k) + blocks - 1) * (k > 1)
    return _phases(rounds, rounds * (m / 2 / blocks), 2, adding=True)


def _blocks(k, m, network):
    gain = np.maximum(_down(k) - 1, 0) * (2 * network.beta + network.gamma) / 4 * m
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        even = np.where(gain > 0, gain / network.alpha, 0)
    best = np.ceil(np.sqrt(even + 0.25) - 0.5)
    return np.clip(best, 1, np.maximum(np.floor(m / 2), 1))


def _bruck(k, m):
    # In round j travel the blocks whose distance has bit j set: as many as there are such numbers.
    travels = np.zeros_like(k)
    for bit in 2.0 ** np.arange(_up(k.max(initial=1))):
        travels += k // (2 * bit) * bit + np.maximum(k % (2 * bit) - bit, 0)
    return _phases(_up(k), travels / k * m, 1, adding=False)


def _switch(k, m):
    # The whole message up and the whole result down, at once but for the first packet.
    alone = k == 1
    return Traffic(np.where(alone, 0, 2), np.where(alone, 0, m), 0 * m)


def _switch_by_parts(k, m):
    # Each worker fetches the sum of its K-th and hands it back for copying, beside the above.
    once = _switch(k, m)
    return Traffic(once.rounds, (k + 1) / k * once.moved, once.reduced)


def _down(k):
    return np.frexp(k)[1] - 1  # lg K rounded down, exactly


def _up(k):
    share, doublings = np.frexp(k)
    return doublings - (share == 0.5)


ALGORITHMS = {
    "all-reduce": {
        "ring": lambda k, m, _: _ring(k, m, times=2, adding=True),
        "recursive doubling": lambda k, m, _: _folded(_tree, k, m, times=1),
        "halving-doubling": lambda k, m, _: _folded(_halving, k, m, times=2),
        "binomial tree": lambda k, m, _: _tree(k, m, times=2, adding=True),
        "double binary tree": _double_tree,
    },
    "reduce-scatter": {
        "ring": lambda k, m, _: _ring(k, m, adding=True),
        "halving": lambda k, m, _: _halving(k, m, adding=True),
    },
    "all-gather": {
        "ring": lambda k, m, _: _ring(k, m),
        "doubling": lambda k, m, _: _halving(k, m),
    },
    "reduce": {
        "binomial tree": lambda k, m, _: _tree(k, m, adding=True),
        "halving, gather": lambda k, m, _: _halving(k, m, times=2, adding=True),
    },
    "broadcast": {
        "binomial tree": lambda k, m, _: _tree(k, m),
        "scatter, ring": lambda k, m, _: _halving(k, m) + _ring(k, m),
        "scatter, doubling": lambda k, m, _: _halving(k, m, times=2),
    },
    "all-to-all": {
        "pairwise": lambda k, m, _: _ring(k, m),
        "Bruck": lambda k, m, _: _bruck(k, m),
    },
}

# What a switch does that can add and copy. No choice of the workers: the network has it or not.
IN_NETWORK = {
    "all-reduce": {
        "switch": lambda k, m, _: _switch(k, m),
        "switch, by parts": lambda k, m, _: _switch_by_parts(k, m),
    }
}
