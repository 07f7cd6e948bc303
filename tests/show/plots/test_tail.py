"""The charts of section 3.4."""

import numpy as np
import pytest

from scalelab.models import waiting
from scalelab.models.waiting import queues
from scalelab.records import Stamp
from scalelab.show.plots import tail as figures

DICE = np.random.default_rng(1)


def named(chart):
    return {series.label: series for series in chart.series}


def test_each_slow_request_is_drawn_and_of_the_others_as_many_as_a_picture_holds():
    seconds = DICE.exponential(0.01, 5000)
    series = named(figures.requests("one client", seconds))
    p99 = sorted(seconds)[4949]
    assert series["p99"].y == pytest.approx(1e3 * p99)
    assert series["mean"].y == pytest.approx(1e3 * seconds.mean())
    drawn = dict(zip(series["a request"].x, series["a request"].y, strict=True))
    assert len(drawn) < 500
    assert {at + 1 for at, one in enumerate(seconds) if one > p99} <= set(drawn)
    assert all(one == 1e3 * seconds[int(at) - 1] for at, one in drawn.items())


def test_a_test_is_a_point_at_its_size():
    chart = figures.repeated("tests", {100: [4.0, 5.0], 1000: [4.5, 4.7, 4.8]}, true=4.6)
    points = named(chart)["one test"]
    assert points.x.tolist() == [100, 100, 1000, 1000, 1000]
    assert points.y.tolist() == [4.0, 5.0, 4.5, 4.7, 4.8]
    assert named(chart)["the true p99"].y.tolist() == [4.6, 4.6]


def test_answers_and_waiting_of_a_crowd_multiply_to_its_clients():
    clients, seconds = np.array([1, 2, 4, 8]), np.array([0.01, 0.012, 0.02, 0.04])
    series = named(figures.crowd("clients", clients, clients / seconds, seconds))
    product = series["mean response"].y * series["answers per second"].y
    assert product == pytest.approx(series["N"].y)


def test_a_window_of_the_day_holds_its_slowest_request():
    arrivals = np.cumsum(DICE.exponential(1 / 80, 20_000))
    takes = DICE.exponential(0.010, 20_000)
    seconds = waiting.simulated.waiting(arrivals, takes) + takes
    line, limit, slowest = figures.spells("the day", arrivals, seconds, 0.99).series
    assert line.y.max() == pytest.approx(1e3 * seconds.max())
    at = line.x[np.argmax(line.y)]
    assert [slowest.x[0], slowest.y[0]] == [at, line.y.max()]
    assert 0 == line.x[0] <= line.x[-1] <= 20
    assert limit.y == pytest.approx(1e3 * sorted(seconds)[19_799])
    # What the caption says: slow ones follow each other, the more so the longer the queue is.
    slow = seconds > limit.y[0] / 1e3
    assert slow[1:][slow[:-1]].mean() > 0.8


def test_the_knee_of_each_pool_lies_on_its_curve_where_the_power_is_highest():
    chart = figures.pools("pools", (1, 4))
    series = named(chart)
    assert series["knee"].x[0] == pytest.approx(0.5)
    assert series["knee"].y[0] == pytest.approx(2)
    at = np.linspace(0.01, 0.99, 981)
    best = at[np.argmax(at / queues.response(4 * at, 1.0, 4))]
    assert series["knee"].x[1] == pytest.approx(best, abs=2e-3)


def test_a_promise_is_two_lines_that_cross_where_it_is_just_kept():
    seconds = np.arange(1, 10_001) / 1e5
    chart = figures.tails("a tail", {"calls": seconds}, promise=(0.999, 0.080))
    share, limit = chart.series[1:]
    assert share.label == "0.001 of the requests"
    assert share.y == pytest.approx(0.001)
    assert limit.x.tolist() == [80, 80]
    assert chart.series[0].y.max() <= 0.5
    assert chart.see != figures.tails("a tail", {"calls": seconds}).see


def test_each_second_of_a_day_has_the_mean_of_those_who_came_in_it():
    come, seconds = np.array([0.1, 0.9, 1.5, 2.2, 2.3]), np.array([1.0, 3.0, 5.0, 2.0, 2.0])
    (line,) = figures.growth("a day", come, {"once": seconds}).series
    assert line.x.tolist() == [0.5, 1.5]  # the third is not complete
    assert line.y.tolist() == [2000.0, 5000.0]


def test_only_uncancelled_copies_never_come_back():
    """What the caption says, of another day than the chapter's."""
    come = np.cumsum(DICE.exponential(1 / 1600, 40_000))
    takes, again = DICE.exponential(0.010, (2, 40_000))
    days = {
        cancel: waiting.simulated.hedged(come, takes, again, 0.035, pools=20, cancel=cancel)[0]
        for cancel in (True, False)
    }
    lines = {series.label: series.y for series in figures.growth("a day", come, days).series}
    assert lines[True].max() < 150
    assert (np.diff(lines[False])[5:] > 0).all()


def test_only_the_heavy_tail_bends_upwards():
    K = 2.0 ** np.arange(13)
    columns = {
        "normal": waiting.normal(K, 1, 0.05),
        "heavy tail": waiting.pareto(K, least=0.95, shape=20),
    }
    chart = figures.stragglers("steps", K, columns)
    bends = {s.label: np.diff(s.y, 2).mean() for s in chart.series}  # in powers of two
    assert bends["normal"] < 0 < bends["heavy tail"]


def test_every_figure_says_what_to_see():
    line = np.array([1.0, 2.0])
    charts = [
        figures.pool(0.5, 2, 10),
        figures.moments("m", {"a": (line, line)}),
        figures.batches("b", [1, 2], line, line),
        figures.tipping("t", (3.5,)),
    ]
    assert all(chart.see.endswith(".") for chart in charts)


def test_half_of_the_time_more_are_inside_than_the_mean_and_seldom_more_than_the_second_line():
    crowd, mean, most = figures.inside("inside", 100, 0.99).series
    assert crowd.y.sum() == pytest.approx(100, abs=0.05)
    assert crowd.y[crowd.x > mean.x[0]].sum() == pytest.approx(50, abs=4)
    assert crowd.y[crowd.x > most.x[0]].sum() < 1 < crowd.y[crowd.x >= most.x[0]].sum()


def test_the_memory_of_a_chat_is_a_line_across_both_latencies():
    rates, first = np.array([1.0, 10.0, 16.0]), np.array([0.03, 0.04, 0.08])
    ttft, tpot, full = figures.chat("chat", rates, first, first / 3, 15.0).series
    assert ttft.y == pytest.approx(1e3 * first)
    assert tpot.y == pytest.approx(1e3 * first / 3)
    assert full.x.tolist() == [15, 15]
    assert full.y == pytest.approx([10, 80])


def test_full_batches_wait_to_be_filled_and_greedy_ones_do_not():
    full, greedy, filling = figures.gathering(64, 1.8874e-3, 0.1438e-3).series
    assert (full.y > filling.y).all()
    assert (full.y > greedy.y).all()
    assert full.y[0] == pytest.approx(
        filling.y[0], rel=0.05
    )  # little traffic: filling is nearly all
    assert filling.y == pytest.approx(63e3 / 2 / filling.x)


def test_a_percentile_is_shown_where_the_tests_p_value_says_so():
    stats = pytest.importorskip("scipy.stats")
    seconds = DICE.exponential(0.01, 253)
    limit = float(np.sort(seconds)[-2:].mean())  # one is slower
    series = named(figures.shown(seconds, limit, 0.99, Stamp("model")))
    test = stats.quantile_test(seconds, q=limit, p=0.99, alternative="less")
    assert series["these requests"].y == pytest.approx(test.pvalue)
    for count, least in ((0, 459), (1, 662)):
        curve = series[f"{count} slower"]
        crossing = np.exp(np.interp(-np.log(0.01), -np.log(curve.y), np.log(curve.x)))
        assert crossing == pytest.approx(least, rel=0.01)
