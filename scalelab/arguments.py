"""Refuse a bad argument in one sentence: what was expected, what was given, what it means.

Standard library only; every layer may import it. Arrays are checked in `models/checking.py`.
"""

import math
import numbers

from scalelab.refusal import Refusal


def real(name, given, meaning, low=-math.inf, high=math.inf, *, above=False):
    """Return a finite float in [low, high], or (low, high]; NumPy and torch scalars count.

    >>> real("budget", 2, "it is in seconds", 0, above=True)
    2.0
    """
    number = scalar(given)
    if not (
        (number > low if above else number >= low) and number <= high and math.isfinite(number)
    ):
        raise Refusal(f"{name} must be {expected(low, high, above)}, got {shown(given)}: {meaning}")
    return number


def whole(name, given, meaning, low=1, high=math.inf):
    """Return an int in [low, high].

    >>> whole("workers", 2, "it counts processes")
    2
    """
    value = _unwrapped(given)
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not (integral and low <= value <= high):
        limits = f"from {low} on" if high == math.inf else f"from {low} to {high}"
        raise Refusal(f"{name} must be a whole number {limits}, got {shown(given)}: {meaning}")
    return int(value)


def scalar(given):
    """Return one number as a float, and NaN for what is none or does not fit a float."""
    value = _unwrapped(given)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def expected(low, high, above=False):
    """Describe the range in words, or as an interval when both ends are known."""
    if high < math.inf:
        return f"in {'(' if above else '['}{low:g}, {high:g}]"
    if low == -math.inf:
        return "a finite number"
    return f"a finite number above {low:g}" if above else f"a finite number from {low:g} on"


def shown(given):
    """Write any value on one line of at most sixty characters."""
    try:
        line = " ".join(repr(given).split())
    except (ValueError, RecursionError):  # integers of thousands of digits, lists in lists in ...
        line = f"a very large {type(given).__name__}"
    return line if len(line) <= 60 else f"{line[:57]}..."


def _unwrapped(given):
    """Take the Python number out of a NumPy or torch scalar."""
    return given.item() if getattr(given, "ndim", None) == 0 and hasattr(given, "item") else given
