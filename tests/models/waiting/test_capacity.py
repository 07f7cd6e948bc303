"""How hot a pool may run: the knee, and the rate under a response cap."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import capacity, queues
from tests.models import queue_simulator as simulator


@pytest.mark.parametrize("servers", [1, 2])
def test_the_knee_of_one_and_of_two_servers_has_a_closed_form(servers):
    """Response is 1 / (1 - rho^c) exactly for c = 1 and 2: the tangent is at (c + 1)^(-1/c)."""
    assert capacity.knee(servers) == pytest.approx((servers + 1) ** (-1 / servers), abs=1e-7)


@pytest.mark.parametrize("servers", [1, 3, 8, 64, 1000])
def test_the_knee_is_where_a_search_over_a_grid_finds_it(servers):
    loads = np.linspace(0.3, 0.9999, 30_000)
    power = loads / queues.response(loads * servers, 1, servers)
    assert capacity.knee(servers) == pytest.approx(loads[power.argmax()], abs=5e-5)


def test_larger_pools_bend_later():
    assert (np.diff(capacity.knee(2 ** np.arange(20))) > 0).all()
    assert capacity.knee(1_000_000) < 1


@given(st.floats(0.5, 0.999), st.floats(0.1, 100), st.integers(1, 200))
def test_at_the_largest_rate_the_percentile_is_the_cap(share, cap, servers):
    rate = capacity.largest_rate(cap, 1, servers, share=share)
    idle = -math.log(1 - share)  # the percentile of the service alone
    assert (rate > 0) == (idle < cap)
    if rate > 1e-3:
        assert queues.response_percentile(rate, 1, servers, share=share) == pytest.approx(
            cap, rel=1e-5
        )


@given(st.floats(0.5, 0.999), st.floats(7, 1e6))
def test_one_server_has_a_closed_form(share, cap):
    expected = 1 - math.log(1 / (1 - share)) / cap
    assert capacity.largest_rate(cap, 1, share=share) == pytest.approx(expected, abs=1e-9)


def test_a_simulated_pool_at_the_largest_rate_just_keeps_its_promise():
    """Four servers of 10 ms each, 95% within 40 ms."""
    rate = capacity.largest_rate(0.040, 0.010, 4, share=0.95)
    rng = np.random.default_rng(4)
    arrivals = simulator.poisson(rng, rate, 300_000)
    service = rng.exponential(0.010, len(arrivals))
    responses = simulator.waiting(arrivals, service, 4) + service
    assert (responses <= 0.040).mean() == pytest.approx(0.95, abs=0.004)


def test_a_cap_below_the_service_percentile_allows_no_traffic():
    """The p99 of an exponential service of 10 ms is 46 ms, whatever the queue."""
    assert list(capacity.largest_rate([0.046, 0.047], 0.010, share=0.99) > 0) == [False, True]
