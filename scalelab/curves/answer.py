"""The whole answer to a scaling table: what is wrong with it, what fits it, what to expect, or why not.

`audit`, `compare`, `predict` and `next_measurement` in one pass, as `scalelab fit` prints it.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scalelab.arguments import meant, shown, whole
from scalelab.curves.compare import Comparison, compare
from scalelab.curves.families import BY_NAME, EXTRAPOLATING
from scalelab.curves.fit import Refused
from scalelab.curves.intervals import Bounded, parameters
from scalelab.curves.next_measurement import NextMeasurement, advise, candidates
from scalelab.curves.predict import Coverage, Prediction, coverage, predict
from scalelab.curves.rows import Rows
from scalelab.refusal import Refusal
from scalelab.seen import Seen
from scalelab.tables import sizes, study
from scalelab.tables.audit import audit
from scalelab.tables.finding import Finding
from scalelab.tables.table import MOST_WORKERS, ScalingTable
from scalelab.units import alike, counted

MOST_SIZES = 200
# No machine does a thing a million billion times as fast as another of its kind.
MOST_APART = 1e15
_NOTHING = Comparison((), {}, None, None)


@dataclass(frozen=True)
class Judgement(Seen):
    """What a table says about the sizes one asks for."""

    table: ScalingTable
    findings: tuple[Finding, ...]  # of the audit, the worst first
    rows: Rows | None = None  # what was fitted
    comparison: Comparison = _NOTHING
    parameters: dict[str, dict[str, Bounded]] = field(default_factory=dict)  # of each family
    chosen: str | None = None
    predictions: tuple[Prediction, ...] = ()
    family: str | None = (
        None  # behind the predictions; None where they carry on from the last sizes
    )
    advice: NextMeasurement | None = (
        None  # on the largest of the sizes asked for, if that is worth it
    )
    refused: str | None = None
    remarks: tuple[str, ...] = ()  # what was done that nobody asked for
    coverage: Coverage | None = None  # of intervals like that of the farthest prediction

    def __repr__(self) -> str:
        if self.refused:
            return f"<Judgement on {self.table.name}, refused: {self.refused}>"
        said = [f"{self.chosen} describes it"] if self.chosen else []
        for one in self.predictions:
            value, low, high = alike(
                (one.value, one.low, one.high), "s" if one.unit == "seconds" else ""
            )
            said.append(f"on {counted(int(one.workers))} {value} ({low} to {high})")
        return f"<Judgement on {self.table.name}: {'; '.join(said)}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each prediction, or for each family where nothing was asked for."""
        if self.predictions or self.refused:
            names = ("workers", "value", "low", "high", "level", "unit", "beyond")
            return {name: [getattr(one, name) for one in self.predictions] for name in names}
        fits = self.comparison.fits
        return {
            "family": [fit.family.name for fit in fits],
            "error on sizes left out": [fit.loo for fit in fits],
            "AICc": [fit.aicc for fit in fits],
            "chosen": [fit.family.name == self.chosen for fit in fits],
        }

    def lost(self, prediction: Prediction) -> int | None:
        """The size that failed when it was run, this one or one on the way to it; None if there is none."""
        return _lost(self.table, int(prediction.workers))

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that make a number or a conclusion wrong."""
        return tuple(found for found in self.findings if found.severity != "note")

    def efficiency(self, prediction: Prediction) -> float:
        """Rate per worker at a predicted size, relative to the smallest that was measured."""
        assert self.rows is not None, "what was predicted was fitted"
        rows = self.rows
        unit = rows.value(prediction.workers, 1.0)
        rate = prediction.value if rows.unit == "throughput" else unit / prediction.value
        return (rate / prediction.workers) / (rows.rate[0] / rows.base)


def judge(
    table: ScalingTable,
    targets: Iterable[int] = (),
    *,
    family: str | None = None,
    despite: bool = False,
    most: int | None = None,
    rate: float | None = None,
) -> Judgement:
    r"""Audit a table, fit every family, and predict the targets, or say why that cannot be done.

    Predictions carry on from the last two sizes, unless `family` names one that the reader has
    reason to believe in. A finding that is an error leaves nothing to fit, unless `despite` it.
    All of it starts from the median run of each size. `most` and `rate` (dollars per hour of one
    worker) go to the advice on what to measure next. Section 3.9.

    >>> from scalelab.tables.table import parse
    >>> found = judge(parse("runs", "workers,seconds\n1,100\n2,55\n4,32.5\n8,21.25\n"), [16])
    >>> found.chosen, found.refused, [finding.name for finding in found.findings]
    ('amdahl', None, ['one_run'])
    """
    meaning = "it counts the workers to predict for"
    targets = [whole("targets", target, meaning, 1, MOST_WORKERS) for target in targets]
    if most is not None:
        most = whole("most", most, "it counts the workers you can get")
    family = _family(family)
    findings = tuple(audit(table))
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors and not despite:
        text = " ".join(f"{finding.text} {finding.remedy}" for finding in errors)
        return Judgement(table, findings, refused=text)
    rows, remarks = rows_of(table)
    comparison = compare(rows)
    fitted = {fit.family.name: parameters(rows, fit) for fit in comparison.fits}
    refused = comparison.refused
    chosen = comparison.chosen.family.name if comparison.chosen else None
    if family and targets and family not in EXTRAPOLATING:
        remarks.append(
            f"{family} describes a table and does not extrapolate: the answer is without it."
        )
        family = None
    elif family and not refused:
        refused, chosen = comparison.left_out.get(family), family
    if targets and not kind(table):
        remarks.append(
            "Whether the work grows with the workers is not said: it is taken not to, as one job that is "
            "divided; else write `weak scaling` above the table."
        )
    predictions: tuple[Prediction, ...] = ()
    advice = None
    try:
        if targets and not refused:
            price = _price(table, rate, findings)
            predictions = tuple(predict(rows, target, family=family) for target in targets)
            reach = candidates(rows, max(targets), most or max(targets))
            able = [size for size in reach if not _lost(table, size)]
            advice = advise(rows, max(targets), sizes=able, most=most, rate=price, family=family)
    except Refused as refusal:
        refused = str(refusal)
    except OverflowError:
        refused = (
            "the rows must agree better, got an interval without an end: find out what is wrong "
            "with them"
        )
    if refused:
        chosen, predictions = None, ()
    farthest = max((one.beyond for one in predictions), default=0.0)
    return Judgement(
        table=table,
        findings=findings,
        rows=rows,
        comparison=comparison,
        parameters=fitted,
        chosen=chosen,
        predictions=predictions,
        family=family,
        advice=advice,
        refused=refused,
        remarks=tuple(remarks),
        coverage=coverage(kind(table), rows, farthest) if farthest > 1 and not family else None,
    )


def rows_of(table: ScalingTable) -> tuple[Rows, list[str]]:
    """The rows of a table for a fit, and what was assumed or averaged for that, in words."""
    remarks = []
    weak = kind(table) == "weak"
    if weak and table.measure == "seconds" and "work" not in table.columns:
        remarks.append(
            "The table is called weak scaling: its work is taken to grow with the workers."
        )
    rows = Rows.of(**table.columns, weak=weak)
    if len(rows.workers) > MOST_SIZES:
        raise Refusal(
            f"{table.name} must hold at most {MOST_SIZES} different worker counts, got "
            f"{len(rows.workers)}: keep those that are a few percent apart"
        )
    apart = float(rows.rate.max() / rows.rate.min())
    if apart > MOST_APART:
        raise Refusal(
            f"{table.name} must hold rates within a factor of {MOST_APART:g}, got {apart:.3g}: "
            "look for a slip in a unit or an exponent"
        )
    if table.measure == "seconds" and rows.unit == "throughput":
        remarks.append(
            "The work is not the same in all rows, nor exactly proportional to the workers, so the "
            "answer is work per second."
        )
    if len(rows.workers) < len(table.rows):
        remarks.append("Of several runs of one size the median counts.")
    return rows, remarks


def kind(table: ScalingTable) -> str:
    """What was held fixed: "strong", "weak", "load" (the machine), or "" where the table does not tell."""
    # A batch that grows says so of rates only: a time may be that of one job in larger batches.
    quantities = ("work", "batch") if table.measure == "throughput" else ("work",)
    stated = {sizes.stated(table, quantity) for quantity in quantities}
    if study.weak(table) or "weak" in stated:
        return "weak"
    if table.claimed == "load":
        return "load"
    return "strong" if table.measure == "seconds" or table.claimed or "strong" in stated else ""


def _lost(table: ScalingTable, size: int) -> int | None:
    """The first size at or before this one that failed: those with a larger one that ran are mended."""
    failed = [one for one in table.failed if one > max(table.workers) or one == size]
    return min((one for one in failed if one <= size), default=None)


def _family(given):
    """The name of a family as it is written in `families`, whatever its spaces and capitals."""
    if given is None:
        return None
    known = {"".join(name.split()): name for name in BY_NAME}
    name = known.get("".join(str(given).split()).casefold())
    if name is None:
        names = ", ".join(BY_NAME)
        remedy = meant(given, BY_NAME, "choose one")
        raise Refusal(f"family must be one of {names}, got {shown(given)}: {remedy}")
    return name


def _price(table, rate, findings):
    """Dollars per hour of one worker: as given, or from a column of prices that nothing is wrong with."""
    rates = [row.rate / row.workers for row in table.rows if row.rate]
    if rate is not None or not rates or any(finding.name == "cost" for finding in findings):
        return rate
    return statistics.median(rates)
