"""Figures one can play with: sliders that recompute in JupyterLab, and replay in a page that has no kernel.

    explore(lambda serial: speedup.fixed_job(serial), serial=Slider("serial fraction s", values, start=0.05))

The function returns a Chart for any choice of the sliders. With a kernel it is called at each move. When the
book is built it is called once for each combination, and the page carries the numbers.
"""

from __future__ import annotations

import base64
import itertools
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.refusal import Refusal
from scalelab.show import draw, page
from scalelab.show.chart import Chart, Points
from scalelab.show.template import rendered

if TYPE_CHECKING:
    from ipywidgets import VBox

# In SI units: FLOP/s, bytes per second of memory, both as FLOP per byte, bytes that it holds, bytes per
# second of the network, seconds of a message, dollars per device-hour.
# `book/_static/hardware.js` keeps them.
FOLLOWED = ("peak", "bandwidth", "ridge", "memory", "network", "latency", "price")
MOST_FRAMES = 1500  # more would make a page heavier than its figure is worth
REPLAY = "SCALELAB_FIGURES"  # the book's build sets it to "replay"


@dataclass(frozen=True)
class Slider:
    """A named quantity, the values it can take (or their names), and the one it starts at.

    In the rendered book it may follow what a reader said of their own hardware: `follows` names the
    quantity there (FOLLOWED), and `near` is that quantity at each stop, by default the values. It may
    name several with spaces between; then `near` has that many at each stop. Hardware that differs from
    every stop by more than the factor `within` moves nothing.
    """

    label: str
    values: Sequence[float | str]
    start: float | str
    unit: str = ""
    follows: str = ""
    near: Sequence[float | Sequence[float]] = ()
    within: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "near", tuple(self.near) or self.values)
        names = self.follows.split()
        if not set(names) <= set(FOLLOWED):
            raise Refusal(
                f"follows of {self.label!r} must be one of {', '.join(FOLLOWED)}, got "
                f"{self.follows!r}: these are what a reader can say of their hardware"
            )
        if names and (
            len(self.near) != len(self.values)
            or any(isinstance(stop, str) or np.size(stop) != len(names) for stop in self.near)
        ):
            each = "a number" if len(names) == 1 else f"{len(names)} numbers"
            raise Refusal(
                f"near of {self.label!r} must hold {each} for each of its {len(self.values)} "
                f"values, got {len(self.near)}: give the {' and the '.join(names)} at each stop"
            )
        if self.start not in self.values:
            raise Refusal(
                f"start of {self.label!r} must be one of its values, got {self.start!r}: "
                f"choose from {self.values[:3]} and so on"
            )

    @property
    def stops(self) -> str:
        """Return what `near` holds as its script reads it, a bar between the stops."""
        return "|".join(" ".join(str(float(one)) for one in np.ravel(stop)) for stop in self.near)

    @property
    def texts(self) -> list[str]:
        """Return each value as the reader sees it: whole, for its figure is computed from all of it."""
        return [
            value if isinstance(value, str) else units.text(value, self.unit, digits=10)
            for value in self.values
        ]


class Figure:
    """A chart that notebooks and pages know how to show."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart

    def html(self) -> str:
        """Return the figure as HTML that needs nothing else."""
        return page.figure(self.chart)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(draw.png(self.chart)).decode(),
            "text/plain": self.chart.describe(),
        }


class Replay(Figure):
    """A chart with sliders whose every position was computed beforehand."""

    def __init__(self, make: Callable[..., Chart], sliders: dict[str, Slider]) -> None:
        shape = [len(slider.values) for slider in sliders.values()]
        if math.prod(shape) > MOST_FRAMES:
            raise Refusal(
                f"the sliders must have at most {MOST_FRAMES} positions together, got "
                f"{math.prod(shape)}: give them fewer values"
            )
        choices = itertools.product(*(slider.values for slider in sliders.values()))
        charts = [make(**dict(zip(sliders, choice, strict=True))) for choice in choices]
        _refuse_changing_words(charts)
        if any(_stays(series) for chart in charts for series in chart.series):
            raise Refusal(
                "series must have neither names nor a tag nor words at single points under sliders, nor be "
                "moved, got one of those: its text or arrow would stay where it was drawn first"
            )
        x, y = draw.limits(charts)
        self.frames = [replace(chart, x=x, y=y) for chart in charts]
        self.sliders, self.shape = sliders, shape
        self.name = page.name(getattr(make, "__name__", type(make).__name__))
        self.start = 0
        for slider in sliders.values():
            self.start = self.start * len(slider.values) + slider.values.index(slider.start)
        super().__init__(self.frames[self.start])

    def html(self) -> str:
        """Return the figure, its sliders and the numbers of every position as HTML."""
        controls = rendered("sliders.html", sliders=self.sliders)
        return page.replay(self.frames, self.shape, self.start, controls, self.name)


def _stays(series: Points) -> bool:
    """Whether a script leaves its text or its arrow where it is."""
    text = series.names or series.tag or series.end
    return bool(text or (series.words and series.kind == "points") or series.kind == "moved")


def _refuse_changing_words(charts: list[Chart]) -> None:
    """Raise if a label moves with the sliders: legend, headings and names of readouts are written once."""
    words = {
        (
            tuple((series.label, series.kind) for series in chart.series),
            tuple(chart.readouts),
            chart.x.label,
            chart.see,
        )
        for chart in charts
    }
    if len(words) > 1:
        raise Refusal(
            "series and readouts must keep their names and kinds at every slider position, got "
            f"{len(words)} different sets: put what changes into the title or the readout's text"
        )


def explore(make: Callable[..., Chart], **sliders: Slider) -> Replay | VBox:
    """Show the chart that `make` returns, with one slider for each of its arguments."""
    if os.environ.get(REPLAY) == "replay":
        return Replay(make, sliders)
    return _live(make, sliders)


def _live(make: Callable[..., Chart], sliders: dict[str, Slider]) -> VBox:
    """Return ipywidgets sliders over a figure that is computed anew at each move."""
    import ipywidgets

    picture, numbers = ipywidgets.HTML(), ipywidgets.HTML(layout={"display": "none"})
    # A fold inside the picture would close whenever the picture is drawn anew.
    fold = ipywidgets.ToggleButton(description="The numbers", tooltip="Show or hide them")
    widest = max(len(slider.label) for slider in sliders.values())
    controls = {
        name: ipywidgets.SelectionSlider(
            options=list(zip(slider.texts, slider.values, strict=True)),
            value=slider.start,
            description=slider.label,
            continuous_update=True,
            style={"description_width": f"{widest}ch"},
            layout={"width": "min(42rem, 100%)"},
        )
        for name, slider in sliders.items()
    }

    def show(_change: object = None) -> None:
        chart = make(**{name: control.value for name, control in controls.items()})
        picture.value, numbers.value = page.figure(chart, fold=False), page.numbers(chart)

    def open_or_close(_change: object) -> None:
        numbers.layout.display = None if fold.value else "none"

    def start_again(_button: object) -> None:
        for name, slider in sliders.items():
            controls[name].value = slider.start

    for control in controls.values():
        control.observe(show, "value")
    reset = ipywidgets.Button(description="Reset", tooltip="Put the sliders back where they began")
    reset.on_click(start_again)
    fold.observe(open_or_close, "value")
    show()
    return ipywidgets.VBox([*controls.values(), reset, picture, fold, numbers])
