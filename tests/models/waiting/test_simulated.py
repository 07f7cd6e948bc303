"""The queue that is followed request by request, against recursions and the formulas of its averages."""

import itertools

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


COPIES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=20
).map(sorted)


@given(COPIES, st.integers(1, 3), st.integers(1, 2), st.integers(0, 9))
def test_a_copy_that_is_never_sent_leaves_each_pool_its_own_queue(requests, pools, servers, seed):
    arrivals, service, again = np.array(requests, dtype=float).T
    found, copies = simulated.hedged(
        arrivals, service, again, 1e6, pools=pools, servers=servers, seed=seed
    )
    assert copies == 0
    home = np.random.default_rng(seed).integers(pools, size=len(arrivals))
    for pool in range(pools):
        own = home == pool
        if own.any():
            waited = simulated.waiting(arrivals[own], service[own], servers)
            assert found[own] == pytest.approx(waited + service[own])


@given(COPIES, st.floats(0.5, 30), st.booleans())
def test_with_servers_for_everyone_the_earlier_of_two_answers_counts(requests, delay, cancel):
    arrivals, service, again = np.array(requests, dtype=float).T
    found, copies = simulated.hedged(arrivals, service, again, delay, servers=100, cancel=cancel)
    late = service > delay
    assert found == pytest.approx(np.where(late, np.minimum(service, delay + again), service))
    assert copies == late.mean()


def test_a_cancelled_copy_leaves_the_queue_and_an_uncancelled_one_is_served():
    """One pool, one server: the copy of the first request stands behind it, and before the third."""
    arrivals, service, again = [0, 2.5, 10], [4, 1, 1], [8, 1, 1]
    found, copies = simulated.hedged(arrivals, service, again, 2, pools=1)
    assert found.tolist() == [4, 2.5, 1]
    assert copies == pytest.approx(2 / 3)
    found, _ = simulated.hedged(arrivals, service, again, 2, pools=1, cancel=False)
    assert found.tolist() == [4, 10.5, 5]


def test_a_copy_whose_other_is_answered_just_when_its_turn_comes_is_dropped():
    """In either pool: both servers are free again at 2, and each copy stands behind the other request."""
    day = [0, 0], [2, 2], [1, 1]
    seeds = {tuple(v.pool for v in found if not v.copy): found for found in (
        simulated.hedged_visits(*day, 1, seed=seed) for seed in range(20)
    )}  # fmt: skip
    assert len(seeds) == 4
    for apart in ((0, 1), (1, 0)):
        assert [v.began for v in seeds[apart] if v.copy] == [None, None]


def test_a_request_that_is_slow_itself_gains_nothing_from_a_copy():
    arrivals, service = np.arange(0, 500, 10.0), np.random.default_rng(1).exponential(1, 50)
    found, _ = simulated.hedged(arrivals, service, service, 0.5, servers=100)
    assert found == pytest.approx(service)


def test_a_budget_limits_the_copies_to_its_share_and_what_was_saved():
    rng = np.random.default_rng(4)
    arrivals = np.cumsum(rng.exponential(1, 4000))
    service, again = rng.exponential(0.5, (2, 4000))
    _, free = simulated.hedged(arrivals, service, again, 0.1)
    _, limited = simulated.hedged(arrivals, service, again, 0.1, budget=0.05)
    assert free > 0.5
    assert limited <= 0.05 + 50 / 4000
    assert simulated.hedged(arrivals, service, again, 0.1, budget=0)[1] <= 50 / 4000


def test_bursty_arrivals_wait_as_kingmans_formula_says():
    """The approximation of the chapter, at 80%: nine short gaps in ten and a long one."""
    rng = np.random.default_rng(8)
    long = rng.random(400_000) < 0.1
    gaps = np.where(long, 7.25, 0.583) * rng.exponential(1, len(long))
    waited = simulated.waiting(np.cumsum(gaps), rng.exponential(1, len(long)))
    variability = gaps.var() / gaps.mean() ** 2
    expected = (variability + 1) / 2 * queues.waiting(1 / gaps.mean(), 1)
    assert waited.mean() == pytest.approx(expected, rel=0.15)


def ticking(first, second, delay, pools, servers, cancel):
    """Second by second, who is where: rows of (arrival, seconds, pool) of each request and its copy.

    Whoever is answered is taken out of every line at once. Returns what a visit says, without its class.
    """
    lines, seats = [[] for _ in range(pools)], [[None] * servers for _ in range(pools)]
    answered, rows, now = {}, [], 0
    while len(answered) < len(first) or any(map(any, seats)) or any(lines):
        for pool, who in itertools.product(range(pools), range(servers)):
            one = seats[pool][who]
            if one and one["left"] == now:
                answered.setdefault(one["request"], now)
                seats[pool][who] = None
        for pool in range(pools):
            for one in [w for w in lines[pool] if cancel and w["request"] in answered]:
                lines[pool].remove(one)
                rows.append(one | {"server": None, "began": None, "left": now})
        for is_copy, calls in ((0, first), (1, second)):
            fill(lines, seats, rows, now)
            for request, (arrival, seconds, pool) in enumerate(calls):
                if arrival + is_copy * delay == now and not (is_copy and request in answered):
                    one = {"request": request, "copy": bool(is_copy), "pool": pool}
                    lines[pool].append(one | {"came": now, "seconds": seconds})
                    fill(lines, seats, rows, now)
        now += 1
    return sorted(
        ({k: v for k, v in row.items() if k != "seconds"} for row in rows),
        key=lambda row: (row["came"], row["copy"], row["request"]),
    )


def fill(lines, seats, rows, now):
    """Whoever stands first takes the free seat with the lowest number."""
    for line, seat in zip(lines, seats, strict=True):
        while line and None in seat:
            one, who = line.pop(0), seat.index(None)
            row = one | {"server": who, "began": now, "left": now + one["seconds"]}
            rows.append(row)
            seat[who] = row


@given(COPIES, st.integers(1, 3), st.integers(1, 2))
def test_each_visit_is_what_a_clock_that_ticks_sees(requests, servers, pools):
    arrivals, service, _ = np.array(requests, dtype=float).T
    calls = [(a, s, at % pools) for at, (a, s, _) in enumerate(requests)]
    found = [vars(one) for one in simulated.visits(arrivals, service, servers, pools)]
    assert found == ticking(calls, [], 0, pools, servers, cancel=False)
    if pools == 1:
        waited = [one["began"] - one["came"] for one in found]
        assert waited == simulated.waiting(arrivals, service, servers).tolist()


@given(COPIES, st.integers(1, 25), st.integers(1, 2), st.booleans(), st.integers(0, 3))
def test_each_visit_of_a_copy_is_what_a_clock_that_ticks_sees(
    requests, delay, servers, cancel, seed
):
    columns = np.array(requests, dtype=float).T
    home = np.random.default_rng(seed).integers(2, size=len(requests)).tolist()
    first = [(a, s, pool) for (a, s, _), pool in zip(requests, home, strict=True)]
    second = [(a, s, 1 - pool) for (a, _, s), pool in zip(requests, home, strict=True)]
    how = {"servers": servers, "cancel": cancel, "seed": seed}
    found = simulated.hedged_visits(*columns, delay, **how)
    assert [vars(one) for one in found] == ticking(first, second, delay, 2, servers, cancel)
    took, copies = simulated.hedged(*columns, delay, **how)
    answers = [
        min(v.left for v in found if v.request == at and v.began is not None) - columns[0][at]
        for at in range(len(requests))
    ]
    assert took.tolist() == answers
    assert copies == sum(v.copy for v in found) / len(requests)
