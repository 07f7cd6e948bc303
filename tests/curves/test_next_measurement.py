"""What to measure next: what is promised, against what measurements then do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scalelab.curves.next_measurement import NARROW, WORTH, advise, candidates
from scalelab.curves.predict import predict
from scalelab.curves.rows import Rows
from scalelab.models.scaling import laws
from tests.learning import calibrate

K = np.array([1.0, 2, 4, 8, 16])
BENT = [100, 189, 352, 600, 930]


def ratio(rows, workers):
    found = predict(rows, workers)
    return found.high / found.low


def extended(rows, workers, rate):
    return Rows.of([*rows.workers, workers], throughput=[*rows.rate, rate])


def test_the_nearer_to_the_target_the_more_it_narrows():
    found = advise(Rows.of(K, throughput=BENT), 256)
    beyond = [one.narrower for one in found.options if one.workers > 16]
    assert beyond == sorted(beyond)
    assert found.best.workers == 128
    assert found.best.before == pytest.approx(ratio(Rows.of(K, throughput=BENT), 256))


def test_the_promise_is_the_average_over_what_may_come_out():
    """Against a thousand outcomes, as likely as an interval and its middle make them."""
    luck = np.random.default_rng(4)
    for rates in (BENT, [100, 197, 383, 725, 1310], [100, 150, 170, 160, 140]):
        rows = Rows.of(K, throughput=rates)
        (option,) = advise(rows, 128, sizes=[32]).options
        told = predict(rows, 32)
        down, up = (abs(math.log(end / told.value)) / 1.645 for end in (told.low, told.high))
        normal = luck.standard_normal(1000)
        outcomes = told.value * np.exp(np.where(normal < 0, down, up) * normal)
        every = [math.log(ratio(extended(rows, 32, one), 128)) for one in outcomes]
        assert math.log(option.after) == pytest.approx(np.mean(every), rel=0.03)


def test_the_promise_is_kept_on_average_in_public_results():
    """Shown the first sizes of a series, promised what the next would bring, and then given it."""
    promised, found = [], []
    splits = calibrate.hold_outs(judging=True)
    last = {one.name: one.workers for one in splits}  # they stand in order
    following = {(one.name, len(one.shown.workers)): one for one in reversed(splits)}
    for one in splits:
        after = following.get((one.name, len(one.shown.workers)))
        if one.workers != last[one.name] or after is one:
            continue
        size = int(after.workers)
        (option,) = advise(one.shown, int(one.workers), sizes=[size]).options
        longer = following[one.name, len(one.shown.workers) + 1].shown
        left = ratio(longer, one.workers)
        promised.append(option.narrower)
        found.append(1 - math.log(left) / math.log(option.before))
    assert len(found) > 15
    assert np.median(promised) == pytest.approx(np.median(found), abs=0.05)
    assert 0.1 < np.median(promised) < 0.6


def test_the_promise_is_kept_on_average_in_simulation():
    rng = np.random.default_rng(5)
    promised, found = {32: [], 64: []}, {32: [], 64: []}
    for law in range(12):
        serial, coherency = rng.uniform(0, 0.1), rng.uniform(0, 1e-4) * (law % 2)
        sizes = [*K, 32, 64]
        noise = np.exp(0.003 * rng.standard_normal(7))
        seen = dict(zip(sizes, laws.usl(sizes, serial, coherency) * noise, strict=True))
        rows = Rows.of(K, throughput=[seen[k] for k in K])
        for one in advise(rows, 128, sizes=[32, 64]).options:
            after = ratio(extended(rows, one.workers, seen[one.workers]), 128)
            promised[one.workers].append(math.log(one.after) / math.log(one.before))
            found[one.workers].append(math.log(after) / math.log(one.before))
    for size in (32, 64):
        mean = [np.exp(np.mean(np.log(x[size]))) for x in (promised, found)]
        assert mean[0] == pytest.approx(mean[1], rel=0.4)
    assert np.mean(found[64]) < np.mean(found[32]) < 0.9


def test_a_run_costs_its_workers_its_time_and_its_rate():
    found = advise(Rows.of([1, 2, 4, 8], seconds=[7200, 3700, 1950, 1075]), 64, rate=2.0)
    for one in found.options:
        expected = predict(Rows.of([1, 2, 4, 8], seconds=[7200, 3700, 1950, 1075]), one.workers)
        assert one.seconds == expected.value
        assert one.price == pytest.approx(one.workers * one.seconds / 3600 * 2.0)
    hourly = advise(Rows.of(K, throughput=BENT), 64, rate=2.0).options
    assert [(one.seconds, one.price) for one in hourly] == [(None, 2 * k.workers) for k in hourly]
    assert advise(Rows.of(K, throughput=BENT), 64).options[0].price is None


def test_nobody_is_sent_to_more_workers_than_there_are():
    found = advise(Rows.of(K, throughput=BENT), 256, most=32)
    assert max(one.workers for one in found.options) == 32
    assert found.best.workers == 32


def test_sizes_are_those_of_the_table_and_doublings_and_the_target_inside_it():
    rows = Rows.of([1, 2, 6], throughput=[1, 2, 5])
    assert candidates(rows, 20, 20) == [1, 2, 4, 6, 8, 16]
    assert candidates(rows, 3, 3) == [1, 2, 3]
    assert candidates(Rows.of([1, 2, 8], throughput=[1, 2, 5]), 16, 16) == [1, 2, 4, 8, 11]
    assert candidates(Rows.of([8, 16], throughput=[1, 2]), 24, 24) == [8, 16]
    assert len(candidates(rows, 10**9, 10**9)) == 8
    # As many as there are, and what those leave, however far the target.
    assert candidates(rows, 20, 12) == [1, 2, 4, 6, 8, 12]
    assert candidates(rows, 10**9, 12) == [1, 2, 4, 6, 8, 12]


def test_what_is_known_to_a_percent_is_not_measured_again():
    rows = Rows.of([1, 2, 4, 8, 16, 32], throughput=[1, 2, 4, 8, 8, 8])
    found = advise(rows, 32)
    assert found.options[0].before < NARROW
    assert found.best is None
    assert advise(rows, 64).best is None or advise(rows, 64).best.workers > 32


@given(
    st.lists(st.tuples(st.integers(1, 4096), st.floats(1e-6, 1e6)), min_size=3, max_size=6),
    st.integers(1, 10**6),
)
@settings(max_examples=4, derandomize=True)
def test_any_table_gets_finite_options(table, target):
    rows = Rows.of([k for k, _ in table], throughput=[x for _, x in table])
    if len(rows.workers) < 3 or target < rows.base:
        with pytest.raises(ValueError, match=r"workers must .+, got .+: .+"):
            advise(rows, target)
        return
    found = advise(rows, target, rate=1.0)
    assert all(1 < one.after < math.inf and one.before > 1 for one in found.options)
    assert all(one.narrower >= WORTH for one in (found.best, found.affordable) if one)


@pytest.mark.parametrize(
    "wrong", [{"target": 0}, {"target": 64, "most": 0}, {"target": 64, "rate": -1}]
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r".+ must .+, got .+: .+"):
        advise(Rows.of(K, throughput=BENT), **wrong)
