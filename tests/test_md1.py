"""Percentiles of a server with constant service."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalelab.models import md1, mg1
from tests import queue_simulator as simulator


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_a_simulated_server_has_the_percentiles_of_the_formula(load):
    arrivals = simulator.poisson(np.random.default_rng(5), load, 400_000)
    waited = simulator.waiting(arrivals, np.ones(len(arrivals)))
    for share in (0.5, 0.9, 0.99):
        expected = np.quantile(waited, share)
        assert md1.waiting_percentile(load, 1, share=share) == pytest.approx(
            expected, rel=0.03, abs=0.01
        )
        assert md1.response_percentile(load, 1, share=share) == pytest.approx(
            1 + expected, rel=0.03
        )


def no_longer_than(time, load):
    """Erlang's sum of 1909 with alternating terms, in fractions, since floats cancel in it."""
    load, time = Fraction(load), Fraction(time)
    total = Fraction(0)
    for k in range(math.floor(time) + 1):
        x = load * (time - k)
        power = exponential = Fraction(1)
        for n in range(1, 60 + int(4 * x)):
            power = power * x / n
            exponential += power
        total += (-x) ** k / math.factorial(k) * exponential
    return float((1 - load) * total)


@pytest.mark.parametrize("load", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("share", [0.6, 0.96, 0.999])
def test_the_percentile_inverts_erlangs_distribution(load, share):
    time = round(md1.waiting_percentile(load, 1, share=share) * 2**20) / 2**20
    assert no_longer_than(time, load) == pytest.approx(max(share, 1 - load), abs=1e-5)


def test_the_exact_part_and_the_exponential_tail_meet():
    """On either side of 25 services the same curve, without a step."""
    shares = 1 - np.geomspace(1e-2, 1e-6, 4000)
    times = md1.waiting_percentile(0.9, 1, share=shares)
    assert times[0] < 25 < times[-1]
    slopes = np.diff(times) / np.diff(np.log(1 - shares))
    assert slopes == pytest.approx(np.full(len(slopes), slopes[-1]), rel=1e-6)


@pytest.mark.parametrize("load", [0.1, 0.6, 0.9])
def test_all_percentiles_together_make_the_mean(load):
    """The mean waiting time of the M/G/1 formula, which knows nothing of the distribution."""
    shares = (np.arange(2000) + 0.5) / 2000
    mean = md1.waiting_percentile(load, 1, share=shares).mean()
    assert mean == pytest.approx(mg1.waiting(load, 1, 0), rel=0.01)


@given(st.floats(0.01, 0.999), st.floats(0.01, 0.999), st.floats(1e-6, 1e6))
def test_time_has_no_favourite_unit_and_service_is_added_once(share, load, service):
    waiting = md1.waiting_percentile(load, 1, share=share)
    scaled = md1.waiting_percentile(load / service, service, share=share)
    assert scaled == pytest.approx(waiting * service, rel=1e-5, abs=1e-9 * service)
    response = md1.response_percentile(load / service, service, share=share)
    assert response == pytest.approx(scaled + service)


def test_percentiles_rise_with_the_share_and_with_the_load():
    shares = np.linspace(0.01, 0.999, 500)
    assert (np.diff(md1.waiting_percentile(0.8, 1, share=shares)) >= 0).all()
    loads = np.linspace(0.01, 0.999999, 500)
    assert (np.diff(md1.waiting_percentile(loads, 1, share=0.99)) >= 0).all()
    assert md1.waiting_percentile(0.8, 1, share=0.2) == 0  # one in five finds the server free


def test_a_server_close_to_full_waits_like_an_exponential():
    """Kingman's heavy traffic: (1 - rho) W / tau tends to an exponential with mean 1/2."""
    load = 1 - 1e-9
    expected = math.log(100) / 2 / 1e-9
    assert md1.waiting_percentile(load, 1, share=0.99) == pytest.approx(expected, rel=1e-6)
    assert type(md1.waiting_percentile(load, 1, share=0.99)) is float
