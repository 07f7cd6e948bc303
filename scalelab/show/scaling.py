"""The charts of a scaling table: what was measured, what is odd about it, and what it foretells."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from scalelab import ranks, units
from scalelab.curves.predict import predict
from scalelab.show.chart import Axis, Chart, Points

if TYPE_CHECKING:
    from scalelab.curves.answer import Judgement
    from scalelab.curves.fit import Fit
    from scalelab.curves.rows import Rows
    from scalelab.tables.finding import Finding
    from scalelab.tables.nouns import ScalingTable

_POINTS = 33  # of a prediction
_APART = 0.05  # curves closer than this lie on each other
_MOST_MARKS = 3  # findings with a colour of their own
_NEAR = 10.0  # a ceiling further away than this would flatten everything below it


def audited(table: ScalingTable, findings: Iterable[Finding] = ()) -> Chart:
    """The rows of a table beside the ideal line, with the rows that serious findings are about."""
    workers, values = _totals(table)
    ends = np.array([min(workers), max(workers)], float)
    base = statistics.median(v for k, v in zip(workers, values, strict=True) if k == ends[0])
    ideal = base * (ends[0] / ends if table.measure == "seconds" else ends / ends[0])
    marks = list(_marks(table, findings, tones=(2, 4, 5)))
    series = [Points("ideal", ends, ideal, "dashed", tone=0), _measured(table), *marks]
    title = f"{table.name}: {table.measure} on {_count(ends[0])} to {_count(ends[1])} workers"
    readouts = {mark.label: f"at {_listed(mark.x)} workers" for mark in marks}
    return Chart(title, *_axes(table.measure, ends), tuple(series), readouts)


def fitted(judged: Judgement) -> Chart:
    """What was measured, the two best families, the ceiling of the best, and the predicted band."""
    if judged.rows is None or judged.refused:
        return audited(judged.table, judged.findings)
    rows, table = judged.rows, judged.table
    most = max([*(size.workers for size in judged.predictions), rows.workers[-1]])
    at = np.unique([*np.geomspace(rows.base, most, _POINTS), *rows.workers])
    at = at if at.size <= 3 * _POINTS else at[:: at.size // _POINTS + 1]
    band = [predict(rows, k, family=judged.family) for k in at]
    low, value, high = (np.array([getattr(p, n) for p in band]) for n in ("low", "value", "high"))
    behind = judged.family or "from the last sizes"
    series = [
        Points(f"90% interval, {behind}", at, value, "band", tone=3, low=low, high=high),
        Points(f"expected, {behind}", at, value, tone=3),
    ]
    fits = _best(judged, at)
    for fit, tone in zip(fits, (5, 4), strict=False):
        series.append(Points(fit.family.name, at, _curve(rows, fit, at), "dashed", tone=tone))
    readouts = {}
    if limit := ceiling(rows, fits[0], most):
        name = f"{'floor' if rows.unit == 'seconds' else 'ceiling'} of {fits[0].family.name}"
        readouts[name] = _value(limit, rows.unit)
        if 1 / _NEAR < limit / value[-1] < _NEAR:
            series.append(Points(name, at, np.full(at.size, limit), "dashed", tone=0))
    measured, marks = _measured(table), list(_marks(table, judged.findings, tones=(2,)))
    series += [measured, *marks] if rows.unit == table.measure else []
    readouts |= {mark.label: f"at {_listed(mark.x)} workers" for mark in marks}
    for size in judged.predictions:
        unit = "s" if rows.unit == "seconds" else ""
        told, *ends = units.alike((size.value, size.low, size.high), unit)
        readouts[f"At {_count(size.workers)} workers"] = f"{told} ({' to '.join(ends)})"
    title = f"{table.name}: {rows.unit} measured to {_count(rows.workers[-1])} workers"
    title += f", expected to {_count(most)}" if most > rows.workers[-1] else ""
    return Chart(title, *_axes(rows.unit, at), tuple(series), readouts)


def ceiling(rows: Rows, fit: Fit, most: float) -> float | None:
    """The best a family promises at any size: its limit or its peak; None where it grows for ever.

    >>> from scalelab.curves.fit import fit
    >>> from scalelab.curves.rows import Rows
    >>> rows = Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25])
    >>> round(ceiling(rows, fit(rows, "amdahl"), 64), 3)
    10.0
    """
    if rows.grows:
        return None
    far = np.geomspace(rows.base, 1e9 * most, 4001)
    rate = fit.rate(far)
    rate = rate[np.isfinite(rate) & (rate > 0)]
    # A curve that still rises by a percent in the last of its decades has no ceiling in sight.
    if not rate.size or rate[-1] > 1.01 * rate[-len(far) // 10] or rate.max() <= rate[0]:
        return None
    return float(rows.value(1.0, rate.max()))


def _totals(table):
    """Workers, and times or throughputs of all workers together."""
    return table.workers, table.columns[table.measure]


def _measured(table):
    """One point per size: its median, with the interval of it where there are replicates."""
    by_size: dict[float, list[float]] = {}
    for k, value in zip(*_totals(table), strict=True):
        by_size.setdefault(k, []).append(value)
    sizes = sorted(by_size)
    middle = [statistics.median(by_size[size]) for size in sizes]
    if len(table.rows) == len(sizes):
        return Points("measured", sizes, middle, "points", tone=1)
    low, high = [], []
    for size in sizes:
        runs = sorted(by_size[size])
        rank = ranks.narrowest(len(runs))[0]
        low.append(runs[rank - 1])
        high.append(runs[-rank])
    return Points("measured", sizes, middle, "points", tone=1, low=low, high=high)


def _marks(table, findings, tones):
    """The rows that serious findings name, each finding a series of its own as far as tones last."""
    at = {
        row.line: pair
        for row, pair in zip(table.rows, zip(*_totals(table), strict=True), strict=True)
    }
    serious = [finding for finding in findings if finding.severity != "note"]
    named = [
        (finding.name, sorted({at[line] for line in finding.rows if line in at}))
        for finding in serious
    ]
    named = [(name, points) for name, points in named if points][:_MOST_MARKS]
    for (name, points), tone in zip(named, itertools.cycle(tones)):
        workers, values = zip(*points, strict=True)
        yield Points(name.replace("_", " "), workers, values, "points", tone=tone)


def _best(judged, at):
    """The chosen family, and the next best whose curve can be told from it."""
    first, *others = sorted(
        judged.comparison.fits, key=lambda fit: (fit.family.name != judged.chosen, fit.loo)
    )
    chosen = _curve(judged.rows, first, at)
    for fit in others:
        if np.nanmax(np.abs(np.log(_curve(judged.rows, fit, at) / chosen)), initial=0) > _APART:
            return first, fit
    return (first,)


def _curve(rows, fit, at):
    with np.errstate(all="ignore"):
        rate = fit.rate(at)
        return rows.value(at, np.where(rate > 0, rate, np.nan))


def _axes(measure: str, at: np.ndarray) -> tuple[Axis, Axis]:
    return _workers(at), Axis("seconds" if measure == "seconds" else "throughput", log=True)


def _workers(at: np.ndarray) -> Axis:
    # A power of four on a wide axis, of two on a narrow one.
    low, high = int(np.floor(np.log2(min(at)))), int(np.ceil(np.log2(max(at))))
    step = max(1, (high - low) // 5)
    ticks = tuple(2.0**n for n in range(low, high + 1, step))
    return Axis("workers K", log=True, ticks=ticks)


def _value(value, measure):
    return units.text(value, "s" if measure == "seconds" else "")


def _count(workers):
    return units.text(float(workers), digits=10)


def _listed(workers):
    counts = [_count(k) for k in workers]
    return ", ".join(counts[:4]) + (" and more" if len(counts) > 4 else "")
