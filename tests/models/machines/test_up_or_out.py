"""A better machine against more machines."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.machines import hardware, up_or_out
from scalelab.models.scaling import speedup
from scalelab.show.plots import hardware as figures

POSITIVE = st.floats(1e-3, 1e3)
EFFICIENCY = st.floats(0.01, 1)
WORKERS = st.integers(1, 10**4)


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=6))
def test_an_upgrade_gains_what_timing_the_parts_one_after_the_other_gains(parts):
    seconds, gains = (np.array(column) for column in zip(*parts, strict=True))
    before, after = sum(seconds), sum(t / g for t, g in parts)
    ours = up_or_out.upgraded_speedup(seconds / seconds.sum(), gains)
    assert ours == pytest.approx(before / after)
    assert gains.min() * (1 - 1e-9) <= ours <= gains.max() * (1 + 1e-9)


def test_from_h100_to_h200_decode_gains_and_large_products_do_not():
    """Only the memory changed, so only the share of the time that waits for memory gains."""
    h100, h200 = hardware.device("H100 SXM"), hardware.device("H200 SXM")
    gains = [h200.bandwidth / h100.bandwidth, 1.0]
    assert up_or_out.upgraded_speedup([1, 0], gains) == pytest.approx(4.8 / 3.35)
    assert up_or_out.upgraded_speedup([0, 1], gains) == 1
    assert 1 < up_or_out.upgraded_speedup([0.5, 0.5], gains) < 1.18


def test_amdahl_holds_inside_a_machine():
    """Cores are parts that gain alike, and the serial part gains nothing."""
    inside = up_or_out.upgraded_speedup([0.05, 0.95], [1, 16])
    assert inside == pytest.approx(1 / speedup.fixed_job_seconds(16, 0.05))


@given(st.floats(1, 50), st.floats(0, 0.999))
def test_the_workers_that_match_a_big_machine_have_its_speedup_and_one_fewer_has_not(gain, serial):
    workers = up_or_out.workers_to_match(gain, serial)
    if math.isinf(workers):
        assert gain >= speedup.ceiling(serial) * (1 - 1e-9)
    else:
        assert workers == int(workers)
        assert 1 / speedup.fixed_job_seconds(workers, serial) >= gain * (1 - 1e-9)
        if workers > 1:
            assert 1 / speedup.fixed_job_seconds(workers - 1, serial) < gain * (1 + 1e-9)


def test_matching_a_big_machine_at_the_edges():
    assert list(up_or_out.workers_to_match([1, 1, 7], [0, 1, 0])) == [1, 1, 7]
    assert up_or_out.workers_to_match(20, 0.05) == np.inf
    assert up_or_out.workers_to_match(2, 1) == np.inf


@given(POSITIVE, WORKERS, EFFICIENCY, POSITIVE, st.floats(0, 1e3))
def test_at_the_crossover_both_cost_the_same_and_beside_it_the_sides_are_clear(
    gain, workers, efficiency, price, extra
):
    out = up_or_out.price_per_throughput(workers * price + extra, workers * efficiency)
    crossing = up_or_out.crossover_price(gain, workers, efficiency, price, extra)
    assert up_or_out.price_per_throughput(crossing, gain) == pytest.approx(out)
    assert (
        up_or_out.price_per_throughput(crossing * 0.99, gain)
        < out
        < up_or_out.price_per_throughput(crossing * 1.01, gain)
    )


def test_the_crossover_is_where_bisection_finds_it():
    """Search for the price of the big machine without the formula."""
    gain, workers, efficiency, price, extra = 3.0, 8, 0.6, 2.5, 4.0
    low, high = 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        up_is_cheaper = middle / gain < (workers * price + extra) / (workers * efficiency)
        low, high = (middle, high) if up_is_cheaper else (low, middle)
    ours = up_or_out.crossover_price(gain, workers, efficiency, price, extra)
    assert ours == pytest.approx(low)


def test_a_fair_premium_is_the_gain_over_the_efficiency():
    """At E = 0.8 a machine twice as fast is worth 2.5 small ones; at E = 1 just two."""
    assert up_or_out.crossover_price(2, 8, 0.8, hourly=1) == 2.5
    assert up_or_out.crossover_price(2, 8, 1, hourly=1) == 2


def test_what_out_costs_beyond_its_machines_is_shared_by_them():
    few, many = up_or_out.crossover_price(2, [2, 200], 0.8, hourly=1, extra=10)
    assert few > many > up_or_out.crossover_price(2, 200, 0.8, hourly=1)


def test_scalars_answer_with_floats_and_arrays_broadcast():
    assert type(up_or_out.upgraded_speedup([1], [2])) is float
    assert type(up_or_out.workers_to_match(2, 0.1)) is float
    assert up_or_out.crossover_price(2, [[4], [8]], [0.5, 0.9], 1).shape == (2, 2)


def test_shares_that_leave_something_out_are_refused():
    with pytest.raises(ValueError, match=r"shares must add up to 1, got 0.9: list every part"):
        up_or_out.upgraded_speedup([0.5, 0.4], [1, 2])
    with pytest.raises(ValueError, match="shares and gains must be columns of one table"):
        up_or_out.upgraded_speedup([0.5, 0.5], [1, 2, 3])


def test_the_figure_counts_the_devices_for_exactly_70_billion_parameters():
    shown = figures.up_or_out_by_size(4, 0.01).readouts
    assert (shown["Devices for 70 billion, out"], shown["Devices for 70 billion, up"]) == (
        "27",
        "8",
    )


@pytest.mark.parametrize(
    ("price", "serial"), [(1.5, 0.1), (4, 0.0), (4, 0.01), (4, 0.1), (5, 0.1), (10, 0.01)]
)
def test_from_the_size_that_the_figure_names_on_up_always_wins(price, serial):
    chart = figures.up_or_out_by_size(price, serial)
    out, up = (np.asarray(one.y) for one in chart.series)
    since = {"the start": 0, "no size up to 1,000 billion": len(out)}.get(
        chart.readouts["Up wins for good from"]
    )
    if since is None:
        named = float(chart.readouts["Up wins for good from"].removesuffix(" billion parameters"))
        since = int(np.searchsorted(chart.series[0].x, named * (1 - 5e-3)))  # three digits
    assert all(up[since:] < out[since:])
    assert since == 0 or up[since - 1] >= out[since - 1]
