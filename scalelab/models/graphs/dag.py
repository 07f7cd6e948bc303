"""What the DAG models share: how a task is added, and the compact form that loops run on.

A DAG is a networkx.DiGraph. A node carries `weight`, its cost, 1 unless given; a node of weight 0
is data, which takes no worker. An edge with `order=True` says only *not before*; any other edge
also carries a value. For `scalelab.models` only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from scalelab.arguments import shown
from scalelab.models.checking import numbers
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph

_LARGEST = 200_000  # nodes; networkx then holds about 200 MB
_WEIGHT = "it is the cost of that task, 0 for data that is simply there"


class Compact(NamedTuple):
    """A DAG as lists indexed by the position of a node, so that 1e5 nodes are read once."""

    nodes: list[Hashable]
    weights: list[float]
    successors: list[tuple[int, ...]]  # their positions
    waiting: list[int]  # how many predecessors each node has
    order: list[int]  # positions, each after its predecessors


def compact(dag: DiGraph) -> Compact:
    """Read a networkx graph once, or say why it is no DAG of tasks."""
    import networkx as nx

    if not isinstance(dag, nx.DiGraph) or not len(dag):
        kind = "an empty graph" if isinstance(dag, nx.Graph) and not len(dag) else shown(dag)
        raise Refusal(
            f"dag must be a networkx.DiGraph with at least one node, got {kind}: "
            "build one with scalelab.models.graphs.dags, or by hand"
        )
    nodes = list(dag)
    position = {node: i for i, node in enumerate(nodes)}
    weights = [weight for _, weight in dag.nodes(data="weight", default=1.0)]
    weights = numbers("weight", weights, _WEIGHT, 0).tolist()
    # Tuples of integers, unlike lists, cost the garbage collector nothing.
    successors = [tuple([position[v] for v in nexts]) for _, nexts in dag.adjacency()]
    waiting = [0] * len(nodes)
    for nexts in successors:
        for i in nexts:
            waiting[i] += 1

    left = waiting.copy()
    order = [i for i, count in enumerate(left) if not count]
    for i in order:  # grows while it is read
        for j in successors[i]:
            left[j] -= 1
            if not left[j]:
                order.append(j)
    if len(order) < len(nodes):
        cycle = " -> ".join(str(edge[0]) for edge in nx.find_cycle(dag))
        raise Refusal(
            f"dag must have no cycle, got {shown(cycle)} and back: no task can wait for itself"
        )
    total(weights)
    return Compact(nodes, weights, successors, waiting, order)


def total(weights: Iterable[float]) -> float:
    """Sum without rounding, or refuse a sum that no float holds."""
    try:
        return math.fsum(weights)
    except OverflowError:
        raise Refusal(
            "the weights must add up to less than 1.8e308, got more: check their units"
        ) from None


def heights(dag: Compact) -> list[float]:
    """Heaviest path from each node to an end, its own weight included, by position."""
    above = [0.0] * len(dag.nodes)
    for i in reversed(dag.order):
        above[i] = dag.weights[i] + max((above[j] for j in dag.successors[i]), default=0.0)
    return above


def empty(nodes: int, **named: int) -> DiGraph:
    """Return a DAG to fill, if as many nodes as announced have room."""
    import networkx as nx

    if nodes > _LARGEST:
        sizes = ", ".join(f"{name} {shown(size)}" for name, size in named.items())
        raise Refusal(
            f"the DAG must have at most {_LARGEST:,} nodes, got {shown(nodes)} for {sizes}: "
            "draw a smaller one, the formulas hold for any size"
        )
    return nx.DiGraph()


def task(
    dag: DiGraph,
    op: str,
    operands: Iterable[int] = (),
    after: Iterable[int] = (),
    weight: float = 1.0,
    **attributes: object,
) -> int:
    """Add a node that computes `op` of its operands, not before the tasks in `after`."""
    node = len(dag)
    dag.add_node(node, op=op, weight=weight, **attributes)
    dag.add_edges_from([(other, node) for other in operands])
    dag.add_edges_from(
        [(other, node) for other in after if (other, node) not in dag.edges], order=True
    )
    return node
