"""Section 3.3: one cluster under two lenses, the problem that must grow, and the two ends of a study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import statistical, study
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS

MOST = 1024


def _seconds(workers, serial, exchange, parallel):
    """Return the time of a job in multiples of T(1), when its parallel part has grown."""
    return serial + exchange * np.log2(workers) + (1 - serial) * parallel / workers


def lenses(exponent: float, serial: float = 0.02, exchange: float = 0.005) -> Chart:
    """Efficiency of one cluster while the parallel work grows as a power of the workers."""
    workers = POWERS

    def efficiency(power):
        parallel = workers**power
        seconds = _seconds(workers, serial, exchange, parallel)
        growth = serial + (1 - serial) * parallel
        return study.scaled_speedup(1.0, seconds, growth) / workers, seconds

    own, seconds = efficiency(exponent)
    return Chart(
        f"Work that grows as K to the power {exponent:g}",
        Axis("workers K", log=True, ticks=tuple(POWERS[::2])),
        Axis("efficiency E(K), work per paid worker", low=0.0, high=1.05),
        (
            Points("strong: the work stays", workers, efficiency(0.0)[0], "dashed", tone=0),
            Points("weak: as much as workers", workers, efficiency(1.0)[0], "dashed", tone=3),
            Points("yours", workers, own),
        ),
        {
            f"E at K = {MOST:,}": f"{own[-1]:.3f}",
            f"Time at K = {MOST:,}": f"{units.text(seconds[-1])} × T(1)",
            f"Work at K = {MOST:,}": f"{units.text(float(MOST) ** exponent, digits=5)} times",
        },
        MODEL,
    )


def both(
    title: str,
    strong: Mapping[int, float],
    weak: Mapping[int, float],
    stamp: Stamp | None = None,
) -> Chart:
    """Measured efficiency over worker counts, once with fixed and once with growing work."""
    most = max([*strong, *weak])
    return Chart(
        title,
        Axis("workers K", log=True, ticks=tuple(sorted({*strong, *weak}))),
        Axis("efficiency, relative to the first row", low=0.0, high=1.05),
        (
            Points("ideal", [min([*strong, *weak]), most], [1, 1], "dashed", tone=0),
            Points("strong: the work stays", list(strong), list(strong.values()), tone=1),
            Points("weak: the work grows", list(weak), list(weak.values()), tone=3),
        ),
        stamp=stamp,
    )


def batch_trade(least_steps: float, least_samples: float, batches: ArrayLike) -> Chart:
    """Steps and samples to a target loss over the batch, both in multiples of their least."""
    batches = np.asarray(batches, float)
    steps = statistical.training_steps(batches, least_steps, least_samples) / least_steps
    samples = statistical.training_samples(batches, least_steps, least_samples) / least_samples
    critical = statistical.critical_batch(least_steps, least_samples)
    return Chart(
        "What a larger batch saves in steps, and costs in samples",
        Axis("global batch B", log=True, ticks=tuple(batches[::2])),
        Axis("multiple of the least", log=True, ticks=(1, 2, 4, 8, 16)),
        (
            Points("steps to the target", batches, steps, tone=1),
            Points("samples to the target", batches, samples, tone=2),
            Points("critical batch", [critical], [2.0], "points", tone=3),
        ),
        stamp=MODEL,
    )
