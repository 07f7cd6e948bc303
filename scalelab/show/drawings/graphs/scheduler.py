"""Section 3.6: a graph of tasks, and the lanes that a greedy schedule of it fills, moment by moment.

The schedule is the one that `graphs.greedy` computes, and its bounds are those of `graphs.workdepth`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from scalelab import units
from scalelab.arguments import shown, whole
from scalelab.models.graphs import schedule, workdepth
from scalelab.models.graphs.dag import compact
from scalelab.models.graphs.timeline import Schedule
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL
from scalelab.show.plots.workdepth import without_free

if TYPE_CHECKING:
    from networkx import DiGraph

MOST_TASKS, MOST_WORKERS = 15, 8  # that still are told apart
_WIDE = 360.0
_ROW, _HIGH, _UNIT = 36.0, 15.0, 22.0  # of the graph: a round, a task, a unit of what it costs
_GAP = 24.0  # between two tasks, at most
_LEFT, _RIGHT = 68.0, 352.0  # of the lanes
_LANES, _THICK = 152.0, 28.0  # all lanes together, and one of them at most
_LINE, _APART = 14.0, 22.0  # of words below the lanes, and between numbers of one digit at least
_NAMED = 58.0  # what the name of a bound takes beside its line
_WAITING, _READY, _RUNNING, _DONE, _CHAIN = 0, 5, 2, 3, 4
TONES = {"ready": _READY, "runs": _RUNNING, "done": _DONE}
WAITS = {"waits for another task": _WAITING}
CHAIN = {"a longest chain": _CHAIN}


class _Known(NamedTuple):
    """What all frames of one schedule are drawn from."""

    dag: DiGraph
    timetable: Schedule
    letters: dict[Hashable, str]
    place: dict[Hashable, tuple[float, float]]
    path: tuple[Hashable, ...]
    bounds: tuple[float, float]
    moments: list[float]
    scale: float  # of a unit of time
    top: float  # of the lanes
    thick: float
    lines: int  # of words for the bounds, one if they are far enough apart


def greedy(title: str, dag: DiGraph, ways: Mapping[str, tuple[int, str]]) -> list[Drawing]:
    """Greedy schedules of one graph, {name: (workers, rule)}: what is ready, and who takes it when."""
    compact(dag)  # refuses what is no graph of tasks
    tasks = without_free(dag)
    tasks.remove_nodes_from([node for node, cost in tasks.nodes(data="weight") if not cost])
    if not 0 < len(tasks) <= MOST_TASKS:
        raise Refusal(
            f"dag must have 1 to {MOST_TASKS} tasks that cost something, got {len(tasks)}: draw a smaller "
            "one, or schedule it"
        )
    try:
        pairs = {str(name): (workers, rule) for name, (workers, rule) in ways.items()}
    except (AttributeError, TypeError, ValueError):
        pairs = {}
    if not pairs:
        raise Refusal(
            f"ways must be {{name: (workers, rule)}}, got {shown(ways)}: give at least one"
        )
    why = "it counts the lanes, and so many can be told apart"
    workers = [whole("workers", count, why, 1, MOST_WORKERS) for count, _ in pairs.values()]
    ends = [_bounds(tasks, count) for count in workers]
    scale = (_RIGHT - _LEFT) / max(late for _, late in ends)
    lines = 1 if min(late - early for early, late in ends) * scale >= _NAMED else 2
    largest = scale, lines, max(workers)
    return [_drawing(name, title, tasks, way, largest) for name, way in pairs.items()]


def _drawing(name, title, dag, way, largest):
    (workers, rule), (scale, lines, most) = way, largest
    timetable = schedule.greedy(dag, workers, rule)
    place, rounds = _places(dag)
    path = workdepth.critical_path(dag)
    known = _Known(
        dag,
        timetable,
        {node: chr(ord("A") + number) for number, node in enumerate(dag)},
        place,
        path if len(path) > 1 else (),
        _bounds(dag, workers),
        sorted({0.0} | {slot.finish for slot in timetable.timeline}),
        scale,
        rounds * _ROW + 6,
        min(_THICK, _LANES / workers),
        lines,
    )
    frames = [_frame(known, 0.0, None)]
    for now, then in zip(known.moments, known.moments[1:], strict=False):
        frames += [_frame(known, now, now), _frame(known, then, now)]
    return Drawing(
        name,
        f"{title}, {name}: done at {timetable.makespan:g}",
        "Above, each letter is a task, and an arrow leads to the task that needs its result. Below, each "
        "row is a worker and time runs to the right. Upright lines mark when any schedule ends at the "
        "earliest, and a greedy one at the latest.",
        _WIDE,
        known.top + min(_LANES, _THICK * most) + 4 + _LINE * (1 + lines),
        tuple(frames),
        chosen=(len(frames) // 2, len(frames) - 1),
        # Where no task needs another, none waits for one, and no chain is longer than a task.
        tones=(WAITS | TONES | CHAIN) if known.path else TONES,
        stamp=MODEL,
    )


def _bounds(dag, workers):
    """Return when no schedule ends sooner, and no greedy one later."""
    sizes = workdepth.work(dag), workdepth.depth(dag)
    return float(workdepth.lower_bound(*sizes, workers)), float(workdepth.brent(*sizes, workers))


def _places(dag):
    """Return the middle of each task, in rows by rounds, and how many rounds there are."""
    level: dict[Hashable, int] = {}
    form = compact(dag)
    for node in (form.nodes[i] for i in form.order):
        level[node] = 1 + max((level[before] for before in dag.pred[node]), default=0)
    place: dict[Hashable, tuple[float, float]] = {}
    for row in range(1, max(level.values()) + 1):
        here = [node for node in dag if level[node] == row]
        wide = [_UNIT * dag.nodes[node]["weight"] for node in here]
        gap = min((_WIDE - sum(wide)) / len(here), _GAP)
        x = (_WIDE - sum(wide) - gap * (len(here) - 1)) / 2
        for node, width in zip(here, wide, strict=True):
            before = [place[one][0] for one in dag.pred[node]]
            middle = sum(before) / len(before) if before else x + width / 2
            place[node] = middle, (row - 0.5) * _ROW
            x += width + gap
    return place, max(level.values())


def _frame(known, now, handed):
    """What has ended by `now`, and what began by the moment at which tasks were handed out last."""
    begun = [s for s in known.timetable.timeline if handed is not None and s.start <= handed]
    done = {s.node for s in begun if s.finish <= now}
    running = {s.node: s.finish - now for s in begun if s.finish > now}
    ready = [
        node for node, before in known.dag.pred.items()
        if node not in done and node not in running and done.issuperset(before)
    ]  # fmt: skip
    fresh = [s for s in begun if s.start == now]
    tone = (
        dict.fromkeys(ready, _READY) | dict.fromkeys(running, _RUNNING) | dict.fromkeys(done, _DONE)
    )
    work, chain = _left(known.dag, done, running)
    all_work, depth = _left(known.dag, (), {})
    return Frame(
        _caption(known, now, handed, fresh, ready),
        (*_graph(known, tone), *_lanes(known), *_bars(known, begun, fresh, now, handed)),
        {
            "Ready and waiting": " ".join(known.letters[node] for node in ready) or "none",
            "Work left": f"{work:g} of {all_work:g}",
            "Longest chain left": f"{chain:g} of {depth:g}",
            "Time with somebody idle": f"{_idle_time(known, now):g}",
        },
    )


def _left(dag, done, running):
    """Return the work and the longest chain of what is not done yet, of which a part may have run."""
    left = dag.copy()
    left.remove_nodes_from(list(done))
    for node, cost in running.items():
        left.nodes[node]["weight"] = cost
    return (workdepth.work(left), workdepth.depth(left)) if len(left) else (0.0, 0.0)


def _idle(known, start):
    """Return the workers who have nothing to do from this moment to the next."""
    busy = {s.worker for s in known.timetable.timeline if s.start <= start < s.finish}
    return [worker for worker in range(known.timetable.workers) if worker not in busy]


def _idle_time(known, now):
    spans = zip(known.moments, known.moments[1:], strict=False)
    return sum(end - start for start, end in spans if end <= now and _idle(known, start))


def _graph(known, tone):
    """Yield the arrows and the tasks; those of one longest chain are thick."""
    chain = set(zip(known.path, known.path[1:], strict=False))
    for one, other in known.dag.edges:
        (x, y), (to_x, to_y) = known.place[one], known.place[other]
        on = (one, other) in chain
        yield Shape(
            f"arrow {known.letters[one]}{known.letters[other]}", "arrow", x, y + _HIGH / 2,
            to_x - x, to_y - y - _HIGH - 1, tone=_CHAIN if on else _WAITING, weight=2.4 if on else 1,
        )  # fmt: skip
    for node, letter in known.letters.items():
        (x, y), cost = known.place[node], known.dag.nodes[node]["weight"]
        yield Shape(
            f"task {letter}", "block", x, y, _UNIT * cost - 2, _HIGH,
            tone=tone.get(node, _WAITING), text=letter,
        )  # fmt: skip


def _at(known, time):
    return _LEFT + known.scale * time


def _middle(known, worker):
    return known.top + known.thick * (worker + 0.5)


def _lanes(known):
    """Yield the names of the workers, the line on which time begins, its numbers, and the two bounds."""
    bottom = known.top + known.thick * known.timetable.workers
    of = units.counted(known.timetable.workers)  # whose lanes have a height of their own
    yield Shape(f"begin of {of}", "line", _LEFT - 1, known.top, 0, bottom - known.top)
    for worker in range(known.timetable.workers):
        yield Shape(
            f"worker {worker + 1}", "text", _LEFT - 5, _middle(known, worker),
            text=f"worker {worker + 1}", align="end",
        )  # fmt: skip
    yield Shape("rule", "line", _LEFT - 1, bottom, _RIGHT - _LEFT, 0)
    yield Shape("rule, in words", "text", _LEFT - 9, bottom + 9, text="time", align="end")
    for number in _numbers(known):
        yield Shape(f"time {number:g}", "text", _at(known, number), bottom + 9, text=f"{number:g}")
    for row, (word, bound) in enumerate(zip(("earliest", "latest"), known.bounds, strict=True)):
        x, y = _at(known, bound), bottom + 9 + _LINE * (1 + row * (known.lines - 1))
        yield Shape(f"{word}, {of}", "line", x, known.top - 3, 0, y + 7 - known.top, weight=1.6)
        yield Shape(f"{word}, in words", "text", x - 4, y, text=f"{word} {bound:g}", align="end")


def _numbers(known):
    """Return the numbers below the lanes: far enough apart, and none where a bound's line passes."""
    steps = (digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5))
    step = next(one for one in steps if one * known.scale >= _APART * len(f"{one:g}"))
    count = int((_RIGHT - _LEFT) / known.scale / step + 1e-9)
    return [
        number
        for number in (step * turn for turn in range(count + 1))
        if min(abs(number - bound) for bound in known.bounds) * known.scale > _APART / 3
    ]


def _bars(known, begun, fresh, now, handed):
    """Yield the tasks in their lanes, and a word where a worker has nothing to do."""
    for slot in begun:
        letter, running = known.letters[slot.node], slot.finish > now
        yield Shape(
            f"bar {letter}", "block", _at(known, (slot.start + slot.finish) / 2),
            _middle(known, slot.worker), known.scale * (slot.finish - slot.start) - 2,
            known.thick - 4, tone=_RUNNING if running else _DONE, text=letter,
            start=known.place[slot.node] if slot in fresh else None,
        )  # fmt: skip
    for start, end in zip(known.moments, known.moments[1:], strict=False):
        if handed is not None and start <= handed:
            for worker in _idle(known, start):
                yield Shape(
                    f"idle {worker + 1} from {start:g}", "text", _at(known, (start + end) / 2),
                    _middle(known, worker), text="idle",
                )  # fmt: skip


def _named(known, nodes):
    """Return the letters of some tasks as people list them."""
    *first, last = (known.letters[node] for node in nodes)
    return " and ".join(filter(None, [", ".join(first), last]))


def _caption(known, now, handed, fresh, ready):
    if handed is None:
        return (
            f"Nothing has run yet. {len(ready)} of {len(known.dag)} tasks need no result of another, so "
            f"they are ready."
        )
    if now == handed:
        idle, waiting = len(_idle(known, now)), len(ready)
        taken = f"At {now:g}, whoever is free takes what is ready: {_named(known, [s.node for s in fresh])}."
        if not fresh:
            taken = f"At {now:g}, nothing is ready for those who are free."
        if idle:
            idles = "finds nothing, and idles" if idle == 1 else "find nothing, and idle"
            return f"{taken} {idle} of {known.timetable.workers} workers {idles}."
        more = (
            f"{units.counted(waiting, 'task')} must wait for a worker"
            if waiting
            else "nothing is left over"
        )
        return f"{taken} Everybody works; {more}."
    ended = [s.node for s in known.timetable.timeline if s.finish == now]
    done = f"At {now:g}, {_named(known, ended)} {'is' if len(ended) == 1 else 'are'} done."
    if now == known.moments[-1]:
        return f"{done} That was the last, between {known.bounds[0]:g} and {known.bounds[1]:g}."
    if _idle(known, handed):
        return (
            f"{done} Somebody idled, so all that was ready ran, and every longest chain is shorter."
        )
    more = f"{known.timetable.workers * (now - handed):g}"
    return f"{done} Nobody idled, so {more} more units of work are gone."
