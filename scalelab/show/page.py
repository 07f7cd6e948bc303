"""Charts to HTML: picture, legend, readouts, stamp and table twin, with what a script needs to move them.

The HTML stands on its own: no request leaves it, it follows the reader's light or dark, and it is complete
without its script (and on paper), which only moves what is already there.
"""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Hashable, Iterable, Sequence
from importlib import resources

import numpy as np

from scalelab.records import Stamp
from scalelab.show import draw
from scalelab.show.chart import Chart

DIGITS = 4  # of a value that only a picture and its table show


@functools.cache
def asset(name: str) -> str:
    """Return a file of this folder that travels inside the HTML."""
    return (resources.files("scalelab.show") / name).read_text(encoding="utf-8")


def figure(chart: Chart, controls: str = "", replay: str = "") -> str:
    """Return a chart as a `<figure>`; `controls` go above the picture and `replay` feeds its script."""
    picture, _ = draw.svg(chart)
    return (
        f"<style>{asset('figure.css')}</style>"
        f'<figure class="sl-figure">{controls}'
        f'<p class="sl-title">{html.escape(chart.title)}</p>'
        f"{_legend(chart)}{_labelled(picture, chart)}{_readouts(chart)}"
        f"{_caption(chart)}{_table(chart)}{replay}</figure>"
    )


def replay(frames: Sequence[Chart], shape: Sequence[int], start: int) -> str:
    """Return the data of every frame and the script that shows the one the sliders ask for."""
    _, scales = draw.svg(frames[start])
    arrays, texts = _Pool(), _Pool()
    packed = []
    for chart in frames:
        series = []
        for one in chart.series:
            parts = (one.x, one.y, one.low, one.high)
            series.append([-1 if part is None else arrays.put(_short(part)) for part in parts])
        packed.append(
            [
                series,
                texts.put(chart.title),
                texts.put(chart.describe()),
                [texts.put(text) for text in chart.readouts.values()],
                [[texts.put(cell) for cell in row] for row in chart.rows()],
            ]
        )
    data = {
        "scales": scales,
        "kinds": [one.kind for one in frames[start].series],
        "shape": list(shape),
        "start": start,
        "arrays": arrays.items,
        "texts": texts.items,
        "frames": packed,
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<script type="application/json" class="sl-data">{text}</script>'
        f"<script>{asset('figure.js')}</script>"
    )


class _Pool:
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


def _labelled(picture: str, chart: Chart) -> str:
    label = html.escape(chart.describe(), quote=True)
    return picture.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _legend(chart: Chart) -> str:
    if len(chart.series) < 2:
        return ""
    items = "".join(
        f'<li><span class="sl-key sl-{one.kind}" style="color:var(--sl-tone-{one.tone})"></span>'
        f"{html.escape(one.label)}</li>" + _numbered(one.names)
        for one in chart.series
    )
    return f'<ul class="sl-legend">{items}</ul>'


def _numbered(names: Sequence[str]) -> str:
    return "".join(
        f"<li><b>{number}</b>{html.escape(name)}</li>" for number, name in enumerate(names, 1)
    )


def _readouts(chart: Chart) -> str:
    if not chart.readouts:
        return ""
    items = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd></div>"
        for name, text in chart.readouts.items()
    )
    return f'<dl class="sl-readouts" aria-live="polite">{items}</dl>'


def _caption(chart: Chart) -> str:
    return f"<figcaption>{stamp(chart.stamp)}</figcaption>" if chart.stamp else ""


def stamp(given: Stamp) -> str:
    """Return the line that says where the numbers come from."""
    kind = given.kind.split()[0]
    return f'<span class="sl-stamp sl-{kind}">{html.escape(given.text)}</span>'


def _table(chart: Chart) -> str:
    return (
        '<details class="sl-twin"><summary>The numbers</summary>'
        f"{table(chart.columns(), chart.rows(), name=chart.title)}</details>"
    )


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", name: str = ""
) -> str:
    """Return a table that scrolls sideways on a narrow screen; its first column names the rows."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    # Above the table and not a <caption>, which could not be wider than the table.
    title = f'<p class="sl-title">{html.escape(caption)}</p>' if caption else ""
    return (
        f"{title}"
        f'<div class="sl-scroll" tabindex="0" role="region" aria-label="{html.escape(caption or name)}">'
        f'<table class="sl-table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
