"""A table and its findings as text for people, and as plain data for programs."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from scalelab import units
from scalelab.arguments import shown
from scalelab.tables.finding import Finding
from scalelab.tables.nouns import ScalingTable
from scalelab.tables.printed import aligned
from scalelab.tables.understood import Understood

MOST_LISTED = 6  # rows or columns in one sentence; more are counted
MOST_SIZES = 40  # of a curve that is shown; --json has all
BAR = (8, 20)  # letters of a bar: fewer show nothing, more show no more
_UNIT = 16  # letters of a unit that stands in a heading
_KINDS = {"neither": "scaling of no stated kind", "mixed": "two studies in one table"}


def heading(table: ScalingTable) -> str:
    r"""One line on what was read.

    >>> from scalelab.tables.table import parse
    >>> heading(parse("runs", "workers,seconds\n1,60\n1,61\n2,31\n"))
    'runs: 3 rows, seconds on 1 to 2 workers'
    """
    count, sizes = len(table.rows), sorted(set(table.workers))
    rows = units.counted(count, "row", grouped=True)
    low, high = (units.text(size, digits=15) for size in (sizes[0], sizes[-1]))
    span = f"{low} to {high}" if len(sizes) > 1 else low
    return f"{table.name}: {rows}, {table.measure} on {span} worker{'s' if span != '1' else ''}"


def understood_lines(table: ScalingTable, found: Understood) -> Iterator[str]:
    r"""Yield what was taken for what, and which rows were not taken.

    >>> from scalelab.tables import table, understood
    >>> runs = table.parse("runs", "GPUs,Zeit (min),who\n1,60,ada\n2,OOM,ada\n2,31,bo\n")
    >>> print(*understood_lines(runs, understood.understood(runs)), sep="\n")
    columns  workers: 'GPUs'; seconds: 'Zeit (min)', in min; not read: 'who'
    taken    as strong scaling: nothing says otherwise, so every row is taken to do the same job
    rows     2 used, 1 left out: line 3 (no seconds: OOM)
    """
    columns = []
    for role, name, unit in table.headings:
        written = dict(table.units).get(role, ())
        units_of = [one for one in (unit, *written) if one]
        told = f", in {_listed(list(dict.fromkeys(units_of)))}" if units_of else ""
        each = ", of one worker" if table.each and role == table.measure else ""
        columns.append(f"{role}: {shown(name)}{told}{each}")
    if table.unread:
        columns.append(f"not read: {_listed([shown(name) for name in table.unread])}")
    if columns:
        yield f"columns  {'; '.join(columns)}"
    kind = _KINDS.get(found.kind, f"{found.kind} scaling")
    yield f"taken    as {kind}: {found.why}"
    gone = [f"{table.place} {line} ({why})" for line, why in table.left_out]
    used = f"{len(table.rows)} used"
    yield f"rows     {used}, {len(gone)} left out: {_listed(gone)}" if gone else f"rows     {used}"


def curve_lines(table: ScalingTable, found: Understood, width: int | None = None) -> Iterator[str]:
    r"""Yield median, speedup and efficiency of each size, with a bar of the efficiency if it fits.

    >>> from scalelab.tables import table, understood
    >>> runs = table.parse("runs", "workers,seconds\n1,60\n2,31\n4,20\n")
    >>> print(*curve_lines(runs, understood.understood(runs), width=45), sep="\n")
    workers  time (s)  speedup  efficiency
          1        60        1       1.000
          2        31     1.94       0.968
          4        20        3       0.750
    """
    unit = "s" if table.measure == "seconds" else ""
    half = MOST_SIZES // 2
    left_out = len(found.lines) - 2 * half if len(found.lines) > MOST_SIZES else 0
    sizes = [*found.lines[:half], *found.lines[-half:]] if left_out else found.lines
    # Rounded first, or two that nearly agree would bring out the last digit of all.
    cells = units.alike([float(f"{line.value:.4g}") for line in sizes], unit, 4)
    told = "time"
    if unit:
        unit = cells[0].partition(" ")[2]
        cells = [cell.partition(" ")[0] for cell in cells]
    else:
        told = table.measure
        unit = next(iter(dict(table.units).get(table.measure, ())), "")
    over = "" if found.base == 1 else f" over {units.text(found.base, digits=10)}"
    several = any(line.runs > 1 for line in found.lines)
    head = f"{'median ' if several else ''}{told}"
    weak = found.kind == "weak" and table.measure == "seconds"
    gain = "scaled speedup" if weak else "speedup"
    rows = [("workers", "runs" if several else "", f"{head} ({unit})" if 0 < len(unit) <= _UNIT else head,
             f"{gain}{over}", "efficiency")]  # fmt: skip
    for line, cell in zip(sizes, cells, strict=True):
        count, runs = units.text(line.workers, digits=10), str(line.runs) if several else ""
        rows.append((count, runs, cell, units.text(line.speedup), units.share(line.efficiency)))
    lines = [*aligned(rows, drop_empty=True, width=width)]
    least, most = BAR
    room = (
        most if width is None else min(most, width - 3 - max(map(len, lines)))
    )  # a plus may follow
    if room >= least and len(lines) == len(rows):
        shares = [line.efficiency for line in sizes]
        lines[1:] = [
            f"{line}  {_bar(share, room)}" for line, share in zip(lines[1:], shares, strict=True)
        ]
    if left_out:
        lines.insert(half + 1, f"... and {left_out} more sizes; --json has all")
    yield from lines


def _bar(share: float, room: int) -> str:
    """Write a share of one as a bar in a room of so many letters; what is above it ends in a plus."""
    filled = min(room, round(share * room))
    return "█" * filled + "░" * (room - filled) + ("+" if share > 1.005 else "")


def _listed(words: Sequence[str]) -> str:
    """Join the first few words, and count the rest."""
    rest = len(words) - MOST_LISTED
    return ", ".join(words[:MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def findings_lines(table: ScalingTable, findings: Iterable[Finding]) -> Iterator[str]:
    """Yield findings for people: what is wrong, where, and what to do about it."""
    for finding in findings:
        yield f"{finding.severity:7}  {finding.name}{place(table, finding.rows)}"
        yield f"         {finding.text}"
        yield f"         → {finding.remedy}"


def place(table: ScalingTable, rows: Sequence[int]) -> str:
    r"""Where a finding stands, as words: the first few rows of it.

    >>> from scalelab.tables.table import parse
    >>> place(parse("runs", "workers,seconds\n1,60\n"), (2, 3))
    ', lines 2 and 3'
    """
    if not rows:
        return ""
    few = [str(row) for row in rows[:6]]
    if len(rows) > len(few):
        words = f"{', '.join(few)} and {len(rows) - len(few)} more"
    else:
        words = " and ".join(filter(None, [", ".join(few[:-1]), few[-1]]))
    return f", {table.place}{'s' if len(rows) > 1 else ''} {words}"


def as_csv(table: ScalingTable) -> str:
    r"""Write a table as CSV in SI, so that what is read from it is audited as the table is.

    >>> from scalelab.tables.table import parse
    >>> as_csv(parse("strong", "GPUs,Zeit (min)\n1,60\n"))
    'workers,seconds,scaling\n1,3600.0,strong\n'
    """
    unit = next(iter(dict(table.units).get(table.measure, ())), "")
    heads = {"workers": "workers", "seconds": "seconds", "throughput": "throughput"}
    unit = re.sub(r"\s*[(\[].*", "", unit)  # a heading holds one pair of brackets
    if table.measure == "throughput" and unit:
        heads["throughput"] = f"throughput ({unit})"
    rows = [vars(row) | {table.measure: total} for row, total in
            zip(table.rows, table.columns[table.measure], strict=True)]  # fmt: skip
    if table.claimed not in ("", "both"):
        rows = [row | {"scaling": row["scaling"] or table.claimed} for row in rows]
    names = [name for name in rows[0] if name != "line" and any(row[name] for row in rows)]
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
    writer.writerow([heads.get(name, name) for name in names])
    writer.writerows([["" if row[name] is None else row[name] for name in names] for row in rows])
    return "".join(lines)


def document(table: ScalingTable, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return an audit as plain data; `rows` are lines of the file, or whatever `place` says."""
    return {
        "table": table.name,
        "place": table.place,
        "findings": [vars(finding) | {"rows": list(finding.rows)} for finding in findings],
    }


def understood_document(table: ScalingTable, found: Understood) -> dict[str, Any]:
    """Return what was understood of a table as plain data, in SI."""
    return {
        "understood": {
            "measure": table.measure,
            "kind": found.kind,
            "why": found.why,
            "columns": [
                {"quantity": role, "name": name, "unit": unit or None}
                for role, name, unit in table.headings
            ],
            "unread": list(table.unread),
            "rows": len(table.rows),
            "left_out": [{"row": line, "why": why} for line, why in table.left_out],
        },
        "sizes": [
            {"workers": line.workers, "runs": line.runs, table.measure: line.value}
            | {"speedup": line.speedup, "efficiency": line.efficiency}
            for line in found.lines
        ],
    }
