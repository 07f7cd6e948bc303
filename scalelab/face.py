"""A room's face: it hands out its modules, and the public names they define, when somebody asks.

So `from scalelab.models import network` is enough for `network.message_seconds(...)`; nothing is read before.
"""

import importlib
from collections.abc import Callable
from typing import Any


def face(room: str, modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package with these modules, named in one string.

    >>> from scalelab.models import scaling
    >>> scaling.amdahl(8, serial=0.1) == scaling.laws.amdahl(8, serial=0.1)
    True
    """
    known = modules.split()

    def module(name):
        return importlib.import_module(f"{room}.{name}")

    def public(name):
        own = vars(module(name)).items()
        return {
            key: value for key, value in own if key[0] != "_" and _home(value) == f"{room}.{name}"
        }

    def ask(name):
        if name in known:
            return module(name)
        if name[0] != "_":
            for one in known:
                if name in (names := public(one)):
                    return names[name]
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    def names():
        return sorted({*known, *(name for one in known for name in public(one))})

    return ask, names


def _home(value):
    return getattr(value, "__module__", None)
