"""`scalelab machine`: what this host is."""

from pathlib import Path

import click

from scalelab.cli import options, streams, terminal


@click.command("machine", short_help="Say what this host is.")
@options.json
@options.out_json
def command(json: bool, out: Path | None) -> None:
    """Say what this host is, as far as it tells.

    \b
    Example:
      scalelab machine --json
    """
    from scalelab.files import atomic
    from scalelab.measure.host.machine import this_machine
    from scalelab.records import Machine
    from scalelab.tables.printed import aligned

    if out is not None:
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
    terminal.say(*aligned(facts, left=(0, 1), width=terminal.listing_width()))


def _in_words(name, value):
    from scalelab import units

    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(name, one)}" for key, one in value.items())
    if isinstance(value, tuple):
        return ", ".join(" ".join(_in_words(*item) for item in vars(one).items()) for one in value)
    unit = {"memory": "B", "caches": "B", "power_limit": "W"}.get(name)
    return units.text(value, unit, binary=unit == "B") if unit and value else str(value)
