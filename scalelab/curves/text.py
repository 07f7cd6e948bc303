"""A judgement as text for people, and as plain data for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from scalelab import units
from scalelab.curves.answer import Judgement
from scalelab.curves.intervals import Bounded
from scalelab.curves.next_measurement import NARROW, WORTH
from scalelab.curves.predict import TESTED, measured
from scalelab.tables import text
from scalelab.tables.printed import aligned


def document(judged: Judgement, full: bool = False) -> dict[str, Any]:
    """Return a judgement as plain data; what is open, or was not estimated, is None."""
    plain: dict[str, Any] = {
        "unit": judged.rows.unit if judged.rows else judged.table.measure,
        "families": [_family(one, judged.parameters) for one in judged.comparison.fits],
        "chosen": judged.chosen,
        "predictions": [
            {name: getattr(one, name) for name in ("workers", "value", "low", "high", "level")}
            | {"workers": int(one.workers)}
            for one in judged.predictions
        ],
        "refused": judged.refused,
    }
    if full:
        advice = judged.advice
        plain |= text.document(judged.table, judged.findings)
        plain |= {"remarks": list(judged.remarks), "left_out": judged.comparison.left_out}
        plain["failed"] = [
            {"workers": size, "why": why} for size, why in judged.table.failed.items()
        ]
        plain["coverage"] = judged.coverage and measured(judged.coverage)
        plain["next"] = advice and {
            "target": advice.target,
            "best": advice.best and advice.best.workers,
            "affordable": advice.affordable and advice.affordable.workers,
            "options": [vars(one) for one in advice.options],
        }
    return plain


def lines(judged: Judgement, width: int | None = None) -> Iterator[str]:
    """Yield a judgement for people, its tables no wider than that."""
    yield text.heading(judged.table)
    yield from text.findings_lines(judged.table, judged.serious)
    yield from judged.remarks
    if judged.comparison.fits:
        yield ""
        yield from _families(judged, width)
    yield ""
    if judged.refused:
        yield f"refused: {judged.refused}"
    for part in (_predictions, _advice):
        yield from part(judged, width)


def _family(fit, parameters):
    values = parameters[fit.family.name].items()
    return {
        "name": fit.family.name,
        "parameters": {
            name: {"value": parameter.value, "low": parameter.low, "high": parameter.high}
            for name, parameter in values
        },
        "loo": fit.loo,
        "aicc": fit.aicc,
        "dof": fit.dof,
    }


def _families(judged, width):
    rows = [("family", "error on sizes left out", "AICc", "dof", "parameters")]
    every = [each for one in judged.parameters.values() if (each := one.get("seconds"))]
    seconds = [one.value for one in every]
    for fit in sorted(judged.comparison.fits, key=lambda fit: fit.loo):
        name = fit.family.name
        values = [
            f"{parameter} "
            + (bounded(estimate, "s", seconds) if parameter == "seconds" else bounded(estimate))
            for parameter, estimate in judged.parameters[name].items()
        ]
        error = units.text(round(fit.loo, 6), "%", 2) if fit.loo < 10 else "over 1000%"
        aicc = "" if fit.aicc is None else f"{fit.aicc:.1f}"
        mark = " *" if name == judged.chosen else ""
        rows.append((name + mark, error, aicc, str(fit.dof), ", ".join(values)))
    yield from aligned(rows, left=(0, 4), width=width)
    left_out: dict[str, list[str]] = {}
    for name, why in judged.comparison.left_out.items():
        left_out.setdefault(why.replace(f" of {name}", ""), []).append(name)
    for reason, names in left_out.items():
        yield f"not fitted: {', '.join(names)}: {reason}"
    if judged.chosen:
        best = judged.comparison.chosen.family.name
        why_chosen = "as you asked"
        if best == judged.chosen:
            least = min(fit.loo for fit in judged.comparison.fits)
            why_chosen = (
                "foretold the sizes left out best"
                if judged.comparison.chosen.loo <= least
                else "the simplest of those within a tenth of the best on sizes left out"
            )
        yield f"* {judged.chosen}: {why_chosen}"


def bounded(found: Bounded, unit: str = "", among: Sequence[float] = ()) -> str:
    """One value with its interval: at a bound it is no estimate, and an end may be open.

    In the unit that fits the middle of `among`, where it stands in a column with others.

    >>> bounded(Bounded(2e-5, None, 3e-5), "s")
    '20 µs (30 µs or less)'
    """
    ends = [end for end in (found.low, found.high) if end is not None]
    value, *written = units.alike([found.value, *ends], unit, among=among)
    if not ends:
        return f"{value} (at its bound)"
    if len(ends) == 1:
        return f"{value} ({written[0]} or {'less' if found.low is None else 'more'})"
    return f"{value} ({written[0]} to {written[1]})"


def _predictions(judged, width):
    if not judged.predictions:
        return
    unit = "s" if judged.rows.unit == "seconds" else ""
    base = units.text(judged.rows.base, digits=10)
    heads = [
        "workers",
        "time" if unit else judged.rows.unit,
        f"{judged.predictions[0].level:.0%} interval",
    ]
    rows = [(*heads, f"efficiency over {base}", "times the largest size", "")]
    values = [one.value for one in judged.predictions]
    for one in judged.predictions:
        value, low, high = units.alike((one.value, one.low, one.high), unit, among=values)
        interval = "as measured" if one.low == one.high and one.beyond <= 1 else f"{low} to {high}"
        share = units.share(judged.efficiency(one))
        count = units.text(one.workers, digits=10)
        lost = judged.lost(one)
        why = f"if it ran: {units.text(lost, digits=10)} workers failed" if lost else ""
        rows.append((count, value, interval, share, units.text(one.beyond), why))
    yield from aligned(rows, left=(5,), drop_empty=True, width=width)
    if judged.family:
        yield f"by {judged.family} alone: the interval is true only if that law holds"
    elif judged.coverage:
        farthest = max(judged.predictions, key=lambda one: one.beyond)
        at = (
            f"at {units.text(farthest.workers, digits=10)}: " if len(judged.predictions) > 1 else ""
        )
        far = "; none was tested so far out" if farthest.beyond > TESTED else ""
        yield "beyond the table: carried on from the last sizes, whatever family fits"
        yield f"{at}{measured(judged.coverage)}{far}"


def _advice(judged, width):
    advice = judged.advice
    if advice is None or advice.options[0].before < NARROW:
        return
    target, before = units.text(advice.target, digits=10), units.text(advice.options[0].before)
    yield ""
    spread = f"At {target} workers the high end of the interval is {before} times the low end"
    if advice.best is None:
        within = f"on up to {units.text(advice.most, digits=10)} workers"
        where = within if advice.most < advice.target else "below"
        yield f"{spread}; no single measurement {where} would narrow that much."
        return
    yield f"{spread}; one more measurement brings that, on average, to:"
    rows, idle = [], []
    took = units.column([one.seconds for one in advice.options], "s")
    for option, takes in zip(advice.options, took, strict=True):
        count = units.text(option.workers, digits=10)
        if option.narrower < WORTH:
            idle.append(count)
            continue
        cells = {"workers": count, "high over low": units.text(option.after)}
        cells["narrower by"] = units.text(option.narrower, "%", 2)
        if option.seconds is not None:
            cells["run takes"] = takes
        if option.price is not None:
            each = "price of an hour" if option.seconds is None else "price of a run"
            cells[each] = units.dollars(option.price)
        rows.append(cells)
    yield from aligned([[*rows[0]], *([*cells.values()] for cells in rows)], width=width)
    if idle:
        yield f"(next to nothing: {', '.join(idle)})"
    yield f"→ measure {units.text(advice.best.workers, digits=10)} workers"
    if advice.affordable not in (None, advice.best):
        count = units.text(advice.affordable.workers, digits=10)
        yield f"→ or, with no more workers than the table has, {count}"
