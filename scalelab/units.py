"""SI floats in and out: the only place where a number becomes text, or text a number.

Standard library only; every layer may import it. GB is 1e9 bytes, GiB is 2**30 bytes.
"""

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import SupportsFloat

from scalelab.arguments import scalar, shown, whole
from scalelab.refusal import Refusal

_SMALL = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3}
_LARGE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"": 1.0} | {f"{p}i": 2.0 ** (10 * n) for n, p in enumerate("KMGTPE", start=1)}
# Words ("samples") and money take no prefix: "20 ksamples/s" helps nobody.
_PREFIXED = {"s", "B", "bit", "FLOP", "Hz", "W", "J", "Wh", "g", "m"}
_INDIVISIBLE = {"B", "bit", "FLOP"}
# Name, seconds, and from how many seconds on it reads better than the one before.
_CLOCK = (("min", 60.0, 1000.0), ("h", 3600.0, 7200.0), ("d", 86400.0, 172800.0))
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?(?=[^\d.,]|$)")


def text(value: SupportsFloat, unit: str = "", digits: int = 3, binary: bool = False) -> str:
    """Write an SI value for people: rounded to `digits` figures, with the prefix that fits.

    >>> text(0.0035, "s"), text(20e9, "B/s"), text(1.5 * 2**30, "B", binary=True)
    ('3.5 ms', '20 GB/s', '1.5 GiB')
    >>> text(19.2844), text(1234567), text(0.703, "%"), text(600, "s"), text(5400, "s")
    ('19.3', '1,230,000', '70.3%', '600 s', '90 min')
    """
    number = scalar(value)
    if math.isnan(number):
        raise Refusal(f"value must be one number, got {shown(value)}: write them one by one")
    digits = whole("digits", digits, "it counts the figures to show", 1, 15)
    if math.isinf(number):
        return _joined("-∞" if number < 0 else "∞", unit)
    name, factor = _fitting(number, _scales(unit, binary), digits)
    return _joined(_plain(_rounded(number / factor, digits), digits), name)


def _fitting(number, scales, digits):
    """Return the name and the factor of the scale that fits a number.

    Compared after rounding, so that 999.9 ms becomes 1 s and not 1000 ms.
    """
    fitting = [s for s in scales if s[2] and _rounded(abs(number) / s[2], digits) >= 1]
    if not number:
        fitting = [s for s in scales if s[1] == 1]
    name, factor, _ = (fitting or scales[:1])[-1]
    return name, factor


def _joined(number, name):
    """Write a number with its unit: a percent sign stands at its number, as in every sentence of the book."""
    return f"{number}{name}" if name == "%" else f"{number} {name}".rstrip()


def alike(
    values: Iterable[SupportsFloat],
    unit: str = "",
    digits: int = 3,
    among: Iterable[SupportsFloat] = (),
) -> list[str]:
    """Write values of one row for people: told apart, and all with the prefix that fits the middle one.

    The middle one of `among`, where the row is one of several that stand in one column.

    >>> alike([0.99, 1.2, 1.31], "s"), alike([0.0031, 0.0032, 1.5], "s")
    (['0.99 s', '1.2 s', '1.31 s'], ['3.1 ms', '3.2 ms', '1,500 ms'])
    >>> alike([1.0001, 1.0002, 3]), alike([90, 95], "s", among=[7200, 14400, 90])
    (['1.0001', '1.0002', '3'], ['0.025 h', '0.0264 h'])
    """
    numbers = _row(values)
    around = _row(among) or numbers
    digits = whole("digits", digits, "it counts the figures to show", 1, 15)
    finite = sorted((one for one in around if math.isfinite(one)), key=abs) or [0.0]
    # Of two in the middle the one that needs no prefix: 0.92 s and 1.06 s rather than 917 ms.
    middle = {finite[(len(finite) - 1) // 2], finite[len(finite) // 2]}
    scales = dict(_fitting(one, _scales(unit), digits) for one in sorted(middle))
    name = unit if unit in scales else [*scales][-1]
    factor = scales[name]

    def written(figures):
        return [
            text(number, unit)
            if not math.isfinite(number)
            else _joined(_plain(_rounded(number / factor, figures), figures), name)
            for number in numbers
        ]

    differ = len(set(numbers))
    return next(
        (w for n in range(digits, 7) if len(set(w := written(n))) == differ), written(digits)
    )


def column(
    values: Iterable[SupportsFloat | None], unit: str = "", digits: int = 3, none: str = ""
) -> list[str]:
    """Write values that stand below each other for people: all with the prefix that fits the middle one.

    >>> column([15876, 5370, 2772], "s"), column([3.8812, 3.8799, None], "s", none="–")
    (['265 min', '89.5 min', '46.2 min'], ['3.88 s', '3.88 s', '–'])
    """
    try:
        every = [*values]
    except TypeError:  # also of an array without a dimension
        raise Refusal(
            f"values must be a column of numbers, got {shown(values)}: write one by text"
        ) from None
    known = _row(one for one in every if one is not None)
    return [none if one is None else alike([one], unit, digits, known)[0] for one in every]


def share(of_one: SupportsFloat) -> str:
    """Write an efficiency, which is a share of one: three decimals, and three figures of a small one.

    >>> share(1), share(0.7), share(0.0123456)
    ('1.000', '0.700', '0.0123')
    """
    number = scalar(of_one)
    if math.isnan(number):
        raise Refusal(f"of_one must be one number, got {shown(of_one)}: write them one by one")
    return f"{number:.3f}" if abs(number) >= 0.0995 or not number else text(number)


def _row(values):
    try:
        numbers = [scalar(value) for value in values]
    except TypeError:  # a single value, or what is no value at all
        numbers = [math.nan]
    if any(map(math.isnan, numbers)):
        raise Refusal(f"values must be a row of numbers, got {shown(values)}: write one by text")
    return numbers


def counted(count: int, thing: str = "worker", *, grouped: bool = False) -> str:
    """Write how many of a thing there are, the thousands apart if `grouped`.

    >>> counted(1), counted(1024), counted(1024, grouped=True), counted(2, "row")
    ('1 worker', '1024 workers', '1,024 workers', '2 rows')
    """
    number = scalar(count)
    if not 0 <= number < math.inf:
        raise Refusal(f"count must be a number from 0 on, got {shown(count)}: it says how many")
    if not isinstance(grouped, bool):
        raise Refusal(f"grouped must be True or False, got {shown(grouped)}: 1,024, or 1024?")
    return f"{number:{',' if grouped else ''}.0f} {thing}{'' if number == 1 else 's'}"


def dollars(amount: SupportsFloat) -> str:
    """Write an amount of dollars for people.

    >>> dollars(1.2444), dollars(1.037e-6)
    ('$1.24', '$1.04e-06')
    """
    if math.isnan(scalar(amount)):
        raise Refusal(f"amount must be one number, got {shown(amount)}: it is in dollars")
    return f"${text(amount)}"


def bill(amount: SupportsFloat) -> str:
    """Write what a run costs, to the dollar.

    >>> bill(129024.4)
    '$129,024'
    """
    if math.isnan(number := scalar(amount)):
        raise Refusal(f"amount must be one number, got {shown(amount)}: it is in dollars")
    return f"${number:,.0f}"


def parse(given: str, unit: str = "", name: str = "value") -> float:
    """Read a value written for people into SI: the inverse of `text`.

    >>> parse("35 ms", "s"), parse("20 GB/s", "B/s"), parse("1.5 GiB", "B"), parse("70%", "%")
    (0.035, 20000000000.0, 1610612736.0, 0.7)
    """
    name = " ".join(str(name).split()) or "value"
    if not isinstance(given, str):
        raise Refusal(
            f"{name} must be text such as '35 ms', got {shown(given)}: plain numbers are SI"
        )
    factors = {name: factor for name, factor, _ in _scales(unit)}
    if _base(unit) in ("B", "bit"):
        factors |= {name: factor for name, factor, _ in _scales(unit, binary=True)}
    number = _NUMBER.match(given.strip())
    digits = number.group() if number else ""
    # Micro has three spellings: the micro sign, the Greek letter and a plain u.
    suffix = re.sub("^[μu](?=.)", "µ", given.strip()[len(digits) :].strip())
    try:
        value, factor = float(digits.replace(",", "")), factors[suffix]
        if math.isfinite(value):
            # In decimals, because 70 * 0.01 is 0.7000000000000001 in binary.
            value = float(Decimal(digits.replace(",", "")) * Decimal(repr(factor)))
    except ValueError:
        raise Refusal(
            f"{name} must be {'a number and a unit' if unit else 'a number'}, got {shown(given)}",
            f"write it like {_example(unit)}",
        ) from None
    except KeyError:
        raise Refusal(
            f"{name} must be {_kind(unit)}, got {shown(given)}", _hint(suffix, unit)
        ) from None
    if math.isinf(value):
        raise Refusal(f"{name} must be below 1.8e308, got {shown(given)}: check the exponent")
    return value


def _scales(unit: str, binary: bool = False) -> list[tuple[str, float, float]]:
    """Return (name, factor, least value it is used for), from small to large."""
    if not isinstance(unit, str):
        raise Refusal(f"unit must be text such as 's' or 'B/s', got {shown(unit)}: name the unit")
    base = _base(unit)
    if not isinstance(binary, bool):
        raise Refusal(f"binary must be True or False, got {shown(binary)}: is it GiB, or GB?")
    if binary and base not in ("B", "bit"):
        raise Refusal(f"unit must be B or bit with binary=True, got {shown(unit)}: drop binary")
    if unit == "%":
        return [("%", 0.01, 0.0)]
    if base not in _PREFIXED:
        return [(unit, 1.0, 0.0)]
    small = {} if base in _INDIVISIBLE else _SMALL
    prefixes = _BINARY if binary else small | _LARGE
    if unit == "s":
        return [(p + unit, f, f) for p, f in (small | {"": 1.0}).items()] + list(_CLOCK)
    return [(p + unit, f, f) for p, f in prefixes.items()]


def _base(unit: str) -> str:
    return unit.split("/")[0]


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _plain(value: float, digits: int) -> str:
    """Write all figures without an exponent, unless that takes more than fifteen places."""
    if value and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    written = f"{value:,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def _hint(found: str, unit: str) -> str:
    if _base(unit) == "B" and found.lower().rstrip("/s").endswith(("b", "i", "k", "m", "g", "t")):
        return "GB is 1e9 bytes, GiB is 2**30 bytes, and 8 bit make a byte"
    return f"write it like {_example(unit)}"


def _kind(unit: str) -> str:
    """Say which units are taken, in the order of their size."""
    if unit == "s":
        return "in ns, µs, ms, s, min, h or d"
    return f"in {unit}" if unit else "a plain number"


def _example(unit: str) -> str:
    few = {"s": ("35 ms", "90 s", "2 h"), "B": ("64 KiB", "4 MB"), "%": ("70%",)}
    *first, last = map(repr, few.get(unit, (text(1.5, unit),)))
    return f"{', '.join(first)} or {last}" if first else last
