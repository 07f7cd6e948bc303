"""Section 41.6: what is asked of a configuration, and which one then remains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.records import Pass, Passes, Stamp
from scalelab.rubric import gate, rubric, text
from scalelab.rubric.gate import Noise
from scalelab.rubric.report import Report
from scalelab.rubric.spread import bound
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, bars

# The study of the section, with an accuracy that slips as batches grow.
WORKERS = (1, 2, 4, 8, 16, 32)
SECONDS = (3600.0, 1880.0, 1010.0, 560.0, 340.0, 250.0)
SLIPPING = (0.871, 0.871, 0.870, 0.869, 0.865, 0.858)


def recommended(floor: float, tolerance: float, deadline: str, price: float) -> Chart:
    """The same six rows under other demands; `price` is of a worker and hour, the budget $2."""
    rows = rubric.columns(
        WORKERS, SECONDS, rate=np.multiply(price, WORKERS), quality=SLIPPING, metric="accuracy"
    )
    end = None if deadline == "none" else float(deadline)
    report = rubric.judge(rows, floor=floor, tolerance=tolerance, budget=2.0, deadline=end)

    def only(keeps):
        return [row.efficiency if keeps(row) else np.nan for row in report.rows]

    picked = report.recommended
    row = None if picked is None else report.row(picked)
    return Chart(
        "What remains of six configurations",
        Axis("workers K", log=True, ticks=WORKERS),
        Axis("efficiency", low=0.0, high=1.05),
        (
            Points("floor", WORKERS, np.full(len(WORKERS), floor), "dashed", tone=0),
            Points("fails the gate", WORKERS, only(lambda r: not r.passes_gate), "points", tone=4),
            Points(
                "misses a limit",
                WORKERS,
                only(lambda r: r.passes_gate and r.missed),
                "points",
                tone=2,
            ),
            Points("may be recommended", WORKERS, only(lambda r: r.eligible), "points", tone=1),
            Points("recommended", WORKERS, only(lambda r: r.workers == picked), "points", tone=3),
        ),
        {
            "Recommended": "none" if row is None else f"K = {picked}",
            "Speedup": "–" if row is None else f"{row.speedup:.2f}×",
            "Dollars of the run": "–" if row is None else f"{row.cost:.2f}",
            "Accuracy lost": "–" if row is None else f"{row.gate.loss:.3f}",
            "Because": text.reason(report) if row is not None else _nearest(report),
        },
        MODEL,
        "Floor, tolerance, deadline and price move no point: a demand only changes which of them may be "
        "taken.",
    )


def margins(
    base: float,
    row: float,
    tolerance: float,
    noise: Noise,
    runs: tuple[int, int],
    sizes: tuple[str, str],
    metric: str,
    most: int = 16,
) -> Chart:
    """The most that the loss may be, while runs are added to one mean or to the other, and both stay."""
    more = np.arange(most + 1)

    def ends(one, other):
        counts = [(runs[0] + one * n, runs[1] + other * n) for n in more.tolist()]
        return [gate.of_means(base, row, tolerance, noise, runs=count).high for count in counts]

    return Chart(
        "What one more run is worth, on either size",
        Axis("runs added", ticks=tuple(range(0, most + 1, 4))),
        Axis(f"the loss is at most, {metric}", low=0.0),
        (
            Points(f"on {sizes[0]}", more, ends(1, 0), "joined", tone=1),
            Points(f"on {sizes[1]}", more, ends(0, 1), "joined", tone=2),
            Points("tolerance", more, np.full(more.size, tolerance), "dashed", tone=0),
            Points("loss of the means", more, np.full(more.size, base - row), "dashed", tone=3),
        ),
        stamp=MODEL,
        see=f"Runs on {sizes[1]} hardly move the line, for {runs[1]} are there already. Those on "
        f"{sizes[0]} bring it under the tolerance, if the means stay, and the first brings most.",
    )


def implied(report: Report) -> Chart:
    """The serial fraction that each row implies by itself, and what single causes would make it."""
    rows = report.rows[1:]
    workers = np.array([row.workers for row in rows], float)
    fraction = np.array([row.karp_flatt for row in rows], float)
    assert report.serial is not None, "a fixed job on several sizes has one"
    line = np.geomspace(workers[0], workers[-1], 40)
    comes = fraction[0] * (1 - 1 / workers[0]) / (1 - 1 / line)
    grows = np.log2(line) / (1 - 1 / line)
    return Chart(
        "The serial fraction that each row implies",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("Karp-Flatt number e", low=0.0),
        (
            Points("of each row", workers, fraction, "points", tone=1),
            Points("a serial part alone", line, np.full(line.size, report.serial.value), tone=2),
            Points("a cost of the second worker", line, comes, tone=3),
            Points("grows with log K", line, grows * fraction[-1] / grows[-1], tone=4),
        ),
        stamp=report.stamp,
        see="No single cause runs through the points: at first they fall like a cost of the second worker, "
        "and at the end they rise like one that grows with log K.",
    )


def sure(report: Report) -> Chart:
    """Efficiency on every size, between what the replicates allow, and the floor."""
    workers = np.array([row.workers for row in report.rows], float)
    spreads = [row.efficiency_spread for row in report.rows]
    low, high = (
        [getattr(one, end) if one.tested else np.nan for one in spreads] for end in ("low", "high")
    )
    floor = np.full(workers.size, report.limits.floor)
    return Chart(
        "Efficiency, between what the runs allow",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("efficiency", low=0.0),
        (
            Points(
                "median, 95% for each end",
                workers,
                [row.efficiency for row in report.rows],
                "points",
                tone=1,
                low=low,
                high=high,
            ),
            Points("floor", workers, floor, "dashed", tone=0),
        ),
        stamp=report.stamp,
        see="A bar that lies above the dashed line supports the floor, and one below it contradicts it. "
        "Where a bar crosses it, the runs have not decided; where a point covers its bar, see the table.",
    )


def held(report: Report) -> Chart:
    """Quality on every size, beside that of the base and the least that the tolerance lets pass."""
    workers = np.array([row.workers for row in report.rows], float)
    base = report.row(report.baseline).quality
    worse = -1 if report.better == "higher" else 1
    least = base + worse * report.limits.tolerance
    values = [row.quality for row in report.rows]
    low, high = min(*values, least), max(*values, least)
    room = 0.2 * (high - low)
    return Chart(
        f"{report.metric} of every size, and what the tolerance lets pass",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis(report.metric, low=low - room, high=high + room),
        (
            Points("measured", workers, values, "points", tone=1),
            Points(f"on {report.baseline}", workers, np.full(workers.size, base), "dashed", tone=0),
            Points("tolerance", workers, np.full(workers.size, least), "dashed", tone=2),
        ),
        stamp=report.stamp,
        see="The points go up and down with no order in the size, and once by more than the tolerance "
        "between two neighbours: that may be noise, and one run of each cannot tell it from a loss.",
    )


def each_run(passes: Sequence[Pass]) -> Chart:
    """The time of every run, over its workers, beside what equal shares of the runs on one would take."""
    workers = np.array([one.workers for one in passes], float)
    seconds = np.array([one.seconds for one in passes], float)
    sizes = np.unique(workers)
    alone = float(np.median(seconds[workers == 1]))
    return Chart(
        "What every run took",
        Axis("workers K", log=True, ticks=tuple(sizes)),
        Axis("seconds", low=0.0),
        (
            Points("an equal share, T(1)/K", sizes, alone / sizes, "dashed", tone=0),
            Points("a run", workers, seconds, "points", tone=1),
        ),
        stamp=passes[0].stamp,
        see="The dashed line is for workers who divide everything and never wait. Points of one column are "
        "the same plan with other seeds, and how far they lie apart is what a single run cannot say.",
    )


def exchanged(*studies: Passes, workers: int) -> Chart:
    """Median seconds of exchange, and of all else, on so many workers: a bar ends at its T(K)."""
    rows = {}
    for study in studies:
        runs = [one for one in study.passes if one.workers == workers]
        sent = float(np.median([one.exposed or 0.0 for one in runs]))
        rest = float(np.median([one.seconds for one in runs])) - sent
        rows[study.title] = {"exchange alone": sent, "all else, waiting included": rest}
    return bars.stacked(
        f"{workers} workers: what a larger batch does to the exchange, and to the rest",
        "seconds",
        rows,
        studies[0].passes[0].stamp,
        "The first part falls with the number of exchanges. Of the second, packing, waiting and what each "
        "worker repeats in every step do, which may be little beside the computing.",
    )


def each_pass(studies: Mapping[str, Sequence[Pass]]) -> Chart:
    """Every pass as a point: what it took, and what came out."""
    qualities = [one.quality for passes in studies.values() for one in passes]
    room = 0.2 * max(max(qualities) - min(qualities), 0.02)
    return Chart(
        "Every pass: how long it took, and how good it was",
        Axis("seconds", low=0.0),
        Axis("held-out accuracy", low=min(qualities) - room, high=max(qualities) + room),
        tuple(
            Points(
                name,
                [one.seconds for one in passes],
                [one.quality for one in passes],
                "points",
                tone=tone,
            )
            for tone, (name, passes) in enumerate(studies.items(), 1)
        ),
        stamp=next(iter(studies.values()))[0].stamp,
        see="To the left is sooner, and above is better. A group that lies to the left of another at the "
        "same height has gained; one that also lies lower has trained another model.",
    )


def capped(workers: ArrayLike, joules: ArrayLike, most: Sequence[float]) -> Chart:
    """Megajoules of a run over its workers, and some limits to them."""
    workers, energy = np.asarray(workers, float), np.asarray(joules, float) / 1e6
    limits = [
        Points(f"at most {cap / 1e6:g} MJ", workers[[0, -1]], [cap / 1e6] * 2, "dashed", tone=tone)
        for tone, cap in enumerate(most, 2)
    ]
    return Chart(
        "What a run draws, and two limits",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("energy of a run, MJ", low=0.0),
        (Points("all workers", workers, energy, "joined", tone=1), *limits),
        stamp=MODEL,
        see="The line climbs as efficiency falls: all workers draw their power, and twice as many do not "
        "finish in half the time. A limit leaves the sizes below it.",
    )


def claimed(report: Report, workers: int, **stated: float) -> Chart:
    """What the runs of one size allow of each number of a claim, in multiples of what is claimed."""
    row = report.row(workers)
    ends, rows = row.spreads, {}
    for name, value in stated.items():
        middle = row.gate.loss if name == "loss" else getattr(row, name)
        sign = {"least": "≥", "most": "≤"}[bound(name)]
        words, count = text.named(report, name)
        # Names stand beside the bars and may not take their room; the table has them whole.
        short = words.replace("dollars", "$").removesuffix(" of work")
        label = f"{short} {sign} {units.text(count * value)}"
        rows[label] = (ends[name].low / value, middle / value, ends[name].high / value)
    found = [0.0, 1.0, *(one for ends in rows.values() for one in ends if np.isfinite(one))]
    room = 0.04 * (max(found) - min(found))  # or the axis would cut a point at nothing in half
    return bars.between(
        f"A claim about {units.counted(workers, 'worker')}, and what the runs allow",
        Axis("times what is claimed", low=min(found) - room),
        rows,
        {"claimed,": 1},
        report.stamp,
        "A claim with ≥ is supported if its bar lies to the right of the dashed line, one with ≤ if it lies "
        "to the left. A bar across the line is undecided. Where a point covers its bar, or a bar ends "
        "at the line, see the table.",
    )


def slower(loads: Mapping[str, ArrayLike], promise: float, stamp: Stamp | None = None) -> Chart:
    """Of each load the share of the answers that took longer, over milliseconds, and a promise of the p99."""
    series = []
    for tone, (name, seconds) in enumerate(loads.items(), 1):
        times = 1e3 * np.sort(np.asarray(seconds, float))
        share = 100 * (1 - np.arange(times.size) / times.size)
        series.append(Points(name, times, share, tone=tone))
    left, right = (pick(one.x[at] for one in series) for pick, at in ((min, 0), (max, -1)))
    right = max(right, 1.2e3 * promise)
    rarest = min(one.y[-1] for one in series)
    return Chart(
        "How many answers took longer",
        Axis("milliseconds until the answer", log=True, low=0.9 * left, high=1.1 * right),
        Axis("answers that took longer, %", log=True),
        (
            *series,
            Points("promised: p99", [1e3 * promise] * 2, [rarest, 100], "dashed", tone=0),
            Points("one in a hundred", [left, right], [1, 1], "dashed", tone=4),
        ),
        stamp=stamp,
        see="Follow a curve down to one in a hundred: if it is still to the left of the promise there, the "
        "promise is kept.",
    )


def _nearest(report):
    """What speaks against all of them."""
    missed = {name for row in report.rows if row.passes_gate for name in row.missed}
    return "every row that passes the gate misses " + " or ".join(sorted(missed))
