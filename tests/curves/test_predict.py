"""Predictions: their coverage on public and on synthetic data, and what they must not depend on."""

import ast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scalelab.curves.families import EXTRAPOLATING, FAMILIES
from scalelab.curves.fit import Refused, log_rates
from scalelab.curves.predict import CALIBRATED, LATER, LEARNED_FROM, NEXT, predict
from scalelab.curves.rows import Rows
from scalelab.models.scaling import laws
from tests.bench.holdout import stretched
from tests.learning import calibrate, learned

K = np.array([1.0, 2, 4, 8, 16])
BENT = [100, 189, 352, 600, 930]


@pytest.fixture(scope="module", params=["all", pytest.param("others", marks=pytest.mark.thorough)])
def judged(request):
    """Each hold-out under the settings that all systems taught, or the other systems only."""
    if request.param == "others":
        return calibrate.judged()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibrate, "settings", lambda without: CALIBRATED)
        return calibrate.judged.__wrapped__()


def test_the_settings_and_the_coverage_that_are_printed_were_learned_from_what_is_here():
    assert learned.digest() == LEARNED_FROM, "learn anew: python -m tests.learning.learned"


def test_the_digest_sees_a_changed_step_and_no_changed_word():
    texts = {
        "was": 'def double(x):\n    """Twice."""\n    return 2 * x',
        "words": 'def double(x):\n    "Two of it."\n    import math  # unused\n    return (2 * x)',
        "step": "def double(x):\n    return 3 * x",
    }
    said = {
        name: learned.meaning(learned.Bare().visit(ast.parse(text))) for name, text in texts.items()
    }
    assert said["words"] == said["was"] != said["step"]
    reached = "\n".join(map(ast.unparse, learned.statements(learned.LEARN, learned.READ)))
    for name in ("_amdahl", "usl", "_column", "toms748", "NOISES"):
        assert name in reached


@pytest.mark.thorough
def test_the_settings_and_the_coverage_that_are_printed_are_those_that_are_measured():
    assert learned.learned() == {"CALIBRATED": CALIBRATED, "NEXT": NEXT, "LATER": LATER}


def test_the_largest_sizes_are_predicted_better_than_by_the_slope_where_it_matters(judged):
    pairs = zip(calibrate.hold_outs(), judged, strict=True)
    errors = np.abs(np.expm1([outcome.median for one, outcome in pairs if one.largest]))
    assert len(errors) == 27
    assert np.median(errors) <= 0.022
    assert np.percentile(errors, 90) < 0.10


def test_coverage_is_neither_too_low_nor_bought_with_width(judged):
    for found in (NEXT, LATER):
        assert 0.85 <= found.share <= 0.95
    pairs = zip(calibrate.hold_outs(), judged, strict=True)
    widths = [outcome.high - outcome.low for one, outcome in pairs if one.largest]
    largest = [one for one in calibrate.hold_outs() if one.largest]
    envelope = np.array(
        [
            [log_rates(one.shown, family, [one.workers])[0] - np.log(one.truth) for one in largest]
            for family in FAMILIES
            if family.name in ("linear", "power", "amdahl", "usl", "gustafson")
        ]
    )
    assert np.median(widths) < min(0.145, 0.7 * stretched(envelope, NEXT.inside))


def test_the_interval_score_is_least_for_the_honest_interval():
    """Of symmetric intervals for a normal truth, the one that holds 90 % of it scores best."""
    truths = np.random.default_rng(2).standard_normal(20_000)
    halves = np.array([1.2, 1.645, 2.2])
    means = [
        np.mean([calibrate.interval_score(calibrate.Outcome(-h - t, -t, h - t)) for t in truths])
        for h in halves
    ]
    assert np.argmin(means) == 1


def test_hard_capped_series_are_within_a_factor_of_two_once_the_cap_is_in_sight(judged):
    """Every later size of the load test of four threads, from tables that reach past them."""
    pairs = zip(calibrate.hold_outs(), judged, strict=True)
    found = [
        outcome
        for one, outcome in pairs
        if one.name == "sysbench_cpu" and one.shown.workers[-1] > 4
    ]
    assert len(found) == 28
    assert np.abs([outcome.median for outcome in found]).max() < np.log(2)


def test_no_system_is_judged_by_settings_it_had_a_say_in(monkeypatch):
    """Whatever happens to the scores of one system, its settings stay."""
    group, luck = "mfc_frontier", np.random.default_rng(5)
    mine = [one.group == group for one in calibrate.hold_outs() if one.largest]
    drawn = {
        (noise, drift): tuple(luck.uniform(0.1, 0.2, len(mine)))
        for noise in calibrate.NOISES
        for drift in calibrate.DRIFTS
    }

    def spoiled(*choice):
        bonus = 1e6 * choice[0] * choice[1]
        return tuple(x - bonus * own for x, own in zip(drawn[choice], mine, strict=True))

    settings = calibrate.settings.__wrapped__
    monkeypatch.setattr(calibrate, "simulated", lambda *_: 1.0)
    monkeypatch.setattr(calibrate, "scores", lambda *choice: drawn[choice])
    before = settings(without=group), settings()
    monkeypatch.setattr(calibrate, "scores", spoiled)
    assert settings(without=group) == before[0]
    assert settings() != before[1]


def test_a_hold_out_shows_nothing_from_its_target_on():
    for one in calibrate.hold_outs():
        assert one.shown.workers.max() < one.workers
        assert len(one.shown.sizes) >= 3


@pytest.mark.parametrize(("noise", "expected"), [(0.003, 0.85), (0.03, 0.75)])
def test_intervals_hold_on_synthetic_data(noise, expected):
    rng = np.random.default_rng(11)
    held, draws = 0, 60
    for _ in range(draws):
        serial, coherency = rng.uniform(0, 0.1), rng.uniform(0, 3e-4)
        truth = laws.usl(np.append(K, 32), serial, coherency)
        seen = truth * np.exp(noise * rng.standard_normal(6))
        found = predict(Rows.of(K, throughput=seen[:-1]), 32)
        held += found.low <= seen[-1] <= found.high
    assert held >= expected * draws


def test_a_cap_in_sight_is_predicted_within_a_factor_of_two():
    rows = Rows.of([1, 2, 4, 8], throughput=[8273, 16590, 27322, 27314])
    found = predict(rows, 2048)
    assert 27412 / 2 < found.value < 27412 * 2
    assert found.low < 27412 < found.high


def test_the_interval_widens_with_the_distance():
    rows = Rows.of(K, throughput=BENT)
    widths = [np.log(p.high / p.low) for p in (predict(rows, k) for k in (16, 32, 128, 1024))]
    assert widths == sorted(widths)


def test_disagreeing_families_widen_the_interval():
    rows = Rows.of(K, throughput=BENT)
    alone = [predict(rows, 512, family=name) for name in ("power", "amdahl")]
    together = predict(rows, 512)
    assert together.high / together.low > max(one.high / one.low for one in alone)


def test_probabilities_of_the_families_add_up_to_one():
    found = predict(Rows.of(K, throughput=BENT), 64).families
    assert set(found) <= set(EXTRAPOLATING)
    assert sum(found.values()) == pytest.approx(1)


@given(st.permutations(range(5)), st.floats(1e-6, 1e6))
@settings(max_examples=15, derandomize=True)
def test_neither_the_order_of_rows_nor_their_unit_changes_a_prediction(order, unit):
    order = list(order)
    one = predict(Rows.of(K, throughput=BENT), 64)
    other = predict(Rows.of(K[order], throughput=unit * np.array(BENT)[order]), 64)
    assert [other.low, other.value, other.high] == pytest.approx(
        [unit * one.low, unit * one.value, unit * one.high], rel=1e-5
    )


def test_seconds_are_predicted_as_the_inverse_of_throughput():
    rate = predict(Rows.of(K, throughput=BENT), 64)
    time = predict(Rows.of(K, seconds=1 / np.array(BENT)), 64)
    assert [time.low, time.value, time.high] == pytest.approx(
        [1 / rate.high, 1 / rate.value, 1 / rate.low]
    )


def test_counting_in_nodes_of_eight_changes_nothing():
    one = predict(Rows.of(K, throughput=BENT), 64)
    other = predict(Rows.of(8 * K, throughput=BENT), 512)
    assert (other.low, other.value, other.high) == pytest.approx((one.low, one.value, one.high))


def test_a_prediction_carries_the_coverage_that_was_measured():
    found = predict(Rows.of(K, throughput=BENT), 32)
    assert found.coverage.startswith(f"such 90% intervals held {NEXT.inside} of {NEXT.of}")
    assert (found.level, found.unit, found.beyond) == (0.9, "throughput", 2)


@given(
    st.lists(st.tuples(st.integers(1, 4096), st.floats(1e-6, 1e6)), min_size=3, max_size=8),
    st.integers(1, 10**6),
)
@settings(max_examples=40, derandomize=True)
def test_any_table_gets_a_finite_interval_or_a_reason(table, workers):
    rows = Rows.of(*[[k for k, _ in table]], throughput=[x for _, x in table])
    if len(rows.workers) < 3 or workers < rows.base:
        with pytest.raises(ValueError, match=r"workers must .+, got .+: .+"):
            predict(rows, workers)
    else:
        try:
            found = predict(rows, workers)
        except Refused as reason:
            assert max(rows.rate) > 1e3 * min(rows.rate), reason  # noqa: PT017
        else:
            assert 0 < found.low <= found.value <= found.high < np.inf


def test_rows_that_jump_by_orders_of_magnitude_are_refused_not_overflowed():
    rows = Rows.of([1, 2, 3, 4], throughput=[1.0, 1e50, 1e-50, 1.0])
    with pytest.raises(Refused, match="look for a wrong unit or digit"):
        predict(rows, 75)


def test_what_cannot_be_predicted_is_refused_with_a_reason():
    rows = Rows.of(K, throughput=BENT)
    with pytest.raises(Refused, match="measure one more size"):
        predict(Rows.of([1, 2], seconds=[2, 1]), 4)
    with pytest.raises(ValueError, match="smallest measured size 8"):
        predict(Rows.of(8 * K, throughput=BENT), 4)
    with pytest.raises(ValueError, match="family must be one of"):
        predict(rows, 64, family="empirical")
