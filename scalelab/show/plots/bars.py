"""Charts of bars that lie: parts behind each other, parts that add up, or one number for each name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points


def stacked(
    title: str,
    label: str,
    rows: Mapping[str, Mapping[str, float]],
    stamp: Stamp | None = None,
    see: str = "",
) -> Chart:
    """Of each name its parts, one behind the other; what has the same name has the same colour."""
    parts = dict.fromkeys(part for of in rows.values() for part in of)
    series = []
    for tone, part in enumerate(parts, 1):
        spans = []
        for turn, of in enumerate(rows.values()):
            begin = sum(list(of.values())[: list(of).index(part)]) if part in of else 0.0
            spans.append((len(rows) - turn, begin, begin + of.get(part, 0.0)))
        series.append(_lane(part, spans, tone))
    return Chart(title, Axis(label, low=0.0), _names(rows), tuple(series), stamp=stamp, see=see)


def adding_up(
    title: str,
    label: str,
    parts: Mapping[str, float],
    whole: str,
    stamp: Stamp | None = None,
    see: str = "",
) -> Chart:
    """Each part begins where the one before it ends, backward if it is negative; `whole` is their sum."""
    ends = np.cumsum([0.0, *parts.values()])
    names = [*parts, whole]
    spans = [(len(names) - turn, min(pair), max(pair)) for turn, pair in enumerate(pairwise(ends))]
    taken = [value < 0 for value in parts.values()]
    series = [
        _lane(name, [span for span, less in zip(spans, taken, strict=True) if less == sign], tone)
        for name, sign, tone in (("part", False, 1), ("negative", True, 2))
        if sign in taken
    ]
    series.append(_lane("their sum", [(1, 0.0, ends[-1])], 3))
    x = Axis(label, low=min(0.0, *ends))
    return Chart(title, x, _names(names), tuple(series), stamp=stamp, see=see)


def ranked(
    title: str,
    axis: Axis,
    values: Mapping[str, float],
    limit: tuple[str, float] | None = None,
    stamp: Stamp | None = None,
    see: str = "",
    start: float = 0.0,
    inside: bool = False,
) -> Chart:
    """One bar for each name, from `start` on, before a limit if there is one; long names stand `inside`."""
    spans = [
        (len(values) - turn, min(start, v), max(start, v)) for turn, v in enumerate(values.values())
    ]
    series = [_lane(axis.label, spans, 1)]
    if limit is not None:
        name, at = limit
        series.append(Points(name, [at, at], [0.4, len(values) + 0.6], "dashed", tone=2))
    names = replace(_names(values), inside=inside)
    if inside:
        names = replace(names, high=len(values) + 0.9)
    return Chart(title, axis, names, tuple(series), stamp=stamp, see=see)


def between(
    title: str,
    axis: Axis,
    rows: Mapping[str, tuple[float, float, float]],
    limits: Mapping[str, float],
    stamp: Stamp | None = None,
    see: str = "",
    called: tuple[str, str] = ("may be", "as it stands"),
) -> Chart:
    """Of each name a value between two ends, (low, value, high), across the limits that are asked.

    `called` is what the legend calls the ends and the value.
    """
    heights = [len(rows) - turn for turn in range(len(rows))]
    low, middle, high = np.array(list(rows.values()), dtype=float).T
    series = [
        _lane(called[0], list(zip(heights, low, high, strict=True)), 1),
        Points(called[1], middle, heights, "points", tone=2),
    ]
    series += [
        Points(f"{name} {at:g}", [at, at], [0.4, len(rows) + 0.6], "dashed", tone=tone)
        for tone, (name, at) in zip((3, 4, 0), limits.items(), strict=False)
    ]
    return Chart(title, axis, _names(rows), tuple(series), stamp=stamp, see=see)


def _lane(name, spans, tone):
    x, y = [], []
    for row, begin, end in spans:
        if end > begin:
            x += [begin, end, np.nan]
            y += [row, row, np.nan]
    return Points(name, x or [np.nan], y or [np.nan], "lane", tone=tone)


def _names(rows):
    names = tuple(rows)
    ticks = tuple(float(len(names) - turn) for turn in range(len(names)))
    return Axis("", low=0.4, high=len(names) + 0.6, ticks=ticks, names=names)
