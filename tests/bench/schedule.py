"""What a schedule of 1e5 tasks costs, and that it grows with the tasks and no faster."""

import functools
import random

import networkx as nx

from scalelab.models.graphs import schedule, workdepth
from tests.bench import side_by_side

SIZES = (25_000, 50_000, 100_000)


def rows():
    """Yield each size against a longest path by networkx, and against several of the smallest."""
    run = {
        size: functools.partial(schedule.greedy, dag(size), 64, "critical path") for size in SIZES
    }
    for size, ours in run.items():
        graph = ours.args[0]
        longest = functools.partial(nx.dag_longest_path_length, graph, default_weight=1)
        yield side_by_side(f"greedy, {size:,} tasks / networkx path", ours, longest, 6.0, rounds=3)
    small = SIZES[0]
    for size in SIZES[1:]:
        # As many tasks on both sides, so that the garbage collector comes as often.
        many = [run[small]] * (size // small)
        yield side_by_side(
            f"greedy, {size:,} tasks / {size // small} x {small:,}",
            run[size],
            lambda many=many: [one() for one in many],
            2.0,
            rounds=5,
        )
    depth = functools.partial(workdepth.depth, run[SIZES[-1]].args[0])
    yield side_by_side(f"depth, {SIZES[-1]:,} tasks / networkx path", depth, longest, 3.0, rounds=3)


def dag(size):
    """Return a random DAG in which each task waits for two of the thousand before it."""
    rng = random.Random(36)
    graph = nx.DiGraph()
    graph.add_nodes_from((node, {"weight": rng.random()}) for node in range(size))
    graph.add_edges_from(
        (rng.randrange(max(0, node - 1000), node), node) for node in range(1, size) for _ in "ab"
    )
    return graph
