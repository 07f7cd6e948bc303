"""What a person would read in an answer that is written in another style than was asked for.

"115", "115 GPUs", "$5,000", "96 %", "inf", [115] and {"first": 1, "last": 9} say what they say; only what
could mean two things is left as it is. Standard library and `scalelab.units` only.
"""

import math
import re
from collections.abc import Iterator

from scalelab import units

LETTERS = 60  # longer texts are no numbers
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?"
_WRITTEN = re.compile(rf"([$€£]?)\s*(?=[+-]?\.?\d)({_NUMBER})\s*([%$€£]?)\s*([^\W\d_][^\d]*|×)?\.?")
_RATIO = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})")
_GROUPED = re.compile(r"(?<=\d)[_ \u00a0\u2009\u202f'’](?=\d{3}(?!\d))")
_ABOUT = re.compile(r"^(?:≈|~|about\b)\s*", re.I)
_ENDLESS = re.compile(r"([+-]?)(?:inf|infinity|infinite|∞)", re.I)
_NOTHING = {"none", "nan", "n/a", "na", "null", "nothing", "-", "–", "—"}
_MANY = {"k": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "G": 1e9, "bn": 1e9, "billion": 1e9}
_UNITS = (
    "s",
    "B",
    "bit",
    "B/s",
    "bit/s",
    "FLOP",
    "FLOP/s",
    "FLOP/B",
    "W",
    "J",
    "Wh",
    "Hz",
    "g",
    "m",
)


def number(value: object, wanted: object = None) -> object:
    """Return the number that a plain value says, the wanted one if it may say two; else the value.

    >>> number("115 GPUs"), number("$5,000"), number([0.5]), number("20.39 ms"), number("inf")
    (115.0, 5000.0, 0.5, 0.02039, inf)
    >>> number({"seconds": 3})
    3
    >>> number("96 %"), number("96 %", wanted=96), number("12,5"), number("soon"), number([1, 2])
    (0.96, 96.0, '12,5', 'soon', [1, 2])
    """
    while isinstance(value, (list, dict)) and len(value) == 1 and "figure" not in value:
        (value,) = value.values() if isinstance(value, dict) else value
    if not isinstance(value, str):
        return value
    said = [*_numbers(tidied(value))] if len(value) <= LETTERS else []
    if isinstance(wanted, (int, float)):
        said.sort(key=lambda one: not math.isclose(one, wanted, rel_tol=1e-3))
    return said[0] if said else value


def tidied(text: str) -> str:
    """Return a written number without what is there for the eye alone.

    >>> tidied(" ≈ 1 024 GPUs. "), tidied("70_000"), tidied("3 GPUs")
    ('1024 GPUs', '70000', '3 GPUs')
    """
    return _GROUPED.sub("", _ABOUT.sub("", text.strip())).rstrip(".")


def plain_number(text: str) -> float | None:
    """Return the number that a text without a unit says, or None.

    >>> plain_number("1,024"), plain_number("-inf"), plain_number("3 GB"), plain_number("half")
    (1024.0, -inf, None, None)
    """
    if endless := _ENDLESS.fullmatch(text.strip()):
        return -math.inf if endless[1] == "-" else math.inf
    try:
        return units.parse(text)
    except ValueError:
        return None


def nothing(value: object) -> bool:
    """Say whether a plain value is a way to write that there is none.

    >>> nothing(float("nan")), nothing("None"), nothing(0), nothing([])
    (True, True, False, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def lists(value: dict[object, object]) -> Iterator[list[object]]:
    """Yield the lists that a plain dictionary may say: its values, its columns side by side, its rows.

    >>> [*lists({"letter": "C", "factor": 1.8})], [*lists({2: 0.9, 4: 0.7})]
    ([['C', 1.8]], [[0.9, 0.7], [[2, 0.9], [4, 0.7]]])
    >>> [*lists({"K": [2, 4], "E": [0.9, 0.7]})]
    [[[2, 4], [0.9, 0.7]], [[2, 0.9], [4, 0.7]], [['K', 2, 4], ['E', 0.9, 0.7]]]
    """
    columns = [*value.values()]
    yield columns
    lengths = {len(c) if isinstance(c, list) else -1 for c in columns}
    if len(lengths) == 1 and -1 not in lengths:
        yield [list(row) for row in zip(*columns, strict=True)]
    if -1 not in lengths or all(isinstance(key, (int, float)) for key in value):
        yield [[key, *(one if isinstance(one, list) else [one])] for key, one in value.items()]


def readings(value: object) -> Iterator[object]:
    """Yield what a plain value may say where a list is asked: itself, then its dictionaries as lists.

    >>> [*readings([{"K": 2, "E": 0.9}])][1:2], [*readings({8: [1.0, 1.0], 16: [1.7, 0.85]})][3:]
    ([[[2, 0.9]]], [[[8, 1.0, 1.0], [16, 1.7, 0.85]]])
    """
    yield value
    for way in range(3):
        yield _without_dictionaries(value, way)


def _without_dictionaries(value, way):
    if isinstance(value, dict):
        ways = [*lists(value)]
        value = ways[min(way, len(ways) - 1)]
    if isinstance(value, list):
        return [_without_dictionaries(one, way) for one in value]
    return value


def _numbers(text: str) -> Iterator[float]:
    """Yield what a text says as a number, the likeliest first."""
    if (plain := plain_number(text)) is not None:
        yield plain
    elif ratio := _RATIO.fullmatch(text):
        over, under = (float(part.replace(",", "")) for part in ratio.groups())
        if under:
            yield over / under
    elif written := _WRITTEN.fullmatch(text):
        before, digits, after, word = written.groups()
        if before and after:
            return
        number_before = float(digits.replace(",", ""))
        if after == "%":
            yield number_before / 100
            yield number_before
        elif not word or word.strip() in _MANY:
            yield number_before * _MANY.get(word and word.strip(), 1.0)
        elif not before and not after:
            with_unit = _with_unit(text)
            yield number_before if with_unit is None else with_unit


def _with_unit(text):
    for unit in _UNITS:
        try:
            return units.parse(text, unit)
        except ValueError:
            continue
    return None
