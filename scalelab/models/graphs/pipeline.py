"""A pipeline of stages: its bubble, what it holds in memory, and its DAG (Section 3.6).

A batch is cut into m micro-batches that pass through p stages, one device each. GPipe does all
forward passes first; 1F1B alternates as soon as it can; with v chunks per device it interleaves.
"zb-h1" and "zb-h2" split each backward pass: the gradient of the input is handed on at once, that of the
weights waits until its device has nothing better to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import chosen
from scalelab.models.graphs.dag import empty, task
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph

_STAGES = "it counts the devices that the model is cut across"
_MICROBATCHES = "it counts the pieces that a batch is cut into"
_CHUNKS = "it counts the pieces of the model that one device holds, 1 for no interleaving"
_PASS = "it is the cost of one micro-batch on one whole stage"


def bubble(stages: Numbers, microbatches: Numbers, chunks: Numbers = 1) -> Answer:
    """Share of the step in which a device idles: (p - 1) / (v m + p - 1), GPipe and 1F1B alike.

    Papers often divide by the busy time instead: (p - 1) / (v m).
    Source: Huang et al. 2019, arXiv:1811.06965; Narayanan et al. 2021, doi:10.1145/3458817.3476209.
    Section 3.6.

    >>> bubble(stages=4, microbatches=[1, 4, 9, 27])
    array([0.75      , 0.42857143, 0.25      , 0.1       ])
    """
    stages = numbers("stages", stages, _STAGES, 1)
    microbatches = numbers("microbatches", microbatches, _MICROBATCHES, 1)
    chunks = numbers("chunks", chunks, _CHUNKS, 1)
    return answer(lambda p, m, v: (p - 1) / (v * m + p - 1), stages, microbatches, chunks)


def enough_microbatches(stages: Numbers, share: Numbers, chunks: Numbers = 1) -> Answer:
    """The fewest micro-batches that keep the bubble within a share of the step.

    m = (p - 1) (1/share - 1) / v, rounded up, at least 1. An interleaved schedule also wants a
    multiple of p. Source: solve (p - 1) / (v m + p - 1) for m. Section 3.6.

    >>> enough_microbatches(stages=8, share=0.125)
    49.0
    """
    stages = numbers("stages", stages, _STAGES, 1)
    share = numbers("share", share, "it is the bubble you accept, as a fraction", 0, 1, above=True)
    chunks = numbers("chunks", chunks, _CHUNKS, 1)

    def fewest(p, b, v):
        # Rounding must not cost a micro-batch: 49.00000000000001 is 49.
        return np.maximum(np.ceil((p - 1) * (1 / b - 1) / v * (1 - 1e-12)), 1)

    return answer(fewest, stages, share, chunks)


def in_flight(
    stages: Numbers, microbatches: Numbers, order: str = "1f1b", chunks: Numbers = 1
) -> Answer:
    """Micro-batches whose activations the first device holds at the peak.

    GPipe holds all m; 1F1B min(m, p), whatever m; interleaved min(m, p + (p - 1) / v). With the
    gradient of the weights apart they are held until it is done: "zb-h1" min(m, p), "zb-h2"
    min(m, 2 p - 1), and that on every device.
    Source: Narayanan et al. 2021, doi:10.1145/3458817.3476209; Korthikanti et al. 2022,
    arXiv:2205.05198, section 4.2.3; Qi et al. 2023, arXiv:2401.10241. Section 3.6.

    >>> in_flight(4, 32, "gpipe"), in_flight(4, 32), in_flight(4, 32, chunks=2)
    (32.0, 4.0, 5.5)
    """
    stages = numbers("stages", stages, _STAGES, 1)
    microbatches = numbers("microbatches", microbatches, _MICROBATCHES, 1)
    chunks = numbers("chunks", chunks, _CHUNKS, 1)
    chosen("order", order, ORDERS)
    _interleaves(order, chunks.max(initial=1))

    def held(p, m, v):
        ahead = np.where(v > 1, (p - 1) / v, p - 1 if order == "zb-h2" else 0)
        return m + 0 * ahead if order == "gpipe" else np.minimum(m, p + ahead)

    return answer(held, stages, microbatches, chunks)


def dag(
    stages: int,
    microbatches: int,
    order: str = "1f1b",
    chunks: int = 1,
    forward: float = 1.0,
    backward: float = 2.0,
) -> DiGraph:
    """Passes of every micro-batch through every stage, in the order that each device takes them.

    With "zb-h1" and "zb-h2" half of `backward` is a task of its own, the gradient of the weights:
    nothing waits for it, and the step takes m (f + b) + (p - 1) f, for m >= 2 p - 1 and b <= 2 f.
    Edges carry activations and gradients; edges with `order` keep each device in its order. So
    the depth is the time of the step, otherwise (m + (p - 1) / v) (forward + backward).
    Source: Huang et al. 2019, arXiv:1811.06965; Narayanan et al. 2021, doi:10.1145/3458817.3476209;
    Qi et al. 2023, arXiv:2401.10241. Section 3.6.

    >>> from scalelab.models.graphs import schedule
    >>> round(1 - schedule.placed(dag(stages=4, microbatches=9)).efficiency, 12)
    0.25
    """
    stages = whole("stages", stages, _STAGES)
    microbatches = whole("microbatches", microbatches, _MICROBATCHES)
    chunks = whole("chunks", chunks, _CHUNKS, 1, 10**6)  # a float holds it, and no graph as many
    weights = {
        "forward": real("forward", forward, _PASS, 0) / chunks,
        "backward": real("backward", backward, _PASS, 0) / chunks,
    }
    chosen("order", order, ORDERS)
    _interleaves(order, chunks)
    if order in LATER:
        weights["weights"] = weights["backward"] = weights["backward"] / 2
    if chunks > 1 and microbatches % stages:
        raise Refusal(
            f"microbatches must be a multiple of stages to interleave, got {microbatches} "
            f"for {stages} stages: the devices take them in groups of one per stage"
        )
    pieces = stages * chunks  # piece q of the model lives on device q mod p
    graph = empty(len(weights) * pieces * microbatches, stages=stages, microbatches=microbatches)
    nodes = {}
    for device in range(stages):
        before: list[int] = []
        for op, chunk, microbatch in _turns(stages, microbatches, chunks, order, device):
            label = f"{op[0].upper()}{microbatch}"  # F, B or W
            where = {"worker": device, "chunk": chunk, "microbatch": microbatch}
            node = task(graph, op, after=before, weight=weights[op], label=label, **where)
            nodes[op, chunk * stages + device, microbatch] = node
            before = [node]
    for (op, piece, microbatch), node in nodes.items():
        if op == "weights":
            graph.add_edge(nodes["backward", piece, microbatch], node, order=False)
            continue
        step = 1 if op == "forward" else -1
        there = nodes.get((op, piece + step, microbatch))
        if there is None and op == "forward":  # the last piece turns around
            there = nodes["backward", piece, microbatch]
        if there is not None:
            graph.add_edge(node, there, order=False)
    return graph


def _turns(stages, microbatches, chunks, order, device):
    """List what one device does: (op, chunk, micro-batch), first to last."""
    rounds = range(microbatches * chunks)

    def turn(op, i):
        chunk = i // stages % chunks
        chunk = chunk if op == "forward" else chunks - 1 - chunk
        return op, chunk, i // (stages * chunks) * stages + i % stages

    forwards = [turn("forward", i) for i in rounds]
    backwards = [turn("backward", i) for i in rounds]
    ahead = ORDERS[order](stages - 1 - device, stages, chunks, len(rounds))
    pairs = zip(forwards[ahead:], backwards, strict=False)
    alternating = [one for pair in pairs for one in pair]
    turns = forwards[:ahead] + alternating + backwards[len(alternating) // 2 :]
    return _with_weights(turns, LATER[order] * device) if order in LATER else turns


def _with_weights(turns, behind):
    """Add the gradients of the weights, so many backward passes behind."""
    both, waiting = [], []
    for op, chunk, microbatch in turns:
        both.append((op, chunk, microbatch))
        if op == "backward":
            waiting.append(("weights", chunk, microbatch))
            if len(waiting) > behind:
                both.append(waiting.pop(0))
    return both + waiting


def _interleaves(order, chunks):
    if order != "1f1b" and chunks > 1:
        raise Refusal(
            f"chunks must be 1 for the order {order!r}, got {chunks:g}: only '1f1b' interleaves"
        )


# How many forward passes a device does before its first backward pass, by the devices after it.
ORDERS = {
    "gpipe": lambda later, stages, chunks, rounds: rounds,
    "1f1b": lambda later, stages, chunks, rounds: (
        later if chunks == 1 else 2 * later + (chunks - 1) * stages
    ),
    "zb-h1": lambda later, stages, chunks, rounds: later,
    "zb-h2": lambda later, stages, chunks, rounds: 2 * later,
}
# How many backward passes the gradients of the weights are behind, for each device before.
LATER = {"zb-h1": 1, "zb-h2": 2}
