"""Least squares for one family: its scale in closed form, its shape by search from several starts.

Source: variable projection, Golub and Pereyra 1973, doi:10.1137/0710036.
"""

import math
from collections.abc import Sequence

import numpy as np

from scalelab.curves.families import Family
from scalelab.curves.rows import Rows

Shape = Sequence[float] | np.ndarray  # the parameters of a family, but for its scale
_STARTS = 3  # how many of the grid's best points are refined
_ABSURD = 1e6  # the residual of a curve that is zero, negative or infinite somewhere


def scaled(
    rows: Rows, family: Family, shape: Shape, space: str = "log", scale: float | None = None
) -> tuple[float, np.ndarray]:
    """The best scale for a shape, or the given one, and the residuals that remain."""
    with np.errstate(all="ignore"):
        curve = np.asarray(family.curve(rows.workers, rows.base, *shape), float)
    if not np.all((curve > 1e-200) & (curve < 1e200)):  # an empirical curve may cross zero
        return 1.0, np.full(len(curve), _ABSURD * spread(rows, space))
    if space == "linear":
        scale = float(curve @ rows.rate / (curve @ curve)) if scale is None else scale
        return scale, rows.rate - scale * curve
    residuals = np.log(rows.rate) - np.log(curve)
    level = residuals.mean() if scale is None else math.log(scale)
    return math.exp(level), residuals - level


def squares(
    rows: Rows, family: Family, shape: Shape, space: str = "log", scale: float | None = None
) -> float:
    """The sum of squared residuals of a shape."""
    residuals = scaled(rows, family, shape, space, scale)[1]
    return float(residuals @ residuals)


def spread(rows: Rows, space: str) -> float:
    """What a residual is measured in, so that the unit of the table changes no decision."""
    return 1.0 if space == "log" else float(rows.rate.mean())


def search(
    rows: Rows,
    family: Family,
    space: str = "log",
    scale: float | None = None,
    near: Shape | None = None,
    grid: int = _STARTS,
) -> np.ndarray:
    """The best shape within the family's bounds, from points of the grid and one known to be near."""
    if not family.parameters:
        return np.array([])
    from scipy.optimize import least_squares

    unit = spread(rows, space)
    low, high = family.bounds(rows.workers)

    def cost(shape):
        return squares(rows, family, shape, space, scale)

    starts = [] if near is None else [np.clip(near, low, high)]
    starts += sorted(family.starts(rows.workers), key=cost)[:grid] if grid else []
    refined = [
        least_squares(
            lambda shape: scaled(rows, family, shape, space, scale)[1] / unit,
            start,
            # The solver wants room around its start; what it uses of that is clipped away.
            bounds=(low - 1e-12, high + 1e-12),
            method="dogbox",
            x_scale="jac",
            xtol=1e-10,
            ftol=1e-12,
            gtol=1e-12,
            max_nfev=100,  # honest rows take a dozen
        ).x.clip(low, high)
        for start in starts
    ]
    return min([*starts, *refined], key=cost)
