"""A room's face: it hands out its modules, and the public names they define, when somebody asks.

So `from scalelab.models import network` is enough for `network.message_seconds(...)`; nothing is read before.
A room that is named like its verb may be called as well: `plan(...)` is `plan.plan.plan(...)`.
"""

import importlib
import sys
import types
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


def called(room: str, verb: str) -> None:
    """Let a room be called: it hands what it is given to its verb, named as "module.function".

    A name is either a module or a function, and importing any file of a room makes it the module; so the
    room itself answers, and both `scalelab.plan(...)` and `from scalelab import plan` go on to mean it.

    >>> from scalelab import plan
    >>> plan("example").chosen == plan.plan.plan(plan.file.parse(plan.file.example())).chosen
    True
    """
    module, _, function = verb.rpartition(".")

    class _Called(types.ModuleType):
        def __call__(self, *given: Any, **named: Any) -> Any:
            return getattr(importlib.import_module(f"{room}.{module}"), function)(*given, **named)

    sys.modules[room].__class__ = _Called


def _home(value):
    return getattr(value, "__module__", None)
