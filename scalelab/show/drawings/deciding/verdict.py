"""Section 41.6: four numbers are asked one after the other, and sizes drop out until one can be defended.

What each size has, and which demand it misses, is taken from a judged report of `scalelab.rubric`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scalelab import units
from scalelab.arguments import shown
from scalelab.models.choice import instance
from scalelab.refusal import Refusal
from scalelab.rubric.report import Report, Scores
from scalelab.show.drawings.drawing import Drawing, Frame, Shape

MOST = 8  # sizes
_WIDE, _LEFT, _COLUMN = 360.0, 64.0, 74.0
_HEAD, _UNDER, _RULE = 8.0, 21.0, 31.0  # the two lines of the heads, and the stroke below them
_TOP, _ROW, _LAST = 52.0, 41.0, 26.0  # the middle of the first row, to the next, and below the last
_LONG, _THICK = 66.0, 8.0  # of the longest bar
_BESIDE = 38.0  # from a number to what it is said to be
_TOLERANCE = 26.0  # of the bar of quality, at which the tolerance is reached
_COLUMNS = ("speedup", "efficiency", "quality", "cost")
_LIMIT = {"speedup": "deadline", "efficiency": "floor", "cost": "budget"}
_OPEN, _KEEPS, _MISSES, _OUT = 1, 3, 2, 0
TONES = {"not asked yet": _OPEN, "keeps it": _KEEPS, "misses it": _MISSES, "already out": _OUT}


@dataclass(frozen=True)
class _State:
    """Which columns are shown, and which of them have been asked."""

    shown: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    chosen: bool = False


def four_numbers(reports: Mapping[str, Report]) -> list[Drawing]:
    """How the sizes of a study fare where speedup, efficiency, quality and cost are asked in turn."""
    if not isinstance(reports, Mapping) or not reports:
        raise Refusal(
            f"reports must be judged studies by their names, got {shown(reports)}: name one"
        )
    for name, report in reports.items():
        instance(f"report {name!r}", report, Report, "make it with rubric.judge")
        _drawable(name, report)
    most = max(len(report.rows) for report in reports.values())
    return [
        Drawing(
            name,
            f"Which of {len(report.rows)} sizes can be defended: {name}",
            "Each row is a size, with a bar for each of four numbers. A stroke across a bar is what is "
            "asked, and stands below its head; the bar of quality is what was lost. A mark at the left "
            "stands by those still in.",
            _WIDE,
            _TOP + _ROW * (most - 1) + _LAST,
            tuple(_frame(report, *step) for step in _steps(report)),
            chosen=(len(_steps(report)) - 1,),
            tones=TONES,
            stamp=report.stamp,
        )
        for name, report in reports.items()
    ]


def _drawable(name, report):
    limits = report.limits
    other = [
        one
        for one in ("latency", "throughput", "joules", "grams")
        if getattr(limits, one) is not None
    ]
    if report.scaling != "strong" or other:
        what = f"a limit on {other[0]}" if other else f"{report.scaling} scaling"
        raise Refusal(
            f"report {name!r} must be of one fixed job with limits on the four numbers, got {what}: "
            "read it from its table"
        )
    if len(report.rows) > MOST:
        raise Refusal(
            f"report {name!r} must have at most {MOST} sizes, got {len(report.rows)}: leave some out"
        )


def _misses(row: Scores, column: str) -> bool:
    if column == "quality":
        return row.passes_gate is not True
    return _LIMIT[column] in row.missed


def _in(row, asked):
    return not any(_misses(row, column) for column in asked)


def _steps(report):
    """Return the state of each step, and its words."""
    rows, limits = report.rows, report.limits
    most, base = rows[-1], report.row(report.baseline)
    lead = max(rows, key=lambda row: row.speedup)
    steps = [
        (_State(), f"{len(rows)} sizes of one job: {base.seconds:,g} s on {units.counted(base.workers)}, "
                   f"{most.seconds:,g} s on {most.workers}. Which of them can be defended?"),
        (_State(("speedup",)), f"Speedup: how much sooner? {units.counted(lead.workers)} lead with "
                               f"{lead.speedup:.2f} times, and most slides end here."),
    ]  # fmt: skip
    seen: tuple[str, ...] = ("speedup",)
    asked: tuple[str, ...] = ()

    def gate(column, says):
        nonlocal asked
        before = [row for row in rows if _in(row, asked)]
        asked = (*asked, column)
        gone = [row.workers for row in before if not _in(row, asked)]
        steps.append((_State(seen, asked), f"{says}: {_dropped(gone, len(before) < len(rows))}."))

    if limits.deadline is not None:
        need = base.seconds / limits.deadline
        gate("speedup", f"A deadline of {limits.deadline:,g} s asks for a speedup of {need:.3g}")
    seen = (*seen, "efficiency")
    steps.append(
        (_State(seen, asked), f"Efficiency: what did the workers do meanwhile? On {most.workers}, "
                              f"{1 - most.efficiency:.0%} of what was paid bought no work.")
    )  # fmt: skip
    if limits.floor:
        gate("efficiency", f"The floor is an efficiency of {limits.floor:.2f}")
    seen = (*seen, "quality")
    worst = max(row.gate.loss for row in rows)
    lost = "but nothing was lost"
    if worst > 1e-12:
        lost = f"the largest {worst:.3g} of {report.metric}; without a bar nothing was lost"
    steps.append(
        (_State(seen, asked), f"Quality: was it the same job? A bar is a loss against "
                              f"{units.counted(base.workers)}, {lost}.")
    )  # fmt: skip
    gate("quality", f"The tolerance is a loss of {limits.tolerance:g}")
    seen = _COLUMNS
    cheap, dear = (pick(rows, key=lambda row: row.cost) for pick in (min, max))
    steps.append(
        (_State(seen, asked), f"Cost: what did a run come to? From ${cheap.cost:.2f} on {cheap.workers} to "
                              f"${dear.cost:.2f} on {dear.workers}.")
    )  # fmt: skip
    if limits.budget is not None:
        gate("cost", f"The budget is ${limits.budget:.2f}")
    steps.append((_State(seen, asked, chosen=True), _conclusion(report)))
    return steps


def _dropped(gone, others):
    if not gone:
        return "nobody else drops out" if others else "nobody drops out"
    return f"K = {_listed(gone)} {'drop' if len(gone) > 1 else 'drops'} out"


def _listed(sizes):
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last


def _conclusion(report):
    able = [row.workers for row in report.rows if row.eligible]
    if report.recommended is None:
        return "Nobody is left: a demand has to give way, or another size must be measured."
    row = report.row(report.recommended)
    best = f"{units.counted(row.workers)}, {row.speedup:.2f} times sooner at {row.efficiency:.0%}"
    if len(able) == 1:
        return f"One is left, and can be defended: {best}."
    # A demand on speed makes the price the goal.
    return f"Left are {_listed(able)}. The {report.limits.objective} of them is taken: {best}."


def _frame(report, state, caption):
    still = [row for row in report.rows if _in(row, state.asked)]
    shapes = list(_heads(report, state))
    for turn, row in enumerate(report.rows):
        shapes += _row(report, state, row, _TOP + turn * _ROW)
    best = max((row.speedup for row in still), default=None)
    return Frame(
        caption,
        tuple(shapes),
        {
            "Still in": ", ".join(f"K = {row.workers}" for row in still) or "nobody",
            "Demands applied": str(len(state.asked)),
            "Largest speedup in": "none" if best is None else f"{best:.2f}",
        },
    )


def _heads(report, state):
    """Yield what each column is, and below it what is asked of it, or what its bar is."""
    yield Shape("rule", "line", 4, _RULE, _WIDE - 8, 0, weight=0.8)
    yield Shape("head size", "text", 12, _HEAD, text="K, T(K)", align="start")
    for at, column in enumerate(_COLUMNS):
        if column not in state.shown:
            continue
        x = _LEFT + at * _COLUMN
        name = {"quality": report.metric, "cost": "$ a run"}.get(column, column)
        yield Shape(f"head {column}", "text", x, _HEAD, text=name, align="start")
        below = _demand(report, column) if column in state.asked else ""
        if column == "quality":
            below = below or "bar: the loss"
        if below:
            yield Shape(f"below {column}", "text", x, _UNDER, text=below, align="start")


def _demand(report, column):
    """Write what is asked of a number."""
    limits = report.limits
    if column == "speedup":
        return f"≥ {report.row(report.baseline).seconds / limits.deadline:.3g}"
    return {
        "efficiency": f"≥ {limits.floor:.2f}",
        "quality": f"loss ≤ {limits.tolerance:g}",
        "cost": f"≤ {limits.budget:.2f}" if limits.budget else "",
    }[column]


def _row(report, state, row, y):
    size = row.workers
    inside = _in(row, state.asked)
    if inside:
        yield Shape(f"in {size}", "block", 4, y, 5, 30, _KEEPS)
    yield Shape(f"size {size}", "text", 12, y - 8, text=f"K = {size}", align="start")
    taken = state.chosen and size == report.recommended
    yield Shape(
        f"seconds {size}",
        "text",
        12,
        y + 6,
        text="taken" if taken else f"{row.seconds:,g} s",
        align="start",
    )
    for at, column in enumerate(_COLUMNS):
        if column not in state.shown:
            continue
        x = _LEFT + at * _COLUMN
        asked = column in state.asked
        fell = asked and _misses(row, column)
        earlier = state.asked[: state.asked.index(column)] if asked else state.asked
        tone = _OUT if not _in(row, earlier) else _MISSES if fell else _KEEPS if asked else _OPEN
        value = {
            "speedup": f"{row.speedup:.2f}",
            "efficiency": f"{row.efficiency:.2f}",
            "quality": f"{row.quality:.{3 if row.quality < 10 else 2}f}",
            "cost": f"{row.cost:.2f}",
        }[column]
        yield Shape(f"{column} {size}", "text", x, y - 8, text=value, align="start")
        if tone == _MISSES:
            open_ = column == "quality" and row.passes_gate is None
            yield Shape(
                f"out {column} {size}",
                "text",
                x + _BESIDE,
                y - 8,
                text="open" if open_ else "out",
                align="start",
            )
        limit = _limit(report, column)
        if asked and limit is not None:
            yield Shape(f"limit {column} {size}", "line", x + limit, y + 1, 0, 14, weight=1.6)
        if (width := _bar(report, row, column)) > 0.3:
            yield Shape(f"bar {column} {size}", "block", x + width / 2, y + 8, width, _THICK, tone)


def _bar(report, row, column):
    """Return how long the bar of a number is; that of quality is what was lost."""
    rows = report.rows
    if column == "quality":
        tolerance = report.limits.tolerance
        return min(row.gate.loss / tolerance * _TOLERANCE, _LONG) if tolerance else 0.0
    full = {
        "speedup": max(one.speedup for one in rows),
        "efficiency": max(1.0, *(one.efficiency for one in rows)),
        "cost": max(one.cost for one in rows),
    }[column]
    return getattr(row, column) / full * _LONG


def _limit(report, column):
    """Return where across the bar the demand stands; None where there is none."""
    limits, rows = report.limits, report.rows
    if column == "quality":
        return _TOLERANCE if limits.tolerance else 0.0
    if column == "efficiency":
        return limits.floor / max(1.0, *(one.efficiency for one in rows)) * _LONG
    value, of = limits.budget, "cost"
    if column == "speedup":
        value = limits.deadline and report.row(report.baseline).seconds / limits.deadline
        of = column
    if value is None:
        return None
    return min(value / max(getattr(one, of) for one in rows), 1.0) * _LONG
