"""`scalelab capstone`: a real training on K processes, and its rubric."""

from pathlib import Path
from typing import Any

import click

from scalelab.arguments import real
from scalelab.cli import options, streams
from scalelab.refusal import Refusal


@click.command("capstone", short_help="Train a classifier data-parallel, and judge what it gained.")
@click.option(
    "--workers", metavar="LIST", default="1,2", show_default=True, help="How many, as in 1,2,4."
)
@click.option("--seeds", type=int, default=3, show_default=True, help="Runs of each size.")
@click.option(
    "--batch",
    metavar="LIST",
    default="256",
    show_default=True,
    help="Global; or one for each size.",
)
@click.option("--warmup", type=float, default=0.0, help="Share of the steps: the rate rises.")
@click.option("--weak", is_flag=True, help="Let samples and batch grow with the workers.")
@click.option("--epochs", type=int, default=3, show_default=True, help="Passes over the data.")
@click.option(
    "--price", type=float, default=0.05, show_default=True,
    help="Dollars per worker and hour; this one is invented.",
)  # fmt: skip
@click.option("--tolerance", type=float, default=0.02, show_default=True, help="Of accuracy.")
@click.option(
    "--device", type=options.DeviceChoice(["cpu", "cuda"]), default="cpu", show_default=True
)
@click.option("--limit", type=float, default=300, show_default=True, help="Seconds for a launch.")
@options.json
@options.out_json
def command(
    workers: str,
    seeds: int,
    batch: str,
    tolerance: float,
    device: str,
    limit: float,
    json: bool,
    out: Path | None,
    **asked: Any,
) -> None:
    """Train a small classifier data-parallel, and judge it by time, quality and cost of one pass.

    Started by torchrun, the workers are its ranks, on all of its nodes. FILE is what `scalelab
    rubric` reads.

    \b
    Examples:
      scalelab capstone --workers 1,2 --seeds 2 --epochs 1
      scalelab capstone --workers 1,2 --seeds 2 --epochs 1 --batch 256,1024
    """
    from scalelab import records
    from scalelab.files import atomic
    from scalelab.measure.capstone import capstone
    from scalelab.measure.ranks.workers import speaks
    from scalelab.rubric import rubric

    counts, sizes = options.counts(workers), options.counts(batch, "--batch")
    if len(sizes) not in (1, len(counts)):
        raise Refusal(
            f"--batch must be one number or one for each of the {len(counts)} sizes, got {batch}: "
            "write them like 256,1024"
        )
    real("tolerance", tolerance, "it is the loss of quality that is accepted", 0)  # before the work
    chosen = sizes[0] if len(sizes) == 1 else dict(zip(counts, sizes, strict=True))
    if speaks() and out is not None:
        atomic.checked(out)  # before anything is measured for it
        streams.spared(out, lambda record: isinstance(record, records.Passes))
    plan = capstone.Settings("capstone", batch=chosen, **asked)
    (passes,) = capstone.study(counts, plan, seeds=seeds, device=device, limit=limit)
    if not speaks():
        return
    if out is not None:
        atomic.write(out, passes)
    if json:
        click.echo(records.to_json(passes), nl=False)
        return
    if len(set(counts)) == 1:
        count = len(passes.passes)
        click.echo(
            f"{count} pass{'es' * (count > 1)} of one size; a rubric takes at least two sizes"
        )
        return
    from scalelab.cli.rubric import tell

    tell(rubric.judge(rubric.of_passes(passes), tolerance=tolerance))
