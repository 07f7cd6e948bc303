"""DAGs whose tasks live on a rank: two all-reduces and a data-parallel step (Section 3.6).

A node names its `worker`, and edges with `order=True` keep a worker to one task at a time. So the
depth is the time, `schedule.placed` gives the timeline, and `dags.evaluate` runs the all-reduces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalelab.arguments import real, whole
from scalelab.models.graphs.dag import empty, task

if TYPE_CHECKING:
    from networkx import DiGraph

_WORKERS = "it counts the ranks"
_LAYERS = "it counts the layers, each with gradients of its own"
_MESSAGE = "it is the cost of sending one message and adding it up"
_SECONDS = "it is the cost for one layer"


def ring_all_reduce(workers: int, chunk: float = 1.0) -> DiGraph:
    """K ranks pass chunks of 1/K of the data around a ring: depth 2 (K - 1) chunks.

    Inputs and outputs are K chunks per rank, rank by rank. Half of the steps add (reduce-scatter),
    half copy (all-gather). Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> dags.evaluate(ring_all_reduce(2), [1, 10, 2, 20])
    [3, 30, 3, 30]
    """
    workers = whole("workers", workers, _WORKERS)
    chunk = real("chunk", chunk, _MESSAGE, 0)
    dag = empty(workers * (3 * workers - 2), workers=workers)
    ranks = range(workers)
    held = [[_input(dag, rank, f"{rank}:{part}") for part in ranks] for rank in ranks]
    latest: list[list[int]] = [[] for _ in ranks]
    for step in range(2 * (workers - 1)):
        sent = [held[rank].copy() for rank in ranks]  # all send before anyone receives
        for rank in ranks:
            part, sender = (rank - 1 - step) % workers, (rank - 1) % workers
            if step < workers - 1:
                op, operands = "add", [sent[sender][part], held[rank][part]]
            else:
                op, operands = "copy", [sent[sender][part]]
            node = _message(dag, op, operands, latest[rank], rank, chunk, label=str(part))
            held[rank][part], latest[rank] = node, [node]
    dag.graph["outputs"] = [node for parts in held for node in parts]
    return dag


def tree_all_reduce(workers: int, message: float = 1.0) -> DiGraph:
    """K ranks add whole messages up a binomial tree and send the sum back down: depth 2 log2 K.

    Rounded up when K is no power of two. One input and one output per rank.
    Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> dags.evaluate(tree_all_reduce(3), [1, 2, 4])
    [7, 7, 7]
    """
    workers = whole("workers", workers, _WORKERS)
    message = real("message", message, _MESSAGE, 0)
    dag = empty(3 * workers - 2, workers=workers)
    held = [_input(dag, rank, str(rank)) for rank in range(workers)]
    reaches = [2**i for i in range((workers - 1).bit_length())]
    for reach in reaches:
        for rank in range(0, workers - reach, 2 * reach):
            operands = (held[rank], held[rank + reach])
            held[rank] = _message(dag, "add", operands, (), rank, message, label="+")
    sent: dict[int, list[int]] = {}
    for reach in reversed(reaches):
        for rank in range(0, workers - reach, 2 * reach):
            # A sender has one line: its next message waits for the one before.
            after, to = sent.get(rank, []), rank + reach
            held[to] = _message(
                dag, "copy", (held[rank],), after, to, message, label=f"{rank}→{to}"
            )
            sent[rank] = [held[to]]
    dag.graph["outputs"] = held
    return dag


def data_parallel_step(
    workers: int,
    layers: int,
    forward: float = 1.0,
    backward: float = 2.0,
    exchange: float = 1.0,
    *,
    overlap: bool = True,
) -> DiGraph:
    """One training step of K ranks with L layers: forward, backward, an all-reduce for each layer.

    The all-reduces share the worker "network". With overlap, a layer's starts once its gradients are
    there: depth L f + max(L b + e, b + L e). Without, all wait for the end: L (f + b + e).
    Source: Li et al. 2020, doi:10.14778/3415478.3415530. Section 3.6.

    >>> from scalelab.models.graphs import workdepth
    >>> workdepth.depth(data_parallel_step(4, 3)), workdepth.depth(data_parallel_step(4, 3, overlap=False))
    (10.0, 12.0)
    """
    workers = whole("workers", workers, _WORKERS)
    layers = whole("layers", layers, _LAYERS)
    forward = real("forward", forward, _SECONDS, 0)
    backward = real("backward", backward, _SECONDS, 0)
    exchange = real("exchange", exchange, _SECONDS, 0)
    dag = empty(layers * (2 * workers + 1), workers=workers, layers=layers)
    latest: list[list[int]] = [[] for _ in range(workers)]  # the task that each rank did last

    def compute(op, layer, weight):
        for rank in range(workers):
            label = f"{op[0].upper()}{layer}"
            node = task(dag, op, latest[rank], weight=weight, worker=rank, layer=layer, label=label)
            latest[rank] = [node]
        return [node for (node,) in latest]

    for layer in range(layers):
        compute("forward", layer, forward)
    gradients = {layer: compute("backward", layer, backward) for layer in reversed(range(layers))}
    before = [] if overlap else gradients[0]
    for layer, nodes in gradients.items():
        where = {"worker": "network", "layer": layer, "label": f"A{layer}"}
        before = [task(dag, "all-reduce", nodes, before, exchange, **where)]
    dag.graph["outputs"] = before
    return dag


def _input(dag, rank, label):
    return task(dag, "input", weight=0.0, worker=rank, label=label)


def _message(dag, op, operands, after, rank, weight, label):
    return task(dag, op, operands, after, weight, worker=rank, label=label)
