"""`scalelab time`: how long a program takes, and which of several is faster.

Somebody has two ways to start a program and wants to know whether the second one is worth it. They type
both, each in quotes, and read one line: faster by so much, slower by so much, or cannot tell. Nothing
has to be chosen first: how often to run them follows from how much they vary.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalelab.arguments import shown, unpainted
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.measure.timing.compare import Compared

_WIDEST = 48  # characters of a command in the table
_COLOURS = {"faster": "green", "slower": "red", "cannot tell": "yellow"}
_LOOKS = 0.2  # seconds between two looks at the bar


class _Quoted(click.Command):
    """Says what to do where somebody types a command as they do after `time` of a shell."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a line; an option of the command that is timed is none of ours."""
        typed = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            first = typed.index(error.option_name) if error.option_name in typed else 0
            words = typed[:first]
            if (
                error.possibilities
                or not words
                or any(word.startswith("-") or " " in word for word in words)
            ):
                raise
            whole = shlex.join(typed[: first + 1])
            raise Refusal(
                f"COMMAND must be one word in quotes, got {shown(error.option_name)} outside of them: "
                f'write it like "{whole} ..."'
            ) from None


@click.command(
    "time", cls=_Quoted, short_help="How long commands take, and which of them is faster."
)
@click.argument("commands", metavar="COMMAND...", nargs=-1, required=True)
@click.option("-w", "--warmup", type=int, metavar="N", help="Runs before.  [default: until steady]")
@click.option("-r", "--runs", type=int, metavar="N", help="Exactly so many.  [default: enough]")
@click.option(
    "--precision",
    metavar="SHARE",
    default="2%",
    show_default=True,
    help="How well the answer must be known.",
)
@click.option(
    "--budget",
    metavar="TIME",
    default="5 s",
    show_default=True,
    help="Time for each command, once it has as many runs as an interval takes.",
)
@click.option("-s", "--setup", metavar="COMMAND", help="Run once before everything.")
@click.option(
    "-p", "--prepare", multiple=True, metavar="COMMAND", help="Run before every run; not timed."
)
@click.option(
    "-n",
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Call the first command so, then the next.",
)
@click.option("-i", "--ignore-failure", is_flag=True, help="Time runs that fail as well.")
@click.option("--limit", metavar="TIME", help="End a run that takes longer: it has failed.")
@click.option("--shell/--no-shell", " /-N", help="Let /bin/sh read the commands.  [default: no]")
@click.option("--show-output", is_flag=True, help="Let commands write, to standard error.")
@options.json
@options.out
def command(
    commands: tuple[str, ...],
    warmup: int | None,
    runs: int | None,
    precision: str,
    budget: str,
    setup: str | None,
    prepare: tuple[str, ...],
    names: tuple[str, ...],
    ignore_failure: bool,
    limit: str | None,
    shell: bool,
    show_output: bool,
    json: bool,
    out: Path | None,
) -> None:
    """Time each COMMAND, one word in quotes, from its start to its end.

    It is warmed up and repeated until the median is known well enough. Several take turns, so that what
    slows the machine slows all of them, and each is compared with the first. Commands read nothing, and
    what they write is thrown away. The times hold their start: with --shell that of the shell as well.
    The first run that fails ends all of it, with exit code 1.

    \b
    Examples:
      scalelab time 'python -c pass'
      scalelab time 'python -c pass' 'python -S -c pass' --runs 12
    """
    from scalelab import units
    from scalelab.measure.timing import programs

    race = programs.Race(
        [programs.program(line, shell=shell) for line in commands],
        names=names,
        prepare=[programs.program(line, shell=shell) for line in prepare],
        ignore=ignore_failure,
        limit=None if limit is None else options.duration(limit, "--limit"),
        show=show_output,
    )
    how = {
        "precision": _share("--precision", precision),
        "budget": options.duration(budget, "--budget"),
        "runs": runs,
        "warmup": warmup,
    }
    programs.checked(**how)
    title = "From start to end" if len(commands) == 1 else f"{len(commands)} commands by turns"
    try:
        with streams.taking(title, _table, json=json, out=out, own=_own) as so_far:
            if setup is not None:
                programs.finish(programs.program(setup, shell=shell), "--setup", show=show_output)
            try:
                with _progress(title, runs, show_output) as watch:
                    race.run(**how, watch=watch)
            finally:
                if race.turns:
                    compared = race.compared()
                    count = units.counted(len(race.turns), "run")
                    each = " of each" if len(commands) > 1 else ""
                    why = f" · {compared.samples[0].stopped}"
                    if why.startswith(" · runs: "):  # so many as were asked for
                        why = ", as asked for"
                    so_far(compared.samples, f"{count}{each}{why}")
    finally:
        if race.turns and not json:
            _tell(race.compared())


def _own(record):
    """Whether a record is of this command, which may write it anew."""
    from scalelab.records import Recording

    return isinstance(record, Recording) and all("command" in one.given for one in record.samples)


def _table(samples):
    """Return what there is to know of each command; of a few runs, no interval."""
    from scalelab import units
    from scalelab.measure.timing import stats

    medians = [one.median for one in samples]
    rows = [
        units.alike([one.median, one.low, one.high, min(one.seconds)], "s", among=medians)
        for one in samples
    ]
    return {
        "command": [_short(one.label) for one in samples],
        "median": [row[0] for row in rows],
        "interval": [
            f"{row[1]} to {row[2]}" if len(one.seconds) >= stats.fewest() else "-"
            for row, one in zip(rows, samples, strict=True)
        ],
        "fastest": [row[3] for row in rows],
        "user": units.column([one.given["user"] for one in samples], "s"),
        "system": units.column([one.given["system"] for one in samples], "s"),
        "runs": [len(one.seconds) for one in samples],
    }


def _tell(compared: Compared) -> None:
    """Print what is said of each but the first, in colour on a terminal that wants it."""
    first, *others = compared.samples
    if others:
        print()  # the answer stands apart from what is said of the measurement
    for one, sample in zip(compared.besides, others, strict=True):
        verb = "is " if one.says != "cannot tell" else ""
        line = f"{_short(one.label)}{' ' if verb else ': '}{verb}{one.text}"
        if not one.low <= sample.median / first.median <= one.high:
            line += (
                ", turn by turn: the medians above are of all turns, whatever slowed some of them"
            )
        for part in terminal.broken(line, terminal.listing_width()):
            painted = click.style(part, fg=_COLOURS[one.says])
            print(painted if terminal.coloured(sys.stdout) else part, flush=True)


def _short(label):
    line = unpainted(" ".join(label.split()))
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


@contextlib.contextmanager
def _progress(title, runs, hidden):
    """Give what shows how far it is, or nothing where commands write themselves."""
    if hidden:
        yield None
        return
    from time import monotonic

    from scalelab import units

    with streams.progress(title, runs) as bar:
        bar.unit = " turns"
        looked = 0.0

        def watch(seconds):
            nonlocal looked
            bar.update()
            if monotonic() - looked > _LOOKS:
                looked = monotonic()
                bar.set_postfix_str(" ".join(units.text(one, "s") for one in seconds))

        yield watch


def _share(option, given):
    """Read a share, as 2% or 0.02."""
    from scalelab import units

    try:
        share = units.parse(given)
    except Refusal:
        share = units.parse(given, "%", option)
    if not 0 < share <= 1:
        raise Refusal(
            f"{option} must be above 0% and at most 100%, got {shown(given)}: write it like '2%' or 0.02"
        )
    return share
