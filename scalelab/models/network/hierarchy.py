"""An all-reduce over fast links inside nodes and slow ones across them (Section 3.8)."""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import counts
from scalelab.models.network.collectives import all_gather, all_reduce, reduce_scatter
from scalelab.models.network.network import SIZE, Network


def hierarchical_all_reduce(
    size: Numbers,
    nodes: Numbers,
    per_node: Numbers,
    inside: Network,
    outside: Network,
    algorithm: str = "ring",
) -> Answer:
    """Seconds until the workers of n nodes, g in each, all hold the sum of their M bytes.

    Ring reduce-scatter inside each node; then g all-reduces at once of M / g bytes among n workers,
    one of each node, by `algorithm`; ring all-gather inside. One phase ends before the next begins.
    Every worker has its own link `inside` and its own link `outside`: where g workers share c network
    cards, give `outside` g / c times the seconds per byte of a card.
    Source: the three phases as priced in `collectives`. Section 3.8.

    >>> from scalelab.models.network.network import Network
    >>> card, nvlink = Network(0, 1 / 50e9), Network(0, 1 / 450e9)
    >>> round(hierarchical_all_reduce(140e9, 16, 8, inside=nvlink, outside=card), 3)
    1.201
    """
    size = numbers("size", size, SIZE, 0)
    nodes = counts("nodes", nodes, "it counts the nodes")
    per_node = counts("per_node", per_node, "it counts the workers of one node")
    part = np.asarray(answer(lambda m, g: m / g, size, per_node))
    phases = (
        reduce_scatter(size, per_node, inside),
        all_reduce(part, nodes, outside, algorithm),
        all_gather(size, per_node, inside),
    )
    return answer(lambda a, b, c: a + b + c, *map(np.asarray, phases))
