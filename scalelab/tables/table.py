"""A scaling table as people keep it, read into numbers, or refused by file, row and column.

Columns: `workers`, and `seconds` or `throughput`; optionally `work`, `batch`, `quality`, `rate` (dollars
per hour of the whole configuration), `joules`, `run`, `machine`, `scaling`, `failed` (why a run has no
time). Replicates are rows.
"""

import re
from pathlib import Path
from typing import Any

from scalelab.arguments import shown
from scalelab.data.datasets import Series
from scalelab.files import files
from scalelab.refusal import Refusal
from scalelab.tables import cells as _cells, grid as _grid
from scalelab.tables.nouns import Row, ScalingTable

MOST_WORKERS = 10**9
_TEXTS = ("run", "machine", "scaling", "failed")
_MAY_BE_ZERO = {"rate", "joules", "quality"}
_KINDS = {
    "workers": (f"be a whole number from 1 to {MOST_WORKERS:,}", "count the workers of this row"),
    "seconds": (
        "be a positive time",
        "write it like 35 ms, 1h 32m 10s, 1:32:10 or 0.035 in seconds",
    ),
    "throughput": ("be a positive rate", "write it like 1234.5"),
    "work": ("be a positive amount", "write it like 1234.5"),
    "batch": ("be a positive number of samples", "write it like 4096"),
    "quality": ("be a number", "write it like 0.761, or 76.1%"),
    "rate": ("be dollars per hour, at least 0", "write it like 32.77, for all workers together"),
    "joules": ("be an energy, at least 0", "write it like 5.4 kWh, or in joules"),
}


def read(path: str | Path, sheet: str | None = None) -> ScalingTable:
    r"""Read a scaling table from a CSV, JSON or Excel file, of the latter a sheet. Section 3.3.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "runs.csv")
    ...     _ = file.write_text("GPUs;time (ms)\n8;1.250,5\n1;9.000,0\n")
    ...     read(file).rows[0].seconds
    1.2505
    """
    return parse(*_grid.source(path, sheet=sheet))


def parse(path: str | Path, content: str) -> ScalingTable:
    r"""Read a scaling table from the text of such a file; the path says how to call it. Section 3.3.

    >>> parse("typed", "workers,seconds\n1,60\n2,31\n").values
    (60.0, 31.0)
    """
    return of_grid(path, _grid.of(path, content))


def of_grid(path: str | Path, grid: _grid.Grid) -> ScalingTable:
    """Read a scaling table from the cells of such a file. Section 3.3."""
    columns = _chosen(path, grid)
    style = _style(path, grid, columns)
    rows, units, left_out = [], {}, list(grid.left_out)
    missing: list[tuple[int, str, str]] = []
    for role, index in columns.items():
        unit = grid.headings[index].unit
        units[role] = {unit: None} if unit else {}
    for line, cells in grid.rows:
        row = _row(path, grid, columns, style, line, cells, units, missing)
        if row is None:
            left_out.append((line, "nothing was measured"))
        else:
            rows.append(row)
    measure = max(
        ("seconds", "throughput"), key=lambda m: sum(getattr(r, m) is not None for r in rows)
    )
    measured = tuple(row for row in rows if getattr(row, measure) is not None)
    if not measured:
        remedy = "add the measurements"
        raise files.wrong(path, "", "hold a row with workers and a value", "none", remedy)
    unread = [h.text for i, h in enumerate(grid.headings) if i not in columns.values()]
    gone = {line: word for line, role, word in missing if role == measure}
    lost = [row for row in rows if getattr(row, measure) is None]
    causes = {row.line: row.failed or gone[row.line] for row in lost}
    left_out += [(line, f"no {measure}{why and f': {why}'}") for line, why in causes.items()]
    return ScalingTable(
        name=_name(path),
        rows=measured,
        measure=measure,
        title=" ".join(filter(None, [grid.title, *unread])),
        each=measure == "throughput" and grid.headings[columns[measure]].each,
        units=tuple((role, tuple(written)) for role, written in units.items() if written),
        missing=tuple(
            m
            for m in missing
            if m[1] in (measure, "workers") or m[0] in {row.line for row in measured}
        ),
        place=grid.place,
        headings=tuple(
            (r, grid.headings[i].text, grid.headings[i].unit) for r, i in columns.items()
        ),
        unread=tuple(filter(None, unread)),
        left_out=tuple(sorted(left_out)),
        failures=tuple(
            (row.line, row.workers, causes[row.line])
            for row in lost
            if row.failed or gone[row.line].casefold() in _cells.FAILED
        ),
    )


def _name(path: str | Path) -> str:
    """Return the name of a file without its folder and ending, and of which of its sheets."""
    file, sheet, which = str(path).partition(_grid.SHEET)
    return Path(file.removesuffix(".gz")).stem + (f", sheet {which}" if sheet else "")


def of_series(series: Series) -> ScalingTable:
    """The table of a public series. Section 3.3.

    >>> from scalelab.data import datasets
    >>> of_series(datasets.load("sysbench_cpu")).values[0]
    8272.55783333
    """
    measure = "seconds" if series.seconds else "throughput"
    values = series.seconds or series.throughput
    if values is None:
        raise Refusal(
            f"series must hold times or throughputs, got {shown(series.metric)} in {series.name}: "
            "it is no scaling table"
        )
    columns: dict[str, Any] = {
        measure: values,
        "work": series.column("parameters") if measure == "seconds" else None,
        "batch": series.column("global_batch_size"),
        "quality": series.quality and series.quality.values,
        "run": _numbered(series.workers),
    }
    rows = tuple(
        Row(i + 1, k, **{role: of[i] for role, of in columns.items() if of})
        for i, k in enumerate(series.workers)
    )
    title = (
        f"{series.claimed or series.scaling} scaling" if series.claimed or series.scaling else ""
    )
    # A rate per worker is multiplied by the workers, so its unit is none of the table's.
    own = series.unit if series.metric != "rate_per_worker" else ""
    units = ((measure, (own,)),) if own else ()
    origins = {
        "workers": (series.counted, ""),
        measure: (series.metric, own),
        "batch": ("global_batch_size", ""),
        "work": ("parameters", ""),
        "quality": (series.quality.metric, series.quality.unit) if series.quality else ("", ""),
    }
    headings = tuple((r, *origins[r]) for r in origins if r == "workers" or columns.get(r))
    return ScalingTable(
        series.name, rows, measure, title, units=units, place="row", headings=headings
    )


def _numbered(workers):
    """Number the rows of each size that has several: equal digits of two runs are no copy. Else None."""
    if len(set(workers)) == len(workers):
        return None
    return [str(workers[: i + 1].count(k)) for i, k in enumerate(workers)]


def _chosen(path, grid):
    """Return the column of each quantity: the one named exactly so, else the only one."""
    chosen = {}
    for role in {h.role for h in grid.headings} - {""}:
        columns = [i for i, h in enumerate(grid.headings) if h.role == role]
        exact = [i for i in columns if grid.headings[i].text.casefold() == role]
        if len(exact or columns) > 1:
            names = [grid.headings[i].text for i in (exact or columns)]
            expected = f"have one column of {role}"
            remedy = f"{'keep' if exact else 'name'} the one to read `{role}`"
            remedy += ", and call the others something else" if exact else ""
            raise files.wrong(path, "header", expected, names, remedy)
        chosen[role] = (exact or columns)[0]
        heading = grid.headings[chosen[role]]
        if heading.strange:
            expected = f"give {role} in a unit of " + ("time" if role == "seconds" else "energy")
            remedy = "use ms, s, min or h" if role == "seconds" else "use J, kJ, Wh or kWh"
            raise files.wrong(
                path, f"header column {shown(heading.text)}", expected, heading.unit, remedy
            )
    return dict(sorted(chosen.items(), key=lambda item: item[1]))


def _style(path, grid, columns):
    """Return "dot" or "comma", or refuse a file in which both are possible or both occur."""
    numeric = [i for role, i in columns.items() if role not in _TEXTS]
    cells = [
        (line, i, row[i]) for line, row in grid.rows for i in numeric if isinstance(row[i], str)
    ]
    style = _cells.style([cell for _, _, cell in cells])
    if isinstance(style, tuple):
        expected = "write all numbers with the same decimal sign"
        raise files.wrong(path, "", expected, " and ".join(style), "use a point everywhere")
    if style == "open" and grid.open_commas:
        # Where semicolons part the cells, the comma may well be the decimal sign.
        for line, i, cell in cells:
            if _cells.ambiguous(cell):
                place = f"{grid.place} {line} column {shown(grid.headings[i].text)}"
                expected = "be a number that reads only one way"
                raise files.wrong(path, place, expected, cell, "write 1234 or 1.234")
    return style


def _row(path, grid, columns, style, line, cells, units, missing):
    """Return the Row of these cells, or None where nothing was measured."""
    values: dict[str, Any] = {}
    empty = all(_cells.missing(cells[i]) for r, i in columns.items() if r not in _TEXTS)
    if empty:
        return None
    for role, index in columns.items():
        cell, heading = cells[index], grid.headings[index]
        place = f"{grid.place} {line} column {shown(heading.text)}"
        if role == "failed":
            values[role] = _cause(path, place, cell)
        elif role in _TEXTS:
            values[role] = "" if _cells.missing(cell) else _text(path, place, cell)
        elif _cells.missing(cell):
            if role == "workers":
                raise files.wrong(path, place, *_said(role, cell))
            missing.append((line, role, "" if cell is None else cell.strip()))
        else:
            values[role] = _number(path, place, cell, role, style, heading.factor, units[role])
    for role in ("batch", "rate"):
        # A price or a batch of one worker is said once more for each of them.
        if role in values and grid.headings[columns[role]].each:
            values[role] *= values["workers"]
    return Row(line, **values)


def _number(path, place, cell, role, style, factor, units):
    read = _cells.value(cell, role, style, factor)
    if read is None:
        raise files.wrong(path, place, *_said(role, cell))
    number, unit = read
    whole = role != "workers" or (number.is_integer() and 1 <= number <= MOST_WORKERS)
    if not whole or (
        number <= 0 and not (number == 0 and role in _MAY_BE_ZERO) and role != "quality"
    ):
        raise files.wrong(path, place, *_said(role, cell))
    if unit or role == "quality":
        units[unit] = None
    return int(number) if role == "workers" else number


def _text(path, place, cell):
    if isinstance(cell, (list, dict)):
        raise files.wrong(path, place, "be text or a number", cell, "write one value")
    return " ".join(str(cell).split())[:200]


def _cause(path, place, cell):
    """Why a run failed, without how long that took; nothing where it did not."""
    if isinstance(cell, bool):
        return "failed" if cell else ""
    said = "" if cell is None else _text(path, place, cell)
    word = said.casefold()
    if word in _cells.MISSING | {"0", "no", "false"}:
        return ""
    return (
        "failed" if word in ("1", "yes", "true") else re.sub(r", after [\d.,e+-]+ \w+$", "", said)
    )


def _said(role, cell):
    expected, remedy = _KINDS[role]
    return expected, "nothing" if cell is None or cell == "" else cell, remedy
