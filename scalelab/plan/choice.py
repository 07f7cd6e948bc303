"""The size to buy: which sizes a goal excludes and why, and which of the rest comes first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scalelab.plan.job import Job
from scalelab.plan.row import Against, PlanRow


@dataclass(frozen=True)
class Choice:
    """The size to buy and what it is best in; or none, and what comes nearest to each limit."""

    workers: int | None
    excluded: dict[int, tuple[Against, ...]]
    best: str = ""  # "time", "bill" or, without a price, "hours"
    nearest: dict[str, PlanRow] = field(
        default_factory=dict
    )  # by limit; empty if the model fits nowhere


def choose(job: Job, rows: Sequence[PlanRow], impossible: Mapping[int, Against]) -> Choice:
    """Return the Choice among sizes, those that hold no layout at all being `impossible`."""
    excluded: dict[int, tuple[Against, ...]] = {
        workers: (reason,) for workers, reason in impossible.items()
    }
    for row in rows:
        reasons = tuple(_against(job, row))
        if reasons:
            excluded[row.workers] = reasons
    left = [row for row in rows if row.workers not in excluded]
    if not left:
        return Choice(None, excluded, nearest=_nearest(job, rows))
    aim = job.goal.aim or ("fastest" if _only_limits(job.goal) else "cheapest")
    # Bills where there is a price, else device-hours; times where there is an end, else per token.
    bill = {row.workers: _bill(job, row) for row in left}
    time = {row.workers: row.run if row.run is not None else 1 / row.throughput for row in left}
    first, second = (time, bill) if aim == "fastest" else (bill, time)
    chosen = min(bill, key=lambda workers: (first[workers], second[workers], workers))
    least = "bill" if job.cluster.price is not None else "hours"
    return Choice(chosen, excluded, best="time" if aim == "fastest" else least)


def safe(
    job: Job, rows: Sequence[PlanRow], impossible: Mapping[int, Against], band: float
) -> int | None:
    """Return the size to buy if every time and bill were `band` times what the model says, or None."""
    goal = job.goal
    tight = {
        name: getattr(goal, name) / band
        for name in ("deadline", "budget")
        if getattr(goal, name) is not None
    }
    return choose(replace(job, goal=replace(goal, **tight)), rows, impossible).workers


def closest(rows: Sequence[PlanRow]) -> PlanRow | None:
    """Return the row to ask what-ifs of when none is chosen: the fastest that fits, else the roomiest."""
    fitting = [one for one in rows if one.fits]
    if fitting:
        return min(fitting, key=lambda one: one.seconds)
    return min(rows, key=lambda one: one.memory, default=None)


def _against(job, row):
    goal, memory = job.goal, job.cluster.memory
    if not row.fits:
        yield Against("too big", sum(row.held.values()), job.cluster.usable_memory * memory)
        return
    if row.run is not None and math.isinf(row.run):
        yield Against("endless")
        return
    if goal.deadline is not None and row.run > goal.deadline:
        yield Against("too late", row.run, goal.deadline)
    if goal.budget is not None and row.dollars > goal.budget:
        yield Against("too dear", row.dollars, goal.budget)
    if goal.efficiency is not None and row.efficiency < goal.efficiency:
        yield Against("too idle", row.efficiency, goal.efficiency)


def _bill(job, one):
    if job.cluster.price is not None:
        return one.dollars if one.dollars is not None else one.dollars_per_million
    return one.hours if one.hours is not None else one.workers / one.throughput


def _only_limits(goal):
    """Whether time is what is left to improve: money or efficiency was given, and no deadline."""
    return goal.deadline is None and (goal.budget is not None or goal.efficiency is not None)


def _nearest(job, rows):
    """Return the row that comes nearest to each limit, of those that fit and end."""
    fitting = [row for row in rows if row.fits and (row.run is None or math.isfinite(row.run))]
    nearest = {}
    if fitting and job.goal.deadline is not None:
        nearest["deadline"] = min(fitting, key=lambda row: row.run)
    if fitting and job.goal.budget is not None:
        nearest["budget"] = min(fitting, key=lambda row: row.dollars)
    if fitting and job.goal.efficiency is not None:
        nearest["efficiency"] = max(fitting, key=lambda row: row.efficiency)
    return nearest
