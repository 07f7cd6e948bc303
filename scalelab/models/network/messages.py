"""Collectives as messages that move real numbers: the proof of what `algorithms` charges (Section 3.8).

A plan says who sends which parts of a buffer to whom, round after round, and whether the receiver
adds or overwrites. `run` carries it out and counts; `measure.carried` does so between processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scalelab.arguments import real, shown, whole
from scalelab.models.checking import Numbers, answer
from scalelab.models.choice import chosen, instance
from scalelab.models.network.algorithms import Traffic
from scalelab.models.network.network import SIZE
from scalelab.refusal import Refusal

_WORKERS = "it counts the workers that take part, and a plan lists every message"
_PLACES = "it says who takes each place"
_MOST = 256  # workers: a ring of so many has 130,000 messages


class Message(NamedTuple):
    """Parts of a buffer, from `first` up to but not including `last`; they keep their place."""

    sender: int
    receiver: int
    first: int
    last: int
    adds: bool


@dataclass(frozen=True)
class MessagePlan:
    """Rounds of messages among workers whose buffers are cut into so many equal parts."""

    workers: int
    parts: int
    rounds: tuple[tuple[Message, ...], ...]

    def __add__(self, other: MessagePlan) -> MessagePlan:
        return MessagePlan(self.workers, self.parts, self.rounds + other.rounds)


@dataclass(frozen=True)
class Burden:
    """What a plan asks of the wires, whenever it is sent."""

    messages: int
    sent: float  # bytes of all messages together
    port: float  # bytes through the busiest port, in the direction that has more of them
    across: int  # most messages of one round that leave one group of neighbours


def run(plan: MessagePlan, buffers: Numbers) -> tuple[np.ndarray, Traffic]:
    """Carry out a plan on one buffer per worker; return the buffers after it, and the Traffic.

    All messages of a round leave before any arrives. Nobody may send, or receive, two at once.
    Source: the largest message of each round, added up as in `algorithms`. Section 3.8.

    >>> run(ring(2), [[1, 10], [2, 20]])
    (array([[ 3, 30],
           [ 3, 30]]), Traffic(rounds=2, moved=16, reduced=8))
    """
    plan = _plan_given(plan)
    buffers = _copied(buffers, plan)
    each = buffers.shape[1] // plan.parts
    moved = reduced = 0
    for messages in plan.rounds:
        for port in ("sender", "receiver"):
            busy = [getattr(message, port) for message in messages]
            if len(busy) != len(set(busy)):
                raise Refusal(
                    f"plan must keep one message per {port} and round, got {messages}: "
                    "spread them over more rounds"
                )
        loads = [buffers[m.sender, m.first * each : m.last * each].copy() for m in messages]
        for m, load in zip(messages, loads, strict=True):
            place = buffers[m.receiver, m.first * each : m.last * each]
            place[:] = place + load if m.adds else load
        moved += max(load.nbytes for load in loads)
        added = [load.nbytes for m, load in zip(messages, loads, strict=True) if m.adds]
        reduced += max(added, default=0)
    return buffers, Traffic(len(plan.rounds), moved, reduced)


def load(plan: MessagePlan, size: float, group: int = 1) -> Burden:
    """What a plan on buffers of M bytes asks of ports, and of the cable out of a group of neighbours.

    Workers 0 to group - 1 are neighbours, then the next as many. The port of a
    tree's root carries half of what `run` charges: it receives in one half of the rounds and sends in
    the other, and a port is counted for one direction.
    Source: every message of the plan, at both its ends. Section 3.8.

    >>> load(binomial_tree(8), 64, group=4)
    Burden(messages=14, sent=896.0, port=192.0, across=4)
    >>> load(ring(8), 64, group=4).across
    1
    """
    plan = _plan_given(plan)
    size = real("size", size, SIZE, 0)
    group = whole("group", group, "it counts the workers that share one cable", 1)
    ports = np.zeros((2, plan.workers))
    across = 0
    for messages in plan.rounds:
        leaving = np.zeros(plan.workers // group + 1, int)
        for m in messages:
            ports[0, m.sender] += m.last - m.first
            ports[1, m.receiver] += m.last - m.first
            leaving[m.sender // group] += m.sender // group != m.receiver // group
        across = max(across, int(leaving.max()))
    part = size / plan.parts
    count = sum(len(messages) for messages in plan.rounds)
    sent, port = (answer(np.multiply, parts, part) for parts in (ports[0].sum(), ports.max()))
    return Burden(count, sent, port, across)


def ring_all_gather(workers: int) -> MessagePlan:
    """Everybody hands on to the right what came from the left: K - 1 rounds of one K-th.

    Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Section 3.8.

    >>> run(ring_all_gather(3), [[7, 0, 0], [0, 8, 0], [0, 0, 9]])[0].tolist()
    [[7, 8, 9], [7, 8, 9], [7, 8, 9]]
    """
    workers = whole("workers", workers, _WORKERS, 1, _MOST)
    ranks = range(workers)
    return _plan(
        workers,
        [
            [_message(r, (r + 1) % workers, (r - step) % workers) for r in ranks]
            for step in range(workers - 1)
        ],
    )


def ring_reduce_scatter(workers: int) -> MessagePlan:
    """The same messages in reverse, added up on the way: worker r ends with the sum of part r.

    Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Section 3.8.

    >>> run(ring_reduce_scatter(2), [[1, 10], [2, 20]])[0].diagonal().tolist()
    [3, 30]
    """
    return _reversed(ring_all_gather(workers))


def ring(workers: int) -> MessagePlan:
    """An all-reduce: reduce-scatter, then all-gather, 2 (K - 1) rounds of one K-th.

    Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Section 3.8.

    >>> len(ring(8).rounds)
    14
    """
    return ring_reduce_scatter(workers) + ring_all_gather(workers)


def recursive_doubling(workers: int) -> MessagePlan:
    """An all-reduce: swap everything with a partner at distance 1, 2, 4, ... and add.

    Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> len(recursive_doubling(8).rounds)
    3
    """
    rounds = [
        [_message(r, r ^ reach, 0, workers, True) for r in range(workers)]
        for reach in _doublings(_power("workers", workers))
    ]
    return _plan(workers, rounds)


def halving_doubling(workers: int) -> MessagePlan:
    """An all-reduce: give away half of what you are responsible for, again and again, then collect.

    Source: Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1. Section 3.8.

    >>> len(halving_doubling(8).rounds)
    6
    """
    rounds = [
        [
            _message(r, r ^ reach, r // reach * reach, r // reach * reach + reach)
            for r in range(workers)
        ]
        for reach in _doublings(_power("workers", workers))
    ]
    gather = _plan(workers, rounds)
    return _reversed(gather) + gather


def binomial_tree(workers: int) -> MessagePlan:
    """An all-reduce: everything up a tree, added on the way, and the sum down again.

    Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521. Section 3.8.

    >>> len(binomial_tree(8).rounds)
    6
    """
    workers = whole("workers", workers, _WORKERS, 1, _MOST)
    rounds = [
        [_message(r, r + reach, 0, workers) for r in range(reach) if r + reach < workers]
        for reach in _doublings(workers)
    ]
    spread = _plan(workers, rounds)
    return _reversed(spread) + spread


def hierarchical(
    nodes: int, per_node: int, first: str = "reduce-scatter", last: str = "all-gather"
) -> MessagePlan:
    """An all-reduce in three phases: inside each node, across the nodes, inside each node.

    The first is a reduce-scatter, the second an all-reduce of each part among its owners, the third
    an all-gather. Sizing sheets have an "all-reduce" as the first and as the last, and the sum is
    wrong; "nothing" as the last shows what is held after the second.
    Source: the phases of `hierarchy.hierarchical_all_reduce`, with rings. Section 3.8.

    >>> int(run(hierarchical(2, 2), np.ones((4, 4), int))[0].max())
    4
    """
    nodes = whole("nodes", nodes, "it counts the nodes", 1, _MOST)
    meaning = f"it counts the workers of one node, and all together may be {_MOST}"
    per_node = whole("per_node", per_node, meaning, 1, _MOST // nodes)
    begin = chosen("first", first, {"reduce-scatter": ring_reduce_scatter, "all-reduce": ring})
    ends = {"all-gather": ring_all_gather, "all-reduce": ring, "nothing": _still}
    end = chosen("last", last, ends)
    inside = [range(n * per_node, (n + 1) * per_node) for n in range(nodes)]
    owners = [range(i, nodes * per_node, per_node) for i in range(per_node)]

    def everywhere(plan):
        return _at_once([_among(plan, group, nodes, 0) for group in inside])

    across = _at_once([_among(ring(nodes), group, 1, i * nodes) for i, group in enumerate(owners)])
    rounds = everywhere(begin(per_node)) + across + everywhere(end(per_node))
    return _plan(nodes * per_node, rounds)


def double_binary_tree(workers: int, blocks: int = 1) -> MessagePlan:
    """An all-reduce: each half of the message up and down a tree of its own, in so many blocks.

    Whoever has children in one tree has none in the other. A worker sends to its two children by
    turns, and hears of its two parents by turns, so that every edge has every second round.
    Source: Sanders, Speck and Traeff 2009, doi:10.1016/j.parco.2009.09.001. Section 3.8.

    >>> len(double_binary_tree(8, blocks=2).rounds)
    16
    """
    trees = two_trees(workers)
    blocks = whole("blocks", blocks, "it counts the blocks of each half of the message", 1, _MOST)
    edges = [(tree, up, low) for tree, parents in enumerate(trees) for low, up in parents.items()]
    turns = _turns(edges)
    has = {(tree, up): blocks for tree, up, _ in edges if up not in trees[tree]}  # the roots
    done = dict.fromkeys(edges, 0)
    rounds: list[list[Message]] = []
    while min(done.values(), default=blocks) < blocks:
        now = [
            (tree, up, low)
            for tree, up, low in edges
            if turns[tree, up, low] == len(rounds) % 2
            and done[tree, up, low] < has.get((tree, up), 0)
        ]
        first = [tree * blocks + done[tree, up, low] for tree, up, low in now]
        rounds.append([_message(e[1], e[2], part) for e, part in zip(now, first, strict=True)])
        for tree, up, low in now:
            done[tree, up, low] += 1
            has[tree, low] = done[tree, up, low]
    spread = _plan(len(trees[0]) + 1, rounds, 2 * blocks)
    return _reversed(spread) + spread


def two_trees(workers: int) -> tuple[dict[int, int], dict[int, int]]:
    """The parent of each worker but the root, in two binary trees: a parent in one is a leaf in the other.

    Numbered from one, a worker stands as high as its number can be halved, so odd ones are leaves.
    The second tree counts from the other end, or is moved on by one, so odd ones are its parents.
    Source: Sanders, Speck and Traeff 2009, doi:10.1016/j.parco.2009.09.001. Section 3.8.

    >>> two_trees(4)
    ({0: 1, 2: 1, 1: 3}, {3: 2, 1: 2, 2: 0})
    """
    workers = whole("workers", workers, _WORKERS, 1, _MOST)
    first: dict[int, int] = {}

    def grow(low, high):
        """Return the top of the tree of these numbers, and note who is below whom."""
        top = max(range(low, high + 1), key=lambda n: n & -n)
        for begin, end in ((low, top - 1), (top + 1, high)):
            if begin <= end:
                first[grow(begin, end) - 1] = top - 1
        return top

    grow(1, workers)
    turned = {
        one: (one + 1) % workers if workers % 2 else workers - 1 - one for one in range(workers)
    }
    return first, {turned[low]: turned[up] for low, up in first.items()}


def renumbered(plan: MessagePlan, order: Sequence[int]) -> MessagePlan:
    """The same plan with other workers in its places: `order` says who takes each, from the first on.

    Source: a plan holds for any workers. Section 3.8.

    >>> [m[:2] for m in ring_all_gather(3).rounds[0]]
    [(0, 1), (1, 2), (2, 0)]
    >>> [m[:2] for m in renumbered(ring_all_gather(3), [0, 2, 1]).rounds[0]]
    [(0, 2), (2, 1), (1, 0)]
    """
    plan = _plan_given(plan)
    try:
        who = [whole("order", one, _PLACES, 0) for one in order]
    except (TypeError, Refusal):  # what it is made of is said below, as a whole
        who = []
    if sorted(who) != [*range(plan.workers)]:
        raise Refusal(
            f"order must hold each number from 0 to {plan.workers - 1} once, got {shown(order)}: {_PLACES}"
        )
    return MessagePlan(
        plan.workers,
        plan.parts,
        tuple(
            tuple(m._replace(sender=who[m.sender], receiver=who[m.receiver]) for m in messages)
            for messages in plan.rounds
        ),
    )


def _turns(edges):
    """Return in which of two rounds each edge of the two trees has its turn: no port in one twice."""
    ports: dict[tuple[str, int], list] = {}
    for edge in edges:
        ports.setdefault(("out of", edge[1]), []).append(edge)
        ports.setdefault(("into", edge[2]), []).append(edge)
    turns: dict[tuple[int, int, int], int] = {}
    for start in edges:
        following = [(start, 0)]
        while following:
            edge, turn = following.pop()
            if edge not in turns:
                turns[edge] = turn
                near = ports["out of", edge[1]] + ports["into", edge[2]]
                following += [(other, 1 - turn) for other in near]
    return turns


def _plan_given(plan):
    how = "make one with ring(workers) or another function of this module"
    return instance("plan", plan, MessagePlan, how)


def _still(workers):
    return _plan(workers, [])


def _copied(buffers: Numbers, plan: MessagePlan) -> np.ndarray:
    try:
        rows = np.array(buffers)
    except (TypeError, ValueError):
        rows = np.empty(0)
    fits = rows.ndim == 2 and len(rows) == plan.workers and rows.shape[1] % plan.parts == 0
    if not fits or rows.dtype.kind not in "iuf" or not rows.size or not np.isfinite(rows).all():
        raise Refusal(
            f"buffers must be {plan.workers} rows of a multiple of {plan.parts} finite numbers, got "
            f"{shown(buffers)}: give every worker of the plan one row"
        )
    return rows


def _message(sender, receiver, first, last=None, adds=False):
    return Message(sender, receiver, first, first + 1 if last is None else last, adds)


def _plan(workers, rounds, parts=None):
    kept = tuple(tuple(messages) for messages in rounds if messages)
    return MessagePlan(workers, parts or workers, kept)


def _reversed(plan):
    """What spread data out now adds it up."""
    return _plan(
        plan.workers,
        [
            [Message(m.receiver, m.sender, m.first, m.last, True) for m in messages]
            for messages in reversed(plan.rounds)
        ],
        plan.parts,
    )


def _among(plan, ranks, scale, start):
    """The rounds of a plan among other workers, with its parts made larger and moved along."""
    return [
        [
            Message(ranks[m.sender], ranks[m.receiver], start + scale * m.first,
                    start + scale * m.last, m.adds)
            for m in messages
        ]
        for messages in plan.rounds
    ]  # fmt: skip


def _at_once(groups):
    return [[*itertools.chain(*messages)] for messages in zip(*groups, strict=True)]


def _doublings(workers):
    return [2**i for i in range((workers - 1).bit_length())]


def _power(name, workers):
    workers = whole(name, workers, _WORKERS, 1, _MOST)
    if workers & (workers - 1):
        raise Refusal(
            f"{name} must be a power of two, got {workers}: `algorithms` prices the others, "
            "with two more rounds for folding them in and out"
        )
    return workers


# Plans by the names that `algorithms` gives their prices.
ALL_REDUCE = {
    "ring": ring,
    "recursive doubling": recursive_doubling,
    "halving-doubling": halving_doubling,
    "binomial tree": binomial_tree,
}
