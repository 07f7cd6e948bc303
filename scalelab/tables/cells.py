"""What a cell of a messy table means: a number with its unit, nothing, or a refusal.

`1,234` is a thousand in one country and one and a bit in another. One cell that can only be read one
way decides for the whole file; without one, an ambiguous cell is refused where nothing else tells.
"""

import itertools
import math
import re
from collections.abc import Iterable

from scalelab.tables import columns

MISSING = {
    "",
    "-",
    "--",
    "—",
    "–",
    "?",
    "n/a",
    "na",
    "nan",
    "null",
    "none",
    "nil",
    "n.a.",
    "#n/a",
    ".",
}
FAILED = {
    "oom",
    "out of memory",
    "failed",
    "fail",
    "error",
    "crash",
    "crashed",
    "timeout",
    "killed",
}
# Beyond these, no time, rate or amount is real, and products of two still fit a float.
LEAST, LARGEST = 1e-30, 1e30
_LONGEST = 100  # of a cell that may be a number

_INTEGER = r"(?:[1-9]\d{0,2}(?:%s\d{3})+|\d+)"
_FLOAT = r"[+-]?(?:%s(?:%s\d*)?|%s\d+)(?:[eE][+-]?\d{1,4})?"
_STYLE = {
    "dot": re.compile(_FLOAT % (_INTEGER % ",", r"\.", r"\.")),
    "comma": re.compile(_FLOAT % (_INTEGER % r"\.", ",", ",")),
}
_GROUPS = re.compile("(?<=\\d)[ \u00a0\u2009\u202f'’_](?=\\d{3}(?!\\d))")
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d(?:[.,]\d+)?)")
# Minutes and seconds only with a fraction: 1:32 may be hours and minutes.
_SHORT_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d[.,]\d+)")
_PART = re.compile(r"(\d+(?:[.,]\d+)?)\s*([A-Za-zµμ]+)\.?,?\s*")  # of 1h 32m 10s
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?")
_PREFIX = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_SCALED = re.compile(r"([KMGT]i|[kKMGTP])(?=$|\s|B|b|FLOP|/)")
_WORKER = re.compile(
    r"(?:x\b.*|(?:gpu|cpu|tpu|node|worker|core|thread|process|proc|rank|device)(?:s|es)?)", re.I
)


def missing(cell: object) -> bool:
    """Whether a cell says that there is no value.

    >>> missing(" N/A "), missing("OOM"), missing("0")
    (True, True, False)
    """
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in MISSING | FAILED)


def style(texts: Iterable[str]) -> str | tuple[str, str]:
    """Tell how numbers are written: "dot", "comma", "open" if nothing tells, or a pair that disagrees.

    >>> style(["1,5", "12"]), style(["1,234.5"]), style(["1,234"]), style(["1,5", "1.5"])
    ('comma', 'dot', 'open', ('1,5', '1.5'))
    """
    proof: dict[str, str] = {}
    for text in texts:
        number = _number(text)
        if "." in number or "," in number:
            fits = [name for name, form in _STYLE.items() if form.fullmatch(number)]
            if len(fits) == 1:
                proof.setdefault(fits[0], text.strip())
    if len(proof) == 2:
        return proof["comma"], proof["dot"]
    return next(iter(proof), "open")


def ambiguous(text: str) -> bool:
    """Whether only the style of the file can tell what the text means.

    >>> ambiguous("1,234"), ambiguous("1,5"), ambiguous("0.955")
    (True, False, False)
    """
    number = _number(text)
    return "," in number and all(form.fullmatch(number) for form in _STYLE.values())


def value(cell: object, role: str, style: str, factor: float = 1.0) -> tuple[float, str] | None:
    """Return a finite number in SI and the unit written in the cell; None where it is no number.

    >>> value("1.234,5 ms", "seconds", "comma"), value("35", "seconds", "dot", factor=60.0)
    ((1.2345, 'ms'), (2100.0, ''))
    >>> value("1:02:03", "seconds", "dot"), value("76.1 %", "quality", "dot")
    ((3723.0, 'h:min:s'), (0.761, '%'))
    >>> value("1h 32m 10s", "seconds", "dot"), value("92m", "seconds", "dot")
    ((5530.0, 'h min s'), (5520.0, 'm'))
    >>> value("12 parsecs", "seconds", "dot") is None
    True
    """
    if isinstance(cell, bool) or not isinstance(cell, (int, float, str)):
        return None
    if not isinstance(cell, str):
        try:
            return _finite(float(cell) * factor, "")
        except OverflowError:
            return None
    clock = _CLOCK.fullmatch(cell.strip()) if role == "seconds" else None
    if clock:
        hours, minutes, seconds = clock.groups()
        seconds = float(seconds.replace(",", "."))
        return 3600.0 * int(hours) + 60.0 * int(minutes) + seconds, "h:min:s"
    if role == "seconds" and (parts := _duration(cell.strip())):
        return parts
    text = _tidy(cell).lstrip("$€ ")
    number = _number(text)
    form = _STYLE["comma" if style == "comma" else "dot"]
    if not number or not form.fullmatch(number):
        return None
    unit = text[len(number) :].strip()
    plain = (
        number.replace(".", "").replace(",", ".") if style == "comma" else number.replace(",", "")
    )
    scale = factor if not unit else _scale(unit, role)
    return None if scale is None else _finite(float(plain) * scale, unit)


def _duration(text: str) -> tuple[float, str] | None:
    """Return the seconds of 1h 32m 10s or 1:32.5, each part once and the largest first; else None."""
    if len(text) > _LONGEST:
        return None
    if short := _SHORT_CLOCK.fullmatch(text):
        return 60.0 * int(short[1]) + float(short[2].replace(",", ".")), "min:s"
    parts, at = [], 0
    while part := _PART.match(text, at):
        parts.append((float(part[1].replace(",", ".")), columns.time_unit(part[2])))
        at = part.end()
    units = [unit for _, unit in parts if unit]
    factors = [columns.TIMES[unit] for unit in units]
    falling = all(a > b for a, b in itertools.pairwise(factors))
    if at < len(text) or len(units) < max(2, len(parts)) or not falling:
        return None
    seconds = sum(n * factor for (n, _), factor in zip(parts, factors, strict=True))
    return _finite(seconds, " ".join(units))


def _tidy(text: str) -> str:
    return _GROUPS.sub("", text.strip().strip("*`").strip()).replace("−", "-")


def _number(text: object) -> str:
    if not isinstance(text, str) or len(text) > _LONGEST:
        return ""
    found = _NUMBER.match(_tidy(text).lstrip("$€ "))
    return found.group() if found else ""


def _finite(number: float, unit: str) -> tuple[float, str] | None:
    small = number != 0 and not LEAST <= abs(number) <= LARGEST
    return None if not math.isfinite(number) or small else (number, unit)


def _scale(unit: str, role: str) -> float | None:
    """Return the factor to SI of a unit written in a cell, or None if it is none of this quantity."""
    if role == "seconds":
        return columns.TIMES.get(columns.time_unit(unit) or "")
    if role == "joules":
        return columns.ENERGIES.get(unit)
    if role == "workers":
        return 1.0 if _WORKER.fullmatch(unit) else None
    if role == "quality":
        return 0.01 if unit == "%" else None
    if role in ("throughput", "work"):
        if prefix := _SCALED.match(unit):
            return (_PREFIX | _BINARY)[prefix[1]]
        return 1.0 if re.fullmatch(r"[A-Za-z][\w /.-]{0,30}", unit) else None
    if role == "rate":
        return (
            1.0 if re.fullmatch(r"(?:\$|€|usd|eur)? ?(?:/|per) ?h(?:r|our)?", unit, re.I) else None
        )
    return 1.0 if re.fullmatch(r"[A-Za-z]{2,12}", unit) else None
