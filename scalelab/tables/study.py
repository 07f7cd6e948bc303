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
