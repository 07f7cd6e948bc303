"""The figures on the cover: what more nodes do to the bill of one run, and how the sections hang together.

A page asks for them with the directives `cover-figure` and `cover-map`. scalelab computes the first at the
build, like all figures; the second is a list of links, in which each line leads to the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from docutils import nodes
from markupsafe import Markup
from reach import Package
from sphinx.util.docutils import SphinxDirective

from scalelab import units
from scalelab.models.scaling import speedup
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS
from scalelab.show.sliders import Replay, Slider

HOURS, HOURLY = 80.0, 20.0  # of the run on one node, and dollars for a node
COUNTS = POWERS[POWERS <= 512]
SLIDERS = {
    "workers": Slider("nodes", COUNTS, start=16),
    "serial": Slider("hours only one node can do", (0, 1, 2, 4, 8, 16), start=4),
}
MOST = 320_000  # dollars, above the dearest run of the sliders and its name
TICKS = (1_600, 5_000, 16_000, 50_000, 160_000)
DIGIT, LINE = 2.0, 1.35  # the hours that a digit of a name is wide, and the ratio that it is high


def bill(workers: float, serial: float) -> Chart:
    """Bill of a run over its hours, from one node to `workers`; `serial` hours are for one node alone."""
    share = serial / HOURS
    counts = COUNTS[workers >= COUNTS]
    hours = speedup.fixed_job_seconds(counts, share, baseline=HOURS)
    mine = speedup.fixed_job_seconds(workers, share, baseline=HOURS)
    dollars = mine * workers * HOURLY
    useful = HOURS * HOURLY
    bills = counts * hours * HOURLY
    return Chart(
        f"{units.counted(workers, 'node')}: {mine:.2f} hours for {units.bill(dollars)}",
        Axis("hours until the run is done", ticks=(0, 20, 40, 60, 80)),
        Axis("bill, dollars", log=True, low=1_000, high=MOST, ticks=TICKS),
        (
            Points("1, 2, 4 ... nodes", hours, bills, "joined", words=_names(counts, hours, bills)),
            Points("hours only one node can do", [serial, serial], [1_000, MOST], "dashed", 0),
            Points("your choice", [mine], [dollars], "points", tone=2),
        ),
        {
            "Done after": f"{mine:.2f} h",
            "Bill": units.bill(dollars),
            "Bought work": units.bill(useful),
            "Bought waiting": units.bill(dollars - useful),
        },
        MODEL,
        "Upwards the dollars grow about threefold from line to line.",
    )


def _names(counts: np.ndarray, hours: np.ndarray, bills: np.ndarray) -> tuple[str, ...]:
    """Return the nodes of each mark, from the last one back, and nothing where that would cover a name."""
    names, free, low = [], 0.0, np.inf
    for count, hour, dollars in zip(counts[::-1], hours[::-1], bills[::-1], strict=True):
        name = f"{count:.0f}" if hour >= free or dollars <= low else ""
        names.append(name)
        if name:
            free, low = hour + DIGIT * len(name), dollars / LINE
    return tuple(reversed(names))


@dataclass(frozen=True)
class Section:
    """A page on the map: its file, its number with a short name, and what it hands to the next."""

    slug: str
    name: str
    hands: str = ""


@dataclass(frozen=True)
class Question:
    """One of the five questions, the sections that answer it, and what they hand to the last question."""

    words: str
    sections: tuple[Section, ...]
    hands: str = ""


MAP = (
    Question(
        "What is the serial fraction?",
        (Section("01_speedup", "3.1 Speedup", "two timings"), Section("05_laws", "3.5 Two laws")),
        "seconds that stay",
    ),
    Question(
        "Will the problem grow as the cluster does?",
        (Section("03_study", "3.3 Strong and weak"),),
        "work of each worker",
    ),
    Question(
        "Is it bound by compute or by memory?",
        (
            Section("02_hardware", "3.2 Hardware", "peaks"),
            Section("07_roofline", "3.7 Roofline"),
        ),
        "seconds of computing",
    ),
    Question(
        "What do the collectives cost?",
        (
            Section("06_workdepth", "3.6 Depth", "rounds"),
            Section("08_network", "3.8 Messages", "waits"),
            Section("04_tail", "3.4 Tails"),
        ),
        "seconds of exchange",
    ),
    Question(
        "Is the efficiency worth the dollars?",
        (Section("09_cost", "3.9 Cost", "dollars"), Section("10_rubric", "41.6 Verdict")),
    ),
)


def page_map(address: Callable[[str], str]) -> Markup:
    """The questions with their sections as links, given the address of each page of the book."""
    lines = []
    for number, one in enumerate(MAP, 1):
        way = Markup("").join(
            Markup('<a href="{}">{}</a>').format(address(f"chapters/{section.slug}"), section.name)
            + _hands(section.hands)
            for section in one.sections
        )
        ask = Markup('<span class="map-ask"><b>{}</b> {}</span>').format(number, one.words)
        lines.append(
            Markup('<li>{}<span class="map-way">{}</span>{}</li>').format(
                ask, way, _hands(one.hands)
            )
        )
    return Markup(
        '<figure class="book-map"><ol>{}</ol><figcaption>The five questions, the sections that answer '
        "them, and the numbers that one hands to the next: the first four together make the seconds of a "
        "step, and the fifth makes dollars of them.</figcaption></figure>"
    ).format(Markup("").join(lines))


def _hands(words):
    return Markup('<span class="map-hands">{}</span>').format(words) if words else Markup("")


class Map(nodes.General, nodes.Element):
    """The place of the map: addresses of pages are known when pages are written."""


class CoverMap(SphinxDirective):
    """The map of the book, with a link to each of its sections."""

    def run(self) -> list[nodes.Node]:
        """Make it anew whenever this file has changed."""
        self.env.note_dependency(str(Path(__file__)))
        return [Map(here=self.env.docname)]


def write_map(writer, node):
    """Write the map into a page, or into the one page of all pages."""
    writer.body.append(page_map(lambda page: writer.builder.get_relative_uri(node["here"], page)))
    raise nodes.SkipNode


class CoverFigure(SphinxDirective):
    """The figure with its sliders, at 16 nodes: what 512 do is the reader's to find."""

    def run(self) -> list[nodes.Node]:
        """Make it anew whenever what draws it has changed."""
        folder, this = Path(self.env.app.srcdir), Path(__file__)
        for file in Package(folder).reached(this.read_text(encoding="utf-8")):
            self.env.note_dependency(str(folder / file))
        self.env.note_dependency(str(this))
        return [nodes.raw("", Replay(bill, SLIDERS).html(), format="html")]


def setup(app):
    """Add the directives to Sphinx."""
    app.add_node(Map, html=(write_map, None))
    app.add_directive("cover-map", CoverMap)
    app.add_directive("cover-figure", CoverFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
