"""Charts to HTML: picture, legend, readouts, stamp and table twin, with what a script needs to move them.

The HTML stands on its own: no request leaves it, it follows the reader's light or dark, and it is complete
without its script (and on paper), which only moves what is already there.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from scalelab.show import draw
from scalelab.show.chart import Chart
from scalelab.show.template import rendered

DIGITS = 4  # of a value that only a picture and its table show


def name(words: str) -> str:
    """Return how a figure is called in an address, from a few words of its own.

    >>> name("who asks")
    'fig-who-asks'
    """
    return f"fig-{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}"


def figure(chart: Chart, fold: bool = True) -> Markup:
    """Return a chart as a `<figure>`, with its numbers in a fold below it."""
    picture, _ = draw.svg(chart)
    return _figure(chart, picture, fold=fold)


def numbers(chart: Chart) -> Markup:
    """Return the numbers of a chart alone."""
    return rendered("numbers.html", chart=chart)


def replay(
    frames: Sequence[Chart], shape: Sequence[int], start: int, controls: str, called: str
) -> Markup:
    """Return a `<figure>` with controls, the data of every frame and the script that shows one of them."""
    picture, scales = draw.svg(frames[start])
    return _figure(frames[start], picture, controls, _data(frames, shape, start, scales), called)


def _figure(
    chart: Chart,
    picture: str,
    controls: str = "",
    data: dict[str, Any] | None = None,
    called: str = "",
    fold: bool = True,
) -> Markup:
    opening = Markup('<svg role="img" aria-label="{}"').format(chart.describe())
    drawn = Markup(picture.replace("<svg", opening, 1))  # noqa: S704  matplotlib has escaped its texts
    return rendered(
        "figure.html",
        chart=chart,
        picture=drawn,
        controls=controls,
        data=data,
        name=called,
        fold=fold,
    )


def _data(
    frames: Sequence[Chart], shape: Sequence[int], start: int, scales: dict[str, list[float]]
) -> dict[str, Any]:
    """Return the data of every frame, for the script that reads them."""
    arrays, texts, columns = _Values(), _Values(), _Values()
    packed = []
    for chart in frames:
        places = []
        for series in chart.series:
            parts = (series.x, series.y, series.low, series.high)
            place = [-1 if part is None else arrays.put(_short(part)) for part in parts]
            places.append([*place, texts.put("|".join(series.words))] if series.words else place)
        packed.append(
            [
                places,
                texts.put(chart.title),
                texts.put(chart.describe()),
                [texts.put(text) for text in chart.readouts.values()],
                [
                    columns.put([texts.put(cell) for cell in column])
                    for column in zip(*chart.rows(), strict=True)
                ],
            ]
        )
    return {
        "scales": scales,
        "kinds": [series.kind for series in frames[start].series],
        "shape": list(shape),
        "start": start,
        "arrays": arrays.items,
        "texts": texts.items,
        "columns": columns.items,
        "frames": packed,
    }


class _Values:
    """Values kept once each: most frames share most of their arrays and words."""

    def __init__(self) -> None:
        self.items: list[str | list[float | None]] = []
        self.where: dict[Hashable, int] = {}

    def put(self, value: str | list[float | None]) -> int:
        key = tuple(value) if isinstance(value, list) else value
        if key not in self.where:
            self.where[key] = len(self.items)
            self.items.append(value)
        return self.where[key]


def _short(values: np.ndarray) -> list[float | None]:
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]
