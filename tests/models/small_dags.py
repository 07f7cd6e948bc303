"""Random DAGs small enough to try everything on, and what trying everything finds."""

import itertools

import networkx as nx
from hypothesis import strategies as st

WHOLE = st.integers(0, 5).map(float)
REAL = st.one_of(WHOLE, st.floats(1e-3, 1e3))


@st.composite
def dags(draw, most=7, weights=REAL):
    """Any DAG of a few nodes, whose names do not give its order away."""
    size = draw(st.integers(1, most))
    names = draw(st.permutations(range(size)))
    pairs = list(itertools.combinations(names, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return build({node: draw(weights) for node in range(size)}, chosen)


def build(weights, edges):
    """Return the DAG with these weights and edges."""
    dag = nx.DiGraph()
    dag.add_nodes_from((node, {"weight": weight}) for node, weight in weights.items())
    dag.add_edges_from(edges)
    return dag


def chains(dag):
    """Yield every path of the DAG, whole or not, by trying all ways on from every node."""
    paths = [(node,) for node in dag]
    while paths:
        path = paths.pop()
        yield path
        paths += [(*path, node) for node in dag.successors(path[-1])]


def cost(dag, nodes):
    """Return the weight of these nodes together."""
    return sum(dag.nodes[node]["weight"] for node in nodes)


def optimum(dag, workers):
    """Makespan of the best schedule, idling included: the best of all orders of starting.

    Take the tasks of an optimal schedule by their start, and give each to the worker that is free
    first: none starts later than it did. So some order finds the optimum.
    """
    best = float("inf")

    def start(free, finish):
        nonlocal best
        if max(free, default=0.0) >= best:
            return
        if len(finish) == len(dag):
            best = max(free)
        for node in dag:
            if node in finish or any(other not in finish for other in dag.predecessors(node)):
                continue
            ready = max((finish[other] for other in dag.predecessors(node)), default=0.0)
            weight = dag.nodes[node]["weight"]
            if not weight:
                start(free, finish | {node: ready})
                return  # data is there, whatever the order
            end = max(ready, free[0]) + weight
            start(sorted([*free[1:], end]), finish | {node: end})

    start([0.0] * workers, {})
    return best
