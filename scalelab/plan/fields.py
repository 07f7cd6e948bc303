"""The tables of a plan file read against a list of their keys: one value at a time, or one sentence why not.

Whatever a file holds, the answer is a value in SI or a ValueError that names the key by its path.
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scalelab import units
from scalelab.arguments import real, shown, whole
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


def table(where: str, given: object, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return {key: value} with defaults for what is absent; `where` is the path, such as "a.toml: model"."""
    if not isinstance(given, dict):
        raise Refusal(f"{where} must be a table, got {shown(given)}: write [{_last(where)}]")
    for key in given:
        if key not in fields:
            raise Refusal(
                f"{where} must hold keys that are known, got {shown(key)}: {hint(key, fields)}"
            )
    values = {}
    for key, field in fields.items():
        if key not in given and field.default is REQUIRED:
            raise Refusal(f"{where}.{key} must be given, got nothing: {field.meaning}")
        values[key] = value(f"{where}.{key}", given[key], field) if key in given else field.default
    return values


def hint(word: object, known: Collection[str]) -> str:
    """Say which name was probably meant, or which there are.

    >>> hint("layer", ("layers", "hidden")), hint("zzz", ("layers", "hidden"))
    ('did you mean layers?', 'there are layers, hidden')
    """
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


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
        near = hint(given, field.names) if field.names else field.meaning
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
    said = {
        "count": "a number such as 7e9 or '7B'",
        "share": "a share such as 0.9 or '90 %'",
        "number": "a number",
        "B/s": "bytes per second such as '50 GB/s' or '400 Gbit/s'",
        "s": "a time such as '30 d', or seconds",
        "B": "bytes such as '80 GB'",
        "FLOP/s": "a rate such as '989 TFLOP/s'",
        "W": "a power such as '700 W'",
    }
    return said[field.kind]


def _one_of(some):
    return some if some == "text" else f"one of {some}"


def _last(where):
    return where.split(": ")[-1]
