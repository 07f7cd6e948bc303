"""The nouns of a scaling table: its rows, and the table that they make."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from scalelab.seen import Seen
from scalelab.units import counted, text


@dataclass(frozen=True)
class Row:
    """One measurement, in SI; what the table does not say is None or empty."""

    line: int  # of the file, or entry of its list
    workers: int
    seconds: float | None = None
    throughput: float | None = None
    work: float | None = None
    batch: float | None = None  # of all workers together
    quality: float | None = None
    rate: float | None = None
    joules: float | None = None
    run: str = ""
    machine: str = ""
    scaling: str = ""
    failed: str = ""  # why nothing was measured


@dataclass(frozen=True)
class ScalingTable(Seen):
    """Rows that hold the measured quantity, in the order of the file."""

    name: str
    rows: tuple[Row, ...]
    measure: str  # "seconds" or "throughput"
    title: str = ""  # what stands above the table, and over columns that are not read
    each: bool = False  # the throughput is said to be that of one worker
    units: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of each column, as written
    missing: tuple[tuple[int, str, str], ...] = ()  # (line, column, what stands there)
    place: str = "line"  # what the numbers of the rows count
    headings: tuple[tuple[str, str, str], ...] = ()  # (quantity, its column, its unit), as written
    unread: tuple[str, ...] = ()  # columns of no quantity that is known
    left_out: tuple[tuple[int, str], ...] = ()  # (line, why) of what is no row
    failures: tuple[tuple[int, int, str], ...] = ()  # (line, workers, why) of runs that failed

    def __repr__(self) -> str:
        sizes = sorted({*self.workers})
        span = " to ".join(text(one, digits=15) for one in dict.fromkeys((sizes[0], sizes[-1])))
        of = f"{self.measure} on {span} worker{'s' if span != '1' else ''}"
        return f"<ScalingTable {self.name}: {counted(len(self.rows), 'row', grouped=True)}, {of}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """The columns that hold anything, in SI."""
        columns = {one.name: [getattr(row, one.name) for row in self.rows] for one in fields(Row)}
        return {
            name: values
            for name, values in columns.items()
            if any(value not in (None, "") for value in values)
        }

    @property
    def workers(self) -> tuple[int, ...]:
        """The worker count of each row."""
        return tuple(row.workers for row in self.rows)

    @property
    def values(self) -> tuple[float, ...]:
        """The measured quantity of each row, in SI."""
        return tuple(getattr(row, self.measure) for row in self.rows)

    @property
    def columns(self) -> dict[str, tuple[float, ...]]:
        """What a fit takes: workers, times or throughputs of all of them, and the work if it is stated."""
        work = self.work() if self.measure == "seconds" else None
        stated: dict[str, tuple[float, ...]] = {} if work is None else {"work": work}
        totals = [v * k if self.each else v for k, v in zip(self.workers, self.values, strict=True)]
        return {"workers": self.workers, self.measure: tuple(totals)} | stated

    def work(self, weak: bool = False) -> tuple[float, ...] | None:
        """The work of each row: as stated in all; else that of a weak study, or None for one fixed job."""
        stated = tuple(row.work for row in self.rows if row.work is not None)
        if len(stated) == len(self.rows):
            return stated
        return tuple(map(float, self.workers)) if weak else None

    @property
    def failed(self) -> dict[int, str]:
        """The sizes that failed in every run, and why: out of memory, or whatever the table says."""
        measured = {*self.workers}
        return {size: why for _, size, why in self.failures if size not in measured}

    @property
    def claimed(self) -> str:
        """What the table calls itself: "strong", "weak", "load", "both" when its rows differ, or nothing."""
        return self.claim[0]

    @property
    def claim(self) -> tuple[str, str]:
        """What the table calls itself, and what of it does."""
        rows = {word for row in self.rows for word in _words(row.scaling)}
        words = {
            "the column `scaling`": rows,
            "its heading": _words(self.title),
            "its name": _words(self.name),
        }
        for where, said in words.items():
            if len(said) == 1:
                return min(said), where
        return ("both", "the column `scaling`") if rows else ("", "")


def _words(text: str) -> set[str]:
    text = text.casefold().strip()
    found = {w for w in ("strong", "weak") if re.search(rf"(?<![a-z]){w}(?![a-z])", text)}
    # A load is a word of many headings; here it is meant only where it stands for a kind of study.
    return found | ({"load"} if text == "load" or "load scaling" in text else set())
