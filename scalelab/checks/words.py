"""Plain data in words: what a value is, how it reads in one line, how it differs from another.

The order of a comparison is type, shape, finite, value; the first that fails is the one to tell.
Standard library only, plus `plain.Unreadable`.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from scalelab import units
from scalelab.checks import reading
from scalelab.checks.plain import Unreadable
from scalelab.refusal import Refusal

CLOSE = 1e-3  # relative: enough for an answer rounded to four digits, or kept in half precision
NEARLY = 1e-2  # worth asking whether the answer was rounded
LINE = 2000  # letters of one value in words, at most


class Difference(NamedTuple):
    """Why a value is not the expected one: the stage it failed at, and a clause for people."""

    stage: str  # "type", "shape", "finite" or "value"
    text: str
    item: bool = False  # whether the text is about an item, which it names first
    words: str = ""  # the text without what the student wrote, where it holds any

    @classmethod
    def of(cls, stage: str, text: str, got: object) -> Self:
        """Return one whose text names the kind of what came where it says `{}`.

        >>> Difference.of("type", "{}, not a number", "soon")[1:]
        ("the text 'soon', not a number", False, 'a text, not a number')
        """
        return cls(stage, text.replace("{}", describe(got)), words=text.replace("{}", _kind(got)))

    @property
    def slip(self) -> str:
        """What went wrong, in the words of the course alone."""
        return self.words or self.text


# A plain value and what was expected of it (None: only the kind counts) to why it is wrong.
Fault = Callable[[object, object], Difference | None]
Known = Sequence[tuple[Any, str]]  # what a misconception gives, or how; and what to say to it


def difference(got: object, expected: object) -> Difference | None:
    """Compare plain data; None if equal. Whole numbers are exact, others within 0.1 %.

    An expected `...` stands for any value.

    >>> difference(0.80004, 0.8), difference([[1], [2]], [1, 2]), difference("Serial ", "serial")
    (None, None, None)
    >>> difference("80 %", 0.8), difference({"first": 1, "last": 9}, [1, 9]), difference("none", None)
    (None, None, None)
    >>> difference([16, 64], [16, 32])[:2]
    ('value', 'item 2 is not the right number')
    >>> difference("soon", 0.8).text
    "the text 'soon', not a number"
    """
    if expected is ...:
        return None
    if expected is None:
        return None if reading.nothing(got) else _mismatch(got, expected)
    if isinstance(expected, bool):
        return None if got is expected else _mismatch(got, expected)
    if isinstance(expected, (int, float)):
        return _numbers_differ(got, expected)
    if isinstance(expected, str):
        return _texts_differ(got, expected)
    if isinstance(expected, (list, tuple)):
        return _lists_differ(got, expected)
    raise Refusal(
        "an expected value must be None, a bool, a number, a text or a list of these, "
        f"got {expected!r}: turn it into plain data first"
    )


def describe(value: object) -> str:
    """Say what kind of thing a plain value is, to follow 'a number was expected, not'.

    >>> describe([1, 2]), describe(None), describe(True)
    ('a list of 2 items', 'nothing (None)', 'the truth value True')
    """
    match value:
        case None:
            return "nothing (None)"
        case bool():
            return f"the truth value {value}"
        case int() | float():
            return "a number"
        case complex():
            return "a complex number"
        case str():
            return f"the text {show(value)}"
        case list() | tuple():
            return f"a list of {units.counted(len(value), 'item')}"
        case {"figure": list() as panels}:
            return f"a figure of {units.counted(len(panels), 'panel')}"
        case dict():
            return "a dictionary"
        case Unreadable():
            return value.what
    return "a placeholder (...)"


def _kind(value):
    """Say what kind of thing a plain value is, and nothing that whoever made it has chosen."""
    match value:
        case str():
            return "a text"
        case Unreadable():
            return "an object that cannot be read"
    return describe(value)


def show(value: object, most: int = 5) -> str:
    """Write a plain value in one short line.

    >>> show([1, 0.0357142857, "up", [1, 2]]), show(list(range(9)))
    ("[1, 0.035714, 'up', [1, 2]]", '[0, 1, 2, 3, 4, … (9 items)]')
    """
    line = ""
    for piece in _pieces(value, most):
        line += piece
        if len(line) > LINE:  # lists within lists multiply
            return f"{line[:LINE]}…"
    return line


def _pieces(value, most):
    """Yield what a value reads like, piece by piece."""
    match value:
        case bool() | None:
            yield repr(value)
        case int():
            yield str(value) if value.bit_length() < 200 else "a whole number of over 60 digits"
        case float():
            yield f"{value:.5g}" if abs(value) < 1e5 else f"{value:.8g}"
        case complex():
            yield f"{value:.5g}"
        case str():
            yield repr(value if len(value) <= 40 else f"{value[:39]}…")
        case list() | tuple():
            yield from _listed("[]", value, most, lambda item: _pieces(item, most))
        case {"figure": list()}:
            yield describe(value)
        case dict():
            yield from _listed("{}", [*value.items()], most, lambda pair: _pair(pair, most))
        case Unreadable():
            yield value.what
        case _:
            yield "..."


def _listed(brackets, items, most, pieces):
    yield brackets[0]
    for n, item in enumerate(items[:most]):
        yield ", " * (n > 0)
        yield from pieces(item)
    yield f", … ({len(items)} items)" if len(items) > most else ""
    yield brackets[1]


def _pair(pair, most):
    key, value = pair
    yield f"{show(key)}: "
    yield from _pieces(value, most)


def _numbers_differ(got, expected):
    got = reading.number(got, expected)
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        return Difference.of("type", "{}, not a number", got)
    if isinstance(got, int) and got.bit_length() > 1000:
        return Difference("finite", "far beyond any sensible size")
    if math.isnan(got):
        return Difference("finite", "not a number (NaN)")
    if math.isinf(got) != math.isinf(expected):
        return Difference("finite", f"{'in' * math.isinf(got)}finite, which cannot be")
    if got == expected:
        return None
    if isinstance(expected, int):
        if got != int(got):
            return Difference("type", "not a whole number, and only whole ones count here")
    elif math.isclose(got, expected, rel_tol=CLOSE, abs_tol=1e-15 if expected else 1e-9):
        return None
    elif math.isclose(got, expected, rel_tol=NEARLY):
        return Difference("value", "close, but not equal: has something been rounded?")
    return Difference("value", "not the right number")


def _texts_differ(got, expected):
    if isinstance(got, list) and len(got) == 1:
        got = got[0]
    if not isinstance(got, str):
        return _mismatch(got, expected)
    return None if _bare(got) == _bare(expected) else Difference("value", "not the right word")


def _bare(text):
    """Return a word without its case and the marks around it, one space for any: "(b)" and "B." are b."""
    return re.sub(r"[\s_-]+", " ", text).strip(" .,:;!?'\"`()[]").lower()


def _lists_differ(got, expected):
    if isinstance(got, dict) and "figure" not in got:
        of_each_list = [_lists_differ(one, expected) for one in reading.lists(got)]
        return None if None in of_each_list else of_each_list[0]
    if not isinstance(got, list):
        return _mismatch(got, expected)
    # A column (n, 1) for a list of n numbers is the same answer from another library.
    if not any(isinstance(item, (list, tuple)) for item in expected) and all(
        isinstance(item, list) and len(item) == 1 for item in got
    ):
        got = [item[0] for item in got]
    if len(got) != len(expected):
        return Difference.of("shape", f"{{}}, where {len(expected)} were expected", got)
    differences = [
        (n, d)
        for n, (g, e) in enumerate(zip(got, expected, strict=True), 1)
        if (d := difference(g, e))
    ]
    # All items of one stage before any of the next: a wrong type outranks a wrong value.
    for stage in ("type", "shape", "finite", "value"):
        for n, d in differences:
            if d.stage == stage:
                begin = f"item {n}," if d.item else f"item {n} is"
                return Difference(
                    stage, f"{begin} {d.text}", True, d.words and f"{begin} {d.words}"
                )
    return None


def _mismatch(got, expected):
    wanted = {
        bool: "True or False",
        type(None): "nothing (None)",
        str: "a text",
        list: "a list",
        tuple: "a list",
    }[type(expected)]
    stage = "value" if type(got) is type(expected) else "type"
    return Difference.of(stage, f"{{}}, where {wanted} was expected", got)
