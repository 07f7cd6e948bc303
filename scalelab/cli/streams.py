"""What commands read and write: tables by name, records as they come, JSON and progress."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from click.shell_completion import CompletionItem

from scalelab.arguments import shown
from scalelab.cli import terminal
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from tqdm import tqdm

    from scalelab.data.datasets import Series
    from scalelab.records import Record, Recording, Sample
    from scalelab.tables.table import ScalingTable

    _Columns = Callable[[Sequence[Sample]], Mapping[str, Sequence[object]]]  # of a table to print


def _completed(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    from scalelab.data import datasets

    names = [CompletionItem(name) for name in datasets.names() if name.startswith(begun)]
    return [CompletionItem(begun, type="file"), *names]


argument = click.argument("file", metavar="FILE", shell_complete=_completed)


class _SoFar(Protocol):
    """To be called after every measurement with all of them."""

    def __call__(self, samples: Iterable[Sample], note: str = "") -> None: ...


def piped(given: str | Path, most: int) -> bytes | None:
    """Return what stands on standard input, one byte beyond `most` at most, if FILE is a single -."""
    return sys.stdin.buffer.read(most + 1) if str(given) == "-" else None


def named(given: str | Path, names: Callable[[], Container[str]]) -> bool:
    """Whether FILE is one of the names that need no file; a file of that name goes first.

    The names are asked for only where there is no such file: those of the public series take reading.
    """
    return not os.path.lexists(given) and str(given) in names()


sheet = click.option("--sheet", metavar="NAME", help="Of a workbook.  [default: its first table]")


def source(given: str, sheet: str | None = None) -> Series | tuple[str, str]:
    """Return what FILE is: a public series by its name, or else the name and text of a table."""
    from scalelab.data import datasets
    from scalelab.tables import grid

    raw = piped(given, grid.MOST_BYTES)
    if raw is None and named(given, datasets.names):
        if sheet is not None:
            raise Refusal(f"--sheet must go with a workbook (.xlsx), got {shown(given)}: drop it")
        return datasets.load(given)
    if raw is None and (absent := grid.absent(given)) is not None:
        raise absent
    first, *others = grid.sources("stdin" if raw is not None else given, raw, sheet)
    if others and not terminal.quiet():
        called = [name.partition(grid.SHEET)[2] for name, _ in (first, *others)]
        terminal.complain(f"sheet {called[0]} is read; --sheet takes {' or '.join(called[1:])}")
    return first


def table(found: Series | tuple[str, str]) -> ScalingTable:
    """Return the ScalingTable of what `source` has found."""
    from scalelab.tables import table as tables

    match found:
        case (name, text):
            return tables.parse(name, text)
        case series:
            return tables.of_series(series)


def echo_json(found: object) -> None:
    """Print plain data as JSON, which knows no infinity: what has no finite value is null."""
    from scalelab.stored import finite

    click.echo(json.dumps(finite(found), indent=1, allow_nan=False))


@contextlib.contextmanager
def taking(
    title: str,
    columns: _Columns,
    *,
    json: bool,
    out: Path | None,
    append: bool = False,
    own: Callable[[Record], bool] = lambda _: False,
) -> Iterator[_SoFar]:
    """Give `so_far(samples, note)`, to be called after every measurement with all of them.

    They are kept at once, and shown at the end, also when that is Ctrl-C or an error. Under torchrun
    rank 0 writes and speaks for all. A file that is there is written anew only where what it holds is
    the command's `own`.
    """
    from scalelab.files import atomic
    from scalelab.measure.ranks import torchrun, workers
    from scalelab.records import Recording

    speaks, current = workers.speaks(), Recording(title, ())
    before = None
    if speaks and out is not None:
        atomic.checked(out)  # before anything is measured for it
    if speaks and append:
        before = _existing(out)
    elif speaks and out is not None:
        spared(out, own)

    def put() -> None:
        if speaks and out is not None and current.samples:
            atomic.write(out, current if before is None else _together(before, current))

    def so_far(samples: Iterable[Sample], note: str = "") -> None:
        nonlocal current
        current = Recording(title, tuple(samples), note)
        put()

    try:
        # Of torchrun, which sends the same signals to ranks that have done their part, the ends are its own.
        with contextlib.nullcontext() if torchrun.inside() else ending():
            yield so_far
    except KeyboardInterrupt:
        put()  # it may have come while this was under way
        held = "" if current.samples else " Nothing was measured to its end, so nothing is kept."
        held = f" {out} holds what was measured." if out and current.samples else held
        click.echo(f"scalelab: interrupted.{held}", err=True)
        raise click.exceptions.Exit(130) from None
    finally:
        if current.samples and speaks:
            echo(current) if json else _tell(current, columns)


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[tqdm]:
    """Give a bar that a terminal shows and a pipe or a file does not."""
    from tqdm import tqdm

    from scalelab.measure.ranks import workers

    hidden = None if workers.speaks() and not terminal.quiet() else True
    with tqdm(desc=title, total=total, leave=False, file=sys.stderr, disable=hidden) as bar:
        yield bar


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Let what ends this process, such as a terminal that is closed, end all it started as Ctrl-C does.

    They have process groups of their own, and would not hear of it.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may set what is done
        before = {
            which: signal.signal(which, signal.default_int_handler)
            for which in (signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(which) is signal.SIG_DFL
        }
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def spared(path: Path, own: Callable[[Record], bool]) -> None:
    """Refuse to write over a file, unless it is empty or holds a record that is the command's `own`."""
    from scalelab import records

    if not path.exists() or not path.stat().st_size:
        return
    record = _record(path)
    if record is not None and own(record):
        return
    command = click.get_current_context().info_name
    if isinstance(record, records.Recording) and command == "run":
        raise Refusal(
            f"{path} must be a file that is not there yet, got one that holds {shown(record.title)}: "
            "add --append, or name another file"
        )
    found = shown(getattr(record, "title", None) or type(record).__name__)
    if record is None:
        with path.open("rb") as file:
            found = shown(file.readline(80).decode(errors="replace").strip())
    raise Refusal(
        f"{path} must be a file that is not there yet or what `scalelab {command}` wrote, got {found}: "
        "name another file"
    )


def _record(path):
    """Return the record in a file, or None where it holds none."""
    from scalelab.files import files, spreadsheet

    try:
        return spreadsheet.read(path) if path.suffix == ".csv" else files.record(path)
    except Refusal:
        return None


def _existing(path):
    """Return the Recording in a file of this machine, or None where there is no file."""
    from scalelab import records
    from scalelab.files import files, spreadsheet
    from scalelab.measure.host.machine import this_machine
    from scalelab.measure.ranks import combine

    if path is None:
        raise Refusal("--append must go with --out FILE, got no file: name the one to add to")
    if not path.exists():
        return None
    record = spreadsheet.read(path) if path.suffix == ".csv" else files.record(path)
    if not isinstance(record, records.Recording):
        raise Refusal(
            f"{path} must hold a Recording, got a {type(record).__name__}: name another file"
        )
    machines = [*(sample.machine for sample in record.samples), this_machine()]
    combine.one_machine(machines, f"name another file than {path}")
    return record


def _together(before, current):
    from scalelab.measure.ranks import combine

    return combine.recordings([before, current])


def echo(record: Record) -> None:
    """Print a record as JSON."""
    from scalelab import records

    click.echo(records.to_json(record), nl=False)


def _tell(recording, columns):
    """Print a table, where it comes from, and each kind of advice once."""
    from scalelab.show.columns import table

    told = table(columns(recording.samples), recording.title)
    terminal.say(*told.lines(terminal.listing_width()))
    if not terminal.quiet():
        terminal.say(*origin(recording), *advice(recording))


def origin(recording: Recording) -> list[str]:
    """Return where the samples come from, each place once, and what else one should know."""
    stamps = [sample.stamp.text for sample in recording.samples]
    return [line for line in dict.fromkeys([*stamps, recording.note]) if line]


def advice(recording: Recording) -> list[str]:
    """Return each case that samples are cautioned of once, in the words of the first."""
    cases: dict[str, list[tuple[str, str]]] = {}
    for sample in recording.samples:
        for caution in sample.advice:
            cases.setdefault(caution.name, []).append((sample.label, caution.text))
    told = []
    for (label, text), *more in cases.values():
        alike = all(other == text for _, other in more)
        others = f" (and {len(more)} more{'' if alike else ' alike'})"
        told.append(f"{label}{others if more else ''}: {text}")
    return told
