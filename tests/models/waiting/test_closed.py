"""A closed loop of clients, against clients that are simulated one by one."""

import heapq

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import closed

TIMES = st.floats(1e-3, 10)
CLIENTS = st.integers(1, 500)


def simulated(clients, service, think, servers, requests=60_000, seed=3):
    """Throughput and mean response of clients with exponential times, event by event."""
    rng = np.random.default_rng(seed)
    asks = [
        (t, i) for i, t in enumerate(rng.exponential(think, clients) if think else [0.0] * clients)
    ]
    heapq.heapify(asks)
    free, responses = [0.0] * servers, []
    for seconds in rng.exponential(service, requests):
        asked, client = heapq.heappop(asks)
        done = max(asked, heapq.heappop(free)) + seconds
        heapq.heappush(free, done)
        responses.append(done - asked)
        heapq.heappush(asks, (done + (rng.exponential(think) if think else 0), client))
    return requests / done, np.mean(responses)


@pytest.mark.parametrize("clients", [1, 5, 20, 60])
@pytest.mark.parametrize("servers", [1, 3])
def test_simulated_clients_obey_the_law_and_the_bound(clients, servers):
    rate, response = simulated(clients, 0.1, 1.5, servers)
    assert closed.throughput(clients, response, 1.5) == pytest.approx(rate, rel=0.02)
    assert rate <= closed.throughput_bound(clients, 0.1, 1.5, servers) * 1.02


@pytest.mark.parametrize(("clients", "servers"), [(1, 1), (200, 1), (300, 3)])
def test_far_from_the_knee_the_bound_is_what_is_simulated(clients, servers):
    rate, _ = simulated(clients, 0.1, 1.5, servers)
    assert rate == pytest.approx(closed.throughput_bound(clients, 0.1, 1.5, servers), rel=0.03)


@given(CLIENTS, TIMES, st.floats(0, 10), st.integers(1, 20))
def test_up_to_the_knee_nobody_waits_and_beyond_it_every_server_is_busy(
    clients, service, think, servers
):
    fastest = closed.throughput_bound(clients, service, think, servers)
    knee = servers * (service + think) / service
    alone = closed.throughput(clients, service, think)
    assert fastest == pytest.approx(alone if clients <= knee else servers / service)


def test_clients_beyond_the_knee_of_the_bound_still_bring_some_throughput():
    """Said was none: with exponential times fifty clients get 45 of the 50, client by client."""
    found = {}
    for clients in (50, 80):
        inside = 0.0
        for n in range(1, clients + 1):  # each finds what one client fewer would leave inside
            response = 0.02 * (1 + inside)
            inside = n / (response + 0.98) * response
        found[clients] = clients / (response + 0.98)
    assert closed.throughput_bound(50, 0.02, 0.98) == closed.throughput_bound(80, 0.02, 0.98) == 50
    assert found[50] < 0.92 * 50 < 0.999 * 50 < found[80]
    assert "bring no throughput" not in closed.throughput_bound.__doc__


def test_without_thinking_every_client_beyond_the_servers_only_waits():
    assert closed.throughput_bound([1, 4, 8], 0.1, 0, 4).tolist() == pytest.approx([10, 40, 40])
    assert type(closed.throughput(4, 0.1)) is float


def test_a_loop_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"clients must be a whole number, got 1\.5: it counts"):
        closed.throughput(1.5, 0.1)
    with pytest.raises(ValueError, match="response must be a finite number above 0, got 0: "):
        closed.throughput(4, 0)
    with pytest.raises(ValueError, match="think must be a finite number from 0 on, got -1: "):
        closed.throughput_bound(4, 0.1, -1)
