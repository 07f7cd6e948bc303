"""Many cases that keep one promise, in one test: it names each that does not.

To a test of its own each would cost more than what it tries.
"""

from __future__ import annotations

import functools
import inspect

import pytest

MOST = 12  # that one report lists


def every(names: str, cases, ids=str):
    """Try a test with every case, as `parametrize` would, and fail once with all that failed."""
    taken = [name.strip() for name in names.split(",")]
    cases = list(cases)
    assert cases, "there must be a case to try"

    def mark(test):
        @functools.wraps(test)
        def tried(**fixtures):
            faults = []
            for case in cases:
                values = case if len(taken) > 1 else (case,)
                try:
                    test(**fixtures, **dict(zip(taken, values, strict=True)))
                except (Exception, pytest.fail.Exception) as fault:
                    said = (str(fault) or "it does not hold").strip()
                    faults.append(f"{ids(case)}: {type(fault).__name__}: {said}")
            more = [f"and {len(faults) - MOST} more"] if len(faults) > MOST else []
            if faults:
                pytest.fail("\n\n".join([*faults[:MOST], *more]), pytrace=False)

        given = inspect.signature(test).parameters.items()
        tried.__signature__ = inspect.Signature(one for name, one in given if name not in taken)
        return tried

    return mark
