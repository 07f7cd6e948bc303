"""What variable service costs, against simulated servers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import mg1, queues
from tests.models import queue_simulator as simulator

LOADS = st.floats(0.01, 0.99)


def two_sizes(rng, count):
    """Nine requests in ten take 0.5 s, the tenth 5.5 s: mean 1, variance 2.25."""
    return rng.choice([0.5, 5.5], size=count, p=[0.9, 0.1])


@pytest.mark.parametrize(
    ("draw", "variability"),
    [
        (lambda rng, count: np.ones(count), 0),
        (lambda rng, count: rng.uniform(0, 2, count), 1 / 3),
        (lambda rng, count: rng.exponential(1, count), 1),
        (two_sizes, 2.25),
        (lambda rng, count: rng.gamma(0.25, 4, count), 4),
    ],
    ids=["constant", "uniform", "exponential", "two sizes", "gamma"],
)
def test_a_simulated_server_waits_as_long_as_the_formula_says(draw, variability):
    rng = np.random.default_rng(7)
    arrivals = simulator.poisson(rng, 0.6, 400_000)
    service = draw(rng, len(arrivals))
    waited = simulator.waiting(arrivals, service)
    assert mg1.waiting(0.6, 1, variability) == pytest.approx(waited.mean(), rel=0.04)
    responses = waited + service
    assert mg1.response(0.6, 1, variability) == pytest.approx(responses.mean(), rel=0.03)


@given(LOADS, st.floats(1e-6, 1e6))
def test_exponential_service_is_the_queue_with_one_server(load, service):
    rate = load / service
    expected = queues.waiting(rate, service)
    assert mg1.waiting(rate, service, 1) == pytest.approx(expected)
    assert mg1.waiting(rate, service, 0) == pytest.approx(expected / 2)  # constant: half of it
    assert mg1.response(rate, service, 1) == pytest.approx(queues.response(rate, service))


@given(LOADS, st.floats(0, 100))
def test_variability_only_ever_adds(load, variability):
    assert mg1.waiting(load, 1, variability) >= mg1.waiting(load, 1, 0)
    assert mg1.response(load, 1, variability) == pytest.approx(
        1 + mg1.waiting(load, 1, variability)
    )


def test_a_full_server_is_refused():
    with pytest.raises(ValueError, match="got a utilization of 1: the queue would grow for ever"):
        mg1.waiting(100, 0.01, 0)
    with pytest.raises(ValueError, match=r"variability must be a finite number from 0 on, got -1"):
        mg1.response(10, 0.01, -1)
    assert type(mg1.waiting(10, 0.01, 0)) is float
