"""Points above the roof: when the alarm rings, and what it says."""

import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import alarms, roofline
from scalelab.models.machines import hardware
from scalelab.refusal import Refusal

SPARSE, DENSE, TF32, FLOAT32, BANDWIDTH = 1979e12, 989e12, 494e12, 67e12, 3.35e12  # H100 SXM
SIZES = st.floats(1e-3, 1e15)


@given(SIZES, SIZES, SIZES, st.floats(0, 4), st.floats(0, 0.5))
def test_it_rings_exactly_above_the_roof(intensity, rate, bandwidth, part, tolerance):
    if abs(part - 1 - tolerance) < 1e-9:
        return
    achieved = part * roofline.attainable(intensity, rate, bandwidth)
    rings = alarms.over_the_roof(achieved, intensity, rate, bandwidth, tolerance) is not None
    assert rings == (part > 1 + tolerance)


def test_a_sparse_run_under_a_dense_peak_is_recognised():
    """80% of the sparse peak looks like 160% of the dense one."""
    assert "dense peak drawn for sparse work" in alarms.over_the_roof(
        0.8 * SPARSE, 5000, DENSE, BANDWIDTH
    )
    assert alarms.over_the_roof(0.8 * SPARSE, 5000, SPARSE, BANDWIDTH) is None


def test_a_float32_peak_over_a_tf32_run_is_recognised():
    """Seven times the peak is too much for sparsity, a mask or zeros to explain."""
    said = alarms.over_the_roof(0.7 * TF32, 5000, FLOAT32, BANDWIDTH)
    assert "another number format" in said
    assert "sparse" not in said
    assert "zeros" not in said


def test_zeros_explain_a_seventh_and_not_a_half():
    assert "zeros" in alarms.over_the_roof(1.15 * DENSE, 5000, DENSE, BANDWIDTH)
    assert "zeros" not in alarms.over_the_roof(1.5 * DENSE, 5000, DENSE, BANDWIDTH)


def test_cached_data_lift_a_point_over_the_slope_only():
    """An axpy whose vectors stay in a cache of 5.5 TB/s, drawn under the slope of the memory."""
    said = alarms.over_the_roof(5.5e12 / 6, 1 / 6, DENSE, BANDWIDTH)
    assert "cached data" in said
    assert "sparse" not in said
    assert "cached data" not in alarms.over_the_roof(1.5 * DENSE, 5000, DENSE, BANDWIDTH)


@given(st.floats(1.1, 1e6), SIZES)
def test_a_missing_synchronize_explains_any_height(factor, intensity):
    """The clock saw a launch; the rate it gives can be anything."""
    achieved = factor * roofline.attainable(intensity, DENSE, BANDWIDTH)
    assert "missing synchronize" in alarms.over_the_roof(achieved, intensity, DENSE, BANDWIDTH)


def test_the_sentence_has_the_rate_the_factor_and_the_roof():
    said = alarms.over_the_roof(1.5e15, 2000, DENSE, BANDWIDTH)
    assert said.startswith("1,500 TFLOP/s is 1.52 times its roof of 989 TFLOP/s")


def test_a_table_of_points_is_refused():
    with pytest.raises(ValueError, match="achieved must be"):
        alarms.over_the_roof([1e12, 2e12], 100, DENSE, BANDWIDTH)


def test_a_processor_may_run_above_its_base_clock_but_not_above_its_top_clock():
    epyc = hardware.device("EPYC 9654")
    peak, boost = hardware.peak(epyc, "fp64"), hardware.boost(epyc, "fp64")
    said = alarms.over_the_roof(1.4 * peak, 100, peak, epyc.bandwidth)
    assert "base clock" in said
    assert alarms.over_the_roof(1.4 * peak, 100, peak, epyc.bandwidth, boost=boost) is None
    said = alarms.over_the_roof(1.7 * peak, 100, peak, epyc.bandwidth, boost=boost)
    assert "its clock boosted 1.54" in said
    # Memory does not boost: under the slope nothing changes.
    slope = {"intensity": 1, "peak": peak, "bandwidth": epyc.bandwidth}
    assert alarms.over_the_roof(1.4 * epyc.bandwidth, **slope, boost=boost) is not None
    with pytest.raises(
        ValueError, match=r"boost must be in \[1, 10\], got 0.5: it is the top clock"
    ):
        alarms.over_the_roof(1e9, **slope, boost=0.5)


@pytest.mark.parametrize("achieved", [1e12, 1.5e15])
def test_a_device_that_is_none_is_refused_above_the_roof_and_under_it(achieved):
    with pytest.raises(Refusal, match=r"^device must be one of cpu, gpu, got 'tpu'"):
        alarms.over_the_roof(achieved, 2000, 989e12, 3.35e12, device="tpu")


def test_every_processor_at_its_top_clock_is_told_of_its_base_clock():
    """A Core i7 runs at 2.28 times its base clock, and two was the most that a clock was to explain."""
    boosted = [one for one in map(hardware.device, hardware.names()) if one.boost_peaks]
    assert len(boosted) > 1
    for one in boosted:
        peak = hardware.peak(one, "fp32")
        top = hardware.boost(one, "fp32") * peak
        assert "base clock" in alarms.over_the_roof(top, 1e4, peak, one.bandwidth, device="cpu")
