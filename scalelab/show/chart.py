"""What a figure says, before anything is drawn: axes, series, readouts and where the numbers come from.

A chart is plain data. `draw` turns it into a picture, `page` into HTML, and both take the words for people
who do not see the picture (`describe`, `rows`) from here, so picture, alt text and table cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from scalelab.records import Stamp
from scalelab.refusal import Refusal
from scalelab.show import words
from scalelab.show.series import Axis, Points


@dataclass(frozen=True)
class Chart:
    """A figure as data: a title that states what is shown, axes, series, and one-line readouts.

    `see` is its caption, what the reader should look at. It stays while sliders move.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Points, ...]
    readouts: dict[str, str] = field(default_factory=dict)
    stamp: Stamp | None = None
    see: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "series", tuple(self.series))
        if not self.series:
            raise Refusal(f"chart {self.title!r} must hold at least one series, got none")

    def describe(self) -> str:
        """Return the alt text: what is plotted against what, and where each series begins and ends."""
        across, up = words.called(self.x), words.called(self.y)
        courses = [f"{one.label}: {words.course(one, across, up)}." for one in self.series]
        axes = f"{self.y.label} against {self.x.label}"
        if not self.y.label:
            axes = ", ".join([self.x.label, *words.named(self.y)])
        return " ".join([f"{self.title}. {axes}.", *courses])

    def columns(self) -> list[str]:
        """Return the headings of the table twin."""
        bars = words.by_name(self.y, self.series)
        first = self.x.label
        if bars:  # a single series may be called as the axis is
            named = self.y.label or "bar"
            first = named if first == self.series[0].label else f"{named}: {first}"
        return [
            first,
            *(
                heading
                for heading, _ in words.apart(self.y, words.told(self.x, self.y, self.series))
            ),
        ]

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows of the table twin: the marked points, or a dozen taken evenly from the lines.

        Of bars beside names each name has a row, from the top.
        """
        if words.by_name(self.y, self.series):
            named = sorted(zip(self.y.ticks, self.y.names, strict=True), reverse=True)
            for tick, name in named:
                yield [name, *(words.beside(one, self.y, tick) for one in self.series)]
            return
        across, up = words.called(self.x), words.called(self.y)
        columns = [one for _, one in self._told()]
        for x in words.places(self.series, np.inf if self.x.high is None else self.x.high):
            yield [across(x), *(words.at(one, x, up) for one in columns)]

    def _told(self) -> Iterator[tuple[str, Points]]:
        return words.apart(self.y, words.told(self.x, self.y, self.series))
