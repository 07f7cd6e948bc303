"""Check what is more than a number: a name of a list, a record, a count. For `scalelab.models`."""

import re
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from scalelab.arguments import shown
from scalelab.models.checking import Floats, Numbers, numbers
from scalelab.refusal import Refusal

T = TypeVar("T")

MOST = 1e9  # workers, or anything that is counted: far beyond, and floats still count exactly

_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def text(name: str, given: object, remedy: str) -> str:
    """Return text that says something, or a sentence."""
    if isinstance(given, str) and given.strip():
        return given
    raise Refusal(f"{name} must be text, got {shown(given)}: {remedy}")


def dated(name: str, given: object, remedy: str) -> str:
    """Return a date as text, or say how one is written."""
    if isinstance(given, str) and _DATE.fullmatch(given):
        return given
    raise Refusal(
        f"{name} must be a year, a month or a day such as 2021-04-21, got {shown(given)}: {remedy}"
    )


def chosen(name: str, given: object, table: Mapping[str, T]) -> T:
    """Return the entry that a name stands for, or say which names there are."""
    if isinstance(given, str) and given in table:
        return table[given]
    raise Refusal(
        f"{name} must be one of {', '.join(table)}, got {shown(given)}: take a name from this list"
    )


def instance(name: str, given: object, kind: type[T], remedy: str) -> T:
    """Return the record that was given, or say of what kind it should be."""
    if isinstance(given, kind):
        return given
    article = "an" if kind.__name__[0] in "AEIO" else "a"
    raise Refusal(f"{name} must be {article} {kind.__name__}, got {shown(given)}: {remedy}")


def counts(name: str, given: Numbers, meaning: str, low: float = 1) -> Floats:
    """Return whole numbers as a float array, or raise a sentence."""
    array = numbers(name, given, meaning, low, MOST)
    parts = array[array != np.floor(array)]
    if parts.size:
        raise Refusal(f"{name} must be a whole number, got {parts[0]:g}: {meaning}")
    return array
