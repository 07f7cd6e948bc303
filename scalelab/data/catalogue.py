"""The catalogue of hardware as it is written down: what each source prints, and which source.

A cell of hardware.json is [what the source prints, the source, and why half of it is meant]; the
third entry is there only where a seller prints a sum of both directions or a sparse peak.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from scalelab import units


@cache
def hardware() -> dict[str, Any]:
    """Return the sections of hardware.json.

    >>> hardware()["links"]["NVLink 4"]["bandwidth"]
    ['900 GB/s', 'h100 sheet', 'both directions together']
    """
    text = (resources.files(__package__) / "hardware.json").read_text(encoding="utf-8")
    return json.loads(text)


def value(cell: Sequence[str]) -> float:
    """Return the SI value that a cell means.

    >>> value(["900 GB/s", "h100 sheet", "both directions together"]), value(["40960 MiB", "nvml"])
    (450000000000.0, 42949672960.0)
    """
    printed, _, *halved = cell
    unit = next(u for u in ("FLOP/s", "bit/s", "B/s", "B", "W") if printed.endswith(u))
    return units.parse(printed, unit) / (8 if unit == "bit/s" else 1) / (2 if halved else 1)


def origin(cell: Sequence[str]) -> str:
    """Return where a cell comes from, on one line.

    >>> origin(["900 GB/s", "h100 sheet", "both directions together"])[:57]
    'half of 900 GB/s, both directions together: NVIDIA H100 T'
    """
    printed, key, *halved = cell
    return (f"half of {printed}, {halved[0]}: " if halved else "") + source(key)


def source(key: str) -> str:
    """Return title, date and address of a source.

    >>> source("b200 nvml").split(", ")[-2:]
    ['2025-12-24', 'https://github.com/NVIDIA/TensorRT-LLM/issues/10278']
    """
    entry = hardware()["sources"][key]
    return ", ".join(entry[part] for part in ("title", "date", "url"))
