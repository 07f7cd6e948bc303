"""Today's choice: of many cases that keep one promise, some are tried each day, and all by `make test-all`.

The day gives the seed, so that a month tries what a day leaves out; `SCALELAB_SEED=…` repeats a choice.
What a choice once found is kept as a case of its own, which is not sampled.
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
