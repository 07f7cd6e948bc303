"""A rubric for people: the table, and the figures of speedup, efficiency and cost.

Columns and digits are those in which a capstone is usually reported. Colours: 1 measured, 2 fitted, 3
recommended, 0 what is not data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.curves.families import BY_NAME
from scalelab.rubric.gate import LEVEL
from scalelab.rubric.spread import bound
from scalelab.rubric.text import lot, named, reason
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.columns import Table, table

if TYPE_CHECKING:
    from scalelab.rubric.report import Report

_POINTS = 60
_FEW = 12  # rows that have room for a name each
_SURE = f"{LEVEL:.0%} for each end"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LAWS = {"strong": ("Amdahl", BY_NAME["amdahl"]), "weak": ("Gustafson", BY_NAME["gustafson"])}


def scores(report: Report) -> Table:
    """Return one row per configuration: the four metrics, energy where there is one, and the gate."""
    rows = report.rows
    count, write, lots = _priced(report)
    columns: dict[str, list] = {
        "K": [row.workers for row in rows],
        "T(K)": _times([row.seconds for row in rows]),
        "speedup": [f"{row.speedup:.2f}" for row in rows],
        "efficiency": [units.share(row.efficiency) for row in rows],
        **_split(rows),
        report.metric: [_quality(row.quality, report) for row in rows],
        **_bills([row.cost for row in rows]),
    }
    if report.work_stated:  # else a run is the unit, and its price stands there already
        columns[f"$/{lots}"] = [write(count * row.cost_per_work) for row in rows]
        columns[f"{lots}/$"] = [write(row.work_per_cost / count) for row in rows]
    if any(row.joules_per_work is not None for row in rows):
        columns["J/work"] = units.column([row.joules_per_work for row in rows], none="–")
    if any(row.grams is not None for row in rows):
        columns["g CO2"] = units.column([row.grams for row in rows], none="–")
    if any(row.latency is not None for row in rows):
        columns["latency"] = units.column([row.latency for row in rows], "s", none="–")
    return table(columns, f"{report.name}: four metrics of each row", stamp=report.stamp)


def _split(rows):
    """The two factors of an efficiency to a target, where the training it took is known."""
    if all(row.learning is None for row in rows):
        return {}
    named = {"of the machines": "system", "of the learning": "learning"}
    return {
        text: ["–" if (value := getattr(r, name)) is None else units.share(value) for r in rows]
        for text, name in named.items()
    }


def gates(report: Report) -> Table:
    """Return one row per configuration: quality against the baseline, the limits, what it implies of s."""
    rows = report.rows
    columns: dict[str, list] = {
        "K": [row.workers for row in rows],
        "runs": [row.runs for row in rows],
        "gate": [row.gate.verdict for row in rows],
        f"loss of quality ({_SURE})": [_loss(row, report) for row in rows],
        "limits": [", ".join(row.missed) or "met" for row in rows],
        "Karp-Flatt": [_implied(row) for row in rows],
    }
    return table(
        columns,
        f"{report.name}: the gate, the limits, and the serial fraction of each row",
        stamp=report.stamp,
    )


def certain(report: Report) -> Table:
    """Return one row per configuration: speedup, efficiency and cost between what the runs allow.

    Each end is one-sided at the level of the gate; without replicates there is no interval.
    """
    rows = report.rows
    count, _, lots = _priced(report)
    columns: dict[str, list] = {
        "K": [row.workers for row in rows],
        "runs": [row.runs for row in rows],
        "speedup": [_between(row.speedup_spread, "{:.2f}".format) for row in rows],
        "faster": [_word(row, report, speedup=1.0) for row in rows],
        "efficiency": [_between(row.efficiency_spread, "{:.3f}".format) for row in rows],
        "keeps the floor": [_word(row, report, efficiency=report.limits.floor) for row in rows],
        f"$/{lots}": [_between(row.cost_spread.times(count), units.text) for row in rows],
        "quality": [row.gate.verdict for row in rows],
    }
    return table(columns, f"{report.name}: how sure, {_SURE}", stamp=report.stamp)


def supported(report: Report, workers: int, **stated: float) -> Table:
    """Return what the runs of one size say of a claim, a row for each number that it states."""
    row = report.row(workers)
    answers, ends = row.supports(**stated), row.spreads
    told = {name: named(report, name) for name in stated}
    columns: dict[str, list] = {
        "claimed": [
            f"{label} at {bound(name)} {units.text(count * stated[name])}"
            for name, (label, count) in told.items()
        ],
        "the runs allow": [
            f"{count * ends[name].low:.3g} to {count * ends[name].high:.3g}"
            for name, (_, count) in told.items()
        ],
        "verdict": list(answers.values()),
    }
    title = f"{report.name}: a claim about {units.counted(workers)}, {_SURE}"
    return table(columns, title, stamp=report.stamp)


def findings(report: Report) -> dict[str, str]:
    """Return the lines under the table: what the rows say together, by name."""
    lines = {}
    serial = report.serial
    if serial is not None:
        law, _ = _LAWS[report.scaling]
        low, high = serial.low, serial.high
        spread = "no row to spare" if low is None else f"{low:.4f} to {high:.4f}, 90%"
        base = f"of the time on {units.counted(report.baseline)}"
        lines[f"serial fraction s ({law})"] = f"{serial.value:.4f} ({spread}) {base}"
        largest = report.rows[-1]
        if report.scaling == "strong":
            lines["ceiling 1/s"] = "none" if not serial.value else f"{serial.ceiling:.1f}x"
        lines[f"speedup at K = {largest.workers}"] = (
            f"measured {largest.speedup:.2f}x, model {report.predicted_speedup:.2f}x"
        )
    answer = {True: "yes", False: "no", None: "undecided"}[report.quality_held]
    lines["quality held"] = f"{answer} (largest drift {_quality(report.max_drift, report)})"
    lines["cheapest per work"] = f"K = {report.cheapest}"
    efficient = report.largest_efficient
    lines[f"efficiency >= {report.limits.floor:.2f} up to"] = (
        "nowhere" if efficient is None else f"K = {efficient}"
    )
    lines["not beaten in time and cost"] = "K = " + ", ".join(map(str, report.pareto))
    picked = "none" if report.recommended is None else f"K = {report.recommended}"
    lines["recommended"] = f"{picked}: {reason(report)}"
    return lines


def speedup(report: Report) -> Chart:
    """Return the figure of speedup: measured, the ideal, and the law that was fitted."""
    x, factors = _curve(report)
    series = [
        _points("measured", report, [row.speedup for row in report.rows]),
        Points("ideal", x, factors, "dashed", 0),
    ]
    if report.serial is not None:
        name, law = _LAWS[report.scaling]
        modelled = law.curve(factors, 1.0, report.serial.value)
        series.append(Points(f"{name}, s = {report.serial.value:.4f}", x, modelled, "line", 2))
        ceiling = report.serial.ceiling
        if report.scaling == "strong" and 1 < ceiling < 4 * factors[-1]:
            flat = np.full(2, ceiling)
            series.append(Points(f"ceiling 1/s = {ceiling:.1f}", x[[0, -1]], flat, "dashed", 2))
    series += _picked(report, "speedup")
    title = f"Speedup over {units.counted(report.baseline)}"
    ticks = _apart([row.workers / report.baseline for row in report.rows])
    y = Axis("speedup", log=True, ticks=ticks)
    see = (
        "How far a point lies below the dashed ideal is what the workers lost. A curve through the points is "
        "the law fitted to them, and no proof of the cause that it is named after."
    )
    return Chart(title, _axis(report), y, tuple(series), stamp=report.stamp, see=see)


def efficiency(report: Report) -> Chart:
    """Return the figure of efficiency, with the floor."""
    x = np.array([report.rows[0].workers, report.rows[-1].workers], float)
    series = [_points("measured", report, [row.efficiency for row in report.rows])]
    if report.limits.floor:
        floor = f"floor {units.text(report.limits.floor)}"
        series.append(Points(floor, x, np.full(2, report.limits.floor), "dashed", 0))
    series += _picked(report, "efficiency")
    title = "Efficiency: the share of the paid workers that did useful work"
    axis = Axis("efficiency", low=0.0)
    see = (
        "One minus the height of a point is what was paid and bought no work."
        + " What lies under the floor is too dear, however fast it is." * bool(report.limits.floor)
    )
    return Chart(title, _axis(report), axis, tuple(series), stamp=report.stamp, see=see)


def cost(report: Report) -> Chart:
    """Return the figure of cost against time, with the rows that no other beats.

    Of the whole run where every row does the same work, else of a unit of it.
    """
    same = report.scaling == "strong"
    x, y = ("seconds", "cost") if same else ("time", "cost_per_work")
    per = "of the run" if same else "per unit of work"

    def at(label, rows, kind="points", tone=1, sized=False):
        words = tuple(f"K = {r.workers}" for r in rows) if sized else ()
        across, up = [getattr(r, x) for r in rows], [getattr(r, y) for r in rows]
        return Points(label, across, up, kind, tone, words=words)

    # From the left, or the name of the slowest would take the place of its neighbour's.
    ranked = [row for row in reversed(report.rows) if row.passes_gate]
    out = [row for row in report.rows if not row.passes_gate]
    front = sorted((row for row in ranked if row.workers in report.pareto), key=lambda r: r.time)
    few = len(report.rows) <= _FEW
    series = [at("holds quality", ranked, sized=few)]
    if len(front) > 1:  # below the points
        series.insert(0, at("not beaten in time and cost", front, "dashed", 0))
    if out:
        series.append(at("lost quality, or undecided", out, tone=4, sized=few))
    if report.recommended is not None:
        picked = report.row(report.recommended)
        series.append(at(f"recommended, K = {picked.workers}", [picked], tone=3))
    ticks = _apart([getattr(row, x) for row in report.rows])
    return Chart(
        "Cost against time: what sooner costs, where quality holds",
        Axis(f"seconds {per}", log=True, ticks=ticks),
        # With air above the highest point, where its name stands clear of the dashes.
        Axis(f"dollars {per}", low=0.0, high=1.12 * max(getattr(row, y) for row in report.rows)),
        tuple(series),
        stamp=report.stamp,
        see="To the left is sooner, and below is cheaper. Along the dashed line sooner costs more; a point "
        "above and to the right of another point is beaten in both.",
    )


def _points(label, report, values):
    workers = [row.workers for row in report.rows]
    return Points(label, workers, values, "points", 1)


def _picked(report, name):
    if report.recommended is None:
        return []
    row = report.row(report.recommended)
    label = f"recommended, K = {row.workers}"
    return [Points(label, [row.workers], [getattr(row, name)], "points", 3)]


def _curve(report):
    x = np.geomspace(report.rows[0].workers, report.rows[-1].workers, _POINTS)
    return x, x / report.baseline


def _axis(report):
    return Axis("workers K", log=True, ticks=_apart([row.workers for row in report.rows]))


def _apart(values):
    """Return values far enough apart on a logarithmic axis to be written beside each other."""
    apart: list[float] = []
    for value in sorted(map(float, values)):
        if not apart or value >= 1.35 * apart[-1]:
            apart.append(value)
    return tuple(apart) if len(apart) <= 12 else ()


def _quality(value, report):
    """Write a quality with as many decimals as the tolerance needs, and three or more below ten."""
    tolerance = report.limits.tolerance
    needed = math.ceil(-math.log10(tolerance)) if tolerance > 0 else 3
    largest = max(abs(row.quality) for row in report.rows)
    return f"{value:.{min(12, max(needed, 3 if largest < 10 else 2))}f}"


def _times(seconds):
    """Write times to three figures, and a last 0 as well where one of them has decimals: 2.00 beside 1.32."""
    cells = units.column(seconds, "s")
    return [_filled(cell) for cell in cells] if any("." in cell for cell in cells) else cells


def _filled(cell, digits=3):
    """Write a last 0 as well, up to so many figures."""
    number, *unit = cell.split(" ")
    lacks = digits - sum(letter.isdigit() for letter in number.lstrip("0."))
    if lacks > 0 and "e" not in number:
        number += "." * ("." not in number) + "0" * lacks
    return " ".join([number, *unit])


def _price(value):
    """Write a price to four figures, a last 0 among them: 1.050 above 1.373."""
    return _filled(units.text(value, digits=4), 4)


def _amount(value):
    """Write dollars with cents, and small ones with three figures."""
    return f"{value:,.2f}" if value >= 0.1 else units.text(value)


def _bills(costs):
    """Write what a run costs, or a million of them where none comes to a cent."""
    if max(costs) < 0.01:
        return {"$/10⁶ runs": [f"{1e6 * cost:,.2f}" for cost in costs]}
    return {"$/run": [_amount(cost) for cost in costs]}


def _priced(report):
    """Return of how many units of work a table tells the price, how it writes it, and their name."""
    count, _ = lot(report)
    if count == 1:
        return 1, _amount, "work"
    return (
        count,
        _price,
        f"10{str(round(math.log10(count))).translate(_RAISED)} work",
    )


def _implied(row):
    """Write the serial fraction that a row implies; a slowdown implies none, for s is at most 1."""
    if row.karp_flatt is None:
        return "–"
    return "slower than the baseline" if row.karp_flatt > 1 else f"{row.karp_flatt:.4f}"


def _between(spread, write):
    return f"{write(spread.low)} to {write(spread.high)}" if spread.tested else "–"


def _word(row, report, **stated):
    """Write what the runs say; the baseline is compared with nothing, a lone run as it stands."""
    if row.workers == report.baseline:
        return "–"
    return next(iter(row.supports(**stated).values()))


def _loss(row, report):
    """Write the loss, and where it was tested against noise its one-sided ends."""
    gate, shown = row.gate, _quality(row.gate.loss + 0.0, report)
    if not gate.tested:
        return shown
    return f"{shown} ({_quality(gate.low, report)} to {_quality(gate.high, report)})"
