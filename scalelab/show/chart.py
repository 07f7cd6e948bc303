"""What a figure says, before anything is drawn: axes, series, readouts and where the numbers come from.

A chart is plain data. `draw` turns it into a picture, `page` into HTML, and both take the words for people
who do not see the picture (`describe`, `rows`) from here, so picture, alt text and table cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalelab.records import Stamp
from scalelab.refusal import Refusal
from scalelab.show import words

KINDS = ("line", "dashed", "edge", "joined", "points", "band", "part", "lane")


@dataclass(frozen=True)
class Axis:
    """One axis: its label, whether it is logarithmic, limits where the data should not choose them, and what
    its ticks are called where that is not their number.
    """

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    ticks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Points:
    """One set of points under one label.

    `line` and `dashed` join them, and are read between them. `joined` marks them and leads the eye from one
    to the next: between them nobody measured. `points` marks them (with bars from `low` to `high` where
    given), and `band` fills from `low` to `high`. `part` fills likewise and is one of several that lie on
    each other: `y` is its own amount. `lane` draws bars of one thickness, such as tasks in a timeline, with a
    missing value between any two, each with its word of `inside` written in it. `edge` draws the arrows of
    a graph. `names` are of its points, which are numbered in the picture; `tag` stands
    before the first point of a line. `tone` picks the colour, so that the same thing keeps its colour from
    figure to figure: 0 is for what is not data (an ideal line, a limit).
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    kind: str = "line"
    tone: int = 1
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    names: tuple[str, ...] = ()
    tag: str = ""
    inside: tuple[str, ...] = ()

    if TYPE_CHECKING:  # numbers are kept as arrays, whatever form they are given in

        def __init__(
            self,
            label: str,
            x: ArrayLike,
            y: ArrayLike,
            kind: str = "line",
            tone: int = 1,
            low: ArrayLike | None = None,
            high: ArrayLike | None = None,
            names: tuple[str, ...] = (),
            tag: str = "",
            inside: tuple[str, ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal(
                f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}: "
                "it says how the series is drawn"
            )
        for name in ("x", "y", "low", "high"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.atleast_1d(np.asarray(value, dtype=float)))
        for name in ("y", "low", "high"):
            value = getattr(self, name)
            if value is not None and value.shape != self.x.shape:
                raise Refusal(
                    f"{name} of {self.label!r} must have one value for each x ({self.x.size}), "
                    f"got {value.size}: give arrays of the same length"
                )
        if self.names and len(self.names) != self.x.size:
            raise Refusal(
                f"names of {self.label!r} must be one for each of its {self.x.size} points, "
                f"got {len(self.names)}: name all of them or none"
            )
        if self.inside and (self.kind != "lane" or len(self.inside) != words.starts(self).size):
            raise Refusal(
                f"inside of {self.label!r} must be one word for each bar of a lane, got "
                f"{len(self.inside)}: write one into each bar or none"
            )
        if not self.x.size:
            raise Refusal(f"series {self.label!r} must hold at least one point, got none")


@dataclass(frozen=True)
class Chart:
    """A figure as data: a title that states what is shown, axes, series, and one-line readouts."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Points, ...]
    readouts: dict[str, str] = field(default_factory=dict)
    stamp: Stamp | None = None

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
