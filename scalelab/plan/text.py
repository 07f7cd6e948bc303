"""A plan for people, as a table over sizes with the size to buy, why, and the what-ifs; and for programs."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scalelab import units
from scalelab.plan import published, step
from scalelab.plan.plan import Plan
from scalelab.plan.row import Against, PlanRow
from scalelab.stored import finite
from scalelab.tables.printed import aligned


def lines(plan: Plan, notes: bool = False, width: int | None = None) -> Iterator[str]:
    """Yield the lines that `scalelab plan` prints, its tables no wider than that."""
    from scalelab.plan import plan as planner

    yield from _head(plan)
    yield ""
    rows = [_HEADINGS, *zip(*_columns(plan), strict=True)]
    yield from aligned(rows, left=(1, 6, 11), drop_empty=True, width=width)
    yield ""
    yield from _choice(plan)
    if plan.whatifs:
        yield ""
        yield from _whatifs(plan, width)
    yield ""
    yield f"model · {planner.measured()}"
    if notes:
        yield ""
        yield "What it does not model:"
        for note in plan.notes:
            yield f"  - {note}"
    else:
        yield "--notes says what it does not model."


_HEADINGS = (
    *("devices", "layout", "step", "tokens/s", "MFU", "efficiency", "limited by", "memory"),
    *("time", "bill", "energy", ""),
)


def _head(plan):
    job, cluster = plan.job, plan.job.cluster
    goal = job.goal
    yield (
        f"{job.name}: {count(job.parameters)} parameters, {job.batch} sequences of "
        f"{job.sequence} tokens a step, {cluster.device} at {units.text(cluster.peak, 'FLOP/s')}, "
        f"{cluster.per_node} to a node"
    )
    wanted = [
        f"{count(goal.tokens)} tokens" if goal.tokens is not None else "",
        f"within {units.text(goal.deadline, 's')}" if goal.deadline is not None else "",
        f"for at most {units.bill(goal.budget)}" if goal.budget is not None else "",
        f"at an efficiency of at least {units.text(goal.efficiency)}" if goal.efficiency else "",
        f"{goal.aim} first" if goal.aim else "",
    ]
    if any(wanted):
        yield f"wanted: {', '.join(filter(None, wanted))}"
    yield f"assumed: kernels reach {units.text(plan.share, '%')} of the peak, {plan.share_from}"


def _columns(plan):
    """Yield the columns of the table over sizes, each in one unit."""
    rows = plan.rows
    yield [str(row.workers) for row in rows]
    yield [layout(row) for row in rows]
    yield units.column([row.seconds for row in rows], "s")
    yield units.column([row.throughput for row in rows])
    yield units.column([row.mfu for row in rows], "%")
    yield [units.share(row.efficiency) for row in rows]
    yield [row.kind for row in rows]
    yield units.column([row.memory for row in rows], "%")
    yield _times([row.run for row in rows])
    yield ["" if row.dollars is None else units.bill(row.dollars) for row in rows]
    yield units.column([None if row.joules is None else row.joules / 3600 for row in rows], "Wh")
    yield [_mark(plan, row) for row in rows]


def _mark(plan, row):
    if row.workers == plan.chosen:
        return "<- buy"
    if row.workers not in plan.excluded:
        return ""
    kind = plan.excluded[row.workers][0].kind
    return kind if kind in ("too big", "too late", "too dear") else "excluded"


def layout(row: PlanRow) -> str:
    """Write a layout like "t2 p4 d16 b1 full": tensor, pipeline, copies, micro-batch, recomputation."""
    laid = row.layout
    assert laid.tensor
    parts = [
        *(f"t{laid.tensor}" if laid.tensor > 1 else "", f"p{laid.pipeline}"),
        f"d{row.workers // laid.split}",
        f"b{laid.micro_batch}",
        "" if laid.recompute == "none" else laid.recompute,
    ]
    return " ".join(part for part in parts if part and part != "p1")


def _times(runs: Sequence[float | None]) -> list[str]:
    """Write the times of runs; one that fails faster than it works never ends."""
    ends = [None if run is None or math.isinf(run) else run for run in runs]
    return [
        "never" if run == math.inf else cell
        for run, cell in zip(runs, units.column(ends, "s"), strict=True)
    ]


def count(number: float) -> str:
    """Write a count as plan files take it.

    >>> count(70.6e9), count(1.5e13), count(512)
    ('70.6B', '15T', '512')
    """
    for letter, factor in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if number >= factor:
            return units.text(number / factor) + letter
    return units.text(number)


_BEST = {"time": "shortest time", "bill": "least bill", "hours": "fewest device-hours"}


def why(plan: Plan) -> str:
    """Say why the size to buy is that one, or what comes nearest where no size meets every limit."""
    if plan.chosen is not None:
        return f"of the sizes that meet every limit it has the {_BEST[plan.choice.best]}"
    reached = {
        "deadline": lambda row: f"the fastest, {row.workers}, takes {units.text(row.run, 's')}",
        "budget": lambda row: f"the cheapest, {row.workers}, costs {units.bill(row.dollars)}",
        "efficiency": lambda row: (
            f"the most efficient, {row.workers}, reaches an efficiency of {units.text(row.efficiency)}"
        ),
    }
    nearest = [reached[limit](row) for limit, row in plan.choice.nearest.items()]
    if nearest:
        return f"no size meets every limit: {'; '.join(nearest)}"
    return (
        "the model fits on none of these sizes: split it over more devices (tensor, pipeline), shard "
        "more (sharding = 3), recompute activations, or raise cluster.largest"
    )


def against(plan: Plan, reason: Against) -> str:
    """Say what is against a size, without naming the size."""
    amount, limit = reason.amount, reason.limit
    match reason.kind:
        case "split copies":
            return f"{amount:.0f} devices hold no whole number of copies of {limit:.0f}"
        case "more copies than sequences":
            return f"{amount:.0f} copies share a batch of {limit:.0f} sequences"
        case "no split":
            return "the batch is too small for the micro-batch, or no split of the model divides this count"
        case "too big":
            need, usable, memory = units.alike([amount, limit, plan.job.cluster.memory], "B")
            return f"needs {need} on a device, {usable} of {memory} are usable"
        case "endless":
            return "fails more often than it can save its work"
        case "too late":
            takes, over = units.alike([amount, amount - limit], "s")
            return f"takes {takes}, {over} too long"
        case "too dear":
            return f"costs {units.bill(amount)}, {units.bill(amount - limit)} too much"
        case _:
            has, least = units.alike([amount, limit])
            return f"has an efficiency of {has}, below {least}"


def _choice(plan):
    at = plan.bought
    if at is None:
        yield f"Buy none: {why(plan)}."
    else:
        between = ""
        if at.run is not None and math.isfinite(at.run):
            run, *band = units.alike([at.run, at.run / plan.band, at.run * plan.band], "s")
            between = f" {run}, {' to '.join(band)} by the band."
        yield f"Buy {at.workers}: {why(plan)}.{between}"
        if plan.safe != plan.chosen:
            instead = f"buy {plan.safe}." if plan.safe else "no size meets every limit."
            yield f"Close: if steps take {plan.band:.2f} times as long, {instead}"
        yield from _where(at)
    yield from _excluded(plan)
    if at is not None:
        from scalelab.models.cost import bottleneck

        yield bottleneck.advice(at.kind)


def _excluded(plan):
    """Say of each kind of reason which sizes it excludes, and how near the nearest comes."""
    groups: dict[Hashable, list[int]] = {}
    for workers, reasons in sorted(plan.excluded.items()):
        first = reasons[0]
        groups.setdefault(first if workers in plan.impossible else first.kind, []).append(workers)
    for kind, sizes in groups.items():
        # Of those too late or too big the largest comes nearest, of those too dear or idle the smallest.
        near = sizes[-1] if kind in ("too late", "too big") else sizes[0]
        who = "it " if near not in plan.impossible else ""
        words = "; ".join(f"{who}{against(plan, reason)}" for reason in plan.excluded[near])
        listed = ", ".join(map(str, sizes))
        yield f"  not {listed}: {f'at {near} ' if len(sizes) > 1 else ''}{words}"


_CAUSES = {
    "useful": "the model's products",
    "repeated": "products computed again",
    "uneven": "uneven shares",
    "memory": "norms, softmax, optimizer",
    "tensor": "exchange inside layers",
    "stages": "sends between stages",
    "gradients": "gradients, exposed",
    "bubble": "pipeline bubble",
}


def _where(at):
    parts = [
        f"{words} {units.text(getattr(at.time, cause) / at.seconds, '%', 2)}"
        for cause, words in _CAUSES.items()
        if getattr(at.time, cause) >= 5e-4 * at.seconds
    ]
    yield f"Where its step goes: {', '.join(parts)}."
    costs = []
    if at.dollars_per_million is not None:
        costs.append(f"{units.dollars(at.dollars_per_million)} per million tokens")
    if at.joules_per_token is not None:
        costs.append(f"{units.text(at.joules_per_token, 'J')} per token")
    if at.useful_share is not None:
        lasts = units.text(at.useful_share, "%")
        costs.append(f"{lasts} of the time lasts, after checkpoints and failures")
    if costs:
        yield f"A result costs {', '.join(costs)}." if len(costs) > 1 else f"{costs[0]}."


def _whatifs(plan, width):
    ifs = plan.whatifs
    rows = [one.row for one in ifs]
    head = (f"what if, on {rows[0].workers}", "step", "tokens/s", "MFU", "memory", "time", "bill")
    bills = [
        "" if one.row.dollars is None or one.worth is not None else units.bill(one.row.dollars)
        for one in ifs
    ]
    columns = (
        [one.change for one in ifs],
        units.column([row.seconds for row in rows], "s"),
        [f"{100 * (one.gain - 1):+.1f}%" for one in ifs],
        units.column([row.mfu for row in rows], "%"),
        [units.text(row.memory, "%") if row.fits else "too big" for row in rows],
        _times([row.run for row in rows]),
        bills,
    )
    table = [head, *zip(*columns, strict=True)]
    yield from aligned(table, left=(0,), drop_empty=True, width=width)
    for one in ifs:
        if one.worth is not None:
            yield f"{one.change}: worth ${one.worth:.2f} a device-hour"


def document(plan: Plan) -> dict[str, Any]:
    """Return a plan as nested dicts and lists that JSON can hold.

    >>> from scalelab.plan import plan as planner, file as plan_file
    >>> found = document(planner.plan(plan_file.parse(plan_file.example())))
    >>> found["chosen"], found["rows"][0]["fits"]
    (128, False)
    """
    return finite(
        {
            "name": plan.job.name,
            "stamp": "model",
            "parameters": plan.job.parameters,
            "batch": plan.job.batch,
            "device": plan.job.cluster.device,
            "kernel_share": plan.share,
            "kernel_share_from": plan.share_from,
            "band": {"factor": plan.band, "level": published.LEVEL},
            "goal": asdict(plan.job.goal),
            "rows": [_row(plan, row) for row in plan.rows],
            "impossible": [
                {"workers": k, "why": against(plan, one)} for k, one in plan.impossible.items()
            ],
            "chosen": plan.chosen,
            "safe": plan.safe,
            "why": why(plan),
            "what_ifs": [
                {
                    "change": whatif.change,
                    "gain": whatif.gain,
                    "worth": whatif.worth,
                    **_row(plan, whatif.row),
                }
                for whatif in plan.whatifs
            ],
            "notes": list(plan.notes),
        }
    )


def _row(plan, row):
    held = {**row.held, "share": row.memory}
    return {
        "workers": row.workers,
        "layout": asdict(row.layout) | {"data": row.workers // row.layout.split},
        "seconds": row.seconds,
        "low": row.seconds / plan.band,
        "high": row.seconds * plan.band,
        "terms": {cause: getattr(row.time, cause) for cause in step.CAUSES},
        "throughput": row.throughput,
        "efficiency": row.efficiency,
        "mfu": row.mfu,
        "bottleneck": row.kind,
        "memory": held,
        "fits": row.fits,
        "run_seconds": row.run,
        "useful_share": row.useful_share,
        "device_hours": row.hours,
        "dollars": row.dollars,
        "joules": row.joules,
        "dollars_per_million_tokens": row.dollars_per_million,
        "joules_per_token": row.joules_per_token,
        "excluded": [against(plan, reason) for reason in plan.excluded.get(row.workers, ())],
    }
