"""What a figure of matplotlib says, as data: its panels with their words, scales, lines and points.

Knows matplotlib only once somebody else has imported it; imports nothing.
"""

import sys
from typing import Any

_WORDS = ("title", "xlabel", "ylabel", "xscale", "yscale")


def drawn(value: object, kind: type) -> dict[str, list[dict[str, Any]]] | None:
    """Return a figure, or one panel of it, as a dictionary of lists and arrays; else None.

    Only matplotlib's own classes count: a class made from them could say anything of itself.
    """
    figures, axes = (sys.modules.get(f"matplotlib.{name}") for name in ("figure", "axes"))
    if figures and kind is figures.Figure:
        return {"figure": [_panel(one) for one in kind.axes.fget(value)]}
    return {"figure": [_panel(value)]} if axes and kind is axes.Axes else None


def _panel(axes):
    kind = type(axes)
    legend = kind.get_legend(axes)
    return {
        **{name: getattr(kind, f"get_{name}")(axes) for name in _WORDS},
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "lines": [
            {
                "label": _label(line),
                "x": line.get_xdata(orig=False),
                "y": line.get_ydata(orig=False),
            }
            for line in kind.get_lines(axes)
        ],
        "points": [
            {"label": _label(dots), "x": dots.get_offsets()[:, 0], "y": dots.get_offsets()[:, 1]}
            for dots in axes.collections
            if type(dots).__name__ == "PathCollection"
        ],
        "bars": [
            {"label": _label(bars), "y": [bar.get_height() for bar in bars]}
            for bars in axes.containers
            if type(bars).__name__ == "BarContainer"
        ],
    }


def _label(artist):
    label = artist.get_label()
    return "" if str(label).startswith("_") else label  # a name that matplotlib made up
