"""The charts of section 3.1."""

import re

import numpy as np
import pytest

from scalelab import data
from scalelab.models import scaling
from scalelab.records import Machine, Sample, Stamp
from scalelab.show import draw
from scalelab.show.plots import speedup


def series(chart, label):
    return next(one for one in chart.series if one.label.startswith(label))


@pytest.mark.parametrize("serial", [0.01, 0.05, 0.2])
def test_newcomers_add_up_to_the_speedup_that_the_average_shares(serial):
    chart = speedup.newcomers(serial, most=8)
    average, added = series(chart, "average"), series(chart, "added")
    assert average.x.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert np.cumsum(added.y) == pytest.approx(average.y * average.x)
    assert average.y[-1] == pytest.approx(1 / (8 * serial + 1 - serial))
    assert (added.y[1:] < average.y[1:]).all()


def test_the_last_of_a_half_is_where_amdahl_says():
    assert (
        series(speedup.newcomers(0.05), "last K").x[0] == 21
    )  # 1 + 1/s, up to which E is a half or more


def test_the_two_verdicts_part_after_the_first_worker():
    strong, weak = speedup.two_verdicts(0.05).series
    assert strong.y[0] == weak.y[0] == 1
    assert strong.y[strong.x == 256] == pytest.approx(1 / (1 + 0.05 * 255))
    assert weak.y[weak.x == 256] == pytest.approx(0.05 / 256 + 0.95)


def test_the_best_of_the_baselines_is_the_dashed_line():
    def sample(seconds):
        return Sample("", (seconds,) * 9, 1, Machine("here", 2), "2026-01-01", "done", ())

    tries = {1: [sample(0.3), sample(0.02)], 2: [sample(0.4), sample(0.01)]}
    chart = speedup.baselines((1, 16), tries)
    assert series(chart, "the best").y.tolist() == [10, 10]
    assert series(chart, "1 thread").y.tolist() == [300, 20]
    assert series(chart, "2 threads").y.tolist() == [400, 10]


def test_what_a_slide_leaves_out_is_its_speedup_over_its_size():
    points, floor = speedup.unsaid([2, 4], [1.8, 3], 0.85).series
    assert points.y.tolist() == [0.9, 0.75]
    assert floor.y.tolist() == [0.85, 0.85]


def test_an_implied_fraction_carries_its_bar():
    marks = speedup.implied([4, 8], [0.1, 0.2], [0.05, 0.1], [0.2, 0.3], Stamp("model")).series[0]
    assert (marks.low.tolist(), marks.high.tolist()) == ([0.05, 0.1], [0.2, 0.3])


@pytest.mark.parametrize("serial", [0.02, 0.05, 0.1])
def test_where_the_fleet_works_at_a_half_the_last_adds_a_quarter_and_both_are_marked(serial):
    chart = speedup.newcomers(serial)
    marks, added = series(chart, "last K"), series(chart, "added")
    assert marks.y[0] == pytest.approx(0.5, abs=0.03)
    assert marks.y[1] == pytest.approx(0.25, abs=0.03)
    assert np.interp(marks.x[1], added.x, added.y) == pytest.approx(marks.y[1], rel=0.02)


def test_a_step_of_the_waterfall_says_what_it_cost_or_gained():
    falls = speedup.second_worker([2, 1.87, 1.94, 1.939], Stamp("model")).series[:3]
    changes = [one.label.rpartition(": ")[2] for one in falls]
    assert changes == ["\N{MINUS SIGN}0.13", "+0.07", "0.00"]


def test_candidates_for_a_baseline_have_their_intervals_and_one_name_each():
    runs = data.recorded("superlinear").samples[:3]
    chart = speedup.baselines((1, 16, 256), {1: runs})
    assert [one.label for one in chart.series] == ["1 thread", "the best"]
    image, _ = draw.svg(chart)
    bars = re.search(r'series-0-bars">\s*<path d="([^"]+)"', image)[1]
    assert bars.count("M") == len(runs)


@pytest.mark.parametrize("each", [1, 4])
def test_two_marks_stand_at_one_loss_and_one_doubling_apart(each):
    fleet = 2 ** np.arange(5, 16 + 1 / each, 1 / each)
    arithmetic = {s: 1e21 / (s + (1 - s) / fleet) for s in (0, 1e-4, 1e-3)}
    losses = {
        f"s = {s:g}": scaling.loss(*scaling.compute_optimal(one)) for s, one in arithmetic.items()
    }
    chart = speedup.loss_over_workers(fleet, losses)
    ahead, behind = series(chart, "one doubling ahead"), series(chart, "one doubling behind")
    assert (ahead.x[0], behind.x[0]) == (512, 1024)  # half of 1/s works at 1,024
    assert ahead.y == pytest.approx(behind.y, rel=1e-3)
    assert [float(row[0].replace(",", "")) for row in chart.rows()] == list(2.0 ** np.arange(5, 17))
    assert (ahead.tone, behind.tone) == (1, 3)  # of the curves that they are on
