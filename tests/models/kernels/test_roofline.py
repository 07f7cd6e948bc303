"""Intensity, roofs, bounds on time, and the class of a kernel."""

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import roofline

SIZES = st.floats(1e-3, 1e18)
H100 = (989e12, 3.35e12)  # dense bf16 FLOP/s, bytes/s
OPTERON = (17.6e9, 15e9)  # Opteron X2, Williams et al. 2009, page 69


def run(flops, bytes, peak, bandwidth, chunks, buffers):
    """Seconds of a kernel cut in chunks: each is loaded, then computed, with so many buffers."""
    loaded = computed = 0.0
    free = [0.0] * buffers  # when each buffer may be filled again
    for _ in range(chunks):
        loaded = max(loaded, min(free)) + bytes / chunks / bandwidth
        computed = max(computed, loaded) + flops / chunks / peak
        free[free.index(min(free))] = computed
    return computed


@given(SIZES, SIZES, SIZES, SIZES, st.integers(1, 40), st.integers(1, 3))
def test_no_simulated_run_leaves_the_bounds(flops, bytes, peak, bandwidth, chunks, buffers):
    low, high, most = roofline.bounds(flops, bytes, peak, bandwidth)
    seconds = run(flops, bytes, peak, bandwidth, chunks, buffers)
    assert low * (1 - 1e-9) <= seconds <= high * (1 + 1e-9) <= most * (1 + 2e-9)


@pytest.mark.parametrize("flops", [1e9, 3e10, 1e12])
def test_overlap_reaches_the_lower_bound_and_its_absence_the_upper(flops):
    low, high, _ = roofline.bounds(flops, 1e8, *H100)
    assert run(flops, 1e8, *H100, chunks=1, buffers=1) == pytest.approx(high)
    assert run(flops, 1e8, *H100, chunks=50, buffers=1) == pytest.approx(high)
    assert run(flops, 1e8, *H100, chunks=10_000, buffers=2) == pytest.approx(low, rel=1e-3)


@given(SIZES, SIZES, SIZES, SIZES)
def test_the_attainable_rate_is_the_rate_of_the_lower_bound(flops, bytes, peak, bandwidth):
    roof = roofline.attainable(roofline.intensity(flops, bytes), peak, bandwidth)
    assert roof == pytest.approx(flops / roofline.bounds(flops, bytes, peak, bandwidth)[0])


@given(SIZES, SIZES)
def test_the_two_roofs_meet_at_the_ridge(peak, bandwidth):
    ridge = roofline.ridge(peak, bandwidth)
    assert roofline.attainable(ridge, peak, bandwidth) == pytest.approx(peak)
    assert roofline.attainable(ridge / 2, peak, bandwidth) == pytest.approx(peak / 2)
    assert roofline.attainable(ridge * 2, peak, bandwidth) == peak


@given(SIZES, SIZES, SIZES, st.floats(1, 1e3))
def test_nothing_that_improves_lowers_the_roof(intensity, peak, bandwidth, better):
    roof = roofline.attainable(intensity, peak, bandwidth)
    assert roofline.attainable(intensity * better, peak, bandwidth) >= roof
    assert roofline.attainable(intensity, peak * better, bandwidth) >= roof
    assert roofline.attainable(intensity, peak, bandwidth * better) >= roof


@given(SIZES, SIZES, SIZES, SIZES, st.floats(1e-3, 1e3))
def test_a_change_of_units_changes_no_class(flops, bytes, peak, bandwidth, factor):
    """Seconds in other units scale peak and bandwidth alike; a larger job scales both counts."""
    ratio = flops / peak / (bytes / bandwidth)
    if abs(ratio - 1) < 1e-9:
        return
    kind = roofline.classify(flops, bytes, peak, bandwidth)
    assert roofline.classify(flops, bytes, peak * factor, bandwidth * factor) == kind
    assert roofline.classify(flops * factor, bytes * factor, peak, bandwidth) == kind
    assert kind == ("compute" if ratio > 1 else "memory")


@given(SIZES, SIZES, SIZES, SIZES, st.floats(0, 1e6))
def test_only_help_for_its_class_shortens_a_kernel(flops, bytes, peak, bandwidth, launch):
    """Halving what the class names lowers the bound; halving the other two changes nothing."""
    given = {"flops": flops, "bytes": bytes, "launch": launch}
    before = roofline.bounds(peak=peak, bandwidth=bandwidth, **given)[0]
    times = sorted((flops / peak, bytes / bandwidth, launch))
    if times[2] < times[1] * 1.001:
        return  # two walls at once: no single remedy
    cause = {"compute": "flops", "memory": "bytes", "launch": "launch"}
    kind = roofline.classify(peak=peak, bandwidth=bandwidth, **given)
    for name in given:
        helped = given | {name: given[name] / 2}
        after = roofline.bounds(peak=peak, bandwidth=bandwidth, **helped)[0]
        assert (after < before) == (name == cause[kind])


def test_exactly_on_the_ridge_a_kernel_is_compute_bound():
    assert roofline.classify(4, 2, 2.0, 1.0) == "compute"


def test_a_sweep_is_classified_in_one_call():
    """Square matrix products in bf16 on an H100 that needs 5 microseconds for a launch."""
    n = np.array([128, 512, 2048, 8192])
    kinds = roofline.classify(2.0 * n**3, 6.0 * n**2, *H100, launch=5e-6)
    assert list(kinds) == ["launch", "launch", "compute", "compute"]
    grid = roofline.classify(np.ones((3, 1)), np.ones(2), *H100)
    assert grid.shape == (3, 2)
    assert set(grid.flat) == {"memory"}


def test_a_launch_is_a_third_term():
    assert roofline.bounds(6, 2, 1, 1, launch=1) == (6, 9, 18)
    assert roofline.bounds(6, 2, 1, 1) == (6, 8, 12)
    assert roofline.bounds(1, 1, 1, 1, launch=1) == (1, 3, 3)


def test_the_intensities_of_williams_and_colleagues():
    """CACM 52(4), page 74: a sparse matrix without and with register blocks."""
    value, index, multiply_add = 8, 4, 2
    assert round(roofline.intensity(multiply_add, value + index), 2) == 0.17
    assert round(roofline.intensity(multiply_add, value), 2) == 0.25
    # A cache that reads a line before it writes it moves 3 where 2 would do: 0.70 against 1.07.
    gain = roofline.intensity(1, 2) / roofline.intensity(1, 3)
    assert gain == pytest.approx(1.07 / 0.70, rel=0.02)


def test_the_roof_of_the_opteron():
    """Page 69: 17.6 GFLOP/s and 15 GB/s; the plot starts at 0.25 FLOP per byte."""
    assert roofline.attainable(0.25, *OPTERON) == 3.75e9
    assert roofline.attainable(16, *OPTERON) == 17.6e9
    assert roofline.ridge(*OPTERON) == pytest.approx(1.17, abs=0.005)


def test_published_ridges():
    """TPU v5e 240: Austin et al. 2025, chapter 1; H100 295: 989 TFLOP/s dense over 3.35 TB/s."""
    assert round(roofline.ridge(1.97e14, 8.2e11)) == 240
    assert round(roofline.ridge(*H100)) == 295


def test_every_class_has_advice_that_names_what_will_not_help():
    kinds = {
        roofline.classify(1, 1e-9, 1, 1),
        roofline.classify(1e-9, 1, 1, 1),
        roofline.classify(1, 1, 1, 1, launch=2),
    }
    assert kinds == set(roofline.ADVICE) == {"compute", "memory", "launch"}
    assert re.search("bandwidth changes nothing", roofline.advice("compute"))
    assert re.search("FLOP/s change nothing", roofline.advice("memory"))
    assert re.search("roofs change nothing", roofline.advice("launch"))


def test_a_kernel_without_arithmetic_has_no_rate_but_a_time():
    assert roofline.attainable(0, *H100) == 0
    assert roofline.bounds(0, 3.35e12, *H100)[0] == 1
    assert roofline.classify(0, 1, *H100) == "memory"
