"""Every key of a plan file: what it may hold, means and is where it is absent; and how values are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scalelab import units
from scalelab.arguments import meant, real, shown, whole
from scalelab.models.machines import hardware, memory
from scalelab.refusal import Refusal

# "70B" parameters, "4M" tokens, "15T" tokens: as people write counts.
_COUNTS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
REQUIRED = object()


@dataclass(frozen=True)
class Field:
    """What one key may hold: a kind, its meaning for people, and its limits."""

    kind: str  # "whole", "count", "flag", "share", "text", "sizes", "number", or a unit: "s", "B/s"
    meaning: str
    default: Any = None
    low: float = 0.0
    high: float = 1e30
    above: bool = False  # the low limit itself is refused
    names: tuple[str, ...] = ()  # what a text may be


def table(file: str, name: str, given: object, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return {key: value} of a table of a file, with defaults for what is absent."""
    where = f"{file}: {name}"
    if not isinstance(given, dict):
        raise Refusal(f"{where} must be a table, got {shown(given)}: write [{name}]")
    for key in given:
        if key not in fields:
            raise Refusal(
                f"{where} must hold keys that are known, got {shown(key)}: {meant(key, fields)}"
            )
    values = {}
    for key, field in fields.items():
        if key not in given and field.default is REQUIRED:
            raise Refusal(f"{where}.{key} must be given, got nothing: {field.meaning}")
        values[key] = value(f"{where}.{key}", given[key], field) if key in given else field.default
    return values


def value(where: str, given: object, field: Field) -> Any:
    """Return one value in SI.

    >>> value("a.toml: goal.deadline", "30 d", Field("s", "it is the time you have"))
    2592000.0
    """
    if field.kind == "flag":
        if isinstance(given, bool):
            return given
        raise Refusal(f"{where} must be true or false, got {shown(given)}: {field.meaning}")
    if field.kind == "text":
        if isinstance(given, str) and (given in field.names or (not field.names and given)):
            return given
        some = ", ".join(field.names) if field.names else "text"
        near = meant(given, field.names) if field.names else field.meaning
        raise Refusal(f"{where} must be {_one_of(some)}, got {shown(given)}: {near}")
    if field.kind == "sizes":
        if not isinstance(given, list) or not given or len(given) > 64:
            raise Refusal(
                f"{where} must be a list of 1 to 64 counts, got {shown(given)}: {field.meaning}"
            )
        return tuple(
            sorted(
                {whole(f"{where}[{i}]", n, field.meaning, 1, 2**20) for i, n in enumerate(given)}
            )
        )
    if field.kind == "whole":
        return whole(where, given, field.meaning, int(field.low), int(field.high))
    number = _number(where, given, field)
    return real(where, number, field.meaning, field.low, field.high, above=field.above)


def _number(where, given, field):
    """Return a number from a number or from text with a unit."""
    if not isinstance(given, str):
        if isinstance(given, bool) or not isinstance(given, (int, float)):
            raise Refusal(f"{where} must be {_kind(field)}, got {shown(given)}: {field.meaning}")
        return given
    try:
        if field.kind == "count":
            factor = _COUNTS.get(given.strip()[-1:], 1.0)
            return units.parse(given.strip().rstrip("KMBT")) * factor
        if field.kind == "B/s" and "bit/s" in given:
            return units.parse(given, "bit/s") / 8
        return units.parse(given, {"share": "%", "number": ""}.get(field.kind, field.kind))
    except Refusal:
        raise Refusal(
            f"{where} must be {_kind(field)}, got {shown(given)}: {field.meaning}"
        ) from None


def _kind(field):
    words = {
        "count": "a number such as 7e9 or '7B'",
        "share": "a share such as 0.9 or '90%'",
        "number": "a number",
        "B/s": "bytes per second such as '50 GB/s' or '400 Gbit/s'",
        "s": "a time such as '30 d', or seconds",
        "B": "bytes such as '80 GB'",
        "FLOP/s": "a rate such as '989 TFLOP/s'",
        "W": "a power such as '700 W'",
    }
    return words[field.kind]


def _one_of(some):
    return some if some == "text" else f"one of {some}"


LARGEST = 2**20  # devices
# What a message costs before its first byte: a step of NCCL's ring, Simple protocol, src/graph/tuning.cc.
INSIDE_LATENCY, OUTSIDE_LATENCY = 3.4e-6, 14e-6
# What a collective gets out of a link: 365 of 450 GB/s, the ring of `nccl_allreduce_H200_8GiB_vs_gpus_ring`.
LINK_SHARE = 0.81
RECOMPUTE = ("none", "selective", "full")

KEYS = {
    "model": {
        "layers": Field("whole", "it counts the blocks of the transformer", REQUIRED, 1, 1e4),
        "hidden": Field("whole", "it is the width of a token", REQUIRED, 1, 1e6),
        "heads": Field("whole", "it counts the query heads of a layer", REQUIRED, 1, 1e5),
        "vocabulary": Field("whole", "it counts the tokens there are", REQUIRED, 1, 1e8),
        "feedforward": Field("whole", "it is the inner width, 4 hidden if absent", None, 1, 1e7),
        "kv_heads": Field("whole", "it counts the key-value heads, heads if absent", None, 1, 1e5),
        "gated": Field("flag", "it is true for SwiGLU and its kin", False),
        "tied": Field("flag", "it is true if the embedding is the output matrix too", True),
        "parameters": Field("count", "it is checked against the shape", None, 0, 1e15, True),
    },
    "training": {
        "sequence": Field("whole", "it counts the tokens of a sequence", REQUIRED, 1, 1e8),
        "batch": Field("whole", "it counts the sequences of a step, on all devices", None, 1, 1e8),
        "batch_tokens": Field("count", "it counts the tokens of a step", None, 1, 1e15),
        "precision": Field("text", "it is a precision", "mixed", names=tuple(memory.PRECISIONS)),
        "optimizer": Field("text", "it is an optimizer", "adam", names=tuple(memory.OPTIMIZERS)),
        "format": Field("text", "it is the number format of the products, as in the catalogue"),
    },
    "layout": {
        "tensor": Field("whole", "it splits every layer over so many devices", None, 1, 1024),
        "pipeline": Field("whole", "it cuts the layers into so many stages", None, 1, 4096),
        "chunks": Field("whole", "it counts the pieces a stage holds", 1, 1, 1024),
        "micro_batch": Field("whole", "it counts the sequences at once", None, 1, 1e5),
        "sharding": Field("whole", "it is the ZeRO stage; 3 is FSDP", 1, 0, 3),
        "recompute": Field("text", "it says what is computed again", None, names=RECOMPUTE),
        "fused_attention": Field("flag", "it is true if no score matrix is stored", True),
        "overlap": Field("share", "it is the share of the exchange that can hide", 0.9, 0, 1),
        "compression": Field("number", "it is bytes of gradient per byte sent", 1.0, 1, 1e4),
        "hierarchy": Field("flag", "it is true if a node adds up before it sends", True),
    },
    "cluster": {
        "node": Field("text", "it is a node of the catalogue", names=hardware.names("nodes")),
        "device": Field("text", "it is a device of the catalogue", names=hardware.names()),
        "peak": Field("FLOP/s", "it is the dense peak in the format used", None, 1, 1e21),
        "memory": Field("B", "it is the memory of one device", None, 1e6, 1e15),
        "bandwidth": Field("B/s", "it is that of a device's memory", None, 1e6, 1e18),
        "power": Field("W", "it is what one device draws at work", None, 0, 1e6, True),
        "idle_power": Field("W", "it is what it draws while it waits", None, 0, 1e6),
        "pue": Field("number", "it is the power of the building over the devices'", 1.0, 1, 10),
        "per_node": Field("whole", "it counts the devices of a node", None, 1, 1024),
        "inside": Field("B/s", "it is one device's link in a node, one direction", None, 1, 1e15),
        "outside": Field("B/s", "it is one device's share of the cards", None, 1, 1e15),
        "inside_latency": Field("s", "it is a message's first byte", INSIDE_LATENCY, 0, 1),
        "outside_latency": Field("s", "it is a message's first byte", OUTSIDE_LATENCY, 0, 1),
        "link_share": Field(
            "share", "it is what a collective gets of a link", LINK_SHARE, 0, 1, True
        ),
        "largest": Field("whole", "it counts the devices you could get", REQUIRED, 1, LARGEST),
        "sizes": Field("sizes", "they are the device counts to compare"),
        "price": Field("number", "it is dollars for one device and hour", None, 0, 1e6),
        "usable_memory": Field("share", "it is what the model may fill", 0.9, 0, 1, True),
        "kernel_share": Field("share", "it is what kernels reach of the peak", None, 0, 1, True),
        "mean_time_between_failures": Field("s", "it is that of one device", None, 1, 1e15),
        "checkpoint": Field("s", "it is the time to write a checkpoint", 60.0, 0, 1e6, True),
        "restart": Field("s", "it is the time to come back", 600.0, 0, 1e7),
    },
    "goal": {
        "tokens": Field("count", "it counts the tokens to train on", None, 1, 1e18),
        "deadline": Field("s", "it is the time you have", None, 0, 1e12, True),
        "budget": Field("number", "it is the money you have, in dollars", None, 0, 1e15, True),
        "efficiency": Field("share", "it is the least share of useful time", None, 0, 1),
        "aim": Field("text", "it is what to prefer", names=("cheapest", "fastest")),
    },
}
