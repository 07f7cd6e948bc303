"""A scaling study of a program: its runs by turns, each kept before the next begins."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from scalelab import units
from scalelab.arguments import real, shown, whole
from scalelab.measure.commands import process, reading
from scalelab.measure.commands.attempts import SCALINGS, Asked, Attempt, missing, plain, read, write
from scalelab.measure.commands.words import Command
from scalelab.measure.host.machine import this_machine
from scalelab.refusal import Refusal

_MOST_WORKERS = 10**9
_MOST_RUNS = 10_000


@dataclass(frozen=True)
class Study:
    """What to run, for which numbers of workers, and what to read of it."""

    asked: Asked
    counts: tuple[int, ...]
    repeats: int = 1
    rate: re.Pattern[str] | None = None
    quality: re.Pattern[str] | None = None
    timeout: float | None = None


def program(
    command: Command,
    counts: Sequence[int],
    *,
    repeats: int = 1,
    scaling: str = "strong",
    work: float | None = None,
    rate: str | None = None,
    quality: str | None = None,
    timeout: float | None = None,
) -> Study:
    """Return the Study, or refuse before anything is run. Section 3.3.

    >>> from scalelab.measure.commands.words import command
    >>> program(command("echo {workers}"), [1, 2]).asked.scaling
    'strong'
    """
    counts = [whole("workers", k, "it counts workers", 1, _MOST_WORKERS) for k in counts]
    if not counts or len(set(counts)) < len(counts):
        raise Refusal(
            f"workers must be numbers, each once, got {shown(counts)}: "
            "write them like 1,2,4, and --repeats 3 for three runs of each"
        )
    whole("repeats", repeats, "it counts the runs of each number of workers", 1, _MOST_RUNS)
    if scaling not in SCALINGS:
        raise Refusal(
            f"scaling must be strong or weak, got {shown(scaling)}: strong is the same work for all"
        )
    if work is not None:
        work = real("work", work, "it is the amount that {work} stands for", 0, 1e300, above=True)
    if work is None and "work" in command.places and scaling == "strong":
        raise Refusal(
            "work must be given where a command holds {work}, got none: add --work, such as --work 4096"
        )
    if timeout is not None:
        real("timeout", timeout, "it is in seconds", 0, 1e9, above=True)
    asked = Asked(command, scaling, work, rate is not None, quality is not None)
    return Study(
        asked,
        tuple(counts),
        repeats,
        None if rate is None else reading.pattern("--rate", rate),
        None if quality is None else reading.pattern("--quality", quality),
        timeout,
    )


@contextlib.contextmanager
def logs(out: Path | None) -> Iterator[Path]:
    """Give the folder for what the runs write: beside the table, which no other study may have open."""
    if out is None:  # kept only where something in it explains a failure
        folder = Path(tempfile.mkdtemp(prefix="scalelab-logs-"))
        yield folder
        with contextlib.suppress(OSError):
            folder.rmdir()
        return
    folder = out.with_name(f"{out.stem}.logs")
    try:
        folder.mkdir(exist_ok=True)
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        cause = error.strerror or "an error"
        raise Refusal(
            f"{folder} must be a folder for what the runs write, got {cause}: name another --out"
        ) from None
    try:
        _alone(held, out)
        yield folder
    finally:
        os.close(held)


def _alone(folder, out):
    """Hold the folder for this process; the system lets go of it, however this process ends."""
    import fcntl

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal(
            f"{out} must be written by one study at a time, got another that is running: "
            "wait for it, or name another file"
        ) from None
    except OSError:  # a file system without locks
        return


def resumed(program: Study, out: Path | None, *, retry: bool = False) -> list[Attempt]:
    """Return the runs that the file of a study holds; to retry, without those that failed."""
    attempts = [] if out is None else read(out, program.asked, this_machine().name)
    return [one for one in attempts if not (retry and one.failed)]


def runs(
    program: Study, attempts: Sequence[Attempt], folder: Path, out: Path | None = None
) -> Iterator[list[Attempt]]:
    """Yield all attempts after each run that is still to do; each is in the file by then. Section 3.3."""
    done, machine = list(attempts), this_machine().name
    for workers, run in missing(program.counts, program.repeats, done):
        log = folder / f"{workers}-workers-run-{run}.log"
        new = replace(attempt(program, workers, run, log), machine=machine)
        if new.failed:
            new = replace(new, note=f"see {f'{folder.name}/{log.name}' if out else log}")
        elif out is None:
            log.unlink()
        done.append(new)
        done.sort(key=lambda one: (one.workers, one.run))
        if out is not None:
            try:
                write(out, program.asked, done)
            except KeyboardInterrupt:  # it came while this was under way
                write(out, program.asked, done)
                raise
        yield list(done)


def attempt(program: Study, workers: int, run: int, log: Path) -> Attempt:
    """Run the program once, its output in the file `log`, and return what came of it."""
    asked = program.asked
    words = asked.command.words(workers, plain(asked.amount(workers)), run)
    ended = process.run(words, log, program.timeout)
    failed = reading.cause(ended, log, program.timeout)
    numbers: dict[str, float] = {}
    for name in () if failed else ("rate", "quality"):
        if wanted := getattr(program, name):
            found = reading.last(log, wanted)
            if isinstance(found, str):
                failed = failed or found
            else:
                numbers[name] = found
    if not failed and numbers.get("rate", 1) <= 0:
        failed = f"a rate of {numbers.pop('rate'):g}, which is not above 0"
    reading.trim(log)
    if failed and not ended.unstarted:
        failed += f", after {units.text(ended.seconds, 's')}"
    left = f"it left processes running, which were ended: {ended.left}" if ended.left else ""
    return Attempt(
        workers,
        run,
        float(f"{ended.seconds:.6g}"),
        throughput=numbers.get("rate"),
        quality=numbers.get("quality"),
        failed=failed,
        note=left,
        date=date.today().isoformat(),
    )
