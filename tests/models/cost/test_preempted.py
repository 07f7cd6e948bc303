"""Runs that are followed attempt by attempt, against the closed form and against runs without surprises."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import preempted, spot
from scalelab.models.cost.spot import Spot
from scalelab.refusal import Refusal

HOUR = 3600.0
OFFER = Spot(hourly=1.2, between=2 * HOUR, write=60, restart=300, wait=900)


@pytest.mark.parametrize("between", [0.5 * HOUR, 2 * HOUR, 20 * HOUR])
@pytest.mark.parametrize("interval", [600, 1800])
def test_the_mean_of_many_runs_is_the_closed_form(between, interval):
    offer = replace(OFFER, between=between)
    found = preempted.runs(4 * HOUR, interval, offer, jobs=4000, seed=9)
    billed = spot.billed_seconds(4 * HOUR, interval, offer)
    for name, expected in (
        ("billed", billed),
        ("elapsed", billed * (1 + offer.wait / between)),  # one wait for each preemption
        ("dollars", spot.dollars(4 * HOUR, interval, offer)),
    ):
        values = getattr(found, name)
        assert values.mean() == pytest.approx(expected, abs=4 * values.std() / np.sqrt(4000))


def test_without_preemptions_every_run_is_work_and_checkpoints():
    found = preempted.runs(6000, 600, replace(OFFER, between=1e15), jobs=5)
    assert found.billed.tolist() == pytest.approx([6600] * 5)
    assert found.elapsed.tolist() == found.billed.tolist()
    assert found.preemptions.tolist() == [0] * 5


def test_a_last_interval_may_be_short():
    found = preempted.runs(1500, 600, replace(OFFER, between=1e15), jobs=1)
    assert found.billed.tolist() == pytest.approx([1500 + 3 * 60])


def test_what_is_waited_is_not_billed():
    found = preempted.runs(4 * HOUR, 600, OFFER, jobs=300, seed=2)
    waited = found.elapsed - found.billed
    assert (waited[found.preemptions == 0] == 0).all()
    assert waited.sum() / found.preemptions.sum() == pytest.approx(OFFER.wait, rel=0.2)


def test_no_run_beats_the_work_and_its_checkpoints():
    found = preempted.runs(4 * HOUR, 600, OFFER, jobs=500, seed=3)
    assert (found.billed >= 4 * HOUR + 24 * 60 - 1e-6).all()


def test_a_deadline_that_the_mean_keeps_is_missed_by_many_runs():
    found = preempted.runs(10 * HOUR, 1200, OFFER, jobs=2000, seed=4)
    billed = spot.billed_seconds(10 * HOUR, 1200, OFFER)
    share = found.within(billed * (1 + OFFER.wait / OFFER.between))
    assert 0.4 < share < 0.65
    assert found.within(1e9) == 1.0


@given(st.integers(0, 2**32))
def test_a_seed_is_a_day_that_can_be_lived_again(seed):
    first, again = (preempted.runs(HOUR, 600, OFFER, jobs=3, seed=seed) for _ in range(2))
    assert first.billed.tolist() == again.billed.tolist()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"useful": 0}, "useful must be a finite number above 0, got 0: "),
        ({"interval": float("nan")}, "interval must be a finite number above 0, got nan: "),
        ({"spot": 1.2}, "spot must be a Spot, got 1.2: write Spot"),
        ({"jobs": 0}, "jobs must be a whole number from 1 to 1000000, got 0: "),
        ({"seed": -1}, "seed must be a whole number from 0 to "),
        (
            {"interval": 100 * HOUR, "useful": 400 * HOUR},
            "interval must leave a run that ends, got ",
        ),
        ({"interval": 1e-3}, "interval must leave a run that ends, got "),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(changes, sentence):
    given = {"useful": 4 * HOUR, "interval": 600, "spot": OFFER} | changes
    with pytest.raises(Refusal, match=sentence):
        preempted.runs(**given)


def warned_by_hand(work, interval, offer, rng):
    """Seconds paid for one job whose machines are announced to end: second by second where work is lost."""
    saved = since = paid = 0.0
    while True:
        ends, clock = rng.exponential(offer.between), offer.restart if paid else 0.0
        while True:  # until the last moment at which a save still fits
            step = min(interval - since, work - saved - since)
            if clock + step + offer.write > ends:
                since = min(since + max(0.0, ends - offer.write - clock), interval)
                saved, since = saved + since, 0.0
                paid += ends + offer.kept * offer.wait
                break
            clock += step + offer.write
            saved, since = saved + since + step, 0.0
            if saved >= work - 1e-9:
                return paid + clock


@pytest.mark.parametrize("between", [0.5 * HOUR, 2 * HOUR])
def test_a_notice_saves_the_work_since_the_last_checkpoint(between):
    offer = replace(OFFER, between=between, notice=120, kept=0.9)
    rng = np.random.default_rng(5)
    by_hand = np.mean([warned_by_hand(4 * HOUR, 1200, offer, rng) for _ in range(3000)])
    found = preempted.runs(4 * HOUR, 1200, offer, jobs=4000, seed=9).billed
    assert found.mean() == pytest.approx(by_hand, rel=0.03)
    assert spot.billed_seconds(4 * HOUR, 1200, offer) == pytest.approx(by_hand, rel=0.03)
    unwarned = replace(offer, notice=30)  # too short to write a checkpoint
    assert spot.lasting_share(1200, unwarned) < spot.lasting_share(1200, offer)


def test_machines_that_are_kept_while_one_is_missing_are_paid():
    kept = preempted.runs(4 * HOUR, 600, replace(OFFER, kept=0.75), jobs=300, seed=2)
    given_back = preempted.runs(4 * HOUR, 600, OFFER, jobs=300, seed=2)
    waited = given_back.elapsed - given_back.billed
    assert kept.elapsed == pytest.approx(given_back.elapsed)
    assert kept.billed == pytest.approx(given_back.billed + 0.75 * waited)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("notice", [0, 120])
def test_the_history_of_a_run_adds_up_to_what_is_counted_of_it(seed, notice):
    offer = replace(OFFER, notice=notice, kept=0.75)
    told = preempted.history(8 * HOUR, 1300, offer, seed)
    assert told[0].begin == 0
    for one, two in pairwise(told):
        assert one.end == two.begin
        # After a wait it comes back, and only work or what is lost comes before the machines are gone.
        assert (one.what == "wait") <= (two.what == "restart")
        assert (two.what == "wait") <= (one.what in ("lost", "checkpoint", "restart"))
        assert (one.what == "work") == (two.what == "checkpoint")
    spent = dict.fromkeys(("work", "checkpoint", "lost", "wait", "restart"), 0.0)
    for one in told:
        assert one.end >= one.begin
        spent[one.what] += one.end - one.begin
        limit = {"work": 1300, "checkpoint": 60, "lost": 1360, "restart": 300}.get(
            one.what, math.inf
        )
        assert one.end - one.begin <= limit + 1e-6
    assert spent["work"] == pytest.approx(8 * HOUR)
    counted = preempted.runs(8 * HOUR, 1300, offer, jobs=1, seed=seed)
    assert told[-1].end == pytest.approx(counted.elapsed[0])
    assert told[-1].end - 0.25 * spent["wait"] == pytest.approx(counted.billed[0])
    assert sum(one.what == "wait" for one in told) == counted.preemptions[0]
    if notice:
        assert spent["lost"] <= 60 * counted.preemptions[0]  # too short to save anything


def test_a_history_of_more_than_one_can_follow_is_refused():
    with pytest.raises(Refusal, match="interval must leave a run that ends"):
        preempted.history(1e6 * HOUR, 60, OFFER)
