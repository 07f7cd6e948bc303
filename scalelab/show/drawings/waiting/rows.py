"""Time as rows, for drawings of requests: a row for each, in which what it does grows with the clock.

For `queueing`, `omission`, `hedging` and `slowest`, which draw above or beside the rows where everybody is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from scalelab.arguments import real
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

WIDE = 360.0
HIGH = 13.0  # of a row, so that its number can be read
_LEFT, _RIGHT = 26.0, 346.0
_FOOT = 16.0  # for the numbers under the axis
_HORIZON = "it is where the clock ends, in seconds, when all is done"
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class TimeRows:
    """Rows for so many things, from `top` downwards, over so many seconds; `left` is where time begins."""

    top: float
    count: int
    horizon: float
    left: float = _LEFT
    right: float = _RIGHT

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + self.count * HIGH

    @property
    def end(self) -> float:
        """Where the numbers under the axis end."""
        return self.bottom + _FOOT

    def x(self, seconds: float) -> float:
        """Return where this moment is."""
        return self.left + (self.right - self.left) * seconds / self.horizon

    def y(self, row: int) -> float:
        """Return the middle of a row."""
        return self.top + (row + 0.5) * HIGH

    def axis(self, now: float, names: Iterable[str]) -> Iterator[Shape]:
        """Yield the axis, its numbers, what each row is called, and the clock."""
        yield Shape("axis", "line", self.left, self.bottom, self.right - self.left, 0.0)
        yield Shape(
            "clock", "line", self.x(now), self.top - 3, 0.0, self.bottom - self.top + 6, weight=1.6
        )
        each = _step(self.horizon)
        for at in range(int(self.horizon / each * (1 + 1e-9)) + 1):
            text = ms(at * each) if at else "0 ms"
            yield Shape(f"tick {at}", "text", self.x(at * each), self.bottom + 9, text=text)
        for row, name in enumerate(names):
            yield Shape(
                f"row {row + 1}", "text", self.left - 6, self.y(row), text=name, align="end"
            )

    def bar(
        self, key: str, row: int, begin: float, end: float, tone: int, half: int | None = None
    ) -> Iterator[Shape]:
        """Yield what fills a row, or its upper (0) or lower (1) half, between two moments."""
        left, right = self.x(begin), self.x(min(end, self.horizon))
        if right - left > 1e-9:
            y = self.y(row) + (0 if half is None else (half - 0.5) * HIGH / 2)
            high = HIGH - 3 if half is None else HIGH / 2 - 1
            yield Shape(key, "block", (left + right) / 2, y, right - left, high, tone=tone)


def ms(seconds: float) -> str:
    """Write a time in milliseconds, without the unit.

    >>> ms(0.0125), ms(0.1)
    ('12.5', '100')
    """
    return f"{round(1e3 * seconds, 1):g}"


def until(horizon: float | None, last: float) -> float:
    """Return where the time axis ends: where it should, and not before all is done."""
    if last <= 0:
        raise Refusal("service must take some time to be drawn, got 0: give it in seconds")
    return last if horizon is None else real("horizon", horizon, _HORIZON, last)


def few(count: int, most: int, what: str) -> None:
    """Refuse more than a drawing can tell apart."""
    if count > most:
        raise Refusal(
            f"{what} must be at most {most} to be drawn, got {count}: draw fewer, or simulate them"
        )


def _step(horizon: float) -> float:
    """Return how far the numbers of the axis are apart: at most eight of them."""
    power = 10.0 ** math.floor(math.log10(horizon / 8))
    return next(each * power for each in _STEPS if horizon / (each * power) <= 8)


def watched(
    name: str,
    title: str,
    about: str,
    rows: TimeRows,
    moments: Iterable[float],
    frame: Callable[[float, float], Frame],
    tones: Mapping[str, int],
) -> Drawing:
    """A run as a drawing: a frame before it begins and one at each moment, told of the moment before."""
    at = [-1.0, *sorted(set(moments))]
    frames = tuple(frame(before, now) for before, now in zip([-1.0, *at], at, strict=False))
    return Drawing(
        name,
        f"{name.capitalize()}: {title}",
        about,
        WIDE,
        rows.end,
        frames,
        chosen=(len(frames) // 2, len(frames) - 1),
        tones=tones,
        stamp=MODEL,
    )
