"""Hedged and tied requests, against every pair of times and against simulated servers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import hedging, queues, simulated, tail
from tests.models import queue_simulator as simulator

pytestmark = pytest.mark.turns(2)

TIMES = st.lists(st.integers(0, 50), min_size=1, max_size=8)
SHARES = st.floats(0.01, 0.99)


@given(TIMES, st.integers(0, 60), SHARES)
def test_a_hedged_request_is_the_earlier_of_every_pair(values, delay, share):
    pairs = [min(a, delay + b) for a, b in itertools.product(values, repeat=2)]
    assert hedging.hedged_percentile(values, delay, share) == tail.percentile(pairs, share)


@given(TIMES, TIMES, SHARES)
def test_a_tied_request_has_the_shorter_wait_of_every_pair(waiting, service, share):
    triples = [min(a, b) + s for a, b, s in itertools.product(waiting, waiting, service)]
    found = hedging.tied_percentile(waiting, service, share)
    assert found == pytest.approx(tail.percentile(triples, share), abs=1e-9)


def test_hedged_exponential_times_have_a_closed_form():
    """P(T > t) = e^-(2 t - d): from t = d on, the tail falls twice as fast."""
    values = np.random.default_rng(8).exponential(1, 200_000)
    delay = np.log(20)  # the p95
    expected = (np.log(1000) + delay) / 2
    found = hedging.hedged_percentile(values, delay, 0.999)
    assert found == pytest.approx(expected, rel=0.02)
    assert found < 0.75 * tail.percentile(values, 0.999)


def test_hedging_after_the_p95_squares_the_tail():
    """One request in a hundred takes 1 s instead of 10 ms: after the hedge, one in 10,000 does."""
    values = [0.010] * 99 + [1.0]
    delay = tail.percentile(values, 0.95)
    assert delay == 0.010
    assert hedging.hedged_percentile(values, delay, 0.999) == pytest.approx(0.020)
    assert hedging.hedged_percentile(values, delay, 1 - 0.99e-4) == pytest.approx(1.0)


def test_a_hedge_that_is_never_sent_changes_nothing():
    values = np.random.default_rng(9).gamma(2, 1, 1000)
    for share in (0.5, 0.99):
        found = hedging.hedged_percentile(values, values.max(), share)
        assert found == tail.percentile(values, share)


@given(TIMES, SHARES, st.integers(0, 60))
def test_an_earlier_hedge_is_never_slower(values, share, delay):
    later = hedging.hedged_percentile(values, delay, share)
    assert hedging.hedged_percentile(values, 0, share) <= later
    assert later <= tail.percentile(values, share)


def test_two_servers_with_tied_requests_are_one_queue_with_two_servers():
    """Each request waits in both queues and is served once; the simulator moves every copy."""
    rng = np.random.default_rng(10)
    arrivals = simulator.poisson(rng, 1.4, 100_000)
    service = rng.exponential(1, len(arrivals))
    waited = simulator.tied(arrivals, service)
    assert waited == pytest.approx(simulator.waiting(arrivals, service, 2))
    found = tail.percentile(waited + service, 0.99)
    assert queues.response_percentile(1.4, 1, 2, share=0.99) == pytest.approx(found, rel=0.06)


def test_a_tie_between_independent_queues_has_the_smaller_of_two_waits():
    """Waiting times of a server at 60% load; the p99 is that of the mixture of two exponentials."""
    rng = np.random.default_rng(12)
    arrivals = simulator.poisson(rng, 0.6, 200_000)
    service = rng.exponential(1, len(arrivals))
    waited = simulator.waiting(arrivals, service)
    found = hedging.tied_percentile(waited, service, 0.99)
    # P(shorter wait > t) = 0.36 e^(-0.8 t), then an exponential service with rate 1.
    slow = 0.64 * np.exp(-found) + 0.36 * (np.exp(-0.8 * found) - 0.8 * np.exp(-found)) / 0.2
    assert slow == pytest.approx(0.01, rel=0.06)


@given(st.floats(0.01, 1), st.floats(0.01, 60))
def test_the_load_with_copies_is_its_own_cause_or_there_is_none(load, delay):
    """Iterated from below, u = load (1 + e^-((1 - u) d)) climbs to its least solution, or past 1."""
    found = hedging.hedged_load(load, delay, 1.0)
    tip = hedging.tipping_load(delay, 1.0)
    if abs(load / tip - 1) < 1e-3:
        return  # near the end the iteration takes for ever
    busy = 0.0
    for _ in range(20_000):
        busy = load * (1 + np.exp(-(1 - busy) * delay))
        if busy >= 1:
            break
    assert (found == np.inf) == (busy >= 1) == (load > tip)
    if busy < 1:
        assert found == pytest.approx(busy, rel=1e-6)


def test_at_the_tip_the_load_of_a_dense_grid_is_largest():
    busy = np.linspace(0, 1, 200_001)
    for delay in (0.5, 2.0, 2.5, 3.5, 15.0, 40.0):
        own = busy / (1 + np.exp(-(1 - busy) * delay))
        assert hedging.tipping_load(delay, 1.0) == pytest.approx(own.max(), abs=1e-8)


def day(load, pools, count=60_000, seed=3):
    rng = np.random.default_rng(seed)
    arrivals = simulator.poisson(rng, load * pools, count)
    return arrivals, *rng.exponential(1, (2, count))


def test_uncancelled_copies_make_servers_as_busy_as_the_formula_says():
    """100 servers at 50%, a copy after 4 services: the share of copies is u / load - 1."""
    arrivals, service, again = day(0.5, 100, 200_000)
    _, copies = simulated.hedged(arrivals, service, again, 4, pools=100, cancel=False)
    expected = hedging.hedged_load(0.5, 4, 1.0) / 0.5 - 1
    assert copies == pytest.approx(expected, rel=0.06)


def test_a_server_that_is_80_percent_busy_has_no_steady_state_with_copies_after_its_p95():
    """The queues grow as long as the day lasts, though the copies should be 5% more by arithmetic."""
    delay = queues.response_percentile(0.8, 1.0, share=0.95)
    assert hedging.hedged_load(0.8, delay, 1.0) == np.inf
    arrivals, service, again = day(0.8, 20)
    response, copies = simulated.hedged(arrivals, service, again, delay, pools=20, cancel=False)
    early, _, late = np.array_split(response, 3)
    assert late.mean() > 3 * early.mean()
    assert copies > 0.5
    response, copies = simulated.hedged(arrivals, service, again, delay, pools=20)
    early, _, late = np.array_split(response, 3)
    assert late.mean() < 1.2 * early.mean()
    assert copies < 0.05
