"""The command line: one command per verb, a table for people, `--json` for programs.

Imports of weight stand inside functions, so that `--help` answers at once. The answer to a mistake is
exit code 2 and one sentence; 1 is a run that failed, 130 one that was interrupted, 70 a bug of ours,
with its traceback in a file that is named.
"""

import io
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from scalelab import __version__, extras
from scalelab.cli import (
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
)
from scalelab.refusal import Failure, Refusal


@click.group(invoke_without_command=True)
@click.version_option(__version__, message="%(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """Model, measure, fit, predict and judge the scaling of distributed AI."""
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
):
    commands.add_command(module.command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process."""
    for stream in (sys.stdout, sys.stderr):  # an old terminal without µ still gets its table
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = commands.main(arguments, prog_name="scalelab", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        name = context.command_path if context else "scalelab"
        code = _said(f"{error.format_message().rstrip('.')}: see {name} --help", 2)
    except click.Abort:
        code = _said("interrupted", 130)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Refusal as error:
        code = _said(error, 2)
    except Failure as error:
        code = _said(error, 1)
        if error.output:
            click.echo(error.output, err=True)
    except Exception as error:
        lacking = extras.missing(error) if isinstance(error, ModuleNotFoundError) else None
        if lacking is not None:
            sys.exit(_said(lacking, 2))
        if sys.flags.dev_mode:
            raise
        what = f"{type(error).__name__}: {error}"
        code = _said(f"this is a bug of scalelab, got {what}: report it with {_kept(error)}", 70)
    sys.exit(code or 0)


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
        click.echo(f"scalelab: {' '.join(str(message).split())}", err=True)
    return code
