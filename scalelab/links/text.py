"""A fitted sweep as text for people, and as plain data for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scalelab import units
from scalelab.curves.text import bounded
from scalelab.links.alphabeta import LEVEL, AlphaBeta
from scalelab.tables.printed import aligned


def document(fitted: AlphaBeta, sizes: Sequence[int] = ()) -> dict[str, Any]:
    """Return a fit, and its predictions for some sizes, as plain data; what is open is None."""
    sweep = fitted.sweep
    return {
        "collective": sweep.collective,
        "workers": sweep.workers,
        "algorithm": sweep.algorithm,
        "level": LEVEL,
        "noise": fitted.noise,
        "regimes": [asdict(one) for one in fitted.regimes],
        "bus_bandwidth": fitted.bus_bandwidth,
        "predictions": [{"bytes": size, **asdict(fitted.predict(size))} for size in sizes],
    }


def lines(fitted: AlphaBeta, sizes: Sequence[int] = (), width: int | None = None) -> Iterator[str]:
    """Yield a fit, and its predictions for some sizes, for people; a table no wider than that."""
    sweep = fitted.sweep
    rows, error = units.counted(len(sweep.size), "row"), units.text(fitted.noise, "%", 2)
    yield f"{sweep.collective} on {sweep.workers} workers: {rows}, each off by about {error}"
    table = [("bytes", "latency", "bandwidth", "half of it at")]
    latencies = [one.latency.value for one in fitted.regimes]
    rates = [one.bandwidth.value for one in fitted.regimes if one.bandwidth is not None]
    for one in fitted.regimes:
        span = f"{_size(one.start)} to {_size(one.stop)}"
        time, rate = bounded(one.latency, "s", latencies), "none to be seen"
        if one.bandwidth is not None:
            rate = bounded(one.bandwidth, "B/s", rates)
        table.append((span, time, rate, _size(one.half)))
    yield from aligned(table, left=range(4), width=width)
    if fitted.bus_bandwidth is not None:
        yield f"bus bandwidth of endless messages: {units.text(fitted.bus_bandwidth, 'B/s')}"
    for size in sizes:
        yield f"{_size(size)} in {bounded(fitted.predict(size), 's')}"
    yield f"intervals hold {LEVEL:.0%}"


def _size(count):
    return units.text(count, "B", binary=True)
