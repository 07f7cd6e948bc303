"""The words of a rubric: one sentence of verdict, the reason of the choice, and how numbers are written."""

import math

from scalelab.rubric.report import Report, Scores
from scalelab.units import counted, dollars, text

_LIMITS = {
    "floor": "below the floor of {}",
    "deadline": "past the deadline of {}",
    "budget": "over the budget of {}",
    "latency": "over the latency cap of {}",
    "throughput": "below the {} per second that are asked for",
    "joules": "over the energy cap of {}",
    "grams": "over the cap of {} of CO2",
}
_UNITS = {"deadline": "s", "latency": "s", "joules": "J", "grams": "g"}

_LOTS = ("", "thousand", "million", "billion", "trillion")
_MEASURED = {"latency": "latency", "joules": "energy", "grams": "CO2"}  # what a row may lack


def limit(name: str, value: float) -> str:
    """Write a limit with its value."""
    shown = dollars(value) if name == "budget" else text(value, _UNITS.get(name, ""))
    return _LIMITS[name].format(shown)


def quality(value: float) -> str:
    """Write a quality: four figures, so that a drop in the third shows.

    >>> quality(0.8705)
    '0.8705'
    """
    return text(value, digits=4)


def held(value: float) -> str:
    """Write a quality that a run ended with: below ten with three decimals or more.

    >>> held(1), held(0.8705), held(24.45)
    ('1.000', '0.8705', '24.45')
    """
    return max(quality(value), f"{value:.3f}" if abs(value) < 10 else "", key=len)


def workers(count: int) -> str:
    """Write a number of workers in a sentence."""
    return counted(count, grouped=True)


def lot(report: Report) -> tuple[int, str]:
    """What prices are per: a run, or so many units of work that the least of them is a cent or more.

    Returns how many, and their name.
    """
    if not report.work_stated:
        return 1, "run"
    cents = 100 * min(row.cost_per_work for row in report.rows)
    thousands = math.ceil(-math.log10(cents) / 3) if 0 < cents < 1 else 0
    thousands = min(thousands, len(_LOTS) - 1)
    return 1000**thousands, f"{_LOTS[thousands]} units of work" if thousands else "unit of work"


def price(report: Report, row: Scores) -> str:
    """Write what a row's results cost."""
    count, name = lot(report)
    return f"{dollars(count * row.cost_per_work)} per {name}"


def named(report: Report, number: str) -> tuple[str, int]:
    """Write what a claim calls a number, and of how many it is told: a price of so many units of work."""
    if number != "cost_per_work":
        return number.replace("_", " "), 1
    count, name = lot(report)
    return f"dollars per {name}", count


def reason(report: Report) -> str:
    """Say why a size is recommended, or that none is."""
    able = [row.workers for row in report.rows if row.eligible]
    if not able:
        return "no row passes the gate and meets every limit"
    sizes = f" ({', '.join(map(str, able))})" if len(able) > 1 else ""
    chosen = f"{report.limits.objective} of {len(able)}" if sizes else "only size"
    asked = [name for name in _LIMITS if getattr(report.limits, name)]
    single = len(able) == 1
    met = (
        f" and {'meets' if single else 'meet'} the limits set ({', '.join(asked)})" if asked else ""
    )
    return f"the {chosen}{sizes} that {'holds' if single else 'hold'} the quality{met}"


def verdict(report: Report) -> str:
    """Say in one sentence how far the workload scales, and what stands against more. Section 41.6."""
    if report.recommended is None:
        return f"No configuration can be defended: {_why_none(report)}."
    row = report.row(report.recommended)
    kept = f"{report.metric} held at {held(row.quality)} and {price(report, row)}"
    if row.joules_per_work is not None:
        kept += f" at {text(row.joules_per_work, 'J')}"
    if row.workers == report.baseline:
        base = workers(row.workers)
        start = f"Stay with the baseline of {base}, with {kept}"
    else:
        start = (
            f"This workload scales to {workers(row.workers)} at efficiency {text(row.efficiency)}, "
            f"{text(row.speedup)} times as fast as on {report.baseline}, with {kept}"
        )
    return f"{start}; {_beyond(report, row)}."


def _beyond(report, row):
    """Say why the next larger size is not it, and what takes the speed if the rows tell."""
    larger = [other for other in report.rows if other.workers > row.workers]
    if not larger:
        return f"more than {workers(row.workers)} were not measured"
    other = larger[0]
    why = f"beyond that, {workers(other.workers)} {_against(report, row, other)}"
    return why + _cause(report, other) if _about_speed(row, other) else why


def _about_speed(row, other):
    if other.passes_gate is not True:
        return False
    return "floor" in other.missed or other.time >= row.time or not other.missed


def _against(report, row, other):
    """What speaks against a row, beginning with the gate."""
    gate, metric = other.gate, report.metric
    if gate.verdict == "fail":
        lost, most = quality(gate.loss), quality(report.limits.tolerance)
        return f"{_does(other, 'lose')} {lost} of {metric}, more than the tolerance of {most}"
    if gate.verdict == "undecided":
        most = quality(report.limits.tolerance)
        return (
            f"may lose up to {text(gate.high, digits=2)} of {metric}, where {most} is accepted: "
            "too few runs to tell"
        )
    if other.missed:
        return misses(report, other, other.missed[0])
    if other.time >= row.time:
        return "is no faster" if other.workers == 1 else "are no faster"
    return f"{_does(other, 'cost')} {price(report, other)}"


def misses(report: Report, other: Scores, name: str) -> str:
    """Say what a row comes to, and the limit it misses by that."""
    asked = getattr(report.limits, name)
    if name in _MEASURED and getattr(other, name) is None:
        have = "has" if other.workers == 1 else "have"
        what, unit_of = _MEASURED[name], _UNITS[name]
        return (
            f"{have} no {what} that was measured, where at most {text(asked, unit_of)} is accepted"
        )
    got = {
        "floor": lambda: text(other.efficiency),
        "deadline": lambda: text(other.seconds, "s"),
        "budget": lambda: dollars(other.cost),
        "throughput": lambda: f"{text(other.throughput)} per second",
    }.get(name, lambda: text(getattr(other, name), _UNITS[name]))()
    verb = _does(other, "keep" if name == "floor" else "come")
    verb += " an efficiency of" if name == "floor" else " to"
    return f"{verb} {got}, {limit(name, asked)}"


def _does(row, verb):
    return f"{verb}s" if row.workers == 1 else verb


def _cause(report, other):
    """What takes the speed: nobody can tell of rows whose largest size had to share its cores."""
    machine, most = report.stamp.machine, report.rows[-1].workers
    alone = report.bound and machine is not None and not machine.gpus
    if alone and machine.cores and most > machine.cores and "nodes" not in report.varied:
        who = "they" if other.workers == most else workers(most)
        return f", and {who} took turns on {counted(machine.cores, 'core')}"
    lost = report.shortfall
    if lost is None or lost.cause == "none":
        return ""
    return {
        "serial": f", and a serial fraction of {text(report.serial.value)} makes further scaling uneconomic",
        "communication": ", and the communication wall makes further scaling uneconomic",
        "both": ", and a serial part and communication together make further scaling uneconomic",
        "cannot tell": ", and whether a serial part or communication is the wall these rows cannot tell",
    }[lost.cause]


def _why_none(report):
    """What speaks against the configuration that comes nearest to what is asked."""
    nearest = min(report.rows, key=lambda row: _distance(report, row))
    against = [_against(report, nearest, nearest)]
    if nearest.passes_gate is True:
        against += [misses(report, nearest, name) for name in nearest.missed[1:]]
    return f"{workers(nearest.workers)} {', and '.join(against)}"


def _distance(report, row):
    """How far a row is from every limit together, as a sum of logarithms; gated rows come last."""
    values = {"floor": row.efficiency, "deadline": row.seconds, "budget": row.cost}
    values |= {name: getattr(row, name) for name in ("throughput", "latency", "joules", "grams")}
    far = [
        abs(math.log(values[name] / getattr(report.limits, name))) if values[name] else math.inf
        for name in row.missed
    ]
    return row.passes_gate is not True, sum(far), row.workers
