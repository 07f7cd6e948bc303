"""Collectives that really move data: lists of rounds of messages, run on NumPy buffers.

Written from the descriptions of the algorithms, not from their prices: a message says who sends
which elements to whom, and whether the receiver adds or overwrites. `run` carries the rounds out,
insists that no worker sends or receives two messages at once, and counts rounds, bytes and seconds.
The prices in scalelab.models.network.algorithms must come out of that.
"""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

ELEMENT = 8  # bytes: the buffers hold 64-bit integers, so that sums are exact


class Message(NamedTuple):
    """Elements that one worker sends to another in a round; they keep their place in the buffer."""

    sender: int
    receiver: int
    where: np.ndarray
    adds: bool


@dataclass(frozen=True)
class Run:
    """What a run cost: the rounds, and per round the bytes of its largest message and addition."""

    rounds: int
    moved: int
    reduced: int
    sent: np.ndarray  # bytes that each worker sent, all rounds together

    def seconds(self, network):
        return (
            network.alpha * self.rounds + network.beta * self.moved + network.gamma * self.reduced
        )


def run(rounds, buffers):
    """Carry out the rounds on the buffers, one row per worker, and return the Run."""
    moved = reduced = 0
    sent = np.zeros(len(buffers), int)
    for messages in rounds:
        assert messages, "an empty round"
        for port in ("sender", "receiver"):
            busy = [getattr(m, port) for m in messages]
            assert len(busy) == len(set(busy)), f"a {port} with two messages at once"
        assert all(m.sender != m.receiver for m in messages)
        # All messages of a round leave before any arrives.
        loads = [buffers[m.sender][m.where].copy() for m in messages]
        for m, load in zip(messages, loads, strict=True):
            if m.adds:
                buffers[m.receiver][m.where] += load
            else:
                buffers[m.receiver][m.where] = load
            sent[m.sender] += load.size * ELEMENT
        moved += max(load.size for load in loads) * ELEMENT
        additions = [load.size for m, load in zip(messages, loads, strict=True) if m.adds]
        reduced += max(additions, default=0) * ELEMENT
    return Run(len(rounds), moved, reduced, sent)


def chunks(elements, parts):
    """Positions of a buffer cut into parts that differ by one element at most."""
    return np.array_split(np.arange(elements), parts)


def backwards(rounds, adds):
    """The same messages in reverse: what spread data out now gathers it, or adds it up."""
    return [
        [Message(m.receiver, m.sender, m.where, adds) for m in messages]
        for messages in reversed(rounds)
    ]


def doublings(workers):
    """Yield 1, 2, 4, ... below the number of workers."""
    return itertools.takewhile(lambda d: d < workers, (2**i for i in itertools.count()))


# --- All-gather and reduce-scatter: worker r owns chunk r ----------------------------------------


def ring_all_gather(workers, elements):
    """Everybody passes on to the right what came from the left."""
    part = chunks(elements, workers)
    return [
        [Message(r, (r + 1) % workers, part[(r - t) % workers], False) for r in range(workers)]
        for t in range(workers - 1)
    ]


def doubling_all_gather(workers, elements):
    """Bruck's: whoever owns n chunks sends them n places to the left, as many as are missing."""
    part = chunks(elements, workers)
    return [
        [
            Message(
                r,
                (r - have) % workers,
                np.concatenate([part[(r + i) % workers] for i in range(min(have, workers - have))]),
                False,
            )
            for r in range(workers)
        ]
        for have in doublings(workers)
    ]


def ring_reduce_scatter(workers, elements):
    return backwards(ring_all_gather(workers, elements), adds=True)


def halving_reduce_scatter(workers, elements):
    return backwards(doubling_all_gather(workers, elements), adds=True)


# --- From and to worker 0 ------------------------------------------------------------------------


def binomial_broadcast(workers, elements):
    """In each round everyone who has the message sends it to one who does not."""
    everything = np.arange(elements)
    return [
        [Message(r, r + d, everything, False) for r in range(d) if r + d < workers]
        for d in doublings(workers)
    ]


def binomial_reduce(workers, elements):
    return backwards(binomial_broadcast(workers, elements), adds=True)


def binomial_scatter(workers, elements):
    """Worker 0 hands half of what it has to the middle of the others, who do the same."""
    part = chunks(elements, workers)
    return [
        [
            Message(r, r + d, np.concatenate(part[r + d : min(r + 2 * d, workers)]), False)
            for r in range(0, workers - d, 2 * d)
        ]
        for d in reversed([*doublings(workers)])
    ]


# --- All-reduce ----------------------------------------------------------------------------------


def ring_all_reduce(workers, elements):
    return ring_reduce_scatter(workers, elements) + ring_all_gather(workers, elements)


def folded(all_reduce):
    """An all-reduce for a power of two, with the surplus workers folded in and out."""

    def rounds(workers, elements):
        core = max(doublings(workers + 1))
        everything = np.arange(elements)
        out = [[Message(r, core + r, everything, False) for r in range(workers - core)]]
        inner = all_reduce(core, elements)
        return backwards(out, adds=True) + inner + out if workers > core else inner

    return rounds


@folded
def recursive_doubling_all_reduce(workers, elements):
    """Exchange all you have with a partner at distance 1, 2, 4, ..."""
    return [
        [Message(r, r ^ d, np.arange(elements), True) for r in range(workers)]
        for d in doublings(workers)
    ]


@folded
def halving_doubling_all_reduce(workers, elements):
    """Give a partner half of the part you are still responsible for, and at last collect it all."""
    part = chunks(elements, workers)
    gather = []
    for d in doublings(workers):
        # Worker r has the d chunks that share all bits of r but the lowest ones.
        have = [np.concatenate(part[r // d * d : r // d * d + d]) for r in range(workers)]
        gather.append([Message(r, r ^ d, have[r], False) for r in range(workers)])
    return backwards(gather, adds=True) + gather


def binomial_all_reduce(workers, elements):
    return binomial_reduce(workers, elements) + binomial_broadcast(workers, elements)


def double_tree_all_reduce(workers, elements, blocks, swap=None):
    """Halves of the message go up and down two trees, in which nobody has children twice."""
    down = double_tree_broadcast(workers, elements, blocks, swap)
    return backwards(down, adds=True) + down


def double_tree_broadcast(workers, elements, blocks, swap=None):
    """From each root down its tree, block after block; edges of two colours take turns.

    An edge has the colour that no other edge has at the port where it sends or receives, so one
    message at a time is kept by construction. Where the colours may be swapped, `swap` says so for
    each group of edges; the default is the slowest schedule.
    """
    if workers == 1:
        return []
    trees = two_trees(workers)
    groups = colour_groups(trees)
    if swap is None:
        swaps = itertools.product((0, 1), repeat=len(groups))
        return max((double_tree_broadcast(workers, elements, blocks, s) for s in swaps), key=len)
    colour = {e: c ^ s for group, s in zip(groups, swap, strict=True) for e, c in group.items()}
    halves = [np.array_split(half, blocks) for half in chunks(elements, 2)]
    has = {(tree, root): blocks for tree, (root, _) in enumerate(trees)}
    done, rounds = dict.fromkeys(colour, 0), []
    while any(count < blocks for count in done.values()):
        now = [
            e
            for e in colour
            if colour[e] == len(rounds) % 2 and done[e] < min(blocks, has.get(e[:2], 0))
        ]
        rounds.append(
            [Message(up, low, halves[tree][done[tree, up, low]], False) for tree, up, low in now]
        )
        for tree, up, low in now:
            done[tree, up, low] += 1
            has[tree, low] = done[tree, up, low]
    return rounds


def two_trees(workers):
    """Two binary trees, each (root, {child: parent}); a parent in one is a leaf in the other."""

    def grow(low, high, parent):
        # The number with the most trailing zeros splits the range, so odd numbers are leaves.
        if low > high:
            return {}
        top = max(range(low, high + 1), key=lambda n: n & -n)
        return {top: parent} | grow(low, top - 1, top) | grow(top + 1, high, top)

    first = grow(1, workers, 0)
    mirrored = (lambda n: workers + 1 - n) if workers % 2 == 0 else (lambda n: n % workers + 1)
    second = {mirrored(n): mirrored(up) if up else 0 for n, up in first.items()}
    trees = []
    for parents in (first, second):
        (root,) = (n for n, up in parents.items() if up == 0)
        trees.append((root - 1, {n - 1: up - 1 for n, up in parents.items() if up}))
    return trees


def colour_groups(trees):
    """Edges (tree, parent, child) in groups, 0 or 1 each, that differ at every shared port."""
    edges = [
        (tree, up, low) for tree, (_, parents) in enumerate(trees) for low, up in parents.items()
    ]
    ports = {}
    for e in edges:
        ports.setdefault(("out", e[1]), []).append(e)
        ports.setdefault(("in", e[2]), []).append(e)
    groups, seen = [], set()
    for start in edges:
        group, todo = {}, [(start, 0)] if start not in seen else []
        while todo:
            e, c = todo.pop()
            if e in group:
                assert group[e] == c, "two colours do not do"
                continue
            group[e] = c
            near = ports["out", e[1]] + ports["in", e[2]]
            todo += [(other, 1 - c) for other in near if other != e]
        seen |= group.keys()
        groups += [group] if group else []
    return groups


# --- All-to-all: place d of worker r holds what goes to worker r + d, at last what came from r - d -


def pairwise_all_to_all(workers, elements):
    part = chunks(elements, workers)
    return [
        [Message(r, (r + d) % workers, part[d], False) for r in range(workers)]
        for d in range(1, workers)
    ]


def bruck_all_to_all(workers, elements):
    """A block that must go 5 places goes 1, then 4: by the binary ones of its distance."""
    part = chunks(elements, workers)
    return [
        [
            Message(
                r,
                (r + bit) % workers,
                np.concatenate([part[d] for d in range(workers) if d & bit]),
                False,
            )
            for r in range(workers)
        ]
        for bit in doublings(workers)
    ]


# --- With a switch that adds and copies ----------------------------------------------------------


def switch_sums_all(buffers):
    """Every worker sends its buffer up once; the switch adds up what comes and copies the sum down.

    Returns the bytes that each worker's link carried up to the switch and down from it.
    """
    workers, elements = buffers.shape
    up, down = np.zeros(workers, int), np.zeros(workers, int)
    for element in range(elements):  # as a stream: an element is done before the next arrives
        total = 0
        for worker in range(workers):
            total += buffers[worker, element]
            up[worker] += ELEMENT
        for worker in range(workers):
            buffers[worker, element] = total
            down[worker] += ELEMENT
    return up, down


def switch_all_reduce(buffers):
    """Each worker has the switch add up its chunk of everybody's, and copy the sum to everybody.

    Returns the bytes that each worker's link carried up to the switch and down from it.
    """
    workers, elements = buffers.shape
    up, down = np.zeros(workers, int), np.zeros(workers, int)
    for owner, where in enumerate(chunks(elements, workers)):
        up += where.size * ELEMENT
        total = buffers[:, where].sum(axis=0)
        down[owner] += where.size * ELEMENT
        up[owner] += where.size * ELEMENT
        buffers[:, where] = total
        down += where.size * ELEMENT
    return up, down
