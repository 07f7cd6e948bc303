"""The size to buy: which sizes a goal excludes and why, and which of the rest comes first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scalelab import units
from scalelab.plan.job import Job
from scalelab.plan.row import PlanRow


@dataclass(frozen=True)
class Against:
    """One reason against a size: its kind, and in words."""

    kind: str  # impossible, too big, endless, too late, too dear, too idle
    text: str


def choose(
    job: Job, rows: Sequence[PlanRow], impossible: Mapping[int, str]
) -> tuple[int | None, str, dict[int, tuple[Against, ...]]]:
    """Return (workers or None, why, {workers: reasons against it})."""
    excluded: dict[int, tuple[Against, ...]] = {
        workers: (Against("impossible", why),) for workers, why in impossible.items()
    }
    for row in rows:
        reasons = tuple(_against(job, row))
        if reasons:
            excluded[row.workers] = reasons
    left = [row for row in rows if row.workers not in excluded]
    if not left:
        return None, _nothing(job, rows), excluded
    aim = job.goal.aim or ("fastest" if _only_limits(job.goal) else "cheapest")
    # Bills where there is a price, else device-hours; times where there is an end, else per token.
    bill = {row.workers: _bill(job, row) for row in left}
    time = {row.workers: row.run if row.run is not None else 1 / row.throughput for row in left}
    first, second = (time, bill) if aim == "fastest" else (bill, time)
    chosen = min(bill, key=lambda workers: (first[workers], second[workers], workers))
    what = "least bill" if job.cluster.price is not None else "fewest device-hours"
    best = "shortest time" if aim == "fastest" else what
    return chosen, f"of the sizes that meet every limit it has the {best}", excluded


def safe(
    job: Job, rows: Sequence[PlanRow], impossible: Mapping[int, str], band: float
) -> int | None:
    """Return the size to buy if every time and bill were `band` times what the model says, or None."""
    goal = job.goal
    tight = {
        name: getattr(goal, name) / band
        for name in ("deadline", "budget")
        if getattr(goal, name) is not None
    }
    return choose(replace(job, goal=replace(goal, **tight)), rows, impossible)[0]


def closest(rows: Sequence[PlanRow]) -> PlanRow | None:
    """Return the row to ask what-ifs of when none is chosen: the fastest that fits, else the roomiest."""
    fitting = [one for one in rows if one.fits]
    if fitting:
        return min(fitting, key=lambda one: one.seconds)
    return min(rows, key=lambda one: one.memory, default=None)


def _against(job, row):
    goal, memory = job.goal, job.cluster.memory
    if not row.fits:
        need, have = sum(row.held.values()), job.cluster.usable_memory * memory
        reason = (
            f"needs {units.text(need, 'B')} on a device, {units.text(have, 'B')} of "
            f"{units.text(memory, 'B')} are usable"
        )
        yield Against("too big", reason)
        return
    if row.run is not None and math.isinf(row.run):
        yield Against("endless", "fails more often than it can save its work")
        return
    if goal.deadline is not None and row.run > goal.deadline:
        late = units.text(row.run - goal.deadline, "s")
        yield Against("too late", f"takes {units.text(row.run, 's')}, {late} too long")
    if goal.budget is not None and row.dollars > goal.budget:
        dear = row.dollars - goal.budget
        yield Against("too dear", f"costs ${row.dollars:,.0f}, ${dear:,.0f} too much")
    if goal.efficiency is not None and row.efficiency < goal.efficiency:
        reason = f"is {row.efficiency:.0%} efficient, below {goal.efficiency:.0%}"
        yield Against("too idle", reason)


def _bill(job, one):
    if job.cluster.price is not None:
        return one.dollars if one.dollars is not None else one.dollars_per_million
    return one.hours if one.hours is not None else one.workers / one.throughput


def _only_limits(goal):
    """Whether time is what is left to improve: money or efficiency was given, and no deadline."""
    return goal.deadline is None and (goal.budget is not None or goal.efficiency is not None)


def _nothing(job, rows):
    fitting = [row for row in rows if row.fits and (row.run is None or math.isfinite(row.run))]
    if not fitting:
        return (
            "the model fits on none of these sizes: split it over more devices (tensor, pipeline), shard "
            "more (sharding = 3), recompute activations, or raise cluster.largest"
        )
    nearest = []
    if job.goal.deadline is not None:
        fast = min(fitting, key=lambda row: row.run)
        nearest.append(f"the fastest, {fast.workers}, takes {units.text(fast.run, 's')}")
    if job.goal.budget is not None:
        cheap = min(fitting, key=lambda row: row.dollars)
        nearest.append(f"the cheapest, {cheap.workers}, costs ${cheap.dollars:,.0f}")
    if job.goal.efficiency is not None:
        top = max(fitting, key=lambda row: row.efficiency)
        nearest.append(f"the most efficient, {top.workers}, reaches {top.efficiency:.0%}")
    return f"no size meets every limit: {'; '.join(nearest)}"
