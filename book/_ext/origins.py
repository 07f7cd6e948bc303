"""Where the numbers of the panel My hardware come from: for each device of the catalogue, source and date.

A page asks for it with the directive `device-sources`; it is made from the catalogue at the build.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from reach import Package
from sphinx.util.docutils import SphinxDirective

from scalelab.data import catalogue
from scalelab.models.machines import hardware
from scalelab.show.plots import yours

HERE = Path(__file__)


def cells(name: str) -> dict[str, list[str]]:
    """Return what the catalogue has written down for the numbers of the panel.

    >>> {number: cell[0] for number, cell in cells("RTX 4090").items()}
    {'peak': '165.2 TFLOP/s', 'memory': '1008 GB/s', 'capacity': '24564 MiB'}
    """
    written, known = catalogue.hardware(), hardware.device(name)
    one = written["devices"][name]
    form, peak, _ = yours.best_format(known)
    fastest = next(
        key for key, value in known.peaks.items() if value == peak and key.startswith(form)
    )
    found = {"peak": one["peaks"][fastest], "memory": one["bandwidth"]}
    if "memory" in one:
        found["capacity"] = one["memory"]
    return found


def shared(name: str) -> dict[str, list[str]]:
    """Return the numbers of a device by the source that has them.

    >>> shared("H100 SXM")
    {'h100 sheet': ['peak', 'memory'], 'nvml': ['capacity']}
    """
    by_source: dict[str, list[str]] = {}
    for number, (_, source, *_) in cells(name).items():
        by_source.setdefault(source, []).append(number)
    return by_source


def told(name: str) -> Iterator[nodes.Node]:
    """Yield the words for a device: its name, and its sources as links with their dates."""
    yield nodes.strong("", name)
    for key, numbers in shared(name).items():
        source = catalogue.hardware()["sources"][key]
        yield nodes.Text(f"; {', '.join(numbers)}: ")
        yield nodes.reference("", source["title"], refuri=source["url"])
        yield nodes.Text(f", {source['date']}")


class DeviceSources(SphinxDirective):
    """A list of the devices."""

    def run(self) -> list[nodes.Node]:
        """Make it anew whenever the catalogue has changed, or this file."""
        folder = Path(self.env.app.srcdir)
        for file in Package(folder).reached(HERE.read_text(encoding="utf-8")):
            self.env.note_dependency(str(folder / file))
        self.env.note_dependency(str(HERE))
        items = [
            nodes.list_item("", nodes.paragraph("", "", *told(name))) for name in hardware.names()
        ]
        return [nodes.bullet_list("", *items)]


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("device-sources", DeviceSources)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
