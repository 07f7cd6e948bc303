"""Section 3.6: schedules as lanes, graphs of tasks, and time between its two bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.models.graphs import dags, rank_dags, schedule, workdepth
from scalelab.models.graphs.timeline import Schedule
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.draw import LOW_ROWS
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
        f"{which[0].upper()}{which[1:]}, on K = {workers}",
        Axis("time", low=0.0, high=19.0, ticks=(0, 4, 8, 12, 16)),
        Axis("worker", low=0.0, high=17.0, ticks=(1, 4, 8, 12, 16)),
        (
            # Below the bars, in whose numbers a bound of half a unit would lie.
            Points("no schedule ends before", [least, least], ends, "dashed", tone=0),
            Points("no greedy one ends after", [most, most], ends, "dashed", tone=3),
            _bars("task, with its round", beside, _at_worker, rounds.get, 1),
            _bars("task on a longest chain", on, _at_worker, rounds.get, 2),
        ),
        {
            "Work, depth": f"{work:g}, {depth:g}",
            "Ends at": f"{timetable.makespan:g}",
            "Between": f"{units.text(least)} and {units.text(most)}",
            "Speedup": f"{work / timetable.makespan:.3g}×, at most {min(workers, work / depth):.3g}×",
            "Busy": f"{timetable.efficiency:.0%} of the workers' time",
        },
        MODEL,
        "Of the K lanes, one that is empty before the last bar ends is a worker with nothing to do. "
        "Whatever the number of workers, the last bar ends between the two dashed lines.",
    )


def graph(
    title: str,
    dag: DiGraph,
    kinds: Mapping[str, Sequence[str]],
    words: Mapping[Hashable, object] | None = None,
    rounds: Sequence[str] = (),
) -> Chart:
    """A DAG by rounds, from left to right: arrows, and tasks marked by their kind.

    `words` stand at the tasks, with the 0 that a scan writes over its total, and `rounds` are the layers that
    its columns are. What costs nothing is drawn only where it is given, in round 0; the arrows lead past the
    rest, and below a task that they would run through or touch.
    """
    visible = without_free(dag)
    zeros = [node for node, op in dag.nodes(data="op") if op == "zero"]
    lost = {before for zero in zeros for before in dag.pred[zero]}
    level, place = _rounds(visible), _places(visible)
    kind = {label: name for name, labels in kinds.items() for label in labels}
    marked: dict[str, list] = {}
    for node, label in visible.nodes(data="label"):
        name = kind.get(label, "other") if visible.nodes[node]["weight"] else "given"
        marked.setdefault(name, []).append(node)
    wide, high = max(level.values()) + 0.5, max(place.values()) + 0.6
    spots = {(level[node], place[node]) for node in visible}
    ends: list[tuple[float, ...]] = []
    for a, b in visible.edges:
        rise = (place[b] - place[a]) / (level[b] - level[a])
        through = any(
            level[a] < x < level[b] and abs(place[a] + rise * (x - level[a]) - y) < 0.25
            for x, y in spots
        )
        bent = (0.4,) if through else ()
        ends.append((level[a], place[a], level[b], place[b], *bent))
    series = [arrows("is needed by", ends, wide + 0.5, high - 0.4, flat=high <= LOW_ROWS)]
    for tone, (name, chosen) in enumerate(sorted(marked.items(), key=lambda i: i[0] == "given"), 1):
        said = tuple(f"{words[n]} → 0" if n in lost else str(words[n]) for n in chosen if words)
        across, up = [level[n] for n in chosen], [place[n] for n in chosen]
        series.append(Points(name, across, up, "points", tone=tone, words=said))
    last = max(level.values())
    ticks = tuple(range(last + 1)) if last <= 12 else ()
    label, depth = "round", "the last column is"
    if rounds:
        label, depth = "layer, the last one first", f"the {last} columns after the {rounds[0]} are"
    return Chart(
        title,
        Axis(label, low=-0.5, high=wide, ticks=ticks, names=tuple(rounds)),
        Axis("", low=0.4, high=high, bare=True),
        tuple(series),
        stamp=MODEL,
        see="All tasks of one column could run at once, and each column waits for the ones before it: "
        f"{depth} the depth, counted in tasks.",
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
    """The graph of an all-reduce: who adds or hands on what in which round, worker by worker."""
    ranks = int(ranks)
    dag = ALL_REDUCES[way](ranks)
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    part = f"1/{ranks} of the gradients" if way == "ring" else "all gradients"
    return _on_ranks(
        f"All-reduce by {way} among K = {ranks}",
        dag,
        {"adds up": "add", "hands on": "copy", "given": "input"},
        Axis("round", low=-0.6, high=14.6, ticks=tuple(range(0, 15, 2))),
        Axis("worker", low=0.4, high=8.6, ticks=tuple(range(1, 9))),
        {
            "Depth": f"{depth:g} rounds",
            "In each message": part,
            "Messages": f"{work:g}",
            "At once": f"{workdepth.parallelism(work, depth):.3g} on average",
        },
        "Of the K rows, one that has no point in a round is a worker to which nothing comes in then. The "
        "column of the last points is the depth.",
    )


def step(exchange: str, ranks: int = 4, layers: int = 3) -> Chart:
    """The graph of a data-parallel step; each task stands where it ends, so the last shows the depth."""
    dag = rank_dags.data_parallel_step(ranks, layers, overlap=EXCHANGES[exchange])
    depth, compute = workdepth.depth(dag), layers * 3.0
    rows = tuple(range(1, ranks + 2))
    names = (*(f"worker {worker}" for worker in rows[:-1]), "network")
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
        "Find the last backward task, and then the last exchange: what is between them nothing hides.",
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
        "Each row is a thread. Compare the two halves: in the lower one a longer bar is a product that took "
        "longer than one did alone, and a gap is a thread that waited.",
    )


def between_bounds(
    dag: DiGraph, title: str, most: int = 64, rule: str | list | tuple = "first ready"
) -> Chart:
    """Time of a greedy schedule over the workers, between the two bounds that work and depth give."""
    work, depth = workdepth.work(dag), workdepth.depth(dag)
    workers = POWERS[most >= POWERS]
    ends = [schedule.greedy(dag, int(k), rule).makespan for k in workers]
    line = np.geomspace(1, workers[-1], 6 * workers.size - 5)  # every number of workers is on it
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
        see="On the left more workers save time in proportion, and both bounds fall together. Where the "
        "lower one turns level it is the chain, and a greedy schedule comes near it only with more workers.",
    )


def sums(count: int, handing: Sequence[float], most: int = 512) -> Chart:
    """Time to add up so many numbers on more and more workers, if handing a result on takes so long.

    Each worker adds its share alone, an addition taking one; then a tree adds up what they have.
    """
    workers = POWERS[most >= POWERS]
    rounds = np.log2(workers)
    series, least = [], []
    for tone, cost in enumerate(handing, 1):
        seconds = count / workers - 1 + rounds * (1 + cost)
        series.append(Points(f"an arrow takes {cost:,g}", workers, seconds, "joined", tone=tone))
        least.append((workers[seconds.argmin()], seconds.min()))
    best, times = zip(*least, strict=True)
    return Chart(
        f"{count:,} numbers added up, by what an arrow costs",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("time, in additions", log=True, ticks=(10, 30, 100, 300, 1000, 3000, 10_000)),
        (*series, Points("least", best, times, "points", tone=0)),
        stamp=MODEL,
        see="With free arrows every doubling helps. The dearer an arrow is, the sooner the curve turns up "
        "again: the graph is the same, and the best number of workers is not.",
    )


def nights(title: str, schedules: Mapping[str, Schedule], long: float) -> Chart:
    """Schedules below one another, lane by lane in hours; tasks of at least `long` are told apart."""
    rows = sum(one.workers + 2 for one in schedules.values())
    ticks, told = [], []
    chosen: dict[bool, list] = {False: [], True: []}
    first = float(rows)
    for name, one in schedules.items():
        ticks.append(first - (one.workers + 1) / 2)
        told += [(first - gpu, f"{name}: GPUs with", f"{gpu}") for gpu in range(1, one.workers + 1)]
        for slot in one.timeline:
            chosen[slot.finish - slot.start >= long - 1e-9].append((slot, first - _at_worker(slot)))
        first -= one.workers + 2
    series = []
    for tone, (is_long, label) in enumerate(
        [(False, "a benchmark"), (True, "the suite, or a part")], 1
    ):
        x, y = [], []
        for slot, row in chosen[is_long]:
            x += [slot.start, slot.finish, np.nan]
            y += [row, row, np.nan]
        series.append(Points(label, x or [np.nan], y or [np.nan], "lane", tone=tone))
    return Chart(
        title,
        Axis("hours", low=0.0),
        Axis("", False, 0.0, float(rows), tuple(ticks), tuple(schedules), tuple(told)),
        tuple(series),
        {
            name: f"ends after {one.makespan:.2f} h, {one.efficiency:.0%} busy"
            for name, one in schedules.items()
        },
        MODEL,
        "A row is a GPU. In the upper half nearly all of them wait for one long bar; below, its parts "
        "come first and the short ones fill what is left.",
    )


@cache
def _known(which):
    dag = CHOICES[which]()
    return dag, workdepth.work(dag), workdepth.depth(dag)


def _on_ranks(title, dag, kinds, x, y, readouts, see):
    """Draw a DAG whose tasks live on ranks: each stands where it ends, in the row of its rank."""
    ends = {slot.node: slot.finish for slot in schedule.placed(dag).timeline}
    others = 1 + max(worker for _, worker in dag.nodes(data="worker") if worker != "network")
    row = {
        node: 1 + (others if worker == "network" else worker)
        for node, worker in dag.nodes(data="worker")
    }
    place = {node: (ends.get(node, 0.0), float(row[node])) for node in dag}
    lines = dict.fromkeys((*place[a], *place[b]) for a, b in dag.edges)
    series = [arrows("is needed by", list(lines), x.high - x.low, y.high - y.low)]
    for tone, (name, op) in enumerate(kinds.items(), 1):
        spots = dict.fromkeys(place[node] for node, done in dag.nodes(data="op") if done == op)
        across, up = zip(*spots, strict=True)
        series.append(Points(name, across, up, "points", tone=tone))
    return Chart(title, x, y, tuple(series), readouts, MODEL, see)


def _at_worker(slot):
    return slot.worker + 1


def _bars(label, slots, height, word, tone):
    x, y = [], []
    for slot in slots:
        x += [slot.start, slot.finish, np.nan]
        y += [height(slot)] * 2 + [np.nan]
    words = tuple(str(word(slot.node)) for slot in slots)
    return Points(label, x or [np.nan], y or [np.nan], "lane", tone=tone, words=words)


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
