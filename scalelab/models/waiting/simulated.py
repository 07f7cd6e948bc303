"""A queue followed request by request, for arrivals and services of any kind (Section 3.4).

What the formulas of `queues` and `mg1` say on average, this says of one day in particular:
fed with times that were measured, it tells how long each request had to wait. `hedged` follows second
copies too, which take their turns in the queues like everybody else. `visits` and `hedged_visits` tell of
the same days who was where, and when.
"""

import heapq
from collections import deque
from dataclasses import dataclass

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
_SHARED = "it counts the servers that share the queue"
_OF_A_POOL = "it counts the servers of a pool"
_POOLS = "it counts the pools, each with a queue of its own"
_SAVED = 50.0  # copies that a budget may save up for a bad moment


@dataclass(frozen=True)
class Visit:
    """One request, or its copy, in one pool: when it came, began to be served, and left.

    Without a server and a beginning, it was dropped while it waited. All are counted from 0.
    """

    request: int
    copy: bool
    pool: int
    server: int | None  # of its pool
    came: float
    began: float | None
    left: float

    def waits(self, now: float) -> bool:
        """Whether it stands in line at this moment."""
        return self.came <= now < (self.left if self.began is None else self.began)

    def is_served(self, now: float) -> bool:
        """Whether it is at its server at this moment."""
        return self.began is not None and self.began <= now < self.left


def waiting(arrivals: Numbers, service: Numbers, servers: int = 1) -> Floats:
    """How long each request waits until one of c servers is free, in order of arrival.

    Source: the definition; for one server it is Lindley's recursion of 1952,
    doi:10.1017/S0305004100027638. Section 3.4.

    >>> waiting([0, 1, 2, 3], [3, 1, 1, 1])
    array([0., 2., 2., 2.])
    """
    come, takes = _in_order(arrivals=(arrivals, _ARRIVALS), service=(service, _SERVICE))
    servers = whole("servers", servers, _SHARED, 1, _MOST)
    free = [0.0] * min(servers, len(come))
    waited = np.empty(len(come))
    requests = zip(come.tolist(), takes.tolist(), strict=True)
    for i, (arrival, seconds) in enumerate(requests):
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
    request is what takes long. A budget of 0.05 lets 5% of the requests have a copy; what is not used is
    saved, up to 50 copies.
    Source: the definition; Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> hedged([0, 1], [9, 1], [1, 1], delay=2)
    (array([3., 3.]), 1.0)
    """
    came, day, copies = _hedged_day(
        arrivals, service, again, delay, pools, servers, cancel, budget, seed
    )
    return np.array(day.done) - came, copies / len(came)


def visits(
    arrivals: Numbers, service: Numbers, servers: int = 1, pools: int = 1
) -> tuple[Visit, ...]:
    """Who is where and when: the day of `waiting`, request by request in the order of arrival.

    Of several pools, each with a queue and servers of its own, requests take turns. Of free servers, the
    one with the lowest number begins.
    Source: the definition. Section 3.4.

    >>> [(one.server, one.began, one.left) for one in visits([0, 1, 2], [3, 1, 1], servers=2)]
    [(0, 0.0, 3.0), (1, 1.0, 2.0), (1, 2.0, 3.0)]
    """
    come, takes = _in_order(arrivals=(arrivals, _ARRIVALS), service=(service, _SERVICE))
    servers = whole("servers", servers, _OF_A_POOL, 1, _MOST)
    pools = whole("pools", pools, _POOLS, 1, _MOST)
    day = _Pools(len(come), pools, servers, cancel=False)
    for request, (now, seconds) in enumerate(zip(come.tolist(), takes.tolist(), strict=True)):
        day.until(now)
        day.enter(request, now, seconds, request % pools)
    day.until(np.inf)
    return day.visits(servers)


def hedged_visits(
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
) -> tuple[Visit, ...]:
    """Who is where and when: the day of `hedged`, requests and copies in the order in which they came.

    Source: the definition; Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> [(one.copy, one.pool, one.left) for one in hedged_visits([0], [9], [1], delay=2)]
    [(False, 1, 9.0), (True, 0, 3.0)]
    """
    _, day, _ = _hedged_day(arrivals, service, again, delay, pools, servers, cancel, budget, seed)
    return day.visits(servers)


def _hedged_day(arrivals, service, again, delay, pools, servers, cancel, budget, seed):
    """Return the arrivals, the pools at the end of their day, and how many copies were sent."""
    arrivals, service, again = _in_order(
        arrivals=(arrivals, _ARRIVALS), service=(service, _SERVICE), again=(again, _AGAIN)
    )
    delay = real("delay", delay, _DELAY, 0, _LONGEST)
    budget = real("budget", budget, _BUDGET, 0, 1)
    pools = whole("pools", pools, _POOLS, 1, _MOST)
    servers = whole("servers", servers, _OF_A_POOL, 1, _MOST)
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
            day.enter(request, now, seconds, pool, is_copy=True)
    day.until(np.inf)
    return arrivals, day, copies


class _Pools:
    """Queues with servers behind them, at one moment of the day."""

    def __init__(self, requests, pools, servers, cancel):
        self.done = [np.inf] * requests  # when each has its first answer
        self._idle, self._cancel = [servers] * pools, cancel
        # Who waits in each pool, for how much work, whether it is a copy, and since when.
        self._lines: list[deque[tuple[int, float, bool, float]]] = [deque() for _ in range(pools)]
        # When a server is free again, of which pool, from whom.
        self._busy: list[tuple[float, int, int]] = []
        # Who was where: request, copy or not, pool, when it came, began and left.
        self._log: list[tuple[int, bool, int, float, float | None, float]] = []

    def enter(self, request, now, seconds, pool, is_copy=False):
        if self._idle[pool]:
            self._begin(request, now, seconds, pool, is_copy, now)
        else:
            self._lines[pool].append((request, seconds, is_copy, now))

    def until(self, now):
        """Let the servers work up to this time.

        All who end at one moment have their answers before anybody takes their places: a copy whose
        other is answered just then is dropped, whichever pool is looked at first.
        """
        while self._busy and (end := self._busy[0][0]) <= now:
            freed = set()
            while self._busy and self._busy[0][0] == end:
                _, pool, request = heapq.heappop(self._busy)
                self.done[request] = min(self.done[request], end)
                self._idle[pool] += 1
                freed.add(pool)
            for pool in sorted(freed):
                self._fill(pool, end)

    def _fill(self, pool, now):
        """Give the free servers of a pool to those who wait first, and let go who is answered."""
        line = self._lines[pool]
        while line and self._idle[pool]:
            waiting, seconds, is_copy, came = line.popleft()
            if self._cancel and (answered := self.done[waiting]) <= now:
                self._log.append((waiting, is_copy, pool, came, None, answered))
            else:
                self._begin(waiting, now, seconds, pool, is_copy, came)

    def visits(self, servers):
        """Return who was where, after all is done."""
        seats: dict[int, int] = {}
        free = [list(range(min(servers, len(self._log)))) for _ in self._lines]
        held: list[list[tuple[float, int]]] = [[] for _ in self._lines]
        # Those who begin take the lowest free seat; who has left by then has left it free.
        starts = [
            (began, number) for number, row in enumerate(self._log) if (began := row[4]) is not None
        ]
        for began, number in sorted(starts):
            pool, left = self._log[number][2], self._log[number][5]
            while held[pool] and held[pool][0][0] <= began:
                heapq.heappush(free[pool], heapq.heappop(held[pool])[1])
            seats[number] = heapq.heappop(free[pool])
            heapq.heappush(held[pool], (left, seats[number]))
        found = [
            Visit(request, is_copy, pool, seats.get(number), came, began, left)
            for number, (request, is_copy, pool, came, began, left) in enumerate(self._log)
        ]
        return tuple(sorted(found, key=lambda one: (one.came, one.copy, one.request)))

    def _begin(self, request, now, seconds, pool, is_copy, came):
        self._idle[pool] -= 1
        heapq.heappush(self._busy, (now + seconds, pool, request))
        self._log.append((request, is_copy, pool, came, now, now + seconds))


def _merged(first, second):
    """Yield what happens in the order of its time: who, whether it is a copy, and the rest."""
    kinds = (
        ((row[0], is_copy, request), row)
        for is_copy, rows in enumerate((first, second))
        for request, row in enumerate(rows)
    )
    for (_, is_copy, request), row in sorted(kinds):
        yield request, is_copy, row


def _in_order(**columns: tuple[Numbers, str]) -> tuple[Floats, ...]:
    """Return the columns of a day, each with what it is, as arrays; who comes first stands first."""
    arrivals, *rest = table(
        **{name: numbers(name, given, what, 0, _LONGEST) for name, (given, what) in columns.items()}
    )
    in_order = np.diff(arrivals) >= 0
    if not in_order.all():
        where = int(np.argmin(in_order)) + 1
        raise Refusal(
            f"arrivals must be in order, got {arrivals[where]:g} after {arrivals[where - 1]:g} "
            f"at position {where}: sort them, and their services with them"
        )
    return arrivals, *rest
