"""Arrows from place to place as lines with heads, for charts that draw graphs and messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalelab.show.chart import Points

_WIDE, _HIGH = 4.9, 2.8  # of the plain between the axes, in inches
_BEFORE, _LONG, _ASIDE = 0.08, 0.09, 0.035  # the end of an arrow and its head, in inches

Ends = tuple[float, float, float, float]  # x and y where it begins, and where it leads


def arrows(label: str, ends: Sequence[Ends], wide: float, high: float, tone: int = 0) -> Points:
    """Return arrows between places, on axes that are so wide and so high; each ends before its mark."""
    scale = np.array([_WIDE / wide, _HIGH / high])
    lines = [np.array([np.nan, np.nan])]
    for start_x, start_y, end_x, end_y in ends:
        start, end = scale * (start_x, start_y), scale * (end_x, end_y)
        along = (end - start) / np.hypot(*(end - start))
        across = np.array([-along[1], along[0]])
        tip = end - _BEFORE * along
        heads = [tip - _LONG * along + side * _ASIDE * across for side in (1, -1)]
        lines += [point / scale for point in (start, tip, heads[0], tip, heads[1])]
        lines.append(np.array([np.nan, np.nan]))
    x, y = np.array(lines).T
    return Points(label, x, y, "edge", tone=tone)
