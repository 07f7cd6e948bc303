"""`scalelab probe`: the roofs of this machine, and the link between two of its processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalelab.cli import options, streams

if TYPE_CHECKING:
    from scalelab.records import Recording

# From where the first byte costs most to where only bytes cost.
_LINK = (4, 2**10, 2**16, 2**20, 2**24)


_TITLE = "The roofs of this machine"


@click.command("probe", short_help="Measure what this machine computes and moves per second.")
@click.option("--quick", is_flag=True, help="Seconds instead of minutes, and rougher.")
@click.option(
    "--device",
    type=options.DeviceChoice(["auto", "cpu", "cuda"]),
    default="auto",
    help="auto is the GPU where there is one.",
)
@options.json
@options.out
def command(quick: bool, device: str, json: bool, out: Path | None) -> None:
    """Measure the roofs: arithmetic, memory level by level, launching, and sending.

    \b
    Example:
      scalelab probe --quick
    """
    from scalelab.measure.messages import collectives
    from scalelab.measure.probe import probe
    from scalelab.measure.ranks import capacity

    with (
        streams.taking(_TITLE, _table, json=json, out=out, own=_own) as so_far,
        streams.progress("probe") as bar,
    ):

        def report(done: int, total: int, what: str) -> None:
            bar.total, bar.n = total, done
            bar.set_description(what)

        def keep(recording: Recording) -> None:
            so_far(recording.samples, recording.note)

        roofs = probe.probe(quick=quick, device=device, report=report, keep=keep)
        keep(roofs)
        bar.set_description("send")
        place = "cuda" if device != "cpu" and capacity.most("cuda")[0] > 1 else "cpu"
        calls = {"iterations": 20 if quick else 300}
        link = collectives.measure("send", list(_LINK), 2, device=place, **calls)
        so_far([*roofs.samples, *link], roofs.note)


def _own(record):
    """Whether a record is of this command, which may write it anew."""
    return getattr(record, "title", "") == _TITLE


def _table(samples):
    """Return what the roofline and the network models take from a probe."""
    from scalelab import units
    from scalelab.measure.probe import roofs
    from scalelab.records import Recording

    recording = Recording("", tuple(samples))
    rows = [("launch", units.text(roofs.launch(recording), "s"))]
    rows += [(name, units.text(rate, "FLOP/s")) for name, rate in roofs.rates(recording).items()]
    rows += [(name, units.text(rate, "B/s")) for name, rate in roofs.bandwidths(recording).items()]
    link = [(s.given["bytes"], s.median) for s in samples if s.given.get("collective") == "send"]
    if link:
        rows.append(("link latency", units.text(min(seconds for _, seconds in link), "s")))
        rows.append(("link", units.text(max(size / seconds for size, seconds in link), "B/s")))
    return dict(zip(("roof", "measured"), zip(*rows, strict=True), strict=True))
