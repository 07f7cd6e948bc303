"""Spot capacity against a simulation, event by event, of what is preempted and what is billed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import cost, spot
from scalelab.models.cost.spot import Spot
from scalelab.models.machines.failures import daly_interval, mean_time_to_failure
from scalelab.refusal import Refusal

HOUR = 3600.0
OFFER = Spot(hourly=1.2, between=2 * HOUR, write=60, restart=300, wait=900)


def simulate(work, interval, offer, rng):
    """One job: seconds billed, seconds waited, preemptions."""
    saved = billed = waited = 0.0
    preemptions = 0
    preempted_in = rng.exponential(offer.between)
    restarting = 0.0  # the first start is part of the work's own time
    while saved < work:
        needed = restarting + interval + offer.write
        if preempted_in < needed:
            billed += preempted_in
            waited += rng.exponential(offer.wait)
            preemptions += 1
            restarting = offer.restart
            preempted_in = rng.exponential(offer.between)
        else:
            billed += needed
            preempted_in -= needed
            restarting = 0.0
            saved += interval
    return billed, waited, preemptions


@pytest.mark.parametrize("between", [0.5 * HOUR, 2 * HOUR, 20 * HOUR])
@pytest.mark.parametrize("interval", [600, 1800])
def test_bills_are_those_of_a_simulated_job(between, interval):
    offer, work = replace(OFFER, between=between), 4 * HOUR
    rng = np.random.default_rng(11)
    runs = np.array([simulate(work, interval, offer, rng) for _ in range(3000)])
    billed, _, preemptions = runs.T
    error = 4 / np.sqrt(len(runs))
    expected = spot.billed_seconds(work, interval, offer)
    assert expected == pytest.approx(billed.mean(), abs=error * billed.std())
    assert expected / between == pytest.approx(preemptions.mean(), abs=error * preemptions.std())
    assert spot.dollars(work, interval, offer) == pytest.approx(expected / HOUR * 1.2, rel=1e-12)


def test_without_preemptions_only_the_checkpoints_are_extra():
    calm = replace(OFFER, between=1e12)
    assert spot.billed_seconds(6000, 600, calm) == pytest.approx(6000 * 660 / 600, rel=1e-6)


def test_with_checkpoints_so_rare_that_nothing_lasts_the_bill_is_endless_and_of_no_work_nothing():
    offer = spot.Spot(hourly=1.2, between=7200, write=60, restart=300)
    assert spot.dollars(1, 2**63, offer) == spot.billed_seconds(1, 2**63, offer) == float("inf")
    assert spot.dollars([0, 1], 2**63, offer).tolist() == [0, float("inf")]


def test_at_the_break_even_price_both_bills_are_equal():
    price = spot.break_even_price(4.0, 1200, OFFER)
    there = replace(OFFER, hourly=price)
    assert spot.dollars(10 * HOUR, 1200, there) == pytest.approx(cost.dollars(10 * HOUR, 4.0))
    assert price < 4.0


def test_a_discount_of_70_percent_is_gone_when_preemptions_are_frequent_enough():
    """The same discount, with ever more machines of which each is preempted once a day."""
    bills = []
    for machines in (1, 8, 64, 256):
        between = mean_time_to_failure(24 * HOUR, machines)
        offer = Spot(0.3, between, write=60, restart=300)
        interval = daly_interval(offer.write, between)
        bills.append(spot.dollars(10 * HOUR, interval, offer) / cost.dollars(10 * HOUR, 1.0))
    assert bills == sorted(bills)
    assert bills[0] < 0.35
    assert bills[-1] > 1


@pytest.mark.parametrize("between", [HOUR, 10 * HOUR, 100 * HOUR])
def test_dalys_interval_is_within_a_percent_of_the_cheapest(between):
    offer = replace(OFFER, between=between)
    intervals = np.geomspace(60, 50 * HOUR, 4000)
    least = spot.dollars(10 * HOUR, intervals, offer).min()
    assert spot.dollars(10 * HOUR, daly_interval(60, between), offer) <= 1.01 * least


@given(
    st.floats(1e3, 1e6),
    st.floats(60, 1e4),
    st.floats(1e3, 1e6),
    st.floats(0, 600),
    st.floats(0, 600),
)
def test_longer_calm_and_shorter_pauses_never_cost_more(work, interval, between, write, restart):
    offer = Spot(1.0, between, write, restart, wait=100)
    bill = spot.dollars(work, interval, offer)
    assert bill >= cost.dollars(work, 1.0) * (1 - 1e-12)
    for better in (
        replace(offer, between=2 * between),
        replace(offer, write=write / 2),
        replace(offer, restart=restart / 2),
        replace(offer, hourly=0.9),
    ):
        assert spot.dollars(work, interval, better) <= bill * (1 + 1e-12)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hourly": -1}, "hourly must be a finite number from 0 on, got -1: "),
        ({"between": 0}, "between must be a finite number above 0, got 0: "),
        ({"write": float("nan")}, "write must be a finite number from 0 on, got nan: "),
        ({"restart": "5 min"}, "restart must be a finite number from 0 on, got '5 min': "),
        ({"wait": None}, "wait must be a finite number from 0 on, got None: "),
    ],
)
def test_an_offer_that_makes_no_sense_is_refused_in_one_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(OFFER, **changes)


def test_an_offer_holds_plain_floats_whatever_it_was_given():
    offer = Spot(Fraction(6, 5), np.float32(7200), 60, np.int64(300), Fraction(900))
    assert offer == OFFER
    assert {type(value) for value in vars(offer).values()} == {float}
    assert spot.billed_seconds([1e4, 1e4], 600, offer).dtype == float


def test_a_price_is_no_offer():
    for function in (spot.billed_seconds, spot.dollars):
        with pytest.raises(Refusal, match=r"spot must be a Spot, got 1.2: write Spot"):
            function(3600, 600, 1.2)
