"""`scalelab rubric`: speedup, efficiency, quality and cost of one study, and a verdict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalelab.arguments import shown
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.rubric.rubric import Report


@click.command("rubric", short_help="Judge speed, efficiency, quality and cost of a study.")
@streams.argument
@streams.sheet
@click.option("--floor", default="0.7", show_default=True, help="Least efficiency.")
@click.option(
    "--tolerance",
    default="0.005",
    show_default=True,
    help="Loss of quality that is accepted, in its own unit.",
)
@click.option("--deadline", metavar="TIME", help="Longest run, as in 600 s, 2 h or 1h 30m.")
@click.option("--budget", metavar="DOLLARS", help="Dearest run.")
@click.option("--latency", metavar="TIME", help="Longest single result, from a column `latency`.")
@click.option("--throughput", metavar="RATE", help="Fewest units of work per second.")
@click.option("--joules", metavar="ENERGY", help="Most energy of a run.")
@click.option("--co2", metavar="GRAMS", help="Most CO2 of a run; needs --intensity.")
@click.option("--intensity", metavar="GRAMS", help="What a kWh emits, at your grid and date.")
@click.option("--prefer", help="fastest or cheapest.  [default: what the limits imply]")
@click.option("--baseline", metavar="K", help="Workers to compare with.  [default: the fewest]")
@click.option("--noise", metavar="SD", help="Standard deviation of quality from seed to seed.")
@click.option("--noise-runs", metavar="N", help="Runs that --noise was estimated from.")
@click.option("--work", metavar="N", help="Useful results of a run, where FILE does not say.")
@click.option("--price", metavar="DOLLARS", help="Per worker and hour, where FILE has no rate.")
@click.option("--flat-rate", is_flag=True, help="The rate does not grow with the workers.")
@click.option("--better", help="higher or lower.  [default: by the name of the column]")
@options.json
@click.option("--full", is_flag=True, help="With --json: everything the report knows.")
@click.option("--html", type=Path, metavar="REPORT", help="Write the report as one HTML file.")
def command(
    file: str, sheet: str | None, json: bool, full: bool, html: Path | None, **asked: Any
) -> None:
    """Judge a scaling study by four metrics from one pass, together.

    FILE is what `scalelab capstone --out` recorded, what `scalelab run --command --quality --out` wrote, or
    a table, CSV or JSON, with the columns workers, seconds, rate (dollars per hour of all workers together)
    and quality; optionally work, joules, latency and run; - for standard input, or the name of a public
    series. Replicates are rows. A row that loses quality ranks nowhere. Of the rest that meet every limit
    the fastest is recommended; under a demand on speed, the cheapest.

    \b
    Examples:
      scalelab rubric nv_gnmt_dgx1_v100_fp16 --price 3 --tolerance 0.3
      scalelab rubric nv_gnmt_dgx1_v100_fp16 --price 3 --noise 0.2 --noise-runs 50
    """
    from scalelab.files import atomic
    from scalelab.rubric import rubric

    if html is not None:
        _page(html, file)  # before anything is computed for it
    measured = _measured(
        file,
        sheet,
        work=_number("work", asked.pop("work")),
        price=_number("price", asked.pop("price")),
        better=asked.pop("better"),
        flat_rate=asked.pop("flat_rate"),
    )
    report = rubric.judge(measured, **_asked(**asked))
    if html is not None:
        from scalelab.show.report import page_of

        atomic.put(html, page_of(report))
    if json:
        streams.echo_json(rubric.plain(report, full))
        return
    tell(report)


def _page(html, file):
    """Refuse a name that is no page's, or that of what is judged: writing it would destroy the study."""
    from scalelab.files import atomic

    if html.suffix.lower() not in (".html", ".htm"):
        raise Refusal(f"--html must end in .html, got {shown(str(html))}: name it like report.html")
    target = atomic.checked(html)
    if target.exists() and os.path.lexists(file) and target.samefile(file):
        raise Refusal(
            f"--html must be another file than FILE, got {shown(file)} for both: rename one"
        )


def _measured(given, sheet, **options):
    """Return the rows of a file, of standard input, or of a public series by its name."""
    from scalelab.rubric import rubric

    match streams.source(given, sheet):
        case (name, text):
            return rubric.parse(name, text, **options)
        case series:
            options["better"] = options["better"] or "higher"
            return rubric.of_series(series, **options)


def tell(report: Report) -> None:
    """Print table, gate, findings, verdict and remarks."""
    from scalelab.rubric.caveats import remarks
    from scalelab.rubric.text import verdict
    from scalelab.show import scorecard
    from scalelab.tables.printed import aligned

    width = terminal.listing_width()
    terminal.say(*scorecard.scores(report).lines(width, stamped=False), "")
    terminal.say(*scorecard.gates(report).lines(width), "")
    terminal.say(*aligned([*scorecard.findings(report).items()], left=(0, 1), width=width), "")
    terminal.say(verdict(report))
    for remark in [] if terminal.quiet() else remarks(report):
        terminal.say(f"- {remark}")


def _asked(*, baseline, noise, noise_runs, co2, intensity, prefer, **limits):
    """Return what `rubric.judge` takes, from the words of the command line."""
    from datetime import date

    from scalelab.models.cost.energy import ElectricityGrid
    from scalelab.rubric.rubric import Noise

    units = {"deadline": "s", "latency": "s", "joules": "J", "floor": "%", "tolerance": "%"}
    asked = {name: _number(name, given, units.get(name, "")) for name, given in limits.items()}
    asked |= {"grams": _number("co2", co2), "prefer": prefer}
    if co2 is not None and intensity is None:
        raise Refusal(f"--co2 must go with --intensity, got {co2} alone: say what a kWh emits")
    asked["baseline"] = None if baseline is None else _whole("baseline", baseline)
    if noise is not None:
        runs = 0 if noise_runs is None else _whole("noise-runs", noise_runs)
        asked["noise"] = Noise(_number("noise", noise), runs)
    elif noise_runs is not None:
        raise Refusal(f"--noise-runs must go with --noise, got {noise_runs} alone: give both")
    if intensity is not None:
        grams = _number("intensity", intensity)
        asked["grid"] = ElectricityGrid(grams, "as given", date.today().isoformat())
    return asked


def _number(name, given, unit=""):
    """Read one number, in a unit of its kind or in SI."""
    from scalelab import units
    from scalelab.tables import cells

    if given is None:
        return None
    try:
        return units.parse(given.strip().lstrip("$") if name in ("budget", "price") else given)
    except Refusal:
        pass
    if unit == "s" and (duration := cells.value(given, "seconds", "dot")):
        return duration[0]  # 1h 30m, as a table may say it
    return units.parse(given, unit, f"--{name}")


def _whole(name, given):
    try:
        return int(given)
    except ValueError:
        raise Refusal(
            f"--{name} must be a whole number, got {shown(given)}: write it like 8"
        ) from None
