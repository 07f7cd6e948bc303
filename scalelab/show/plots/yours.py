"""Sliders over devices and boxes: in the rendered book they start from those nearest to the reader's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalelab.models.machines import hardware
from scalelab.show.sliders import Slider


def best_format(device: hardware.Device) -> tuple[str, float, int]:
    """The format that the book computes with on a device, its dense peak, and the bytes of a number.

    It is bf16 where a device has it, or the next that it has, as the panel My hardware says.
    """
    formats = {"bf16": 2, "fp16": 2, "fp32": 4}
    name = next(one for one in formats if hardware.fastest(device, one))
    return name, hardware.fastest(device, name), formats[name]


def roof(device: hardware.Device) -> tuple[float, float]:
    """Its peak in that format, and the bandwidth of its memory."""
    return best_format(device)[1], device.bandwidth


def devices(names: Sequence[str], start: str = "H100 SXM", within: float = np.inf) -> Slider:
    """Devices, by their roofs. Of few, none may be near: whoever has a processor is shown no GPU as such."""
    near = [roof(hardware.device(name)) for name in names]
    return Slider("device", names, start, "", "peak bandwidth", near, within)


def boxes(start: str = "DGX H100", within: float = 1.5) -> Slider:
    """Every box of the catalogue, by the roofs of the devices in it."""
    names = hardware.names("nodes")
    near = [roof(hardware.node(name).device) for name in names]
    return Slider("box", names, start, "", "peak bandwidth", near, within)


def holding(names: Sequence[str], start: str = "H100 SXM", within: float = 1.1) -> Slider:
    """Devices, by what their memory holds."""
    near = [hardware.device(name).memory or np.inf for name in names]
    return Slider("device", names, start, "", "memory", near, within)
