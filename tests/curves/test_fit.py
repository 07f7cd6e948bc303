"""Fits: against R's published coefficients, known parameters, and what a fit must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scalelab.curves.compare import compare
from scalelab.curves.families import BY_NAME, FAMILIES
from scalelab.curves.fit import Refused, fit
from scalelab.curves.intervals import parameters
from scalelab.curves.rows import Rows
from scalelab.data import datasets
from scalelab.models.scaling import laws

pytestmark = pytest.mark.turns(2)

K = np.array([1.0, 2, 4, 8, 16, 32, 64])
KNOWN = {
    "hard cap": (11.0,),
    "power": (0.83,),
    "amdahl": (0.07,),
    "amdahl + log": (0.02, 0.01),
    "amdahl + linear": (0.03, 0.002),
    "usl": (0.03, 5e-4),
    "gustafson": (0.4,),
    "empirical": (0.02, 0.3),
}


def bundled(name):
    series = datasets.load(name)
    if series.seconds:
        return Rows.of(series.workers, seconds=series.seconds)
    return Rows.of(series.workers, throughput=series.throughput)


def test_the_published_usl_fit_of_r_is_reproduced_to_five_digits():
    found = fit(bundled("usl_specsdm91"), "usl", space="linear")
    assert found.shape == pytest.approx((0.0277284, 1.04366e-4), rel=1e-5)
    assert found.scale == pytest.approx(89.995, rel=1e-5)
    assert found.residual == pytest.approx(82.85, rel=1e-4)
    assert found.dof == 4
    assert laws.usl_peak(*found.shape) == pytest.approx(96.52, rel=1e-4)


@pytest.mark.parametrize("base", [1, 8])
@pytest.mark.parametrize(("name", "shape"), KNOWN.items())
@pytest.mark.parametrize("space", ["log", "linear"])
def test_known_parameters_come_back(name, shape, base, space):
    shape = (shape[0] * base,) if name == "hard cap" else shape
    rate = 250 * BY_NAME[name].curve(base * K, base, *shape)
    found = fit(Rows.of(base * K, throughput=rate), name, space=space)
    assert found.shape == pytest.approx(shape, rel=1e-4)
    assert found.scale == pytest.approx(250, rel=1e-5)
    assert found.rate(base * 100) == pytest.approx(
        250 * BY_NAME[name].curve(base * 100, base, *shape), rel=1e-4
    )


@given(
    st.permutations(range(7)),
    st.floats(1e-9, 1e9),
    st.lists(st.floats(0.9, 1.1), min_size=7, max_size=7),
)
@settings(max_examples=20, derandomize=True)
def test_neither_the_order_of_rows_nor_their_unit_matters(order, unit, noise):
    rate = laws.usl(K, 0.03, 5e-4) * noise
    one = fit(Rows.of(K, throughput=rate), "amdahl")
    order = list(order)
    other = fit(Rows.of(K[order], throughput=unit * rate[order]), "amdahl")
    assert other.shape == pytest.approx(one.shape, rel=1e-5, abs=1e-7)
    assert other.scale == pytest.approx(one.scale * unit, rel=1e-5)
    assert other.aicc == pytest.approx(one.aicc, abs=1e-6)


def test_seconds_of_a_fixed_job_are_the_inverse_of_a_rate():
    seconds = 100 / laws.amdahl(K, 0.07)
    rows = Rows.of(K, seconds=seconds)
    assert fit(rows, "amdahl").shape == pytest.approx((0.07,), rel=1e-6)
    assert rows.value(K, rows.rate) == pytest.approx(seconds)


def test_work_that_grows_with_the_workers_turns_seconds_into_a_rising_rate():
    rows = Rows.of(K, seconds=np.full(7, 3.0), work=5 * K)
    assert rows.grows
    assert fit(rows, "linear").residual == pytest.approx(0, abs=1e-9)
    assert rows.value(128, fit(rows, "linear").rate(128)) == pytest.approx(3)


def test_work_without_a_rule_leaves_only_throughput():
    assert Rows.of([1, 2, 4], seconds=[1, 1, 1], work=[1, 5, 6]).unit == "throughput"


def test_of_several_runs_the_median_of_each_size_is_fitted():
    rate = laws.amdahl(K, 0.07)
    thrice = Rows.of([*K, *K, *K], throughput=np.concatenate([rate * 0.9, rate, rate * 40]))
    found = fit(thrice, "amdahl")
    assert found == fit(Rows.of(K, throughput=rate), "amdahl")
    assert found.dof == 5
    # In seconds too, and of an even number: the middle of the two that was read.
    assert Rows.of([1, 1], seconds=[1, 3]).rate.tolist() == [0.5]


def test_parameters_that_the_data_pushes_to_a_limit_say_so_and_get_no_interval():
    rows = Rows.of(K, throughput=laws.amdahl(K, 0.07) * [1, 1.01, 0.99, 1, 1.01, 0.99, 1.01])
    found = fit(rows, "usl")
    assert found.at_bound == (False, True)
    interval = parameters(rows, found)
    assert interval["coherency"].low is None
    assert interval["contention"].low < 0.07 < interval["contention"].high


def test_a_serial_share_of_a_job_that_speeds_up_more_than_linearly_lies_at_zero():
    found = fit(Rows.of([1, 2, 4, 8], throughput=[1, 2.1, 4.4, 9.2]), "amdahl")
    assert found.shape == (0,)
    assert found.at_bound == (True,)


def test_ninety_percent_intervals_hold_the_truth_nine_times_in_ten():
    rng = np.random.default_rng(7)
    truth = laws.amdahl(K, 0.07)
    held = 0
    for _ in range(60):
        rows = Rows.of(K, throughput=truth * np.exp(0.03 * rng.standard_normal(7)))
        found = parameters(rows, fit(rows, "amdahl"))
        held += found["serial"].low <= 0.07 <= found["serial"].high
    assert 48 <= held <= 59  # of 60, where 54 are expected: within about 2.6 standard errors


def test_the_interval_of_a_linear_scale_is_students():
    from scipy.stats import t

    noise = np.array([0.02, -0.01, 0.0, 0.03, -0.02, -0.03, 0.01])
    rows = Rows.of(K, throughput=K * np.exp(noise))
    found = parameters(rows, fit(rows, "linear"))["throughput"]
    half = t.ppf(0.95, 6) * noise.std(ddof=1) / np.sqrt(7)
    center = noise.mean()
    assert (np.log(found.low), np.log(found.high)) == pytest.approx(
        (center - half, center + half), rel=1e-4
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_without_degrees_of_freedom_a_family_is_refused_with_what_it_needs(family):
    count = 1 + len(family.parameters)
    rows = Rows.of(K[:count], throughput=laws.amdahl(K[:count], 0.1))
    with pytest.raises(Refused, match=f"at least {count + 1} different values"):
        fit(rows, family)


def test_two_sizes_are_refused_however_often_they_were_measured():
    found = compare(Rows.of([1, 1, 1, 2, 2, 2], seconds=[10, 11, 10, 6, 6, 5]))
    assert found.chosen is None
    assert "measure one more size" in found.refused


def test_the_family_behind_the_data_is_chosen():
    rng = np.random.default_rng(3)
    for name in ("linear", "hard cap", "power", "amdahl"):
        rate = BY_NAME[name].curve(K, 1, *KNOWN.get(name, ()))
        found = compare(Rows.of(K, throughput=rate * np.exp(0.002 * rng.standard_normal(7))))
        assert found.chosen.family.name == name


def test_a_hard_capped_series_is_recognized():
    found = compare(bundled("sysbench_cpu")).chosen
    assert found.family.name == "hard cap"
    assert 3 < found.shape[0] < 4


def test_the_empirical_curve_cannot_describe_strong_scaling():
    fits = {found.family.name: found for found in compare(bundled("usl_raytracer")).fits}
    assert fits["empirical"].loo > 5 * fits["amdahl"].loo


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"seconds": [1, 2], "throughput": [1, 2]},
        {"seconds": [1]},
        {"seconds": [1, 0]},
        {"seconds": [1, np.nan]},
        {"seconds": [1, 2], "work": [1, -1]},
    ],
)
def test_a_bad_column_is_refused_in_one_sentence(columns):
    with pytest.raises(ValueError, match=r".+ must .+, got .+: .+"):
        Rows.of([1, 2], **columns)
