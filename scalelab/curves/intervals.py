"""Intervals of fitted parameters, by profile likelihood: how far each can move before the fit suffers.

A parameter at its bound gets none: there the data says which side of the bound, not where. What a fitted
curve says of another size has an interval too, true if the curve is.
"""

import math
from dataclasses import dataclass

import numpy as np

from scalelab.curves.fit import Fit, Refused
from scalelab.curves.rows import Rows
from scalelab.curves.solve import search, squares

_FARTHEST = 30  # times the step grows fourfold before an end counts as open


@dataclass(frozen=True)
class Bounded:
    """A value and its interval; None where the data sets no end."""

    value: float
    low: float | None
    high: float | None


def parameters(rows: Rows, fitted: Fit, level: float = 0.90) -> dict[str, Bounded]:
    """Every parameter of a fit by name; first the scale, in the table's unit on K0 workers.

    The interval holds the values whose residual sum of squares, all other parameters free, stays
    within F / dof of the least. Source: Bates and Watts 1988, doi:10.1002/9780470316757, chapter 6.
    Section 3.9.
    """
    from scipy.special import fdtri

    least = squares(rows, fitted.family, fitted.shape, fitted.space)
    limit = least * (1 + fdtri(1, fitted.dof, level) / fitted.dof)
    ends = [end(rows, fitted, None, fitted.scale, limit, bound) for bound in (0.0, math.inf)]
    ends = [None if rate is None else float(rows.value(fitted.base, rate)) for rate in ends]
    if rows.unit == "seconds":
        ends.reverse()
    by_name = {rows.unit: Bounded(float(rows.value(fitted.base, fitted.scale)), *ends)}
    bounds = zip(*fitted.family.bounds(rows.workers), strict=True)
    for i, (name, limits) in enumerate(zip(fitted.family.parameters, bounds, strict=True)):
        value = fitted.shape[i]
        if fitted.at_bound[i]:
            by_name[name] = Bounded(value, None, None)
        else:
            by_name[name] = Bounded(
                value, *(end(rows, fitted, i, value, limit, float(bound)) for bound in limits)
            )
    return by_name


def of_rate(rows: Rows, fitted: Fit, workers: float, level: float) -> tuple[float, float, float]:
    """Low, best and high logarithm of the rate that one more run on `workers` would have.

    By the slopes of the curve in its parameters, those at a bound held there. Source: Bates and Watts
    1988, doi:10.1002/9780470316757, section 2.3.2. Section 3.9.
    """
    from scipy.special import stdtrit

    free = [i for i, bound in enumerate(fitted.at_bound) if not bound]
    slopes = np.stack(
        [np.ones(len(rows.workers) + 1), *(_slope(rows, fitted, i, workers) for i in free)]
    )
    known, asked = slopes[:, :-1], slopes[:, -1]
    _, sizes, directions = np.linalg.svd(known.T, full_matrices=False)
    along = directions @ asked
    if sizes[-1] < 1e-9 * sizes[0]:
        raise Refused(
            f"the rows must determine {fitted.family.name}, got parameters that they leave open: "
            "measure one more size"
        )
    middle = float(np.log(fitted.rate(workers)))
    spread = fitted.residual * math.sqrt(1 + float(np.sum((along / sizes) ** 2)))
    off = float(stdtrit(fitted.dof, (1 + level) / 2)) * spread
    return middle - off, middle, middle + off


def _slope(rows, fitted, index, workers):
    """How the logarithm of the rate moves with a parameter, on each row and on `workers`."""
    at, shape = np.append(rows.workers, workers), np.array(fitted.shape)
    step = 1e-6 * max(abs(shape[index]), 1e-6)
    ends = [shape + side * step * np.eye(len(shape))[index] for side in (1, -1)]
    above, below = (np.log(fitted.family.curve(at, rows.base, *end)) for end in ends)
    return (above - below) / (2 * step)


def end(
    rows: Rows, fitted: Fit, index: int | None, value: float, limit: float, bound: float
) -> float | None:
    """Where the profile of a parameter, or of the scale (None), crosses the limit on the way to a bound.

    The bound itself where it never does, or None where it has not after a long way.
    """
    from scipy.optimize import brentq

    family, space = fitted.family, fitted.space

    def excess(x):
        if index is None:
            shape = search(rows, family, space, scale=x, near=fitted.shape, grid=0)
            return squares(rows, family, shape, space, scale=x) - limit
        rest = family.fixing(index, x)
        others = fitted.shape[:index] + fitted.shape[index + 1 :]
        return squares(rows, rest, search(rows, rest, space, near=others, grid=0), space) - limit

    step = max(abs(value), 1e-9) * 1e-3
    if excess(value) >= 0:  # an exact fit leaves no room
        return value
    inside = value
    for _ in range(_FARTHEST):
        outside = max(inside - step, bound) if bound < value else min(inside + step, bound)
        if index is None and outside <= 0:
            outside = inside / 2
        if excess(outside) > 0:
            return brentq(excess, inside, outside, rtol=1e-5)
        if outside == bound:
            return bound
        inside, step = outside, 4 * step
    return None
