"""What the series of a chart say in words and numbers, for those who do not see the picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalelab import units
from scalelab.show.series import Points, starts

MOST_ROWS = 12  # of a line: a table twin much longer than this is not read
MOST_MARKED = 24  # what was measured is told whole, until nobody would read that either
MOST_LISTED = 6  # values at one place; more are counted


def text(value: float) -> str:
    """Return a number of a figure as people read it: counts exactly, the rest to four digits."""
    whole = float(value).is_integer() and abs(value) < 1e9
    return units.text(float(value), digits=10 if whole else 4)


def number(value: float) -> str:
    """Return a number as text, and nothing for one that is not there."""
    return text(value) if np.isfinite(value) else ""


def course(series: Points) -> str:
    """Return where a series begins and ends, or how much of it there is where it has no two ends."""
    shown = np.isfinite(series.y)
    if not shown.any():
        return "none"
    if series.kind == "band":
        sides = [series.x[np.flatnonzero(shown)[end]] for end in (0, -1)]
        return "from " + ", and ".join(f"{at(series, x)} at {number(x)}" for x in sides)
    if series.names:
        return ", ".join(
            f"{name} {number(y)} at {number(x)}"
            for name, x, y in zip(series.names, series.x, series.y, strict=True)
        )
    x, y = series.x[shown], series.y[shown]
    if series.kind == "lane":
        return f"{units.counted(y.size // 2, 'bar')} until {number(x.max())}"
    if _upright(series):
        return f"at {number(x[0])}"
    if _pieces(series):
        return f"{len(starts(series))} lines"
    if np.unique(x).size < x.size:
        return (
            f"{x.size} points from {number(x.min())} to {number(x.max())}, up to {number(y.max())}"
        )
    ends = f"{number(y[0])} at {number(x[0])}"
    if y.size == 1:
        return ends
    ends = f"from {ends} to {number(y[-1])} at {number(x[-1])}"
    top = int(np.argmax(y))
    if 0 < top < y.size - 1 and y[top] > max(y[0], y[-1]):
        ends += f", highest {number(y[top])} at {number(x[top])}"
    return ends


def places(series: Sequence[Points]) -> np.ndarray:
    """Return the x of the rows of a table: marked points, or a dozen of a line's, and each single mark.

    Of very many marked points it is a dozen, too.
    """
    marked = [one.x for one in series if one.kind in ("points", "joined") and not _lone(one)]
    xs = np.unique(np.concatenate(marked or [one.x for one in series]))
    xs = xs[np.isfinite(xs)]
    if xs.size > (MOST_MARKED if marked else MOST_ROWS):
        xs = xs[np.unique(np.linspace(0, xs.size - 1, MOST_ROWS).round().astype(int))]
    single = [
        one.x[:1] for one in series if np.isfinite(one.y[0]) and (_lone(one) or _upright(one))
    ]
    return np.unique(np.concatenate([xs, *single]))


def at(series: Points, x: float) -> str:
    """Return the value of a series at x, read between its points if it is a line, empty where it has none.

    Of a lane these are the bars that run then, or what stands in them; of the edges of a graph how many
    begin there.
    """
    if series.kind == "lane":
        begins = starts(series)
        runs = (series.x[begins] <= x) & (x < series.x[np.minimum(begins + 1, series.x.size - 1)])
        if series.inside:
            order = np.argsort(
                -series.y[begins[runs]], kind="stable"
            )  # as they stand, from the top
            return ", ".join(series.inside[i] for i in np.flatnonzero(runs)[order])
        return _listed(series.y[begins[runs]])
    same = np.flatnonzero(np.isclose(series.x, x, rtol=1e-9))
    if _pieces(series):
        begun = np.intersect1d(same, starts(series)).size
        return text(begun) if begun else ""
    if _upright(series):
        return "here" if same.size else ""
    if series.names:
        return ", ".join(f"{number(series.y[at])} ({series.names[at]})" for at in same)
    if same.size and series.kind == "part":
        return number(series.y[same[0]])
    if same.size:
        if series.low is not None and series.high is not None:
            low, high = series.low[same[0]], series.high[same[0]]
            spread = f"{number(low)} to {number(high)}"
            return spread if series.kind == "band" else f"{number(series.y[same[0]])} ({spread})"
        return _listed(series.y[same])
    if series.kind in ("line", "dashed") and series.x[0] < x < series.x[-1]:
        return number(float(np.interp(x, series.x, series.y)))
    return ""


def _lone(series: Points) -> bool:
    """Whether points only mark one place on the x axis, be it on several curves."""
    return series.kind == "points" and np.unique(series.x).size == 1


def _upright(series: Points) -> bool:
    """Whether a line only marks a place on the x axis, such as a deadline."""
    return (
        series.kind in ("line", "dashed")
        and series.x.size > 1
        and bool((series.x == series.x[0]).all())
    )


def _pieces(series: Points) -> bool:
    """Whether a line is many short ones, such as the edges of a graph."""
    return series.kind in ("line", "dashed", "edge") and bool(np.isnan(series.x).any())


def _listed(values: np.ndarray) -> str:
    """Return several values at one place as people list them."""
    texts = [number(v) for v in np.unique(values[np.isfinite(values)])]
    if len(texts) <= MOST_LISTED:
        return ", ".join(texts)
    return f"{len(texts)}: {texts[0]} to {texts[-1]}"
