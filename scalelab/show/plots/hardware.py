"""Section 3.2: up against out as model size and price move, threads inside a machine, and failures."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.machines import failures, hardware, memory, up_or_out
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL

SMALL, BIG = "A100 SXM 40GB", "H200 SXM"
TRAINING = 16  # bytes per parameter, from memory.state()


def up_or_out_by_size(price: float, serial: float, least: float = 1e9, most: float = 1e12) -> Chart:
    """What a unit of throughput costs on the fewest small and on the fewest big devices that hold a model."""
    small, big = hardware.device(SMALL), hardware.device(BIG)
    gain = hardware.peak(big, "bf16 tensor") / hardware.peak(small, "bf16 tensor")
    models = np.geomspace(least, most, 73)

    def cost(device, gain, hourly):
        count = memory.fewest_devices(TRAINING * models, device.memory)
        useful = gain * count / (1 + serial * (count - 1))
        return up_or_out.price_per_throughput(count * hourly, useful)

    out, up = cost(small, 1.0, 1.0), cost(big, gain, price)
    # Whole devices make steps, and near the crossing each side may win one more of them.
    first = np.flatnonzero(np.append(True, up >= out))[-1]
    assert small.memory is not None  # both sheets say it
    assert big.memory is not None
    of_70 = [memory.fewest_devices(TRAINING * 7e10, m) for m in (small.memory, big.memory)]
    return Chart(
        f"One {BIG} at the price of {price:g} {SMALL}, {100 * serial:g}% serial",
        Axis("parameters, billions", log=True, ticks=(1, 10, 100, 1000)),
        Axis("price of a unit of throughput", log=True, low=0.3, ticks=(0.5, 1, 2, 5, 10, 50)),
        (
            Points(f"out: as many {SMALL} as hold it", models / 1e9, out, tone=1),
            Points(f"up: as many {BIG} as hold it", models / 1e9, up, tone=2),
        ),
        {
            "Up wins from": "the start"
            if first == 0
            else f"{units.text(models[first] / 1e9)} billion parameters"
            if first < len(models)
            else "nowhere here",
            "Devices for 70 billion, out": f"{of_70[0]:.0f}",
            "Devices for 70 billion, up": f"{of_70[1]:.0f}",
            f"Peak of one {BIG}": f"{gain:.2f} × {SMALL}",
        },
        MODEL,
    )


def threads(
    counts: ArrayLike, products: ArrayLike, streams: ArrayLike, cap: float, stamp: Stamp | None
) -> Chart:
    """Speedup over threads of work that computes, and of work that moves bytes."""
    counts = np.asarray(counts, float)
    return Chart(
        "Threads of one machine: arithmetic, and moving bytes",
        Axis("threads", ticks=tuple(counts)),
        Axis("speedup over one thread", low=0.0),
        (
            Points("ideal", counts, np.minimum(counts, cap), "dashed", tone=0),
            Points("matrix product", counts, products, "points", tone=1),
            Points("adding two long vectors", counts, streams, "points", tone=2),
        ),
        stamp=stamp,
    )


def checkpoints(write: float, restart: float, mttf: float) -> Chart:
    """Share of the time that is kept, over the interval between checkpoints, and where it is best."""
    intervals = np.geomspace(write / 2, 3 * mttf, 60)
    share = failures.useful_share(intervals, write, restart, mttf)
    best = failures.daly_interval(write, mttf)
    return Chart(
        "What failures leave of a run, by the interval between checkpoints",
        Axis("minutes of work between checkpoints", log=True, ticks=(1, 3, 10, 30, 100, 300)),
        Axis("share of the time that counts", low=0.0, high=1.0),
        (
            Points("kept", intervals / 60, share, tone=1),
            Points(
                "Daly's interval",
                [best / 60],
                [failures.useful_share(best, write, restart, mttf)],
                "points",
                tone=2,
            ),
        ),
        stamp=MODEL,
    )
