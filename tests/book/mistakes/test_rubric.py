"""What chapter 41.6 once said wrong of its own data, and what the rubric now keeps it from saying."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from scalelab import data, rubric
from scalelab.measure.capstone import capstone, classifier
from scalelab.rubric import gate, spread
from scalelab.rubric.caveats import remarks
from tests.notebooks import chapter

FIFTY = gate.Noise(0.159, runs=50)


# A capstone on two cores that eight other programs used as well, seconds of three runs.
TIMES = {1: (3.930, 2.299, 2.984), 2: (3.234, 2.298, 2.614), 4: (4.780, 3.142, 3.580)}


@pytest.fixture(scope="module")
def crowded():
    workers = [k for k in TIMES for _ in TIMES[k]]
    seconds = [time for times in TIMES.values() for time in times]
    rows = rubric.columns(workers, seconds, rate=workers, quality=[0.956] * 9)
    return rubric.judge(rows, floor=0.5, tolerance=0.02)


@pytest.mark.parametrize("workers", [2, 4])
def test_a_speedup_inside_the_noise_is_not_supported(crowded, workers):
    """Of 1.14 and 0.83 it was said that they support and contradict; against scipy's Welch test."""
    base, row = (np.log(TIMES[k]) for k in (1, workers))
    ends = stats.ttest_ind(base, row, equal_var=False).confidence_interval(2 * gate.LEVEL - 1)
    found = crowded.row(workers)
    assert found.speedup_spread.low == pytest.approx(math.exp(ends.low))
    assert found.speedup_spread.high == pytest.approx(math.exp(ends.high))
    assert found.supports(speedup=1.0, efficiency=0.01) == {
        "speedup": "undecided",
        "efficiency": "supported",
    }
    assert found.efficiency_spread.high == pytest.approx(found.speedup_spread.high / workers)
    if workers == 2:
        assert any("whether it is faster at all" in remark for remark in remarks(crowded))


def test_an_interval_of_a_speedup_holds_the_true_one_nine_times_of_ten():
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(1500):
        base, row = np.exp(rng.normal(0.0, 0.1, 3)), np.exp(rng.normal(-0.5, 0.2, 3))
        found = spread.ratio(base.tolist(), row.tolist(), [])
        held += found.low <= math.exp(0.5) <= found.high
    assert held / 1500 == pytest.approx(0.90, abs=0.03)


def test_a_bill_is_as_sure_as_the_times_behind_it():
    times = [4.0, 5.0, 6.5]
    found = spread.alone(times, []).times(np.median(times))
    ends = stats.t.interval(2 * gate.LEVEL - 1, 2, np.mean(np.log(times)), stats.sem(np.log(times)))
    assert (found.low, found.high) == pytest.approx(tuple(np.exp(ends)))


def test_one_run_of_each_size_has_no_interval():
    lone = rubric.columns([1, 2], [60, 32], rate=[1, 2], quality=[0.9, 0.9])
    row = rubric.judge(lone).row(2)
    assert not row.speedup_spread.tested
    assert row.speedup_spread.low == pytest.approx(row.speedup) == row.speedup_spread.high


def test_fifty_runs_of_eight_gpus_are_not_one_run():
    """The gate compared single runs and left 0.5 BLEU undecided; the published mean passes it."""
    alone = gate.of_runs([24.59], [24.45], [], 0.5, noise=FIFTY)
    found = gate.of_means(24.59, 24.423, 0.5, FIFTY, runs=(1, 50))
    assert (alone.verdict, found.verdict) == ("undecided", "pass")
    assert found.high == pytest.approx(
        24.59 - 24.423 + stats.t.ppf(0.95, 49) * 0.159 * math.sqrt(1 + 1 / 50)
    )
    # One of each is what `of_runs` does.
    assert gate.of_means(24.59, 24.45, 0.5, FIFTY) == alone


def test_the_next_run_is_worth_most_where_there_is_one():
    def high(*runs):
        return gate.of_means(24.59, 24.423, 0.3, FIFTY, runs=runs).high

    assert high(1, 50) - high(2, 50) > 100 * (high(1, 50) - high(1, 51))
    assert high(4, 50) > 0.3 > high(5, 50)


def test_ten_more_runs_decide_four_times_of_five():
    rng = np.random.default_rng(2)
    wins = 0
    for _ in range(4000):
        base = rng.normal(24.59, 0.159 / math.sqrt(11))
        row = rng.normal(24.423, 0.159 / math.sqrt(50))
        wins += gate.of_means(base, row, 0.3, FIFTY, runs=(11, 50)).verdict == "pass"
    assert wins / 4000 == pytest.approx(gate.POWER, abs=0.03)


def test_half_of_the_samples_is_not_half_of_the_steps():
    """What each worker repeats: all steps and all weights, whatever its share of the samples."""
    updates = []
    trained = classifier.Classifier(8, 0, share_of=2)
    step = trained.optimizer.step
    trained.optimizer.step = lambda: updates.append(step())
    trained.train(*classifier.drawn(512, stream=1), 64, 0.01, 1, 0)
    assert len(updates) == 512 // 64
    assert trained.waits == []
    small = capstone.Settings(samples=512, batch=64, epochs=1, width=8)
    assert capstone.lone_share(plan=small, among=2, runs=1) > 0


def test_the_lone_share_holds_half_of_what_each_repeats():
    """The table once called share - T(1)/2 what each repeats; half of that is in T(1)/2 already."""
    (source,) = (code for code in chapter("10_rubric").code if "lone_share" in code)
    divided, repeated = 0.64, 0.38
    one, share = divided + repeated, divided / 2 + repeated
    parts = [line for line in source.splitlines() if line.startswith("parts") and "share" in line]
    scope = {"one": one, "share": share, "waited": 0.0, "two": 1.0}
    exec("\n".join(parts), scope)
    assert scope["parts"]["what divides, halved"] == pytest.approx(divided / 2)
    assert scope["parts"]["what each repeats"] == pytest.approx(repeated)


def test_rows_of_different_epochs_are_not_one_table():
    """The table of the warm-up held a row after one epoch beside rows after four."""
    first, *others = data.capstone().passes
    longer = dataclasses.replace(first, configuration={**first.configuration, "epochs": 9}, seal="")
    longer = dataclasses.replace(longer, seal=longer.digest)
    with pytest.raises(ValueError, match="configuration 'epochs'"):
        rubric.of_passes([longer, *others])


def test_a_slowdown_implies_no_serial_fraction(crowded):
    from scalelab.show import scorecard

    assert crowded.row(4).karp_flatt > 1
    assert "slower than the baseline" in str(scorecard.gates(crowded))
