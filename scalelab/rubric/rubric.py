"""The rubric: speedup, efficiency, quality and cost of one study together, and a verdict (Section 41.6).

Any one of the four can be made to look good while the project fails. A claim holds where a
configuration is faster, uses its workers, keeps the quality and is worth its price, all at once; with
joules, or grams of CO2, as a fifth.
"""

import math
import os
from dataclasses import replace
from itertools import takewhile
from typing import Any

from scalelab.arguments import shown, whole
from scalelab.data import datasets
from scalelab.models.cost import cost, energy
from scalelab.models.scaling import laws, speedup, study
from scalelab.refusal import Refusal
from scalelab.rubric import gate as _gate, shortfall as _shortfall, spread, text
from scalelab.rubric.caveats import remarks
from scalelab.rubric.files import of_series, of_table, parse, read, recorded
from scalelab.rubric.gate import Gate, Noise
from scalelab.rubric.ranking import choice, missed, pareto
from scalelab.rubric.report import Constraints, Report, Scores
from scalelab.rubric.rows import Measured, columns, of_passes
from scalelab.rubric.shortfall import Serial, Shortfall
from scalelab.tables.nouns import ScalingTable

_COLUMNS = (
    "workers", "seconds", "speedup", "efficiency", "quality", "cost", "cost_per_work",
    "work_per_cost", "joules_per_work", "passes_gate",
)  # fmt: skip

__all__ = [
    "Constraints",
    "Gate",
    "Measured",
    "Noise",
    "Report",
    "Scores",
    "Serial",
    "Shortfall",
    "columns",
    "judge",
    "of_passes",
    "of_series",
    "of_table",
    "parse",
    "plain",
    "read",
    "recorded",
    "verdict_on",
]  # fmt: skip


def verdict_on(
    study: Measured | ScalingTable | str | os.PathLike[str],
    *,
    work: float | None = None,
    price: float | None = None,
    better: str | None = None,
    flat_rate: bool = False,
    **limits: Any,
) -> Report:
    """Judge a scaling study by speedup, efficiency, quality and cost together. Section 41.6.

    The study is a file, the name of a public series, or rows; `work`, and `price` in dollars per worker
    and hour, fill in what it does not state. The limits, such as `floor`, are those of `judge`.

    >>> from scalelab import rubric
    >>> rubric("nv_gnmt_dgx1_v100_fp16", price=3, tolerance=0.3).recommended
    8
    """
    filled: dict[str, Any] = {"work": work, "price": price, "flat_rate": flat_rate}
    if isinstance(study, ScalingTable):
        study = of_table(study, better=better or "higher", **filled)
    elif isinstance(study, (str, os.PathLike)):
        name = os.fspath(study)
        if isinstance(name, str) and not os.path.lexists(name) and name in datasets.names():
            study = of_series(datasets.load(name), better=better or "higher", **filled)
        else:
            study = read(name, better=better, **filled)
    return judge(study, **limits)


def judge(
    measured: Measured,
    limits: Constraints | None = None,
    *,
    baseline: int | None = None,
    noise: Noise | None = None,
    grid: energy.ElectricityGrid | None = None,
    **given: Any,
) -> Report:
    """Judge the rows of a study; the limits as `Constraints`, or one by one by their names. Section 41.6.

    `baseline` is any worker count of the table, by default the smallest; `noise` a `Noise` of the
    quality known from elsewhere; `grid` an `energy.ElectricityGrid`, which makes grams of CO2 of joules.

    >>> rows = columns([1, 2, 4, 8, 16, 32], [3600, 1880, 1010, 560, 340, 250],
    ...     rate=[1, 2, 4, 8, 16, 32], quality=[0.871] * 6, work=1.2e6)
    >>> report = judge(rows, floor=0.7, tolerance=0.005)
    >>> round(report.serial.value, 4), report.cheapest, report.recommended
    (0.0376, 1, 8)
    """
    if not isinstance(measured, Measured):
        raise Refusal(
            f"measured must be the rows of a study, got {shown(measured)}: make them with "
            "rubric.columns, rubric.of_passes or rubric.read"
        )
    limits = _limits(limits, given)
    sizes = measured.configurations
    base = _base(sizes, baseline)
    _to_a_target(sizes)
    _tolerable(limits.tolerance, base)
    if limits.grams is not None and grid is None:
        raise Refusal("grams must go with a grid, got none: say what its power emits")
    _answerable(limits, measured)
    rows = tuple(_row(size, base, sizes, measured, limits, noise, grid) for size in sizes)
    ranked = [row for row in rows if row.passes_gate]
    scaling = measured.scaling
    serial, predicted, lost = _limit(rows, sizes, base, scaling)
    cheapest = choice(ranked, "cheapest")
    assert cheapest is not None, "the baseline passes its own gate"
    picked = choice([row for row in rows if row.eligible], limits.objective)
    # Up to the first that does not keep the floor: nobody buys through a hole.
    efficient = [row.workers for row in takewhile(lambda row: "floor" not in row.missed, ranked)]
    gates = [row.passes_gate for row in rows]
    return Report(
        rows=rows,
        baseline=base.workers,
        scaling=scaling,
        serial=serial,
        predicted_speedup=predicted,
        shortfall=lost,
        quality_held=False if False in gates else None if None in gates else True,
        max_drift=max(abs(row.quality - base.quality) for row in rows),
        cheapest=cheapest.workers,
        largest_efficient=max(efficient, default=None),
        recommended=picked.workers if picked else None,
        pareto=tuple(row.workers for row in pareto(ranked)),
        limits=limits,
        name=measured.name,
        metric=measured.metric,
        better=measured.better,
        stamp=measured.stamp,
        work_stated=measured.work_stated,
        bound=measured.bound,
        command=measured.command,
        varied=tuple(measured.varied),
    )


def plain(report: Report, full: bool = False) -> dict[str, Any]:
    """What `--json` prints: numbers, text and null; `full` adds the rest of the report. Section 41.6."""
    serial, ceiling = report.serial, report.serial.ceiling if report.serial else None
    document: dict[str, Any] = {
        "rows": [
            {name: getattr(row, name) for name in _COLUMNS} | {"intervals": _intervals(row, report)}
            for row in report.rows
        ],
        "serial_fraction": serial.value if serial else None,
        "ceiling": ceiling if ceiling is not None and ceiling < math.inf else None,
        "predicted_speedup": report.predicted_speedup,
        "quality_held": report.quality_held,
        "max_drift": report.max_drift,
        "cheapest": report.cheapest,
        "largest_efficient": report.largest_efficient,
        "recommended": report.recommended,
        "verdict": text.verdict(report),
    }
    if full:
        more = ("joules", "grams", "throughput", "latency", "karp_flatt", "runs", "missed")
        for cells, row in zip(document["rows"], report.rows, strict=True):
            cells |= {name: getattr(row, name) for name in more} | {"gate": vars(row.gate)}
        names = (
            "baseline", "scaling", "reason", "pareto", "remarks", "name", "metric", "better",
            "work_stated", "bound",
        )  # fmt: skip
        known = vars(report) | {"reason": text.reason(report), "remarks": remarks(report)}
        document |= {name: known[name] for name in names}
        document |= {"limits": vars(report.limits), "stamp": report.stamp.text}
        document["serial"] = vars(serial) if serial else None
        document["shortfall"] = vars(report.shortfall) if report.shortfall else None
    return document


def _intervals(row: Scores, report: Report) -> dict[str, dict[str, float | str | None]]:
    """How sure each of the four numbers is, and what the runs say of what is asked of it."""
    limits = report.limits
    asked = {
        "speedup": 1.0, "efficiency": limits.floor, "loss": limits.tolerance, "cost": limits.budget,
    }  # fmt: skip
    words = row.supports(**{name: value for name, value in asked.items() if value is not None})
    # The gate forgives what rounding does to a difference.
    words["loss"] = {True: "supported", False: "contradicted", None: "undecided"}[row.passes_gate]
    if row.workers == report.baseline:  # compared with nothing but the budget
        words = {name: word for name, word in words.items() if name == "cost"}
    return {
        name: _ends(row.spreads[name])
        | {"least": None, "most": None, spread.bound(name): value, "verdict": words.get(name)}
        for name, value in asked.items()
    }


def _ends(sure):
    """Both ends and the level of each; null where one run of each size says nothing of its noise."""
    low, high = (
        end if sure.tested and math.isfinite(end) else None for end in (sure.low, sure.high)
    )
    return {"low": low, "high": high, "level": _gate.LEVEL if sure.tested else None}


def _limits(limits: Constraints | None, given: dict[str, Any]) -> Constraints:
    if limits is not None and (given or not isinstance(limits, Constraints)):
        raise Refusal(
            f"limits must be given as Constraints or one by one, got {shown(limits)}: choose"
        )
    unknown = [name for name in given if name not in Constraints.__dataclass_fields__]
    if unknown:
        known = ", ".join(Constraints.__dataclass_fields__)
        raise Refusal(f"limits must be among {known}, got {unknown[0]}: name one of them")
    return limits or Constraints(**given)


def _base(configurations, baseline):
    if baseline is None:
        return configurations[0]
    baseline = whole("baseline", baseline, "it is the worker count to compare with")
    for size in configurations:
        if size.workers == baseline:
            return size
    sizes = ", ".join(str(size.workers) for size in configurations)
    raise Refusal(
        f"baseline must be one of the sizes {sizes}, got {baseline}: "
        "every metric compares with it, so measure it, or name another"
    )


def _answerable(limits, measured):
    """A limit on what no row holds is missed by none and kept by none."""
    for name, column in (("latency", "latency"), ("joules", "joules"), ("grams", "joules")):
        held = any(getattr(size, column) is not None for size in measured.configurations)
        if getattr(limits, name) is not None and not held:
            raise Refusal(
                f"{name} must go with a column `{column}`, got none in {measured.name}: "
                "measure it, or drop the limit"
            )


def _tolerable(tolerance, base):
    most = abs(base.quality)
    if tolerance and tolerance >= most:
        raise Refusal(
            f"tolerance must be below the quality of the baseline, {most:g}, got {tolerance:g}: "
            "any result would pass; it is in units of the quality, so half a point of 0.871 is 0.005"
        )


def _to_a_target(sizes):
    """Where the training to a target is known, one trained model is the work of every row."""
    if any(size.epochs for size in sizes) and len({size.work for size in sizes}) > 1:
        raise Refusal(
            "work must be the same in all rows where epochs are given, got different: the work of a "
            "run to a target is one trained model, and its samples are what epochs tell"
        )


def _row(size, base, sizes, measured, limits, noise, grid):
    gain = size.work / base.work * (base.seconds / size.seconds)
    factor = size.workers / base.workers
    if size is base:
        gate = Gate("pass", 0.0, 0.0, 0.0, tested=False)
        sooner = spread.Spread(1.0, 1.0, tested=False)
    else:
        every = [each.qualities for each in sizes]
        gate = _gate.of_runs(
            base.qualities, size.qualities, every, limits.tolerance,
            better=measured.better, noise=noise,
            paired=bool(size.seeds) and size.seeds == base.seeds,
        )  # fmt: skip
        # Times are not paired: a seed decides the training, and not what else the machine did.
        sooner = spread.ratio(base.times, size.times, [each.times for each in sizes])
        sooner = sooner.times(size.work / base.work)
    dollars = cost.dollars(size.seconds, size.rate)
    apiece = cost.per_work(dollars, size.work)
    has = size.joules is not None
    row = Scores(
        workers=size.workers,
        seconds=size.seconds,
        speedup=gain,
        efficiency=gain / factor,
        quality=size.quality,
        cost=dollars,
        cost_per_work=apiece,
        work_per_cost=cost.work_per_dollar(dollars, size.work),
        joules=size.joules,
        joules_per_work=energy.per_work(size.joules, size.work) if has else None,
        grams=energy.grams(size.joules, grid) if has and grid is not None else None,
        throughput=size.work / size.seconds,
        time=size.seconds / size.work,
        latency=size.latency,
        karp_flatt=speedup.karp_flatt(gain, factor) if factor > 1 else None,
        runs=len(size.times),
        gate=gate,
        speedup_spread=sooner,
        efficiency_spread=sooner.times(1 / factor),
        cost_spread=spread.alone(size.times, [each.times for each in sizes]).times(apiece),
        learning=(
            study.algorithmic_efficiency(base.epochs, size.epochs)
            if base.epochs and size.epochs
            else None
        ),
    )
    return replace(row, missed=missed(row, limits))


def _limit(rows, sizes, base, scaling):
    """The serial fraction, what it predicts of the largest size, and what takes the rest."""
    if scaling == "neither":
        return None, None, None
    factors = [row.workers / base.workers for row in rows]
    gains = [row.speedup for row in rows]
    serial = _shortfall.serial(factors, gains, weak=scaling == "weak")
    if scaling == "weak":
        return serial, float(laws.gustafson(max(factors), serial.value)), None
    if max(factors) == 1:  # the baseline is the largest
        return serial, 1.0, None
    lost = _shortfall.shortfall(
        [row.workers for row in rows], base.workers, gains, serial,
        [row.seconds for row in rows], [size.exposed for size in sizes],
    )  # fmt: skip
    return serial, lost.predicted, lost
