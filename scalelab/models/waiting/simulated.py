"""A queue followed request by request, for arrivals and services of any kind (Section 3.4).

What the formulas of `queues` and `mg1` say on average, this says of one day in particular:
fed with times that were measured, it tells how long each request had to wait. `hedged` follows second
copies too, which take their turns in the queues like everybody else.
"""

import heapq
from collections import deque

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Floats, Numbers, numbers, table
from scalelab.refusal import Refusal

_ARRIVALS = "they are the times at which requests come, in seconds, the first come first"
_SERVICE = "they are how long each request keeps a server busy, in seconds"
_LONGEST = 1e9  # seconds: beyond 30 years a float no longer resolves a tenth of a microsecond
_MOST = 1_000_000
_AGAIN = "they are how long the second copy of each request would keep a server busy, in seconds"
_DELAY = "it is how long a request waits for its answer before it is sent again, in seconds"
_BUDGET = "it is the share of requests that may be sent again"
_SAVED = 50.0  # copies that a budget may save up for a bad moment


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
    _check_order(arrivals)
    free = [0.0] * min(servers, len(arrivals))
    waited = np.empty(len(arrivals))
    for i, (arrival, seconds) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
        start = max(arrival, free[0])
        heapq.heapreplace(free, start + seconds)
        waited[i] = start - arrival
    return waited


def hedged(
    arrivals: Numbers,
    service: Numbers,
    again: Numbers,
    delay: float,
    *,
    pools: int = 2,
    servers: int = 1,
    cancel: bool = True,
    budget: float = 1.0,
    seed: int = 0,
) -> tuple[Floats, float]:
    """How long each request takes if it is sent again after a delay, and the share that was.

    Each request goes to one of the pools at random, and its copy to another one (to the same, if there
    is one only); the first answer counts. With `cancel`, a copy that still waits is dropped once the
    other has answered; without, it is served all the same. `again` equal to `service` means that the
    request is what takes long. A budget of 0.05 lets 5% of the requests have a copy.
    Source: the definition; Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> hedged([0, 1], [9, 1], [1, 1], delay=2)
    (array([3., 3.]), 1.0)
    """
    arrivals, service, again = table(
        arrivals=numbers("arrivals", arrivals, _ARRIVALS, 0, _LONGEST),
        service=numbers("service", service, _SERVICE, 0, _LONGEST),
        again=numbers("again", again, _AGAIN, 0, _LONGEST),
    )
    _check_order(arrivals)
    delay = real("delay", delay, _DELAY, 0, _LONGEST)
    budget = real("budget", budget, _BUDGET, 0, 1)
    pools = whole("pools", pools, "it counts the pools, each with a queue of its own", 1, _MOST)
    servers = whole("servers", servers, "it counts the servers of a pool", 1, _MOST)
    day = _Pools(len(arrivals), pools, servers, cancel)
    rng = np.random.default_rng(whole("seed", seed, "it starts the random numbers", 0))
    home = rng.integers(pools, size=len(arrivals))
    other = (home + rng.integers(1, max(2, pools), len(arrivals))) % pools
    first = zip(arrivals.tolist(), service.tolist(), home.tolist(), strict=True)
    second = zip((arrivals + delay).tolist(), again.tolist(), other.tolist(), strict=True)
    allowed, copies = _SAVED, 0
    # Of equal times the original comes first, for it stands first in what is merged.
    for request, is_copy, (now, seconds, pool) in _merged(first, second):
        day.until(now)
        if not is_copy:
            allowed = min(_SAVED, allowed + budget)
            day.enter(request, now, seconds, pool)
        elif day.done[request] > now and allowed >= 1:
            allowed, copies = allowed - 1, copies + 1
            day.enter(request, now, seconds, pool)
    day.until(np.inf)
    return np.array(day.done) - arrivals, copies / len(arrivals)


class _Pools:
    """Queues with servers behind them, at one moment of the day."""

    def __init__(self, requests, pools, servers, cancel):
        self.done = [np.inf] * requests  # when each has its first answer
        self._idle, self._cancel = [servers] * pools, cancel
        # Who waits in each pool, for how much work.
        self._lines: list[deque[tuple[int, float]]] = [deque() for _ in range(pools)]
        # When a server is free again, of which pool, from whom.
        self._busy: list[tuple[float, int, int]] = []

    def enter(self, request, now, seconds, pool):
        if self._idle[pool]:
            self._idle[pool] -= 1
            heapq.heappush(self._busy, (now + seconds, pool, request))
        else:
            self._lines[pool].append((request, seconds))

    def until(self, now):
        """Let the servers work up to this time."""
        while self._busy and self._busy[0][0] <= now:
            end, pool, request = heapq.heappop(self._busy)
            self.done[request] = min(self.done[request], end)
            self._idle[pool] += 1
            line = self._lines[pool]
            while line and self._idle[pool]:
                waiting, seconds = line.popleft()
                if not (self._cancel and self.done[waiting] <= end):
                    self.enter(waiting, end, seconds, pool)


def _merged(first, second):
    """Yield what happens in the order of its time: who, whether it is a copy, and the rest."""
    kinds = (
        ((row[0], is_copy, request), row)
        for is_copy, rows in enumerate((first, second))
        for request, row in enumerate(rows)
    )
    for (_, is_copy, request), row in sorted(kinds):
        yield request, is_copy, row


def _check_order(arrivals):
    in_order = np.diff(arrivals) >= 0
    if not in_order.all():
        where = int(np.argmin(in_order)) + 1
        raise Refusal(
            f"arrivals must be in order, got {arrivals[where]:g} after {arrivals[where - 1]:g} "
            f"at position {where}: sort them, and their services with them"
        )
