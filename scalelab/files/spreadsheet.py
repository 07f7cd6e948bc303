"""CSV in and out: one row per repetition, one column per condition, nothing lost on the way.

The columns of a scaling table (`workers`, `seconds`, `run`) are among them; other programs may
ignore the rest. Numbers and lists are written as in JSON, text as it is.
"""

import csv
import io
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from scalelab.arguments import shown
from scalelab.files import cells, files
from scalelab.records import Machine, Recording
from scalelab.refusal import Refusal

_NUMBERED = ("sample", "run", "seconds")
_TITLES = ("title", "note")


def text(recording: Recording) -> str:
    """Write a Recording as CSV. Section 3.1.

    >>> from scalelab.records import Sample
    >>> step = Sample("a step", (0.5, 0.25), 1, Machine("laptop", 4), "2025-11-20", given={"workers": 2})
    >>> print(text(Recording("Steps", (step,)))[:59])
    sample,run,seconds,label,workers,inner,date,stopped,advice,
    """
    samples = recording.samples
    if not samples:
        raise Refusal("recording must hold a sample, got none: CSV is made of their rows")
    conditions = list(dict.fromkeys(name for s in samples for name in s.given))
    own = {*cells.PLAIN, *_NUMBERED, *_TITLES}
    clash = [
        c for c in conditions if c in own or c.startswith("machine.") or c != c.strip() or not c
    ]
    if clash:
        raise Refusal(
            f"conditions must have names that no column has, got {shown(clash[0])}: rename it"
        )
    columns = [*_NUMBERED, "label", *conditions, *list(cells.PLAIN)[1:], *cells.MACHINE, *_TITLES]
    lines: list[str] = []
    # The writer's own line ending, so that it quotes both of its characters inside a cell.
    writer = csv.DictWriter(SimpleNamespace(write=lines.append), columns, lineterminator="\r\n")
    writer.writeheader()
    # Runs are numbered through for each number of workers: two samples of it hold different runs.
    runs: defaultdict[object, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    for number, sample in enumerate(samples, 1):
        row = (
            cells.stated(sample)
            | cells.conditions(sample)
            | {"sample": number, "title": recording.title, "note": recording.note}
        )
        for seconds in sample.seconds:
            run = next(runs[sample.given.get("workers")])
            writer.writerow(row | {"run": run, "seconds": repr(seconds)})
    return "".join(f"{line[:-2]}\n" for line in lines)


def read(path: str | Path, *, machine: Machine | None = None, date: str = "") -> Recording:
    """Read what `text` wrote, or any CSV that has `seconds` and, unless given here, `machine.name`.

    Rows of the same `sample` are its repetitions; without that column, rows that differ in `run` and
    `seconds` only. Columns of other names are conditions. Section 3.1.
    """
    samples: dict[object, tuple[str, dict[str, str], list[tuple[int, str, float]]]] = {}
    title: str | None = None
    note = ""
    for place, row in _table(path):
        title, note = row.pop("title", title), row.pop("note", note)
        number, run, seconds = (row.pop(name, None) for name in _NUMBERED)
        sample = samples.setdefault(number or tuple(row.items()), (place, row, []))
        if sample[1] != row:
            raise files.wrong(
                path, place, f"agree with {sample[0]}", "another sample", "number it so"
            )
        sample[2].append((len(run or ""), run or "", _seconds(path, place, seconds)))
    if title is None:
        title = Path(path).stem
    made = []
    for place, row, runs in samples.values():
        # In the order of the clock, however the table was sorted since.
        seconds = [s for *_, s in sorted(runs, key=lambda r: r[:2])]
        try:
            made.append(_sample(row, seconds, machine, row.get("date") or date, title))
        except Refusal as error:
            raise Refusal(f"{path} {place}: {error}") from None
    return Recording(title, tuple(made), note)


def _sample(row, seconds, machine, date, title):
    own = {n: c for n, c in row.items() if n in cells.PLAIN or n.startswith("machine.")}
    given = {n: cells.condition(c) for n, c in row.items() if c and n not in own}
    return cells.sample(own, given, seconds, machine=machine, date=date, title=title)


def _table(path):
    """Yield the place of each row and its cells by column."""
    reader = csv.reader(io.StringIO(files.text(path), newline=""), strict=True)
    header = None
    try:
        for row in reader:
            place = f"line {reader.line_num}"
            if header is None:
                header = [name.strip() for name in row]
                once = len(set(header)) == len(header) and "" not in header
                if "seconds" not in header or not once:
                    expected = "name each column once, `seconds` among them"
                    raise files.wrong(path, place, expected, ",".join(row), "mend the header")
            elif row:
                if len(row) != len(header):
                    expected = f"have {len(header)} cells, as the header"
                    raise files.wrong(path, place, expected, len(row), "is a comma not quoted?")
                yield place, dict(zip(header, row, strict=True))
    except csv.Error as error:
        place = f"line {reader.line_num}"
        raise files.wrong(path, place, "be CSV", str(error), "export it again") from None
    if header is None:
        raise files.wrong(path, "", "have a header", "an empty file", "export it again")


def _seconds(path, place, cell):
    try:
        seconds = float(cell)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        expected, remedy = "be a number above 0", "write it like 0.0035"
        raise files.wrong(path, f"{place} column seconds", expected, cell, remedy)
    return seconds
