"""Public series as lines: what is gained over the smallest size, and where its points stand in a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scalelab import units
from scalelab.curves.rows import Rows
from scalelab.data.datasets import Series

TOP = 1.2  # the efficiency above which the overlay cuts a line
WIDE, HIGH = 100, 500  # of the overlay, for a doubling and for an efficiency of 1
LEFT, RIGHT, UP, DOWN = (
    8,
    170,
    12,
    92,
)  # the corners of a card's plot; its words stand to the right and below
APART = 14  # that two words beside each other's plot need, in height


@dataclass(frozen=True)
class Gains:
    """The speedup of each size over the smallest."""

    workers: np.ndarray
    speedup: np.ndarray

    @property
    def doublings(self) -> np.ndarray:
        """Of the workers, from the smallest size."""
        return np.log2(self.workers / self.workers[0])

    @property
    def efficiency(self) -> np.ndarray:
        """The speedup for each worker, where the smallest size has 1."""
        return self.speedup * self.workers[0] / self.workers


@dataclass(frozen=True)
class Curve:
    """The drawing on a card: its points, the ideal beside them, and the words around both."""

    points: tuple[tuple[float, float], ...]
    ideal: tuple[tuple[float, float], ...]
    floor: float  # where nothing is gained: the bottom, or above it where something is lost
    least: str
    most: str
    last: str  # beside the last point
    best: str  # beside the end of the ideal, unless it would touch `last`
    alt: str


def gains(series: Series) -> Gains | None:
    """Return what a series gains, or None where nothing scales, or no rate is known.

    A model that grows with its workers is work of which more is done: then the parameters are the work.
    """
    if series.scaling and series.seconds:
        work, weak = series.column("parameters"), series.scaling == "weak"
        rows = Rows.of(series.workers, weak=weak, seconds=series.seconds, work=work)
    elif series.scaling and series.throughput:
        rows = Rows.of(series.workers, weak=series.scaling == "weak", throughput=series.throughput)
    else:
        return None
    return Gains(rows.workers, rows.rate / rows.rate[0])


def overlaid(gained: Gains) -> str:
    """Return a line of the overlay: a doubling to the right, an efficiency of 1 far above 0."""
    return joined(zip(gained.doublings * WIDE, (TOP - gained.efficiency) * HIGH, strict=True))


def middle(several: Iterable[Gains]) -> str:
    """Return the median of several lines of the overlay, as far as half of them reach.

    Beyond, it would be of the few that went on because it was worth it.
    """
    several, places = list(several), []
    for doubling in range(1 + int(max(one.doublings[-1] for one in several))):
        here = [
            float(np.interp(doubling, one.doublings, one.efficiency))
            for one in several
            if one.doublings[-1] >= doubling
        ]
        if 2 * len(here) < len(several):
            break
        places.append((doubling * WIDE, (TOP - np.median(here)) * HIGH))
    return joined(places)


def joined(points: Iterable[tuple[float, float]]) -> str:
    """Return points as SVG has them, to whole units: more would not be seen.

    >>> joined([(0.2, 1.7), (10, 20)])
    '0,2 10,20'
    """
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in points)


def curve(series: Series) -> Curve:
    """Return the drawing of one series: a speedup if it has one, else its values as they are."""
    gained = gains(series)
    return _values(series) if gained is None else _speedup(gained)


def _speedup(gained: Gains) -> Curve:
    across, up = gained.doublings, np.log2(gained.speedup)
    low, high = min(0.0, up.min()), max(across[-1], up.max())
    x = LEFT + across / across[-1] * (RIGHT - LEFT)
    y, ends = (_height(values, low, high) for values in (up, np.array([0.0, across[-1]])))
    ideal = ((x[0], ends[0]), (x[-1], ends[1]))
    least, most = (_whole(size) for size in gained.workers[[0, -1]])
    last, best = (_times(gain) for gain in (gained.speedup[-1], 2.0 ** across[-1]))
    return Curve(
        points=tuple(zip(x, y, strict=True)),
        ideal=ideal,
        floor=ends[0],
        least=least,
        most=most,
        last=f"{last}×",
        best=f"{best}×" if abs(y[-1] - ends[1]) >= APART else "",
        alt=f"Speedup over {least}: {last} at {most}, where {best} is ideal",
    )


def _values(series: Series) -> Curve:
    payload = series.column("payload")
    across = np.log2(payload or series.workers)
    values = np.array(series.values)
    x = LEFT + (across - across[0]) / (across[-1] - across[0]) * (RIGHT - LEFT)
    y = _height(values, 0.0, values.max())
    ends = (across[0], across[-1])
    least, most = (
        units.text(2.0**end, "B", binary=True) if payload else _whole(2.0**end) for end in ends
    )
    first, last = (
        f"{units.text(value)} {series.unit}".replace(" %", "%") for value in values[[0, -1]]
    )
    alt = f"{first} at {least}, {last} at {most}"
    return Curve(tuple(zip(x, y, strict=True)), (), DOWN, least, most, last, "", alt)


def _height(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return DOWN - (values - low) / (high - low) * (DOWN - UP)


def _times(gain: float) -> str:
    """Write a speedup: three figures, or all of a larger whole number."""
    return units.text(gain, digits=max(3, len(str(round(gain)))))


def _whole(count: float) -> str:
    return units.text(round(count), digits=9)
