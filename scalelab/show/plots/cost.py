"""Section 3.9: where a step goes, what preempted runs cost, fits beyond their data, and the size to buy."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.cost import cost, preempted, sizing, spot, step
from scalelab.models.machines import failures
from scalelab.plan import file, plan as planner
from scalelab.plan.row import PlanRow
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, Values
from scalelab.show.sliders import Slider

if TYPE_CHECKING:
    from scalelab.curves.fit import Fit
    from scalelab.curves.predict import Prediction

DAY = 86400
SMALL = """
model = {layers = 32, hidden = 2560, heads = 20, vocabulary = 50304}
training = {sequence = 2048, batch_tokens = "1M"}
layout = {tensor = 1, pipeline = 1, overlap = "50 %"}
goal = {tokens = "50B", deadline = "4 d"}

[cluster]
node = "DGX A100"
outside = "10 Gbit/s"  # of network for each GPU
sizes = [8, 16, 32, 64, 128, 256]
largest = 256
price = 2.0  # dollars per GPU and hour: invented
idle_power = "100 W"
mean_time_between_failures = "50000 h"
"""
BUDGET = 6000.0  # dollars, for the figure one can move
# In the rendered book these two start from the reader's own price and link.
PRICE = Slider("dollars per GPU and hour", (1, 1.5, 2, 3, 4, 6), start=2, follows="price")
GBIT = (2.5, 5, 10, 25, 50, 100, 200, 400, 3600)
BYTES = tuple(one * 1e9 / 8 for one in GBIT)
LINK = Slider("network, Gbit/s per GPU", GBIT, start=10, follows="network", near=BYTES)


def shares(job: step.Step, workers: ArrayLike, stamp: Stamp | None = MODEL) -> Chart:
    """Where a step goes over worker counts: its four terms, stacked to 100 %."""
    workers = np.asarray(workers, dtype=float)
    parts = {name: np.asarray(part) for name, part in step.terms(job, workers).items()}
    whole = sum(parts.values())
    series, below = [], np.zeros_like(whole)
    for tone, (name, part) in enumerate(parts.items(), 1):
        if not part.any():
            continue
        share = 100 * part / whole
        above = below + share
        series.append(Points(name, workers, share, "part", tone=tone, low=below, high=above))
        below = above
    return Chart(
        "Where a step of the same batch goes, as workers are added",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("share of the step, %", low=0.0, high=100.0),
        tuple(series),
        stamp=stamp,
    )


def preemptions(price: float, machines: Values, useful: float = 24 * 3600.0) -> Chart:
    """The bill of a day's job on spot machines over that on demand, by formula and run by run."""
    line = np.geomspace(min(machines), max(machines), 40)

    def offer(count):
        return spot.Spot(price, failures.mean_time_to_failure(DAY, count), write=60, restart=300)

    def interval(one):
        return max(failures.daly_interval(one.write, one.between), one.write)

    expected = [spot.dollars(useful, interval(one), one) for one in map(offer, line)]
    played = [
        preempted.runs(useful, interval(one), one, 400, seed=39).dollars
        for one in map(offer, machines)
    ]
    on_demand = cost.dollars(useful, 1.0)
    low, middle, high = (np.percentile(played, (5, 50, 95), axis=1) / on_demand).tolist()
    return Chart(
        f"Spot at {price:.0%} of the price, each machine taken away once a day",
        Axis("machines that the job needs", log=True, ticks=tuple(machines)),
        Axis("bill over that on demand", log=True, ticks=(0.3, 0.5, 1, 2, 3)),
        (
            Points("on demand", line, np.ones_like(line), "dashed", tone=0),
            Points("expected, by formula", line, np.array(expected) / on_demand, tone=1),
            Points(
                "400 runs: median, 5% to 95%", machines, middle, "points", 2, low=low, high=high
            ),
        ),
        stamp=MODEL,
    )


def beyond(
    title: str,
    workers: Values,
    seconds: ArrayLike,
    fits: Mapping[str, Fit],
    most: float,
    stamp: Stamp | None = None,
    said: Sequence[Prediction] = (),
) -> Chart:
    """Times that were measured, what each fitted family says far beyond them, and intervals, if given."""
    line = np.geomspace(min(workers), most, 60)
    series = []
    for tone, (name, fit) in enumerate(fits.items(), 1):
        rate = fit.rate(line)
        times = np.where(rate > 0, 1 / np.where(rate > 0, rate, 1), np.nan)
        series.append(Points(name, line, times, tone=tone))
    if said:
        sizes, middle, low, high = np.array([(p.workers, p.value, p.low, p.high) for p in said]).T
        label = f"{said[0].level:.0%} interval from the last sizes"
        series.insert(
            0, Points(label, sizes, middle, "band", tone=len(fits) + 2, low=low, high=high)
        )
    ticks = tuple(2.0 ** np.arange(0, int(np.log2(most)) + 1, 2))
    return Chart(
        title,
        Axis("workers K", log=True, ticks=ticks),
        Axis("seconds", log=True),
        (*series, Points("measured", workers, seconds, "points", tone=5)),
        stamp=stamp,
    )


@cache
def rows_at(link: float) -> tuple[PlanRow, ...]:
    """Return the rows of the small plan with a network of so many Gbit/s for each GPU."""
    tables = tomllib.loads(SMALL)
    tables["cluster"]["outside"] = f"{link:g} Gbit/s"
    return planner.plan(file.described(tables)).rows


def to_buy(price: float, deadline: float, link: float, budget: float = BUDGET) -> Chart:
    """Days and dollars of the small plan on every size, and the cheapest size that meets both limits."""
    rows = rows_at(link)
    workers = np.array([one.workers for one in rows])
    days = np.array([one.run for one in rows]) / DAY
    bills = cost.dollars(days * DAY, price * workers)
    affordable = bills <= budget
    chosen = (
        sizing.cheapest_within(
            workers[affordable], days[affordable] * DAY, bills[affordable], deadline * DAY
        )
        if affordable.any()
        else None
    )
    at = int(np.flatnonzero(workers == chosen)[0]) if chosen else None
    more = at + 1 if at is not None and at + 1 < len(rows) and days[at + 1] < days[at] else None
    hour = more and cost.hour_saved(days[at] * DAY, bills[at], days[more] * DAY, bills[more])
    return Chart(
        f"GPUs at ${price:g} an hour, joined at {link:g} Gbit/s each",
        Axis("days until the model is trained", log=True, ticks=(0.25, 0.5, 1, 2, 4, 8)),
        Axis("bill, dollars", log=True, ticks=(1e3, 3e3, 1e4, 3e4, 1e5)),
        (
            Points("8 GPUs (below) to 256 (above)", days[::-1], bills[::-1], tone=1),
            Points("sizes, doubling upward", days[::-1], bills[::-1], "points", tone=1),
            Points("deadline", [deadline, deadline], [1e3, 1e5], "dashed", tone=0),
            Points("budget", [0.25, 8], [budget, budget], "dashed", tone=4),
            Points(
                "size to buy",
                [days[at] if at is not None else 1.0],
                [bills[at] if at is not None else np.nan],
                "points",
                tone=2,
            ),
        ),
        {
            "Size to buy": "none meets both limits" if at is None else f"{chosen} GPUs",
            "Bill": "" if at is None else units.bill(bills[at]),
            "Done in": "" if at is None else units.text(days[at] * DAY, "s"),
            "Limited by": "" if at is None else rows[at].kind,
            "An hour sooner, next size": f"${hour:,.2f}" if hour else "",
        },
        MODEL,
    )
