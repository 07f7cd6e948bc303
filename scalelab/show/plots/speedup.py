"""Section 3.1: speedup and efficiency of a fixed job, working sets, and what a fleet can train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import speedup
from scalelab.records import Recording
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, Column, lines, workers_axis


def fixed_job(serial: float, floor: float = 0.5, most: int = 1024) -> Chart:
    """Speedup of a fixed job with a serial part: the ideal line, the curve, its ceiling and its knee."""
    workers = np.arange(1, most + 1)
    seconds = speedup.fixed_job_seconds(workers, serial)
    share = speedup.efficiency(1.0, seconds, workers)
    knee = int(workers[share >= floor - 1e-12][-1])
    shown = np.unique(np.geomspace(1, most, 60).round())
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


def efficiency(serials: Sequence[float], most: int = 512) -> Chart:
    """Efficiency over worker counts for several serial fractions."""
    workers = POWERS[most >= POWERS]
    series = [
        Points(
            f"s = {serial:g}",
            workers,
            speedup.efficiency(1.0, speedup.fixed_job_seconds(workers, serial), workers),
            tone=tone,
        )
        for tone, serial in enumerate(serials, start=1)
    ]
    half = Points(
        "half the fleet's time lost", workers, np.full_like(workers, 0.5), "dashed", tone=0
    )
    return Chart(
        "Efficiency of a fixed job for " + ", ".join(f"s = {serial:g}" for serial in serials),
        workers_axis(most=most),
        Axis("efficiency E(K)", low=0.0, high=1.05),
        (*series, half),
        stamp=MODEL,
    )


def working_sets(recording: Recording) -> Chart:
    """Speedup of two workers over the size of the working set that they split."""
    runs = {(run.given["size"], run.given["workers"]): run for run in recording.samples}
    sizes = sorted({size for size, _ in runs})
    pairs = [(runs[size, 1], runs[size, 2]) for size in sizes]
    mebibytes = np.array(sizes) / 2**20
    line = np.array([mebibytes[0], mebibytes[-1]])
    return Chart(
        "Speedup of two workers that split a working set",
        Axis("working set, MiB", log=True, ticks=(0.5, 1, 2, 4)),
        Axis("speedup S(2)", low=0.0),
        (
            Points("ideal S = 2", line, np.full(2, 2.0), "dashed", tone=0),
            Points(
                "measured",
                mebibytes,
                [one.median / two.median for one, two in pairs],
                "points",
                tone=2,
                low=[one.low / two.high for one, two in pairs],
                high=[one.high / two.low for one, two in pairs],
            ),
        ),
        stamp=recording.samples[0].stamp,
    )


def loss_over_workers(workers: Column, losses: Mapping[str, ArrayLike]) -> Chart:
    """Loss of the best model that fleets of different serial fractions can train in the same time."""
    return lines(
        "Loss that thirty days of a growing fleet can reach",
        Axis("workers K", log=True, ticks=tuple(workers[::4])),
        Axis("loss, nats per token", low=1.7),
        losses,
        workers,
        MODEL,
    )
