"""`scalelab series`: the public scaling results in the package, and any of them as a table.

Somebody looks for a curve like theirs, or for one to try `audit` and `fit` on: they list what there is,
narrow it down by what was held fixed or by a word, read in a line what each teaches, and take one.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from scalelab.arguments import meant, shown
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.data.datasets import Series

_LEAST = 30  # letters of a lesson: less says nothing


def _names(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from scalelab.data import datasets

    return [CompletionItem(name) for name in datasets.names() if name.startswith(begun)]


@click.command("series", short_help="List public scaling results, or print one as CSV.")
@click.argument("name", required=False, shell_complete=_names)
@click.option("--kind", type=click.Choice(["strong", "weak", "load"]), help="What was held fixed.")
@click.option("--system", metavar="WORD", help="In what it was measured on, as in H100.")
@click.option("--group", metavar="NAME", help="Of one program or system, as --json names them.")
@click.option("--text", metavar="WORD", help="Anywhere: name, system, source, lesson, traps.")
@options.json
def command(
    name: str | None,
    kind: str | None,
    system: str | None,
    group: str | None,
    text: str | None,
    json: bool,
) -> None:
    """List public scaling results, or print the one of this NAME as CSV, to be kept by > FILE.

    Others measured them; each has its source, its traps and what it teaches. Every command that takes a
    table takes their names, and says of FILE what it says of NAME.

    \b
    Examples:
      scalelab series --kind weak --text bert
      scalelab series sysbench_cpu
      scalelab audit sysbench_cpu
    """
    from scalelab.data import datasets

    asked = {"--kind": kind, "--system": system, "--group": group, "--text": text}
    if name is not None:
        if given := [option for option, value in asked.items() if value is not None]:
            raise Refusal(f"{given[0]} must go without NAME, got {shown(name)} too: drop one")
        series = _one(name)
        if json:
            streams.echo_json(asdict(series))
        else:
            click.echo(_as_csv(series), nl=False)
        return
    found = [datasets.load(each) for each in datasets.names()]
    if group is not None and group not in (groups := {each.group for each in found}):
        remedy = meant(group, sorted(groups), "--json names the group of each series")
        raise Refusal(f"--group must be that of a series, got {shown(group)}: {remedy}")
    found = [
        each
        for each in found
        if kind in (None, each.scaling)
        and group in (None, each.group)
        and _holds(each.note, system)
        and _holds(_said(each), text)
    ]
    if json:
        streams.echo_json([asdict(each) for each in found])
        return
    if not found:
        terminal.say("no series is like that")
        return
    terminal.say(*_table(found))


def _one(name):
    from scalelab.data import datasets

    if name not in datasets.names():
        remedy = meant(name, datasets.names(), "`scalelab series --text WORD` looks for a word")
        raise Refusal(f"NAME must be that of a public series, got {shown(name)}: {remedy}")
    return datasets.load(name)


def _holds(text: str, words: str | None) -> bool:
    """Whether a text holds every word that was asked for."""
    return words is None or all(word in text.casefold() for word in words.casefold().split())


def _said(series: Series) -> str:
    parts = (series.name, series.counted, series.unit, series.note, series.source, series.teaches)
    return " ".join((*parts, *series.traps))


def _table(found: list[Series]) -> Iterator[str]:
    from scalelab import units

    rows = [("series", "sizes", "of", "kind", "what it teaches")]
    for each in found:
        low, high = min(each.workers), max(each.workers)
        span = " to ".join(units.text(k, digits=10) for k in dict.fromkeys((low, high)))
        rows.append((each.name, span, each.counted, each.scaling, each.teaches))
    widest = terminal.listing_width()
    for line in _listed(rows, widest):
        yield line if widest is None or len(line) <= widest else f"{line[: widest - 1]}…"
    yield ""
    told = "`scalelab series NAME` prints one as CSV, `scalelab audit NAME` says what to mind"
    yield f"{len(found)} series; {told}"


def _listed(rows, widest):
    """Yield a line for each series, with as many columns as leave room for its lesson; else two lines."""
    from scalelab.tables.printed import aligned

    for at in (range(5), (0, 1, 3, 4), (0, 3, 4), (0, 4)):
        chosen = [tuple(row[i] for i in at) for row in rows]
        before = [max(map(len, column)) + 2 for column in [*zip(*chosen, strict=True)][:-1]]
        if widest is None or sum(before) + _LEAST <= widest:
            yield from aligned(chosen, left=range(5))
            return
    for name, *_, lesson in rows:
        yield from (name, f"  {lesson}")


def _as_csv(series: Series) -> str:
    """Return its table and, as comments after it, where it comes from and what to mind."""
    from scalelab.tables import table, text

    if series.seconds or series.throughput:
        rows = text.as_csv(table.of_series(series))
    else:  # a bus bandwidth or a utilization
        lines: list[str] = []
        writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
        writer.writerow(["workers", f"{series.metric} ({series.unit})"])
        writer.writerows(zip(series.workers, series.values, strict=True))
        rows = "".join(lines)
    held = f", {series.scaling} scaling" if series.scaling else ""
    about = [
        f"{series.name}: {series.note}",
        f"workers are {series.counted}; as printed, {series.metric} in {series.unit}{held}",
        f"source: {series.source}",
        f"teaches: {series.teaches}",
        *(f"mind: {trap}" for trap in series.traps),
        *series.remarks,
    ]
    # A quote would open a cell, in which line ends are no ends.
    return rows + "".join("# " + line.replace('"', "'") + "\n" for line in about)
