"""The scaling table a command is given: a file, standard input, or a public series by its name."""

import json
import math
import os
import sys

import click

argument = click.argument("file", metavar="FILE")


def find(given):
    """Return the ScalingTable; a file goes before a series of its name."""
    from scalelab.data import datasets
    from scalelab.files import files
    from scalelab.tables import grid, table

    if given == "-":
        raw = sys.stdin.buffer.read(grid.MOST_BYTES + 1)
        return table.parse("stdin", files.decoded("stdin", raw, grid.MOST_BYTES))
    if given in datasets.names() and not os.path.lexists(given):
        return table.of_series(datasets.load(given))
    return table.read(given)


def echo(record):
    """Print plain data as JSON, which knows no infinity: what has no finite value is null."""
    click.echo(json.dumps(_finite(record), indent=1, allow_nan=False))


def _finite(value):
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def heading(found):
    r"""One line on what was read.

    >>> from scalelab.tables.table import parse
    >>> heading(parse("runs", "workers,seconds\n1,60\n1,61\n2,31\n"))
    'runs: 3 rows, seconds on 1 to 2 workers'
    """
    from scalelab import units

    count, sizes = len(found.rows), sorted(set(found.workers))
    rows = f"{units.text(count, digits=15)} row{'s' if count > 1 else ''}"
    low, high = (units.text(size, digits=15) for size in (sizes[0], sizes[-1]))
    span = f"{low} to {high}" if len(sizes) > 1 else low
    return f"{found.name}: {rows}, {found.measure} on {span} worker{'s' if span != '1' else ''}"


def told(found, findings):
    """Yield findings for people: what is wrong, where, and what to do about it."""
    for one in findings:
        yield f"{one.severity:7}  {one.name}{place(found, one.rows)}"
        yield f"         {one.text}"
        yield f"         → {one.remedy}"


def place(found, rows):
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
    return f", {found.place}{'s' if len(rows) > 1 else ''} {words}"
