"""The command line: one command per verb, a table for people, `--json` for programs.

Imports of weight stand inside functions, so that `--help` answers at once. The answer to a mistake is
exit code 2 and one sentence; 1 is a run that failed, 130 one that was interrupted, 70 a bug of ours,
with its traceback in a file that is named.
"""

import contextlib
import errno
import itertools
import os
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from typing import NoReturn

import click

from scalelab import __version__, extras
from scalelab.arguments import meant, shown
from scalelab.cli import (
    audit,
    capstone,
    fit,
    machine,
    plan,
    probe,
    rubric,
    run,
    series,
    terminal,
    time,
)
from scalelab.cli.teach import grade, keys, leaks, release
from scalelab.refusal import Failure, Refusal

_QUIET = ("-q", "--quiet")


# What the package calls an argument, where no option of the command has that name.
_TYPED = {
    "targets": "--at", "iterations": "--repeats", "repetitions": "--repeats", "grams": "--co2",
    "arguments": "--set", "sizes": "--bytes", "job": "JOB", "deviation": "--noise", "runs": "--noise-runs",
}  # fmt: skip
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # what a disk says, and no bug of ours
_ARGUMENTS = "scalelab.arguments"
_OF_COURSE = [module.command for module in (grade, keys, leaks, release)]
# A number in a refusal, or a list of them: what became of what was typed.
_CONVERTED = re.compile(r"(?<=, got )(?:[-+\d.,e]+(?=[: ]|$)|(?:nan|-?inf)\b|\[[\d, ]+\](?=:))")
_SUMMARY = 90  # letters, which click would cut to fit, where it can wrap


class _Commands(click.Group):
    """The commands; what they refuse is told by the names that were typed."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read a line, and remember how it was typed."""
        context.meta[_ARGUMENTS] = tuple(args)
        with _gone():
            return super().parse_args(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, those of a course apart."""
        for title, of_course in (("Commands", False), ("For those who run a course", True)):
            rows = [
                (name, one.get_short_help_str(_SUMMARY))
                for name, one in sorted(self.commands.items())
                if (one in _OF_COURSE) == of_course
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        try:
            with _gone():
                return super().invoke(context)
        except Refusal as refusal:
            command = self.commands.get(context.invoked_subcommand or "")
            if command is None:
                raise
            raise Refusal(_as_typed(str(refusal), command, context.meta[_ARGUMENTS])) from refusal


class _Enough(Exception):
    """The reader of the output, such as `head`, has seen what it wanted."""


@contextlib.contextmanager
def _gone() -> Iterator[None]:
    """Keep a pipe that nobody reads from click, which makes exit code 1 of it."""
    try:
        yield
    except BrokenPipeError:
        raise _Enough from None


def _as_typed(sentence: str, command: click.Command, arguments: Sequence[str] = ()) -> str:
    """Return a refusal that begins with --deadline, and not with the deadline of a function.

    >>> _as_typed("timeout must be in (0, 86400], got 0.0: it is in seconds", run.command, ["--limit", "0"])
    '--limit must be in (0, 86400], got 0: it is in seconds'
    """
    options = [one for one in command.params if isinstance(one, click.Option)]
    here = {"JOB", *(name for one in options for name in one.opts)}
    names = {ours: typed for ours, typed in _TYPED.items() if typed in here}
    names |= {opt[2:].replace("-", "_"): opt for opt in here if opt.startswith("--")}
    names |= {str(one.name): _long(one) for one in options}
    opening = re.match(r"(?P<file>[^ ]+: )?(?P<name>[a-z_0-9]+|--[a-z-]+)(?= must )", sentence)
    if not opening:
        return sentence
    name = names.get(opening["name"], opening["name"])
    opts = {other for one in options if name in one.opts for other in one.opts}
    typed = [*_typed(opts, arguments)]
    told = (opening["file"] or "") + (typed[0][0] if typed else name)
    return told + _given(sentence[opening.end() :], [value for _, value in typed])


def _typed(opts, arguments):
    """Yield an option and its value, each time that it was typed."""
    for word, following in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        option, equals, value = word.partition("=")
        if option in opts:
            yield option, value if equals else following


def _given(sentence: str, typed: Sequence[str]) -> str:
    """Return what is refused as it was typed: 2 h, and not the 7200.0 seconds that became of it.

    >>> _given(" must be at most 1 d, got 172800.0: ask for less", ["2 d"])
    " must be at most 1 d, got '2 d': ask for less"
    """
    number = _CONVERTED.search(sentence)
    if not number or len(typed) != 1 or number.group() in typed[0].split(","):
        return sentence
    plain = re.fullmatch(r"[-+\d.,e]+", typed[0])
    written = typed[0] if plain else shown(typed[0])
    return sentence[: number.start()] + written + sentence[number.end() :]


def _long(option: click.Parameter) -> str:
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


def _usage(error: click.ClickException, typed: Sequence[str]) -> str:
    """Return what click says as one sentence of ours."""
    # Of an option without its value click does not say whose it was.
    verb = f" {typed[0]}" if typed and typed[0] in commands.commands else ""
    help_of = f"scalelab{verb} --help"
    said = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        near = [one for one in error.possibilities or () if one.startswith("--")][:2]
        remedy = f"did you mean {' or '.join(near)}?" if near else f"see {help_of}"
        if not verb and any(error.option_name in one.opts for one in _every_option()):
            remedy = "write it after a command"
        return f"scalelab{verb} has no option {shown(error.option_name)}: {remedy}"
    option = getattr(error, "param", None)
    if option is not None and isinstance(option.type, click.Choice) and "'" in error.message:
        given, names = error.message.split("'")[1], list(map(str, option.type.choices))
        remedy = meant(given, names, "choose one")
        listed = f"{', '.join(names[:-1])} or {names[-1]}"
        return f"{_long(option)} must be {listed}, got {shown(given)}: {remedy}"
    number = re.match(r"(['\"].*['\"]) is not a valid (integer|float)", error.message)
    if option is not None and number:
        kind, like = ("whole number", "8") if number[2] == "integer" else ("number", "0.5")
        given = number[1].replace("\\\\", "\\")
        return f"{_long(option)} must be a {kind}, got {given}: write it like {like}"
    if said.endswith("?"):  # Did you mean ...
        wrong, _, hint = said.partition(". ")
        return f"{wrong}: {hint[:1].lower()}{hint[1:]}" if hint else said
    return said if ": " in said else f"{said}: see {help_of}"


def _every_option():
    return (option for command in commands.commands.values() for option in command.params)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """Model, measure, fit, predict and judge the scaling of distributed AI.

    \b
    To begin, with a program of your own:
      scalelab time './old' './new'
      scalelab run --command './solve -j {workers}' --repeats 3 --out study.csv
      scalelab audit study.csv
      scalelab fit study.csv --at 64

    To have names and options completed, once for bash (zsh: zsh_source and ~/.zshrc):

    \b
      echo 'eval "$(_SCALELAB_COMPLETE=bash_source scalelab)"' >> ~/.bashrc
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for module in (
    audit,
    capstone,
    fit,
    grade,
    keys,
    leaks,
    machine,
    plan,
    probe,
    release,
    rubric,
    run,
    series,
    time,
):
    commands.add_command(module.command)
    module.command.params.append(
        click.Option(
            _QUIET,
            is_flag=True,
            expose_value=False,
            callback=terminal.hush,
            help="Nothing but the answer: no progress, no remarks.",
        )
    )


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process."""
    terminal.prepare()
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = commands.main(arguments, prog_name="scalelab", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        code = _said(_usage(error, arguments), 2)
    except click.Abort:
        code = _said("interrupted", 130)
    except (_Enough, BrokenPipeError):
        _drop()
        code = 0
    except Refusal as error:
        code = _said(error, 2)
    except Failure as error:
        code = _said(error, 1)
        if error.output:
            click.echo(error.output, err=True)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _drop()
            what = error.filename or "output"  # a stream has no name
            sys.exit(_said(f"{what} could not be written ({error.strerror}): make room for it", 1))
        lacking = extras.missing(error) if isinstance(error, ModuleNotFoundError) else None
        if lacking is not None:
            sys.exit(_said(lacking, 2))
        if sys.flags.dev_mode:
            raise
        what = f"{type(error).__name__}: {error}"
        code = _said(f"this is a bug of scalelab, got {what}: report it with {_kept(error)}", 70)
    sys.exit(code or 0)


def _drop() -> None:
    """Send what standard output still holds nowhere, or Python tries once more at its end."""
    with contextlib.suppress(OSError):  # a stream without a number has nothing to drop
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _kept(error: Exception) -> str:
    """Put the traceback into a file, and return where."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="scalelab-", suffix=".txt", delete=False, errors="replace"
    ) as file:
        file.write(f"scalelab {__version__}: {shlex.join(sys.argv)}\n")
        traceback.print_exception(error, file=file)
    return file.name


def _said(message: object, code: int) -> int:
    from scalelab.measure.ranks.workers import speaks

    if code != 2 or speaks():  # under torchrun every rank makes the same mistake
        terminal.complain(f"scalelab: {' '.join(str(message).split())}")
    return code
