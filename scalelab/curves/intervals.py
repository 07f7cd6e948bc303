"""Intervals of fitted parameters, by profile likelihood: how far each can move before the fit suffers.

A parameter at its bound gets none: there the data says which side of the bound, not where.
"""

import math
from dataclasses import dataclass

from scalelab.curves.fit import Fit
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
            shape = search(rows, family, space, scale=x, near=fitted.shape)
            return squares(rows, family, shape, space, scale=x) - limit
        rest = family.fixing(index, x)
        others = fitted.shape[:index] + fitted.shape[index + 1 :]
        return squares(rows, rest, search(rows, rest, space, near=others), space) - limit

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
