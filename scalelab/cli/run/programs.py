"""A program over worker counts: kept after every run, taken up again, and shown as a table of sizes."""

from __future__ import annotations

import re
import shlex
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal
from scalelab.units import counted

if TYPE_CHECKING:
    from scalelab.measure.commands.attempts import Attempt
    from scalelab.measure.commands.study import Study


def run(
    line: str,
    counts: list[int] | None,
    *,
    shell: bool,
    retry: bool,
    repeats: int | None,
    json: bool,
    out: Path | None,
    **asked: Any,
) -> int:
    """Measure a program, and show what there is at the end, also when that is Ctrl-C."""
    from scalelab.files import atomic
    from scalelab.measure.commands import attempts, study, words
    from scalelab.measure.ranks import capacity, torchrun

    if torchrun.inside():
        raise Refusal(
            "--command must start its own workers, got a torchrun around it: drop that one"
        )
    if retry and out is None:
        raise Refusal("--retry must go with --out FILE, got no file: name the one with the runs")
    command = words.command(line, shell)
    counts = counts or options.powers(1, capacity.usual())
    program = study.program(command, counts, repeats=1 if repeats is None else repeats, **asked)
    if out is not None:
        atomic.checked(out)
    with study.logs(out) as folder:
        before = done = study.resumed(program, out, retry=retry)
        wanted = attempts.missing(program.counts, program.repeats, done)
        runs = study.runs(program, done, folder, out)
        try:
            with streams.ending(), streams.progress("", len(before) + len(wanted)) as bar:
                bar.update(len(before))
                for workers, number in wanted:
                    bar.set_description(f"{counted(workers)}, run {number}")
                    done = next(runs)
                    bar.update()
                    newest = [one for one in done if (one.workers, one.run) == (workers, number)]
                    for said in [] if bar.disable else _words(newest):
                        bar.write(said, file=sys.stderr)  # a person waits, and may mend it now
        except KeyboardInterrupt:
            held = f" {out} holds {len(done)} of {len(before) + len(wanted)} runs; "
            held += "the same line goes on from there."
            nothing = "" if done else " No run was measured to its end, so nothing is kept."
            click.echo(f"scalelab: interrupted.{held if done and out else nothing}", err=True)
            raise click.exceptions.Exit(130) from None
        finally:
            if done:
                _show(program, done, len(before), json=json, out=out)
    measured = {one.workers for one in done if not one.failed}
    return int(not measured >= set(program.counts))


def _show(
    program: Study, done: Sequence[Attempt], before: int, *, json: bool, out: Path | None
) -> None:
    from scalelab.measure.commands import attempts
    from scalelab.measure.host.machine import this_machine
    from scalelab.records import Stamp
    from scalelab.show.columns import table

    if json:
        streams.echo_json(attempts.document(program.asked, done))
        return
    line = " ".join(program.asked.command.text.split())
    title = f"{line}, {program.asked.scaling} scaling"
    terminal.say(*table(_sizes(program, done), title).lines(terminal.listing_width()))
    if terminal.quiet():
        for one in _words(one for one in done if one.failed):
            terminal.complain(f"scalelab: {one}")
        return
    dates = sorted({one.date for one in done})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    terminal.say(Stamp("measured here", this_machine(), when).text)
    if before:
        terminal.say(f"{counted(before, 'run')} of {len(done)} stood in {out} before.")
    terminal.say(*_words(done), *_told(program, done, out))


def _sizes(program, done):
    """Return a row for each number of workers: the median of its runs, and what that gains."""
    from scalelab import units

    asked = program.asked
    good: dict[int, list[Attempt]] = {}
    for one in done:
        good.setdefault(one.workers, []).extend([] if one.failed else [one])
    made = {k: sum(one.workers == k for one in done) for k in good}
    columns: dict[str, list[Any]] = {"workers": list(good)}
    if asked.amount(1) is not None:
        columns["work"] = [units.text(asked.amount(k)) for k in good]
    columns["runs"] = [
        f"{len(ones)}" if len(ones) == made[k] else f"{len(ones)} of {made[k]}"
        for k, ones in good.items()
    ]
    values = {k: [_value(asked, one) for one in ones] for k, ones in good.items()}
    unit, name = ("", "throughput") if asked.rate else ("s", "time")
    columns[name] = _spreads(values.values(), unit)
    if asked.quality:
        columns["quality"] = _spreads([[one.quality for one in ones] for ones in good.values()])
    gains = _gains(asked, {k: statistics.median(each) for k, each in values.items() if each})
    base = min(gains, default=1)
    over = "" if base == 1 else f" over {base}"
    for name, of, written in (("speedup", 0, units.text), ("efficiency", 1, units.share)):
        columns[f"{name}{over}"] = [written(gains[k][of]) if k in gains else "" for k in good]
    return columns


def _value(asked, one):
    return one.throughput if asked.rate else one.seconds


def _gains(asked, medians):
    """Return speedup and efficiency of each number of workers, over the smallest that was measured."""
    from scalelab.models.scaling import study

    if not medians:
        return {}
    base = min(medians)
    gains = {}
    for k, median in medians.items():
        if asked.rate:
            gain = median / medians[base]
        else:
            growth = k / base if asked.scaling == "weak" else 1
            gain = float(study.scaled_speedup(medians[base], median, growth))
        gains[k] = gain, gain * base / k
    return gains


def _spreads(column, unit=""):
    """Write the median of each size and what its runs lie between, all in one unit."""
    from scalelab import units

    column = [*column]
    medians = [statistics.median(values) for values in column if values]
    cells = []
    for values in column:
        ends = [min(values), max(values)] if len(set(values)) > 1 else []
        middle = [statistics.median(values)] if values else []
        told = units.alike([*middle, *ends], unit, among=medians)
        between = f" ({told[1]} to {told[2]})" if ends else ""
        cells.append(f"{told[0]}{between}" if told else "failed")
    return cells


def _words(done):
    """Return what failed and what was strange, by the run that it is about."""
    for one in done:
        about = f"{one.failed}; {one.note}" if one.failed else one.note
        if about:
            yield f"{counted(one.workers)}, run {one.run}: {about}"


def _told(program, done, out):
    """Return what one should know of the numbers, and what to do next."""
    from scalelab.measure.ranks import capacity

    good = [one for one in done if not one.failed]
    if good and not program.asked.rate:
        yield "The time is that of the whole process, its start included; --rate leaves that out."
    if good and max(sum(k == one.workers for one in good) for k in program.counts) == 1:
        yield "One run of a size does not show how much runs differ: --repeats 3 does."
    cores = capacity.usual()
    if good and max(program.counts) > cores and _starts_here(program.asked.command.text):
        yield (
            f"This machine has {counted(cores, 'core')}: if more workers ran here, they took turns, and "
            "the times hold their waiting."
        )
    if out is None:
        return
    if len(good) < len(done):
        yield "To run again what failed, add --retry."
    if len({one.workers for one in good}) > 1:
        file = shlex.quote(str(out) if not str(out).startswith("-") else f"./{out}")
        yield f"→ scalelab audit {file}; scalelab fit {file} --at {2 * max(one.workers for one in good)}"


def _starts_here(line):
    """Whether nothing in a command line speaks of other machines."""
    return not re.search(
        r"\b(?:srun|sbatch|ssh|mpirun|mpiexec|nnodes|hostfile|kubectl|ray)\b", line
    )
