"""Schedules of a DAG: greedy on K interchangeable workers, or each task on its own rank (Section 3.6).

A greedy schedule never lets a worker idle while a task is ready. It need not be the best one, but
Brent's bound holds for it, whichever of the ready tasks it takes first.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from scalelab.arguments import shown, whole
from scalelab.models.choice import chosen
from scalelab.models.graphs.dag import Compact, compact, heights
from scalelab.models.graphs.timeline import Schedule, Slot
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph

# A name of RULES, or all nodes in the order to take them.
Rule = str | list[Any] | tuple[Any, ...]


def greedy(dag: DiGraph, workers: int, rule: Rule = "first ready") -> Schedule:
    """Give each idle worker a ready task at once, the one that the rule puts first.

    "critical path" takes the task with the longest chain still ahead of it (highest level first);
    a list of all nodes is Graham's list scheduling. Takes n log n steps for n nodes.
    Source: Graham 1969, doi:10.1137/0117039; Hu 1961, doi:10.1287/opre.9.6.841. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> [greedy(dags.tree_sum(8), workers).makespan for workers in (1, 2, 4, 8)]
    [7.0, 4.0, 3.0, 3.0]
    """
    form = compact(dag)
    workers = whole("workers", workers, "it counts the workers that share the tasks", 1, 10**9)
    key = _key(form, rule)
    waiting = form.waiting.copy()
    idle = list(range(min(workers, len(form.nodes))))  # sorted, hence a heap: lowest number first
    ready: list[tuple[float, int]] = []  # key and task
    running: list[tuple[float, int, int]] = []  # finish, worker and task
    timeline: list[Slot] = []

    def freed_by(i):
        freed = []
        for j in form.successors[i]:
            waiting[j] -= 1
            if not waiting[j]:
                freed.append(j)
        return freed

    def release(freed):
        freed.reverse()  # a stack that gives them back in order
        while freed:
            i = freed.pop()
            if form.weights[i]:
                heapq.heappush(ready, (key(i), i))
            else:  # data needs no worker: whatever waited only for it is ready too
                freed.extend(reversed(freed_by(i)))

    now = 0.0
    release([i for i in form.order if not form.waiting[i]])
    while ready or running:
        while ready and idle:
            (_, i), worker = heapq.heappop(ready), heapq.heappop(idle)
            finish = now + form.weights[i]
            timeline.append(Slot(form.nodes[i], worker, now, finish))
            heapq.heappush(running, (finish, worker, i))
        now = running[0][0]
        while running and running[0][0] == now:
            _, worker, i = heapq.heappop(running)
            heapq.heappush(idle, worker)
            release(freed_by(i))
    return Schedule(workers, tuple(timeline))


def placed(dag: DiGraph) -> Schedule:
    """Start each task as soon as its edges allow, on the worker that its node names.

    For DAGs whose tasks live on a rank, such as a pipeline; the makespan is the depth.
    Source: the longest path to each task. Section 3.6.

    >>> from scalelab.models.graphs import pipeline
    >>> placed(pipeline.dag(stages=4, microbatches=8, forward=1, backward=2)).makespan
    33.0
    """
    form = compact(dag)
    start = [0.0] * len(form.nodes)
    for i in form.order:
        finish = start[i] + form.weights[i]
        for j in form.successors[i]:
            start[j] = max(start[j], finish)

    homes = list(dag.nodes(data="worker"))
    timeline: list[Slot] = []
    latest: dict[Hashable, Slot] = {}
    for i in sorted(filter(form.weights.__getitem__, form.order), key=start.__getitem__):
        node, home = homes[i]
        if home is None:
            raise Refusal(
                f"every task must name its worker, got none for node {shown(node)}: "
                "use greedy() where a task may run anywhere"
            )
        slot = Slot(node, home, start[i], start[i] + form.weights[i])
        if home in latest and latest[home].finish > slot.start:
            raise Refusal(
                f"worker {shown(home)} must do one task at a time, got nodes "
                f"{shown(latest[home].node)} and {shown(node)} at once: add an edge that orders them"
            )
        latest[home] = slot
        timeline.append(slot)
    return Schedule(max(len(latest), 1), tuple(timeline))


def _key(form: Compact, rule: Rule) -> Callable[[int], float]:
    """Return the function that orders the ready tasks: the smallest key goes first."""
    if not isinstance(rule, (list, tuple)):
        return chosen("rule", rule, RULES)(form)
    try:
        place = {node: i for i, node in enumerate(rule)}
        return [place[node] for node in form.nodes].__getitem__
    except (TypeError, KeyError):
        raise Refusal(
            f"rule must list every node of the DAG, got {shown(rule)}: list(dag) does"
        ) from None


def _by_arrival(step):
    def key(form):
        counter = itertools.count(0, step)
        return lambda i: next(counter)

    return key


def _by_cost(costs, sign):
    return lambda form: [sign * cost for cost in costs(form)].__getitem__


RULES: dict[str, Callable[[Compact], Callable[[int], float]]] = {
    "first ready": _by_arrival(1),
    "last ready": _by_arrival(-1),
    "critical path": _by_cost(heights, -1),
    "longest": _by_cost(attrgetter("weights"), -1),
    "shortest": _by_cost(attrgetter("weights"), 1),
}
