"""What a pass is bound to: digests of its data and code, and its settings as plain values."""

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from scalelab.arguments import real, shown
from scalelab.refusal import Refusal

Source = ModuleType | Callable[..., object]


def digest(data: object) -> str:
    """Sixteen characters that change when anything in the data does: arrays, tensors, text, bytes.

    >>> digest([1.0, 2.0]) == digest((1.0, 2.0)), digest(b"a") == digest(b"b")
    (True, False)
    """
    found = hashlib.sha256()
    _feed(found, data)
    return found.hexdigest()[:16]


def version(code: str | Source | Sequence[Source]) -> str:
    """What ran: the digest of the sources of functions or modules, or the version that a text names.

    The whole file of a function counts, helpers included; in a notebook its own cell does.
    """
    if isinstance(code, str):
        return word("code", code)
    parts: Sequence[Any] = code if isinstance(code, (list, tuple)) else [code]
    sources = []
    for part in parts:
        try:
            file = inspect.getsourcefile(part) or ""
            whole_file = Path(file).is_file()
            sources.append(Path(file).read_text("utf-8") if whole_file else inspect.getsource(part))
        except (TypeError, OSError):
            raise Refusal(
                f"code must be functions or modules with a source, or text, got {shown(part)}: "
                "name the commit instead"
            ) from None
    if not sources:
        raise Refusal("code must name what ran, got nothing: give the function that trains")
    return digest(sorted(set(sources)))


def _feed(digest, data):
    if hasattr(data, "detach"):  # a tensor, wherever it is
        data = data.detach().cpu().numpy()
    if isinstance(data, (str, bytes)):
        raw = data.encode() if isinstance(data, str) else data
        digest.update(b"bytes %d:" % len(raw) + raw)
    elif isinstance(data, (list, tuple)):
        digest.update(b"list %d:" % len(data))
        for item in data:
            _feed(digest, item)
    elif hasattr(data, "tobytes") and hasattr(data, "dtype") and not data.dtype.hasobject:
        digest.update(f"{data.dtype.str} {data.shape}:".encode() + data.tobytes())
    elif data is None or isinstance(data, (bool, int, float)):
        digest.update(f"{type(data).__name__} {data!r}:".encode())
    else:
        raise Refusal(
            f"data must be arrays, numbers, text or bytes, or lists of them, got {shown(data)}: "
            "give what the quality is evaluated on"
        )


def setting(name: str, given: dict[str, float | str | bool]) -> dict[str, float | str | bool]:
    """Return names with their plain values: what a run was told."""
    plain = isinstance(given, dict) and all(
        isinstance(key, str) and (isinstance(value, (str, bool)) or not math.isnan(_number(value)))
        for key, value in given.items()
    )
    if not plain:
        raise Refusal(
            f"{name} must be a dictionary of names with numbers, text, true or false, got "
            f"{shown(given)}: name what could differ between two runs"
        )
    return {k: v if isinstance(v, (str, bool)) else _plain(v) for k, v in given.items()}


def _number(value):
    try:
        return real("value", value, "")
    except ValueError:
        return math.nan


def _plain(value):
    number = float(value)
    return int(value) if number.is_integer() and not isinstance(value, float) else number


def word(name: str, given: str) -> str:
    """Return a text that says something."""
    if not isinstance(given, str) or not given.strip():
        raise Refusal(f"{name} must be text, got {shown(given)}: name it")
    return given
