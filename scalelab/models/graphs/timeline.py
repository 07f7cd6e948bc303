"""Who does what when, and what is wrong with it (Section 3.6).

A schedule is plain data: slots of (node, worker, start, finish), ready for a plot or a table.
`schedule` makes valid ones; `faults` judges any, a student's included.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scalelab.arguments import shown, whole
from scalelab.models.choice import instance
from scalelab.models.graphs.dag import compact, total
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph


class Slot(NamedTuple):
    """One task in a timeline: this worker is busy with this node from start to finish."""

    node: Hashable
    worker: Hashable
    start: float
    finish: float


@dataclass(frozen=True)
class Schedule:
    """A timeline of slots, and the number of workers that are paid for."""

    workers: int
    timeline: tuple[Slot, ...]

    def __post_init__(self) -> None:
        whole("workers", self.workers, "it counts the workers that are paid for")
        slots = self.timeline
        wrong = [s for s in slots if not _sound(s)] if isinstance(slots, tuple) else [slots]
        if wrong:
            raise Refusal(
                "timeline must be a tuple of slots with 0 <= start <= finish, all finite, "
                f"got {shown(wrong[0])}: write Slot(node, worker, start, finish)"
            )

    @property
    def makespan(self) -> float:
        """When the last task is done: T_K."""
        return max((slot.finish for slot in self.timeline), default=0.0)

    @property
    def efficiency(self) -> float:
        """Share of the workers' time that is busy: T_1 / (K T_K); 1 if there is nothing to do."""
        busy = total([slot.finish - slot.start for slot in self.timeline])
        return busy / self.makespan / self.workers if busy else 1.0

    def running(self) -> tuple[tuple[float, int], ...]:
        """How many tasks run from each moment on, as (time, count) pairs in order of time."""
        changes: dict[float, int] = {}
        for slot in self.timeline:
            changes[slot.start] = changes.get(slot.start, 0) + 1
            changes[slot.finish] = changes.get(slot.finish, 0) - 1
        times = sorted(changes)
        return tuple(zip(times, itertools.accumulate(changes[t] for t in times), strict=True))


def faults(dag: DiGraph, schedule: Schedule) -> tuple[str, ...]:
    """Everything a schedule does wrong, one sentence each; none for a valid one.

    Source: the definition of a schedule. Section 3.6.

    >>> from scalelab.models.graphs import dags
    >>> faults(dags.sequential_sum(3), Schedule(1, (Slot(4, 0, 0, 1), Slot(3, 0, 1, 2))))
    ('node 4 starts at 0, before node 3 is done at 2',)
    """
    form = compact(dag)
    schedule = instance("schedule", schedule, Schedule, "make one with schedule.greedy")
    hair = 1e-9 * schedule.makespan  # what rounding may do
    return (*_crowds(schedule, hair), *_lapses(form, schedule, hair))


def _crowds(schedule, hair):
    """Yield where workers are too many, or one of them is at two places."""
    rows = {}
    for slot in schedule.timeline:
        rows.setdefault(slot.worker, []).append(slot)
    if len(rows) > schedule.workers:
        yield f"{len(rows)} workers are busy, and only {schedule.workers} are paid for"
    for worker, row in rows.items():
        row.sort(key=lambda slot: (slot.start, slot.finish))
        for one, next_one in itertools.pairwise(row):
            if next_one.start < one.finish - hair:
                yield f"worker {worker} does nodes {one.node} and {next_one.node} at once"


def _lapses(form, schedule, hair):
    """Yield what the DAG asks for and the schedule does not do, in the order of the DAG."""
    slots = {slot.node: slot for slot in schedule.timeline}
    strangers = set(slots).difference(form.nodes)
    yield from (f"node {node} is not in the DAG" for node in slots if node in strangers)
    if len(slots) < len(schedule.timeline):
        yield f"{len(schedule.timeline) - len(slots)} slots repeat a node that is done elsewhere"

    waits = [(0.0, None)] * len(form.nodes)  # when each node's inputs are there, and the last one
    for i in form.order:
        node, weight, slot = form.nodes[i], form.weights[i], slots.get(form.nodes[i])
        done = waits[i]  # data is there as soon as what it waits for
        if slot is None and weight:
            yield f"node {node} is never done"
        if slot is not None:
            ready, last = waits[i]
            seconds = slot.finish - slot.start
            if abs(seconds - weight) > hair:
                yield f"node {node} takes {seconds:g}, and its weight is {weight:g}"
            if slot.start < ready - hair:
                yield f"node {node} starts at {slot.start:g}, before node {last} is done at {ready:g}"
            done = (slot.finish, node)
        for j in form.successors[i]:
            waits[j] = max(waits[j], done, key=lambda wait: wait[0])


def _sound(slot):
    try:
        hash(slot)  # what names a node or a worker can be looked up
        return isinstance(slot, Slot) and 0 <= slot.start <= slot.finish < math.inf
    except TypeError:
        return False
