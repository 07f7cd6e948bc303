"""An all-reduce over fast links inside nodes and slow ones across them (Section 3.8).

Three ways to run one on the same wires: phase after phase, all phases at once on different chunks, and
rings through all workers, one for each network card.
"""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import counts, instance
from scalelab.models.network.collectives import all_gather, all_reduce, reduce_scatter
from scalelab.models.network.network import SIZE, Network
from scalelab.refusal import Refusal


def hierarchical_all_reduce(
    size: Numbers,
    nodes: Numbers,
    per_node: Numbers,
    inside: Network,
    outside: Network,
    algorithm: str = "ring",
    overlapped: bool = False,
) -> Answer:
    """Seconds until the workers of n nodes, g in each, all hold the sum of their M bytes.

    Ring reduce-scatter inside each node; then g all-reduces at once of M / g bytes among n workers,
    one of each node, by `algorithm`; ring all-gather inside. One phase ends before the next begins.
    Every worker has its own link `inside` and its own link `outside`: where g workers share c network
    cards, give `outside` g / c times the seconds per byte of a card.

    `overlapped` is the least that the same phases can take, what the busier link of each worker needs:
    the message is cut into chunks, and while one crosses between the nodes the next is scattered and
    the last gathered inside them. Many chunks come near it, and pay for each chunk the latencies of its
    rounds, which this leaves to a measurement.
    Source: the three phases as priced in `collectives`; neither link does anything twice. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> card, nvlink = Network(0, 1 / 50e9), Network(0, 1 / 450e9)
    >>> round(hierarchical_all_reduce(140e9, 16, 8, inside=nvlink, outside=card), 3)
    1.201
    >>> round(hierarchical_all_reduce(140e9, 16, 8, nvlink, card, overlapped=True), 3)
    0.656
    """
    size, nodes, per_node = _checked(size, nodes, per_node)
    overlapped = instance("overlapped", overlapped, bool, "may chunks share both links at once?")
    part = np.asarray(answer(lambda m, g: m / g, size, per_node))
    scattered = np.asarray(reduce_scatter(size, per_node, inside))
    across = np.asarray(all_reduce(part, nodes, outside, algorithm))
    gathered = np.asarray(all_gather(size, per_node, inside))

    def seconds(a, b, c):
        return np.maximum(a + c, b) if overlapped else a + b + c

    return answer(seconds, scattered, across, gathered)


def rings_all_reduce(
    size: Numbers,
    nodes: Numbers,
    per_node: Numbers,
    inside: Network,
    outside: Network,
    rings: Numbers = 1,
) -> Answer:
    """Seconds of an all-reduce by r rings at once, each through all K workers with M / r of the bytes.

    A ring visits the nodes one after the other and leaves each by another worker's network card, so
    that a card carries one ring, and a link inside all of them, or all but the one that its worker's
    card carries. Rounds are those of one ring, 2 (K - 1), and each waits for the slower link.
    Source: the links that each message of such rings takes. Section 3.8.

    >>> card, nvlink = Network(0, 1 / 50e9), Network(0, 1 / 450e9)
    >>> rings_all_reduce(140e9, 16, 8, nvlink, card, rings=[1, 8]).round(3)
    array([5.556, 0.695])
    """
    size, nodes, per_node = _checked(size, nodes, per_node)
    rings = counts("rings", rings, "it counts the rings that run at once")
    inside, outside = Network.checked(inside), Network.checked(outside)
    if (np.maximum(rings, 1) > per_node).any():
        raise Refusal(
            f"rings must be at most the workers of a node, got {rings.max():g}: "
            "each leaves the node by another worker's network card"
        )

    def seconds(m, n, g, r):
        part = m / r / (n * g)
        each = 0.0 * part
        shared = r - ((r == g) & (n > 1))
        for link, messages in ((inside, shared * (g > 1)), (outside, 1.0 * (n > 1))):
            round_ = link.alpha + (link.beta + link.gamma / 2) * messages * part
            each = np.maximum(each, np.where(messages > 0, round_, 0))
        return 2 * (n * g - 1) * each

    return answer(seconds, size, nodes, per_node, rings)


def _checked(size, nodes, per_node):
    return (
        numbers("size", size, SIZE, 0),
        counts("nodes", nodes, "it counts the nodes"),
        counts("per_node", per_node, "it counts the workers of one node"),
    )
