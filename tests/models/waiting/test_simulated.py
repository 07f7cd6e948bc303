"""The queue that is followed request by request, against recursions and the formulas of its averages."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import mg1, queues, simulated

REQUESTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=30).map(
    sorted
)


@given(REQUESTS)
def test_one_server_follows_lindleys_recursion(requests):
    """W of the next = max(0, W + service - gap), which knows no heap."""
    arrivals, service = np.array(requests, dtype=float).T
    expected = [0.0]
    for i in range(1, len(arrivals)):
        gap = arrivals[i] - arrivals[i - 1]
        expected.append(max(0.0, expected[-1] + service[i - 1] - gap))
    assert simulated.waiting(arrivals, service).tolist() == expected


@given(REQUESTS, st.integers(1, 5))
def test_several_servers_do_what_a_clock_that_ticks_sees(requests, servers):
    """Second by second: who is free takes the first in the line."""
    arrivals, service = np.array(requests, dtype=float).T
    left, line, waited, now = [0] * servers, list(range(len(arrivals))), {}, 0
    while line:
        for k in range(servers):
            while left[k] == 0 and line and arrivals[line[0]] <= now:
                first = line.pop(0)
                waited[first] = now - arrivals[first]
                left[k] = int(service[first])
        left = [max(0, one - 1) for one in left]
        now += 1
    expected = [waited[i] for i in range(len(arrivals))]
    assert simulated.waiting(arrivals, service, servers).tolist() == expected


@given(REQUESTS)
def test_with_a_server_for_everyone_nobody_waits(requests):
    arrivals, service = np.array(requests, dtype=float).T
    assert not simulated.waiting(arrivals, service, len(requests)).any()


@pytest.mark.parametrize("servers", [1, 4])
def test_its_average_is_that_of_erlangs_formula(servers):
    rng = np.random.default_rng(5)
    rate = 0.7 * servers
    arrivals = np.cumsum(rng.exponential(1 / rate, 200_000))
    waited = simulated.waiting(arrivals, rng.exponential(1, 200_000), servers)
    assert waited.mean() == pytest.approx(queues.waiting(rate, 1, servers), rel=0.05)


def test_its_average_is_that_of_pollaczek_and_khinchine():
    rng = np.random.default_rng(6)
    arrivals = np.cumsum(rng.exponential(1 / 0.6, 200_000))
    service = rng.choice([0.5, 3.0], 200_000, p=[0.8, 0.2])  # mean 1, variance 1
    waited = simulated.waiting(arrivals, service)
    assert waited.mean() == pytest.approx(mg1.waiting(0.6, 1, 1), rel=0.05)


def test_arrivals_out_of_order_are_named():
    with pytest.raises(ValueError, match="in order, got 1 after 2 at position 2: sort them"):
        simulated.waiting([0, 2, 1], [1, 1, 1])
