"""The rows of a rubric from a file: passes that were recorded, or a table made by hand."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalelab import records
from scalelab.arguments import real, shown
from scalelab.data.datasets import Series
from scalelab.files import files
from scalelab.records import Machine, Stamp
from scalelab.refusal import Refusal
from scalelab.rubric import rows as rubric_rows
from scalelab.rubric.rows import Measured
from scalelab.tables import cells as _cells, columns as _columns, grid as _grid, study, table
from scalelab.tables.nouns import ScalingTable

# Qualities of which less is more.
_LOSS = re.compile(
    r"loss|perplexity|\bppl\b|error|\bwer\b|\bcer\b|\bfid\b|\brmse\b|\bmae\b|\bmse\b"
)
_LATENCY = re.compile(r"(?:tail[_ ]?)?latency(?:[_ ]p\d+)?|p\d{2,3}(?:[_ ]latency)?", re.IGNORECASE)


def read(path: str | Path, **options: Any) -> Measured:
    r"""Read what a rubric judges from a CSV or JSON file; the options are those of `parse`. Section 41.6.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "runs.csv")
    ...     _ = file.write_text("GPUs,hours,accuracy\n1,1,0.87\n8,0.16,0.87\n")
    ...     read(file, price=2).configurations[1].rate
    16.0
    """
    return parse(*_grid.source(path), **options)


def parse(
    path: str | Path,
    content: str,
    *,
    work: float | None = None,
    price: float | None = None,
    better: str | None = None,
    flat_rate: bool = False,
) -> Measured:
    """Read what a rubric judges from the text of such a file. Section 41.6.

    `work` and `price`, in dollars per worker and hour, fill in what the file does not state;
    `flat_rate` says that the price does not grow with the workers: it is then that of all together.
    """
    if price is not None:
        price = real("price", price, "it is in dollars per worker and hour", 0, above=True)
    if work is not None:
        work = real("work", work, "it counts the useful results of a run", 0, above=True)
    try:
        passes = recorded(content)
        if passes is not None:
            for name, given in (("work", work), ("better", better)):
                if given is not None:
                    raise Refusal(f"{name} must go with a table, got {given} for passes: drop it")
            return rubric_rows.of_passes(passes, price=price, flat_rate=flat_rate)
    except Refusal as error:
        raise Refusal(f"{path}: {error}") from None
    grid = _grid.of(path, content)
    scaling_table = table.of_grid(path, grid)
    heading = next((h.text for h in grid.headings if h.role == "quality"), "quality")
    if better is None:
        better = "lower" if _LOSS.search(heading.casefold()) else "higher"
    try:
        return of_table(
            scaling_table, work=work, price=price, better=better, metric=_columns_name(heading),
            latencies=_latencies(path, grid), flat_rate=flat_rate,
            command=_command(grid),
            seeded=any(h.role == "run" and "seed" in h.text.casefold() for h in grid.headings),
        )  # fmt: skip
    except Refusal as error:
        raise Refusal(f"{path}: {error}") from None


def recorded(content: str) -> records.Passes | None:
    """Return the Passes that a text holds, or None where it holds a table."""
    if content.lstrip()[:1] != "{" or not re.search(r'"record":\s*"Pass(?:es)?"', content[:400]):
        return None
    record = records.from_json(content)
    if isinstance(record, records.Pass):
        return records.Passes("one pass", (record,))
    return record if isinstance(record, records.Passes) else None


def of_series(
    series: Series,
    *,
    work: float | None = None,
    price: float | None = None,
    better: str = "higher",
    flat_rate: bool = False,
    name: str = "",
) -> Measured:
    """Rows of a public series that states a quality; a report calls them by their `name`. Section 41.6.

    >>> from scalelab.data import datasets
    >>> of_series(datasets.load("nv_gnmt_dgx1_v100_fp16"), price=3).metric
    'BLEU'
    """
    rows = table.of_series(series)
    return of_table(
        replace(rows, name=name or rows.name), work=work, price=price, better=better, flat_rate=flat_rate,
        metric=series.quality.unit if series.quality else "quality",
        stamp=Stamp("published", note=f"{series.source}; {rubric_rows.UNBOUND}"),
    )  # fmt: skip


def of_table(
    scaling_table: ScalingTable,
    *,
    work: float | None = None,
    price: float | None = None,
    better: str = "higher",
    metric: str = "quality",
    latencies: Mapping[int, float] | None = None,
    flat_rate: bool = False,
    stamp: Stamp | None = None,
    seeded: bool = False,
    command: tuple[str, str] = ("", ""),
) -> Measured:
    """Rows of a table that was made by hand, unless `scalelab run` made it. Section 41.6.

    `seeded` if its runs are named by their seeds; `command` is what it ran, and when.
    """
    if price is not None and all(row.rate is not None for row in scaling_table.rows):
        raise Refusal(
            f"price must go with rows that state no rate, got {price:g} beside a rate in each: "
            "drop it, or the column `rate`"
        )
    grows = scaling_table.measure == "seconds" and study.weak(scaling_table)
    cells, places, seen = [], [], set()
    for row in scaling_table.rows:
        amount = row.work if row.work is not None else work
        if amount is None and grows:
            amount = row.workers
        place = f"{scaling_table.place} {row.line}"
        if row.run and (row.workers, row.run) in seen:
            raise Refusal(
                f"{place} must be a run of its own, got run {shown(row.run)} of {row.workers} "
                "workers again: keep one row of each run"
            )
        seen.add((row.workers, row.run))
        cells.append(
            {
                "workers": row.workers,
                "seconds": _seconds(place, scaling_table, row, amount),
                "quality": row.quality,
                "rate": rubric_rows.priced(row.rate, price, row.workers, flat_rate),
                "work": amount,
                "joules": row.joules,
                "latency": (latencies or {}).get(row.line),
                "seed": row.run if seeded and row.run else None,
            }
        )
        places.append(place)
    _complete(cells, places)
    _one_machine(scaling_table)
    return rubric_rows.measured(
        cells, places, name=scaling_table.name, metric=metric, better=better, flat_rate=flat_rate,
        stamp=stamp or _stamp(scaling_table, command), command=command[0],
        work_stated=any(cell["work"] is not None for cell in cells),
    )  # fmt: skip


def _command(grid):
    """Return the command that `scalelab run` ran for all rows, and the dates, or nothing."""
    names = [heading.text for heading in grid.headings]
    if not {"command", "date", "machine", "quality", "run", "scaling"} <= {*names}:
        return "", ""
    commands, dates = ({row[names.index(n)] for _, row in grid.rows} for n in ("command", "date"))
    if len(commands) > 1 or not all(isinstance(cell, str) and cell for cell in commands | dates):
        return "", ""
    return " ".join(min(commands).split()), " to ".join(dict.fromkeys((min(dates), max(dates))))


def _stamp(scaling_table, command):
    line, date = command
    if not line:
        return rubric_rows.by_hand()
    host = Machine(scaling_table.rows[0].machine or "a machine without a name", None)
    return Stamp("recorded", host, date, note=f"scalelab run --command {shown(line)}")


def _one_machine(scaling_table):
    names = list(dict.fromkeys(row.machine for row in scaling_table.rows if row.machine))
    if len(names) > 1:
        raise Refusal(
            f"rows must come from one machine, got {shown(names[0])} and {shown(names[1])}: "
            "their times do not compare, so judge each machine by itself"
        )


def _complete(cells, places):
    """Say what the rows lack, with the column that gives it."""
    for name, remedy in (
        ("quality", "add what was evaluated in the same runs; speed alone is not judged"),
        ("rate", "add dollars per hour of all workers together, or give a price per worker"),
    ):
        lacking = [p for c, p in zip(cells, places, strict=True) if c[name] is None]
        if len(lacking) == len(cells):
            raise Refusal(f"the table must have a column `{name}`, got none: {remedy}")
        if lacking:
            raise Refusal(
                f"{lacking[0]} must hold a {name} as other rows do, got nothing: "
                "measure it in the same run, or leave the row out and say so"
            )


def _seconds(place, scaling_table, row, work):
    if scaling_table.measure == "seconds":
        return row.seconds
    if work is None:
        raise Refusal(
            f"{place} must state the work of the whole job beside a throughput, got none: "
            "add a column `work`, or give it with --work"
        )
    return work / (row.throughput * (row.workers if scaling_table.each else 1))


def _latencies(path, grid):
    """Return line: seconds, of a column of latencies, if there is one."""
    for index, heading in enumerate(grid.headings):
        name, _, unit = re.sub(r"[)\]]$", "", heading.text).partition("(")
        if heading.role or not _LATENCY.fullmatch(name.strip()):
            continue
        factor = _columns.TIMES.get(_columns.time_unit(unit) or "s")
        return {
            line: _latency(path, f"{grid.place} {line}", heading.text, row[index], factor)
            for line, row in grid.rows
            if not _cells.missing(row[index])
        }
    return {}


def _latency(path, place, column, cell, factor):
    value = _cells.value(cell, "seconds", "dot", factor)
    if value is None or value[0] < 0:
        place = f"{place} column {shown(column)}"
        raise files.wrong(path, place, "be a time, at least 0", shown(cell), "write it like 35 ms")
    return value[0]


def _columns_name(heading):
    """Return what a column of qualities is called in a sentence."""
    return " ".join(re.sub(r"[_*`]+", " ", heading).split())[:40] or "quality"
