"""Records as plain data and back, following the types of their fields.

Standard library only; `records` and the readers of other formats use it.
"""

import dataclasses
import math
import typing
from typing import TYPE_CHECKING, Any, TypeVar

from scalelab.arguments import scalar, shown
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Record = TypeVar("_Record", bound="DataclassInstance")


def plain(record: object) -> Any:
    """Return what json.dumps can write: a dictionary of the stored fields."""
    if isinstance(record, tuple):
        return [plain(item) for item in record]
    if not dataclasses.is_dataclass(record):
        return record
    stored = [f.name for f in dataclasses.fields(record) if f.metadata.get("stored", True)]
    return {name: plain(getattr(record, name)) for name in stored}


def build(record: type[_Record], data: object) -> _Record:
    """Build a record from a dictionary, following the types of its fields.

    Some were a text before they had fields, and say so by `of_text`.
    """
    of_text = getattr(record, "of_text", None)
    if of_text and isinstance(data, str):
        return of_text(data)
    if not isinstance(data, dict):
        raise Refusal(
            f"{record.__name__} must be a JSON object, got {shown(data)}: give what to_json wrote"
        )
    types = typing.get_type_hints(record)
    values: dict[str, Any] = {}
    for f in dataclasses.fields(record):
        if not f.metadata.get("stored", True):
            values[f.name] = "recorded"
        elif f.name in data:
            values[f.name] = _value(types[f.name], data[f.name], f"{record.__name__}.{f.name}")
        elif f.default is f.default_factory is dataclasses.MISSING:
            raise Refusal(
                f"{record.__name__} must have the field {f.name!r}, got only "
                f"{shown(list(data))}: give what to_json wrote"
            )
    return record(**values)


def _value(kind, value, name):
    """Return the value if it is of this kind; lists become tuples, objects become records."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return build(kind, value)
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    if outer is tuple and isinstance(value, list):
        return tuple(_value(inner[0], item, name) for item in value)
    if outer is dict and isinstance(value, dict):
        return {key: _value(inner[1], item, f"{name}[{shown(key)}]") for key, item in value.items()}
    kinds = inner or (kind,)
    if outer not in (tuple, dict) and _fits(kinds, value):
        # JSON has one kind of number, and some tools write 2 as 2.0.
        return int(value) if type(value) is float and float not in kinds else value
    named = str(kind) if inner else kind.__name__
    raise Refusal(f"{name} must be {named}, got {shown(value)}: give what to_json wrote")


def _fits(kinds, value):
    # To Python alone True is an int.
    if type(value) is float or (type(value) is int and float in kinds):
        number = scalar(value)
        return math.isfinite(number) and (float in kinds or (int in kinds and number.is_integer()))
    return type(value) in kinds


def finite(value: object) -> Any:
    """Return plain data for JSON, which knows no infinity: what has no finite value is None.

    >>> finite({"seconds": (1.5, float("inf"))})
    {'seconds': [1.5, None]}
    """
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, float):  # NumPy's too
        return float(value) if math.isfinite(value) else None
    return value
