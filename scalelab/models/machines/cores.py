"""What a processor's cores can do at best: cores x clock x units x width (Section 3.7).

A processor tells its vendor, family and model; how many units such a core has stands in the catalogue,
with its source. What is not known is not guessed: then there is no peak, and it is said what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from scalelab import units
from scalelab.arguments import real, shown, whole
from scalelab.data import catalogue
from scalelab.models.choice import MOST, text

_HERTZ = "it is the highest clock of the cores, in Hz"
_CORES = "it counts the cores that work at once"
_VECTOR = "it is how many bits of numbers multiply and add at once"
_WIDTH = "it is the bytes of one number"
_NUMBER = "it is a number by which makers tell their designs apart"
_MAKERS = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}  # as their processors write it
_RATE = "it is one measured rate, in FLOP/s"


@dataclass(frozen=True)
class Design:
    """A design of cores, and the units of each that multiply and add in the same cycle."""

    name: str
    units: int
    bits: int  # of numbers that one unit takes at once
    source: str

    def cycle(self, vector: int, width: int = 4) -> int:
        """FLOP of one core in one cycle, with vectors of so many bits and numbers of so many bytes.

        >>> design("GenuineIntel", 6, 143).cycle(512), design("AuthenticAMD", 25, 17).cycle(512)
        (64, 32)
        """
        width = whole("width", width, _WIDTH, 1, 8)
        numbers = min(whole("vector", vector, _VECTOR, 8 * width), self.bits) // (8 * width)
        return 2 * self.units * numbers


@dataclass(frozen=True)
class Theory:
    """The peak of some cores, or what is missing for one."""

    design: Design | None
    cycle: int | None  # FLOP of one core
    clock: float | None  # Hz
    cores: int
    missing: tuple[str, ...]

    @property
    def peak(self) -> float | None:
        """FLOP/s of all the cores; None where something is missing."""
        if self.cycle is None or self.clock is None:
            return None
        return self.cores * self.clock * self.cycle

    def beside(self, measured: float) -> str:
        """What theory says of a measured peak, or why it says nothing.

        >>> theory("AuthenticAMD", 25, 17, 512, 3.7e9).beside(110e9)
        'Zen 4: 1 × 3.7 GHz × 32 FLOP = 118 GFLOP/s, of which 93% were measured.'
        """
        measured = real("measured", measured, _RATE, 0, above=True)
        if self.design and self.cycle and self.clock and self.peak:
            return (
                f"{self.design.name}: {self.cores} × {units.text(self.clock, 'Hz')} × {self.cycle} FLOP "
                f"= {units.text(self.peak, 'FLOP/s')}, of which {measured / self.peak:.0%} were measured."
            )
        said = f"No calculated flat here. Not known: {'; '.join(self.missing)}."
        if not self.design or not self.cycle:
            return said
        needed = units.text(measured / self.cores / self.cycle, "Hz", 2)
        return (
            f"{said} A core of {self.design.name} does {self.cycle} FLOP in a cycle, "
            f"so what was measured takes {needed} at least."
        )


def design(vendor: str | None, family: int | None, model: int | None) -> Design | None:
    """The core that a processor says it has; None for one that the catalogue does not hold.

    Source: each core carries its own. Section 3.7.

    >>> design("AuthenticAMD", 25, 17).name, design("GenuineIntel", 6, 85)
    ('Zen 4', None)
    """
    if vendor is not None:
        vendor = text("vendor", vendor, "it is how /proc/cpuinfo writes the maker's name")
    family = None if family is None else whole("family", family, _NUMBER, 0)
    model = None if model is None else whole("model", model, _NUMBER, 0)
    if None in (vendor, family, model):
        return None
    for name, written in catalogue.hardware()["cores"].items():
        made = any(low <= model <= high for low, high in written["models"])
        if made and (vendor, family) == (written["vendor"], written["family"]):
            source = "; ".join(map(catalogue.source, written["sources"]))
            return Design(name, written["units"], written["bits"], source)
    return None


def theory(
    vendor: str | None,
    family: int | None,
    model: int | None,
    vector: int | None,
    clock: float | None,
    cores: int = 1,
    width: int = 4,
) -> Theory:
    """The peak of cores that say all this of themselves: cores x clock x units x numbers x 2.

    Source: the definition, with the units of the catalogue. Section 3.7.

    >>> f"{theory('GenuineIntel', 6, 143, 512, 2.0e9, cores=56).peak:.4g}"
    '7.168e+12'
    >>> theory("AuthenticAMD", 25, 17, 512, clock=None).missing
    ('how fast its clock may go',)
    """
    cores = whole("cores", cores, _CORES, 1, MOST)
    if clock is not None:
        clock = real("clock", clock, _HERTZ, 0, above=True)
    core = design(vendor, family, model)
    missing = []
    if None in (vendor, family, model):
        missing.append("which core this is")
    elif not core:
        missing.append(
            f"how many units this core has ({_MAKERS.get(str(vendor)) or shown(vendor)}, "
            f"family {family}, model {model})"
        )
    if vector is None:
        missing.append("how wide its vectors are")
    if clock is None:
        missing.append("how fast its clock may go")
    cycle = core.cycle(vector, width) if core and vector else None
    return Theory(core, cycle, clock, cores, tuple(missing))
