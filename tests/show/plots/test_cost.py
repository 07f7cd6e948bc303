"""The figures of section 3.9, against what they draw from."""

import numpy as np
import pytest

from scalelab.curves import fit, predict
from scalelab.curves.rows import Rows
from scalelab.models import waiting
from scalelab.models.cost import bottleneck, mfu, step
from scalelab.models.machines import failures
from scalelab.show.plots import cost as figures

JOB = step.Step(512, 20, 1.4e9, lambda size, workers: 0.2 + 0 * workers, stages=2, accumulation=4)


def drawn(chart, label):
    return next(one for one in chart.series if one.label.startswith(label))


def test_the_terms_of_a_step_fill_it():
    chart = figures.shares(JOB, [2, 8, 32])
    assert [one.label for one in chart.series] == ["compute", "exchange", "bubble"]
    below = np.zeros(3)
    for one in chart.series:
        assert one.low == pytest.approx(below)
        assert one.y == pytest.approx(one.high - one.low)
        below = one.high
    assert below == pytest.approx([100, 100, 100])
    assert chart.series[0].high == pytest.approx(100 * step.efficiency(JOB, [2, 8, 32]))


def test_preempted_runs_lie_about_their_expectation():
    chart = figures.preemptions(0.35, [1, 16, 128])
    line, runs = drawn(chart, "expected"), drawn(chart, "400 runs")
    expected = np.interp(np.log(runs.x), np.log(line.x), line.y)
    assert runs.y == pytest.approx(expected, rel=0.05)
    assert (runs.low <= runs.y).all()
    assert (runs.y <= runs.high).all()


def test_a_fit_is_drawn_beyond_its_data():
    K, T = [1, 2, 4, 8], [100, 55, 32.5, 21.25]
    found = {"amdahl": fit.fit(Rows.of(K, seconds=T), "amdahl")}
    line = drawn(figures.beyond("title", K, T, found, 512), "amdahl")
    assert set(K) <= set(line.x)  # where something was measured the table reads no chord
    assert line.x[-1] == pytest.approx(512)
    assert line.y[-1] == pytest.approx(100 * (0.1 + 0.9 / 512), rel=1e-3)


def test_beyond_the_data_the_interval_of_all_families_is_drawn():
    K, T = [1, 2, 4, 8], [100, 55, 32.5, 21.25]
    rows = Rows.of(K, seconds=T)
    said = [predict.predict(rows, k) for k in (8, 16, 64)]
    found = {"amdahl": fit.fit(rows, "amdahl")}
    band = drawn(figures.beyond("title", K, T, found, 64, said=said), "90% interval")
    assert band.low.tolist() == [p.low for p in said]
    assert band.high.tolist() == [p.high for p in said]


@pytest.mark.parametrize("price", [1, 2, 6])
@pytest.mark.parametrize("deadline", [0.5, 1, 4])
@pytest.mark.parametrize("link", [2.5, 10, 200])
def test_the_size_to_buy_is_the_cheapest_within_both_limits(price, deadline, link):
    rows = figures.rows_at(link)
    bills = [(r.run / 3600 * price * r.workers, r.workers) for r in rows]
    kept = [
        (bill, workers)
        for (bill, workers), r in zip(bills, rows, strict=True)
        if r.run <= deadline * 86400 and bill <= figures.BUDGET
    ]
    chart = figures.to_buy(price, deadline, link)
    expected = f"{min(kept)[1]} GPUs" if kept else "none meets both limits"
    assert chart.readouts["Size to buy"] == expected
    assert np.isnan(drawn(chart, "size to buy").y[0]) == (not kept)


def test_where_no_size_keeps_both_limits_the_figure_says_how_near_one_comes():
    """Rather than fall silent."""
    said = {limits: figures.to_buy(*limits).readouts for limits in ((6, 0.5, 3600), (1, 0.5, 2.5))}
    dear, late = said.values()
    assert (dear["Bill"], dear["Done in"]) == (
        "$8,676 at least, in time",
        "no size is in the budget",
    )
    assert (late["Bill"], late["Done in"]) == (
        "no size is in time",
        "3.17 d at least, in the budget",
    )
    assert all(text.strip("–") for one in said.values() for text in one.values())


def test_a_slower_network_never_shortens_the_run():
    for slow, fast in zip(figures.rows_at(2.5), figures.rows_at(25), strict=True):
        assert slow.run >= fast.run * (1 - 1e-12)


def test_an_hour_sooner_is_priced_against_the_next_size():
    chart = figures.to_buy(2, 4, 10)
    at, more = figures.rows_at(10)[1:3]
    price = 2 * (more.run * 32 - at.run * 16) / (at.run - more.run)
    assert chart.readouts["An hour sooner, next size"] == f"${price:.2f}"


def test_the_terms_of_a_class_are_those_of_the_step():
    chart = figures.classes(JOB, [2, 8, 32])
    assert drawn(chart, "compute").y == pytest.approx(100 * step.efficiency(JOB, [2, 8, 32]))
    share = step.terms(JOB, 8)["exchange"] / step.seconds(JOB, 8)
    assert drawn(chart, "exchange").y[1] == pytest.approx(100 * share)


def test_a_public_efficiency_begins_at_its_own_base():
    chart = figures.public({"a": (8, 64, 0.8), "b": (96, 4608, 1.1)})
    lines, reported = drawn(chart, "from its base"), drawn(chart, "reported")
    assert lines.x[[0, 1, 3, 4]].tolist() == [8, 64, 96, 4608]
    assert lines.y[[0, 1, 3, 4]].tolist() == [1, 0.8, 1, 1.1]
    assert np.isnan(lines.y[[2, 5]]).all()
    assert reported.names == ("a", "b")
    assert reported.y.tolist() == [0.8, 1.1]


def test_a_limit_picks_a_size_of_the_front():
    chart = figures.front([1, 8, 32], [36000, 5600, 2500], [10, 12.4, 22.2], deadline=1, budget=13)
    assert drawn(chart, "cheapest in time: 32").x == pytest.approx([2500 / 3600])
    assert drawn(chart, "fastest for the money: 8").y == pytest.approx([12.4])


def test_an_interval_that_holds_the_deadline_crosses_it():
    chart = figures.night([16, 32], [80, 42], 64, (18, 22, 31), deadline=24)
    said = drawn(chart, "64")
    assert (said.low, said.y, said.high) == ([18], [22], [31])
    assert drawn(chart, "deadline").y.tolist() == [24, 24]


@pytest.mark.parametrize(
    ("chart", "label", "ends"),
    [
        (figures.gains({"b": 0.9, "a": 1.2}, 1.5), "times the rate", [1.0, 1.2]),
        (figures.arithmetic({"a": 0.4}), "share of the peak", [0.0, 40.0]),
        (figures.apart({"a": 0.002}, {"a": 0.003}), "a", [0.0, 2.0]),
    ],
)
def test_bars_begin_where_they_should(chart, label, ends):
    assert drawn(chart, label).x[:2].tolist() == pytest.approx(ends)
    assert chart.see


def test_places_have_their_own_grams_and_a_fourth_time_its_prediction():
    chart = figures.carbon([8, 16], {"here": [10, 12], "there": [1, 1.2]})
    assert [one.label for one in chart.series] == ["here", "there"]
    grown = figures.grown([1, 2, 4], [1.0, 1.1, 1.3], 1.2)
    assert drawn(grown, "predicted").y == [1.2]
    assert drawn(grown, "measured").y.tolist() == [1.0, 1.1, 1.3]


def test_the_least_of_price_and_wait_is_where_the_equation_says():
    chart = figures.worth(25.6, 0.224, hourly=2.0, values=(10, 100))
    curve, least = drawn(chart, "an hour at $100"), drawn(chart, "least at 76")
    assert curve.y.min() == pytest.approx(1, abs=2e-3)
    assert curve.x[np.argmin(curve.y)] == pytest.approx(least.x[0], rel=0.12)
    by_hand = [(2 * k + 100) * (25.6 / k + 0.224) for k in (37.8, 75.6)]
    assert np.interp(37.8, curve.x, curve.y) == pytest.approx(by_hand[0] / by_hand[1], rel=0.01)


def test_a_share_is_read_in_two_ways():
    chart = figures.overhead(0.2, 1000)
    assert drawn(chart, "as a share at 1,000").y == pytest.approx([800])
    assert drawn(chart, "as a serial").y[-1] == pytest.approx(1 / (0.2 + 0.8 / 1000))


def test_each_way_to_grow_has_its_price():
    chart = figures.per_million([1, 8], {"a": [20, 30], "b": [20, 25]})
    assert [one.y.tolist() for one in chart.series] == [[20, 30], [20, 25]]


def test_speedup_and_costup_break_even_once_behind_the_last_size_that_pays():
    """At 19 both are ten; 18 is the last that pays."""
    chart = figures.costup(memory=0.5, serial=0.05)
    pays = [k for k in range(1, 65) if 1 / (0.05 + 0.95 / k) > 0.5 + 0.5 * k + 1e-9]
    even = drawn(chart, "break-even")
    assert (even.x, even.y) == (pytest.approx([19]), pytest.approx([10]))
    assert pays[-1] == 18
    assert drawn(chart, "costup").y[-1] == 0.5 + 32


@pytest.mark.parametrize(
    ("price", "deadline", "link", "named"),
    [
        (1, 0.5, 2.5, "deadline"),  # the fastest size takes three days, whatever one pays
        (6, 7.5, 10, "budget"),  # the cheapest costs $8,007, however long one waits
        (4, 1, 10, "deadline and budget"),  # 128 are in time, and 16 in the budget
    ],
)
def test_a_limit_is_in_the_way_only_where_no_size_keeps_it(price, deadline, link, named):
    """Wherever none was left, both were named."""
    runs = [(r.run / 86400, r.run / 3600 * price * r.workers) for r in figures.rows_at(link)]
    in_time = any(days <= deadline for days, _ in runs)
    affordable = any(bill <= figures.BUDGET for _, bill in runs)
    assert (in_time, affordable) == (
        "deadline" not in named or "and" in named,
        "budget" not in named or "and" in named,
    )
    assert figures.to_buy(price, deadline, link).readouts["Limited by"] == named


def test_a_serial_fifth_has_its_ceiling_after_dozens_of_workers():
    """Five is the ceiling, not where it is reached: five workers are 2.8 times as fast as one."""
    near = next(k for k in range(1, 1000) if 1 / (0.2 + 0.8 / k) >= 0.9 / 0.2 - 1e-9)
    assert near == 36
    assert f" {near} GPUs have nine tenths" in figures.overhead(0.2, 1000).see


def test_half_or_twice_the_best_size_costs_at_most_an_eighth_more():
    chart = figures.worth(25.6, 0.224, hourly=2.0, values=(10, 100, 1000))
    found = []
    for value in (10, 100, 1000, 25.6 / 0.224 * 2 * 1.1, 2 * 0.224 / 25.6):
        best = (value / 2 * 25.6 / 0.224) ** 0.5
        least, *others = [(2 * k + value) * (25.6 / k + 0.224) for k in (best, best / 2, 2 * best)]
        found += [one / least for one in others]
    assert max(found) <= 1.125
    assert max(found) > 1.12
    assert "at most an eighth more" in chart.see


def test_what_compute_gives_up_first_goes_to_the_late_ones():
    job = step.Step(512, 20, 1.4e9, lambda size, k: 2 * (k - 1) * (2e-5 + size / k / 12.5e9),
                    slowest=lambda k: waiting.normal(k, 1.0, 0.03))  # fmt: skip
    chart = figures.shares(job, [1, 2, 256])
    given = 100 - drawn(chart, "compute").y
    gone = drawn(chart, "exchange").y
    assert gone[1] < 0.4 * given[1]
    assert gone[2] > 0.95 * given[2]
    assert "in the end the exchange has nearly all" in chart.see


def test_a_utilization_of_many_gpus_has_lost_to_scaling_too():
    """It falls with the workers as the efficiency does, so its rest is not lost before them."""
    used = [mfu.mfu(step.throughput(JOB, k), 1e9, k, 1e12) for k in (2, 256)]
    ratio = step.efficiency(JOB, 256) / step.efficiency(JOB, 2)
    assert used[1] / used[0] == pytest.approx(ratio)
    assert ratio < 0.9
    assert "within a GPU and between GPUs" in figures.arithmetic({"a": 0.4}).see


def test_the_table_of_price_and_wait_reads_one_at_each_least():
    """A chord between two whole sizes read 1.001 there."""
    chart = figures.worth(25.6, 0.224, hourly=2.0, values=(10, 100, 1000))
    rows = [dict(zip(chart.columns(), row, strict=True)) for row in chart.rows()]
    for value, best in ((10, 24), (100, 76), (1000, 239)):
        (row,) = [one for one in rows if one[f"least at {best}"]]
        assert row[f"least at {best}"] == row[f"an hour at ${value:,}"] == "1"


def test_the_table_of_preempted_runs_reads_the_formula_at_their_sizes():
    """A chord read 0.8594 on 128, where the formula says 0.8591."""
    sizes = [1, 8, 32, 64, 128, 256]
    chart = figures.preemptions(0.35, sizes)
    at = chart.columns().index("expected, by formula")
    for (_, *read), machines in zip(chart.rows(), sizes, strict=True):
        between = 86400 / machines
        tau = failures.daly_interval(60, between)
        kept = tau / between * np.exp(-300 / between) / np.expm1((tau + 60) / between)
        assert float(read[at - 1]) == float(f"{0.35 / kept:.4g}")


def test_between_two_sizes_that_are_on_offer_the_table_names_no_bill():
    """At the deadline of four days it named $2,939, between the bills of 8 and 16."""
    chart = figures.to_buy(2.0, 4.0, 10)
    first, *rows = [chart.columns(), *chart.rows()]
    bills = [row[1] for row in rows]
    assert first[1] == "number of GPUs"
    assert [bool(bill) for bill in bills] == [row[0] != "4" for row in rows]


def test_between_two_dashed_lines_of_different_classes_a_class_may_hold():
    """On 64 a step computes for 61 and communicates for 34%: both lie between 30 and 70."""
    job = step.Step(512, 20, 1.4e9, lambda size, k: 2 * (k - 1) * (2e-5 + size / k / 12.5e9),
                    slowest=lambda k: waiting.normal(k, 1.0, 0.03))  # fmt: skip
    chart = figures.classes(job, [32, 64])
    computing, talking = drawn(chart, "compute").y[1], drawn(chart, "exchange").y[1]
    assert 30 < talking < computing < 70
    assert bottleneck.classify(computing / 100, talking / 100) == "communication"
    assert "Between the dashed lines" not in chart.see
    assert "With 70 to 90% of compute, or 10 to 30% of exchange" in chart.see
    for busy, talks in ((0.72, 0.5), (0.88, 0.01), (0.3, 0.12), (0.99, 0.28)):
        assert bottleneck.classify(busy, talks).startswith("mixed")
