"""What this host is, as far as it tells: what it hides stays unknown, never zero.

Asks the operating system, and once the GPU's driver; imports neither torch nor NumPy.
"""

import functools
import os
import platform
import re
from collections import Counter
from importlib import metadata, util
from pathlib import Path
from typing import NamedTuple

from scalelab.measure.host import nvidia
from scalelab.records import Machine
from scalelab.units import counted, text

_CACHES = Path("/sys/devices/system/cpu")
_CGROUP = Path("/sys/fs/cgroup")
_CPUINFO = Path("/proc/cpuinfo")
# Bits of the widest vectors that multiply and add at once, by the flag of x86 that says so.
_VECTORS = {"avx512f": 512, "fma": 256}


class Core(NamedTuple):
    """A core of a processor by its own words; None for what it does not say."""

    vendor: str | None
    family: int | None
    model: int | None
    vector: int | None  # bits that multiply and add at once
    clock: float | None  # Hz, the highest that the system lets it have


def this_machine() -> Machine:
    """Return the Machine this process runs on: what it may use, not what the box was sold with.

    >>> this_machine().cores >= 1
    True
    """
    cores, memory, processor = usable_cores(), usable_memory(), _processor()
    gpus, driver = nvidia.gpus()
    parts = [processor or platform.machine(), counted(cores, "core")]
    if memory:
        parts.append(text(memory, "B", digits=2))
    for name, count in Counter(gpu.name for gpu in gpus).items():
        parts.append(f"{count} x {name}" if count > 1 else name)
    return Machine(
        name=", ".join(parts),
        cores=cores,
        memory=memory,
        caches=_caches(),
        processor=processor,
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
        numpy=_version("numpy"),
        torch=_version("torch"),
        cache_counts=_cache_counts(),
        gpus=gpus,
        driver=driver,
        cuda=_cuda(),
        affinity=_ranges(_affinity()),
        load=_load(),
    )


def usable_cores(cgroup: Path = _CGROUP) -> int:
    """Return how many cores this process may use: its affinity, and its container's quota."""
    cores = len(_affinity()) or os.cpu_count() or 1
    quota, _, period = _read(cgroup / "cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        cores = min(cores, max(1, int(quota) // int(period)))
    return cores


def usable_memory(cgroup: Path = _CGROUP) -> int | None:
    """Return the bytes this process may use, or None where the system does not say."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    limit = _read(cgroup / "memory.max")
    return min(memory, int(limit)) if limit.isdigit() else memory


def this_core(cpuinfo: Path = _CPUINFO, cpus: Path = _CACHES) -> Core:
    """Return what the first core says that this process may use; Linux on x86 makes them speak.

    The clock that /proc/cpuinfo shows is that of the moment, or of a virtual machine's counter, so
    it is not taken for the highest. Section 3.7.
    """
    core = next(iter(_affinity()), 0)
    said = _said(cpuinfo, core)
    flags = said.get("flags", "").split()
    top = _number(_read(cpus / f"cpu{core}" / "cpufreq" / "cpuinfo_max_freq"))  # kHz
    return Core(
        vendor=said.get("vendor_id"),
        family=_number(said.get("cpu family", "")),
        model=_number(said.get("model", "")),
        vector=next((bits for flag, bits in _VECTORS.items() if flag in flags), None),
        clock=1e3 * top if top else None,
    )


def _said(cpuinfo, core):
    """Return what the lines about one core say, by their first words."""
    for block in _read(cpuinfo).split("\n\n"):
        lines = (line.partition(":") for line in block.splitlines())
        said = {what.strip(): value.strip() for what, _, value in lines}
        if said.get("processor") == str(core):
            return said
    return {}


def _number(text):
    return int(text) if text.isdigit() else None


def _affinity() -> list[int]:
    """Return the numbers of the cores this process may run on; macOS does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _ranges(numbers):
    """Write numbers as Linux does: [0, 1, 2, 5] as "0-2,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _caches(root=_CACHES):
    """Return the data caches that one usable core sees, {"L1d": bytes, "L2": bytes, ...}."""
    sizes = {}
    for core in _affinity()[:1]:
        for level, size, _ in _levels(root, core):
            if size.endswith("K") and size[:-1].isdigit():
                sizes[level] = int(size[:-1]) * 1024
    return sizes


def _cache_counts(root=_CACHES):
    """Return how many caches of each level the usable cores have between them."""
    caches = {
        (level, shared)
        for core in _affinity()
        for level, _, shared in _levels(root, core)
        if shared
    }
    return dict(sorted(Counter(level for level, _ in caches).items()))


@functools.cache  # a core keeps its caches; there may be hundreds, and every stamp asks
def _levels(root, core):
    """Return the name, the size and the sharers of each cache of a core that holds data."""
    found = []
    for folder in sorted((root / f"cpu{core}" / "cache").glob("index*")):
        kind = _read(folder / "type")
        if kind in ("Data", "Unified"):
            name = f"L{_read(folder / 'level')}{'d' if kind == 'Data' else ''}"
            found.append((name, _read(folder / "size"), _read(folder / "shared_cpu_list")))
    return tuple(found)


@functools.cache
def _processor() -> str:
    for line in _read(_CPUINFO).splitlines():
        if line.startswith(("model name", "Model")):
            return " ".join(line.partition(":")[2].split())
    return platform.processor()


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):  # Windows has none
        return None


@functools.cache
def _cuda() -> str:
    """Return the CUDA version in torch/version.py, which finding the package does not import."""
    spec = util.find_spec("torch")
    source = _read(Path(spec.origin).with_name("version.py")) if spec and spec.origin else ""
    stated = re.search(r"^cuda\b.*= *'([^']+)'", source, re.MULTILINE)
    return stated.group(1) if stated else ""


@functools.cache  # reading it takes longer than all the rest, and every stamp asks
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
