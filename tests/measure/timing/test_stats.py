"""What repeated timings say, on synthetic noise with a known median."""

import math
import random
import statistics

import pytest
from hypothesis import given, strategies as st

from scalelab import ranks
from scalelab.measure.timing import stats
from scalelab.models.waiting import tail

THOROUGH = pytest.mark.thorough
TIMES = st.lists(st.floats(1e-9, 1e6), min_size=6, max_size=60)
# Textbook table of ranks for at least 95%: n, i, coverage in per cent.
PUBLISHED = [(6, 1, 96.9), (9, 2, 96.1), (12, 3, 96.1), (15, 4, 96.5), (17, 5, 95.1), (20, 6, 95.9)]


def test_advice_counts_in_words_and_asks_for_nothing_hopeless():
    said = {one.name: one.text for one in stats.advice([1.0])}
    assert said["few"].startswith("Only 1 repetition: 6 are")
    said = {one.name: one.text for one in stats.advice([1, 1.01, 1.02, 1.03, 1.04, 90])}
    assert "1 of 6 repetitions lies far from" in said["outliers"]
    assert "It is kept" in said["outliers"]
    assert said["wide"].endswith(
        "No number of repetitions mends that: quieten the machine, or ask for less."
    )


def heavy_tailed(rng, n):
    """Pareto times with median 1: infinite variance, as if a scheduler struck at random."""
    return [rng.paretovariate(1.5) / 2 ** (1 / 1.5) for _ in range(n)]


def named(values, **settings):
    return [case.name for case in stats.advice(values, **settings)]


@pytest.mark.parametrize(("n", "i", "percent"), PUBLISHED)
def test_ranks_agree_with_the_published_table(n, i, percent):
    assert stats.median_interval(list(range(1, n + 1))) == (i, n + 1 - i)
    assert 100 * ranks.narrowest(n)[1] == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize("trials", [500, pytest.param(4000, marks=THOROUGH)])
@pytest.mark.parametrize("n", [6, 9, 17, 40, 101])
def test_the_interval_covers_the_median_as_often_as_the_binomial_says(n, trials):
    """Heavy-tailed samples; five standard errors are allowed, so a fair seed never fails."""
    rng = random.Random(n)
    intervals = (stats.median_interval(heavy_tailed(rng, n)) for _ in range(trials))
    covered = sum(low <= 1 <= high for low, high in intervals) / trials
    exact = ranks.narrowest(n)[1]
    assert exact >= 0.95
    assert abs(covered - exact) < 5 * math.sqrt(exact * (1 - exact) / trials)


@given(TIMES, st.floats(0.5, 0.96))
def test_the_interval_is_made_of_values_and_encloses_their_median(values, level):
    low, high = stats.median_interval(values, level)
    assert {low, high} <= set(values)
    assert low <= statistics.median(values) <= high


@given(TIMES, st.randoms())
def test_the_order_of_the_values_does_not_matter(values, rng):
    shuffled = rng.sample(values, len(values))
    assert stats.median_interval(shuffled) == stats.median_interval(values)


@given(TIMES, st.floats(1e-3, 1e3))
def test_the_margin_does_not_depend_on_the_unit(values, factor):
    assert stats.margin([v * factor for v in values]) == pytest.approx(stats.margin(values))


def test_one_wild_value_hardly_moves_the_interval():
    quiet = [1 + k / 1000 for k in range(20)]
    assert stats.median_interval([*quiet[:-1], 1e6]) == stats.median_interval(quiet)


def test_too_few_values_are_refused_with_how_many_it_takes():
    with pytest.raises(ValueError, match="at least 6 for a 95% interval of the median, got 5"):
        stats.median_interval([1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="at least 8 for a 99% interval"):
        stats.median_interval([1, 2, 3, 4, 5, 6, 7], level=0.99)
    assert stats.margin([1, 2, 3, 4, 5]) == math.inf


@given(TIMES)
def test_the_half_of_the_values_has_the_interval_of_the_median(values):
    assert tail.percentile_interval(values, 0.5) == stats.median_interval(values)


def test_quiet_timings_need_no_advice():
    assert stats.advice([1.0, 1.001, 0.999, 1.002, 0.998, 1.0, 1.001] * 5) == ()


def test_few_repetitions_are_named():
    assert named([1.0, 1.0]) == ["few"]


def test_a_wide_interval_is_named_with_the_effort_that_would_narrow_it():
    wide = [1, 1.1, 0.9, 1.08, 0.92, 1.04, 0.96] * 2
    (case,) = stats.advice(wide, wanted=0.02)
    assert case.name == "wide"
    assert "known within 8%, not 2%" in case.text
    assert "16 times as often" in case.text


def test_outliers_are_counted_and_kept():
    values = [1.0, 1.001, 0.999] * 10 + [3.0, 0.2]
    (case,) = stats.advice(values)
    assert case.name == "outliers"
    assert "2 of 32" in case.text
    assert "3 times" in case.text


def test_a_drift_is_named_with_its_direction():
    slower = [1 + k / 200 for k in range(30)]
    assert "wide" not in named(slower, wanted=0.05)
    (case,) = (c for c in stats.advice(slower, wanted=0.05) if c.name == "drift")
    assert "last third is 9.8% slower" in case.text
    (case,) = (c for c in stats.advice(slower[::-1], wanted=0.05) if c.name == "drift")
    assert "faster" in case.text


def test_noise_without_a_trend_is_not_called_a_drift():
    rng = random.Random(1)
    alarms = sum("drift" in named([rng.gauss(1, 0.05) for _ in range(60)]) for _ in range(200))
    assert alarms <= 4


def test_slow_spells_are_named_with_what_the_values_are_worth():
    """Spells of ten, fast and slow in turn: a hundred values hold ten facts."""
    spells = ([1.0] * 10 + [1.01] * 10) * 5
    (case,) = stats.advice(spells)
    assert case.name == "dependent"
    assert "100 of them say as much as 10 that do not depend on each other" in case.text


@pytest.mark.parametrize("n", [36, 60, 250])
def test_noise_without_spells_is_hardly_ever_called_dependent(n):
    rng, trials = random.Random(n), 400
    alarms = sum("dependent" in named(heavy_tailed(rng, n), wanted=9) for _ in range(trials))
    assert alarms <= 8


def test_a_drift_is_not_named_twice():
    assert named([1 + k / 200 for k in range(90)], wanted=0.2) == ["drift"]


@pytest.mark.parametrize("case", ["few", "wide", "outliers", "drift", "dependent"])
def test_every_advice_ends_in_a_remedy(case):
    examples = {
        "few": [1.0],
        "wide": [1, 2, 3, 4, 5, 6],
        "outliers": [1.0] * 20 + [9],
        "drift": [1 + k / 100 for k in range(30)],
        "dependent": ([1.0] * 10 + [1.01] * 10) * 5,
    }
    (text,) = (c.text for c in stats.advice(examples[case]) if c.name == case)
    problem, _, remedy = text.partition(". ")
    assert problem
    assert remedy.endswith(".")
