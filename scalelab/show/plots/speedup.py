"""Section 3.1: speedup of a fixed job, where a second worker's went, and what a fleet can train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import speedup, statistical
from scalelab.records import Recording, Sample, Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, Values, lines

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
    )


def second_worker(speedups: Sequence[float], stamp: Stamp) -> Chart:
    """Where the speed of a second worker goes, from the ideal 2 down to what was measured.

    The speedups are those of two workers that lose nothing, that share nothing but the machine, that divide
    an epoch without its exchange, and that train it.
    """
    steps, reached = np.arange(len(speedups)), np.asarray(speedups, dtype=float)
    causes = "what the cores share", "what dividing a step costs", "the exchange, waiting included"
    names = "ideal", "two copies", "epoch without exchange", "epoch"
    falls = [
        Points(
            cause,
            step + np.array([0.08, 0.92]),
            np.full(2, reached[step + 1]),
            "band",
            tone=step + 1,
            low=np.full(2, reached[step : step + 2].min()),
            high=np.full(2, reached[step : step + 2].max()),
        )
        for step, cause in enumerate(causes)
    ]
    return Chart(
        "Where the second worker's speed went",
        Axis("losses added, one after the other", low=-0.2, high=3.2, ticks=(0, 1, 2, 3)),
        Axis("speedup S(2)", low=0.0),
        (*falls, Points("speedup", steps, reached, "points", tone=0, names=names)),
        stamp=stamp,
    )


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
    )


def loss_over_workers(workers: Values, losses: Mapping[str, ArrayLike]) -> Chart:
    """Loss of the best model that fleets of different serial fractions can train in the same time."""
    return lines(
        "Loss that thirty days of a growing fleet can reach",
        Axis("workers K", log=True, ticks=tuple(workers[::4])),
        Axis("loss, nats per token", low=1.8),
        losses,
        workers,
        MODEL,
        limit=("what no model passes", statistical.E),
    )
