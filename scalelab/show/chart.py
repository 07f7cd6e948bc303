"""What a figure says, before anything is drawn: axes, series, readouts and where the numbers come from.

A chart is plain data. `draw` turns it into a picture, `page` into HTML, and both take the words for people
who do not see the picture (`describe`, `rows`) from here, so picture, alt text and table cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
        courses = [f"{series.label}: {words.course(series)}." for series in self.series]
        return " ".join([f"{self.title}. {self.y.label} against {self.x.label}.", *courses])

    def columns(self) -> list[str]:
        """Return the headings of the table twin."""
        return [self.x.label, *(series.label for series in self.series)]

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows of the table twin: the marked points, or a dozen taken evenly from the lines."""
        for x in words.places(self.series):
            yield [words.number(x), *(words.at(series, x) for series in self.series)]
