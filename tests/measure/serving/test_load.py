"""Load on a real service: what is planned, sent and answered. Only lower bounds: a machine may be busy."""

import asyncio
import contextlib
import itertools
import socket

import numpy as np
import pytest
from scipy import stats

from scalelab.measure.serving import load, serve
from scalelab.models.waiting import simulated
from tests.measure import served

pytestmark = pytest.mark.turns(3)


@pytest.fixture(scope="module")
def service():
    with serve.start(served.sleeper, seconds=0.002) as running:
        yield running


def most_at_once(run):
    """How many requests were under way together, at the most."""
    ends = [(t, 1) for t in run.sent] + [(t, -1) for t in run.done]
    return max(itertools.accumulate(step for _, step in sorted(ends)))


def test_an_open_loop_sends_whether_or_not_it_is_answered(service):
    service.pause(after=0, seconds=0.4)
    run = load.open_loop(service, np.zeros(20))
    assert len(run.response) == 20
    assert most_at_once(run) == 20
    # One at a time: the k-th answer comes after k services.
    assert (np.sort(run.done) >= 0.4 + 0.002 * np.arange(1, 21)).all()


def test_hundreds_may_wait_while_the_service_is_busy(service):
    """The operating system takes them in at once; refused, they would try again after a second."""
    service.busy()
    service.pause(after=0, seconds=0.5)
    with contextlib.ExitStack() as stack:
        waiting = []
        for _ in range(300):
            one = socket.create_connection((service.host, service.port), timeout=0.9)
            waiting.append(stack.enter_context(one))
            one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        for one in waiting:
            one.settimeout(60)
            assert one.recv(1024).startswith(b"HTTP/1.0 200 ")
    first, *others = service.busy()
    assert first >= 0.5
    assert len(others) == 299


def test_planned_sent_and_done_come_in_this_order(service):
    arrivals = load.poisson(100, 0.5)
    run = load.open_loop(service, arrivals)
    assert run.planned.tolist() == arrivals.tolist()
    assert (run.late >= 0).all()
    assert (run.as_sent >= 0.002).all()
    assert run.response == pytest.approx(run.late + run.as_sent)
    assert run.failed == 0
    assert run.throughput == pytest.approx(len(arrivals) / (run.done.max() - arrivals[0]))


def test_a_closed_loop_never_has_more_requests_than_clients(service):
    for clients in (1, 3):
        run = load.closed_loop(service, clients, 0.3)
        assert most_at_once(run) == clients
        assert run.late.max() < 0.3
        assert run.throughput < 1 / 0.002


def test_thinking_clients_ask_less_often(service):
    run = load.closed_loop(service, 1, 0.5, think=0.1)
    assert len(run.response) <= 5
    assert (np.diff(run.planned) >= 0.1).all()


def test_a_client_who_waits_omits_what_a_pause_would_have_cost(service):
    """A pause of 0.4 s at one request each 10 ms: 30 users wait 0.1 s and longer, one client once."""
    service.pause(after=0.1, seconds=0.4)
    run = load.paced(service, interval=0.01, seconds=1.0)
    assert len(run.response) == 100
    assert (run.response > 0.1).sum() >= 30
    assert (run.as_sent >= 0.4).sum() == 1
    assert (run.as_sent > 0.1).sum() < (run.response > 0.1).sum()
    assert most_at_once(run) == 1


def test_a_run_knows_how_long_its_requests_kept_the_server_busy(service):
    load.closed_loop(service, 1, 0.1)
    service.pause(after=0, seconds=0.2)
    run = load.open_loop(service, load.poisson(200, 0.3))
    assert len(run.busy) == len(run.response)
    assert run.busy[0] >= 0.2
    assert min(run.busy) >= 0.002


def test_followed_request_by_request_nobody_was_answered_before_the_queue_allows(service):
    """Fed with its own arrivals and services, the queue of the model gives the least response."""
    run = load.open_loop(service, load.poisson(200, 1.0, seed=2))
    least = simulated.waiting(run.planned, run.busy) + run.busy
    # The server's own clock stops a moment after the client has read the answer.
    assert (run.response.sum()) >= 0.95 * least.sum()


class Immediate:
    """A service that answers at once and notes how many tasks its client has meanwhile."""

    def __init__(self):
        self.tasks = []

    def busy(self):
        return []

    async def exchange(self, server, path=""):
        self.tasks.append(len(asyncio.all_tasks()))


@pytest.mark.parametrize(
    "way", [load.open_loop, lambda s, planned: load.hedged_loop((s, s), planned, 60)]
)
def test_thousands_of_planned_requests_do_not_hold_up_the_first(way, monkeypatch):
    """A task was made for each before any was sent, for 30 ms, and all that was planned then came late."""
    service = Immediate()
    monkeypatch.setattr(load, "_exchange", service.exchange)
    run = way(service, [0.0] + [0.05] * 3000)
    assert len(run.response) == len(service.tasks) == 3001
    assert service.tasks[0] <= 4  # the run, who plans, who asks, and who asks for a second copy


def test_who_is_late_with_all_requests_sends_the_first_before_the_last_is_planned(monkeypatch):
    service = Immediate()
    monkeypatch.setattr(load, "_exchange", service.exchange)
    load.open_loop(service, np.zeros(3000))
    assert max(service.tasks) <= 4


def test_a_service_that_fails_is_told_from_a_slow_one():
    with (
        serve.start(served.failing) as running,
        pytest.raises(serve.ServiceError, match="must answer at least one request, got "),
    ):
        load.open_loop(running, [0.0, 0.01])


def test_a_service_that_is_gone_is_said_to_be():
    running = serve.start(served.sleeper)
    running.stop()
    with pytest.raises(serve.ServiceError, match="must answer, got "):
        load.closed_loop(running, 2, 0.05)


def test_poisson_arrivals_come_at_random():
    arrivals = load.poisson(1000, 50, seed=3)
    assert len(arrivals) == pytest.approx(50_000, rel=0.02)
    assert 0 <= arrivals[0] <= arrivals[-1] <= 50
    assert stats.kstest(np.diff(arrivals), "expon", (0, 1 / 1000)).pvalue > 0.01
    counts = np.bincount((arrivals * 10).astype(int))
    assert counts.var() == pytest.approx(counts.mean(), rel=0.2)
    assert load.poisson(10, 1, seed=1).tolist() == load.poisson(10, 1, seed=1).tolist()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: load.open_loop(s, []), "arrivals must be times from 0 to 3600 s"),
        (lambda s: load.open_loop(s, [-1.0]), "arrivals must be times from 0 to 3600 s"),
        (lambda s: load.open_loop(s, "soon"), "arrivals must be times from 0 to 3600 s"),
        (lambda s: load.closed_loop(s, 0, 1), "clients must be a whole number"),
        (lambda s: load.closed_loop(s, 1, np.nan), "seconds must be"),
        (lambda s: load.paced(s, 0, 1), "interval must be"),
        (lambda s: load.poisson(0, 1), "rate must be"),
        (lambda s: load.poisson(1e9, 10), "rate must be at most"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(service, call, sentence):
    with pytest.raises(ValueError, match=rf"{sentence}.*, got .*: "):
        call(service)


@pytest.fixture
def pair():
    with serve.start(served.sleeper, seconds=0.002) as one, serve.start(served.sleeper) as other:
        yield one, other


def test_a_hedged_request_is_answered_by_the_server_that_does_not_pause(pair):
    pair[0].pause(after=0, seconds=1.0)
    run = load.hedged_loop(pair, np.arange(0, 0.4, 0.05), delay=0.02)
    assert len(run.response) == 8
    assert run.copies >= 1
    assert run.response.min() < 0.5


def test_a_delay_that_never_ends_sends_nothing_twice(pair):
    run = load.hedged_loop(pair, np.arange(0, 0.2, 0.02), delay=60)
    assert run.copies == 0
    assert len(run.busy) == len(run.response) == 10


def test_a_cancelled_copy_is_dropped_and_an_uncancelled_one_is_served(pair):
    """Both servers pause, so that all copies stand in a queue; each request is answered once or twice."""
    served_for = {}
    for cancel in (True, False):
        for one in pair:
            one.pause(after=0, seconds=0.5)
        run = load.hedged_loop(pair, np.zeros(12), delay=0.05, cancel=cancel)
        assert run.copies == 12
        served_for[cancel] = len(run.busy)
    assert served_for[False] == 24
    assert 12 <= served_for[True] < 24
