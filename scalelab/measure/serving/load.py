"""Requests to a service, and when each was planned, sent and answered (Section 3.4).

In an open loop requests come when they come, answered or not: users. In a closed loop a client waits
for its answer before it asks again. The response counts from the planned start, so that nobody who
had to wait for a turn is left out; whoever counts from the sending gets `as_sent`.
"""

import asyncio
import concurrent.futures
import time
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import ArrayLike

from scalelab.arguments import real, shown, whole
from scalelab.measure.host.machine import this_machine
from scalelab.measure.serving.serve import Service, ServiceError
from scalelab.records import Machine, Stamp
from scalelab.refusal import Refusal
from scalelab.units import counted

_GIVE_UP = 30.0  # seconds after which a request counts as failed
_MOST = 1_000_000  # requests of one run


@dataclass(frozen=True, eq=False)
class Load:
    """What became of the requests of one run, in the order of their planned starts, in seconds."""

    label: str
    planned: np.ndarray  # when the request should start
    sent: np.ndarray  # when it did
    done: np.ndarray  # when its answer was there
    busy: np.ndarray  # how long the server was at it, in the order of service
    failed: int  # further requests, with no answer
    machine: Machine
    date: str
    copies: int = 0  # requests that were sent a second time

    @property
    def response(self) -> np.ndarray:
        """Seconds from the planned start to the answer: what a user sees."""
        return self.done - self.planned

    @property
    def as_sent(self) -> np.ndarray:
        """Seconds from the sending to the answer: what a client sees that waited to send."""
        return self.done - self.sent

    @property
    def late(self) -> np.ndarray:
        """Seconds that the client was late in sending."""
        return self.sent - self.planned

    @property
    def throughput(self) -> float:
        """Answers per second, from the first planned start to the last answer."""
        return len(self.done) / (self.done.max() - self.planned.min())

    @property
    def stamp(self) -> Stamp:
        """Where these times come from."""
        lost = f"{self.failed} requests failed and are missing" if self.failed else ""
        return Stamp("measured here", self.machine, self.date, lost)


def poisson(rate: float, seconds: float, seed: int = 0) -> np.ndarray:
    """Arrival times at random, so many per second on average, for some seconds. Section 3.4.

    >>> len(poisson(100, 10))
    1012
    """
    rate = real("rate", rate, "it is how many requests arrive per second", 0, above=True)
    seconds = real("seconds", seconds, "it is how long requests keep coming", 0, above=True)
    if rate * seconds > _MOST:
        raise Refusal(
            f"rate must be at most {_MOST / seconds:g} for {seconds:g} s, got {rate:g}: "
            "a run holds a million requests"
        )
    rng = np.random.default_rng(whole("seed", seed, "it starts the random numbers", 0))
    return np.sort(rng.uniform(0, seconds, max(1, rng.poisson(rate * seconds))))


def open_loop(server: Service, arrivals: ArrayLike) -> Load:
    """Send a request at each of these times, whether or not those before it are answered."""
    arrivals = _times(arrivals)

    def ask(run, planned):
        return run.ask(planned, lambda: _exchange(server))

    return _load("open loop", [server], lambda run: [_each_when_due(run, arrivals, ask)])


def closed_loop(server: Service, clients: int, seconds: float, think: float = 0.0) -> Load:
    """So many clients for some seconds: each asks, waits for the answer, thinks, asks again."""
    clients = whole("clients", clients, "it counts the clients, each with one request", 1, 500)
    seconds = real("seconds", seconds, "it is how long the clients keep asking", 0, 3600)
    think = real("think", think, "it is the time from an answer to the next request", 0, 3600)

    async def client(run):
        while (now := run.now()) < seconds:
            await run.ask(now, lambda: _exchange(server))
            if think:
                await asyncio.sleep(think)

    label = f"closed loop, {counted(clients, 'client')}"
    return _load(label, [server], lambda run: [client(run) for _ in range(clients)])


def paced(server: Service, interval: float, seconds: float) -> Load:
    """One client that plans a request every so many seconds, and waits for each answer first."""
    interval = real("interval", interval, "it is the time between requests", 0, above=True)
    seconds = real("seconds", seconds, "it is how long requests are planned", interval, 3600)
    planned = _times(np.arange(0, seconds, interval))

    async def client(run):
        for one in planned.tolist():
            await run.until(one)
            await run.ask(one, lambda: _exchange(server))

    return _load("paced, one client", [server], lambda run: [client(run)])


def hedged_loop(
    servers: tuple[Service, Service],
    arrivals: ArrayLike,
    delay: float,
    *,
    cancel: bool = True,
    seed: int = 0,
) -> Load:
    """Send a request at each of these times to one of two servers, and after a delay to the other one, too.

    The first answer counts. With `cancel` the client hangs up on the other server, which then drops a
    copy that still waits; without, that copy is served all the same. Section 3.4.
    """
    arrivals = _times(arrivals)
    delay = real("delay", delay, "it is how long to wait before the second copy", 0, 3600)
    rng = np.random.default_rng(whole("seed", seed, "it starts the random numbers", 0))
    turns = iter(rng.integers(2, size=len(arrivals)).tolist())

    def ask(run, planned):
        turn = next(turns)
        pair = servers[turn], servers[1 - turn]
        return run.ask(planned, lambda: _first_answer(run, pair, delay, cancel))

    return _load(
        f"open loop, hedged, {'cancelled' if cancel else 'never cancelled'}",
        servers,
        lambda run: [_each_when_due(run, arrivals, ask)],
    )


async def _each_when_due(run, arrivals, ask):
    """Begin each request at its time; thousands begun beforehand, only to wait, make the first ones late."""
    async with asyncio.TaskGroup() as group:
        for planned in arrivals.tolist():
            await run.until(planned)
            group.create_task(ask(run, planned))


async def _first_answer(run, pair, delay, cancel):
    """Wait for the earlier of two answers, of which the second is asked for after a delay."""
    path = "heed" if cancel else ""
    asked = {asyncio.ensure_future(_exchange(pair[0], path))}
    done, _ = await asyncio.wait(asked, timeout=delay)
    if not done:
        run.copies += 1
        asked.add(asyncio.ensure_future(_exchange(pair[1], path)))
        done, left = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        for other in left:
            if cancel:
                other.cancel()
            else:
                run.left.append(other)
    for one in done:
        one.result()


class _LoadRun:
    """The clock of one run and what it has seen."""

    def __init__(self):
        self._begun = time.perf_counter()
        self.seen, self.failed, self.cause = [], 0, None
        self.copies, self.left = 0, []  # second copies, and those whose answers nobody needs

    def now(self):
        return time.perf_counter() - self._begun

    async def until(self, moment):
        # Whoever is late already lets the others have a turn all the same.
        await asyncio.sleep(max(moment - self.now(), 0))

    async def ask(self, planned, exchange):
        sent = self.now()
        try:
            async with asyncio.timeout(_GIVE_UP):
                await exchange()
        except (OSError, TimeoutError) as cause:
            self.failed, self.cause = self.failed + 1, cause
            await asyncio.sleep(0.01)  # a loop must not spin on a service that is gone
        else:
            self.seen.append((planned, sent, self.now()))


async def _exchange(server, path=""):
    """Ask once, and hang up if whoever waits for it is cancelled."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    try:
        writer.write(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        reply = await reader.read()  # until the server closes
    finally:
        writer.close()
    if b" 200 " not in reply[:16]:
        raise OSError(f"the answer {shown(reply[:40])}")


def _load(label, servers, tasks):
    """Run the clients in a thread with its own event loop: a notebook's is taken."""

    async def main():
        run = _LoadRun()
        await asyncio.gather(*tasks(run))
        await asyncio.gather(*run.left, return_exceptions=True)
        return run

    for server in servers:
        server.busy()  # forget what was served before
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        run = thread.submit(asyncio.run, main()).result()
    if not run.seen:
        raise ServiceError(
            f"the service must answer at least one request, got {shown(str(run.cause))}: start it first"
        )
    planned, sent, done = np.array(sorted(run.seen)).T
    busy = np.array([seconds for server in servers for seconds in server.busy()])
    if not run.copies:
        busy = busy[: len(done)]
    day = date.today().isoformat()
    return Load(label, planned, sent, done, busy, run.failed, this_machine(), day, run.copies)


def _times(given: ArrayLike) -> np.ndarray:
    try:
        times = np.sort(np.asarray(given, dtype=float))
        fits = times.ndim == 1 and 0 < times.size <= _MOST and 0 <= times[0] <= times[-1] <= 3600
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise Refusal(
            f"arrivals must be times from 0 to 3600 s, at least one, got {shown(given)}: "
            "poisson(rate, seconds) makes some"
        )
    return times
