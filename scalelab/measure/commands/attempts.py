"""A table of runs in its file: a row for each, those that failed too, so that a study can be taken up again.

The file is a scaling table, as `scalelab audit`, `fit` and `rubric` read it; every row says of which
command, so that no other is added to it. As CSV where the name ends so, else as JSON.
"""

import csv
import io
import json
import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scalelab.arguments import shown
from scalelab.files import atomic, files
from scalelab.measure.commands.words import Command
from scalelab.refusal import Refusal

SCALINGS = ("strong", "weak")


@dataclass(frozen=True)
class Attempt:
    """One run of a program: what was measured, or why it was not."""

    workers: int
    run: int  # the first of this number of workers is 1
    seconds: float  # of the whole process
    throughput: float | None = None  # as the program said, where it was asked for
    quality: float | None = None
    failed: str = ""  # why nothing counts
    note: str = ""  # what else one should know
    date: str = ""
    machine: str = ""


@dataclass(frozen=True)
class Asked:
    """What all runs of a study have in common."""

    command: Command
    scaling: str = "strong"
    work: float | None = None  # of all workers together; of each in weak scaling
    rate: bool = False  # whether a throughput is read instead of the clock
    quality: bool = False  # whether a quality is read besides

    def amount(self, workers: int) -> float | None:
        """Return the work of all workers together: 1 of each in weak scaling where none was said.

        >>> Asked(Command("./solve"), "weak", 500).amount(4)
        2000
        """
        if self.scaling == "weak":
            return (1 if self.work is None else self.work) * workers
        return self.work

    @property
    def columns(self) -> list[str]:
        """The header of the table."""
        wanted = {
            "throughput": self.rate,
            "quality": self.quality,
            "work": self.amount(1) is not None,
            "process_seconds": self.rate,
        }
        names = (
            "workers", "run", "throughput" if self.rate else "seconds", "quality", "work", "scaling",
            "process_seconds", "failed", "note", "date", "machine", "command",
        )  # fmt: skip
        return [name for name in names if wanted.get(name, True)]


def write(path: str | Path, asked: Asked, attempts: Iterable[Attempt]) -> None:
    """Put the table into its file, whole at any moment."""
    rows = [_row(asked, attempt) for attempt in attempts]
    if str(path).endswith(".csv"):
        lines = io.StringIO()
        writer = csv.DictWriter(lines, asked.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        atomic.put(path, lines.getvalue())
    else:
        atomic.put(path, json.dumps(document(asked, attempts), indent=1) + "\n")


def document(asked: Asked, attempts: Iterable[Attempt]) -> dict[str, Any]:
    """Return the table as plain data, which `scalelab audit` reads too."""
    rows = [{k: v for k, v in _row(asked, one).items() if v != ""} for one in attempts]
    return {"title": f"{asked.scaling} scaling", "rows": rows}


def read(path: str | Path, asked: Asked, machine: str) -> list[Attempt]:
    """Return the runs that a file holds, none where there is no file; refuse one of another study."""
    if not Path(path).exists():
        return []
    content = files.text(path)
    rows = _cells(path, content) if str(path).endswith(".csv") else _objects(path, content)
    found = []
    for place, row in rows:
        if _words(row.get("command", ""), asked.command.shell) != _words(
            asked.command.text, asked.command.shell
        ):
            _same(path, place, "command", row.get("command", ""), asked.command.text)
        _same(path, place, "scaling", row.get("scaling", ""), asked.scaling)
        if not row.get("failed"):
            wanted, there = (
                [name for name in ("seconds", "throughput", "quality") if name in those]
                for those in (asked.columns, row)
            )
            if there != wanted:
                _other(path, place, _patterns(wanted, there), f"one {_patterns(there, wanted)}")
        _same(path, place, "machine", row.get("machine", ""), machine)
        attempt = _attempt(path, place, row, asked)
        amount, stated = asked.amount(attempt.workers), row.get("work", "")
        if stated != "" or amount is not None:
            _same(path, place, "work", str(stated), plain(amount))
        found.append(attempt)
    return found


def plain(number: float | None) -> str:
    """Write an amount of work as a program takes it: no point where it is whole.

    >>> plain(4096.0), plain(0.5), plain(None)
    ('4096', '0.5', '')
    """
    if number is None:
        return ""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _row(asked, attempt):
    measured = not attempt.failed
    amount = asked.amount(attempt.workers)
    cells = {
        "workers": attempt.workers,
        "run": attempt.run,
        "seconds": attempt.seconds if measured else "",
        "throughput": attempt.throughput if measured else "",
        "quality": attempt.quality if measured else "",
        "work": "" if amount is None else json.loads(plain(amount)),
        "scaling": asked.scaling,
        "process_seconds": attempt.seconds,
        "failed": attempt.failed,
        "note": attempt.note,
        "date": attempt.date,
        "machine": attempt.machine,
        "command": asked.command.text,
    }
    return {name: cells[name] for name in asked.columns}


def _cells(path, content):
    try:
        reader = csv.reader(io.StringIO(content, newline=""), strict=True)
        header = next(reader, [])
        rows = [(f"line {reader.line_num}", dict(zip(header, row, strict=False))) for row in reader]
    except csv.Error as error:
        raise files.wrong(path, "", "be CSV", str(error), "name another file") from None
    if "command" not in header:
        _foreign(path, ",".join(header) or "an empty file")
    return [(place, row) for place, row in rows if row]


def _objects(path, content):
    data = files.loaded(path, content)
    rows = data.get("rows") if isinstance(data, dict) else None
    if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
        _foreign(path, data)
    return [(f"row {number}", row) for number, row in enumerate(rows, 1)]


def _foreign(path: object, given: object) -> NoReturn:
    raise Refusal(
        f"{path} must be a table of `scalelab run --command`, got {shown(given)}: name another file"
    )


def _same(path, place, what, found, wanted):
    if found != wanted:
        _other(path, place, f"with the {what} {shown(wanted)}", shown(found))


def _words(line, shell):
    """Return what tells one command from another: blanks between words do not, without a shell."""
    try:
        return line if shell or not isinstance(line, str) else shlex.split(line)
    except ValueError:
        return line


def _patterns(columns, others):
    """Say by which options of the command line a table got its columns, where others have none such."""
    return " and ".join(
        f"{'with' if column in columns else 'without'} {option}"
        for column, option in (("throughput", "--rate"), ("quality", "--quality"))
        if (column in columns) != (column in others)
    )


def _other(path, place, wanted, found):
    raise Refusal(
        f"{path} {place} must be of the study that is asked for, {wanted}, got {found}: "
        "ask for the same, or name another file"
    )


def _attempt(path, place, row, asked):
    """Return the Attempt of a row, or refuse a number that was changed into none."""

    def number(name, needed=False):
        cell = row.get(name, "")
        if cell in ("", None) and not needed:
            return None
        try:
            value = float(cell)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise files.wrong(
                path, f"{place} column {name}", "be a number", cell, "name another file"
            )
        return value

    def whole(name):
        value = number(name, needed=True)
        if value < 1 or value != int(value):
            raise files.wrong(
                path, f"{place} column {name}", "be a whole number", row[name], "name another file"
            )
        return int(value)

    failed = str(row.get("failed", ""))
    clock = "process_seconds" if asked.rate else "seconds"
    return Attempt(
        workers=whole("workers"),
        run=whole("run"),
        seconds=number(clock, needed=not failed) or 0.0,
        throughput=number("throughput", needed=asked.rate and not failed),
        quality=number("quality", needed=asked.quality and not failed),
        failed=failed,
        **{name: str(row.get(name, "")) for name in ("note", "date", "machine")},
    )


def missing(
    counts: Sequence[int], repeats: int, attempts: Iterable[Attempt]
) -> list[tuple[int, int]]:
    """Return the (workers, run) that are still to do, by turns: once up through the sizes, once down.

    So a machine that grows slower meanwhile slows all sizes alike.

    >>> missing([1, 2, 4], 2, [Attempt(1, 1, 9.0)])
    [(2, 1), (4, 1), (4, 2), (2, 2), (1, 2)]
    """
    there = {(one.workers, one.run) for one in attempts}
    turns = [
        (workers, run)
        for run in range(1, repeats + 1)
        for workers in (sorted(counts) if run % 2 else sorted(counts, reverse=True))
    ]
    return [turn for turn in turns if turn not in there]
