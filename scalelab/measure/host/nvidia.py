"""What NVIDIA's driver says of the GPUs that this process may use, through nvidia-smi.

Where the program is missing, slow or broken, there is nothing to say, and nothing is raised.
"""

import functools
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence

from scalelab.records import Gpu

_PROGRAM = "nvidia-smi"
_MIB = 2**20
_Row = dict[str, str]  # of one GPU, what is known by its field
_Gpus = tuple[tuple[Gpu, ...], str]  # and their driver's version


def ask(
    *fields: str, run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
) -> list[_Row]:
    """Return {field: text} for every GPU this process may use; what is not known is missing."""
    if run is subprocess.run and not shutil.which(_PROGRAM):
        return []
    asked = ("index", "uuid", *fields)
    query = [f"--query-gpu={','.join(asked)}", "--format=csv,noheader,nounits"]
    try:
        # A driver that no one keeps loaded takes seconds to answer; a broken one never does.
        done = run([_PROGRAM, *query], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    lines = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
    # "[N/A]", "[Not Supported]", "[Unknown Error]"
    rows = [
        {name: cell for name, cell in zip(asked, line, strict=True) if cell[:1] not in ("", "[")}
        for line in lines
        if len(line) == len(asked)
    ]
    return visible(rows)


def visible(rows: Iterable[_Row]) -> list[_Row]:
    """Keep the rows that CUDA_VISIBLE_DEVICES chooses, in its order; like CUDA, stop at nonsense."""
    rows, chosen = list(rows), os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return rows
    picked: list[_Row] = []
    for token in (part.strip() for part in chosen.split(",")):
        matching = [
            row
            for row in rows
            if row.get("index") == token or (token[:4] == "GPU-" and row["uuid"].startswith(token))
        ]
        if len(matching) != 1 or matching[0] in picked:
            break
        picked += matching
    return picked


def number(text: str | None) -> float | None:
    """Return what nvidia-smi wrote as a number, or None."""
    try:
        value = math.nan if text is None else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def describe(rows: Sequence[_Row]) -> _Gpus:
    """Return the Gpus and the driver's version of these rows."""
    gpus = []
    for row in rows:
        memory = number(row.get("memory.total"))
        power = number(row.get("power.limit"))
        gpus.append(
            Gpu(row.get("name", "GPU"), None if memory is None else int(memory * _MIB), power)
        )
    return tuple(gpus), next((row["driver_version"] for row in rows if "driver_version" in row), "")


def gpus() -> _Gpus:
    """Return the Gpus of this process and their driver, asking at most once in a process's life."""
    gpus, driver = _asked()
    return (gpus, driver) if gpus else (_seen_by_torch(sys.modules.get("torch")), "")


@functools.cache
def _asked() -> _Gpus:
    return describe(ask("name", "memory.total", "power.limit", "driver_version"))


def _seen_by_torch(torch):
    """Containers often lack nvidia-smi; a PyTorch that runs on the GPU anyway knows it too."""
    if torch is None or not torch.cuda.is_initialized():
        return ()
    each = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    return tuple(Gpu(properties.name, properties.total_memory) for properties in each)
