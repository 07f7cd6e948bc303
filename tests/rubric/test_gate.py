"""The quality gate against noise: simulated replicates, scipy's tests, and the edges."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from scalelab.rubric.gate import LEVEL, Noise, of_runs
from tests.sampling import sampled

TOLERANCE = 0.01
TRIALS = 2000


def verdicts(loss, runs, deviations=(0.01, 0.01), noise=None, seed=0):
    """The share of each verdict over simulated studies whose true loss is known."""
    rng = np.random.default_rng(seed)
    base = rng.normal(0.9, deviations[0], (TRIALS, runs))
    row = rng.normal(0.9 - loss, deviations[1], (TRIALS, runs))
    found = [
        of_runs(one, two, [one, two], TOLERANCE, noise=noise).verdict
        for one, two in zip(base.tolist(), row.tolist(), strict=True)
    ]
    return {name: found.count(name) / TRIALS for name in ("pass", "fail", "undecided")}


@pytest.mark.parametrize(
    ("runs", "deviations"),
    sampled(
        [
            pytest.param(runs, deviations)
            for runs in (2, 3, 5, 20)
            for deviations in ((0.01, 0.01), (0.002, 0.02))
        ],
        2,
    ),
)
def test_a_row_at_the_tolerance_passes_wrongly_once_in_twenty_at_most(runs, deviations):
    """There a pass is as wrong as it can be without the row being worse than allowed."""
    spread = 3 * math.sqrt(LEVEL * (1 - LEVEL) / TRIALS)
    # Two runs of unlike noise are where Welch's degrees of freedom are roughest.
    rough = 0.02 if runs == 2 else 0.005
    assert verdicts(TOLERANCE, runs, deviations)["pass"] <= 1 - LEVEL + spread + rough


def test_a_row_that_is_worse_passes_even_less_and_one_that_is_equal_fails_hardly_ever():
    assert verdicts(0.02, 5)["pass"] <= 0.01
    assert verdicts(0.0, 5)["fail"] <= 0.01


def test_more_runs_decide_more():
    shares = [verdicts(0.0, runs)["undecided"] for runs in (2, 5, 20)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.6
    assert shares[-1] < 0.1


def test_known_noise_keeps_its_level_with_a_single_run():
    found = verdicts(TOLERANCE, 1, noise=Noise(0.01))
    assert found["pass"] == pytest.approx(1 - LEVEL, abs=0.015)
    assert found["fail"] == pytest.approx(1 - LEVEL, abs=0.015)


def test_the_verdict_is_that_of_scipys_one_sided_tests():
    rng = np.random.default_rng(3)
    for _ in range(200):
        base, row = rng.normal(0.9, 0.01, 4), rng.normal(0.893, 0.02, 6)
        # Is the row above base - tolerance; is it below?
        surely_within, surely_beyond = (
            stats.ttest_ind(row, base - TOLERANCE, equal_var=False, alternative=side).pvalue < 0.05
            for side in ("greater", "less")
        )
        expected = "pass" if surely_within else "fail" if surely_beyond else "undecided"
        assert of_runs(base.tolist(), row.tolist(), [], TOLERANCE).verdict == expected


def test_a_size_with_one_run_borrows_the_noise_of_the_others():
    others = [[0.90, 0.92], [0.89]]
    found = of_runs(others[0], others[1], others, TOLERANCE)
    error = math.sqrt(0.0002) * math.sqrt(1 / 2 + 1)
    assert found.tested
    assert found.high == pytest.approx(0.02 + error * stats.t.ppf(0.95, 1))


def test_without_any_replicate_it_is_compared_as_it_stands():
    assert of_runs([0.9], [0.895], [[0.9], [0.895]], TOLERANCE).tested is False
    assert of_runs([0.9], [0.895], [[0.9], [0.895]], TOLERANCE).verdict == "pass"
    assert of_runs([0.9], [0.88], [[0.9], [0.88]], TOLERANCE).verdict == "fail"


def test_the_runs_that_are_asked_for_do_decide():
    """Four times out of five, as promised: the number is a plan and not a wish."""
    needed = of_runs([0.90], [0.896], [], TOLERANCE, noise=Noise(0.01)).runs
    assert verdicts(0.004, needed)["pass"] == pytest.approx(0.8, abs=0.05)


def test_replicates_that_agree_in_every_digit_leave_no_doubt():
    assert of_runs([0.9] * 3, [0.9] * 3, [], 0.0).verdict == "pass"
    assert of_runs([0.9] * 3, [0.8] * 3, [], TOLERANCE).verdict == "fail"


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4),
    st.floats(0, 10),
)
def test_any_numbers_get_a_verdict_and_a_finite_interval(base, row, tolerance):
    found = of_runs(base, row, [base, row], tolerance)
    assert found.low <= found.loss <= found.high
    assert math.isfinite(found.high - found.low)
    assert found.passes is {"pass": True, "fail": False, "undecided": None}[found.verdict]
    # Two readings of one comparison: the row cannot be surely worse both ways.
    other = of_runs(row, base, [base, row], tolerance)
    assert {found.verdict, other.verdict} != {"fail"}


def test_runs_of_the_same_seeds_are_compared_seed_by_seed():
    """Luck that moves both by the same is no loss: only the differences are noise."""
    base, row = [0.80, 0.90, 0.95], [0.799, 0.901, 0.949]
    assert of_runs(base, row, [base, row], TOLERANCE).verdict == "undecided"
    assert of_runs(base, row, [base, row], TOLERANCE, paired=True).verdict == "pass"
    found = of_runs(base, row, [base, row], TOLERANCE, paired=True)
    test = stats.ttest_rel(row, [b - TOLERANCE for b in base], alternative="greater")
    low = test.confidence_interval(0.95).low  # of the loss, from the tolerance down
    assert found.high == pytest.approx(TOLERANCE - low)


@pytest.mark.parametrize("shared", [0.0, 0.03])
def test_seeds_that_share_no_luck_keep_their_level_too(shared):
    rng = np.random.default_rng(5)
    passed = 0
    for _ in range(TRIALS):
        luck = rng.normal(0, shared, 4)
        base, row = (rng.normal(at, 0.01, 4) + luck for at in (0.9, 0.9 - TOLERANCE))
        passed += of_runs(base.tolist(), row.tolist(), [], TOLERANCE, paired=True).passes is True
    assert passed / TRIALS <= 1 - LEVEL + 0.015


def test_lower_is_better_turns_the_sign():
    assert of_runs([2.0], [2.1], [], 0.05, better="lower").verdict == "fail"
    assert of_runs([2.0], [1.9], [], 0.05, better="lower").verdict == "pass"
