"""Each module of tests here names the drawings of the book that it holds against their source, in `SHOWN`."""

import importlib
import pkgutil
from collections.abc import Callable

from scalelab.show.drawings import Stepper


def every() -> dict[str, Callable[[], Stepper]]:
    """Return what makes each drawing of the book, as its chapter does."""
    modules = [
        importlib.import_module(m.name) for m in pkgutil.walk_packages(__path__, f"{__name__}.")
    ]
    return {name: make for one in modules for name, make in getattr(one, "SHOWN", {}).items()}
