"""The charts that chapters show. Each takes numbers and returns a Chart; drawing is somebody else's.

Here are those that several sections share. A section's own are in the module of its name: `speedup`,
`hardware`, `study`, `tail`, `laws`, `workdepth`, `roofline`, `network`, `cost` and `rubric`; those of the
planner in `plan`. `bars` are bars of any kind, `arrows` what leads from one thing to another.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points

_MODULES = (
    "arrows bars cost hardware laws network plan roofline rubric speedup study tail workdepth"
)
POWERS = 2.0 ** np.arange(0, 11)  # 1 to 1024
MODEL = Stamp("model")
SHEETS = Stamp("published", note="data sheets")
Values = Sequence[float] | np.ndarray  # numbers, as many as there are points


def __getattr__(name: str) -> ModuleType:
    """A section's charts are read when somebody asks for them: two sections may call theirs alike."""
    if name in _MODULES.split():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def doublings(least: float, most: float, each: int = 6) -> np.ndarray:
    """Return the places of a smooth curve: so many to each doubling of the first, up to the last."""
    return least * 2.0 ** (np.arange(round(each * np.log2(most / least)) + 1) / each)


def against_ideal(
    title: str,
    workers: ArrayLike,
    measured: ArrayLike,
    predicted: Callable[[float], float] | None = None,
    stamp: Stamp | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    log: bool = True,
    see: str = "",
) -> Chart:
    """Speedups beside the ideal line and, where there is one, a prediction; measured unless of a model."""
    workers = np.asarray(workers, dtype=float)
    # Through the measured points too, so that the table beside the picture interpolates nothing.
    line = np.geomspace(workers.min(), workers.max(), 25)
    line = line[~np.isclose(line[:, None], workers).any(axis=1)]
    line = np.union1d(line, workers) if log else workers
    series = [Points("ideal S = K", line, line, "dashed", tone=0)]
    if predicted is not None:
        series.append(Points("predicted", line, [predicted(k) for k in line], tone=1))
    points = "this job" if stamp == MODEL else "measured"
    series.append(Points(points, workers, measured, "points", tone=2, low=low, high=high))
    ticks = tuple(workers) if workers.size <= 8 else tuple(k for k in POWERS if k <= workers.max())
    return Chart(
        title,
        Axis("workers K", log=log, ticks=ticks),
        Axis(
            "speedup S(K)",
            log=log,
            ticks=tuple(k for k in POWERS if k <= line.max()) if log else (),
        ),
        tuple(series),
        stamp=stamp,
        see=see,
    )


def lines(
    title: str,
    x: Axis,
    y: Axis,
    columns: Mapping[str, ArrayLike],
    at: Values,
    stamp: Stamp | None = None,
    limit: tuple[str, float] | None = None,
    see: str = "",
) -> Chart:
    """Several named curves over the same x, and an optional dashed limit (label, value)."""
    series = [
        Points(name, at, values, tone=tone)
        for tone, (name, values) in enumerate(columns.items(), 1)
    ]
    if limit:
        name, value = limit
        series.append(Points(name, at, np.full(len(at), float(value)), "dashed", tone=0))
    return Chart(title, x, y, tuple(series), stamp=stamp, see=see)
