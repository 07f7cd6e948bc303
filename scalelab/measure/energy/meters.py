"""What a machine has to measure energy with: RAPL for the processor, NVIDIA's driver for the GPU.

A source that cannot be read is no source, and says why; nothing here ever reads as zero.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from scalelab.measure.host import nvidia

POWERCAP = Path("/sys/class/powercap")
_Ask = Callable[..., list[dict[str, str]]]  # as `nvidia.ask`


class Reading(NamedTuple):
    """One part of the machine at one moment."""

    joules: float | None = None  # counted since some moment in the past
    watts: float | None = None


class Missing(NamedTuple):
    """Why there is no sensor of a kind."""

    kind: str
    text: str


class Sensor(NamedTuple):
    """Something that reads one or several parts at once."""

    read: Callable[[], dict[str, Reading]]
    wraps: dict[str, float]  # at how many joules a counter starts again, for those that do
    least: (
        float  # seconds that a block should take, so that the rhythm of the readings is no matter
    )


def sensors(
    root: Path = POWERCAP, pynvml: ModuleType | None = None, ask: _Ask | None = None
) -> tuple[list[Sensor], list[Missing]]:
    """Return the sources of this machine, and why there are no others."""
    parts = rapl(root), nvml(pynvml or _importable()) or smi(ask or nvidia.ask)
    sources = [source for source in parts if isinstance(source, Sensor)]
    return sources, [why for why in parts if isinstance(why, Missing)]


def rapl(root: Path = POWERCAP) -> Sensor | Missing:
    """Return the Source of the packages and their memory, or why there is none.

    Cores and graphics are part of their package, and psys holds the packages: they would count
    twice. The counters move about every millisecond: Khan et al. 2018, doi:10.1145/3177754.
    """
    zones = {}
    for zone in sorted(root.glob("intel-rapl:*")):
        name, depth = _text(zone / "name"), zone.name.count(":")
        if depth == 1 and name.startswith("package"):
            zones[name] = zone
        elif depth == 2 and name == "dram":
            # Named after the package it belongs to: every package has one.
            zones[f"{_text(zone.with_name(zone.name.rpartition(':')[0]) / 'name')} {name}"] = zone
    if not zones:
        # On virtual machines, elsewhere than Linux, and on most ARM processors there is none.
        return Missing("no counter", f"no RAPL counter under {root}")
    if any(_joules(zone) is None for zone in zones.values()):
        return Missing(
            "closed",
            f"RAPL under {root} is closed to this user (Linux opens energy_uj to root alone): "
            "ask for read access, or run as root",
        )
    wraps = {name: _joules(zone, "max_energy_range_uj") for name, zone in zones.items()}
    return Sensor(
        lambda: {name: Reading(_joules(zone)) for name, zone in zones.items()},
        {name: limit for name, limit in wraps.items() if limit},
        0.1,
    )


def nvml(pynvml: ModuleType | None) -> Sensor | None:
    """Return the Source of the GPUs by NVIDIA's library, or None without it.

    The power it gives is a mean of up to a second, and on some GPUs of a quarter of it only:
    Yang, Adamek and Armour 2023, arXiv:2312.02741. Hence the counter, and the check by both.
    """
    if pynvml is None:
        return None
    try:
        pynvml.nvmlInit()
        handles = {}
        for row in nvidia.visible(_listed(pynvml)):
            handle = pynvml.nvmlDeviceGetHandleByIndex(int(row["index"]))
            handles[f"GPU {row['index']}"] = handle
    except pynvml.NVMLError:
        return None

    def ask(question: Callable[[object], float], handle: object) -> float | None:
        try:
            return question(handle) / 1e3
        except pynvml.NVMLError:
            return None

    def read() -> dict[str, Reading]:
        return {
            name: Reading(
                ask(pynvml.nvmlDeviceGetTotalEnergyConsumption, handle),
                ask(pynvml.nvmlDeviceGetPowerUsage, handle),
            )
            for name, handle in handles.items()
        }

    return Sensor(read, {}, 2.0) if handles else None


def smi(ask: _Ask) -> Sensor | Missing:
    """Return the Source of the GPUs by nvidia-smi, which knows the power only, or why there is none."""

    def read() -> dict[str, Reading]:
        rows = ask("power.draw")
        return {
            f"GPU {row['index']}": Reading(watts=nvidia.number(row.get("power.draw")))
            for row in rows
        }

    if any(reading.watts is not None for reading in read().values()):
        return Sensor(read, {}, 2.0)
    return Missing("no power", "no GPU whose driver tells its power")


def _listed(pynvml: ModuleType) -> Iterator[dict[str, str]]:
    for index in range(pynvml.nvmlDeviceGetCount()):
        uuid = pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(index))
        # Older versions of the library answer in bytes.
        yield {"index": str(index), "uuid": uuid.decode() if isinstance(uuid, bytes) else uuid}


def _importable() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml


def _joules(zone: Path, name: str = "energy_uj") -> float | None:
    written = _text(zone / name)
    return int(written) / 1e6 if re.fullmatch(r"\d+", written) else None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
