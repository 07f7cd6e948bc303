"""Little's law and the queue with c servers, against a queue that is simulated."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, special, stats

from scalelab.models.waiting import queues
from tests.models import queue_simulator as simulator

LOADS = st.floats(0.01, 0.99)
SERVERS = st.integers(1, 300)
SHARES = st.floats(0.01, 0.999)


def test_the_simulator_does_what_can_be_followed_by_hand():
    """Services of 3, 1, 1 and 1 s, one request per second, on one server and on two."""
    arrivals, service = np.array([0.0, 1, 2, 3]), np.array([3.0, 1, 1, 1])
    assert list(simulator.waiting(arrivals, service)) == [0, 2, 2, 2]
    assert list(simulator.waiting(arrivals, service, 2)) == [0, 0, 0, 0]


@pytest.fixture(scope="module", params=[(1, 0.4), (1, 0.7), (2, 0.6), (8, 0.8)])
def simulated(request):
    """Servers, rate, waiting and response times of a queue whose service takes 1 s on average."""
    servers, load = request.param
    rng = np.random.default_rng(servers)
    arrivals = simulator.poisson(rng, load * servers, 300_000)
    service = rng.exponential(1, len(arrivals))
    waited = simulator.waiting(arrivals, service, servers)
    return servers, load * servers, waited, waited + service


def test_a_simulated_queue_waits_and_responds_as_long_as_the_formulas_say(simulated):
    servers, rate, waited, responses = simulated
    assert queues.waiting_chance(rate, 1, servers) == pytest.approx((waited > 0).mean(), rel=0.03)
    assert queues.waiting(rate, 1, servers) == pytest.approx(waited.mean(), rel=0.05)
    assert queues.response(rate, 1, servers) == pytest.approx(responses.mean(), rel=0.03)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_simulated_queue_has_the_percentiles_of_the_formulas(simulated, share):
    servers, rate, waited, responses = simulated
    expected = np.quantile(responses, share)
    assert queues.response_percentile(rate, 1, servers, share=share) == pytest.approx(
        expected, rel=0.05
    )
    expected = np.quantile(waited, share)
    assert queues.waiting_percentile(rate, 1, servers, share=share) == pytest.approx(
        expected, rel=0.05, abs=0.01
    )


def test_littles_law_counts_what_a_simulated_queue_holds(simulated):
    """The number in progress, looked up at random times, against rate times response."""
    servers, rate, waited, responses = simulated
    rng = np.random.default_rng(servers)
    arrivals = simulator.poisson(rng, rate, len(waited))  # the same seed, the same arrivals
    looks = rng.uniform(arrivals[1000], arrivals[-1000], 50_000)
    gone = np.searchsorted(np.sort(arrivals + responses), looks)
    held = np.searchsorted(arrivals, looks) - gone
    assert queues.concurrency(rate, responses.mean()) == pytest.approx(held.mean(), rel=0.02)


def erlang_c_by_balance(load, servers):
    """From the flows between states: into n + 1 with the rate of arrivals, out with the servers'."""
    offered, weights = load * servers, [1.0]
    for n in range(servers + 4000):
        weights.append(weights[-1] * offered / min(n + 1, servers))
    return sum(weights[servers:]) / sum(weights)


@pytest.mark.parametrize("servers", [1, 2, 7, 60])
@pytest.mark.parametrize("load", [0.1, 0.5, 0.9, 0.99])
def test_erlangs_formula_is_the_balance_of_flows(load, servers):
    exact = erlang_c_by_balance(load, servers)
    assert queues.waiting_chance(load * servers, 1, servers) == pytest.approx(exact, rel=1e-9)


def test_erlangs_formula_holds_for_a_million_servers():
    """Against the recursion B(n) = a B(n-1) / (n + a B(n-1)), which no sum or factorial enters."""
    servers, load = 1_000_000, 0.999
    blocked, offered = 1.0, servers * load
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    exact = blocked / (1 - load * (1 - blocked))
    assert queues.waiting_chance(offered, 1, servers) == pytest.approx(exact, rel=1e-9)


@given(LOADS, st.floats(1e-6, 1e6))
def test_one_server_is_the_textbook_queue(load, service):
    rate = load / service
    assert queues.waiting_chance(rate, service) == pytest.approx(load)
    assert queues.response(rate, service) == pytest.approx(service / (1 - load))
    assert queues.waiting(rate, service) == pytest.approx(service * load / (1 - load))
    for share in (0.5, 0.99):
        expected = service / (1 - load) * math.log(1 / (1 - share))
        assert queues.response_percentile(rate, service, share=share) == pytest.approx(expected)


@given(LOADS, SERVERS)
def test_response_is_waiting_and_service(load, servers):
    rate = load * servers
    waiting = queues.waiting(rate, 1, servers)
    assert queues.response(rate, 1, servers) == pytest.approx(1 + waiting)
    assert queues.utilization(rate, 1, servers) == pytest.approx(load)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.3), (3, 0.6), (4, 0.75), (20, 0.95)])
def test_percentiles_invert_the_tail_of_the_sum(servers, load):
    """P(response > t) by numerical convolution of waiting and service; at (4, 0.75) rates agree."""
    queued, drain = erlang_c_by_balance(load, servers), servers * (1 - load)
    for share in (0.2, 0.9, 0.999):
        t = queues.response_percentile(load * servers, 1, servers, share=share)
        late, _ = integrate.quad(lambda s, t=t: math.exp(-s - drain * (t - s)), 0, t, epsabs=1e-13)
        assert math.exp(-t) + queued * late == pytest.approx(1 - share, rel=1e-8)


@given(LOADS, SERVERS)
def test_the_tail_of_the_percentiles_sums_to_the_mean(load, servers):
    """The mean is the average of all percentiles, here at the nodes of Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    # Substituting p = 1 - x^8 tames the logarithm at p = 1.
    x = (nodes + 1) / 2
    each = queues.response_percentile(
        load * servers, 1, servers, share=np.minimum(1 - x**8, 0.999_999)
    )
    mean = (each * 8 * x**7 * weights / 2).sum()
    assert mean == pytest.approx(queues.response(load * servers, 1, servers), rel=1e-3)


@given(SHARES, LOADS, SERVERS)
def test_a_percentile_is_longer_than_its_parts_and_shorter_than_both_at_half_the_risk(
    share, load, servers
):
    """If neither waiting nor service is among its slowest half of 1 - p, the sum is not of 1 - p."""
    rate = load * servers
    response = queues.response_percentile(rate, 1, servers, share=share)
    waiting = queues.waiting_percentile(rate, 1, servers, share=share)
    assert response >= max(waiting, stats.expon.ppf(share)) * (1 - 1e-9)
    rarer = (1 + share) / 2
    most = queues.waiting_percentile(rate, 1, servers, share=rarer) + stats.expon.ppf(rarer)
    assert response <= most * (1 + 1e-9)


@given(SHARES, LOADS, SERVERS, st.floats(1e-6, 1e6))
def test_time_has_no_favourite_unit(share, load, servers, scale):
    rate = load * servers
    fast = queues.response_percentile(rate, 1.0, servers, share=share)
    slow = queues.response_percentile(rate / scale, scale, servers, share=share)
    assert slow == pytest.approx(fast * scale, rel=1e-7)


def test_more_load_means_more_waiting_and_one_queue_beats_many():
    loads = np.linspace(0, 0.999, 200)
    for servers in (1, 5, 80):
        times = queues.response_percentile(loads * servers, 1, servers, share=0.99)
        assert (np.diff(times) > -1e-9).all()
        assert times[-1] > 5 * times[0]
        assert (np.diff(queues.waiting(loads * servers, 1, servers)) >= 0).all()
    pools = 2 ** np.arange(12)
    assert (np.diff(queues.response(0.9 * pools, 1, pools)) < 0).all()


def test_an_empty_queue_waits_for_nobody():
    assert queues.waiting_chance(0, 1, 3) == 0
    assert queues.waiting(0, 1, 3) == 0
    assert queues.waiting_percentile(0, 1, 3, share=0.999) == 0
    assert queues.response_percentile(0, 1, 3, share=0.5) == pytest.approx(math.log(2))


def test_a_queue_that_never_ends_is_refused_with_its_remedy():
    with pytest.raises(ValueError, match=r"got a utilization of 1\.2: .* add servers"):
        queues.response([10, 120], 0.01)
    with pytest.raises(ValueError, match=r"servers must be a whole number, got 1\.5"):
        queues.response(10, 0.01, 1.5)
    with pytest.raises(ValueError, match=r"share must be in \[1e-09, 0\.999999\], got 99"):
        queues.response_percentile(10, 0.01, share=99)


def test_memory_for_the_mean_is_too_small_about_half_of_the_time():
    """Conversations at random, none waits: the number inside, looked up at random times."""
    rng = np.random.default_rng(6)
    arrivals = simulator.poisson(rng, 4, 200_000)
    ends = np.sort(arrivals + rng.gamma(0.5, 30, len(arrivals)))  # 15 s on average, very uneven
    looks = rng.uniform(arrivals[2000], arrivals[-1], 100_000)
    inside = np.searchsorted(arrivals, looks) - np.searchsorted(ends, looks)
    mean, crowd = queues.concurrency(4, 15), queues.concurrency_percentile(4, 15, share=0.99)
    assert (inside > mean).mean() == pytest.approx(0.47, abs=0.03)
    assert (inside <= crowd).mean() == pytest.approx(0.99, abs=0.004)
    assert (inside <= crowd - 3).mean() < 0.985


@pytest.mark.parametrize("mean", [1.1e8, 1e9, 1e12])
def test_the_crowd_of_very_many_is_a_number_whose_chance_is_the_share(mean):
    """By the incomplete gamma function, of which the chance of at most k is a value; at the end by scipy."""
    for share in (0.001, 0.25, 0.5, 0.9, 0.99):
        crowd = queues.concurrency_percentile(mean, 1, share=share)
        assert special.gammaincc(crowd + 2, mean) >= share - 1e-12
        assert special.gammaincc(crowd - 1, mean) < share + 1e-12
    if mean < 1e10:  # beyond, scipy's own is no number
        last = queues.concurrency_percentile(mean, 1, share=0.999_999)
        assert abs(last - stats.poisson.ppf(0.999_999, mean)) <= 1
