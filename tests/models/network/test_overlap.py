"""Exposed communication, against a simulation that watches the clock of two streams."""

import heapq

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize

from scalelab.models.network import collectives, overlap
from scalelab.models.network.network import Network

ETHERNET = Network(alpha=30e-6, beta=1 / 10e9)
TIMES = st.floats(0, 10)
NETWORKS = st.builds(Network, st.floats(1e-7, 1e-3), st.floats(1e-12, 1e-8), st.floats(0, 1e-9))


def simulated(ready, seconds, backward):
    """When a step ends after its backward pass: events in order of time, one collective at a time."""
    events = [(moment, "ready", piece) for piece, moment in enumerate(ready)]
    events.append((backward, "backward done", -1))
    heapq.heapify(events)
    waiting, following, busy, clock = set(), 0, False, 0.0
    while events:
        clock, what, piece = heapq.heappop(events)
        if what == "ready":
            waiting.add(piece)
        busy = busy and what != "sent"
        if not busy and following in waiting:  # in order: all ranks must reduce the same piece
            heapq.heappush(events, (clock + seconds[following], "sent", following))
            busy, following = True, following + 1
    assert following == len(ready)
    return clock - backward


pieces = st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=12)


@given(pieces, TIMES)
def test_what_is_exposed_is_what_the_two_streams_show(pieces, backward):
    ready, seconds = map(list, zip(*pieces, strict=True))
    exposed = overlap.exposed_seconds(ready, seconds, backward)
    assert exposed == pytest.approx(simulated(ready, seconds, backward), abs=1e-9)


@given(
    st.lists(st.floats(1e3, 1e9), min_size=1, max_size=12),
    st.floats(0, 2),
    st.integers(1, 500),
    NETWORKS,
)
def test_buckets_of_any_sizes_are_exposed_as_the_two_streams_show(buckets, backward, workers, link):
    made = np.cumsum(buckets) / sum(buckets) * backward
    seconds = [collectives.all_reduce(bucket, workers, link) for bucket in buckets]
    exposed = overlap.bucketed_seconds(buckets, backward, workers, link)
    assert exposed == pytest.approx(simulated(made, seconds, backward), rel=1e-6, abs=1e-9)


@given(
    st.lists(st.floats(1e3, 1e9), min_size=1, max_size=12),
    st.floats(0, 2),
    st.integers(1, 500),
    NETWORKS,
)
def test_each_bucket_begins_when_it_is_full_and_the_link_is_free(buckets, backward, workers, link):
    full, begun, there = overlap.bucket_times(buckets, backward, workers, link)
    assert full == pytest.approx(np.cumsum(buckets) / sum(buckets) * backward)
    free = 0.0
    for which, bucket in enumerate(buckets):
        starts = max(free, full[which])
        free = starts + collectives.all_reduce(bucket, workers, link)
        assert (begun[which], there[which]) == pytest.approx((starts, free), rel=1e-6, abs=1e-9)
    exposed = overlap.bucketed_seconds(buckets, backward, workers, link)
    assert max(there[-1] - backward, 0) == pytest.approx(exposed, rel=1e-6, abs=1e-9)


@given(st.floats(1e3, 1e10), st.integers(1, 60), st.floats(0, 2), st.integers(1, 500), NETWORKS)
def test_equal_buckets_are_a_case_of_any_buckets(size, buckets, backward, workers, link):
    equal = overlap.equal_buckets_seconds(size, buckets, backward, workers, link)
    listed = overlap.bucketed_seconds([size / buckets] * buckets, backward, workers, link)
    assert equal == pytest.approx(listed, rel=1e-6, abs=1e-9)


@given(st.floats(1e3, 1e10), st.integers(1, 200), st.floats(0, 2), st.integers(2, 500), NETWORKS)
def test_exposed_is_between_the_last_bucket_and_everything(size, buckets, backward, workers, link):
    exposed = overlap.equal_buckets_seconds(size, buckets, backward, workers, link)
    last = collectives.all_reduce(size / buckets, workers, link)
    assert last * (1 - 1e-9) <= exposed <= buckets * last * (1 + 1e-9)
    assert exposed >= (buckets * last - backward) * (1 - 1e-9)
    # One bucket overlaps with nothing.
    whole = overlap.equal_buckets_seconds(size, 1, backward, workers, link)
    assert whole == pytest.approx(collectives.all_reduce(size, workers, link))


@pytest.mark.parametrize("backward", [0.001, 0.01, 0.019, 0.03, 0.3])
@pytest.mark.parametrize("workers", [2, 8, 64])
def test_the_best_number_of_buckets_is_where_latency_and_the_last_bucket_balance(backward, workers):
    """With c = A + D / n: n = (B - D) / A just fills the pass, sqrt(B / A) is best beyond."""
    latency = collectives.all_reduce(0, workers, ETHERNET)
    data = collectives.all_reduce(100e6, workers, ETHERNET) - latency
    real = max((backward - data) / latency, np.sqrt(backward / latency), 1)
    best = overlap.best_buckets(100e6, backward, workers, ETHERNET)
    if real < 4000:
        assert best in (int(real), int(real) + 1)


def test_one_bucket_is_best_where_cutting_gains_nothing():
    free = Network(0, 1 / 10e9)
    assert overlap.best_buckets(100e6, 0.03, 1, ETHERNET) == 1  # nobody to tell
    assert overlap.best_buckets(0, 0.03, 8, ETHERNET) == 1  # only latencies
    assert overlap.best_buckets(100e6, 0, 8, ETHERNET) == 1  # nothing to hide behind
    assert overlap.best_buckets(100e6, 0.03, 8, ETHERNET, most=1) == 1
    assert overlap.best_buckets(100e6, 0.03, 8, free, most=50) == 50  # each cut is a gain
    exposed = overlap.equal_buckets_seconds(100e6, np.arange(1, 5), 0.03, 8, ETHERNET)
    assert overlap.best_buckets(100e6, 0.03, 8, ETHERNET, most=4) == 1 + np.argmin(exposed)
    with pytest.raises(ValueError, match="most must be a whole number from 1 to 1000000, got 0"):
        overlap.best_buckets(100e6, 0.03, 8, ETHERNET, most=0)


def test_local_steps_divide_everything_and_compression_only_the_bytes():
    workers, size = 256, 100e6
    rounds = 2 * (workers - 1) * ETHERNET.alpha
    plain = overlap.synchronizing_seconds(size, workers, ETHERNET)
    assert plain == collectives.all_reduce(size, workers, ETHERNET)
    smaller = overlap.synchronizing_seconds(size, workers, ETHERNET, ratio=100)
    assert smaller - rounds == pytest.approx((plain - rounds) / 100)
    assert smaller > 0.4 * plain  # the article's "10-100x" reach a latency floor here
    rarer = overlap.synchronizing_seconds(size, workers, ETHERNET, every=100)
    assert rarer == pytest.approx(plain / 100)


def test_a_step_in_h_costs_what_a_log_of_many_steps_averages():
    log = [collectives.all_reduce(1e8 / 4, 16, ETHERNET) * (step % 8 == 7) for step in range(800)]
    shown = overlap.synchronizing_seconds(1e8, 16, ETHERNET, ratio=4, every=8)
    assert shown == pytest.approx(np.mean(log))


@given(st.integers(2, 2000))
def test_sparse_gradients_pay_only_while_twice_the_ratio_exceeds_the_workers(workers):
    """Gathered, not added: (K - 1) M / ratio against 2 (K - 1) / K M."""
    link = Network(0, 1 / 10e9)
    sparse = collectives.all_gather(workers * 1e8 / 100, workers, link)
    dense = collectives.all_reduce(1e8, workers, link)
    assert (sparse < dense) == (workers < 200) or sparse == pytest.approx(dense)


@given(st.floats(0.01, 100), st.floats(1e-4, 1))
def test_at_the_critical_scale_half_of_the_step_is_waiting(compute, communication):
    workers = overlap.critical_workers(compute, communication)
    step = compute / workers + communication
    assert communication == pytest.approx(step / 2)
    efficiency = compute / (workers * step)
    assert efficiency == pytest.approx(0.5)
    most = compute / (compute / 1e15 + communication)  # the speedup of practically all workers
    assert most == pytest.approx(workers, rel=1e-6)


def test_without_communication_no_scale_is_critical():
    assert overlap.critical_workers(6.4, 0) == np.inf
    assert list(overlap.critical_workers(6.4, [0, 0.1])) == [np.inf, 64]
    assert overlap.critical_ring_workers(6.4, 0, Network(0, 1e-9)) == np.inf


@given(st.floats(1e-3, 100), st.floats(0, 1e11), NETWORKS)
def test_the_ring_is_critical_where_a_root_finder_says(compute, size, link):
    def surplus(workers):
        sent = 2 * (workers - 1) / workers * size * (link.beta + link.gamma / 2)
        return 2 * (workers - 1) * link.alpha + sent - compute / workers

    root = optimize.brentq(surplus, 1, 1e12, xtol=1e-9, rtol=1e-14, maxiter=500)
    assert overlap.critical_ring_workers(compute, size, link) == pytest.approx(root, rel=1e-6)


def test_the_first_count_beyond_the_critical_scale_communicates_longer_than_it_computes():
    link, compute, size = Network(alpha=5e-6, beta=1 / 50e9), 6.4, 1e9
    critical = overlap.critical_ring_workers(compute, size, link)
    counts = np.arange(1, 1000)
    waits = collectives.all_reduce(size, counts, link) >= compute / counts
    assert counts[waits][0] == int(critical) + 1


@given(st.floats(1e-3, 100), st.floats(1e3, 1e11), NETWORKS)
def test_latency_makes_the_ring_critical_sooner_than_its_bytes_alone(compute, size, link):
    """The article's T(1) / T_comm takes the bytes of very many workers, 2 M beta, as constant."""
    constant = overlap.critical_workers(compute, size * (2 * link.beta + link.gamma))
    assert overlap.critical_ring_workers(compute, size, link) <= (1 + constant) * (1 + 1e-12)
