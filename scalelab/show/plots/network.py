"""Section 3.8: sweeps of message sizes and their fits, algorithms to choose from, and the critical scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.models.kernels import roofline
from scalelab.models.machines import hardware
from scalelab.models.network import (
    algorithms,
    collectives,
    crossover,
    ledger,
    network,
    overlap,
)
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS
from scalelab.show.sliders import Slider

if TYPE_CHECKING:
    from scalelab.links.alphabeta import AlphaBeta

_MB = 1e6
# In the rendered book these two start from the reader's own network: K leave the box, where NVLink ends.
LATENCY = Slider("latency α", (2e-6, 5e-6, 25e-6), start=5e-6, unit="s", follows="latency")
LINKS = (1.25e9, 12.5e9, 50e9, 300e9, 450e9, 900e9)
# One layer of a model of 70 billion parameters, or experts 1,024 wide in place of its feed-forward.
LAYER = ledger.Layer(855_638_016, 8192, expert=3 * 8192 * 1024, chosen=8)
GPUS = 8  # of a node
LINK = Slider("link 1/β", LINKS, start=50e9, unit="B/s", follows="network")


def sweep(
    title: str,
    fitted: Mapping[str, AlphaBeta],
    stamp: Stamp | None = None,
    naive: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Chart:
    """Measured times over message sizes, the lines fitted to them, and a naive line beside them."""
    series = []
    for tone, (name, fit) in enumerate(fitted.items(), 1):
        size = np.geomspace(fit.sweep.size.min(), fit.sweep.size.max(), 60)
        series.append(Points(f"fitted, {name}", size / _MB, 1e3 * fit.seconds(size), tone=tone))
        measured = fit.sweep.size / _MB, 1e3 * fit.sweep.seconds
        series.append(Points(name, *measured, "points", tone=tone))
    if naive is not None:
        line = 1e3 * naive(size)
        series.append(
            Points(
                "least squares in seconds",
                size / _MB,
                np.where(line > 0, line, np.nan),
                "dashed",
                0,
            )
        )
    return Chart(
        title,
        Axis("message M, MB", log=True, ticks=_ticks(series)),
        Axis("milliseconds", log=True),
        tuple(series),
        stamp=stamp,
    )


def regimes(fit: AlphaBeta) -> dict[str, list[str]]:
    """The columns of a table that tells the lines of a fit, with the ends of their intervals."""
    rates = [one.bandwidth for one in fit.regimes]
    return {
        "messages from": [units.text(one.start, "B", binary=True) for one in fit.regimes],
        "to": [units.text(one.stop, "B", binary=True) for one in fit.regimes],
        "latency": [_ends(one.latency, "s") for one in fit.regimes],
        "bytes of message per second": [_ends(rate, "B/s") for rate in rates],
    }


def choice(workers: float, size: float, latency: float, speed: float) -> Chart:
    """How long each all-reduce takes, over the size of the message; yours is marked."""
    workers = int(workers)
    link = network.Network(latency, 1 / speed)
    sizes = np.geomspace(1e3, 1e10, 15)
    series = [
        Points(
            name, sizes / _MB, 1e3 * collectives.all_reduce(sizes, workers, link, name), tone=tone
        )
        for tone, name in enumerate(algorithms.ALGORITHMS["all-reduce"], 1)
    ]
    best = crossover.fastest(size, workers, link)
    seconds = collectives.all_reduce(size, workers, link, best)
    ring = collectives.all_reduce(size, workers, link, "ring")
    return Chart(
        f"All-reduce among K = {workers:,}",
        Axis("message M, MB", log=True, ticks=(0.001, 0.1, 10.0, 1000.0)),
        Axis("milliseconds", True, 1e-3, 1e6, (0.001, 0.1, 10.0, 1000.0, 1e5)),
        (*series, Points("your message", [size / _MB] * 2, [1e-3, 1e6], "dashed", tone=0)),
        {
            "Fastest": best,
            "It takes": units.text(seconds, "s"),
            "A ring takes": f"{units.text(ring, 's')}, {ring / seconds:.3g} times that",
            "A ring gets half the link at": units.text(workers * latency * speed, "B"),
        },
        MODEL,
    )


def clocks(tokens: float) -> Chart:
    """Three roofs of one H100, by memory, NVLink and network card, and what training sends over each.

    A node has eight of each. Sixteen nodes share the gradients, and a card carries an eighth of them.
    What else goes by card goes between eight GPUs that sit in eight nodes, so each has a card of its own.
    """
    gpu = hardware.device("H100 SXM")
    peak = hardware.peak(gpu, "bf16 tensor")
    ways = {"memory": gpu.bandwidth, "NVLink": 450e9, "card": 50e9}
    rows = ledger.ledger(LAYER, tokens, GPUS)
    gradients, states = rows["DDP"].intensity, rows["tensor"].intensity
    many = ledger.ledger(LAYER, tokens, 16 * GPUS)["DDP"].intensity
    experts = rows["expert"].intensity
    at = np.union1d(np.geomspace(30, 3e5, 41), [peak / b for b in ways.values()])
    series = [
        Points(f"roof of {name}", at, roofline.attainable(at, peak, b) / 1e12, tone=tone)
        for tone, (name, b) in enumerate(ways.items(), 1)
    ]
    points = {
        ("weights", "from memory"): (float(tokens), "memory"),
        ("gradients", "by NVLink"): (gradients, "NVLink"),
        ("gradients", "by 8 cards"): (GPUS * many, "card"),
        ("tensor parallel", "by NVLink"): (states, "NVLink"),
        ("tensor parallel", "by card"): (states, "card"),
        ("experts", "by card"): (experts, "card"),
    }
    for tone, (way, b) in enumerate(ways.items(), 1):
        sent = {what: x for (what, _), (x, by) in points.items() if by == way}
        where = sorted(sent.values())
        reached = [roofline.attainable(x, peak, b) / 1e12 for x in where]
        series.append(Points(f"{way}: {', '.join(sent)}", where, reached, "points", tone=tone))
    return Chart(
        f"One H100 and its three clocks, {int(tokens):,} tokens in a step",
        Axis("FLOP per byte that goes this way", True, 30, ticks=(100, 1e3, 1e4, 1e5)),
        Axis("at most, TFLOP/s", True, 1, 2500, ticks=(1, 10, 100, 1000)),
        tuple(series),
        {
            f"{what}, {by}": f"{units.text(x)} FLOP/B of {units.text(peak / ways[way])}"
            for (what, by), (x, way) in points.items()
        },
        MODEL,
    )


def critical(compute: float, size: float, link: network.Network, most: int = 1024) -> Chart:
    """Computation and ring all-reduce of a step over the workers: where they cross is the critical scale."""
    workers = POWERS[most >= POWERS]
    exchange = collectives.all_reduce(size, workers, link)
    there = overlap.critical_ring_workers(compute, size, link)
    # A single worker exchanges nothing, which has no place on a logarithmic axis.
    shown = np.where(exchange > 0, exchange, math.nan)
    return Chart(
        "A fixed step, divided, and its all-reduce",
        Axis("workers K", log=True, ticks=tuple(workers[::2])),
        Axis("seconds of a step", log=True),
        (
            Points("computation T(1) / K", workers, compute / workers, tone=1),
            Points("all-reduce by ring", workers, shown, tone=2),
            Points("both, nothing hidden", workers, compute / workers + exchange, tone=3),
            Points("critical scale", [there], [compute / there], "points", tone=4),
        ),
        stamp=MODEL,
    )


def _ticks(series):
    least, most = (f(f(one.x) for one in series) for f in (min, max))
    every = 2 if most / least > 1e5 else 1
    return tuple(10.0**n for n in range(-3, 6)[::every] if least <= 10.0**n <= most)


def _ends(estimate, unit):
    """An estimate and its interval as text; an end that the data leave open stays open."""
    if estimate is None:
        return "none to be seen"
    low, high = (
        "?" if end is None else units.text(end, unit, 3) for end in (estimate.low, estimate.high)
    )
    return f"{units.text(estimate.value, unit)} ({low} to {high})"
