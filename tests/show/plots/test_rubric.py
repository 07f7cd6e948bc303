"""The figures of section 41.6, against what they draw from."""

from types import SimpleNamespace

import numpy as np
import pytest

from scalelab import rubric
from scalelab.show import scorecard
from scalelab.show.plots import rubric as figures

K, T = np.array([1, 2, 4, 8, 16, 32]), np.array([3600, 1880, 1010, 560, 340, 250])
STUDY = rubric.columns(
    K, T, rate=K, quality=[0.871, 0.871, 0.871, 0.871, 0.870, 0.871], metric="accuracy", work=1.2e6
)
REPORT = rubric.judge(STUDY, floor=0.7, tolerance=0.005)


def drawn(chart, label):
    return next(one for one in chart.series if one.label.startswith(label))


def test_one_more_run_is_worth_what_the_formula_says():
    noise = rubric.Noise(0.159, runs=50)
    chart = figures.margins(24.59, 24.423, 0.3, noise, (1, 50), ("one", "eight"), "BLEU", most=4)
    for name, counts in (("on one", (5, 50)), ("on eight", (1, 54))):
        margin = 1.67655 * 0.159 * (1 / counts[0] + 1 / counts[1]) ** 0.5
        assert drawn(chart, name).y[-1] == pytest.approx(0.167 + margin, rel=1e-4)
    assert chart.series[0].y[0] == chart.series[1].y[0]


def test_each_row_implies_a_serial_fraction():
    chart = figures.implied(REPORT)
    inverse = T[1:] / T[0]
    assert drawn(chart, "of each row").y == pytest.approx((inverse - 1 / K[1:]) / (1 - 1 / K[1:]))
    # The single causes go through the first row, or the last.
    assert drawn(chart, "a cost of").y[0] == pytest.approx(drawn(chart, "of each").y[0])
    assert drawn(chart, "grows").y[-1] == pytest.approx(drawn(chart, "of each").y[-1])


def test_an_efficiency_has_ends_where_runs_were_repeated():
    assert np.isnan(drawn(figures.sure(REPORT), "median").low).all()
    seconds = [60, 62, 64, 33, 34, 36]
    twice = rubric.columns([1] * 3 + [2] * 3, seconds, rate=[1] * 3 + [2] * 3, quality=[1] * 6)
    one = drawn(figures.sure(rubric.judge(twice, floor=0.5)), "median")
    assert one.low[1] < one.y[1] < one.high[1]
    assert one.y[1] == pytest.approx(62 / 34 / 2)


def test_the_tolerance_is_below_the_base_or_above_where_less_is_better():
    assert drawn(figures.held(REPORT), "tolerance").y[0] == pytest.approx(0.866)
    lower = rubric.columns([1, 2], [9, 5], rate=[1, 2], quality=[0.05, 0.06], better="lower")
    chart = figures.held(rubric.judge(lower, tolerance=0.02))
    assert drawn(chart, "tolerance").y[0] == pytest.approx(0.07)


def test_as_many_took_longer_as_did():
    chart = figures.slower({"load": [0.02, 0.01, 0.04, 0.03]}, promise=0.05)
    assert drawn(chart, "load").x.tolist() == [10, 20, 30, 40]
    assert drawn(chart, "load").y.tolist() == [100, 75, 50, 25]
    assert drawn(chart, "promised").x.tolist() == [50, 50]
    assert drawn(chart, "promised").y.tolist() == [25, 100]  # from the foot of the curves


def test_every_pass_is_a_point_of_its_group():
    passes = [SimpleNamespace(seconds=t, quality=q, stamp=None) for t, q in ((9, 1.0), (5, 0.9))]
    chart = figures.each_pass({"one": passes[:1], "two": passes[1:]})
    assert [(one.x[0], one.y[0]) for one in chart.series] == [(9, 1.0), (5, 0.9)]
    assert 0.8 < chart.y.low < 0.9
    assert 1.0 < chart.y.high < 1.1


def one_pass(workers, seconds, exposed):
    return SimpleNamespace(workers=workers, seconds=seconds, exposed=exposed, stamp=None)


def test_every_run_stands_beside_an_equal_share_of_the_median_on_one():
    passes = [one_pass(1, s, 0.0) for s in (4.0, 2.0, 9.0)] + [one_pass(2, 3.0, 1.0)]
    chart = figures.each_run(passes)
    assert drawn(chart, "an equal share").y.tolist() == [4, 2]
    assert drawn(chart, "a run").y.tolist() == [4, 2, 9, 3]


def test_exchange_and_the_rest_are_of_runs_on_so_many_workers():
    runs = [one_pass(1, 9.0, 0.0), one_pass(2, 5.0, 2.0), one_pass(2, 7.0, 3.0)]
    studies = SimpleNamespace(title="a", passes=runs), SimpleNamespace(title="b", passes=runs[:2])
    chart = figures.exchanged(*studies, workers=2)
    exchange, rest = (one.x.reshape(-1, 3)[:, :2].tolist() for one in chart.series)
    assert exchange == [[0, 2.5], [0, 2]]
    assert rest == [[2.5, 6], [2, 5]]
    assert chart.y.names == ("a", "b")


def test_a_bar_of_exchange_and_rest_ends_at_the_median_pass():
    """Two medians of parts ended before the T(K) that the table below the figure has."""
    runs = [one_pass(2, *one) for one in ((5.0, 2.0), (7.0, 3.0), (8.0, 1.0))]
    chart = figures.exchanged(SimpleNamespace(title="a", passes=runs), workers=2)
    assert chart.series[-1].x[1] == 7


def test_a_limit_of_energy_leaves_the_sizes_that_the_rubric_recommends():
    joules = 300.0 * K * T
    chart = figures.capped(K, joules, (2e6, 1.2e6))
    line = drawn(chart, "all workers")
    columns = rubric.columns(K, T, rate=K, quality=[0.871] * 6, metric="accuracy", joules=joules)
    for limit, most in zip(chart.series[1:], (2e6, 1.2e6), strict=True):
        found = rubric.judge(columns, floor=0, joules=most)
        assert found.recommended == max(line.x[line.y <= limit.y[0]])


def test_a_claimed_price_of_tiny_work_is_told_for_so_much_of_it_that_it_is_dollars():
    """Beside 2.02 to 6.22 stood "cost per work ≤ 1e-09"; the bar is the same, and the words are 1 dollar."""
    row = SimpleNamespace(
        spreads={"cost_per_work": rubric.spread.Spread(2e-9, 6e-9, True)}, cost_per_work=4e-9
    )
    report = SimpleNamespace(row=lambda _: row, rows=[row], stamp=None, work_stated=True)
    chart = figures.claimed(report, 2, cost_per_work=1e-9)
    (label,) = chart.y.names
    assert label == "$ per billion units ≤ 1"  # half of the figure was this name, and no bar
    assert chart.x.low < 0  # or a point at nothing would be cut in half
    assert drawn(chart, "may be").x[:2] == pytest.approx([2, 6])
    row.supports = lambda **stated: dict.fromkeys(stated, "contradicted")
    report.name = "a study"
    ((claimed, allowed, _),) = scorecard.supported(report, 2, cost_per_work=1e-9).rows
    assert (claimed, allowed) == ("dollars per billion units of work at most 1", "2 to 6")


def test_a_claims_bars_lie_as_the_verdicts_of_the_table_say():
    """Right of the line an "at least" is supported, left of it an "at most", across it neither."""
    row = REPORT.row(8)
    ends = {
        "speedup": rubric.spread.Spread(6.0, 7.0, True),
        "loss": rubric.spread.Spread(-0.001, 0.002, True),
    }
    gate = SimpleNamespace(loss=0.0005)
    told = SimpleNamespace(spreads=ends, speedup=row.speedup, gate=gate)
    report = SimpleNamespace(row=lambda workers: told, stamp=None)
    for speedup, loss, verdicts in (
        (5.0, 0.005, ["supported", "supported"]),
        (6.5, 0.001, ["undecided", "undecided"]),
        (8.0, 0.003, ["contradicted", "supported"]),
    ):
        chart = figures.claimed(report, 8, speedup=speedup, loss=loss)
        bars = drawn(chart, "may be").x.reshape(-1, 3)[:, :2]
        found = [
            "supported" if good else "contradicted" if bad else "undecided"
            for good, bad in (
                (bars[0][0] >= 1, bars[0][1] < 1),
                (bars[1][1] <= 1, bars[1][0] > 1),
            )
        ]
        asked = {"speedup": {"least": speedup}, "loss": {"most": loss}}
        assert found == [ends[name].verdict(**asked[name]) for name in asked] == verdicts
