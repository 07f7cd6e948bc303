"""Frames of drawings on one sheet, as a PNG: for print from a notebook and for viewers without HTML."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scalelab.show import draw
from scalelab.show.drawings.drawing import BELOW, Drawing, Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

_COLUMNS, _GAP = 2, 24.0  # beside each other, and between them; a unit is a point of print
_TIP = 5.0  # of an arrow: how far its two strokes reach back, and half of that to the sides
_APART = 0.8  # the cells of a bar
_LINE, _LETTER, _SIZE = 14.0, 5.6, 10.5  # of text: how high a line, how wide a letter, and its size
_TINT = 0.22  # of its tone in a block
_STROKE = re.compile(r"([MLhvz])([^MLhvz]*)")


def png(stills: Sequence[tuple[Drawing, int]], tones: Mapping[str, int], dpi: int = 110) -> bytes:
    """Return frames, (drawing, step), with their titles and captions and below them what colours mean."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(stills))
    each = stills[0][0].width
    texts = [(_lines(one.title, each), _lines(one.frames[at].caption, each)) for one, at in stills]
    high = max(_LINE * (len(a) + len(b) + 1) for a, b in texts) + stills[0][0].height
    rows = -(-len(stills) // columns)
    legend = list(_legend(tones, columns * each))
    wide = columns * each + (columns + 1) * _GAP
    tall = rows * (high + _GAP) + _GAP + _LINE * 1.3 * len(legend)
    with matplotlib.rc_context(draw.style()):
        figure = Figure(figsize=(wide * draw.POINT, tall * draw.POINT))
        FigureCanvasAgg(figure)
        figure.set_layout_engine("none")  # every place is given
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, wide), ylim=(tall, 0))
        axes.set_axis_off()
        for turn, ((one, at), (title, caption)) in enumerate(zip(stills, texts, strict=True)):
            x = _GAP + (turn % columns) * (each + _GAP)
            y = _GAP + (turn // columns) * (high + _GAP)
            y = _write(axes, title, x, y, weight="bold")
            _draw(axes, one.frames[at].shapes, x, y)
            _write(axes, caption, x, y + one.height + _LINE / 2)
        for turn, row in enumerate(legend):
            y = tall - _GAP / 2 - _LINE * 1.3 * (len(legend) - turn - 0.5)
            for x, tone, name in row:
                axes.plot([_GAP + x, _GAP + x + 16], [y, y], color=draw.TONES[tone], linewidth=7)
                axes.text(_GAP + x + 22, y, name, fontsize=_SIZE, va="center")
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=dpi, facecolor="white")
    return out.getvalue()


def outline(shape: Shape) -> str:
    """Return the path of a line or an arrow, or of the cells of a bar that are filled.

    >>> outline(Shape("a", "arrow", 0, 0, 10, 0))
    'M0 0L10 0M5 -2.5L10 0L5 2.5'
    >>> outline(Shape("b", "bar", 0, 0, 4, 10, cells=(True, False)))
    'M-2 0.4h4v4.2h-4z'
    """
    if shape.kind == "line":
        return f"M0 0L{shape.width:.4g} {shape.height:.4g}"
    if shape.kind == "arrow":
        x, y = shape.width, shape.height
        length = (x**2 + y**2) ** 0.5 or 1.0
        back, side = (_TIP * x / length, _TIP * y / length), (-y / length, x / length)
        ends = [
            f"{x - back[0] - way * side[0] * _TIP / 2:.4g} {y - back[1] - way * side[1] * _TIP / 2:.4g}"
            for way in (1, -1)
        ]
        tip = f"{x:.4g} {y:.4g}"
        return f"M0 0L{tip}M{ends[0]}L{tip}L{ends[1]}"
    each = shape.height / max(len(shape.cells), 1)
    return "".join(
        f"M{-shape.width / 2:.4g} {shape.height / 2 - each * (at + 1) + _APART / 2:.4g}"
        f"h{shape.width:.4g}v{each - _APART:.4g}h{-shape.width:.4g}z"
        for at, filled in enumerate(shape.cells)
        if filled
    )


def _lines(words: str, width: float) -> list[str]:
    return textwrap.wrap(words, int(width / _LETTER)) or [""]


def _write(axes: Axes, lines: Sequence[str], x: float, y: float, **look: str) -> float:
    """Write lines below each other from (x, y) down; return where the last one ends."""
    for turn, line in enumerate(lines):
        axes.text(x, y + _LINE * (turn + 0.5), line, fontsize=_SIZE, va="center", **look)  # type: ignore[arg-type]
    return y + _LINE * len(lines)


def _legend(tones: Mapping[str, int], width: float) -> Iterator[list[tuple[float, int, str]]]:
    """Yield rows of (x, tone, name) that are no wider than the sheet."""
    row: list[tuple[float, int, str]] = []
    x = 0.0
    for name, tone in tones.items():
        long = 40 + _LETTER * len(name)
        if row and x + long > width:
            yield row
            row, x = [], 0.0
        row.append((x, tone, name))
        x += long
    if row:
        yield row


def _draw(axes: Axes, shapes: Sequence[Shape], left: float, top: float) -> None:
    from matplotlib import patches

    for depth, shape in enumerate(sorted(shapes, key=lambda one: one.kind not in BELOW), 2):
        colour, x, y = draw.TONES[shape.tone], left + shape.x, top + shape.y
        corner = x - shape.width / 2, y - shape.height / 2
        drawn: list[patches.Patch] = []
        if shape.kind in BELOW:
            stroke = patches.PathPatch(_path(outline(shape), x, y), fill=False, color=colour)
            stroke.set(linewidth=shape.weight, capstyle="round", joinstyle="round")
            drawn = [stroke]
        elif shape.kind == "circle":
            drawn = [patches.Ellipse((x, y), shape.width, shape.height)]
        elif shape.kind in ("box", "block", "bar"):
            drawn = [patches.Rectangle(corner, shape.width, shape.height)]
        if shape.kind == "bar":
            drawn[0].set(color=draw.LIGHT["grid"], alpha=0.55)
            if cells := outline(shape):
                drawn.append(patches.PathPatch(_path(cells, x, y), facecolor=colour, linewidth=0))
        elif shape.kind not in BELOW:
            inside = _tint(colour) if shape.kind == "block" else "white"
            for one in drawn:
                one.set(edgecolor=colour, facecolor=inside, linewidth=1.2)
        for one in drawn:
            axes.add_patch(one).set_zorder(depth)
        crowded = shape.kind == "block" and _LETTER * len(shape.text) > shape.width
        if shape.text and not crowded:
            side = {"start": "left", "middle": "center", "end": "right"}[shape.align]
            said = axes.text(x, y, shape.text, fontsize=_SIZE, ha=side, va="center")
            said.set(color=draw.LIGHT["ink"], zorder=depth)


def _tint(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(_TINT * part + 1 - _TINT for part in to_rgb(colour))


def _path(text: str, x: float, y: float) -> Path:
    """Return an outline, which begins at (x, y), as matplotlib's path."""
    from matplotlib.path import Path

    at, points, codes = np.array([x, y]), [], []
    for command, given in _STROKE.findall(text):
        numbers = [float(one) for one in given.split()]
        if command in "ML":
            at = np.array([x, y]) + numbers
        elif command in "hv":
            at = at + ([numbers[0], 0.0] if command == "h" else [0.0, numbers[0]])
        codes.append({"M": Path.MOVETO, "z": Path.CLOSEPOLY}.get(command, Path.LINETO))
        points.append(at)
    return Path(points, codes)
