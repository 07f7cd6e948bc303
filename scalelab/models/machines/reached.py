"""The fastest matrix products that were found on accelerators, beside what is printed (Section 3.7).

They come from one published search over shapes; best_products.json names it.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from scalelab.models.choice import chosen
from scalelab.models.machines import hardware

_WIDTHS = {"bf16": 2, "fp8": 1}  # bytes


@dataclass(frozen=True)
class Reached:
    """One product on one device: its format, its shape, and the FLOP/s that it ran at."""

    device: str
    format: str
    shape: tuple[int, int, int]  # m, n, k
    rate: float

    @property
    def width(self) -> int:
        """Bytes of one of its numbers."""
        return _WIDTHS[self.format]

    @property
    def share(self) -> float:
        """How much of the printed, dense peak it reached."""
        return self.rate / hardware.peak(hardware.device(self.device), f"{self.format} tensor")


def best_products(device: str | None = None) -> tuple[Reached, ...]:
    """Return the products found on this device, or all.

    >>> [round(one.share, 3) for one in best_products("B200 SXM")]
    [0.776, 0.763]
    """
    known = {row[0]: row[0] for row in _file()["rows"]}
    if device is not None:
        chosen("device", device, known)
    rows = (
        Reached(name, form, (m, n, k), 1e12 * rate) for name, form, m, n, k, rate in _file()["rows"]
    )
    return tuple(one for one in rows if device in (None, one.device))


@cache
def _file() -> dict[str, Any]:
    text = (resources.files("scalelab.data") / "best_products.json").read_text(encoding="utf-8")
    return json.loads(text)
