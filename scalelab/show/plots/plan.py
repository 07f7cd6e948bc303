"""Section 3.9: a plan drawn, time over devices with its band, what it loses to, and the size to buy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.refusal import Refusal
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL

if TYPE_CHECKING:
    from scalelab.plan.plan import Plan
    from scalelab.plan.row import PlanRow

DAY = 86400


def sizes(plan: Plan) -> Chart:
    """Days of the run over devices, or seconds of a step where no end is given; the band and the deadline."""
    whole = plan.job.goal.tokens is not None
    rows = [one for one in plan.rows if one.fits and (not whole or math.isfinite(_days(one)))]
    fitting = bool(rows)
    rows = rows or list(plan.rows)
    if not rows:
        raise Refusal(
            f"{plan.job.name} must have a size to draw, got none with any layout: see its reasons"
        )
    whole = whole and all(math.isfinite(_days(one)) for one in rows)
    workers = np.array([one.workers for one in rows], dtype=float)
    times = np.array([_days(one) if whole else one.seconds for one in rows])
    ideal = times * [one.efficiency * (one.useful_share or 1.0) for one in rows]
    low, high = times / plan.band, times * plan.band
    label = "model" if fitting else "model, does not fit"
    within = "nine of ten published runs lay within"
    if len(rows) == 1:
        series = [
            Points(f"{label}; {within}", workers, times, "points", tone=1, low=low, high=high)
        ]
    else:
        series = [
            Points("matrix products alone", workers, ideal, "dashed", tone=0),
            Points(within, workers, times, "band", tone=1, low=low, high=high),
            Points(label, workers, times, tone=1),
        ]
    deadline = plan.job.goal.deadline
    if whole and deadline is not None:
        ends = workers if len(rows) > 1 else np.array([workers[0] / 2, workers[0] * 2])
        series.append(
            Points("deadline", ends, np.full(ends.shape, deadline / DAY), "dashed", tone=2)
        )
    readouts = {"Size to buy": "none" if plan.chosen is None else str(plan.chosen)}
    if plan.bought:
        at = plan.bought
        y = _days(at) if whole else at.seconds
        series.append(Points("size to buy", [at.workers], [y], "points", tone=3))
        readouts |= {
            "Step": units.text(at.seconds, "s"),
            "MFU": f"{at.mfu:.1%}",
            "Limited by": at.kind,
        }
        if at.dollars is not None:
            readouts["Bill"] = units.bill(at.dollars)
    what = "Days to the last token" if whole else "Seconds of a step"
    return Chart(
        f"{what} on {plan.job.cluster.device}, {units.text(plan.job.parameters / 1e9)} billion parameters",
        Axis("devices K", log=True, ticks=tuple(workers[:: max(1, len(workers) // 6)])),
        Axis("days" if whole else "seconds of a step", log=True),
        tuple(series),
        readouts,
        MODEL,
        "The farther the line lies above that of matrix products alone, the more is paid for something else. "
        "A size is safe where all of the band is under its limit, and a guess where only the line is."
        if whole and deadline is not None and len(rows) > 1
        else "",
    )


def _days(row: PlanRow) -> float:
    """Return the days of the whole run, without end where none is given."""
    return math.inf if row.run is None else row.run / DAY
