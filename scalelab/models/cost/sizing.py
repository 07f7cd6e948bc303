"""Which configuration to buy, from a table of times and bills or from the terms of a step (Section 3.9).

One of time and money is the limit and the other the aim. Rows may come in any order, measured or
modelled; ties go to the faster row, the cheaper row, the smaller count, in this order.
The closed forms take `compute`, what one worker computes in a step, and an exchange that all sizes share.
"""

import numpy as np
from numpy.typing import NDArray

from scalelab.arguments import real
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.cost.step import BACKWARD

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


def hidden_until(compute: Numbers, exchange: Numbers) -> Answer:
    """The largest size whose backward pass, 2/3 of the compute, is as long as the exchange: 2c / 3x.

    Source: c / K x 2/3 = x, for one micro-batch. Section 3.9.

    >>> round(hidden_until(compute=25.6, exchange=0.224), 1)
    76.2
    """
    compute, exchange = _terms(compute, exchange=exchange)
    return answer(lambda c, x: BACKWARD * c / x, compute, exchange)


def size_worth(compute: Numbers, exchange: Numbers, hourly: Numbers, value: Numbers) -> Answer:
    """The size at which price x K x T(K) + value x T(K) is least: sqrt(value / hourly x compute / exchange).

    `hourly` is the price of one worker, `value` what an hour of waiting for the result costs; T(K) is
    c / K + x. The number of steps cancels.
    Source: d/dK (p K + v) (c / K + x) = 0. Section 3.9.

    >>> round(size_worth(compute=25.6, exchange=0.224, hourly=2.0, value=100.0), 1)
    75.6
    """
    compute, exchange = _terms(compute, exchange=exchange)
    hourly = numbers("hourly", hourly, "it is the price of one worker per hour", 0, above=True)
    value = numbers("value", value, "it is what an hour of waiting costs", 0)
    return answer(lambda c, x, p, v: np.sqrt(v / p * c / x), compute, exchange, hourly, value)


def fastest_size(compute: Numbers, growth: Numbers) -> Answer:
    """The size beyond which c / K + x + growth x K rises again: sqrt(compute / growth).

    `growth` is what each further worker adds to the exchange, twice the latency in a ring.
    Source: dT/dK = 0. Section 3.9.

    >>> round(fastest_size(compute=25.6, growth=2 * 20e-6))
    800
    """
    compute, growth = _terms(compute, growth=growth)
    return answer(lambda c, g: np.sqrt(c / g), compute, growth)


def _terms(compute: Numbers, **other: Numbers) -> tuple[Floats, Floats]:
    ((name, value),) = other.items()
    return (
        numbers("compute", compute, "it is what one worker computes in a step, in seconds", 0),
        numbers(name, value, "it is in seconds", 0, above=True),
    )


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
