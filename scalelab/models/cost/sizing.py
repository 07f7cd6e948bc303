"""Which configuration to buy, from a table of times and bills (Section 3.9).

One of time and money is the limit and the other the aim. Rows may come in any order, measured or
modelled; ties go to the faster row, the cheaper row, the smaller count, in this order.
"""

import numpy as np
from numpy.typing import NDArray

from scalelab.arguments import real
from scalelab.models.checking import Floats, Numbers, numbers, table

_WORKERS = "it counts the workers of each configuration"
_SECONDS = "it is the time of the job on each configuration, in seconds"
_DOLLARS = "it is what the job costs on each configuration, in dollars"


def cheapest_within(
    workers: Numbers, seconds: Numbers, dollars: Numbers, deadline: float
) -> float | None:
    """The worker count that costs least among those that meet a deadline, in seconds; None if none do.

    Source: the definition. Section 3.9.

    >>> cheapest_within([1, 8, 32], [3600, 560, 250], [1.00, 1.24, 2.22], deadline=600)
    8
    """
    workers, seconds, dollars = _rows(workers, seconds, dollars)
    deadline = real("deadline", deadline, "it is the one time you have, in seconds", 0)
    return _least(workers, seconds <= deadline, dollars, seconds)


def fastest_within(
    workers: Numbers, seconds: Numbers, dollars: Numbers, budget: float
) -> float | None:
    """The worker count that takes least time among those within a budget, in dollars; None if none are.

    Source: the definition. Section 3.9.

    >>> fastest_within([1, 8, 32], [3600, 560, 250], [1.00, 1.24, 2.22], budget=2)
    8
    """
    workers, seconds, dollars = _rows(workers, seconds, dollars)
    budget = real("budget", budget, "it is the one sum you have, in dollars", 0)
    return _least(workers, dollars <= budget, seconds, dollars)


def worth_a_look(seconds: Numbers, dollars: Numbers) -> NDArray[np.bool_]:
    """Whether no other row is at least as fast and as cheap, and better in one of them.

    Whatever the deadline or the budget, the best row is one of these: the Pareto front.
    Source: the definition. Section 3.9.

    >>> worth_a_look(seconds=[3600, 560, 600, 250], dollars=[1.00, 1.24, 1.30, 2.22])
    array([ True,  True, False,  True])
    """
    seconds = numbers("seconds", seconds, _SECONDS, 0)
    dollars = numbers("dollars", dollars, _DOLLARS, 0)
    seconds, dollars = table(seconds=seconds, dollars=dollars)
    order = np.lexsort((dollars, seconds))
    # From fast to slow, a row must be cheaper than all faster ones, or the very same as one that was.
    cheapest = np.minimum.accumulate(dollars[order])
    before = np.concatenate(([np.inf], cheapest[:-1]))
    front = dollars[order] < before
    pairs = set(zip(seconds[order][front], dollars[order][front], strict=True))
    return np.array([pair in pairs for pair in zip(seconds, dollars, strict=True)])


def _rows(workers: Numbers, seconds: Numbers, dollars: Numbers) -> tuple[Floats, ...]:
    return table(
        workers=numbers("workers", workers, _WORKERS, 1),
        seconds=numbers("seconds", seconds, _SECONDS, 0),
        dollars=numbers("dollars", dollars, _DOLLARS, 0),
    )


def _least(workers: Floats, allowed: NDArray[np.bool_], aim: Floats, other: Floats) -> float | None:
    """Return the count of the allowed row with the least aim, then the least of the other, then count."""
    if not allowed.any():
        return None
    best = np.lexsort((workers[allowed], other[allowed], aim[allowed]))[0]
    count = workers[allowed][best]
    return int(count) if count == int(count) else float(count)
