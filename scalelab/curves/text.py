"""A judgement as text for people, and as plain data for programs."""

from collections.abc import Iterator
from typing import Any

from scalelab import units
from scalelab.curves.answer import Judgement
from scalelab.curves.intervals import Bounded
from scalelab.curves.next_measurement import NARROW, WORTH
from scalelab.curves.predict import TESTED, measured
from scalelab.tables import text


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


def lines(judged: Judgement) -> Iterator[str]:
    """Yield a judgement for people."""
    yield text.heading(judged.table)
    yield from text.findings_lines(judged.table, judged.serious)
    yield from judged.remarks
    if judged.comparison.fits:
        yield ""
        yield from _families(judged)
    yield ""
    if judged.refused:
        yield f"refused: {judged.refused}"
    for part in (_predictions, _advice):
        yield from part(judged)


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


def _families(judged):
    rows = [("", "family", "error on sizes left out", "AICc", "dof", "parameters")]
    for fit in sorted(judged.comparison.fits, key=lambda fit: fit.loo):
        name = fit.family.name
        values = [
            f"{parameter} {bounded(estimate, 's' if parameter == 'seconds' else '')}"
            for parameter, estimate in judged.parameters[name].items()
        ]
        error = units.text(fit.loo, "%", 2) if fit.loo < 10 else "over 1000 %"
        aicc = "" if fit.aicc is None else f"{fit.aicc:.1f}"
        mark = "*" if name == judged.chosen else ""
        rows.append((mark, name, error, aicc, str(fit.dof), ", ".join(values)))
    yield from text.aligned(rows, left=(0, 1, 5))
    for reason in dict.fromkeys(judged.comparison.left_out.values()):
        names = [n for n, why in judged.comparison.left_out.items() if why == reason]
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


def bounded(found: Bounded, unit: str = "") -> str:
    """One value with its interval: at a bound it is no estimate, and an end may be open.

    >>> bounded(Bounded(2e-5, None, 3e-5), "s")
    '20 µs (30 µs or less)'
    """
    ends = [end for end in (found.low, found.high) if end is not None]
    value, *written = units.alike([found.value, *ends], unit)
    if not ends:
        return f"{value} (at its bound)"
    if len(ends) == 1:
        return f"{value} ({written[0]} or {'less' if found.low is None else 'more'})"
    return f"{value} ({written[0]} to {written[1]})"


def _predictions(judged):
    if not judged.predictions:
        return
    unit = "s" if judged.rows.unit == "seconds" else ""
    base = units.text(judged.rows.base, digits=10)
    heads = ["workers", judged.rows.unit, f"{judged.predictions[0].level:.0%} interval"]
    rows = [(*heads, f"efficiency over {base}", "times the largest size", "")]
    for one in judged.predictions:
        value, low, high = units.alike((one.value, one.low, one.high), unit)
        interval = "as measured" if one.low == one.high and one.beyond <= 1 else f"{low} to {high}"
        share = units.text(judged.efficiency(one), "%")
        count = units.text(one.workers, digits=10)
        lost = judged.lost(one)
        why = f"if it ran: {units.text(lost, digits=10)} workers failed" if lost else ""
        rows.append((count, value, interval, share, units.text(one.beyond), why))
    yield from text.aligned(rows, left=(5,), drop_empty=True)
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


def _advice(judged):
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
    for option in advice.options:
        count = units.text(option.workers, digits=10)
        if option.narrower < WORTH:
            idle.append(count)
            continue
        cells = {"workers": count, "high over low": units.text(option.after)}
        cells["narrower by"] = units.text(option.narrower, "%", 2)
        if option.seconds is not None:
            cells["run takes"] = units.text(option.seconds, "s")
        if option.price is not None:
            each = "price of an hour" if option.seconds is None else "price of a run"
            cells[each] = units.dollars(option.price)
        rows.append(cells)
    yield from text.aligned([tuple(rows[0]), *(tuple(cells.values()) for cells in rows)])
    if idle:
        yield f"(next to nothing: {', '.join(idle)})"
    yield f"→ measure {units.text(advice.best.workers, digits=10)} workers"
    if advice.affordable not in (None, advice.best):
        count = units.text(advice.affordable.workers, digits=10)
        yield f"→ or, with no more workers than the table has, {count}"
