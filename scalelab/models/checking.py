"""Check what a model is given, and answer in the kind it was asked: scalar in, float out.

Every model function reads its numbers through `numbers` and returns through `answer`, so that all
of them refuse bad input with the same kind of sentence. For `scalelab.models` only; needs NumPy.
"""

import math
import numbers as kinds
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scalelab.arguments import expected, shown
from scalelab.refusal import Refusal

Numbers = ArrayLike  # what a model is given: a number, or numbers in any form
Floats = NDArray[np.float64]  # what `numbers` makes of that; one number is an array too
# What it says: a float, or a name, to numbers, and an array to arrays; only the caller knows which.
Answer = Any


def numbers(
    name: str,
    given: Numbers,
    meaning: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: bool = False,
) -> Floats:
    """Return `given` as a float array, or raise a sentence: within [low, high], or (low, high]."""
    array = _floats(name, given, meaning)
    # Two reductions are far cheaper than a mask; a NaN fails both comparisons.
    if array.size:
        least, most = array.min(), array.max()
        reached = least > low if above or low == -math.inf else least >= low
        if not (reached and most <= high and most < math.inf):
            inside = (array > low if above else array >= low) & (array <= high) & np.isfinite(array)
            where = int(np.flatnonzero(~inside.ravel())[0])
            place = f" at position {where}" if array.ndim else ""
            raise Refusal(
                f"{name} must be {expected(low, high, above)}, "
                f"got {array.flat[where]:g}{place}: {meaning}"
            )
        if least == 0:
            return np.asarray(array + 0.0)  # a zero has no sign: 1 / -0.0 would be -inf
    return array


def table(**columns: Floats) -> tuple[Floats, ...]:
    """Return named columns as 1-D arrays of one length, at least one row."""
    arrays = {name: np.atleast_1d(column) for name, column in columns.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) > 1 or any(len(s) != 1 or s == (0,) for s in shapes.values()):
        listed = " and ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
        raise Refusal(
            f"{' and '.join(shapes)} must be columns of one table with the same number of rows, "
            f"at least one, got {listed}: give one value per row"
        )
    return tuple(arrays.values())


def answer(formula: Callable[..., Any], *arrays: Numbers) -> Answer:
    """Evaluate `formula` on the arrays, broadcast; a scalar answer is a plain float."""
    shapes = [np.shape(a) for a in arrays]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise Refusal(
            f"arrays must have shapes that broadcast together, got {', '.join(map(str, shapes))}: "
            "give one number per row, or a single number for all"
        ) from None
    try:
        # A finite question with an infinite answer is refused; an answer of zero is legitimate.
        with np.errstate(over="raise", under="ignore"):
            value = formula(*arrays)
    except FloatingPointError:
        raise Refusal(
            "the numbers must give a result below 1.8e308, got one that is larger: check the units"
        ) from None
    return float(value) if np.ndim(value) == 0 else value


def _floats(name: str, given: Numbers, meaning: str) -> Floats:
    """Return a float64 array, without a copy where `given` already is one."""
    try:
        array = np.asarray(given)
        real = array.dtype.kind in "iuf" or (
            # Integers beyond 64 bits and fractions arrive as Python objects.
            array.dtype.kind == "O"
            and all(isinstance(x, kinds.Real) and not isinstance(x, bool) for x in array.flat)
        )
        if real:
            return array.astype(float, copy=False)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        pass  # ragged lists, tensors that need a gradient, integers beyond the range of a float
    raise Refusal(f"{name} must be a number or an array of numbers, got {shown(given)}: {meaning}")
