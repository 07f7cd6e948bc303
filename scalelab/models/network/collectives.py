"""Seconds of every collective, by every algorithm (Section 3.8).

A message of M bytes is what one worker holds in full: what it contributes to an all-reduce, what
it has gathered in the end, all that it sends to the others in an all-to-all, itself included.
The rounds and bytes behind the seconds, and what they assume, are in `algorithms`.
"""

from scalelab.models.checking import Answer, Numbers
from scalelab.models.network.algorithms import seconds
from scalelab.models.network.network import Network


def all_reduce(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "ring"
) -> Answer:
    """Seconds until all K workers hold the sum of their messages of M bytes.

    "ring": 2 (K-1) alpha + 2 (K-1)/K M beta + (K-1)/K M gamma.
    "recursive doubling": lg K (alpha + M beta + M gamma).
    "halving-doubling": 2 lg K alpha + 2 (K-1)/K M beta + (K-1)/K M gamma.
    These two want a power of two: else K is the next lower one, and 2 alpha + 2 M beta + M gamma
    are added for folding the other workers in and out.
    "binomial tree": 2 lg K (alpha + M beta) + lg K M gamma, lg K rounded up, nothing pipelined.
    "double binary tree": 2 r alpha + r M (2 beta + gamma) / 2b with r = 2 (lg K + b - 1), lg K
    rounded down, each half of the message in the b blocks that `algorithms.best_blocks` finds.
    In a network whose switch adds and copies: "switch", 2 alpha + M beta, each worker sends its
    bytes once and receives the sum once; "switch, by parts", as NVLink's does it, 2 alpha +
    (K+1)/K M beta, because a K-th travels twice each way. Both stream, and cost workers no gamma.
    Sources: Thakur et al. 2005, doi:10.1177/1094342005051521; Rabenseifner 2004,
    doi:10.1007/978-3-540-24685-5_1; Sanders et al. 2009, doi:10.1016/j.parco.2009.09.001; for
    the switch by parts, NVIDIA/nccl-tests pull request 239.
    Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> all_reduce([1e3, 1e9], 8, Network(alpha=5e-6, beta=1 / 50e9))
    array([7.0035e-05, 3.5070e-02])
    """
    return seconds(size, workers, network, "all-reduce", algorithm)


def reduce_scatter(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "ring"
) -> Answer:
    """Seconds until each of K workers holds the sum of one K-th of all messages of M bytes.

    "ring": (K-1) alpha + (K-1)/K M (beta + gamma).
    "halving": lg K alpha + (K-1)/K M (beta + gamma), lg K rounded up.
    Sources: Thakur et al. 2005, doi:10.1177/1094342005051521; Träff 2024, arXiv:2410.14234, for
    counts that are no power of two. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> reduce_scatter(1e9, 8, Network(alpha=5e-6, beta=1 / 50e9))
    0.017535
    """
    return seconds(size, workers, network, "reduce-scatter", algorithm)


def all_gather(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "ring"
) -> Answer:
    """Seconds until all K workers hold the M bytes of which each had one K-th.

    "ring": (K-1) alpha + (K-1)/K M beta.
    "doubling": lg K alpha + (K-1)/K M beta, lg K rounded up.
    Sources: Thakur et al. 2005, doi:10.1177/1094342005051521; Bruck et al. 1997,
    doi:10.1109/71.642949, for counts that are no power of two. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> all_gather(1e9, 8, Network(alpha=5e-6, beta=1 / 50e9), "doubling")
    0.017515
    """
    return seconds(size, workers, network, "all-gather", algorithm)


def reduce(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "binomial tree"
) -> Answer:
    """Seconds until one of K workers holds the sum of all messages of M bytes.

    "binomial tree": lg K (alpha + M beta + M gamma), lg K rounded up.
    "halving, gather": 2 lg K alpha + 2 (K-1)/K M beta + (K-1)/K M gamma.
    Source: Thakur et al. 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> reduce(1e6, 8, Network(alpha=5e-6, beta=1 / 50e9))
    7.5e-05
    """
    return seconds(size, workers, network, "reduce", algorithm)


def broadcast(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "binomial tree"
) -> Answer:
    """Seconds until all K workers hold the M bytes that one had.

    "binomial tree": lg K (alpha + M beta), lg K rounded up.
    "scatter, ring": (lg K + K - 1) alpha + 2 (K-1)/K M beta, van de Geijn's for long messages.
    "scatter, doubling": 2 lg K alpha + 2 (K-1)/K M beta.
    Source: Thakur et al. 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> broadcast(1e9, 8, Network(alpha=5e-6, beta=1 / 50e9), "scatter, ring")
    0.03505
    """
    return seconds(size, workers, network, "broadcast", algorithm)


def all_to_all(
    size: Numbers, workers: Numbers, network: Network, algorithm: str = "pairwise"
) -> Answer:
    """Seconds until each of K workers has sent a K-th of its M bytes to each other.

    "pairwise": (K-1) alpha + (K-1)/K M beta.
    "Bruck": lg K alpha + B/K M beta, B the binary ones in 0 to K - 1: K/2 lg K for a power of two.
    Sources: Thakur et al. 2005, doi:10.1177/1094342005051521; Bruck et al. 1997,
    doi:10.1109/71.642949. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> all_to_all([1e3, 1e9], 8, Network(alpha=5e-6, beta=1 / 50e9), "Bruck")
    array([1.5030e-05, 3.0015e-02])
    """
    return seconds(size, workers, network, "all-to-all", algorithm)
