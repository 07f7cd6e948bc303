"""What is drawn: an axis, and the points of one label, checked before anything is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalelab.refusal import Refusal

KINDS = ("line", "dashed", "edge", "joined", "moved", "points", "band", "part", "lane")


@dataclass(frozen=True)
class Axis:
    """One axis: its label, whether it is logarithmic, limits where the data should not choose them, and what
    its ticks are called where that is not their number. `told` is what a table calls places without a tick,
    each in a group that has columns of its own: (place, group, name). A `bare` one has no ticks: where on it
    a thing stands only keeps it apart from others. The names of a vertical axis that are too long to stand
    beside the picture stand `inside`, each above its bar.
    """

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    ticks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    told: tuple[tuple[float, str, str], ...] = ()
    bare: bool = False
    inside: bool = False


@dataclass(frozen=True)
class Points:
    """One set of points under one label.

    `line` and `dashed` join them, and are read between them. `joined` marks them and leads the eye from one
    to the next: between them nobody measured. `points` marks them. Both have bars from `low` to `high`
    where given. `band` fills from `low` to `high`. `part` fills likewise and is one of several that lie on
    each other: `y` is its own amount. `lane` draws bars of one thickness, such as tasks in a timeline, with a
    missing value between any two. `edge` draws the arrows of a graph, and `moved` one arrow, from its first
    point to its last. `words` are written into each bar of a
    lane, or beside each mark; those of a `quiet` set are in the table and not in the picture. `names` are of
    its points, which are numbered in the picture; `tag` stands before the first point of a line, and `end`
    behind its last. `tone` picks the colour, so that the same thing keeps its colour from figure to figure: 0
    is for what is not data (an ideal line, a limit).
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
    words: tuple[str, ...] = ()
    end: str = ""
    quiet: bool = False

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
            words: tuple[str, ...] = (),
            end: str = "",
            quiet: bool = False,
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
        room = {"lane": starts(self).size, "points": self.x.size, "joined": self.x.size}
        if self.words and len(self.words) != room.get(self.kind):
            raise Refusal(
                f"words of {self.label!r} must be one for each bar of a lane or each mark, got "
                f"{len(self.words)}: write one to each or none"
            )
        if not self.x.size:
            raise Refusal(f"series {self.label!r} must hold at least one point, got none")

    @property
    def in_legend(self) -> bool:
        """Whether a legend has it: all but what has its name beside it, a single mark or a grey line."""
        single = self.kind == "points" and self.x.size == len(self.words) == 1
        named = single and self.label.startswith(self.words[0])
        return not (named or (self.tone == 0 and self.label == self.end))


def starts(series: Points) -> np.ndarray:
    """Return where the pieces of a line, or the bars of a lane, begin."""
    known = np.isfinite(series.x) & np.isfinite(series.y)
    return np.flatnonzero(known & ~np.append(False, known[:-1]))
