"""An all-reduce over fast links inside nodes and slow ones across them (Section 3.8).

Three ways to run one on the same wires: phase after phase, all phases at once on different chunks, and
rings through all workers, one for each network card.
"""

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import counts, instance
from scalelab.models.network.collectives import all_gather, all_reduce, reduce_scatter
from scalelab.models.network.messages import MessagePlan
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


def arrivals(
    plan: MessagePlan,
    size: float,
    per_node: int,
    inside: Network,
    outside: Network,
    cards: int | None = None,
) -> tuple[tuple[float, ...], ...]:
    """Seconds that each message of each round needs, in the order of the plan; a round takes the longest.

    Workers 0 to g - 1 are a node, then the next as many. Within a node every message has a link of its
    own; between nodes it takes the cable of a network card at either end, and messages that share one
    arrive together, when the bytes of all of them are through. A node has one card for each worker, or
    as many as `cards` says, shared by as many neighbours each.
    Source: alpha + beta x the bytes on the fuller of the two cables, for every message. Section 3.8.

    >>> from scalelab.models.network.messages import hierarchical
    >>> card, nvlink = Network(0, 1 / 50e9), Network(0, 1 / 450e9)
    >>> [round(max(one), 3) for one in arrivals(hierarchical(2, 2), 1.8e9, 2, nvlink, card)]
    [0.002, 0.009, 0.009, 0.002]
    >>> [round(max(one), 3) for one in arrivals(hierarchical(2, 2), 1.8e9, 2, nvlink, card, cards=1)]
    [0.002, 0.018, 0.018, 0.002]
    """
    plan = instance(
        "plan", plan, MessagePlan, "make one with messages.hierarchical(nodes, per_node)"
    )
    size = real("size", size, SIZE, 0, 1e24)
    per_node = whole("per_node", per_node, "it counts the workers of one node")
    inside, outside = Network.checked(inside), Network.checked(outside)
    meaning = "it counts the network cards of one node, each of one worker or of several"
    cards = per_node if cards is None else whole("cards", cards, meaning, 1, per_node)

    def ends(message):
        """Return the card that it leaves by, and the one that it comes in by; none within a node."""
        sides = (("out", message.sender), ("in", message.receiver))
        if message.sender // per_node == message.receiver // per_node:
            return []
        return [(way, who // per_node, who % per_node * cards // per_node) for way, who in sides]

    found = []
    for messages in plan.rounds:
        through: dict[tuple[str, int, int], float] = {}
        loads = [(m.last - m.first) / plan.parts * size for m in messages]
        for m, load in zip(messages, loads, strict=True):
            for end in ends(m):
                through[end] = through.get(end, 0.0) + load
        seconds = []
        for m, load in zip(messages, loads, strict=True):
            link, cables = (outside, ends(m)) if ends(m) else (inside, [])
            waited = max((through[end] for end in cables), default=load)
            seconds.append(link.alpha + link.beta * waited + link.gamma * load * m.adds)
        found.append(tuple(seconds))
    return tuple(found)


def _checked(size, nodes, per_node):
    return (
        numbers("size", size, SIZE, 0),
        counts("nodes", nodes, "it counts the nodes"),
        counts("per_node", per_node, "it counts the workers of one node"),
    )
