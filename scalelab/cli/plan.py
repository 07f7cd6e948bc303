"""`scalelab plan`: from a model, a cluster and a goal to the size to buy."""

import os
import shlex
from pathlib import Path

import click

from scalelab.arguments import meant, shown
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal


@click.command("plan", short_help="Plan a training run: its time, its bill, the size to buy.")
@click.argument("file", type=Path, required=False)
@click.option("--example", is_flag=True, help="Print a file to start from, with every key.")
@click.option("--notes", is_flag=True, help="Say what the plan does not model.")
@click.option("--plot", type=Path, metavar="FILE", help="Draw it: .svg, .png or .html.")
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
        if file is not None:
            remedy = f"write scalelab plan --example > {shlex.quote(str(file))}"
            raise Refusal(f"--example must go without FILE, got {shown(str(file))} too: {remedy}")
        click.echo(plan_file.example(), nl=False)
        return
    if file is None:
        raise click.UsageError("FILE must be given, got none: --example prints one to start from")
    from scalelab.plan import plan as planner, text

    if plot is not None:
        from scalelab.show import picture

        picture.checked(plot)
    plan = planner.plan(_read(file))
    if plot is not None:
        from scalelab.show.plots import plan as plots

        picture.write(plots.sizes(plan), plot)
    if json:
        streams.echo_json(text.document(plan))
        return
    terminal.say(*text.lines(plan, notes, terminal.listing_width()))


def _read(file):
    """Return the job in a file, on standard input, or in the example if no file has that name."""
    from scalelab.plan import file as plan_file

    raw = streams.piped(file, plan_file.MOST_BYTES)
    if raw is not None:
        return plan_file.parse(raw, "stdin")
    if streams.named(file, lambda: ["example"]):
        return plan_file.parse(plan_file.example(), "example")
    if not os.path.lexists(file) and not file.suffix:
        remedy = meant(file, ["example"], "scalelab plan --example > plan.toml writes one")
        raise Refusal(f"FILE must be a plan or the word example, got {shown(str(file))}: {remedy}")
    return plan_file.read(file)
