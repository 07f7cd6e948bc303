"""What the series of a chart say in words and numbers, for those who do not see the picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from scalelab import units
from scalelab.show.series import Axis, Points, starts

MOST_ROWS = 12  # of a line: a table twin much longer than this is not read
MOST_MARKED = 24  # what was measured is told whole, until nobody would read that either
MOST_LISTED = 6  # values at one place; more are counted
_SAME = 1e-7  # of a place: what lies nearer has one row, for no digit of it tells the two apart


def text(value: float) -> str:
    """Return a number of a figure as people read it: counts exactly, the rest to four digits."""
    whole = float(value).is_integer() and abs(value) < 1e9
    return units.text(float(value), digits=10 if whole else 4)


def number(value: float) -> str:
    """Return a number as text, and nothing for one that is not there."""
    return text(value) if np.isfinite(value) else ""


def called(axis: Axis) -> Callable[[float], str]:
    """Return how places on an axis are told: by what they are called, and elsewhere by their numbers."""
    ticks = zip(axis.ticks, axis.names, strict=False)
    names = {tick: name for tick, name in ticks if name.strip()}
    if axis.bare:
        return lambda _: ""
    return lambda place: names.get(float(place), "") or number(place)


def named(axis: Axis) -> list[str]:
    """Return what the ticks of an axis are called, from the top, and nothing where they are numbers."""
    order = sorted(zip(axis.ticks, axis.names, strict=False), reverse=True)
    return [name for _, name in order if name.strip()]


def course(
    series: Points, across: Callable[[float], str] = number, up: Callable[[float], str] = number
) -> str:
    """Return where a series begins and ends, or how much of it there is where it has no two ends.

    `across` and `up` tell the places on the two axes.
    """
    shown = np.isfinite(series.y)
    if not shown.any():
        return "none"
    if series.kind == "band":
        sides = [series.x[np.flatnonzero(shown)[end]] for end in (0, -1)]
        return "from " + ", and ".join(f"{at(series, x, up)} at {across(x)}" for x in sides)
    if series.names:
        return ", ".join(
            f"{name} {up(y)} at {across(x)}"
            for name, x, y in zip(series.names, series.x, series.y, strict=True)
        )
    told = series.words and series.kind == "points" and series.in_legend and up(series.y[0])
    if told and shown.all() and shown.size <= MOST_LISTED:
        return ", ".join(
            f"{up(y)} at {across(x)} ({word})"
            for word, x, y in zip(series.words, series.x, series.y, strict=True)
        )
    x, y = series.x[shown], series.y[shown]
    if series.kind == "lane":
        return f"{units.counted(y.size // 2, 'bar')} until {across(x.max())}"
    if _upright(series):
        return f"at {across(x[0])}"
    if _pieces(series):
        return f"{len(starts(series))} lines"
    if (np.unique(x).size < x.size and series.kind != "moved") or not up(y[0]):
        counted = f"{units.counted(x.size, 'point')} from {across(x.min())} to {across(x.max())}"
        return f"{counted}, up to {up(y.max())}" if up(y.max()) else counted
    ends = f"{up(y[0])} at {across(x[0])}"
    if y.size == 1:
        return ends
    ends = f"from {ends} to {up(y[-1])} at {across(x[-1])}"
    top = int(np.argmax(y))
    highest = max(y[0], y[-1])
    if 0 < top < y.size - 1 and y[top] > highest and not np.isclose(y[top], highest, rtol=1e-9):
        ends += f", highest {up(y[top])} at {across(x[top])}"
    return ends


def places(series: Sequence[Points], most: float = np.inf) -> np.ndarray:
    """Return the x of the rows of a table: marked points, or a dozen of a line's, and each single mark.

    Of a line over doublings these are its rows. Of very many marked points it is a dozen, too. Where a curve
    goes on behind the last of them, its end follows, or `most`, where the picture ends.
    """
    kinds = "points", "joined", "moved"
    marked = [one.x for one in series if one.kind in kinds and not _lone(one)]
    lines = [one.x for one in series if one.kind != "edge"]  # whose ends and heads are for the eye
    xs = np.unique(np.concatenate(marked or lines or [one.x for one in series]))
    xs = xs[np.isfinite(xs)]
    if xs.size > (MOST_MARKED if marked else MOST_ROWS):
        even = np.linspace(0, xs.size - 1, MOST_ROWS).round().astype(int)
        xs = xs[_doublings(xs)] if _doublings(xs).size else xs[np.unique(even)]
    single = [
        one.x[:1] for one in series if np.isfinite(one.y[0]) and (_lone(one) or _upright(one))
    ]
    xs = np.unique(np.concatenate([xs, *single]))
    if xs.size:
        xs = np.append(xs, _ends(series, xs[-1], most)[-1:])
    return xs[np.append(True, ~_near(xs[1:], xs[:-1]))[: xs.size]]


def _ends(series: Sequence[Points], last: float, most: float) -> np.ndarray:
    """Return where curves that are not level behind the last place end, in order."""
    curves = [one for one in series if one.kind in ("line", "dashed") and one.x[-1] > last]
    steep = [c for c in curves if not np.isclose(np.interp(last, c.x, c.y), c.y[-1])]
    ends = np.unique([min(one.x[-1], most) for one in steep if np.isfinite(one.y[-1])])
    return ends[ends > last]


def _doublings(xs: np.ndarray) -> np.ndarray:
    """Return where among the places the doublings of the first are, if all of them up to the last one are."""
    if xs[0] <= 0:
        return np.array([], int)
    steps = np.log2(xs / xs[0])
    whole = np.flatnonzero(np.isclose(steps, steps.round(), rtol=0, atol=_SAME))
    all_there = whole[-1] == xs.size - 1 and whole.size == round(steps[-1]) + 1
    return whole if all_there and MOST_ROWS / 2 < whole.size <= MOST_ROWS else whole[:0]


def told(x: Axis, y: Axis, series: Sequence[Points]) -> Sequence[Points]:
    """Return what has a column: of a graph also how many edges begin at a place, which no quantity is."""
    quantities = x.log or y.log
    return [one for one in series if not (quantities and _pieces(one))] or series


def apart(axis: Axis, series: Sequence[Points]) -> Iterator[tuple[str, Points]]:
    """Yield the columns of a table: the series, or what of each is in each group of a vertical axis."""
    names = {place: name for place, _, name in axis.told}
    for group in dict.fromkeys(group for _, group, _ in axis.told):
        places = [place for place, of, _ in axis.told if of == group]
        for one in series:
            here = replace(one, y=np.where(np.isin(one.y, places), one.y, np.nan), words=())
            called = tuple(names[place] for place in here.y[starts(here)])
            yield f"{group} {one.label}", replace(here, words=called)
    if not axis.told:
        yield from ((one.label, one) for one in series)


def at(series: Points, x: float, up: Callable[[float], str] = number) -> str:
    """Return the value of a series at x, read between its points if it is a line, empty where it has none.

    Of a lane these are the bars that run then, or what stands in them; of the edges of a graph how many
    begin there. `up` tells the places on the vertical axis.
    """
    if series.kind == "lane":
        begins = starts(series)
        runs = (series.x[begins] <= x) & (x < series.x[np.minimum(begins + 1, series.x.size - 1)])
        if series.words:
            order = np.argsort(
                -series.y[begins[runs]], kind="stable"
            )  # as they stand, from the top
            return ", ".join(series.words[i] for i in np.flatnonzero(runs)[order])
        return _listed(series.y[begins[runs]], up)
    same = np.flatnonzero(_near(series.x, x))
    if _pieces(series):
        begun = np.intersect1d(same, starts(series)).size
        return text(begun) if begun else ""
    if _upright(series):
        return "here" if same.size else ""
    if series.names:
        return ", ".join(f"{up(series.y[at])} ({series.names[at]})" for at in same)
    if same.size and series.words:
        said = [(up(series.y[at]), series.words[at]) for at in same]
        return ", ".join(
            f"{value} ({word})" if value and word else value or word for value, word in said
        )
    if same.size and series.kind == "part":
        return number(series.y[same[0]])
    if same.size:
        if series.low is not None and series.high is not None:
            low, high = series.low[same[0]], series.high[same[0]]
            spread, known = f"{number(low)} to {number(high)}", np.isfinite([low, high]).any()
            if series.kind == "band":
                return spread
            return f"{number(series.y[same[0]])} ({spread})" if known else number(series.y[same[0]])
        return _listed(series.y[same], up)
    if series.kind in ("line", "dashed") and series.x[0] < x < series.x[-1]:
        return number(float(np.interp(x, series.x, series.y)))
    return ""


def _near(places: np.ndarray, x: float | np.ndarray) -> np.ndarray:
    return np.isclose(places, x, rtol=_SAME, atol=1e-12)


def by_name(axis: Axis, series: Sequence[Points]) -> bool:
    """Whether every name of the vertical axis has at most one bar of each lane, and so a row of its own."""
    lanes = [one for one in series if one.kind == "lane"]
    return (
        bool(lanes and named(axis))
        and len(named(axis)) == len(axis.ticks)
        and not any(one.words for one in lanes)
        and all(_ticks(axis, one)[1].size == np.unique(_ticks(axis, one)[1]).size for one in lanes)
    )


def beside(series: Points, axis: Axis, tick: float) -> str:
    """Return what a series has beside one name: from where to where its bar leads, or where its mark is."""
    if _upright(series):
        return number(series.x[0])
    begins, ticks = _ticks(axis, series)
    here = begins[ticks == tick]
    if series.kind != "lane":
        return ", ".join(number(series.x[i]) for i in here)
    return ", ".join(
        f"{number(series.x[i])} to {number(series.x[i + 1])}"
        if series.x[i]
        else number(series.x[i + 1])
        for i in here
    )


def _ticks(axis, series):
    """Return where the bars of a lane begin, or all points, and the tick that each is nearest to."""
    begins = starts(series) if series.kind == "lane" else np.flatnonzero(np.isfinite(series.y))
    ticks = np.array(axis.ticks, dtype=float)
    return begins, ticks[np.abs(series.y[begins][:, None] - ticks).argmin(axis=1)]


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


def _listed(values: np.ndarray, up: Callable[[float], str] = number) -> str:
    """Return several values at one place as people list them."""
    texts = [up(v) for v in np.unique(values[np.isfinite(values)])]
    if not all(texts):
        return str(len(texts))
    if len(texts) <= MOST_LISTED:
        return ", ".join(texts)
    return f"{len(texts)}: {texts[0]} to {texts[-1]}"
