"""Section 3.9: where a step goes, what preempted runs cost, fits beyond their data, and the size to buy."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.cost import cost, preempted, sizing, spot, step
from scalelab.models.machines import failures
from scalelab.models.scaling import laws
from scalelab.plan import file, plan as planner
from scalelab.plan.row import PlanRow
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, Values, bars
from scalelab.show.sliders import Slider

if TYPE_CHECKING:
    from scalelab.curves.fit import Fit
    from scalelab.curves.predict import Prediction

# The wait has the colour of the stragglers in `shares`; what is no term has that of what is no data.
TONES = {"waiting": 4, "neither": 0}
DAY = 86400
SMALL = """
model = {layers = 32, hidden = 2560, heads = 20, vocabulary = 50304}
training = {sequence = 2048, batch_tokens = "1M"}
layout = {tensor = 1, pipeline = 1, overlap = "50%"}
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
    """Where a step goes over worker counts: its four terms, stacked to 100%."""
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
        see="Compute is the only part whose share falls with every doubling; in the end the exchange has "
        "nearly all that it gives up, and the stragglers are thin all the way.",
    )


def worth(
    compute: float, exchange: float, hourly: float, values: Values, most: int = 1024
) -> Chart:
    """Price and wait of a step together, over sizes, in multiples of the least: for each value of an hour."""
    # The best sizes too, or the table would read a chord beside each least.
    bests = np.atleast_1d(sizing.size_worth(compute, exchange, hourly, values))
    sizes = np.union1d(np.geomspace(1, most, 61).round(), bests)
    seconds = compute / sizes + exchange
    series = []
    for tone, (value, best) in enumerate(zip(values, bests, strict=True), 1):
        both = (hourly * sizes + value) * seconds
        least = (hourly * best + value) * (compute / best + exchange)
        series += [
            Points(f"an hour at ${value:,g}", sizes, both / least, tone=tone),
            Points(f"least at {best:.0f}", [best], [1.0], "points", tone=tone),
        ]
    return Chart(
        "Price and wait together, in multiples of the least",
        Axis("GPUs", log=True, ticks=(1, 4, 16, 64, 256, most)),
        Axis("times the least", log=True, ticks=(1, 2, 5, 10, 20, 50)),
        tuple(series),
        stamp=MODEL,
        see="Each curve is flat about its lowest point: half or twice the best size costs at most an eighth "
        "more. What an hour is worth moves that point, by the root of it.",
    )


def costup(memory: float, serial: float, most: int = 64) -> Chart:
    """Speedup beside costup, over workers that share a memory whose price does not grow with them."""
    workers = np.unique(np.geomspace(1, most, 49).round())
    gains = laws.amdahl(workers, serial)
    dearer = memory + (1 - memory) * workers
    # The two meet at one processor, and where memory and serial work are in balance.
    even = memory * (1 - serial) / ((1 - memory) * serial)
    return Chart(
        f"Speedup and costup, {memory:.0%} of the price memory and {serial:.0%} of the job serial",
        Axis("processors K", log=True, ticks=tuple(2.0 ** np.arange(0, np.log2(most) + 1))),
        Axis("times one processor", log=True, ticks=(1, 2, 4, 8, 16, 32, 64)),
        (
            Points("ideal S = K", workers, workers, "dashed", tone=0),
            Points("speedup", workers, gains, tone=1),
            Points("costup", workers, dearer, tone=2),
            Points(
                f"break-even: {even:.0f} processors",
                [even],
                [memory + (1 - memory) * even],
                "points",
                tone=3,
            ),
        ),
        stamp=MODEL,
        see="As long as the speedup lies above the costup, a result costs less than on one processor, "
        "however far both are below the ideal line.",
    )


def per_million(workers: Values, dollars: Mapping[str, ArrayLike]) -> Chart:
    """What a million pictures cost over sizes, for a batch that stays and for one that grows."""
    workers = np.asarray(workers, float)
    return Chart(
        "A million pictures, in the same batch or in one that grows",
        Axis("GPUs", log=True, ticks=tuple(workers)),
        Axis("dollars", low=0.0),
        tuple(
            Points(name, workers, amounts, "joined", tone=tone)
            for tone, (name, amounts) in enumerate(dollars.items(), 1)
        ),
        stamp=MODEL,
        see="A batch that grows pays most of its exchange with the first GPUs, and is nearly flat from there "
        "on. Both start alike. The one that stays is cheaper on 8 GPUs, where each has more samples for the "
        "same exchange, and dearer from 64 on, where each has fewer.",
    )


def overhead(share: float, measured_on: int) -> Chart:
    """One share of communication in two readings: as a share at one worker, and where it was measured."""
    workers = np.unique(np.geomspace(1, measured_on, 40).round())
    as_measured = laws.overhead_speedup(measured_on, share, measured_on)
    # Where Amdahl's law is at nine tenths of its ceiling, 1 / share.
    most = np.ceil(9 * (1 - share) / share - 1e-9)
    return Chart(
        f"What {share:.0%} means on {measured_on:,} GPUs",
        Axis("GPUs", log=True),
        Axis("times as fast as one", log=True),
        (
            Points("ideal", workers, workers, "dashed", tone=0),
            Points("as a serial share at one", workers, laws.amdahl(workers, share), tone=2),
            Points(
                f"as a share at {measured_on:,}", [measured_on], [as_measured], "points", tone=1
            ),
        ),
        stamp=MODEL,
        see=f"One share, read in two ways. If it is serial work of one worker, {most:.0f} GPUs have nine "
        f"tenths of all that any number could bring. If it was measured on {measured_on:,}, these are "
        f"{as_measured:,.0f} times as fast as one.",
    )


def apart(
    predicted: Mapping[str, float], found: Mapping[str, float], stamp: Stamp | None = None
) -> Chart:
    """The step that its terms add up to, each measured alone, above what it spent on each; in ms."""
    rows = {
        name: {part: 1e3 * seconds for part, seconds in parts.items()}
        for name, parts in (("predicted", predicted), ("in the step", found))
    }
    chart = bars.stacked(
        "One step on two workers: predicted from terms measured alone, and as it went",
        "ms",
        rows,
        stamp,
        "Compare colour with colour: a part that is longer below was predicted too short, one that is "
        "shorter too long, and a colour that is only below was not predicted at all.",
    )
    toned = (replace(one, tone=TONES.get(one.label, one.tone)) for one in chart.series)
    return replace(chart, series=tuple(toned))


def arithmetic(shares: Mapping[str, float], stamp: Stamp | None = None) -> Chart:
    """What of the arithmetic that was paid for each count finds used, in percent of the peak."""
    return bars.ranked(
        "Of the arithmetic paid for, this much counts as used",
        Axis("share of the peak, %", low=0.0, high=100.0),
        {name: 100 * share for name, share in shares.items()},
        stamp=stamp,
        see="The upper three are one run, counted in three ways. What its two MFUs lack was lost, within a "
        "GPU and between GPUs; its HFU holds the repeated work, too. The shares of GPT-3 follow from the "
        "rates with which its days were computed.",
    )


def gains(changes: Mapping[str, float], bound: float) -> Chart:
    """What each change of a plan would gain, before the most that its exchange could give back."""
    ranked = dict(sorted(changes.items(), key=lambda change: -change[1]))
    rates = list(ranked.values())
    return bars.ranked(
        "What would help, and the most that a better exchange could bring",
        Axis("times the rate", low=0.95 * min(1.0, *rates), high=1.05 * max(bound, *rates)),
        ranked,
        ("no exposed exchange at all", bound),
        MODEL,
        "Each bar leads from 1, the plan as it is; without one a change brings nothing, and to the left it "
        "is slower. Whatever works on the exchange ends before the dashed line; what passes that has "
        "changed more than the exchange.",
        start=1.0,
        inside=True,
    )


def classes(job: step.Step, workers: ArrayLike) -> Chart:
    """The shares of a step that decide its class, over worker counts, between the common thresholds."""
    workers = np.asarray(workers, dtype=float)
    whole = np.asarray(step.seconds(job, workers))
    terms = step.terms(job, workers)
    ends = [workers.min(), workers.max()]
    # Each in the colour of the line that it judges.
    thresholds = {
        "computation-bound above 90%": (90, 1),
        "communication-bound below 70%": (70, 1),
        "communication-bound above 30%": (30, 2),
        "computation-bound below 10%": (10, 2),
    }
    return Chart(
        "A step walks through its classes as workers are added",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("share of the step, %", low=-2.0, high=102.0, ticks=(0, 10, 30, 50, 70, 90, 100)),
        (
            Points("compute", workers, 100 * np.asarray(terms["compute"]) / whole, "joined", 1),
            Points(
                "exchange",
                workers,
                100 * np.asarray(terms["exchange"]) / whole,
                "joined",
                2,
            ),
            *(
                Points(name, ends, [at, at], "dashed", tone=tone)
                for name, (at, tone) in thresholds.items()
            ),
        ),
        stamp=MODEL,
        see="A dashed line has the colour of the line that it judges. Each class holds where both lines have "
        "passed its thresholds. With 70 to 90% of compute, or 10 to 30% of exchange, neither does, "
        "and that is where a step first shows what will limit it.",
    )


def public(runs: Mapping[str, tuple[float, float, float]], stamp: Stamp | None = None) -> Chart:
    """Scaling efficiencies as they are reported: each from its own base K0 to its K, (K0, K, SE)."""
    bases, most, reported = np.array(list(runs.values()), float).T
    x = np.column_stack([bases, most, np.full(most.size, np.nan)]).ravel()
    y = np.column_stack([np.ones(most.size), reported, np.full(most.size, np.nan)]).ravel()
    return Chart(
        "Scaling efficiency of public runs, from the base of each",
        Axis("GPUs", log=True),
        Axis("SE(K)", low=min(0.6, 0.95 * reported.min())),
        (
            Points("from its base", x, y, tone=1),
            Points("base", bases, np.ones(most.size), "points", tone=0),
            Points("reported", most, reported, "points", tone=2, names=tuple(runs)),
            Points("often called good", [bases.min(), most.max()], [0.9, 0.9], "dashed", tone=3),
        ),
        stamp=stamp,
        see="A line reaches over the factor that was scaled, and begins at the size that it is compared "
        "with. No two are of the same job, so a short one may well end below a long one.",
    )


def front(
    workers: Values,
    seconds: Values,
    dollars: Values,
    deadline: float,
    budget: float,
) -> Chart:
    """Hours and dollars of one job on every size, and what a deadline (in hours) and a budget leave."""
    hours, dollars = np.asarray(seconds, float) / 3600, np.asarray(dollars, float)
    limits = {
        "cheapest in time": sizing.cheapest_within(workers, hours * 3600, dollars, deadline * 3600),
        "fastest for the money": sizing.fastest_within(workers, hours * 3600, dollars, budget),
    }
    picked = [
        Points(f"{name}: {size} GPUs", hours[[at]], dollars[[at]], "points", tone=tone)
        for tone, (name, size) in zip((3, 5), limits.items(), strict=True)
        if size is not None
        for at in [list(workers).index(size)]
    ]
    low, high = 0.8 * dollars.min(), 1.3 * dollars.max()
    return Chart(
        "What sooner costs: one job, every size",
        Axis("hours until it is done", log=True),
        Axis("bill, dollars", log=True, low=low, high=high, ticks=(500, 700, 1000, 1500, 2000)),
        (
            Points(f"{min(workers)} GPU (right) to {max(workers)}", hours, dollars, "joined", 1),
            Points("deadline", [deadline, deadline], [low, high], "dashed", tone=2),
            Points("budget", [hours.min(), hours.max()], [budget, budget], "dashed", tone=4),
            *picked,
        ),
        stamp=MODEL,
        see="To the right the curve is flat: the first doublings are nearly free. To the left it turns up, "
        "and each doubling saves fewer hours for more dollars.",
    )


def grown(
    nodes: Values,
    seconds: Values,
    told: float,
    stamp: Stamp | None = None,
) -> Chart:
    """Times of a job that grows, and the last of them as it was predicted from the others."""
    nodes, seconds = np.asarray(nodes, float), np.asarray(seconds, float)
    low, high = min(*seconds, told), max(*seconds, told)
    room = 0.3 * (high - low)
    return Chart(
        "Three sizes shown, the fourth predicted and measured",
        Axis("nodes", log=True, ticks=tuple(nodes)),
        Axis("seconds", low=low - room, high=high + room),
        (
            Points("predicted", nodes[-1:], [told], "points", tone=2),
            Points("measured", nodes, seconds, "joined", tone=1),
        ),
        stamp=stamp,
        see="The fit lets the fourth time rise as gently as the three before. The measured one rises more.",
    )


def carbon(workers: Values, kilograms: Mapping[str, ArrayLike]) -> Chart:
    """Kilograms of CO₂ of one plan on every size, for each place whose grid feeds it."""
    workers = np.asarray(workers, float)
    return Chart(
        "The same run, fed by two grids",
        Axis("GPUs", log=True, ticks=tuple(workers)),
        Axis("kg of CO₂", log=True, ticks=(30, 50, 100, 200, 400)),
        tuple(
            Points(place, workers, amounts, "joined", tone=tone)
            for tone, (place, amounts) in enumerate(kilograms.items(), 1)
        ),
        stamp=MODEL,
        see="Both lines climb alike, and the gap between them is larger than all of the climb.",
    )


def night(
    workers: Values,
    hours: Values,
    asked: float,
    said: tuple[float, float, float],
    deadline: float,
    stamp: Stamp | None = None,
) -> Chart:
    """Hours on the sizes that were timed, what is said of the next (low, best, high), and a deadline."""
    workers, hours = np.asarray(workers, float), np.asarray(hours, float)
    low, best, high = said
    return Chart(
        f"Hours on what was timed, and on {asked:g} GPUs as predicted",
        Axis("GPUs", log=True, ticks=(*workers, asked)),
        Axis("hours", log=True, ticks=(10, 12, 20, 50, 100)),
        (
            Points("timed", workers, hours, "joined", tone=1),
            Points(
                f"{asked:g}: best guess, 90% interval",
                [asked],
                [best],
                "points",
                tone=2,
                low=[low],
                high=[high],
            ),
            Points("deadline", [workers.min(), asked], [deadline, deadline], "dashed", tone=0),
        ),
        stamp=stamp,
        see="The bar crosses the deadline. Whether it is met is not in the three points, however straight "
        "they lie.",
    )


def preemptions(price: float, machines: Values, useful: float = 24 * 3600.0) -> Chart:
    """The bill of a day's job on spot machines over that on demand, by formula and run by run."""
    line = np.union1d(np.geomspace(min(machines), max(machines), 40), machines)

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
        Axis("bill over that on demand", low=0.0),
        (
            Points("on demand", line, np.ones_like(line), "dashed", tone=0),
            Points("expected, by formula", line, np.array(expected) / on_demand, tone=1),
            Points(
                "400 runs: median, 5% to 95%", machines, middle, "points", 2, low=low, high=high
            ),
        ),
        stamp=MODEL,
        see="The runs lie around the formula. Where their curve crosses the dashed line the discount is used "
        "up, and from there on spot is the dearer offer.",
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
    line = np.union1d(np.geomspace(min(workers), most, 60), workers)
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
    ticks = tuple(2.0 ** np.arange(int(np.log2(most)) + 1))
    return Chart(
        title,
        Axis("workers K", log=True, ticks=ticks),
        Axis("seconds", log=True),
        (*series, Points("measured", workers, seconds, "points", tone=5)),
        stamp=stamp,
        see="Where there are points the lines cannot be told apart, and beyond them they leave each other. "
        "The band is learned from what such predictions have missed.",
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
    sizes = tuple(str(one) for one in workers)
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
    sooner = "none is bought" if at is None else "none is sooner"
    if more is not None:
        hour = cost.hour_saved(days[at] * DAY, bills[at], days[more] * DAY, bills[more])
        sooner = f"${hour:,.2f}"
    return Chart(
        f"GPUs at ${price:g} an hour, joined at {link:g} Gbit/s each",
        Axis("days until the model is trained", log=True, ticks=(0.25, 0.5, 1, 2, 4, 8)),
        Axis("bill, dollars", log=True, ticks=(1e3, 3e3, 1e4, 3e4, 1e5)),
        (
            # No size lies between two, so the table reads none there.
            Points("number of GPUs", days[::-1], bills[::-1], "joined", words=sizes[::-1]),
            Points("deadline", [deadline, deadline], [1e3, 1e5], "dashed", tone=2),
            Points("budget", [0.25, 8], [budget, budget], "dashed", tone=4),
            Points(
                "size to buy",
                [days[at] if at is not None else 1.0],
                [bills[at] if at is not None else np.nan],
                "points",
                tone=3,
            ),
        ),
        {
            "Size to buy": "none meets both limits" if at is None else f"{chosen} GPUs",
            "Bill": _least(bills[days <= deadline], units.bill, "in time")
            if at is None
            else units.bill(bills[at]),
            "Done in": _least(days[affordable], _days, "in the budget")
            if at is None
            else _days(days[at]),
            "Limited by": _in_the_way(days <= deadline, affordable)
            if at is None
            else rows[at].kind,
            "An hour sooner, next size": sooner,
        },
        MODEL,
        "The sizes are a path from the lower right up to the left. What may be bought lies to the left of "
        "one dashed line and below the other; the price moves the path, and the network bends it.",
    )


def _in_the_way(in_time, affordable):
    """Name the limits that no size keeps; or both, where each is kept by another size."""
    kept = {"deadline": in_time.any(), "budget": affordable.any()}
    return " and ".join([name for name, one in kept.items() if not one] or kept)


def _days(days):
    return units.text(days * DAY, "s")


def _least(values, written, where):
    """Write how near one comes to a limit where no size keeps both."""
    return f"{written(values.min())} at least, {where}" if values.size else f"no size is {where}"
