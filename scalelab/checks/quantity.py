"""Answers with a unit: "35 ms" is 0.035, and a number in the wrong unit is told which one it is in.

A plain number is in SI. Standard library and `scalelab.units` only.
"""

import math
import re
from typing import TypeGuard

from scalelab import units
from scalelab.checks.reading import plain_number, tidied
from scalelab.checks.words import CLOSE, Difference, show
from scalelab.refusal import Refusal

_KINDS = {
    **{"s": "a time", "B": "a number of bytes", "bit": "a number of bits", "B/s": "a bandwidth"},
    **{"bit/s": "a bandwidth in bits", "FLOP": "an amount of work", "FLOP/s": "a rate of work"},
    **{"FLOP/B": "an intensity", "W": "a power", "J": "an energy", "Wh": "an energy"},
    **{"Hz": "a frequency", "$": "money", "$/h": "a price per hour", "g": "a mass"},
    **{"%": "a share", "1/s": "a rate", "m": "a length"},
}
_PRICE = re.compile(r"^\$\s*([\d.,]+)")
_SIGNS = [
    (re.compile(rf"(?<![a-z]){written}(?![a-z])", re.I), sign)
    for written, sign in {
        **{"(?:seconds?|secs?)": "s", "(?:milliseconds?|msecs?)": "ms"},
        **{"(?:microseconds?|usecs?|µsecs?)": "µs", "(?:nanoseconds?|nsecs?)": "ns"},
        **{"(?:minutes?|mins)": "min", "(?:hours?|hrs?)": "h", "days?": "d", "bytes?": "B"},
        **{"(?:dollars?|USD)": "$"},
    }.items()
]
_SIGNS += [
    (re.compile(r"FLOPS(?!\w|/)"), "FLOP/s"),
    (re.compile(r"FLOPs(?!\w)"), "FLOP"),
    (re.compile(r"(?<=B)ps(?!\w)"), "/s"),
]
_PREFIXES = ("p", "n", "µ", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi")


def quantity(value: object, unit: str) -> object:
    """Return a plain value with texts such as "35 ms" read into SI, or a Difference.

    >>> quantity("35 ms", "s"), quantity([0.5, "2 GB"], "B")
    (0.035, [0.5, 2000000000.0])
    >>> quantity("$5,000", "$"), quantity("0.5", "s"), quantity("inf", "s")
    (5000.0, 0.5, inf)
    >>> quantity("35 milliseconds", "s"), quantity("2 GBps", "B/s"), quantity("3 TFLOPS", "FLOP/s")
    (0.035, 2000000000.0, 3000000000000.0)
    >>> quantity("35 GB", "s").text
    "'35 GB' is a number of bytes, and a time is asked for: write it like '35 ms', '90 s' or '2 h'"
    """
    if isinstance(value, list):
        read: list[object] = []
        for item in value:
            read.append(quantity(item, unit))
            if isinstance(read[-1], Difference):
                return read[-1]
        return read
    if not isinstance(value, str):
        return value
    text = _spelled(tidied(value))
    if unit.startswith("$"):
        text = _PRICE.sub(r"\1 $", text)
    try:
        return units.parse(text, unit)
    except Refusal as error:
        remedy = error.remedy
    if isinstance(plain := plain_number(text), float):
        return plain
    asked = _KINDS.get(unit, f"a value in {unit}")
    for other, kind in _KINDS.items():
        if kind != asked and _parsed(text, other) is not None:
            slip = f"is {kind}, and {asked} is asked for: {remedy}"
            return Difference("type", f"{show(value)} {slip}", words=slip)
    slip = f"is not {asked}: {remedy}"
    return Difference("type", f"{show(value)} {slip}", words=slip)


def _spelled(text):
    """Return a text with the units that people spell out in the signs that stand for them."""
    for written, sign in _SIGNS:
        text = written.sub(sign, text)
    return text


def number_in(value: object) -> float | None:
    """Return the SI value of a number or of a text with any unit known here, else None.

    >>> number_in("35 ms"), number_in(7), number_in("soon")
    (0.035, 7, None)
    """
    if isinstance(value, str):
        readings = (_parsed(value, unit) for unit in ("", *_KINDS))
        value = next((number for number in readings if number is not None), None)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if -1e300 < value < 1e300 else None


def unit_slip(got: object, want: object, unit: str) -> str:
    """Say which unit a wrong number seems to be in, or "" where none explains it.

    >>> unit_slip(35, 0.035, "s")
    "that is in ms; a plain number is in s, and with its unit it reads '35 ms'"
    >>> unit_slip(1.5 * 2**30, 1.5e9, "B")
    'that takes GB for GiB: 1 GB is 1e9 bytes, 1 GiB is 2**30'
    """
    if not (_scales(got) and _scales(want)):
        return ""
    for name in [f"{p}{unit}" for p in _PREFIXES] + ["min", "h", "d"]:
        factor = _parsed(f"1 {name}", unit)
        if factor and factor != 1 and _near(got * factor, want):
            plain = f"a plain number is in {unit}"
            return f"that is in {name}; {plain}, and with its unit it reads '{show(got)} {name}'"
    if unit in ("", "%") and _near(got, 100 * want):
        return "that is a percentage; hand in the fraction"
    if unit.startswith("B"):
        for n, p in enumerate("KMGT", 1):
            for less, more, ratio in (
                (f"{p}B", f"{p}iB", 1.024**n),
                (f"{p}iB", f"{p}B", 1 / 1.024**n),
            ):
                if _near(got, want * ratio):
                    sizes = f"1 {p}B is 1e{3 * n} bytes, 1 {p}iB is 2**{10 * n}"
                    return f"that takes {less} for {more}: {sizes}"
        for ratio, text in (
            (8, "counts bits; 8 bit make a byte"),
            (1 / 8, "divides by 8 once too often"),
        ):
            if _near(got, want * ratio):
                return f"that {text}"
    return ""


def _scales(value: object) -> TypeGuard[float]:
    """Say whether a value is a number that another unit would make another number."""
    return isinstance(value, (int, float)) and math.isfinite(value) and value != 0


def _parsed(text, unit):
    try:
        return units.parse(text, unit)
    except ValueError:
        return None


def _near(a, b):
    return math.isclose(a, b, rel_tol=CLOSE)
