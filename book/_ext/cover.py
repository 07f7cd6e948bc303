"""The figure on the cover: what more nodes do to the hours and to the bill of one run.

A page asks for it with the directive `cover-figure`; scalelab computes it at the build, like all figures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from docutils import nodes
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
    "workers": Slider("nodes", COUNTS, start=1),
    "serial": Slider("hours only one node can do", (0, 1, 2, 4, 8, 16), start=4),
}
MOST = 200_000  # dollars, above the dearest run of the sliders


def bill(workers: float, serial: float) -> Chart:
    """Bill of a run over its hours, from one node to 512; `serial` hours are work that only one can do."""
    share = serial / HOURS
    hours = speedup.fixed_job_seconds(COUNTS, share, baseline=HOURS)
    mine = speedup.fixed_job_seconds(workers, share, baseline=HOURS)
    dollars = mine * workers * HOURLY
    useful = HOURS * HOURLY
    wall = serial if serial else np.nan  # zero has no place on a logarithmic axis
    return Chart(
        f"{units.counted(workers, 'node')}: {mine:.2f} hours for {units.bill(dollars)}",
        Axis("hours until the run is done", log=True, ticks=(1, 4, 10, 20, 40, 80)),
        Axis("bill, dollars", log=True, low=1_000, high=MOST, ticks=(1_600, 4_000, 10_000, 40_000)),
        (
            Points("1, 2, 4 ... 512 nodes", hours, COUNTS * hours * HOURLY, tone=1),
            Points("hours only one node can do", [wall, wall], [1_000, MOST], "dashed", 0),
            Points("your choice", [mine], [dollars], "points", tone=2),
        ),
        {
            "Done after": f"{mine:.2f} h",
            "Bill": units.bill(dollars),
            "Bought work": units.bill(useful),
            "Bought waiting": units.bill(dollars - useful),
        },
        MODEL,
    )


class CoverFigure(SphinxDirective):
    """The figure with its sliders, one node chosen: the answer is the reader's to find."""

    def run(self) -> list[nodes.Node]:
        """Make it anew whenever what draws it has changed."""
        folder, this = Path(self.env.app.srcdir), Path(__file__)
        for file in Package(folder).reached(this.read_text(encoding="utf-8")):
            self.env.note_dependency(str(folder / file))
        self.env.note_dependency(str(this))
        return [nodes.raw("", Replay(bill, SLIDERS).html(), format="html")]


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("cover-figure", CoverFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
