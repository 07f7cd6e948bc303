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


_INLINE = "; script-src 'unsafe-inline'"
# Figures follow an attribute, as the book sets it; a page of its own asks the reader's system.
_THEME = (
    "<script>const dark = matchMedia('(prefers-color-scheme: dark)');"
    "const set = () => { document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light'; };"
    "dark.addEventListener('change', set); set();"
    "addEventListener('beforeprint', () => { document.documentElement.dataset.theme = 'light'; });"
    "addEventListener('afterprint', set);</script>\n"
)


def whole(title: str, body: str, style: str = "", *, scripts: bool = True) -> str:
    """Return a page to keep as a file, from a plain title and a finished body; light or dark as its reader.

    Nothing from elsewhere may load, whatever stands in the body; without scripts, nothing may run either.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    colours = "; ".join(
        f"--sl-{name}: light-dark({light}, {draw.DARK[name]})" for name, light in draw.LIGHT.items()
    )
    scheme = "light" if scripts else "light dark"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{policy}{_INLINE if scripts else ""}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n"
        f"<style>:root {{ color-scheme: {scheme}; {colours} }}\n{asset('page.css')}{style}</style>\n"
        f"{_THEME if scripts else ''}</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def figure(chart: Chart) -> str:
    """Return a chart as a `<figure>`."""
    picture, _ = draw.svg(chart)
    return _figure(chart, picture)


def replay(frames: Sequence[Chart], shape: Sequence[int], start: int, controls: str) -> str:
    """Return a `<figure>` with controls, the data of every frame and the script that shows one of them."""
    picture, scales = draw.svg(frames[start])
    return _figure(frames[start], picture, controls, _data(frames, shape, start, scales))


def _figure(chart: Chart, picture: str, controls: str = "", data: str = "") -> str:
    return (
        f"<style>{asset('figure.css')}</style>"
        f'<figure class="sl-figure">{controls}'
        f'<p class="sl-title">{html.escape(chart.title)}</p>'
        f"{_legend(chart)}{_labelled(picture, chart)}{_readouts(chart)}"
        f"{_caption(chart)}{_table(chart)}{data}</figure>"
    )


def _data(
    frames: Sequence[Chart], shape: Sequence[int], start: int, scales: dict[str, list[float]]
) -> str:
    """Return the data of every frame, and the script that reads them."""
    arrays, texts = _Values(), _Values()
    packed = []
    for chart in frames:
        places = []
        for series in chart.series:
            parts = (series.x, series.y, series.low, series.high)
            place = [-1 if part is None else arrays.put(_short(part)) for part in parts]
            places.append([*place, texts.put("|".join(series.inside))] if series.inside else place)
        packed.append(
            [
                places,
                texts.put(chart.title),
                texts.put(chart.describe()),
                [texts.put(text) for text in chart.readouts.values()],
                [[texts.put(cell) for cell in row] for row in chart.rows()],
            ]
        )
    data = {
        "scales": scales,
        "kinds": [series.kind for series in frames[start].series],
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


def _labelled(picture: str, chart: Chart) -> str:
    label = html.escape(chart.describe(), quote=True)
    return picture.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _legend(chart: Chart) -> str:
    if len(chart.series) < 2:
        return ""
    items = "".join(
        f'<li><span class="sl-key sl-{series.kind}" style="color:var(--sl-tone-{series.tone})"></span>'
        f"{html.escape(series.label)}</li>" + _numbered(series.names)
        for series in chart.series
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
