"""Coordinated omission, corrected."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import omission, tail
from tests.models import queue_simulator as simulator


@given(st.lists(st.integers(0, 500), min_size=1, max_size=20), st.integers(1, 60))
def test_the_added_values_are_those_of_the_loop_of_hdrhistogram(values, interval):
    expected = list(values)
    for value in values:
        missing = value - interval
        while missing >= interval:
            expected.append(missing)
            missing -= interval
    assert sorted(omission.corrected(values, interval)) == sorted(expected)


def test_the_scenario_of_hdrhistograms_own_test():
    """100 s of requests every 10 ms that take 1 ms, then one that takes 100 s."""
    raw = np.array([0.001] * 10_000 + [100.0])
    values = omission.corrected(raw, 0.010)
    assert (len(raw), len(values)) == (10_001, 20_000)
    assert raw.mean() == pytest.approx(0.0110, abs=5e-5)
    assert values.mean() == pytest.approx((0.001 + 50) / 2, rel=1e-3)
    assert tail.percentile(raw, 0.9999) == 0.001
    found = tail.percentile(values, [0.30, 0.50, 0.75, 0.90, 0.99, 0.99999])
    assert found == pytest.approx([0.001, 0.001, 50, 80, 98, 100], rel=1e-3)


def test_corrected_values_are_what_clients_on_schedule_would_have_seen():
    """A server that answers at once, but stalls for 1 s every 20 s, asked 100 times per second."""
    interval, stall, count = 0.010, 1.0, 20_000
    scheduled = np.arange(count) * interval
    service = np.where(np.arange(count) % 2000 == 1000, stall, 1e-9)
    on_schedule = simulator.waiting(scheduled, service) + service

    # The waiting client skips the requests that were due during the stall.
    skipped = np.zeros(count, bool)
    for start in range(1000, count, 2000):
        skipped[start + 1 : start + 101] = True
    waiting_client = service[~skipped]

    shares = [0.5, 0.9, 0.96, 0.98, 0.99, 0.999]
    truth = tail.percentile(on_schedule, shares)
    told = tail.percentile(waiting_client, shares)
    repaired = tail.percentile(omission.corrected(waiting_client, interval), shares)
    assert told[4] == pytest.approx(0, abs=1e-6)  # its p99 knows nothing of a stall
    assert truth[4] > 0.7
    assert repaired == pytest.approx(truth, abs=interval)


def test_nothing_is_added_where_nothing_was_omitted():
    values = [0.010, 0.005, 0.019]
    assert list(omission.corrected(values, 0.010)) == values
    assert len(omission.corrected([0.3], 0.1)) == 3  # also where 0.3 / 0.1 is below 3 in floats


def test_an_interval_in_the_wrong_unit_is_refused():
    with pytest.raises(ValueError, match=r"add at most 10,000,000 values, got 1e-08 s"):
        omission.corrected([1.0], 1e-8)
    with pytest.raises(ValueError, match="interval must be a finite number above 0, got 0"):
        omission.corrected([1.0], 0)
