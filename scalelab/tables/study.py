"""What a table calls itself, and what its work and batch say: rules for `audit`."""

from scalelab import units
from scalelab.tables import sizes
from scalelab.tables.finding import Finding
from scalelab.tables.nouns import ScalingTable

# Half of what the workers grew by, in logarithms: less is rounding, more is another kind of study.
FALLS = 0.5


def weak(table: ScalingTable) -> bool:
    """Whether the work of one worker is held fixed: the table says so, and nothing in it says otherwise."""
    return table.claimed == "weak" and mislabelled(table) is None


def kind(table: ScalingTable) -> tuple[str, str]:
    r"""Return as what a table is read, "strong", "weak", "load", "neither" or "mixed", and why.

    >>> from scalelab.tables.table import parse
    >>> kind(parse("runs", "workers,seconds,work\n1,60,10\n2,61,20\n"))
    ('weak', 'the work grows with the workers')
    """
    claimed, where = table.claim
    work, batch = sizes.stated(table, "work"), sizes.stated(table, "batch")
    if mixed(table):
        return "mixed", "some rows hold the work fixed and others let it grow"
    if work:
        reasons = {
            "strong": "the work is the same in every row",
            "weak": "the work grows with the workers",
            "neither": "the work neither stays nor grows with the workers; work per second is compared",
        }
        return work, reasons[work]
    wrong = mislabelled(table)
    if claimed and not wrong:
        return claimed, f"{where} says so"
    if wrong and table.measure == "seconds":
        return "strong", f"{where} says {claimed}, what stands below says otherwise"
    if batch in ("strong", "weak") and table.measure == "throughput":
        grows = "is the same in every row" if batch == "strong" else "grows with the workers"
        return batch, f"the global batch {grows}{f', though {where} says {claimed}' * bool(wrong)}"
    if table.measure == "throughput":
        return "neither", "nothing says what was held fixed, and rates compare either way"
    return "strong", "nothing says otherwise, so every row is taken to do the same job"


def mislabelled(table: ScalingTable) -> Finding | None:
    """The heading says strong or weak, and the work or the batch says otherwise."""
    for quantity, name in (("work", "work"), ("batch", "global batch")):
        fixed = sizes.stated(table, quantity)
        if table.claimed == "weak" and fixed == "strong":
            text = f"The table is called weak scaling, but its {name} is the same in every row."
            remedy = f"Call it strong scaling, or let the {name} grow with the workers."
            return Finding("mislabelled", "warning", text, remedy)
        # With times, a growing batch may still train the same job: that is `batch`'s to say.
        counts = quantity == "work" or table.measure == "throughput"
        if table.claimed == "strong" and fixed == "weak" and counts:
            text = f"The table is called strong scaling, but its {name} grows with the workers."
            remedy = f"Call it weak scaling, or hold the {name} fixed."
            return Finding("mislabelled", "warning", text, remedy)
    return _falling(table)


def _falling(table):
    """Times alone: those of a weak study do not fall."""
    if table.measure != "seconds" or table.claimed != "weak" or sizes.stated(table, "work"):
        return None
    rows = sorted(table.rows, key=lambda row: row.workers)
    grown, sped = rows[-1].workers / rows[0].workers, rows[0].seconds / rows[-1].seconds
    if sped <= grown**FALLS or grown == 1:
        return None
    text = (
        f"The table is called weak scaling, but {units.text(grown)} times the workers took "
        f"{units.text(1 / sped, '%')} of the time; at fixed work per worker it cannot fall."
    )
    return Finding("mislabelled", "warning", text, "Say what was held fixed, in a column `work`.")


def mixed(table: ScalingTable) -> Finding | None:
    """Rows of a strong and of a weak study in one table."""
    work = sizes.stated(table, "work")
    if table.claimed != "both" and not (work == "neither" and _two_studies(table)):
        return None
    text = "Some rows hold the work fixed and others let it grow: two studies, and no curve."
    return Finding("mixed", "error", text, "Part the table in two, one strong and one weak.")


def _two_studies(table):
    """Whether some size appears with the base's work and with its share of a grown one."""
    base = min(table.rows, key=lambda row: row.workers)
    kinds = set()
    for row in table.rows:
        if row.workers > base.workers * (1 + sizes.SAME):
            kinds.add(sizes.fixed([(base.workers, base.work), (row.workers, row.work)]))
    return kinds == {"strong", "weak"}


def batch(table: ScalingTable) -> Finding | None:
    """Neither the global batch nor the batch of a worker stays the same."""
    fixed = sizes.stated(table, "batch")
    grows = fixed == "weak" and table.measure == "seconds" and table.claimed == "strong"
    if fixed != "neither" and not grows:
        return None
    each = sorted(
        (row.workers, row.batch / row.workers, row.line) for row in table.rows if row.batch
    )
    usual = sorted(b for _, b, _ in each)[len(each) // 2]
    changed = [
        line for _, b, line in each if not 1 / (1 + sizes.SAME) <= b / usual <= 1 + sizes.SAME
    ]
    low, high = min(b for _, b, _ in each), max(b for _, b, _ in each)
    text = (
        "The global batch grows with the workers in a table called strong scaling."
        if grows
        else f"The batch of a worker goes from {units.text(low)} to {units.text(high)}: the rows differ in "
        "more than their workers."
    )
    remedy = "Hold the global batch or the batch per worker fixed, and report epochs to the target."
    return Finding("batch", "warning", text, remedy, tuple(changed))
