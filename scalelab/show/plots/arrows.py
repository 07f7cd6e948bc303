"""Arrows from place to place as lines with heads, for charts that draw graphs and messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalelab.show.chart import Points

_WIDE, _HIGH, _LOW = 4.9, 2.8, 1.6  # of the plain between the axes, in inches
_BEFORE, _LONG, _ASIDE = 0.08, 0.09, 0.035  # the end of an arrow and its head, in inches

_BEND = np.linspace(0.0, 1.0, 13)[:, None]  # how far along an arrow that is bent

# x and y where it begins, and where it leads; how far it bends down between
Ends = tuple[float, ...]


def arrows(
    label: str,
    ends: Sequence[Ends],
    wide: float,
    high: float,
    tone: int = 0,
    flat: bool = False,
) -> Points:
    """Return arrows between places, on axes that are so wide and so high; each ends before its mark.

    `flat` is a picture of a few rows, which is lower.
    """
    scale = np.array([_WIDE / wide, (_LOW if flat else _HIGH) / high])
    lines = [np.array([np.nan, np.nan])]
    for start_x, start_y, end_x, end_y, *bent in ends:
        start, end = scale * (start_x, start_y), scale * (end_x, end_y)
        aside = (start + end) / 2 - scale * (0.0, 2 * sum(bent))
        course = (1 - _BEND) ** 2 * start + 2 * _BEND * (1 - _BEND) * aside + _BEND**2 * end
        along = (end - aside) / np.hypot(*(end - aside))
        across = np.array([-along[1], along[0]])
        tip = end - _BEFORE * along
        heads = [tip - _LONG * along + side * _ASIDE * across for side in (1, -1)]
        between = course[1:-1] if bent else ()
        lines += [point / scale for point in (start, *between, tip, heads[0], tip, heads[1])]
        lines.append(np.array([np.nan, np.nan]))
    x, y = np.array(lines).T
    return Points(label, x, y, "edge", tone=tone)
