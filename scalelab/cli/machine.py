"""`scalelab machine`: what this host is."""

from pathlib import Path

import click

from scalelab.arguments import shown
from scalelab.cli import options, streams, terminal
from scalelab.refusal import Refusal


@click.command("machine")
@options.json
@options.out
def command(json: bool, out: Path | None) -> None:
    """Say what this host is, as far as it tells.

    \b
    Example:
      scalelab machine --json
    """
    from scalelab.files import atomic
    from scalelab.measure.host.machine import this_machine
    from scalelab.records import Machine
    from scalelab.tables.text import aligned

    if out is not None:
        if out.suffix == ".csv":
            raise Refusal(f"--out must be a file of JSON, got {shown(str(out))}: name it .json")
        atomic.checked(out)
        streams.spared(out, lambda record: isinstance(record, Machine))
    machine = this_machine()
    if out is not None:
        atomic.write(out, machine)
    if json:
        streams.echo(machine)
        return
    facts = [
        (name.replace("_", " "), _in_words(name, value))
        for name, value in vars(machine).items()
        if value not in (None, "", {}, ())
    ]
    for line in aligned(facts, left=(0, 1)):
        terminal.say(line)


def _in_words(name, value):
    from scalelab import units

    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(name, one)}" for key, one in value.items())
    if isinstance(value, tuple):
        return ", ".join(" ".join(_in_words(*item) for item in vars(one).items()) for one in value)
    unit = {"memory": "B", "caches": "B", "power_limit": "W"}.get(name)
    return units.text(value, unit, binary=unit == "B") if unit and value else str(value)
