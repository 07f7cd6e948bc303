"""Refuse a bad argument in one sentence: what was expected, what was given, what it means.

Standard library only; every layer may import it. Arrays are checked in `models/checking.py`.
"""

import difflib
import math
import numbers
import re
from collections.abc import Iterable
from typing import Any

from scalelab.refusal import Refusal

# Of a terminal: ESC [ ... a letter; ESC ] ... until a bell or ESC \; ESC and a letter.
_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_a-z])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def real(
    name: str,
    given: object,
    meaning: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: bool = False,
) -> float:
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


def whole(name: str, given: object, meaning: str, low: int = 1, high: float = math.inf) -> int:
    """Return an int in [low, high].

    >>> whole("workers", 2, "it counts processes")
    2
    """
    value = _unwrapped(given)
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not (integral and low <= value <= high):
        limits = f"from {low} on" if high == math.inf else f"from {low} to {high}"
        asked = f"{low}" if low == high else f"a whole number {limits}"
        raise Refusal(f"{name} must be {asked}, got {shown(given)}: {meaning}")
    return int(value)


def scalar(given: object) -> float:
    """Return one number as a float, and NaN for what is none or does not fit a float."""
    if type(given) is float:  # most are, in lists of thousands
        return given
    value = _unwrapped(given)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def expected(low: float, high: float, above: bool = False) -> str:
    """Describe the range in words, or as an interval when both ends are known."""
    if high < math.inf:
        return f"in {'(' if above else '['}{low:g}, {high:g}]"
    if low == -math.inf:
        return "a finite number"
    return f"a finite number above {low:g}" if above else f"a finite number from {low:g} on"


def shown(given: object) -> str:
    r"""Write any value on one line of at most sixty characters, a backslash as it was typed.

    >>> print(shown(r"C:\runs\d+"), shown(("a", 1)))
    'C:\runs\d+' ('a', 1)
    """
    try:
        line = " ".join(repr(given).split()).replace("\\\\", "\\")
    except (ValueError, RecursionError):  # integers of thousands of digits, lists in lists in ...
        line = f"a very large {type(given).__name__}"
    return line if len(line) <= 60 else f"{line[:57]}..."


def unpainted(text: str) -> str:
    r"""Return what a program wrote without its colours, and without what would steer a terminal.

    >>> unpainted("\x1b[1m12.5\x1b[0m\x1b]0;a title\x07\tdone\a")
    '12.5\tdone?'
    """
    return _CONTROL.sub("?", _CODES.sub("", text))


def meant(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """Say which names were probably meant, or which there are, or what else helps.

    >>> meant("layer", ("layers", "hidden")), meant("zzz", ("layers", "hidden"))
    ('did you mean layers?', 'there are layers, hidden')
    """
    names, text = list(known), str(word).casefold()[:200]
    folded = {name.casefold(): name for name in names}
    begun = [name for name in folded if len(text) > 2 and name.startswith(text)][:3]
    near = difflib.get_close_matches(text, list(folded), n=1, cutoff=0.5)
    holding = [name for name in folded if len(text) > 2 and text in name][:3]
    found = begun or near or holding
    if found:
        *first, last = [folded[one] for one in found]
        return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
    return otherwise or f"there are {', '.join(names)}"


def _unwrapped(given: Any) -> Any:
    """Take the Python number out of a NumPy or torch scalar."""
    return given.item() if getattr(given, "ndim", None) == 0 and hasattr(given, "item") else given
