"""A queue followed request by request, for arrivals and services of any kind (Section 3.4).

What the formulas of `queues` and `mg1` say on average, this says of one day in particular:
fed with times that were measured, it tells how long each request had to wait.
"""

import heapq

import numpy as np

from scalelab.arguments import whole
from scalelab.models.checking import Floats, Numbers, numbers, table
from scalelab.refusal import Refusal

_ARRIVALS = "they are the times at which requests come, in seconds, the first come first"
_SERVICE = "they are how long each request keeps a server busy, in seconds"
_LONGEST = 1e9  # seconds: beyond 30 years a float no longer resolves a tenth of a microsecond
_MOST = 1_000_000


def waiting(arrivals: Numbers, service: Numbers, servers: int = 1) -> Floats:
    """How long each request waits for the first of c servers that is free, in the order of arrival.

    Source: the definition; for one server it is Lindley's recursion of 1952,
    doi:10.1017/S0305004100027638. Section 3.4.

    >>> waiting([0, 1, 2, 3], [3, 1, 1, 1])
    array([0., 2., 2., 2.])
    """
    arrivals, service = table(
        arrivals=numbers("arrivals", arrivals, _ARRIVALS, 0, _LONGEST),
        service=numbers("service", service, _SERVICE, 0, _LONGEST),
    )
    servers = whole("servers", servers, "it counts the servers that share the queue", 1, _MOST)
    in_order = np.diff(arrivals) >= 0
    if not in_order.all():
        where = int(np.argmin(in_order)) + 1
        raise Refusal(
            f"arrivals must be in order, got {arrivals[where]:g} after {arrivals[where - 1]:g} "
            f"at position {where}: sort them, and their services with them"
        )
    free = [0.0] * min(servers, len(arrivals))
    waited = np.empty(len(arrivals))
    for i, (arrival, seconds) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
        start = max(arrival, free[0])
        heapq.heapreplace(free, start + seconds)
        waited[i] = start - arrival
    return waited
