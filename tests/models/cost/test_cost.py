"""What a run costs: the published columns of section 41.6, and identities."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import cost
from scalelab.models.cost.cost import Price
from scalelab.models.scaling import speedup

# Section 41.6: workers, seconds, and the three columns as printed there.
RUBRIC = """
 1 3600  1.00 8.333e-07   1200000
 2 1880  1.04 8.704e-07   1148936
 4 1010  1.12 9.352e-07   1069307
 8  560  1.24 1.037e-06    964286
16  340  1.51 1.259e-06    794118
32  250  2.22 1.852e-06    540000
"""
POSITIVE = st.floats(1e-3, 1e6)


def test_the_cost_columns_of_section_41_6_digit_for_digit():
    """A dollar per worker and hour, 1.2 million items."""
    rows = []
    for line in RUBRIC.strip("\n").split("\n"):
        workers, seconds = (int(cell) for cell in line.split()[:2])
        bill = cost.dollars(seconds, hourly=workers)
        each, per_dollar = cost.per_work(bill, 1.2e6), cost.work_per_dollar(bill, 1.2e6)
        rows.append(f"{workers:2} {seconds:4} {bill:5.2f} {each:.3e} {per_dollar:9.0f}")
    assert rows == RUBRIC.strip("\n").split("\n")


@given(st.integers(1, 10**5), POSITIVE, POSITIVE)
def test_the_surcharge_is_what_the_bill_says(workers, baseline, seconds):
    """K workers at K times the price: the bill grows by 1/E."""
    share = speedup.efficiency(baseline, seconds, workers)
    grown = cost.dollars(seconds, hourly=3 * workers) / cost.dollars(baseline, hourly=3)
    assert cost.surcharge(share) == pytest.approx(grown - 1, rel=1e-9, abs=1e-9)


def test_superlinear_runs_are_cheaper():
    assert cost.surcharge([0.5, 1.0, 1.25]).tolist() == pytest.approx([1.0, 0.0, -0.2])


@given(POSITIVE, st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_configuration_pays_exactly_where_speedup_exceeds_its_price(hours, gain, price):
    base = cost.dollars(3600 * hours, hourly=2)
    other = cost.dollars(3600 * hours / gain, hourly=2 * price)
    assert cost.relative_bill(gain, price) == pytest.approx(other / base, rel=1e-9)
    assert (cost.relative_bill(gain, price) < 1) == (gain > price)


def test_twice_the_speed_at_twice_the_price_breaks_even_in_half_the_time():
    assert cost.relative_bill(speedup=2, relative_price=2) == 1
    assert cost.dollars(1800, 2) == cost.dollars(3600, 1)


def test_what_does_not_scale_tips_the_break_even():
    """A dollar of egress per run is the same for both; a dollar per hour would favour the faster."""
    assert cost.dollars(1800, 2, extra=1) == cost.dollars(3600, 1, extra=1)
    assert cost.dollars(1800, 2 + 1) < cost.dollars(3600, 1 + 1)


def test_an_hour_saved_costs_what_the_overview_says():
    """80 h on one 20-dollar node, 4 of them serial: 16 nodes instead of 1, 32 instead of 16."""
    nodes = np.array([1, 16, 32])
    seconds = speedup.fixed_job_seconds(nodes, 0.05, baseline=80 * 3600)
    bills = cost.dollars(seconds, hourly=20 * nodes)
    each = cost.hour_saved(seconds[:-1], bills[:-1], seconds[1:], bills[1:])
    hours = seconds / 3600
    assert each == pytest.approx(
        [(bills[i + 1] - bills[i]) / (hours[i] - hours[i + 1]) for i in (0, 1)]
    )
    assert cost.hour_saved(3600, 2, 1800, 1) < 0  # faster and cheaper


def test_what_saves_no_time_has_no_price_per_hour():
    with pytest.raises(
        ValueError, match="base_seconds must be more than seconds, got 400 s too few"
    ):
        cost.hour_saved(base_seconds=100, base_dollars=1, seconds=[100, 500], dollars=2)
    with pytest.raises(ValueError, match="more than seconds, got the same time twice: what saves"):
        cost.hour_saved(100, 1, 100, 2)


def test_a_price_keeps_its_date_and_counts_what_is_bought():
    """An invented offer; twice the nodes cost twice as much and the rest stays."""
    one = Price(20, "node of 8 GPUs, on demand", "2025-06", "invented")
    two = 2 * one
    assert (two.hourly, two.date, two.source) == (40.0, "2025-06", "invented")
    assert two.what == "2 x node of 8 GPUs, on demand"
    assert str(one) == "$20.00 per hour: node of 8 GPUs, on demand, 2025-06, invented"
    assert cost.dollars(1800, two.hourly) == 2 * cost.dollars(1800, one.hourly) == 20


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hourly": -1}, "hourly must be a finite number from 0 on, got -1: "),
        ({"what": ""}, "what must be text, got '': say one of what"),
        ({"date": "June"}, "date must be a year, .* got 'June': say when the price held"),
        ({"source": None}, "source must be text, got None: say where"),
    ],
)
def test_a_price_without_its_origin_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        dataclasses.replace(Price(20, "a node", "2025", "invented"), **changes)
    with pytest.raises(ValueError, match="count must be"):
        Price(20, "a node", "2025", "invented") * "two"


@given(st.floats(0, 1), st.floats(0.05, 1.5))
def test_a_reservation_pays_from_its_share_of_hours_on(used, discounted):
    """Count a month hour by hour: on demand only the used ones, reserved all of them."""
    hours = 720
    busy = round(used * hours)
    on_demand = sum(4.0 for hour in range(hours) if hour < busy)
    reserved = hours * 4.0 * discounted
    threshold = cost.share_to_reserve(4.0 * discounted, 4.0)
    if abs(busy / hours - threshold) > 1e-9:
        assert (reserved < on_demand) == (busy / hours > threshold)


@given(POSITIVE, POSITIVE, st.floats(0.01, 100))
def test_costs_scale_with_time_price_and_work(seconds, hourly, factor):
    bill = cost.dollars(seconds, hourly)
    assert cost.dollars(factor * seconds, hourly) == pytest.approx(factor * bill)
    assert cost.dollars(seconds, factor * hourly) == pytest.approx(factor * bill)
    assert cost.per_work(bill, 50) * cost.work_per_dollar(bill, 50) == pytest.approx(1)
    assert cost.dollars(seconds, hourly, extra=7) == pytest.approx(bill + 7)
