"""The public series to look at: all of them over each other, a filter, and a card for each.

A page asks for it with the directive `public-series`; it is made from the data at the build.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from docutils import nodes
from markupsafe import Markup
from reach import Package
from sphinx.util.docutils import SphinxDirective
from tracing import HIGH, TOP, WIDE, Curve, Gains, curve, gains, middle, overlaid

from scalelab import units
from scalelab.data import datasets
from scalelab.data.datasets import Series
from scalelab.show.template import rendered

HERE = Path(__file__)
FILES = ("gallery.css", "gallery.js")
MARK = 'class="sl-gallery"'
# Up to the first comma that is in no brackets and in no number.
HEAD = re.compile(r"(?:\([^)]*\)|(?<=\d),(?=\d{3})|[^,;])*")


@dataclass(frozen=True)
class Kind:
    """What stayed fixed: its word in the data and on the page, and its colour."""

    scaling: str
    word: str
    tone: int

    @property
    def key(self) -> str:
        """The name of the kind in classes and addresses."""
        return self.scaling or "none"


KINDS = (
    Kind("strong", "strong", 1),
    Kind("weak", "weak", 2),
    Kind("load", "load", 3),
    Kind("", "not scaling", 4),
)


@dataclass(frozen=True)
class Card:
    """One series and how it looks."""

    series: Series
    kind: Kind
    head: str
    rest: str
    sizes: str
    fixed: str
    curve: Curve


@dataclass(frozen=True)
class Line:
    """One series in the overlay."""

    name: str
    kind: Kind
    points: str


def sizes(series: Series) -> str:
    """Return how many sizes of what a series has.

    >>> sizes(datasets.load("usl_raytracer"))
    '11 sizes from 1 to 64 processors'
    >>> sizes(datasets.load("nccl_allreduce_8xH200_payload"))
    '20 rows at 8 GPUs'
    """
    each = sorted(set(series.workers))
    first, last = (units.text(size, digits=9) for size in (each[0], each[-1]))
    rows = len(series.workers)
    if len(each) == 1:
        return f"{rows} rows at {first} {series.counted}"
    again = f"{rows} rows at " if rows > len(each) else ""
    return f"{again}{len(each)} sizes from {first} to {last} {series.counted}"


def headed(note: str) -> tuple[str, str]:
    """Return what a series is of, and the rest of its note.

    >>> headed("U-Net (5, 64), torchgpipe, on P40")
    ('U-Net (5, 64)', ', torchgpipe, on P40')
    >>> headed("1.7 to 1,008 G parameters; an image")
    ('1.7 to 1,008 G parameters', '; an image')
    """
    head = HEAD.match(note)[0]
    return head, note[len(head) :]


def fixed(series: Series) -> str:
    """Return what stayed the same, and what the source says did if that is something else.

    >>> fixed(datasets.load("nv_bert_tf2_a100_seq128_fp16"))
    'strong, published as weak'
    """
    otherwise = series.claimed not in ("", series.scaling)
    word = series.scaling or "none of the three"
    return f"{word}, published as {series.claimed}" if otherwise else word


def summary(lines: list[tuple[Kind, Gains]]) -> str:
    """Return what the overlay shows, in words, and what its bold lines are."""
    said = []
    for kind in KINDS:
        ends = [gained.efficiency[-1] for one, gained in lines if one is kind]
        if ends:
            share = units.text(100 * float(np.median(ends)), digits=2)
            said.append(f"{kind.word}, {len(ends)} lines, {share}%")
    bold = (
        "A bold line is the median of its kind after each number of doublings, as far as half of its lines "
        "reach."
    )
    return f"{bold} With each line taken at its own largest size the median is another: {'; '.join(said)}."


def cut(lines: list[tuple[Kind, Gains]]) -> str:
    """Return how many lines leave the overlay at its top, and how far."""
    above = [gained.efficiency.max() for _, gained in lines if gained.efficiency.max() > TOP]
    if not above:
        return ""
    return f"{units.counted(len(above), 'line')} rise above {TOP}, to {max(above):.2f}, and are cut there."


def html() -> Markup:
    """Return the overlay, the filter and the cards."""
    series = [datasets.load(name) for name in datasets.names()]
    kinds = {kind.scaling: kind for kind in KINDS}
    cards = [
        Card(one, kinds[one.scaling], *headed(one.note), sizes(one), fixed(one), curve(one))
        for one in series
    ]
    gained = [(one.name, kinds[one.scaling], found) for one in series if (found := gains(one))]
    drawn = [(kind, found) for _, kind, found in gained]
    most = int(np.ceil(max(found.doublings[-1] for _, found in drawn)))
    return rendered(
        "gallery.html",
        kinds=KINDS,
        counts=Counter(one.scaling for one in series),
        drawn=Counter(kind.scaling for kind, _ in drawn),
        cards=cards,
        lines=[Line(name, kind, overlaid(found)) for name, kind, found in gained],
        middles=[
            (kind, middle(found for one, found in drawn if one is kind))
            for kind in KINDS
            if any(one is kind for one, _ in drawn)
        ],
        summary=summary(drawn),
        cut=cut(drawn),
        doublings=range(most + 1),
        shares=[part / 5 for part in range(round(5 * TOP) + 1)],
        top=TOP,
        wide=WIDE * most,
        high=round(HIGH * TOP),
        a_doubling=WIDE,
        whole=HIGH,
    )


def read_from(folder: Path) -> list[Path]:
    """Return the files that the gallery is made from: the data, and what draws them."""
    ours = [HERE, HERE.with_name("tracing.py")]
    reached = [Package(folder).reached(file.read_text(encoding="utf-8")) for file in ours]
    return ours + [folder / file for file in sorted(set().union(*reached))]


class PublicSeries(SphinxDirective):
    """The gallery."""

    def run(self) -> list[nodes.Node]:
        """Make it anew whenever the data have changed, or what draws them."""
        for file in read_from(Path(self.env.app.srcdir)):
            self.env.note_dependency(str(file))
        return [nodes.raw("", html(), format="html")]


def bring_files(app, page, template, context, doctree):
    """Give its style and its script to the page that shows it, and to no other."""
    if MARK in context.get("body", ""):
        style, script = FILES
        app.add_css_file(style)
        app.add_js_file(script, loading_method="defer")


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("public-series", PublicSeries)
    app.connect("html-page-context", bring_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
