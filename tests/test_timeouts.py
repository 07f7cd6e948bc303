"""Batches that go full or at a time-out, against ones that are simulated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalelab.models import batching, timeouts
from tests import queue_simulator as simulator

V100 = (1.8874e-3, 0.1438e-3)
RATES = st.floats(1e-3, 1e5)
LIMITS = st.integers(1, 1000)
PATIENCE = st.floats(0, 10)


@pytest.mark.parametrize(
    ("rate", "limit", "timeout"),
    [(100, 64, 0.005), (1000, 64, 0.005), (1000, 4, 0.005), (10_000, 64, 0.005), (500, 2, 0.002)],
)
@pytest.mark.parametrize("costs", [V100, (0.0, 0.010)], ids=["as on a GPU", "nothing shared"])
def test_simulated_batches_are_as_large_and_as_late_as_the_formulas_say(
    rate, limit, timeout, costs
):
    arrivals = simulator.poisson(np.random.default_rng(limit), rate, 40_000)
    waited, responses, sizes = simulator.timeout(
        arrivals, lambda n: costs[0] + costs[1] * n, limit, timeout
    )
    # Every request names the size of its batch: one batch of n appears n times.
    assert timeouts.batch(rate, limit, timeout) == pytest.approx(1 / (1 / sizes).mean(), rel=0.02)
    assert timeouts.waiting(rate, limit, timeout) == pytest.approx(waited.mean(), rel=0.02)
    found = timeouts.response(rate, limit, timeout, *costs)
    assert found == pytest.approx(responses.mean(), rel=0.02)
    assert responses.max() <= (timeout + batching.seconds(limit, *costs)) * (1 + 1e-9)


@given(RATES, LIMITS)
def test_without_patience_a_batch_is_one_request(rate, limit):
    assert timeouts.batch(rate, limit, 0) == pytest.approx(1)
    assert timeouts.waiting(rate, limit, 0) == pytest.approx(0, abs=1e-9)
    assert timeouts.response(rate, limit, 0, *V100) == pytest.approx(batching.seconds(1, *V100))


@given(st.floats(1, 1e5), st.integers(1, 200))
def test_with_all_the_patience_a_batch_is_full(rate, limit):
    assert timeouts.batch(rate, limit, 1e6) == pytest.approx(limit)
    assert timeouts.waiting(rate, limit, 1e6) == pytest.approx((limit - 1) / (2 * rate), abs=1e-9)


@given(RATES, LIMITS, PATIENCE)
def test_nobody_waits_longer_than_the_time_out_and_no_batch_passes_the_limit(rate, limit, timeout):
    assert 1 - 1e-9 <= timeouts.batch(rate, limit, timeout) <= limit * (1 + 1e-9)
    assert timeouts.batch(rate, limit, timeout) <= (1 + rate * timeout) * (1 + 1e-9)
    assert 0 <= timeouts.waiting(rate, limit, timeout) <= timeout * (1 + 1e-9)
    found = timeouts.response(rate, limit, timeout, *V100)
    assert found <= (timeout + batching.seconds(limit, *V100)) * (1 + 1e-9)


def test_a_lone_request_waits_for_the_whole_time_out():
    assert timeouts.waiting(1e-9, 64, 0.005) == pytest.approx(0.005)
    assert timeouts.waiting(1e-9, 1, 0.005) == 0  # unless it fills the batch


def test_patience_buys_throughput_with_latency():
    """At 1,000 requests per second: fewer servers are busy, and everyone waits longer."""
    patience = np.linspace(0, 0.02, 50)
    sizes = timeouts.batch(1000, 64, patience)
    assert (np.diff(1000 / batching.throughput(sizes, *V100)) < 0).all()
    assert (np.diff(timeouts.response(1000, 64, patience, *V100)) > 0).all()
