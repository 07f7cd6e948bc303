"""A table and its findings as text for people, and as plain data for programs."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from scalelab import units
from scalelab.tables.finding import Finding
from scalelab.tables.nouns import ScalingTable


def aligned(
    rows: Sequence[Sequence[str]], left: Collection[int] = (), drop_empty: bool = False
) -> Iterator[str]:
    r"""Yield rows of text in columns, to the right but for those `left`, the first row being headings.

    >>> print(*aligned([("workers", "note"), ("8", ""), ("16", "best")], left=[1]), sep="\n")
    workers  note
          8
         16  best
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    used = [at for at in range(len(widths)) if not drop_empty or any(row[at] for row in rows[1:])]
    for row in rows:
        cells = [
            row[at].ljust(widths[at]) if at in left else row[at].rjust(widths[at]) for at in used
        ]
        yield "  ".join(cells).rstrip()


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


def document(table: ScalingTable, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return an audit as plain data; `rows` are lines of the file, or whatever `place` says."""
    return {
        "table": table.name,
        "place": table.place,
        "findings": [vars(finding) | {"rows": list(finding.rows)} for finding in findings],
    }
