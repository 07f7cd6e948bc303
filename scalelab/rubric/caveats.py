"""What a careful reader must know beside the verdict of a rubric: rules, a remark each."""

from scalelab.rubric.gate import LEVEL, POWER
from scalelab.rubric.report import Report
from scalelab.rubric.text import quality, workers
from scalelab.units import text


def remarks(report: Report) -> tuple[str, ...]:
    """What a careful reader must know beside the verdict, the heaviest first."""
    rules = (
        _by_hand,
        _gate,
        _one_run,
        _unsure,
        _shortfall,
        _superlinear,
        _relative,
        _beaten,
        _energy,
        _work,
    )
    lines = [line for rule in rules if (line := rule(report))]
    if report.varied:
        lines.append(
            f"What changed with the workers on purpose: {', '.join(report.varied)}. "
            "A difference in quality may come from there."
        )
    return tuple(lines)


def _by_hand(report):
    if report.bound:
        return ""
    if report.command:
        return (
            "Each row is one process of `scalelab run --command`, which told its quality itself. No seal "
            "shows whether the file was edited since."
        )
    return (
        "The rows were put together by hand: nothing proves that time and quality are of one pass. "
        "`scalelab run --command` with --quality takes both from one process, `scalelab capstone` seals them."
    )


def _gate(report):
    lines = []
    failed = [row for row in report.rows if row.passes_gate is False]
    if failed:
        sizes = ", ".join(str(row.workers) for row in failed)
        lines.append(f"Out of every ranking, because {report.metric} got worse: {sizes}.")
    for row in report.rows:
        if row.passes_gate is None:
            more = (
                f" About {row.gate.runs} runs of each size would, {POWER:.0%} of the time."
                if row.gate.runs
                else ""
            )
            side = "worse" if row.gate.loss > 0 else "better"
            low, high = quality(row.gate.low), quality(row.gate.high)
            lines.append(
                f"{workers(row.workers)}: {report.metric} is {quality(abs(row.gate.loss))} {side} "
                f"than the baseline's, between {low} and {high} with the noise ({LEVEL:.0%} for "
                "each end), and the runs cannot tell on which side of "
                f"{quality(report.limits.tolerance)} it is.{more}"
            )
    better = [row for row in report.rows if row.gate.loss < -report.limits.tolerance]
    if better:
        sizes = ", ".join(str(row.workers) for row in better)
        lines.append(
            f"{report.metric.capitalize()} is better than the baseline's by more than the tolerance "
            f"at {sizes}: no reason to exclude a row, but one to ask what else changed."
        )
    return " ".join(lines)


def _one_run(report):
    if any(row.gate.tested for row in report.rows):
        return ""
    return (
        "The noise of the quality is not known: the gate compares as it stands. "
        "Repeat each size with other seeds."
    )


def _unsure(report):
    """Of the size that is recommended: whether it is faster at all, and whether it keeps the floor."""
    if report.recommended in (None, report.baseline):
        return ""
    row = report.row(report.recommended)
    floor = report.limits.floor
    answers = row.supports(speedup=1.0, efficiency=floor)
    if "undecided" not in answers.values():
        return ""
    open_ = "is faster at all" if answers["speedup"] == "undecided" else f"keeps {text(floor)}"
    sooner, used = row.speedup_spread, row.efficiency_spread
    return (
        f"{workers(row.workers)}: the speedup lies between {text(sooner.low)} and {text(sooner.high)}, "
        f"the efficiency between {text(used.low)} and {text(used.high)} ({LEVEL:.0%} for each "
        f"end), and the runs cannot tell whether it {open_}. Repeat each size."
    )


def _shortfall(report):
    lost = report.shortfall
    if lost is None:
        if report.scaling == "neither":
            return (
                "The work neither stays nor grows with the workers, so no law of scaling applies "
                "and no serial fraction is given."
            )
        return ""
    if lost.cause == "none":
        return ""
    start = (
        f"{workers(lost.workers)} reach a speedup of {text(lost.measured)}, where {text(lost.ideal)} "
        f"would be ideal; a serial fraction alone would allow {text(lost.predicted)}."
    )
    if lost.cause == "cannot tell":
        between = ""
        if lost.low is not None:
            low, high = text(lost.low, "%", 2), text(lost.high, "%", 2)
            between = f": communication may take {low} to {high} of what is lost"
        return (
            f"{start} Whether the rest is a serial part or communication the rows cannot tell{between}. "
            "Measure the exposed communication of a step, or the alpha and beta of the network."
        )
    whole = f"{text(lost.low, '%', 2)}" + (
        f" to {text(lost.high, '%', 2)}" if lost.how == "fitted" else ""
    )
    return f"{start} Communication takes {whole} of what is lost, {lost.how}."


def _superlinear(report):
    above = [row for row in report.rows if row.efficiency > 1 + 1e-9]
    if not above:
        return ""
    sizes = ", ".join(str(row.workers) for row in above)
    return (
        f"Efficiency is above 1 at {sizes}: the baseline may be starved of memory, cache or tuning. "
        "Explain it before quoting any speedup."
    )


def _relative(report):
    if report.baseline == 1:
        return ""
    return (
        f"Speedup and efficiency are relative to {workers(report.baseline)}: what was lost on the way "
        "there does not show."
    )


def _beaten(report):
    """The floor alone can exclude a row that is faster and cheaper; prices are then not proportional."""
    if report.recommended is None:
        return ""
    row = report.row(report.recommended)
    for other in report.rows:
        better = other.time <= row.time and other.cost_per_work < row.cost_per_work
        if better and other.missed == ("floor",) and other.passes_gate:
            return (
                f"{workers(other.workers)} are faster and cheaper, and out only by the floor: "
                "the price is not proportional to the workers, so ask whether the floor serves."
            )
    return ""


def _energy(report):
    if any(row.joules is not None for row in report.rows):
        return ""
    return "Energy was not measured, so nothing is claimed about it."


def _work(report):
    if report.work_stated:
        return ""
    return "No work is stated, so one run counts as one unit of work."
