"""Full and greedy batches on one server, against one that is simulated."""

import numpy as np
import pytest
from scipy import special, stats

from scalelab.models.waiting import batching, gathering, mg1
from tests.models import queue_simulator as simulator

V100 = (1.8874e-3, 0.1438e-3)


def seconds(batch):
    return V100[0] + V100[1] * batch


@pytest.mark.parametrize(("rate", "batch"), [(300, 1), (400, 4), (1800, 8), (1000, 64), (5400, 64)])
def test_simulated_full_batches_respond_as_the_formula_says(rate, batch):
    arrivals = simulator.poisson(np.random.default_rng(batch), rate, 60_000)
    responses = simulator.full(arrivals, seconds, batch)
    assert gathering.full_response(rate, batch, *V100) == pytest.approx(responses.mean(), rel=0.03)


@pytest.mark.parametrize("load", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("batch", [1, 3, 40])
def test_the_queue_of_full_batches_agrees_with_spitzers_identity(load, batch):
    """Mean waiting is the sum over k of E[max(S_k, 0)] / k, S_k = k services - k n arrival gaps."""
    rate, service = load * batch, 1.0  # setup of 1 s, next to nothing for each request
    k = np.arange(1, 200_000)
    shape = k * batch
    waiting = special.gammainc(shape, k * rate) - special.gammainc(shape + 1, k * rate) / load
    filling = (batch - 1) / (2 * rate)
    expected = filling + waiting.sum() + service
    assert gathering.full_response(rate, batch, 1.0, 1e-300) == pytest.approx(expected, rel=1e-9)


def test_batches_of_one_are_the_queue_with_constant_service():
    rates = np.array([1, 100, 400])
    expected = mg1.response(rates, seconds(1), 0)
    assert gathering.full_response(rates, 1, *V100) == pytest.approx(expected)


def test_full_batches_are_slow_when_traffic_is_low_and_when_it_is_high():
    rates = np.array([10, 100, 1000, 3000, 5000, 5700])
    times = gathering.full_response(rates, 64, *V100)
    assert times[0] == pytest.approx(63 / 20 + seconds(64), rel=1e-6)  # filling, then service
    assert (np.diff(times[:4]) < 0).all()
    assert times[5] > times[4]


def greedy_exactly(rate, setup, each):
    """Solve for the sizes of successive batches: each is what came during the one before."""
    size = 400
    batches = np.maximum(np.arange(size), 1)
    service = setup + each * batches
    moves = stats.poisson.pmf(np.arange(size), rate * service[:, None])
    often = np.full(size, 1 / size)
    for _ in range(300):
        often = often @ moves / (often @ moves).sum()
    # Those in the batch stay for its service; those who come meanwhile, for half of it before theirs.
    stays = batches * service + rate * service**2 / 2
    return (often @ stays) / (often @ batches)


@pytest.mark.parametrize("rate", [20, 200, 500, 1000, 3000, 5500])
def test_greedy_batches_respond_within_the_bound_and_close_to_it(rate):
    exact = greedy_exactly(rate, *V100)
    arrivals = simulator.poisson(np.random.default_rng(rate), rate, 40_000)
    assert simulator.greedy(arrivals, seconds).mean() == pytest.approx(exact, rel=0.03)
    bound = gathering.greedy_response(rate, *V100)
    assert exact <= bound * (1 + 1e-9)
    assert bound <= 1.15 * exact


def test_greedy_beats_full_batches_at_any_traffic_they_can_carry():
    rates = np.linspace(1, 0.99 * batching.throughput(64, *V100), 100)
    greedy = gathering.greedy_response(rates, *V100)
    assert (greedy < gathering.full_response(rates, 64, *V100)).all()
    assert (np.diff(greedy) > 0).all()


def test_a_lone_request_takes_what_a_batch_of_one_takes():
    assert gathering.greedy_response(1e-9, *V100) == pytest.approx(seconds(1))


def test_a_rate_that_no_batch_carries_is_refused():
    with pytest.raises(ValueError, match=r"got 1\.219 times that: .* take larger batches"):
        gathering.full_response([100, 600], 1, *V100)
    with pytest.raises(ValueError, match="rate must be below 1 / each"):
        gathering.greedy_response(7000, *V100)
    with pytest.raises(ValueError, match=r"batch must be a whole number, got 1\.5"):
        gathering.full_response(100, 1.5, *V100)


def test_the_tokens_of_all_passes_are_those_that_are_asked_for():
    """In a second, 1 - lambda p is left for passes of a + b n seconds, which write n tokens each."""
    for rate, tokens, setup, each, prompt in ((4, 500, 5e-3, 1e-4, 0), (10, 300, 5e-3, 7e-5, 0.03)):
        n = gathering.tokens_together(rate, tokens, setup, each, prompt)
        passes = (1 - rate * prompt) / (setup + each * n)
        assert n * passes == pytest.approx(rate * tokens)
    with pytest.raises(ValueError, match=r"got 1\.2 times that: no batch is large enough"):
        gathering.tokens_together(4, 500, 5e-3, 6e-4)
