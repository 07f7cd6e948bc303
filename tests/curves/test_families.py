"""Curves of scaling, against the laws they come from."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.curves.families import BY_NAME, FAMILIES
from scalelab.models.scaling import laws

K = np.array([1.0, 2, 5, 16, 300])
SHARES = st.floats(0, 1)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@given(SHARES)
def test_amdahl_and_gustafson_are_the_laws_of_section_3_5(serial):
    assert BY_NAME["amdahl"].curve(K, 1, serial) == pytest.approx(laws.amdahl(K, serial))
    assert BY_NAME["gustafson"].curve(K, 1, serial) == pytest.approx(laws.gustafson(K, serial))


@given(SHARES, st.floats(0, 0.1))
def test_usl_is_the_law_of_section_3_5(contention, coherency):
    expected = laws.usl(K, contention, coherency)
    assert BY_NAME["usl"].curve(K, 1, contention, coherency) == pytest.approx(expected)


@given(SHARES, st.sampled_from([2, 8, 64]))
def test_a_serial_share_of_k0_workers_is_amdahls_law_rebased(serial, base):
    on_one = laws.rebase(serial, measured_on=base)
    expected = laws.amdahl(K[base <= K], on_one) / laws.amdahl(base, on_one)
    found = BY_NAME["amdahl"].curve(K[base <= K], base, serial)
    assert found == pytest.approx(expected)


@every_family
@pytest.mark.parametrize("base", [1.0, 8.0])
def test_every_curve_is_one_on_the_base(family, base):
    for shape in family.starts(base * K) if family.parameters else [()]:
        assert family.curve(base, base, *shape) == pytest.approx(1)


@pytest.mark.parametrize("name", ["amdahl", "amdahl + log", "amdahl + linear", "usl", "gustafson"])
def test_without_losses_every_mechanism_is_linear(name):
    nothing = [0.0] * len(BY_NAME[name].parameters)
    assert BY_NAME[name].curve(K, 1, *nothing) == pytest.approx(K)


def test_linear_communication_is_the_usl_told_in_seconds():
    serial, growth = 0.04, 0.003
    # (1 - σ)/k + σ + κ (k - 1), term by term against ((1 - s)/k + s + c k) / (1 + c)
    contention, coherency = (serial + growth) / (1 + growth), growth / (1 + growth)
    expected = BY_NAME["usl"].curve(K, 1, contention, coherency)
    assert BY_NAME["amdahl + linear"].curve(K, 1, serial, growth) == pytest.approx(expected)


def test_the_empirical_time_is_a_plus_b_n_plus_c_log_n():
    time = 3 + 0.5 * K + 2 * np.log(K)
    found = BY_NAME["empirical"].curve(K, 1, 0.5 / 3.5, 2 / 3.5)
    assert time[0] / time == pytest.approx(found)


def test_a_cap_stops_the_growth_and_nothing_else():
    assert BY_NAME["hard cap"].curve(K, 1, 4).tolist() == [1, 2, 4, 4, 4]


@every_family
def test_holding_a_parameter_leaves_the_same_curve(family):
    for index in range(len(family.parameters)):
        for shape in family.starts(K)[:5]:
            rest = np.delete(shape, index)
            held = family.fixing(index, shape[index])
            assert len(held.parameters) == len(family.parameters) - 1
            assert held.curve(K, 1, *rest) == pytest.approx(family.curve(K, 1, *shape))
