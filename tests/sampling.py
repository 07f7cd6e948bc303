"""Today's choice: of many cases that keep one promise, some are tried each day, and all by `make test-all`.

The day gives the seed, so that a month tries what a day leaves out; `SCALELAB_SEED=…` repeats a choice.
What a choice once found is kept as a case of its own, which is not sampled. A file whose many tests are
dear, since each starts programs or opens pages, lets them take turns: `pytestmark = pytest.mark.turns(3)`
runs a third of them today, and all within three days.
"""

from __future__ import annotations

import datetime
import os
import random

import pytest

SEED = "SCALELAB_SEED"


def seed() -> int:
    """Return the seed of this run: today's, unless it is given."""
    return int(os.environ.get(SEED) or datetime.date.today().toordinal())


def sampled(cases, number: int, *, always=()) -> list:
    """Return all cases as parameters; but for `number` drawn today and those `always` tried, thorough."""
    params = [
        one if hasattr(one, "values") and hasattr(one, "marks") else pytest.param(one)
        for one in cases
    ]
    drawn = random.Random(seed()).sample(range(len(params)), min(number, len(params)))
    return [
        param
        if at in drawn or any(value in always for value in param.values)
        else pytest.param(*param.values, marks=[*param.marks, pytest.mark.thorough], id=param.id)
        for at, param in enumerate(params)
    ]


def take_turns(items) -> None:
    """Mark as thorough, in each file that lets its tests take turns, those whose turn it is not today."""
    orders: dict = {}
    for item in items:
        if item.get_closest_marker("thorough"):
            continue  # or a file could come to a day with none
        order = orders.setdefault(item.path, {})
        at = order.setdefault(item.nodeid.partition("[")[0], len(order))
        days = item.get_closest_marker("turns")
        if days and (at - seed()) % days.args[0]:
            item.add_marker(pytest.mark.thorough)
