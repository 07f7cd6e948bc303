"""Section 3.5: both laws on one pair of axes, and laws against measured tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import laws, speedup
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS

_TONES = {"amdahl": 3, "usl": 1, "hard cap": 4}  # a law keeps its colour from figure to figure


def two_readings(serial: float, measured_on: float, most: int = 1024) -> Chart:
    """A serial share read on some number of workers: what it says of a fixed and of a grown job."""
    workers = np.unique(np.geomspace(1, most, 48).round())
    own = laws.rebase(serial, measured_on)
    grown = laws.gustafson(workers, serial)
    there = laws.gustafson(measured_on, serial)
    top = speedup.ceiling(own)
    series = [
        Points("ideal S = K", workers, workers, "dashed", tone=0),
        Points("job that grows with K", workers, grown, tone=3),
        Points("job that stays as it is", workers, laws.amdahl(workers, own), tone=1),
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
            "Speedup there": f"{there:.4g}×",
            "Share of the one-worker time": f"{100 * own:.3g}%",
            "Ceiling over one worker": "none" if np.isinf(top) else f"{top:,.4g}×",
            "Left to gain from there": f"{1 / serial:.4g}×" if serial else "no limit",
        },
        MODEL,
    )


def losses(
    workers: int,
    left: Mapping[str, float],
    measured: float,
    stamp: Stamp | None = None,
) -> Chart:
    """A staircase from the ideal speedup down: what `left` of it each loss leaves, and what was measured."""
    whole = [workers, *left.values()]
    after = np.array([*left.values(), measured])
    before = np.array([*whole[:-1], measured])  # the last is no loss: it stands for itself
    stairs = np.arange(1, len(after) + 1)
    return Chart(
        f"From {workers} times as fast to what {workers} workers gain",
        Axis("stairs, from the ideal to the measurement", low=0.5, ticks=tuple(stairs)),
        Axis("speedup over one worker", low=0.0, high=1.08 * workers),
        (
            Points("ideal", stairs[[0, -1]], [workers, workers], "dashed", tone=0),
            Points(
                "what is left",
                stairs,
                after,
                "points",
                tone=1,
                low=np.minimum(after, before),
                high=np.maximum(after, before),
                names=(*(f"less {name}" for name in left), "measured"),
            ),
        ),
        stamp=stamp,
    )


def fitted(
    title: str,
    workers: ArrayLike,
    values: ArrayLike,
    curves: Mapping[str, Callable[[np.ndarray], ArrayLike]],
    y: str,
    stamp: Stamp | None = None,
    x: str = "workers K",
    corners: tuple[float, ...] = (),
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
    )
