"""Section 41.6: what is asked of a configuration, and which one then remains."""

from __future__ import annotations

import numpy as np

from scalelab.rubric import rubric, text
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL

# The study of the section, with an accuracy that slips as batches grow.
WORKERS = (1, 2, 4, 8, 16, 32)
SECONDS = (3600.0, 1880.0, 1010.0, 560.0, 340.0, 250.0)
SLIPPING = (0.871, 0.871, 0.870, 0.869, 0.865, 0.858)


def recommended(floor: float, tolerance: float, deadline: str, price: float) -> Chart:
    """The same six rows under other demands; `price` is of a worker and hour, the budget $2."""
    rows = rubric.columns(
        WORKERS, SECONDS, rate=np.multiply(price, WORKERS), quality=SLIPPING, metric="accuracy"
    )
    end = None if deadline == "none" else float(deadline)
    report = rubric.judge(rows, floor=floor, tolerance=tolerance, budget=2.0, deadline=end)

    def only(keeps):
        return [row.efficiency if keeps(row) else np.nan for row in report.rows]

    picked = report.recommended
    row = None if picked is None else report.row(picked)
    return Chart(
        "What remains of six configurations",
        Axis("workers K", log=True, ticks=WORKERS),
        Axis("efficiency", low=0.0, high=1.05),
        (
            Points("floor", WORKERS, np.full(len(WORKERS), floor), "dashed", tone=0),
            Points("fails the gate", WORKERS, only(lambda r: not r.passes_gate), "points", tone=4),
            Points(
                "misses a limit",
                WORKERS,
                only(lambda r: r.passes_gate and r.missed),
                "points",
                tone=2,
            ),
            Points("may be recommended", WORKERS, only(lambda r: r.eligible), "points", tone=1),
            Points("recommended", WORKERS, only(lambda r: r.workers == picked), "points", tone=3),
        ),
        {
            "Recommended": "none" if row is None else f"K = {picked}",
            "Speedup": "–" if row is None else f"{row.speedup:.2f}×",
            "Dollars of the run": "–" if row is None else f"{row.cost:.2f}",
            "Accuracy lost": "–" if row is None else f"{row.gate.loss:.3f}",
            "Because": text.reason(report) if row is not None else _nearest(report),
        },
        MODEL,
    )


def _nearest(report):
    """What speaks against all of them."""
    missed = {name for row in report.rows if row.passes_gate for name in row.missed}
    return "every row that passes the gate misses " + " or ".join(sorted(missed))
