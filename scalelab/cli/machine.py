"""`scalelab machine`: what this host is."""

from pathlib import Path

import click

from scalelab.cli import options, streams


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

    machine = this_machine()
    if out is not None:
        atomic.write(out, machine)
    if json:
        streams.echo(machine)
        return
    facts = {
        name: value for name, value in vars(machine).items() if value not in (None, "", {}, ())
    }
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):{width}}  {_told(name, value)}")


def _told(name, value):
    from scalelab import units

    if isinstance(value, dict):
        return ", ".join(f"{key} {_told(name, one)}" for key, one in value.items())
    if isinstance(value, tuple):
        return ", ".join(" ".join(_told(*item) for item in vars(one).items()) for one in value)
    unit = {"memory": "B", "caches": "B", "power_limit": "W"}.get(name)
    return units.text(value, unit, binary=unit == "B") if unit and value else str(value)
