"""Section 3.6: timelines of schedules, graphs of tasks, and time over workers between its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.models.graphs import dags, schedule, workdepth
from scalelab.models.graphs.timeline import Schedule
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS

if TYPE_CHECKING:
    from networkx import DiGraph

CHOICES = {
    "sum, one by one": lambda: dags.sequential_sum(33),
    "sum, as a tree": lambda: dags.tree_sum(64),
    "scan, up and down": lambda: dags.blelloch_scan(32),
    "map 24, reduce 6": lambda: dags.map_reduce(24, 6, reduce_weight=2.0),
}

KINDS = {
    "matrix product": ["Addmm", "Mm", "Bmm"],
    "parameter": ["AccumulateGrad"],
    "only a new shape": [
        *("View", "UnsafeView", "ReshapeAlias", "Transpose", "T", "Permute", "Expand"),
        *("Select", "Squeeze", "Unsqueeze", "Clone"),
    ],
}


def lanes(
    title: str, dag: DiGraph, timetable: Schedule, readouts: dict[str, str] | None = None
) -> Chart:
    """A schedule as bars, one lane for each worker; the tasks of a longest chain stand out."""
    chain = set(workdepth.critical_path(dag))
    names = {
        worker: i + 1
        for i, worker in enumerate(sorted({s.worker for s in timetable.timeline}, key=str))
    }
    return Chart(
        title,
        Axis("time", low=0.0),
        Axis("worker", low=0.0, high=len(names) + 1.0, ticks=tuple(range(1, len(names) + 1))),
        (
            _bars("task", [s for s in timetable.timeline if s.node not in chain], names, 1),
            _bars(
                "task on a longest chain",
                [s for s in timetable.timeline if s.node in chain],
                names,
                2,
            ),
        ),
        readouts or {},
        MODEL,
    )


def watch(workers: float, which: str) -> Chart:
    """A greedy schedule of a well-known computation on some workers, and its two bounds."""
    dag, work, depth = _known(which)
    workers = int(workers)
    timetable = schedule.greedy(dag, workers)
    least = workdepth.lower_bound(work, depth, workers)
    most = workdepth.brent(work, depth, workers)
    chart = lanes(f"{which}, on K = {workers}", dag, timetable)
    ends = [0.0, 17.0]
    return Chart(
        chart.title,
        Axis("time", low=0.0, high=66.0),
        Axis("worker", low=0.0, high=17.0, ticks=(1, 4, 8, 12, 16)),
        (
            *chart.series,
            Points("no schedule ends before", [least, least], ends, "dashed", tone=0),
            Points("no greedy one ends after", [most, most], ends, "dashed", tone=3),
        ),
        {
            "Work, depth": f"{work:g}, {depth:g}",
            "Ends at": f"{timetable.makespan:g}",
            "Between": f"{units.text(least)} and {units.text(most)}",
            "Speedup": f"{work / timetable.makespan:.3g}×, at most {work / depth:.3g}×",
            "Busy": f"{timetable.efficiency:.0%} of the workers' time",
        },
        MODEL,
    )


def graph(
    title: str,
    dag: DiGraph,
    kinds: Mapping[str, Sequence[str]],
    stamp: Stamp | None = MODEL,
) -> Chart:
    """A DAG by the length of the chain below each task: edges, and tasks marked by their kind."""
    level, place = _layout(dag)
    x, y = [], []
    for start, end in dag.edges:
        x += [level[start], level[end], np.nan]
        y += [place[start], place[end], np.nan]
    series = [Points("needs", x, y, "dashed", tone=0)]
    kind = {label: name for name, labels in kinds.items() for label in labels}
    marked: dict[str, list] = {}
    for node, label in dag.nodes(data="label"):
        marked.setdefault(kind.get(label, "other"), []).append(node)
    for tone, (name, chosen) in enumerate(sorted(marked.items(), key=lambda i: i[0] == "other"), 1):
        series.append(
            Points(
                name, [level[n] for n in chosen], [place[n] for n in chosen], "points", tone=tone
            )
        )
    last = max(level.values())
    ticks = tuple(range(1, last + 1)) if last <= 10 else ()
    return Chart(
        title,
        Axis("step of the longest chain", ticks=ticks),
        Axis("tasks side by side"),
        tuple(series),
        stamp=stamp,
    )


def between_bounds(
    dag: DiGraph, title: str, most: int = 64, rule: str | list | tuple = "first ready"
) -> Chart:
    """Time of a greedy schedule over the workers, between the two bounds that work and depth give."""
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    workers = POWERS[most >= POWERS]
    ends = [schedule.greedy(dag, int(k), rule).makespan for k in workers]
    line = np.geomspace(1, most, 40)
    return Chart(
        title,
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("time", log=True),
        (
            Points(
                "no schedule is faster",
                line,
                workdepth.lower_bound(work, depth, line),
                "dashed",
                tone=0,
            ),
            Points(
                "no greedy one is slower",
                line,
                workdepth.brent(work, depth, line),
                "dashed",
                tone=3,
            ),
            Points("greedy", workers, ends, "points", tone=2),
        ),
        stamp=MODEL,
    )


@cache
def _known(which):
    dag = CHOICES[which]()
    return dag, workdepth.work(dag), workdepth.depth(dag)


def _bars(label, slots, names, tone):
    x, y = [], []
    for slot in slots:
        x += [slot.start, slot.finish, np.nan]
        y += [names[slot.worker]] * 2 + [np.nan]
    return Points(label, x or [np.nan], y or [np.nan], "lane", tone=tone)


def _layout(dag):
    """Return for each node how many tasks stand before it on a longest chain, and its place there."""
    level = {}
    for node in TopologicalSorter({node: dag.pred[node] for node in dag}).static_order():
        level[node] = 1 + max((level[before] for before in dag.pred[node]), default=0)
    place, taken = {}, {}
    for node in sorted(dag, key=lambda n: (level[n], n)):
        taken[level[node]] = taken.get(level[node], 0) + 1
        place[node] = taken[level[node]]
    return level, place
