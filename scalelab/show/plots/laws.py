"""Section 3.5: both laws on one pair of axes, and laws against measured tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import laws, speedup
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, bars, doublings

_TONES = {
    "Amdahl's law": 3,
    "universal law": 1,
    "hard cap": 4,
}  # a law keeps its colour from figure to figure
# The colours of the section's drawings: what divides, the exchange, who waits, what one worker has as well.
_KINDS = {"computing": 3, "moving gradients": 4, "waiting": 0, "idle": 2}


def two_readings(serial: float, measured_on: float, most: int = 1024) -> Chart:
    """A serial share read on some number of workers: what it says of a fixed and of a grown job."""
    whole = np.geomspace(1, most, 48).round()
    workers = np.unique([*whole, *POWERS[most >= POWERS], measured_on])
    own = laws.rebase(serial, measured_on)
    # Where s was read both have a point, and to nine decimals it is one: noise would print as two.
    stays = np.round(laws.amdahl(workers, own), 9)
    grown = np.round(laws.gustafson(workers, serial), 9)
    there = np.round(laws.gustafson(measured_on, serial), 9)
    top = speedup.ceiling(own)
    series = [
        Points("ideal S = K", workers, workers, "dashed", tone=0),
        Points("job that grows with K", workers, grown, tone=3),
        Points("job that stays as it is", workers, stays, tone=1),
        Points("where s was measured", [measured_on], [there], "points", tone=2),
    ]
    x, y = (
        Axis(label, log=True, low=0.9, high=most * 1.15, ticks=tuple(POWERS[::2]))
        for label in ("workers K", "speedup over one worker")
    )
    return Chart(
        f"{units.text(100 * serial, digits=4)}% serial, measured on K = {measured_on:,.0f}",
        x,
        y,
        tuple(series),
        {
            "Speedup there": f"{units.text(float(there), digits=4)}×",
            "Share of the one-worker time": f"{100 * own:.3g}%",
            "Ceiling over one worker": "none"
            if np.isinf(top)
            else f"{units.text(float(top), digits=4)}×",
            "Left to gain from there": f"{1 / serial:.4g}×" if serial else "no limit",
        },
        MODEL,
        "The two curves meet at one worker and at the marked point, where s was read. To the right of it the "
        "job that stays never gains more than the one that grows.",
    )


def one_clock(shares: Sequence[float], most: int = 1024) -> Chart:
    """The serial share of the one-worker time, of a job that stays and of one that grows, for some s."""
    workers = POWERS[most >= POWERS]
    series = []
    for tone, share in enumerate(shares, 1):
        grown = laws.rebase(share, measured_on=workers)
        series += [
            Points(
                f"Amdahl's job, s = {share:g}",
                workers,
                np.full(workers.size, share),
                "dashed",
                tone,
            ),
            Points(f"Gustafson's job, s = {share:g}", workers, grown, "joined", tone),
        ]
    return Chart(
        "The same numbers s, on the clock of one worker",
        Axis("workers K", log=True, ticks=tuple(workers[::2])),
        Axis(
            "serial share, on one worker",
            log=True,
            low=0.6 * min(one.y.min() for one in series),
            high=1,
            ticks=(1e-5, 1e-4, 1e-3, 0.01, 0.1, 1),
        ),
        tuple(series),
        stamp=MODEL,
        see="The two lines of a colour begin together and are two different jobs from the second worker on: "
        "on one clock, the serial share of the grown job all but vanishes.",
    )


def next_percent(serial: float, most: int = 64) -> Chart:
    """What one percent more nodes saves of the time and adds to the bill, over the nodes there are."""
    even = (1 - serial) / serial  # half of the ceiling
    nodes = np.unique(np.append(doublings(1, most), even))
    stays = laws.share_of_ceiling(nodes, serial)
    return Chart(
        f"One percent more nodes, where {serial:.0%} is serial on one",
        Axis("nodes K", log=True, ticks=tuple(POWERS[most >= POWERS])),
        Axis("percent of the step, or of its bill", low=0.0, high=1.0),
        (
            Points("sooner by", nodes, 1 - stays, tone=1),
            Points("dearer by", nodes, stays, tone=2),
            Points("half of the ceiling", [even], [0.5], "points", tone=3),
        ),
        stamp=MODEL,
        see="Left of the crossing a percent of nodes saves more time than it costs money, right of it less. "
        "The two always add up to the one percent.",
    )


def two_profiles(shares: Mapping[str, tuple[float, int]], counts: Sequence[int]) -> Chart:
    """Speedup over one worker as profiles of an exchange foretell it, each with the size it was read on."""
    workers = np.unique([*doublings(2, max(counts)), *counts])
    series = [Points("ideal S = K", workers, workers, "dashed", tone=0)]
    sizes = " and ".join(filter(None, [", ".join(map(str, counts[:-1])), f"{counts[-1]}"]))
    for tone, (name, (share, on)) in enumerate(shares.items(), 1):
        top = laws.overhead_ceiling(share, on)
        series += [
            Points(name, workers, laws.overhead_speedup(workers, share, on), tone=tone),
            Points(f"at {sizes} GPUs; ceiling {top:.3g}", [*counts],
                   laws.overhead_speedup(counts, share, on), "points", tone=tone),
        ]  # fmt: skip
    return Chart(
        "What a share of exchange says, by the size it was read on",
        Axis("GPUs K", log=True, ticks=tuple(2.0 ** np.arange(1, 9))),
        Axis("speedup over one GPU", log=True, ticks=tuple(2.0 ** np.arange(1, 9))),
        tuple(series),
        stamp=MODEL,
        see="The lower curve has hardly anything left to gain at its last point, and the upper one is "
        "still far from its ceiling: the size beside a share decides.",
    )


def levers(moves: Mapping[str, tuple[float, float, float]], most: int = 1024) -> Chart:
    """How much faster training gets on more nodes, over one node today, for some changes to its step.

    Each move has the seconds that divide, those that do not, and how many of today's steps one is worth.
    """
    nodes = doublings(1, most)
    compute, stays, _ = next(iter(moves.values()))
    today = compute + stays
    series = []
    for tone, (name, (divides, serial, worth)) in enumerate(moves.items(), 1):
        faster = worth * today / laws.seconds(nodes, serial, divides)
        limit = worth * today / serial
        series += [
            Points(name, nodes, faster, tone=tone),
            Points(f"its limit, {limit:g}", [1, most], [limit, limit], "dashed", tone),
        ]
    return Chart(
        "Two levers, against one node today",
        Axis("nodes K", log=True, ticks=tuple(POWERS[most >= POWERS][::2])),
        Axis("training, times as fast as today", log=True, ticks=(1, 2, 5, 10, 20, 40)),
        tuple(series),
        stamp=MODEL,
        see="All begin near each other, where nodes still help. Each curve bends towards its own dashed "
        "line, and it is the lines that the levers move.",
    )


def steps(found: Mapping[str, Mapping[str, float]], stamp: Stamp | None = None) -> Chart:
    """Steps as bars under each other: milliseconds of each part, end to end, in the order given."""
    rows = [float(row) for row in range(len(found), 0, -1)]
    series = []
    for turn, part in enumerate(next(iter(found.values()))):
        x: list[float] = []
        y: list[float] = []
        for row, parts in zip(rows, found.values(), strict=True):
            begin = sum([*parts.values()][:turn])
            if parts[part] > 0:  # a bar of no length would still be a line
                x += [begin, begin + parts[part], np.nan]
                y += [row, row, np.nan]
        tone = _KINDS.get(part, 1)
        series.append(Points(part, x or [np.nan], y or [np.nan], "lane", tone=tone))
    return Chart(
        "One step of each worker, its moments sorted by kind",
        Axis("ms", low=0.0),
        Axis("worker", low=0.4, high=len(found) + 0.6, ticks=tuple(rows), names=tuple(found)),
        tuple(series),
        stamp=stamp,
        see="A worker alone has nothing but computing and idle time. Whatever else stands in the bars "
        "of the two was born with the second.",
    )


def listed(rows: Iterable[Any], stamp: Stamp | None = None, most: int = 8) -> Chart:
    """The longest rows of a profiler's `key_averages()`, each split into its own time and what it calls."""
    longest = sorted(rows, key=lambda row: -row.cpu_time_total)[:most]
    parts = {}
    for row in longest:
        head, _, last = row.key.rpartition(": ")  # of the engine's rows the end says which
        short = f"engine: {last}" if head else last
        short = short if len(short) <= 22 else f"{short[:21]}…"
        own, total = row.self_cpu_time_total / 1e3, row.cpu_time_total / 1e3
        parts[short] = {"itself": own, "what it calls": total - own}
    return bars.stacked(
        "The longest rows of the profiler",
        "ms",
        parts,
        stamp,
        "What a row calls has rows of its own, and what those call has, too. Add up what the rows do "
        "themselves, and nothing is counted twice.",
    )


def misses(
    title: str,
    workers: ArrayLike,
    rate: ArrayLike,
    curves: Mapping[str, Callable[[np.ndarray], ArrayLike]],
    stamp: Stamp | None = None,
    x: str = "workers K",
) -> Chart:
    """How far each measured value lies above or below some curves, in percent of the curve."""
    workers, rate = np.asarray(workers, float), np.asarray(rate, float)
    off = {name: 100 * (rate / np.asarray(curve(workers)) - 1) for name, curve in curves.items()}
    lowest = min(0.0, *(values.min() for values in off.values()))
    return Chart(
        title,
        Axis(x, log=True, ticks=tuple(workers)),
        Axis(
            "measured over fitted, %", low=1.15 * lowest
        ),  # a mark at the edge would be half a mark
        (
            Points("on the curve", workers[[0, -1]], [0, 0], "dashed", tone=0),
            *(
                Points(name, workers, values, "joined", tone=_TONES.get(name, 2))
                for name, values in off.items()
            ),
        ),
        stamp=stamp,
        see="How far each row lies from a curve, and on which side. Where rows are few, some neighbours "
        "are on one side by chance; a long run of rows on one side speaks against a shape.",
    )


def losses(
    workers: int,
    left: Mapping[str, float],
    measured: float,
    stamp: Stamp | None = None,
) -> Chart:
    """A staircase from the ideal speedup down: what `left` of it each loss leaves, and what was measured."""
    after = np.array([*left.values()])
    before = np.array([workers, *after[:-1]])
    rows = np.arange(len(after) + 1, 0.0, -1.0)
    ends = [workers, measured, *after]
    stairs = (("a loss", 2, after < before), ("a gain", 3, after > before))
    return Chart(
        f"From {workers} times as fast to what {workers} workers gain",
        Axis("speedup over one worker", low=min(1.0, 0.95 * min(ends)), high=1.04 * max(ends)),
        Axis(
            "",
            low=0.4,
            high=len(rows) + 0.6,
            ticks=tuple(rows),
            names=(*left, "measured"),
        ),
        (
            Points("ideal", [workers, workers], [0.4, len(rows) + 0.6], "dashed", tone=0),
            *(_lane(name, rows[:-1][so], before[so], after[so], tone)
              for name, tone, so in stairs if so.any()),
            Points("what is left", after, rows[:-1], "points", tone=1),
            Points("measured", [measured], rows[-1:], "points", tone=4),
        ),
        stamp=stamp,
        see="Each bar is what one loss takes away, and the next begins where it ends. A bar that leads to "
        "the right is a gain. The point in the last row was measured without the profiler.",
    )  # fmt: skip


def _lane(name, rows, begin, end, tone):
    gaps = np.full(rows.size, np.nan)
    x = np.column_stack([np.minimum(begin, end), np.maximum(begin, end), gaps]).ravel()
    return Points(name, x, np.column_stack([rows, rows, gaps]).ravel(), "lane", tone=tone)


def fitted(
    title: str,
    workers: ArrayLike,
    values: ArrayLike,
    curves: Mapping[str, Callable[[np.ndarray], ArrayLike]],
    y: str,
    stamp: Stamp | None = None,
    x: str = "workers K",
    corners: tuple[float, ...] = (),
    see: str = "",
) -> Chart:
    """Measured values over worker counts, and named curves through them.

    The curves pass through every measured count and through `corners`, such as a peak or a cap, so that
    what is drawn, read out and listed are values of the curve and not of the line between two points.
    """
    workers = np.asarray(workers, dtype=float)
    line = np.geomspace(workers.min(), workers.max(), 120)
    line = np.unique(np.concatenate([line[1:-1], workers, corners]))
    series = [
        Points(name, line, curve(line), tone=_TONES.get(name, tone))
        for tone, (name, curve) in zip((3, 1, 4), curves.items(), strict=False)
    ]
    ticks = tuple(workers) if workers.size <= 8 else tuple(workers[::2])
    return Chart(
        title,
        Axis(x, log=True, ticks=ticks),
        Axis(y, low=0.0),
        (*series, Points("measured", workers, values, "points", tone=2)),
        stamp=stamp,
        see=see,
    )
