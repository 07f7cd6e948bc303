"""Section 3.6: schedules and pipelines as lanes, graphs of tasks, and time between its two bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.models.graphs import dags, pipeline, rank_dags, schedule, workdepth
from scalelab.models.graphs.timeline import Schedule
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS
from scalelab.show.plots.arrows import arrows

if TYPE_CHECKING:
    from networkx import DiGraph

CHOICES = {
    "sum, one by one": lambda: dags.sequential_sum(17),
    "sum, as a tree": lambda: dags.tree_sum(32),
    "scan, up and down": lambda: dags.blelloch_scan(16),
    "map 16, reduce 4": lambda: dags.map_reduce(16, 4, reduce_weight=2.0),
}
WORKERS = (2, 3, 4, 6, 8, 12, 16)

ALL_REDUCES: dict[str, Callable[[int], DiGraph]] = {
    "ring": rank_dags.ring_all_reduce,
    "tree": rank_dags.tree_all_reduce,
}
RANKS = (2, 4, 8)
EXCHANGES = {"at the end": False, "overlapped": True}

PIPELINES = {
    "GPipe": lambda stages, m: pipeline.dag(stages, m, "gpipe"),
    "1F1B": lambda stages, m: pipeline.dag(stages, m),
    "1F1B, interleaved": lambda stages, m: pipeline.dag(stages, m, chunks=2),
    "zero bubble, H1": lambda stages, m: pipeline.dag(stages, m, "zb-h1"),
    "zero bubble, H2": lambda stages, m: pipeline.dag(stages, m, "zb-h2"),
}
PARTS = {
    "forward": "forward",
    "backward": "backward, to the input",
    "weights": "backward, of the weights",
}

GRADIENTS = {
    "gradient of an input, dX": ["Addmm dX", "Mm dX"],
    "attention, one kernel": [
        "ScaledDotProductFlashAttentionForCpu",
        "ScaledDotProductFlashAttention",
    ],
    "gradient of a weight, dW": ["Addmm dW", "Mm dW"],
}


def watch(workers: float, which: str) -> Chart:
    """A greedy schedule of a well-known computation on some workers, and its two bounds.

    In each bar stands its round: how many tasks, itself included, the longest chain to it has.
    """
    dag, work, depth = _known(which)
    workers = int(workers)
    timetable = schedule.greedy(dag, workers)
    chain = set(workdepth.critical_path(dag))
    least = workdepth.lower_bound(work, depth, workers)
    most = workdepth.brent(work, depth, workers)
    rounds = _rounds(dag)
    on = [slot for slot in timetable.timeline if slot.node in chain]
    beside = [slot for slot in timetable.timeline if slot.node not in chain]
    ends = [0.0, 17.0]
    return Chart(
        f"{which}, on K = {workers}",
        Axis("time", low=0.0, high=19.0),
        Axis("worker", low=0.0, high=17.0, ticks=(1, 4, 8, 12, 16)),
        (
            _bars("task, with its round", beside, _at_worker, rounds.get, 1),
            _bars("task on a longest chain", on, _at_worker, rounds.get, 2),
            Points("no schedule ends before", [least, least], ends, "dashed", tone=0),
            Points("no greedy one ends after", [most, most], ends, "dashed", tone=3),
        ),
        {
            "Work, depth": f"{work:g}, {depth:g}",
            "Ends at": f"{timetable.makespan:g}",
            "Between": f"{units.text(least)} and {units.text(most)}",
            "Speedup": f"{work / timetable.makespan:.3g}×, at most {min(workers, work / depth):.3g}×",
            "Busy": f"{timetable.efficiency:.0%} of the workers' time",
        },
        MODEL,
    )


def pipelined(which: str, stages: int = 4, microbatches: int = 8) -> Chart:
    """A step on a pipeline, lane by lane, and the micro-batches whose activations two stages hold.

    A forward pass costs 1, and each half of a backward pass 1. Of an interleaved pipeline a bar is one of
    the two pieces of the model that a device holds, and an activation counts half.
    """
    dag = PIPELINES[which](stages, microbatches)
    timetable = schedule.placed(dag)
    lifted = {stage: microbatches + 2.0 * (stages - stage) for stage in range(stages)}
    halves = _halves(dag, timetable)
    bars = [
        _bars(
            label,
            halves[op],
            lambda slot: lifted[slot.worker],
            lambda node: dag.nodes[node]["microbatch"],
            tone,
        )
        for tone, (op, label) in enumerate(PARTS.items(), 1)
    ]
    held = {stage: held_over_time(dag, timetable, stage) for stage in range(stages)}
    peak = max(amount.max() for _, amount in held.values())
    inside = [_waits(timetable, stage) for stage in range(stages)]
    counts = (0, microbatches // 2, microbatches)
    return Chart(
        f"{stages} stages, {microbatches} micro-batches: {which}",
        Axis("time", low=0.0),
        Axis(
            "micro-batches held",
            low=0.0,
            high=microbatches + 2.0 * stages + 1.0,
            ticks=(*counts, *lifted.values()),
            names=(*map(str, counts), *(f"stage {stage + 1}" for stage in lifted)),
        ),
        (
            *bars,
            Points("held by stage 1", *held[0], "line", tone=4),
            Points(f"held by stage {stages}", *held[stages - 1], "line", tone=5),
        ),
        {
            "Step": f"{timetable.makespan:g}",
            "Bubble": f"{1 - timetable.efficiency:.1%} of the step",
            "Waits between passes": f"{min(inside):g} to {max(inside):g} per stage",
            "Held at most": f"{peak:g} micro-batches",
        },
        MODEL,
    )


def held_over_time(dag: DiGraph, timetable: Schedule, stage: int) -> tuple[np.ndarray, np.ndarray]:
    """When one stage holds the activations of how many micro-batches, as a staircase.

    From the start of a forward pass until nothing needs them: the end of its last backward task.
    """
    pieces = 1 + max(chunk for _, chunk in dag.nodes(data="chunk"))
    last = "weights" if any(op == "weights" for _, op in dag.nodes(data="op")) else "backward"
    change: dict[float, float] = {}
    for slot in timetable.timeline:
        op = dag.nodes[slot.node]["op"]
        if slot.worker == stage and op in ("forward", last):
            when = slot.start if op == "forward" else slot.finish
            change[when] = change.get(when, 0.0) + (1 if op == "forward" else -1) / pieces
    whens = sorted(change)
    amounts = np.cumsum([change[when] for when in whens])
    before = np.concatenate([[0.0], amounts[:-1]])
    return np.repeat(whens, 2), np.column_stack([before, amounts]).ravel()


def graph(
    title: str,
    dag: DiGraph,
    kinds: Mapping[str, Sequence[str]],
    stamp: Stamp | None = MODEL,
) -> Chart:
    """A DAG by rounds, from left to right: arrows, and tasks marked by their kind.

    What costs nothing is drawn only where it is given, in round 0; the arrows lead past the rest.
    """
    visible = without_free(dag)
    level, place = _rounds(visible), _places(visible)
    kind = {label: name for name, labels in kinds.items() for label in labels}
    marked: dict[str, list] = {}
    for node, label in visible.nodes(data="label"):
        name = kind.get(label, "other") if visible.nodes[node]["weight"] else "given"
        marked.setdefault(name, []).append(node)
    wide, high = max(level.values()) + 0.5, max(place.values()) + 0.6
    ends = [(level[a], place[a], level[b], place[b]) for a, b in visible.edges]
    series = [arrows("needs", ends, wide + 0.5, high - 0.4)]
    for tone, (name, chosen) in enumerate(sorted(marked.items(), key=lambda i: i[0] == "given"), 1):
        spots = [level[n] for n in chosen], [place[n] for n in chosen]
        series.append(Points(name, *spots, kind="points", tone=tone))
    last = max(level.values())
    return Chart(
        title,
        Axis("round", low=-0.5, high=wide, ticks=tuple(range(last + 1)) if last <= 12 else ()),
        Axis(
            "tasks side by side",
            low=0.4,
            high=high,
            ticks=tuple(range(1, int(high) + 1)) if high < 12 else (),
        ),
        tuple(series),
        stamp=stamp,
    )


def without_free(dag: DiGraph) -> DiGraph:
    """Return a DAG without the tasks of no cost that need another: what needs them needs theirs."""
    kept = dag.copy()
    for node in TopologicalSorter({node: dag.pred[node] for node in dag}).static_order():
        if not dag.nodes[node]["weight"] and kept.pred[node]:
            kept.add_edges_from([(a, b) for a in kept.pred[node] for b in kept.succ[node]])
            kept.remove_node(node)
    return kept


def exchanged(way: str, ranks: float) -> Chart:
    """The graph of an all-reduce: who adds or hands on what in which round, rank by rank."""
    ranks = int(ranks)
    dag = ALL_REDUCES[way](ranks)
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    part = f"1/{ranks} of the gradients" if way == "ring" else "all gradients"
    return _on_ranks(
        f"All-reduce by {way} among K = {ranks}",
        dag,
        {"adds up": "add", "hands on": "copy", "given": "input"},
        Axis("round", low=-0.6, high=14.6, ticks=tuple(range(0, 15, 2))),
        Axis("rank", low=0.4, high=8.6, ticks=tuple(range(1, 9))),
        {
            "Depth": f"{depth:g} rounds",
            "In each message": part,
            "Messages": f"{work:g}",
            "At once": f"{workdepth.parallelism(work, depth):.3g} on average",
        },
    )


def step(exchange: str, ranks: int = 4, layers: int = 3) -> Chart:
    """The graph of a data-parallel step; each task stands where it ends, so the last shows the depth."""
    dag = rank_dags.data_parallel_step(ranks, layers, overlap=EXCHANGES[exchange])
    depth, compute = workdepth.depth(dag), layers * 3.0
    rows = tuple(range(1, ranks + 2))
    names = (*(f"rank {rank}" for rank in rows[:-1]), "network")
    return _on_ranks(
        f"A step of {layers} layers, exchange {exchange}",
        dag,
        {"forward": "forward", "backward": "backward", "exchange": "all-reduce"},
        Axis("ends at", low=0.0, high=layers * 4 + 0.6, ticks=tuple(range(layers * 4 + 1))),
        Axis("", low=0.4, high=ranks + 1.6, ticks=rows, names=names),
        {
            "Depth": f"{depth:g}",
            "Of it computing": f"{compute:g}",
            "Exchange that nothing hides": f"{depth - compute:g} of {layers}",
        },
    )


def ran(
    title: str,
    dag: DiGraph,
    forecast: Schedule,
    measured: Schedule,
    bound: float,
    stamp: Stamp,
) -> Chart:
    """A schedule as it was forecast, lane by lane, and below it as it ran, before a bound, in ms.

    The bars carry the labels of the tasks, and are told apart by what they do.
    """
    workers = measured.workers
    high = 2.0 * workers + 2.0
    lanes = tuple(range(1, workers + 1))
    upper = tuple(lane + workers + 1 for lane in lanes)
    slots = [
        (slot._replace(start=1e3 * slot.start, finish=1e3 * slot.finish), first)
        for schedule, first in ((measured, 1), (forecast, workers + 2))
        for slot in schedule.timeline
    ]
    ops = dict.fromkeys(dag.nodes[slot.node]["op"] for slot, _ in slots)
    series = []
    for tone, op in enumerate(sorted(ops, reverse=True), 1):
        chosen = {slot: first for slot, first in slots if dag.nodes[slot.node]["op"] == op}
        series.append(
            _bars(
                op,
                list(chosen),
                lambda slot, first=chosen: first[slot] + slot.worker,
                lambda node: dag.nodes[node]["label"],
                tone,
            )
        )
    return Chart(
        title,
        Axis("ms", low=0.0),
        Axis(
            "",
            low=0.0,
            high=high,
            ticks=(*lanes, *upper),
            names=(*(f"ran {n}" for n in lanes), *(f"forecast {n}" for n in lanes)),
        ),
        (
            *series,
            Points("no greedy one ends after", [1e3 * bound] * 2, [0.0, high], "dashed", tone=3),
        ),
        {
            "Forecast": units.text(forecast.makespan, "s"),
            "Ran": units.text(measured.makespan, "s"),
            "Bound": units.text(bound, "s"),
            "Busy": f"{measured.efficiency:.0%} of the workers' time",
        },
        stamp,
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


def _on_ranks(title, dag, kinds, x, y, readouts):
    """Draw a DAG whose tasks live on ranks: each stands where it ends, in the row of its rank."""
    ends = {slot.node: slot.finish for slot in schedule.placed(dag).timeline}
    others = 1 + max(worker for _, worker in dag.nodes(data="worker") if worker != "network")
    row = {
        node: 1 + (others if worker == "network" else worker)
        for node, worker in dag.nodes(data="worker")
    }
    place = {node: (ends.get(node, 0.0), float(row[node])) for node in dag}
    lines = dict.fromkeys((*place[a], *place[b]) for a, b in dag.edges)
    series = [arrows("needs", list(lines), x.high - x.low, y.high - y.low)]
    for tone, (name, op) in enumerate(kinds.items(), 1):
        spots = dict.fromkeys(place[node] for node, done in dag.nodes(data="op") if done == op)
        across, up = zip(*spots, strict=True)
        series.append(Points(name, across, up, "points", tone=tone))
    return Chart(title, x, y, tuple(series), readouts, MODEL)


def _at_worker(slot):
    return slot.worker + 1


def _bars(label, slots, height, word, tone):
    x, y = [], []
    for slot in slots:
        x += [slot.start, slot.finish, np.nan]
        y += [height(slot)] * 2 + [np.nan]
    inside = tuple(str(word(slot.node)) for slot in slots)
    return Points(label, x or [np.nan], y or [np.nan], "lane", tone=tone, inside=inside)


def _halves(dag, timetable):
    """Slots by what is drawn: a backward pass in one task is two halves, one after the other."""
    apart = any(op == "weights" for _, op in dag.nodes(data="op"))
    slots: dict[str, list] = {op: [] for op in PARTS}
    for slot in timetable.timeline:
        op = dag.nodes[slot.node]["op"]
        if op != "backward" or apart:
            slots[op].append(slot)
            continue
        middle = (slot.start + slot.finish) / 2
        slots["backward"].append(slot._replace(finish=middle))
        slots["weights"].append(slot._replace(start=middle))
    return slots


def _waits(timetable, stage):
    """How long a stage stands still between its first and its last task."""
    mine = [slot for slot in timetable.timeline if slot.worker == stage]
    busy = sum(slot.finish - slot.start for slot in mine)
    return round(max(s.finish for s in mine) - min(s.start for s in mine) - busy, 9)


def _rounds(dag):
    """Return for each task how many tasks that cost anything a longest chain up to it holds."""
    level: dict[Hashable, int] = {}
    for node in TopologicalSorter({node: dag.pred[node] for node in dag}).static_order():
        costs = bool(dag.nodes[node]["weight"])
        level[node] = costs + max((level[before] for before in dag.pred[node]), default=0)
    return level


def _places(dag):
    """Return a height for each task: its column of an array, or the next free one, a longest chain first."""
    columns = dict(dag.nodes(data="column"))
    if None not in columns.values():
        return {node: column + 1 for node, column in columns.items()}
    level, chain = _rounds(dag), set(workdepth.critical_path(dag))
    place: dict = {}
    taken: dict = {}
    for node in sorted(dag, key=lambda n: (level[n], n not in chain)):
        taken[level[node]] = taken.get(level[node], 0) + 1
        place[node] = taken[level[node]]
    return place
