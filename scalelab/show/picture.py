"""A chart as one file that needs nothing else: SVG, PNG or HTML, with its alt text inside.

An SVG follows the reader's light or dark and brings its own colours and legend.
"""

import io
import re
from pathlib import Path

from markupsafe import Markup

from scalelab.arguments import shown
from scalelab.files import atomic
from scalelab.refusal import Refusal
from scalelab.show import draw, page
from scalelab.show.chart import Chart
from scalelab.show.template import rendered

SUFFIXES = (".svg", ".png", ".html")
_OPENING = Markup('<svg role="img" aria-label="{}"')
_WORDS = Markup("<title>{}</title><desc>{}</desc>")
_STYLE = Markup(
    "<style>svg {{ {light} background: var(--sl-paper); font-family: system-ui, sans-serif }} "
    "@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}</style>"
)


def checked(path: str | Path) -> None:
    """Refuse a path where no picture can be written, before one is made."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise Refusal(
            f"plot must end in .svg, .png or .html, got {shown(str(path))}: it is the kind of picture"
        )
    atomic.checked(path)


def write(chart: Chart, path: str | Path) -> None:
    """Write a chart to a file of the kind that its ending names."""
    checked(path)
    make = {".svg": _svg, ".png": _png, ".html": _html}[Path(path).suffix.lower()]
    atomic.put(path, make(chart))


def _html(chart):
    return rendered("page.html", title=chart.title, body=page.figure(chart)).encode()


def _png(chart):
    figure = _titled(chart)
    out = io.BytesIO()
    figure.savefig(
        out,
        dpi=150,
        facecolor="white",
        metadata={"Description": chart.describe(), "Software": None},
    )
    return out.getvalue()


def _svg(chart):
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context(draw.style()):
        _titled(chart).savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    style = _STYLE.format(light=_declared(draw.LIGHT), dark=_declared(draw.DARK))
    opening = _OPENING.format(chart.describe())
    words = _WORDS.format(chart.title, chart.describe())
    return re.sub(
        r"<svg([^>]*)>",
        lambda found: f"{opening}{found[1]}>{words}{style}",
        draw.of_the_page(out.getvalue()),
        count=1,
    ).encode()


def _declared(colours):
    return " ".join(f"--sl-{name}: {colour};" for name, colour in colours.items())


def _titled(chart):
    """The figure with what a page would write around it: title and legend."""
    import matplotlib

    figure, axes = draw.drawing(chart)
    with matplotlib.rc_context(draw.style()):
        figure.set_size_inches(7.2, 4.8)
        axes.set_title(chart.title, loc="left", fontsize=12, color=draw.LIGHT["ink"], wrap=True)
        if len(chart.series) > 1:
            axes.legend(labelcolor=draw.LIGHT["ink"], fontsize=9.5)
    return figure
