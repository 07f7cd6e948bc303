"""`scalelab fit`: every family on a scaling table, the choice, and a prediction, or why there is none.

Somebody measured a few sizes, is asked what a larger one would do, and has to defend the answer. They
read first what is wrong with the table, then what fits it, then the number with its interval and how
often such intervals were right, and last what one more measurement would be worth.
"""

from pathlib import Path

import click

from scalelab.cli import options, streams


@click.command("fit")
@streams.argument
@click.option("--at", multiple=True, metavar="N", help="Workers to predict for; may be repeated.")
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

    FILE is what `scalelab audit` takes. Intervals hold 90 %. A prediction is by all families
    together, each as likely as the table makes it. What the table cannot carry is refused with
    what it would need; that is an answer too, and exits with 0 unless you say --strict.

    \b
    Examples:
      scalelab fit sysbench_cpu --at 64
      scalelab fit usl_raytracer --at 96,192 --json
    """
    from scalelab.curves import text
    from scalelab.curves.answer import judge

    targets = [count for part in at for count in options.counts(part, "--at")]
    if plot:
        from scalelab.show import picture

        picture.checked(plot)
    found = streams.table(file)
    judged = judge(found, targets, family=family, despite=despite, most=most, rate=rate)
    if plot:
        from scalelab.show import scaling

        picture.write(scaling.fitted(judged), plot)
    if json:
        streams.echo_json(text.document(judged, full=full))
    else:
        for line in text.lines(judged):
            click.echo(line)
    return int(strict and bool(judged.refused or judged.serious))
