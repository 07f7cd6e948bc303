"""`scalelab fit`: every family on a scaling table, the choice, and a prediction, or why there is none.

Somebody measured a few sizes, is asked what a larger one would do, and has to defend the answer. They
read first what is wrong with the table, then what fits it, then the number with its interval and how
often such intervals were right, and last what one more measurement would be worth.

Of a log of nccl-tests, or of messages that `scalelab run` timed, the latency and bandwidth of the
whole collective are fitted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.records import Recording


@click.command("fit", short_help="Predict a size that was not measured, with an interval.")
@streams.argument
@streams.sheet
@click.option(
    "--at", multiple=True, metavar="N", help="Workers, or bytes, to predict for; may be repeated."
)
@click.option(
    "--family", metavar="NAME", help="Predict by this family alone, if you know it holds."
)
@click.option("--most", type=int, metavar="K", help="Workers you can get for one more measurement.")
@click.option("--rate", type=float, help="Dollars per hour of one worker.  [default: from FILE]")
@click.option("--despite", is_flag=True, help="Fit although the audit finds an error.")
@click.option("--strict", is_flag=True, help="End with exit code 1 at a refusal, error or warning.")
@click.option("--plot", type=Path, metavar="FILE", help="Draw it: .svg, .png or .html.")
@click.option("--full", is_flag=True, help="With --json: the findings and the advice as well.")
@options.json
def command(
    file: str,
    sheet: str | None,
    at: tuple[str, ...],
    family: str | None,
    most: int | None,
    rate: float | None,
    despite: bool,
    strict: bool,
    plot: Path | None,
    full: bool,
    json: bool,
) -> int:
    """Fit every family of curves to a scaling table, and predict sizes it does not hold.

    FILE is what `scalelab audit` takes. Families describe what was measured. Beyond it a prediction
    carries on from the last two sizes, with a 90% interval that was tested on programs that had no
    part in it; between two sizes it lies on their line. What the table cannot carry is refused with
    what it would need; that is an answer too, and exits with 0 unless you say --strict.

    Where FILE is a log of nccl-tests, or the messages of `scalelab run all-reduce --out`, what is
    fitted is the latency and bandwidth of the whole collective, and --at takes sizes, as in 64MiB.

    \b
    Examples:
      scalelab fit sysbench_cpu --at 64
      scalelab fit usl_raytracer --at 96,192 --json
    """
    from scalelab.curves import text
    from scalelab.curves.answer import judge

    source = streams.source(file, sheet)
    messages = _messages(*source) if isinstance(source, tuple) else None
    if messages is not None:
        of_tables = {"--family": family, "--most": most, "--rate": rate, "--despite": despite}
        for name, value in (of_tables | {"--plot": plot, "--full": full}).items():
            if value:
                raise Refusal(f"{name} must go with a scaling table, got messages: drop it")
        return int(_link(messages, at, json) and strict)
    targets = [count for part in at for count in options.counts(part, "--at")]
    if plot:
        from scalelab.show import picture

        picture.checked(plot)
    table = streams.table(source)
    judged = judge(table, targets, family=family, despite=despite, most=most, rate=rate)
    if plot:
        from scalelab.show import scaling

        picture.write(scaling.fitted(judged), plot)
    if json:
        streams.echo_json(text.document(judged, full=full))
    else:
        terminal.say(*text.lines(judged, terminal.listing_width()))
    return int(strict and bool(judged.refused or judged.serious))


def _messages(name: str, content: str) -> Recording | None:
    """Return the times of messages that a text holds, or None where it holds something else."""
    from scalelab import records
    from scalelab.files.nccl import nccl_tests

    if nccl_tests.written(content):
        return nccl_tests.read(name, content)
    try:
        record = records.from_json(content)
    except Refusal:
        return None
    if not isinstance(record, records.Recording) or not record.samples:
        return None
    return record if all("bytes" in sample.given for sample in record.samples) else None


def _link(messages: Recording, at: tuple[str, ...], json: bool) -> bool:
    """Print what link a sweep of messages shows; return whether its samples carry advice."""
    from scalelab.links import text
    from scalelab.links.alphabeta import fit
    from scalelab.links.sweep import Sweep

    sizes = [size for part in at for size in options.sizes(part, "--at")]
    fitted, advice = fit(Sweep.recorded(messages)), streams.advice(messages)
    if json:
        streams.echo_json(text.document(fitted, sizes) | {"advice": advice})
    else:
        terminal.say(*text.lines(fitted, sizes, terminal.listing_width()))
        terminal.say(*streams.origin(messages), *advice)
    return bool(advice)
