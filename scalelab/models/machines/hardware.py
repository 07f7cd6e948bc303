"""Devices, the links between them, and nodes: a catalogue with a source for every value (Section 3.2).

One convention, whatever the seller prints: peaks are dense, bandwidths go one way, memory is what
the driver reports. The file is `scalelab/data/hardware.json`; prices are the caller's, with a date.
"""

from dataclasses import dataclass, field
from typing import Any

from scalelab.arguments import real, shown, whole
from scalelab.data import catalogue
from scalelab.models.choice import chosen, instance, text
from scalelab.refusal import Refusal

_ONE_WAY = "it is in bytes per second and one direction; a sum of both is twice as much"
_NAME = "say what it is"
_DENSE = "it is the dense peak in FLOP/s; with sparsity sellers print twice as much"


@dataclass(frozen=True)
class Link:
    """A way for bytes between two devices or nodes.

    >>> link("NVLink 4").bandwidth  # sold as 900 GB/s, both directions together
    450000000000.0
    """

    name: str
    bandwidth: float  # bytes per second, in one direction
    source: str = ""

    def __post_init__(self) -> None:
        text("name", self.name, _NAME)
        real("bandwidth", self.bandwidth, _ONE_WAY, 0, above=True)
        _line("source", self.source)


@dataclass(frozen=True)
class Device:
    """One processor and the memory on it.

    >>> device("H200 SXM").label, round(device("H200 SXM").memory / 2**30, 1)
    ('141 GB', 140.4)
    """

    name: str
    bandwidth: float  # of its memory, bytes per second
    # Dense FLOP/s per number format and unit: of a GPU at its boost clock, of a CPU at its base clock.
    peaks: dict[str, float] = field(hash=False)
    memory: float | None = None  # bytes as the driver reports them; None where one plugs it in
    power: float | None = None  # watts, the limit it is sold with
    link: Link | None = None  # to its neighbours
    host: Link | None = None  # to the host
    label: str = ""  # the memory as the seller writes it
    sparse_peaks: dict[str, float] = field(default_factory=dict, hash=False)  # 2:4 sparsity
    boost_peaks: dict[str, float] = field(default_factory=dict, hash=False)  # at a CPU's top clock
    sources: dict[str, str] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        text("name", self.name, _NAME)
        real("bandwidth", self.bandwidth, "it is the memory's, in bytes per second", 0, above=True)
        _rates("peaks", self.peaks, _DENSE)
        _rates("sparse_peaks", self.sparse_peaks, "it is the peak with sparsity, in FLOP/s")
        _rates("boost_peaks", self.boost_peaks, "it is the dense peak at the top clock, in FLOP/s")
        for name, meaning in (("memory", "it is in bytes"), ("power", "it is in watts")):
            if getattr(self, name) is not None:
                real(name, getattr(self, name), meaning, 0, above=True)
        for name in ("link", "host"):
            if getattr(self, name) is not None:
                instance(name, getattr(self, name), Link, "take one from link(name)")
        _line("label", self.label)
        for value, source in _dict("sources", self.sources).items():
            _line(f"the source of {value}", source)


@dataclass(frozen=True)
class Node:
    """Devices that share a fast link inside and network cards (NICs) to the outside.

    >>> dgx = node("DGX H100")
    >>> round(dgx.outside_bandwidth / dgx.count / dgx.inside.bandwidth, 3)
    0.111
    """

    name: str
    device: Device
    count: int
    inside: Link
    outside: Link
    nics: int
    source: str = ""

    def __post_init__(self) -> None:
        whole("count", self.count, "it counts the devices of the node")
        whole("nics", self.nics, "it counts the network cards of the node")
        text("name", self.name, _NAME)
        instance("device", self.device, Device, "take one from device(name)")
        for name in ("inside", "outside"):
            instance(name, getattr(self, name), Link, "take one from link(name)")
        _line("source", self.source)

    @property
    def memory(self) -> float | None:
        """Bytes of all its devices together; None where they have none of their own."""
        return None if self.device.memory is None else self.count * self.device.memory

    @property
    def outside_bandwidth(self) -> float:
        """Bytes per second and direction of the whole node: through all its network cards."""
        return self.nics * self.outside.bandwidth


def names(section: str = "devices") -> tuple[str, ...]:
    """Every name that the catalogue knows: of its devices, links or nodes.

    Source: scalelab/data/hardware.json. Section 3.2.

    >>> names("nodes")
    ('DGX A100', 'DGX H100', 'DGX H200', 'DGX B200')
    """
    sections = {kind: catalogue.hardware()[kind] for kind in ("devices", "links", "nodes")}
    return tuple(chosen("section", section, sections))


def link(name: str) -> Link:
    """The link of this name.

    Source: each link carries its own. Section 3.2.

    >>> link("InfiniBand NDR").bandwidth  # 400 Gbit/s
    50000000000.0
    """
    cell = chosen("name", name, catalogue.hardware()["links"])["bandwidth"]
    return Link(name, catalogue.value(cell), catalogue.origin(cell))


def device(name: str) -> Device:
    """The device of this name, with the source of each of its values.

    Source: each value carries its own. Section 3.2.

    >>> device("H100 SXM").sources["peaks: bf16 tensor"][:43]
    'half of 1979 TFLOP/s, printed with sparsity'
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for quantity, written in chosen("name", name, catalogue.hardware()["devices"]).items():
        if isinstance(written, str):
            values[quantity] = link(written)
        elif isinstance(written, dict):
            values[quantity] = {kind: catalogue.value(cell) for kind, cell in written.items()}
            sources |= {f"{quantity}: {k}": catalogue.origin(c) for k, c in written.items()}
        else:
            values[quantity] = written[0] if quantity == "label" else catalogue.value(written)
            sources[quantity] = catalogue.origin(written)
    return Device(name, **values, sources=sources)


def node(name: str) -> Node:
    """The node of this name.

    Source: each node carries its own. Section 3.2.

    >>> node("DGX H200").count, node("DGX H200").device.name
    (8, 'H200 SXM')
    """
    written = chosen("name", name, catalogue.hardware()["nodes"])
    parts: dict[str, object] = {way: link(written[way]) for way in ("inside", "outside")}
    parts |= {"device": device(written["device"]), "source": catalogue.source(written["source"])}
    return Node(name=name, **(written | parts))


def peak(device: Device, dtype: str) -> float:
    """The dense peak of a device for one number format and unit, in FLOP/s.

    Source: the device's own, in its `sources`. Section 3.2.

    >>> peak(Device("my own", bandwidth=3e12, peaks={"bf16 tensor": 9e14}), "bf16 tensor")
    900000000000000.0
    """
    instance("device", device, Device, "take one from device(name), or describe your own")
    return float(chosen("dtype", dtype, device.peaks))


def fastest(device: Device, numbers: str) -> float:
    """The largest dense peak of a device for one number format, by whichever unit; 0 if it has none.

    Source: the device's own, in its `sources`. Section 3.2.

    >>> fastest(device("Xeon 8480+"), "bf16"), fastest(device("EPYC 9654"), "bf16")
    (114688000000000.0, 0.0)
    """
    instance("device", device, Device, "take one from device(name), or describe your own")
    text("numbers", numbers, "name a format, such as bf16")
    return max(
        (float(rate) for kind, rate in device.peaks.items() if kind.split()[0] == numbers),
        default=0.0,
    )


def boost(device: Device, dtype: str) -> float:
    """How far a device can run above its peak for one number format: top clock over base clock, 1 if unknown.

    A CPU's peak counts its base clock, which it is sold to keep; with power to spare it runs faster.
    Source: the device's own, in its `sources`. Section 3.7.

    >>> round(boost(device("EPYC 9654"), "fp64"), 2), boost(device("H100 SXM"), "fp64")
    (1.54, 1.0)
    """
    base = peak(device, dtype)
    return float(device.boost_peaks.get(dtype, base)) / base


def _line(name, given):
    if not isinstance(given, str):
        raise Refusal(f"{name} must be text, got {shown(given)}: leave it out if there is none")


def _dict(name, given):
    if not isinstance(given, dict):
        raise Refusal(f"{name} must be a dict, got {shown(given)}: write {{}} if there are none")
    return given


def _rates(name, given, meaning):
    for dtype, rate in _dict(name, given).items():
        text(f"a key of {name}", dtype, "name the number format and the unit")
        real(name, rate, meaning, 0, above=True)
