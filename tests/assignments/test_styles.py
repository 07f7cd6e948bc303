"""A right answer in another style loses nothing: what a person would read, the checks read."""

import contextlib
import datetime
import itertools
import math
from collections import deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import sympy
import torch

from scalelab import units
from scalelab.checks.plain import plain
from scalelab.checks.task import Task
from tests.assignments.runner import SLUGS, Assignment, graded_cell, in_course
from tests.sampling import sampled

NUMBERS = {
    "text": str,
    "text with thousands": lambda v: f"{v:,}",
    "text with spaces": lambda v: f"  {v} ",
    "text with a sign": lambda v: f"+{v}" if v >= 0 else str(v),
    "scientific text": lambda v: f"{v:.12e}",
    "text in quotes of NumPy": lambda v: np.str_(v),
    "NumPy scalar": np.float64,
    "array without dimensions": np.array,
    "array of one": lambda v: np.array([v]),
    "column of one": lambda v: np.array([[v]]),
    "list of one": lambda v: [v],
    "tuple of one": lambda v: (v,),
    "tensor": lambda v: torch.tensor(v, dtype=torch.float64),
    "tensor of one": lambda v: torch.tensor([v], dtype=torch.float64),
    "series of one": lambda v: pd.Series([v]),
    "decimal": lambda v: Decimal(repr(v)),
    "root of a polynomial": complex,
    "number of SymPy": lambda v: sympy.Integer(v) if isinstance(v, int) else sympy.Float(repr(v)),
    "text with thousands apart": lambda v: f"{v:_}".replace("_", "\u202f"),
    "text with an underscore": lambda v: f"{v:_}",
    "about": lambda v: f"≈ {v}",
    "end of a sentence": lambda v: f"{v}.",
    "fraction": lambda v: Fraction(v),
    "dictionary of one": lambda v: {"answer": v},
    "float": float,
    "rounded to five digits": lambda v: v if isinstance(v, int) else float(f"{v:.5g}"),
}
COUNTS = {
    "with a noun": lambda v: f"{v} GPUs",
    "with another noun": lambda v: f"{v:,} workers",
    "as a factor": lambda v: f"{v}x",
    "with its word": lambda v: f"{v} times",
    "whole float": float,
    "NumPy integer": np.int64,
}
SHARES = {"percent": lambda v: f"{100 * v:.10g} %", "percent, tight": lambda v: f"{100 * v:.10g}%"}
MONEY = {
    "dollars before": lambda v: f"${v:,}",
    "dollars behind": lambda v: f"{v:,} $",
    "dollars, spaced": lambda v: f"$ {v}",
}
LISTS = {
    "list": list,
    "tuple": tuple,
    "array": lambda v: np.array(v),
    "column": lambda v: np.array(v).reshape(-1, 1) if np.ndim(v) == 1 else v,
    "series": lambda v: pd.Series(v) if np.ndim(v) == 1 else pd.DataFrame(v),
    "table with an index": lambda v: (
        pd.DataFrame([r[1:] for r in v], index=pd.Index([r[0] for r in v], name="K"))
        if np.ndim(v) == 2 and len(v[0]) > 1
        else v
    ),
    "dictionary": lambda v: {f"part {n}": one for n, one in enumerate(v)},
    "list of dictionaries": lambda v: (
        [{f"c{n}": one for n, one in enumerate(row)} for row in v] if np.ndim(v) == 2 else v
    ),
    "columns by name": lambda v: (
        {f"c{n}": list(one) for n, one in enumerate(zip(*v, strict=True))} if np.ndim(v) == 2 else v
    ),
    "named tuple": lambda v: namedtuple("Pair", [f"n{n}" for n in range(len(v))])(*v),
    "queue": lambda v: deque(v),
    "values of a dictionary": lambda v: dict(enumerate(v)).values(),
    "list of texts": lambda v: [str(one) if isinstance(one, float) else one for one in v],
    "list of NumPy numbers": lambda v: [np.float64(o) if isinstance(o, float) else o for o in v],
    "rows by their first": lambda v: (
        {row[0]: list(row[1:]) for row in v}
        if np.ndim(v) == 2 and len(v[0]) > 1 and len({row[0] for row in v}) == len(v)
        else v
    ),
}
YIELDED = {
    "generator": lambda v: (one for one in v),
    "iterator": iter,
    "map": lambda v: map(plain, v),
    "zip": lambda v: zip(*zip(*v, strict=True), strict=True) if np.ndim(v) == 2 else iter(v),
}
TEXTS = {
    "upper": str.upper,
    "lower": str.lower,
    "padded": lambda v: f" {v}\n",
    "end of a sentence": lambda v: f"{v}.",
    "quoted": lambda v: f'"{v}"',
    "in brackets": lambda v: f"({v})",
    "title": str.title,
    "list of one": lambda v: [v],
    "text of NumPy": np.str_,
    "with a hyphen": lambda v: v.replace(" ", "-"),
}
NOTHING = {"NaN": lambda v: math.nan, "word": lambda v: "none", "n/a": lambda v: "n/a"}
ENDLESS = {
    "text": lambda v: "inf",
    "sign": lambda v: "∞",
    "word": lambda v: "infinity",
    "NumPy": lambda v: np.float32("inf"),
    "list of one": lambda v: [v],
}
SECONDS = {
    "time of datetime": lambda v: datetime.timedelta(seconds=v),
    "difference of times": lambda v: pd.Timedelta(v * 1e9, "ns"),
    "difference of times of NumPy": lambda v: np.timedelta64(round(v * 1e15), "fs"),
    "spelled out": lambda v: f"{1000 * v:.12g} milliseconds",
}
PAIRS = {"one text": ", ".join}
KINDS = (
    *(NUMBERS, COUNTS, SHARES, MONEY, SECONDS),
    *(LISTS, PAIRS, YIELDED, TEXTS, NOTHING, ENDLESS),
)
COUNT = sum(map(len, KINDS))
PARTS = 4  # of all styles, tried apart


def styles(value, unit):
    """Return the styles in which a person would understand a plain value, by name."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return TEXTS
    if isinstance(value, list):
        if not value or any(one is None for one in value):
            return {}
        choice = len(value) == 2 and all(isinstance(one, str) for one in value)
        return LISTS | PAIRS if choice else LISTS
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {}
    if math.isinf(value):
        return ENDLESS
    found = dict(NUMBERS)
    if unit == "$":
        found |= MONEY
    elif unit:
        found["with its unit"] = lambda v: units.text(v, unit, digits=12)
        found |= SECONDS if unit == "s" else {}
    elif isinstance(value, int):
        found |= COUNTS
    elif 0 < value < 1:
        found |= SHARES
    return found


@contextlib.contextmanager
def asked():
    """Note what a check asks for: {name: unit}, and {name of a function: None}; no records of times."""
    noted, value, function, measured = {}, Task._value, Task.function, Task.measured

    def note_value(task, name, *given, **how):
        if how.get("part") is None and not how.get("own"):
            noted.setdefault(name, how.get("unit", ""))
        return value(task, name, *given, **how)

    def note_function(task, name, **how):
        noted.setdefault(name, None)
        return function(task, name, **how)

    def note_measured(task, name, **how):
        measured(task, name, **how)
        records.add(name)

    records = set()
    patched = {"_value": note_value, "function": note_function, "measured": note_measured}
    with mock.patch.multiple(Task, **patched):
        yield noted
    for name in records & noted.keys():
        del noted[name]


def styled(answer, style):
    """Return an answer in a style: a value, or a function whose results are."""
    if callable(answer) and not isinstance(answer, type):
        return lambda *given: _or_as_it_is(style, answer(*given))
    return _or_as_it_is(style, plain(answer))


def _or_as_it_is(style, value):
    try:
        return style(value)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return value  # a result of another kind, which this style is not for


def test_there_are_as_many_styles_as_people_have():
    assert COUNT >= 70


@pytest.mark.parametrize(
    ("slug", "part"),
    sampled([pytest.param(slug, part) for slug in SLUGS for part in range(PARTS)], 2),
)
def test_a_right_answer_in_another_style_gets_full_marks(slug, part):
    """One part of all styles in turn for each answer."""
    lost, tried = [], 0
    with in_course():
        for check, cell, names in Assignment(slug).at_each_check():
            with asked() as noted:
                graded_cell(cell, dict(names))
            results = _results(cell, names, noted)
            for name, unit in noted.items():
                given = _tried(names.get(name), unit, results.get(name, ()))
                for kind, style in itertools.islice(given, part, None, PARTS):
                    tried += 1
                    changed = {**names, name: styled(names[name], style)}
                    got = graded_cell(cell, changed)
                    if got.points < got.most:
                        lost.append((check, name, kind, got.text))
    assert tried >= 20
    assert not lost, "\n".join(" | ".join(" ".join(one.split()) for one in row) for row in lost)


def _results(cell, names, noted):
    """Return what those of the names that are functions answer when a cell checks them, plainly."""
    results = {}

    def watched(name):
        def call(*given):
            results.setdefault(name, []).append(plain(names[name](*given)))
            return results[name][-1]

        return call

    functions = [name for name, unit in noted.items() if unit is None and callable(names.get(name))]
    if functions:
        graded_cell(cell, {**names, **{name: watched(name) for name in functions}})
    return results


def _tried(answer, unit, results):
    """Yield the styles to try with an answer; with a function, those of the kinds that its results have."""
    if unit is not None:
        yield from styles(plain(answer), unit).items()
    elif callable(answer):
        for group in (NUMBERS, LISTS, TEXTS, NOTHING, ENDLESS):
            if not any(_is(group, one) for one in results):
                continue
            for kind, style in (group | (YIELDED if group is LISTS else {})).items():
                yield kind, _only(style, group)


def _is(group, value):
    return bool(found := styles(value, "")) and group.items() <= found.items()


def _only(style, group):
    """Return a style that leaves results of another kind as they are."""

    def applied(value):
        value = plain(value)
        return style(value) if _is(group, value) else value

    return applied
