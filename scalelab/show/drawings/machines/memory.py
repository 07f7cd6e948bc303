"""Section 3.2: what sits where in the memory of devices that train a model, choice after choice.

The bytes are those that `models.machines.memory` counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scalelab.arguments import whole
from scalelab.models.choice import chosen, instance
from scalelab.models.machines import hardware, memory
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL
from scalelab.show.plots.hardware import SHAPES

_SHOWN = 4  # devices, of which the others are like
_CONTEXT = 8192  # tokens of a sequence
_WIDE, _HIGH = 360.0, 308.0
_TOP, _BOTTOM = 24.0, 284.0
_GB = 1.5  # units
_LEFT, _STEP, _COLUMN = 61.0, 74.75, 68.0
_ROOM = 11.5  # units of height that a word in a block needs
_TONES = {"weights": 1, "gradients": 2, "optimizer": 4, "activations": 5}


@dataclass(frozen=True)
class _Choice:
    """How a model is trained: which states there are so far, how they are held, and what passes through."""

    parts: tuple[str, ...] = ()
    optimizer: str = "adam"
    precision: str = "mixed"
    stage: int = 0
    sequences: int = 0
    recompute: str = "selective"


def what_fits(billions: int, devices: int, device: hardware.Device) -> Drawing:
    """The memory of devices that train a model of 8 or 70 billion parameters, one choice after another."""
    layers = chosen("billions", f"{billions}", {f"{one}": shape for one, shape in SHAPES.items()})
    devices = whole(
        "devices", devices, f"it counts the devices, of which {_SHOWN} are drawn", _SHOWN
    )
    device = instance("device", device, hardware.Device, "take one from machines.device(name)")
    if device.memory is None:
        raise Refusal(f"device must have memory of its own, got {device.name!r}: take a GPU")
    room = device.memory / 1e9
    frames = []
    for choice, says in _story(devices, room, billions):
        held = _held(billions, devices, layers, choice)
        words = {part: _number(size) for part, size in held.items()}
        frames.append(_frame(devices, room, held, choice, says.format(**words)))
    return Drawing(
        f"{billions} billion on {devices}",
        f"{billions} billion parameters on {devices} × {device.name}",
        f"{_SHOWN} of {devices} devices stand side by side, each a box as high as its memory. Blocks are "
        "what it holds, with their first letter and their GB, and their sum above them; what rises above "
        "the box does not fit. A number after the letter says that the device holds only this piece.",
        _WIDE,
        _HIGH,
        tuple(frames),
        chosen=(4, 9),
        tones={f"{part} ({part[0]})": tone for part, tone in _TONES.items()},
        stamp=MODEL,
    )


def _story(devices, room, billions):
    """Return the choices, one after the other, each with what it shows."""
    states = ("weights", "gradients", "optimizer")
    copy, adam = _Choice(states, "sgd"), _Choice(states)
    one = replace(adam, stage=3, sequences=1)
    again = replace(one, sequences=2, recompute="full")
    return (
        (
            _Choice(),
            f"{devices} devices with {_number(room)} GB each, and a model of {billions} billion parameters "
            "to train.",
        ),
        (
            _Choice(states[:1]),
            "The weights in 16 bits: {weights} GB. Every device needs them, so each holds a copy.",
        ),
        (
            _Choice(states[:2]),
            "A gradient for each weight, in 16 bits too: as much again.",
        ),
        (
            copy,
            "Updates are too small for 16 bits. So the optimizer keeps the weights in 32 as well: "
            "{optimizer} GB more.",
        ),
        (
            adam,
            "Adam adds two statistics for each weight, in 32 bits. With the copy, three quarters of all "
            "are the optimizer's.",
        ),
        (
            replace(adam, precision="fp32"),
            "All in 32 bits instead, so without the copy? The same sum: mixed precision saves no states.",
        ),
        (
            replace(adam, stage=1),
            f"Stage 1 of ZeRO: each keeps one of {devices} pieces of the optimizer's part, and updates those "
            "weights.",
        ),
        (
            replace(adam, stage=2),
            "Stage 2: of the gradients, too, each keeps only its piece.",
        ),
        (
            replace(adam, stage=3),
            "Stage 3: and of the weights. Each piece is sent to the others whenever they need it.",
        ),
        (
            one,
            f"Now a sequence of {_CONTEXT:,} tokens. Its activations wait for the way back: "
            "{activations} GB on each device.",
        ),
        (
            replace(one, sequences=2),
            "A second sequence doubles them. No stage splits them: each device has sequences of its own.",
        ),
        (
            again,
            "Keep only the input of each layer, and compute the rest again: {activations} GB for the two.",
        ),
        (
            replace(again, sequences=4),
            "That leaves room for four sequences on each device, and for more.",
        ),
        (
            replace(again, sequences=4, optimizer="adam 8-bit"),
            "Adam's statistics in 8 bits: 6 bytes for each weight in place of 12.",
        ),
    )


def _held(billions, devices, shape, choice):
    """Return the GB of each part on one device."""
    size, stage = 1e9 * billions, choice.stage
    states = memory.states(size, devices, choice.optimizer, choice.precision, stage)
    held = {part: states[part] / 1e9 if part in choice.parts else 0.0 for part in states}
    layers, hidden, heads, _ = shape
    kept = 0.0
    if choice.sequences:
        kept = memory.activation_bytes(
            choice.sequences, _CONTEXT, layers, hidden, heads, choice.recompute
        )
    return held | {"activations": kept / 1e9}


def _frame(devices, room, held, choice, caption):
    total = sum(held.values())
    shapes = [shape for at in range(_SHOWN) for shape in _device(at, devices, room, held, choice)]
    return Frame(
        caption,
        (*_limit(room), *shapes),
        {
            "On each device, in GB": ", ".join(
                f"{part} {_number(size)}" for part, size in held.items()
            ),
            "Needed": f"{_number(total)} GB",
            "There is": f"{_number(room)} GB",
            "Fits": "yes" if total <= room else "no",
        },
    )


def _limit(room):
    y = _BOTTOM - room * _GB
    yield Shape("limit", "line", _LEFT - 4, y, _SHOWN * _STEP, 0, weight=1.5)
    yield Shape("limit says", "text", _LEFT - 6, y, text=f"{_number(room)} GB", align="end")


def _device(at, devices, room, held, choice):
    """Yield the box of a device, the blocks in it, from the bottom up, and their sum above them."""
    x = _LEFT + _STEP * at + _COLUMN / 2
    high = room * _GB
    yield Shape(f"device {at + 1}", "box", x, _BOTTOM - high / 2, _COLUMN, high)
    yield Shape(f"name {at + 1}", "text", x, _BOTTOM + 12, text=f"{at + 1} of {devices}")
    below = _BOTTOM
    pieces = {"weights": 3, "gradients": 2, "optimizer": 1}
    for part, size in held.items():
        above = max(below - size * _GB, _TOP)  # what is higher than the paper is told in figures
        split = choice.stage >= pieces.get(part, 4)
        word = f"{part[0]}{at + 1 if split else ''}: {_number(size)}"
        yield Shape(
            f"{part} of {at + 1}", "block", x, (below + above) / 2, _COLUMN - 4, below - above,
            tone=_TONES[part], text=word if below - above >= _ROOM else "",
        )  # fmt: skip
        below = above
    total = sum(held.values())
    more = " ↑" if total * _GB > _BOTTOM - _TOP else ""
    if total:
        yield Shape(f"sum of {at + 1}", "text", x, below - 9, text=f"{_number(total)}{more}")


def _number(size):
    return f"{size:,.0f}" if size >= 100 or size == int(size) else f"{size:.3g}"
