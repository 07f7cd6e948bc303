"""Batches: throughput, latency, and which of them is the constraint."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.waiting import batching

COSTS = st.floats(1e-3, 1.0)
V100 = (1.8874e-3, 0.1438e-3)  # ResNet-50 in mixed precision, Inoue 2021


@given(st.integers(1, 10**4), COSTS, COSTS)
def test_a_batch_earns_its_setup_back_and_never_more(batch, setup, each):
    """Throughput rises with the batch, towards one request per `each`."""
    rate = batching.throughput(batch, setup, each)
    assert rate == pytest.approx(batch / batching.seconds(batch, setup, each))
    assert rate < 1 / each
    assert batching.throughput(batch + 1, setup, each) > rate
    assert batching.seconds(batch + 1, setup, each) - batching.seconds(
        batch, setup, each
    ) == pytest.approx(each, rel=1e-3)


def test_half_of_the_best_throughput_takes_a_batch_of_setup_over_each():
    setup, each = V100
    assert batching.throughput(setup / each, setup, each) == pytest.approx(0.5 / each)


def test_the_fit_that_was_published_for_a_gpu():
    """A 64-fold batch takes 5.5 times as long, and serves 11.7 times as many."""
    longer = batching.seconds(64, *V100) / batching.seconds(1, *V100)
    faster = batching.throughput(64, *V100) / batching.throughput(1, *V100)
    assert (longer, faster) == pytest.approx((5.46, 11.7), abs=0.05)


TABLES = st.lists(
    st.tuples(st.integers(1, 256), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8
)


@given(TABLES, st.integers(1, 9))
def test_the_choice_from_a_table_is_the_best_of_the_allowed_rows(rows, limit):
    batch, throughput, latency = map(np.array, zip(*rows, strict=True))
    found = batching.most_throughput(batch, throughput, latency, limit)
    allowed = [(-t, late, n) for n, t, late in rows if late <= limit]
    best = {n for t, late, n in allowed if (t, late) == min(allowed)[:2]}
    assert found in best if best else found is None

    found = batching.least_latency(batch, throughput, latency, limit)
    allowed = [(late, -t, n) for n, t, late in rows if t >= limit]
    best = {n for late, t, n in allowed if (late, t) == min(allowed)[:2]}
    assert found in best if best else found is None


def test_constraint_and_objective_may_be_swapped_and_the_answer_changes():
    """Interactive: 2,000 per second, as soon as possible. Overnight: as many as 10 ms allow."""
    batch = np.array([1, 2, 4, 8, 16, 32, 64])
    rate, latency = batching.throughput(batch, *V100), batching.seconds(batch, *V100)
    assert batching.least_latency(batch, rate, latency, floor=2000) == 8
    assert batching.most_throughput(batch, rate, latency, cap=0.010) == 32
    assert batching.most_throughput(batch, rate, latency, cap=0.001) is None
