"""Section 3.1: speedup of a fixed job, where a second worker's went, and what a fleet can train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import speedup, statistical
from scalelab.records import Recording, Sample, Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, Values, doublings, lines

_READ = 8e9  # bytes of one repetition of `measure.ranks.jobs.stream`, all workers together, whole passes


def fixed_job(serial: float, floor: float = 0.5, most: int = 1024) -> Chart:
    """Speedup of a fixed job with a serial part: the ideal line, the curve, its ceiling and its knee."""
    workers = np.arange(1, most + 1)
    seconds = speedup.fixed_job_seconds(workers, serial)
    share = speedup.efficiency(1.0, seconds, workers)
    knee = int(workers[share >= floor - 1e-12][-1])
    shown = np.union1d(np.geomspace(1, most, 60).round(), [knee])
    curve = 1 / speedup.fixed_job_seconds(shown, serial)
    top = speedup.ceiling(serial)
    series = [
        Points("ideal S = K", shown, shown, "dashed", tone=0),
        Points("ceiling 1/s", shown, np.full_like(shown, min(top, 2.0 * most)), "dashed", tone=2),
        Points("speedup S(K)", shown, curve),
        Points("last K that keeps the floor", [knee], [1 / seconds[knee - 1]], "points", tone=3),
    ]
    return Chart(
        f"Speedup of a fixed job whose serial fraction is {units.text(serial, digits=4)}",
        Axis("workers K", log=True, low=0.9, high=most * 1.15, ticks=tuple(POWERS[::2])),
        Axis("speedup S(K)", log=True, low=0.9, high=most * 1.15, ticks=tuple(POWERS[::2])),
        tuple(series),
        {
            "Ceiling": "none" if np.isinf(top) else f"{top:.4g}×",
            "Last K that keeps the floor": f"{knee:,}" if knee < most else f"{most:,} or more",
            "Speedup there": f"{1 / seconds[knee - 1]:,.1f}×",
            f"Idle at K = {most:,}": f"{1 - share[-1]:.1%} of the fleet",
        },
        MODEL,
        "The larger s is, the lower lies the ceiling, and the sooner the curve leaves the ideal line. "
        "Halve s and watch the ceiling and the mark move together.",
    )


def second_worker(speedups: Sequence[float], stamp: Stamp) -> Chart:
    """Where the speed of a second worker goes, from the ideal 2 down to what was measured.

    The speedups are those of two workers that lose nothing, that share nothing but the machine, that divide
    an epoch without its exchange, and that train it.
    """
    steps, reached = np.arange(len(speedups)), np.asarray(speedups, dtype=float)
    causes = "what the cores share", "dividing a step", "the exchange, waiting included"
    names = "ideal", "two copies", "no exchange", "exchange"
    falls = [
        Points(
            f"{cause}: {_signed(reached[step + 1] - reached[step])}",
            step + np.array([0.08, 0.92]),
            np.full(2, reached[step + 1]),
            "band",
            tone=tone,
            low=np.full(2, reached[step : step + 2].min()),
            high=np.full(2, reached[step : step + 2].max()),
        )
        for step, (cause, tone) in enumerate(zip(causes, (1, 4, 2), strict=True))
    ]
    return Chart(
        "Where the second worker's speed went",
        Axis("what two workers run", low=-0.45, high=3.45, ticks=(0, 1, 2, 3), names=names),
        Axis("speedup S(2)", low=min(1.0, 0.95 * reached.min())),
        (*falls, Points("speedup", steps, reached, "points", tone=0)),
        stamp=stamp,
        see="Each step starts where the one before it ended, and its height is what it cost. A step that "
        "leads up is a gain. The legend subtracts before it rounds. One worker would be at 1.",
    )


def _signed(change):
    """Write a change with its sign, of which zero has none to tell."""
    return f"{change:+.2f}".replace("-", "\N{MINUS SIGN}") if abs(change) >= 0.005 else "0.00"


def reading_rate(run: Sample, seconds: float) -> float:
    """GB/s that one worker read in a run that adds up its share again and again, 8 GB among all."""
    size, workers = float(run.given["size"]), int(run.given["workers"])
    return round(_READ / size) * size / workers / seconds / 1e9


def reading_rates(recording: Recording) -> Chart:
    """Bytes per second that a worker reads over the bytes that are its own, alone and as one of two."""
    series = []
    for workers, label in ((1, "one worker"), (2, "each of two workers")):
        runs = [run for run in recording.samples if run.given["workers"] == workers]
        runs.sort(key=lambda run: run.given["size"])
        shares = np.array([float(run.given["size"]) for run in runs]) / workers
        middle, low, high = (
            [reading_rate(run, getattr(run, end)) for run in runs]
            for end in ("median", "high", "low")
        )
        series.append(Points(label, shares / 2**20, middle, "points", workers, low, high))
    return Chart(
        "How fast a worker reads, over the bytes that are its own",
        Axis("bytes per worker, MiB", log=True, ticks=(0.25, 0.5, 1, 2, 4)),
        Axis("GB/s per worker", low=0.0),
        tuple(series),
        stamp=recording.samples[0].stamp,
        see="Where both colours have a mark at the same bytes, one is less than a tenth above the other: it "
        "is the bytes of its own that slow a worker down, and hardly the other worker. At the left end "
        "passes are so short that calling for them takes time as well. Where a mark has no bar, its "
        "interval is shorter than the mark is wide.",
    )


def newcomers(serial: float, most: int = 512) -> Chart:
    """What a worker of the fleet does on average, and what the last one adds, for a fixed job."""
    workers = np.arange(1, most + 1)
    shown = np.unique(np.geomspace(1, most, 48).round()).astype(int)
    gains = 1 / speedup.fixed_job_seconds(workers, serial)
    adds = np.diff(gains, prepend=0)
    half = workers[gains / workers >= 0.5][-1]
    return Chart(
        f"The average worker and the last one, {serial:.0%} serial",
        Axis("workers K", log=True, ticks=tuple(POWERS[most >= POWERS])),
        Axis("part of one worker", low=0.0, high=1.05),
        (
            Points("average, E(K)", shown, (gains / workers)[shown - 1], tone=1),
            Points("added by the last worker", shown, adds[shown - 1], tone=2),
            Points(
                "last K with E of a half",
                [half] * 2,
                [(gains / workers)[half - 1], adds[half - 1]],
                "points",
                tone=3,
            ),
        ),
        stamp=MODEL,
        see="From the second on a newcomer does worse than the average: where the fleet still works at a "
        "half, the last one to join adds about a quarter of a worker.",
    )


def implied(workers: Values, fractions: Values, least: Values, most: Values, stamp: Stamp) -> Chart:
    """The serial fractions that the sizes of a table imply, each as far as rounding leaves it open."""
    return Chart(
        "The fraction that each size implies, and what rounding leaves open",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("e(K)", low=2 * min(0.0, *least)),  # or a bar that goes below 0 would seem cut
        (
            Points("e(K)", workers, fractions, "points", tone=1, low=least, high=most),
            Points("nothing serial", workers, np.zeros(len(workers)), "dashed", tone=0),
        ),
        stamp=stamp,
        see="From eight to twenty processors the marks climb, until a bar begins above the end of the one at "
        "eight; after that they stay near one height. The first two bars are the longest: near K = 1 an "
        "implied fraction is hardly known.",
    )


def baselines(batches: Sequence[int], tries: Mapping[int, Sequence[Sample]]) -> Chart:
    """What one job takes by the size of its batches, for each number of threads: candidates for T(1)."""
    series = []
    for tone, (threads, runs) in enumerate(tries.items(), 1):
        middle, low, high = (
            [1e3 * getattr(run, end) for run in runs] for end in ("median", "low", "high")
        )
        label = units.counted(threads, "thread")
        series.append(Points(label, batches, middle, "joined", tone, low, high))
    best = min(run.median for runs in tries.values() for run in runs)
    ends = [min(batches), max(batches)]
    series.append(Points("the best", ends, [1e3 * best] * 2, "dashed", tone=0))
    return Chart(
        "One job on one machine: which of these is T(1)?",
        Axis("samples in a batch", log=True, ticks=tuple(batches)),
        Axis("milliseconds", log=True),
        tuple(series),
        stamp=next(iter(tries.values()))[0].stamp,
        see="Every point is the same job. Take a point high above the dashed line for T(1), and the distance "
        "is reported as speedup. Where a mark has no bar, its interval is shorter than the mark is wide.",
    )


def two_verdicts(serial: float, most: int = 1024) -> Chart:
    """Efficiency of one fleet over its size, for a job that stays and for one that grows with it."""
    workers = doublings(1, most)
    strong = speedup.efficiency(1.0, speedup.fixed_job_seconds(workers, serial), workers)
    weak = (serial + (1 - serial) * workers) / workers
    return lines(
        f"One serial part of {serial:g} of a worker's time, two verdicts",
        Axis("workers K", log=True, ticks=tuple(POWERS[most >= POWERS][::2])),
        Axis("speedup over K", low=0.0, high=1.05),
        {"the same job, sooner": strong, "a job K times as large": weak},
        workers,
        MODEL,
        see="At one worker nobody can tell them apart. The first line falls towards nothing, and the "
        "second stays: what differs is the job, not the fleet.",
    )


def unsaid(sizes: Values, speedups: Values, floor: float) -> Chart:
    """The efficiencies behind a slide that shows a speedup, and the least that is accepted."""
    sizes = np.asarray(sizes, dtype=float)
    return Chart(
        "The column that the slide left out",
        Axis("GPUs K", log=True, ticks=tuple(sizes)),
        Axis("efficiency E(K)", low=0.5, high=1.0),
        (
            Points(
                "E(K), if one fraction explains it",
                sizes,
                np.asarray(speedups) / sizes,
                "joined",
                tone=1,
            ),
            Points(f"the floor, {floor:g}", sizes, np.full_like(sizes, floor), "dashed", tone=0),
        ),
        stamp=MODEL,
        see="The floor is the least efficiency that the engineer will accept. Between two sizes the "
        "efficiency falls below it.",
    )


def loss_over_workers(workers: Values, losses: Mapping[str, ArrayLike]) -> Chart:
    """Loss of the best model that fleets of different serial fractions can train in the same time."""
    first, *_, last = losses
    workers = np.asarray(workers, dtype=float)
    ideal, *_, worst = (np.asarray(one, dtype=float) for one in losses.values())
    doubled = int(np.flatnonzero(np.isclose(workers, 2 * workers[0]))[0])
    # Where the largest serial part has cost just one doubling: its loss is that of half the fleet.
    at = int(np.abs(ideal[:-doubled] - worst[doubled:]).argmin())
    marks = [
        Points(f"one doubling {where}, {name}", [workers[place]], [curve[place]], "points", tone)
        for where, name, place, curve, tone in (
            ("ahead", first, at, ideal, 1),
            ("behind", last, at + doubled, worst, len(losses)),
        )
    ]
    chart = lines(
        "Loss that thirty days of a growing fleet can reach",
        Axis("workers K", log=True, ticks=tuple(workers[:: 2 * doubled])),
        Axis("loss, nats per token", low=1.8),
        losses,
        workers,
        MODEL,
        limit=("no model gets below", statistical.E),
        see="With a serial part the curve turns flat long before the loss is near the line that no model "
        "gets below: more workers then change nothing. The two marks stand at one height and one "
        "doubling apart.",
    )
    return replace(chart, series=(*chart.series, *marks))
