"""The mean of the slowest of K."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from scalelab.models.waiting import stragglers

WORKERS = st.integers(1, 10**6)
FAMILIES = {
    "uniform": (lambda k: stragglers.uniform(k, 1.0, 1.5), stats.uniform(1, 0.5)),
    "exponential": (lambda k: stragglers.exponential(k, 0.3), stats.expon(scale=0.3)),
    "normal": (lambda k: stragglers.normal(k, 1.0, 0.1), stats.norm(1, 0.1)),
    "lognormal": (lambda k: stragglers.lognormal(k, 1.0, 0.5), stats.lognorm(0.5)),
    "pareto": (lambda k: stragglers.pareto(k, 1.0, 3.0), stats.pareto(3)),
}
every_family = pytest.mark.parametrize(
    ("expected", "distribution"), FAMILIES.values(), ids=list(FAMILIES)
)


@every_family
def test_simulated_barriers_wait_as_long_as_the_formula_says(expected, distribution):
    rng = np.random.default_rng(3)
    for workers in (1, 2, 8, 64):
        slowest = distribution.rvs((1_200_000 // workers // 4, workers), random_state=rng).max(1)
        assert expected(workers) == pytest.approx(slowest.mean(), rel=0.02)


@every_family
@pytest.mark.parametrize("workers", [1, 3, 64, 4096])
def test_the_mean_is_the_integral_over_the_density_of_the_maximum(expected, distribution, workers):
    """Of z K F(z)^(K - 1) f(z), in slices that hold a thousandth of the maxima or more."""
    ends = distribution.ppf(np.array([1e-12, 0.001, 0.1, 0.5, 0.9, 0.999]) ** (1 / workers))
    edges = np.unique([*ends, *distribution.isf(10.0 ** -np.arange(4, 16, 0.5) / workers)])

    def density(z):
        return z * workers * distribution.pdf(z) * distribution.cdf(z) ** (workers - 1)

    parts = [integrate.fixed_quad(density, a, b, n=40)[0] for a, b in itertools.pairwise(edges)]
    assert expected(workers) == pytest.approx(sum(parts), rel=1e-6)


def test_normal_maxima_are_those_of_the_closed_forms():
    """Known up to K = 5; David and Nagaraja 2003, section 3.2."""
    root = math.sqrt(math.pi)
    exact = [
        0,
        1 / root,
        3 / (2 * root),
        6 / math.pi**1.5 * math.atan(math.sqrt(2)),
        5 / (4 * root) + 15 / (2 * math.pi * root) * math.asin(1 / 3),
    ]
    found = stragglers.normal([1, 2, 3, 4, 5], 1, 1) - 1
    assert found == pytest.approx(exact, abs=1e-9)


@given(st.floats(0.01, 2.5), st.floats(1e-3, 1e3))
def test_the_slower_of_two_lognormal_times_has_a_closed_form(spread, median):
    """Twice the mean, times the chance that a normal stays below spread / sqrt(2)."""
    exact = median * math.exp(spread**2 / 2) * 2 * stats.norm.cdf(spread / math.sqrt(2))
    assert stragglers.lognormal(2, median, spread) == pytest.approx(exact, rel=1e-6)


@given(WORKERS, st.floats(0.001, 0.2))
def test_a_narrow_lognormal_is_nearly_normal(workers, spread):
    narrow = spread / 100
    lognormal = stragglers.lognormal(workers, 1, narrow)
    assert lognormal == pytest.approx(stragglers.normal(workers, 1, narrow), rel=1e-4)


@every_family
def test_more_workers_wait_longer_and_ever_less_so(expected, distribution):
    waits = expected(2.0 ** np.arange(21))
    assert waits[0] == pytest.approx(distribution.mean())
    assert (np.diff(waits) > 0).all()
    gains = np.diff(expected(np.arange(1.0, 200)))
    assert (np.diff(gains) < 0).all()


def test_tails_decide_how_waiting_grows():
    """From 64 to 4,096 workers: +1.5%, x 1.9, x 8 for uniform, exponential and Pareto (a = 2)."""
    many = np.array([64, 4096])
    assert np.divide(*stragglers.uniform(many, 0, 1)[::-1]) == pytest.approx(1.015, abs=5e-4)
    assert np.divide(*stragglers.exponential(many, 1)[::-1]) == pytest.approx(1.875, abs=1e-3)
    assert np.divide(*stragglers.pareto(many, 1, 2)[::-1]) == pytest.approx(8, abs=0.02)


def test_harmonic_numbers_are_sums():
    for workers in (1, 2, 17, 1000):
        harmonic = sum(1 / i for i in range(1, workers + 1))
        assert stragglers.exponential(workers, 2) == pytest.approx(2 * harmonic)


def test_a_pareto_tail_without_a_mean_has_no_mean_maximum():
    assert stragglers.pareto(1, 1, 1) == math.inf
    assert list(stragglers.pareto(2, 1, [0.5, 2])) == [math.inf, pytest.approx(8 / 3)]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5), st.integers(1, 5))
def test_resampling_averages_over_every_way_to_draw(values, workers):
    draws = [max(draw) for draw in itertools.product(values, repeat=workers)]
    assert stragglers.resampled(workers, values) == pytest.approx(np.mean(draws))


def test_resampling_tends_to_the_distribution_behind_the_sample():
    values = np.random.default_rng(6).exponential(1, 100_000)
    found = stragglers.resampled([1, 8, 64], values)
    assert found == pytest.approx(stragglers.exponential([1, 8, 64], 1), rel=0.02)
    assert stragglers.resampled(1e9, values) == pytest.approx(values.max())


def test_equal_workers_wait_for_nobody():
    assert stragglers.uniform(1000, 2, 2) == 2
    assert stragglers.normal(1000, 2, 0) == pytest.approx(2)
    assert stragglers.lognormal(1000, 2, 0) == pytest.approx(2)
    assert stragglers.resampled(1000, [2, 2]) == 2


def test_pareto_keeps_its_digits_among_very_many_workers():
    """Far out the mean of the slowest is the least times Gamma(1 - 1/a) K^(1/a)."""
    from math import gamma

    assert stragglers.pareto(1e12, 1.0, 2.0) == pytest.approx(gamma(0.5) * 1e6, rel=1e-9)
