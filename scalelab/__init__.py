"""Model, measure, fit, predict and judge the scaling of distributed AI.

A few verbs for everyday use: `time`, `compare`, `block` and `each` time your own code; `read`, `audit`,
`fit`, `plan` and `rubric` judge a table of runs, or what you are about to buy.

>>> import scalelab
>>> found = scalelab.compare(lambda: sum(range(300)), lambda: sum(range(30_000)), budget=0.1)
>>> found.besides[0].says
'slower'

Importing the package imports nothing else. All beyond the verbs is in rooms:
`from scalelab.models.scaling import speedup`. `plan` and `rubric` are rooms too, and may be called.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalelab import plan as plan, rubric as rubric
    from scalelab.verbs import audit, block, compare, each, fit, read, time

__version__ = "0.1.0"
__all__ = ["audit", "block", "compare", "each", "fit", "plan", "read", "rubric", "time"]

_ROOMS = ("plan", "rubric")
_SHOWN = (
    "curves",
    "data",
    "files",
    "links",
    "measure",
    "models",
    "records",
    "show",
    "tables",
    "units",
)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.verbs"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SHOWN, *(name for name in globals() if name.startswith("__"))})
