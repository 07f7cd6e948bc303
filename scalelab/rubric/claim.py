"""A claim against the rows it is about: each number recomputed, the gate and the limits asked."""

from scalelab.arguments import scalar, shown
from scalelab.rubric.report import Report
from scalelab.rubric.text import held, misses, reason, workers
from scalelab.tables.finding import Finding
from scalelab.units import text

# What a claim may state of its configuration; a row calls it the same.
CLAIMS = ("speedup", "efficiency", "quality", "cost", "cost_per_work", "joules_per_work")
_CLOSE = 0.01  # relative: a claim is rounded


def error(name: str, said: str, remedy: str, rows: tuple[int, ...] = ()) -> Finding:
    """Return a finding that makes a submission unsound."""
    return Finding(name, "error", said, remedy, rows)


def of_claim(claim: object, report: Report | None) -> list[Finding]:
    """What the claim says that the rows do not."""
    if not isinstance(claim, dict):
        fault = f"The claim is {shown(claim)}, not names with values."
        return [error("claim_unreadable", fault, 'Write {"workers": 8, "efficiency": 0.80, ...}.')]
    if report is None:
        return [error("claim_unsupported", "No rows support the claim.", "Mend the record first.")]
    size = scalar(claim.get("workers"))
    row = next((row for row in report.rows if row.workers == size), None)
    if row is None:
        sizes = ", ".join(str(row.workers) for row in report.rows)
        fault = f"The claim is about {shown(claim.get('workers'))} workers; measured were {sizes}."
        return [error("claim_unmeasured", fault, "Claim a size that was measured.")]
    return [
        *_sizes_claimed(row, report),
        *_values_claimed(claim, row),
        *_unsure(claim, row, report),
        *_rest(claim, row, report),
    ]


def _sizes_claimed(row, report):
    """Whether the size that is claimed may be: the gate, the limits, the better choice."""
    if row.passes_gate is not True:
        fault = (
            f"{report.metric} fell by {text(row.gate.loss)} on {row.workers} workers"
            if row.passes_gate is False
            else f"Whether quality held on {row.workers} workers is undecided"
        )
        remedy = "A speedup without its quality is of another job: claim a row that passes."
        yield error("claim_gate", f"{fault}.", remedy)
    if row.missed:
        against = ", and ".join(misses(report, row, name) for name in row.missed)
        fault = f"{workers(row.workers)} {against}."
        yield error("claim_limits", fault, "Claim a row that meets every limit that was set.")
    if row.eligible and row.workers not in (report.recommended, report.baseline):
        fault = (
            f"{report.recommended} workers are {reason(report)}; the claim is about {row.workers}."
        )
        yield Finding("claim_other", "note", fault, "Give the reason for the other choice.")


def _values_claimed(claim, row):
    """Whether each number is what the record gives."""
    stated = [name for name in CLAIMS if name in claim]
    for name in stated:
        given, measured = scalar(claim[name]), getattr(row, name)
        called = name.replace("_", " ")
        if measured is None:
            fault = f"{called} is claimed to be {shown(claim[name])}, and was not measured."
            yield error(f"claim_{name}", fault, "Measure it, or leave it out.")
        elif not _rounds_to(given, measured):
            gives = held(measured) if name == "quality" else text(measured)
            fault = f"{called} is claimed to be {shown(claim[name])}; the record gives {gives}."
            yield error(f"claim_{name}", fault, "Quote what the record gives.")
    missing = [n for n in ("efficiency", "quality", "cost_per_work") if n not in stated]
    if missing:
        left = ", ".join(missing).replace("_", " ")
        fault = f"The claim does not state: {left}."
        yield Finding("claim_partial", "warning", fault, "Report the tuple, never one hero number.")


def _unsure(claim, row, report):
    """Whether noise leaves open that the size is faster, or that it keeps the floor."""
    about = {"speedup": 1.0, "efficiency": report.limits.floor}
    for name, least in about.items():
        spread = getattr(row, f"{name}_spread")
        above = name in claim and getattr(row, name) > least
        if above and row.supports(**{name: least})[name] != "supported":
            fault = (
                f"Whether {name} on {row.workers} workers is above {text(least)} the runs leave open: "
                f"it lies between {text(spread.low)} and {text(spread.high)}."
            )
            yield Finding("claim_unsure", "warning", fault, "Repeat each size, or say undecided.")


def _rest(claim, row, report):
    if "cause" in claim:
        known = report.shortfall.cause if report.shortfall else "cannot tell"
        if claim["cause"] != known:
            fault = f"The wall is claimed to be {shown(claim['cause'])}; the rows say: {known}."
            yield error("claim_cause", fault, "Claim what the rows tell, or measure the split.")
    unknown = sorted(set(claim) - {"workers", "cause", *CLAIMS}, key=str)
    if unknown:
        fault = f"Nothing checks {', '.join(map(shown, unknown))}."
        yield Finding("claim_unknown", "note", fault, f"Use the names {', '.join(CLAIMS)}.")


def _rounds_to(given, measured):
    """Whether a number is the other one, rounded to two figures or better."""
    return abs(given - measured) <= _CLOSE * abs(measured) or float(f"{measured:.1e}") == given
