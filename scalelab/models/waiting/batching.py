"""Serving requests in batches: throughput up, latency up (Section 3.4).

A batch of n requests takes a + b n seconds: a is paid once (launch, reading the weights), b for each.
How long a batch takes to come together is in `gathering`.
"""

import numpy as np
from numpy.typing import NDArray

from scalelab.arguments import real
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.waiting import requests

_CAP = "it is the longest latency you accept, in seconds"
_FLOOR = "it is the lowest throughput you accept, in requests per second"


def seconds(batch: Numbers, setup: Numbers, each: Numbers) -> Answer:
    """How long a batch of n requests is served: T(n) = a + b n.

    Source: Inoue 2021, section 3.3, doi:10.1016/j.peva.2020.102183, who fits it to published timings
    of GPUs: ResNet-50 in mixed precision on a V100 has a = 1.8874 ms, b = 0.1438 ms. Section 3.4.

    >>> round(seconds(64, 1.8874e-3, 0.1438e-3), 5)
    0.01109
    """
    batch, (setup, each) = requests.batch(batch), requests.costs(setup, each)
    return answer(lambda n, a, b: a + b * n, batch, setup, each)


def throughput(batch: Numbers, setup: Numbers, each: Numbers) -> Answer:
    """The most requests per second in batches of n: n / (a + b n), below 1 / b for any n.

    Source: Inoue 2021, equation 26, doi:10.1016/j.peva.2020.102183. Section 3.4.

    >>> throughput([1, 8, 64], 1.8874e-3, 0.1438e-3).round(0)
    array([ 492., 2633., 5771.])
    """
    batch, (setup, each) = requests.batch(batch), requests.costs(setup, each)
    return answer(lambda n, a, b: 1 / (a / n + b), batch, setup, each)


def most_throughput(
    batch: Numbers, throughput: Numbers, latency: Numbers, cap: float
) -> float | None:
    """The batch of a measured table with the highest throughput within a latency cap, or None.

    Latency is the constraint, throughput the objective. Of equals, the one with less latency.
    Source: the definition, read off a table. Section 3.4.

    >>> most_throughput([1, 8, 64], [492, 2633, 5771], [0.002, 0.003, 0.011], cap=0.005)
    8.0
    """
    batch, throughput, latency = _table(batch, throughput, latency)
    allowed = latency <= real("cap", cap, _CAP, 0, above=True)
    return _best(batch, (latency, -throughput), allowed)


def least_latency(
    batch: Numbers, throughput: Numbers, latency: Numbers, floor: float
) -> float | None:
    """The batch of a measured table with the lowest latency above a throughput floor, or None.

    Throughput is the constraint, latency the objective. Of equals, the one with more throughput.
    Source: the definition, read off a table. Section 3.4.

    >>> least_latency([1, 8, 64], [492, 2633, 5771], [0.002, 0.003, 0.011], floor=3000)
    64.0
    """
    batch, throughput, latency = _table(batch, throughput, latency)
    allowed = throughput >= real("floor", floor, _FLOOR, 0)
    return _best(batch, (-throughput, latency), allowed)


def _table(batch: Numbers, throughput: Numbers, latency: Numbers) -> tuple[Floats, ...]:
    return table(
        batch=requests.batch(batch),
        throughput=numbers("throughput", throughput, "it is in requests per second", 0),
        latency=numbers("latency", latency, "it is in seconds", 0),
    )


def _best(batch: Floats, keys: tuple[Floats, ...], allowed: NDArray[np.bool_]) -> float | None:
    """Return the batch of the allowed row that comes first by the last key, then by the one before."""
    order = np.lexsort(keys)
    order = order[allowed[order]]
    return float(batch[order[0]]) if order.size else None
