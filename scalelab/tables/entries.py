"""What the rows of a table lack or repeat, and how far they compare: rules for `audit`."""

from scalelab import units
from scalelab.tables import sizes
from scalelab.tables.finding import Finding
from scalelab.tables.nouns import Row, ScalingTable

# A law of three parameters, such as USL with its rate, needs one size more to be tested at all.
FEWEST_SIZES = 4
# Two sizes make a straight line through anything.
FEWEST_USABLE = 3
# GNMT trained 50 times with nothing but the seed changed: BLEU 24.423, from 24.07 to 24.82, 1.6% off.
QUALITY_DRIFT = 0.02
_MOST_LISTED = 6  # sizes in one sentence; more are counted
# What says that a run failed, and not why.
_NO_CAUSE = {"failed", "fail", "error", "crash", "crashed"}
# Prices have two digits after the point; a discount has more effect.
PRICE_SPREAD = 0.05


def no_baseline(table: ScalingTable) -> Finding | None:
    """One size only: nothing to compare with."""
    if len(set(table.workers)) > 1:
        return None
    count = table.workers[0]
    text = f"All rows have {units.counted(count)}, so nothing scales here."
    return Finding("no_baseline", "error", text, "Measure the same job on fewer workers too.")


def relative_base(table: ScalingTable) -> Finding | None:
    """The smallest size is not 1: every efficiency is relative."""
    base = min(table.workers)
    if base == 1:
        return None
    return Finding(
        "relative_base",
        "note",
        f"The smallest size is {base} workers, so what was lost on the way to {base} does not show.",
        f"Say 'relative to {base}' beside every efficiency, or measure one worker.",
        _lines(table, base),
    )


def few_points(table: ScalingTable) -> Finding | None:
    """Fewer sizes than a law needs."""
    count = len(set(table.workers))
    if count == 1 or count >= FEWEST_SIZES:
        return None
    severity = "warning" if count < FEWEST_USABLE else "note"
    return Finding(
        "few_points",
        severity,
        f"{count} sizes can be fitted by any law, and contradict none.",
        f"Measure at least {FEWEST_SIZES} sizes, evenly spaced in factors.",
    )


def one_run(table: ScalingTable) -> Finding | None:
    """No replicates: noise and effect look the same."""
    if len(table.rows) > len(set(table.workers)):
        return None
    return Finding(
        "one_run",
        "note",
        "Each size has one row, so noise cannot be told from effect.",
        "Repeat each size, at least three times, and keep every run as a row.",
    )


def missing(table: ScalingTable) -> Finding | None:
    """Rows that say that there is no value."""
    causes = {line: why for line, _, why in table.failures}
    lost = {line for line, size, _ in table.failures if size in table.failed}
    gone = [m for m in table.missing if m[1] == table.measure and m[0] not in lost]
    if not gone:
        return None
    words = sorted({causes.get(line, word) for line, _, word in gone} - {""})
    which = f" ({', '.join(words)})" if words else ""
    have = "row has" if len(gone) == 1 else "rows have"
    return Finding(
        "missing",
        "note",
        f"{len(gone)} {have} no {table.measure}{which}.",
        "Repeat what failed: the runs that went well flatter their size."
        if all(line in causes for line, _, _ in gone)
        else "Say why: a size that failed is a result, and leaving it out flatters the rest.",
        tuple(m[0] for m in gone),
    )


def failed(table: ScalingTable) -> Finding | None:
    """Sizes of which no run succeeded."""
    if not table.failed:
        return None
    of: dict[str, list[int]] = {}
    for size, why in sorted(table.failed.items()):
        of.setdefault("" if why.casefold() in _NO_CAUSE else why, []).append(size)
    causes = [
        f"{_sizes(sizes)} {'worker' if sizes == [1] else 'workers'} failed{why and f': {why}'}"
        for why, sizes in of.items()
    ]
    return Finding(
        "failed",
        "warning",
        f"{'; '.join(causes)}.",
        "Mend that before you count on such a size, or on a larger one.",
        tuple(line for line, size, _ in table.failures if size in table.failed),
    )


def duplicates(table: ScalingTable) -> Finding | None:
    """The same run twice, by its number or by all its digits."""
    seen: dict[tuple[int, object], Row] = {}
    again = []
    for row in table.rows:
        value = getattr(row, table.measure)
        key = (row.workers, row.run) if row.run else (row.workers, value)
        if seen.setdefault(key, row) is not row:
            again.append(row.line)
    if not again:
        return None
    return Finding(
        "duplicates",
        "warning",
        "The same run stands here more than once, so it counts more than once.",
        "Keep one row of each run, and number replicates in a column `run`.",
        tuple(again),
    )


def quality(table: ScalingTable) -> Finding | None:
    """The result got better or worse along the way."""
    stated = [(row, row.quality) for row in table.rows if row.quality is not None]
    if not stated:
        return None
    base, start = min(stated, key=lambda pair: pair[0].workers)
    limit = QUALITY_DRIFT * abs(start)
    off = [(row, quality) for row, quality in stated if abs(quality - start) > limit]
    if not off:
        return None
    worst, reached = max(off, key=lambda pair: abs(pair[1] - start))
    return Finding(
        "quality",
        "warning",
        f"Quality goes from {units.text(start)} at {base.workers} workers to "
        f"{units.text(reached)} at {worst.workers}: the rows did not do the same job.",
        "Compare times to the same quality, or show that the drift is noise of the seed.",
        tuple(row.line for row, _ in off),
    )


def cost(table: ScalingTable) -> Finding | None:
    """The price does not follow the workers."""
    priced = [(row, row.rate) for row in table.rows if row.rate]
    grows = sizes.fixed([(row.workers, rate) for row, rate in priced])
    if grows in ("", "weak"):
        return None
    each = [rate / row.workers for row, rate in priced]
    usual = sorted(each)[len(each) // 2]
    off = [
        row.line
        for (row, _), e in zip(priced, each, strict=True)
        if abs(e / usual - 1) > PRICE_SPREAD
    ]
    text = (
        "Every row has the same price per hour, which looks like the price of one worker."
        if grows == "strong"
        else "The price per hour is not proportional to the workers."
    )
    remedy = "Give `rate` in dollars per hour of the whole configuration, or say what differs."
    return Finding("cost", "warning", text, remedy, tuple(off))


def machines(table: ScalingTable) -> Finding | None:
    """Rows of different machines."""
    names = dict.fromkeys(row.machine for row in table.rows if row.machine)
    if len(names) < 2:
        return None
    text = f"The rows come from {len(names)} machines: {', '.join(list(names)[:3])}."
    remedy = "Compare rows of one machine, or say that machine and size changed together."
    return Finding("machines", "warning", text, remedy)


def per_worker(table: ScalingTable) -> Finding | None:
    """The header says that the throughput is that of one worker."""
    if not table.each:
        return None
    text = "The throughput is said to be that of one worker; it is multiplied by the workers here."
    return Finding("per_worker", "warning", text, "Report that of all workers, and the efficiency.")


def written_units(table: ScalingTable) -> Finding | None:
    """Units in the cells that are easily taken for one another."""
    by_role = {role: set(written) for role, written in table.units}
    for role, written in by_role.items():
        decimal = {u for u in written if u[:2] in ("kB", "KB", "MB", "GB", "TB")}
        binary = {u for u in written if u[1:3] == "iB"}
        if decimal and binary:
            text = (
                f"{role.capitalize()} is in {min(decimal)} and in {min(binary)}, 7% apart at giga."
            )
            return Finding(
                "units", "warning", text, "Check that GiB (2**30) is meant, and use one."
            )
        if role == "quality" and "%" in written and "" in written:
            text = "Quality is a percentage in some rows and a plain number in others."
            return Finding("units", "warning", text, "Write all of them the same way.")
    return None


def _sizes(sizes: list[int]) -> str:
    """Write a few sizes, and count the rest: 2, 4 and 8."""
    few = [units.text(size, digits=10) for size in sizes[:_MOST_LISTED]]
    if len(few) < len(sizes):
        few.append(f"{len(sizes) - len(few)} other numbers of")
    return " and ".join(filter(None, [", ".join(few[:-1]), few[-1]]))


def _lines(table: ScalingTable, workers: int) -> tuple[int, ...]:
    return tuple(row.line for row in table.rows if row.workers == workers)
