"""Section 3.4: response over utilization, tails as they are, and what a pause does to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.waiting import capacity, hedging, queues, tail
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL

BUSY = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97])
SHARES = {"p50": 0.50, "p99": 0.99}


def pool(utilization: float, servers: float, fan_out: float) -> Chart:
    """Response of one call to a pool, and of a page that needs an answer from many such pools."""
    servers, fan_out = int(servers), int(fan_out)

    curves, here = [], {}
    for calls, what, tones in ((1, "one call", (3, 1)), (fan_out, "page", (4, 2))):
        for (name, share), tone in zip(SHARES.items(), tones, strict=True):
            kind = "dashed" if name == "p50" else "line"
            curve = _response(servers, share, calls)
            curves.append(Points(f"{what}, {name}", BUSY, curve, kind, tone=tone))
            here[what, name] = np.exp(np.interp(utilization, BUSY, np.log(curve)))
    both = {
        what: " and ".join(f"{here[what, name]:.3g}" for name in SHARES)
        for what in ("one call", "page")
    }
    marks = [utilization] * len(here)
    curves.append(Points("where you are", marks, list(here.values()), "points", tone=0))
    return Chart(
        f"{units.counted(servers, 'server')} per pool, {utilization:.0%} busy, "
        f"{units.counted(fan_out, 'call')} per page",
        Axis("utilization of each pool", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        Axis("response, in service times", log=True, low=0.5, ticks=(1, 10, 100, 1000)),
        tuple(curves),
        {
            "One call, p50 and p99, in services": both["one call"],
            "Page, p50 and p99, in services": both["page"],
            "Pages slower than a call's p99": f"{100 * tail.fan_out(0.01, fan_out):.3g}% of all",
            "Knee of such a pool": f"{capacity.knee(servers):.0%} busy",
        },
        MODEL,
    )


@cache
def _response(servers, share, calls):
    """Return the percentile of the slowest of some calls, at every utilization of their pools."""
    # All calls are in time with this chance if each is with its root.
    each = share ** (1 / calls)
    return queues.response_percentile(BUSY * servers, 1.0, servers, share=each)


def tails(title: str, columns: Mapping[str, ArrayLike], stamp: Stamp | None = None) -> Chart:
    """The share of requests that are slower, over the response: each tail as far as it is known."""
    series = []
    for tone, (name, seconds) in enumerate(columns.items(), 1):
        ordered = np.sort(seconds)
        slower = 1 - np.arange(len(ordered)) / len(ordered)  # at least as slow as this one
        keep = np.unique(np.geomspace(1, len(ordered), 60).round().astype(int))
        at = np.sort(len(ordered) - keep)  # dense where it is rare
        series.append(Points(name, 1e3 * ordered[at], slower[at], tone=tone))
    return Chart(
        title,
        Axis("response, ms", log=True),
        Axis("share of requests at least as slow", log=True, ticks=(1, 0.1, 0.01, 0.001)),
        tuple(series),
        stamp=stamp,
    )


def moments(
    title: str, runs: Mapping[str, tuple[ArrayLike, np.ndarray]], stamp: Stamp | None = None
) -> Chart:
    """The response of each request over the time at which it was planned."""
    series = [
        Points(name, planned, 1e3 * seconds, "points", tone=tone)
        for tone, (name, (planned, seconds)) in enumerate(runs.items(), 1)
    ]
    return Chart(
        title, Axis("planned start, s"), Axis("response, ms", low=0.0), tuple(series), stamp=stamp
    )


def batches(
    title: str,
    batch: Iterable[float],
    throughput: ArrayLike,
    seconds: ArrayLike,
    stamp: Stamp | None = None,
) -> Chart:
    """Each batch size as a point: what it answers per second, and how long that takes."""
    return Chart(
        title,
        Axis("requests per second", low=0.0),
        Axis("time of a batch, ms", low=0.0),
        (
            Points("from one to the next", throughput, 1e3 * np.asarray(seconds), tone=0),
            Points(
                "measured",
                throughput,
                1e3 * np.asarray(seconds),
                "points",
                tone=2,
                names=tuple(f"batch {int(n)}" for n in batch),
            ),
        ),
        stamp=stamp,
    )


def tipping(title: str, delays: Iterable[float]) -> Chart:
    """How busy servers are with uncancelled copies, over their own load, up to where each delay tips.

    The delays are in mean services.
    """
    whole = np.linspace(0.02, 1.0, 50)
    series = [Points("without copies", whole, whole, "dashed", tone=0)]
    for tone, delay in enumerate(delays, 1):
        # Dense where the curve turns upwards: the end is where it is vertical.
        own = hedging.tipping_load(delay, 1.0) * (1 - np.linspace(0.99, 0, 60) ** 2)
        busy = hedging.hedged_load(own * (1 - 1e-9), delay, 1.0)
        series.append(Points(f"a copy after {delay:g} mean services", own, busy, tone=tone))
    return Chart(
        title,
        Axis("utilization without copies", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        Axis("utilization with copies", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        tuple(series),
        stamp=MODEL,
    )
