"""Percentiles, how many samples they need, and fan-out."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from scalelab.models.waiting import tail

SAMPLES = st.lists(st.floats(0, 1e3), min_size=1, max_size=60)
SHARES = st.floats(0.001, 0.999)


@given(SAMPLES, SHARES)
def test_a_percentile_is_the_least_value_that_covers_its_share(values, share):
    found = tail.percentile(values, share)
    covered = [v for v in values if sum(x <= v for x in values) >= share * len(values) - 1e-9]
    assert found == min(covered)


def test_a_percentile_of_one_hundred_is_the_value_of_that_rank():
    """Also where the product of share and count is not exact in floats, as for 0.07 and 0.29."""
    ranks = np.arange(1, 101)
    assert list(tail.percentile(ranks[::-1], ranks / 100)) == list(ranks)
    assert tail.percentile([3, 1, 2], 0) == 1
    assert tail.percentile([3, 1, 2], 1) == 3


def test_samples_that_a_percentile_needs_as_published():
    """MLPerf Inference, early stopping: 99% confidence throughout."""
    assert tail.samples_needed(0.99, 0.99) == 459
    assert tail.samples_needed(0.99, 0.99, slower=1) == 662
    assert tail.samples_needed(0.90, 0.99, slower=1) == 64
    assert tail.samples_needed(0.90, 0.95, slower=1) == 46  # 64 is not for 95%


@given(st.floats(0.5, 0.999), st.floats(0.5, 0.999), st.integers(0, 30))
def test_one_sample_less_is_too_few(share, confidence, slower):
    """By the binomial distribution of another library."""
    need = tail.samples_needed(share, confidence, slower)
    risk = stats.binom.cdf(slower, [need - 1, need], 1 - share)
    assert risk[1] <= (1 - confidence) * (1 + 1e-9)
    assert risk[0] > (1 - confidence) * (1 - 1e-9)


@given(st.floats(0.5, 0.999_999), st.floats(0.5, 0.999_999))
def test_without_slower_ones_the_number_has_a_closed_form(share, confidence):
    exact = math.log(1 - confidence) / math.log(share)
    assert math.ceil(exact * (1 - 1e-9)) <= tail.samples_needed(share, confidence)
    assert tail.samples_needed(share, confidence) <= math.ceil(exact * (1 + 1e-9))


def test_a_rule_of_thumb_for_no_slower_ones():
    """About 4.6 / q samples at 99% confidence, where q is the slow share: ten times per nine."""
    need = tail.samples_needed([0.9, 0.99, 0.999, 0.9999], 0.99)
    assert list(need) == [44, 459, 4603, 46050]


@given(st.integers(2, 400), st.floats(0.05, 0.995), st.floats(0.5, 0.99))
def test_the_interval_is_the_one_of_another_library(count, share, confidence):
    values = np.arange(1.0, count + 1)
    low, high = tail.percentile_interval(values, share, confidence)
    # A hair less, since at equality they take the wider interval and we the narrower.
    theirs = stats.quantile_test(values, p=share).confidence_interval(confidence * (1 - 1e-9))
    assert low == (0 if np.isnan(theirs.low) else theirs.low)
    assert high == (np.inf if np.isnan(theirs.high) else theirs.high)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_the_interval_covers_the_truth_as_often_as_it_says(share):
    rng = np.random.default_rng(11)
    truth = stats.expon.ppf(share)
    covered = [
        low <= truth <= high
        for low, high in (
            tail.percentile_interval(rng.exponential(1, 500), share, 0.9) for _ in range(600)
        )
    ]
    assert 0.88 <= np.mean(covered) <= 0.97


def test_two_hundred_samples_do_not_bound_a_p99():
    values = np.arange(1, 201)
    assert tail.percentile_interval(values, 0.99) == (195, np.inf)
    assert tail.percentile_interval(values, 0.9)[1] < 200


def test_the_fan_out_of_the_tail_at_scale():
    """Dean and Barroso 2013: 63% of fan-outs to 100, and almost one in five to 2,000."""
    assert tail.fan_out(0.01, 100) == pytest.approx(0.634, abs=5e-4)
    assert tail.fan_out(0.0001, 2000) == pytest.approx(0.181, abs=5e-4)


@pytest.mark.parametrize(("slow", "workers"), [(0.01, 100), (0.2, 3), (0.001, 64)])
def test_simulated_fan_outs_are_slow_as_often_as_the_formula_says(slow, workers):
    rng = np.random.default_rng(2)
    waits = (rng.random((20_000, workers)) < slow).any(axis=1).mean()
    assert tail.fan_out(slow, workers) == pytest.approx(waits, abs=0.012)


@given(st.floats(1e-12, 1 - 1e-6), st.integers(1, 10**6))
def test_the_budget_undoes_the_fan_out(slow, workers):
    budget = tail.fan_out_budget(slow, workers)
    assert budget <= slow * (1 + 1e-12)
    assert tail.fan_out(budget, workers) == pytest.approx(slow, rel=1e-9)


def test_fan_out_at_its_ends():
    assert tail.fan_out(0, 1e6) == 0
    assert tail.fan_out(1, 3) == 1
    assert tail.fan_out_budget(1, 3) == 1
    assert tail.fan_out(0.3, 1) == pytest.approx(0.3)
    assert tail.fan_out(1e-15, 10) == pytest.approx(1e-14)  # nothing cancels


def test_arguments_are_left_as_they_were():
    values = np.array([3.0, 1.0, 2.0])
    tail.percentile(values, 0.5)
    tail.percentile_interval(values, 0.5)
    assert list(values) == [3, 1, 2]
