"""`scalelab plan`: from a model, a cluster and a goal to the size to buy."""

import os
import sys
from pathlib import Path

import click

from scalelab.cli import options, streams
from scalelab.refusal import Refusal


@click.command("plan")
@click.argument("file", type=Path, required=False)
@click.option("--example", is_flag=True, help="Print a file to start from, with every key.")
@click.option("--notes", is_flag=True, help="Say what the plan does not model.")
@click.option("--plot", type=Path, metavar="FILE", help="Draw it into FILE, .html or .png.")
@options.json
def command(file: Path | None, example: bool, notes: bool, plot: Path | None, json: bool) -> None:
    """Plan a training run: T(K), efficiency, memory, bill, and the size to buy.

    FILE is TOML, or JSON if its name ends in .json: a model, a layout, a cluster and a goal. A single - reads
    TOML from standard input; the word example stands for what --example prints. Nothing is measured: every
    time is a model's, and published runs say how far such times are off.

    Not modelled: experts and context parallelism, kernels slowed by small shapes, causal masks, data loading,
    slow devices, oversubscribed switches, and what a larger batch teaches. --notes has the whole list.

    \b
    Examples:
      scalelab plan --example
      scalelab plan example
      scalelab plan example --json
    """
    from scalelab.plan import file as plan_file

    if example:
        click.echo(plan_file.example(), nl=False)
        return
    if file is None:
        raise click.UsageError("FILE must be given, got none: --example prints one to start from")
    from scalelab.plan import plan as planner

    _drawable(plot)
    found = planner.plan(_read(file))
    if plot is not None:
        _draw(found, plot)
    from scalelab.plan import text

    if json:
        streams.echo_json(text.document(found))
        return
    for line in text.lines(found, notes):
        click.echo(line)


def _read(file):
    """Return the job in a file, on standard input, or in the example if no file has that name."""
    from scalelab.plan import file as plan_file

    if str(file) == "-":
        return plan_file.parse(sys.stdin.buffer.read(plan_file.MOST_BYTES + 1), "stdin")
    if str(file) == "example" and not os.path.lexists(file):
        return plan_file.parse(plan_file.example(), "example")
    return plan_file.read(file)


def _drawable(path):
    from scalelab.files import atomic

    if path is None:
        return
    if path.suffix.lower() not in (".html", ".png"):
        raise Refusal(
            f"--plot must end in .html or .png, got {path.name!r}: .html keeps the table beside the picture"
        )
    atomic.checked(path)


def _draw(found, path):
    from scalelab.show import draw, page
    from scalelab.show.plots import plan as plots

    chart = plots.sizes(found)
    if path.suffix.lower() == ".png":
        path.write_bytes(draw.png(chart))
        return
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{chart.title}</title>'
        f"<body>{page.figure(chart)}</body></html>\n",
        encoding="utf-8",
    )
