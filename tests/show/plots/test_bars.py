"""Charts of bars, against the numbers they were given."""

import numpy as np
import pytest

from scalelab.show.plots import bars
from scalelab.show.series import Axis


def spans(chart, label):
    """Begin, end and row of each bar of a series."""
    (one,) = [series for series in chart.series if series.label == label]
    ends = one.x.reshape(-1, 3)
    return [(a, b, row) for (a, b, _), row in zip(ends, one.y[::3], strict=True)]


def test_parts_lie_behind_each_other_and_keep_their_colour():
    rows = {"alone": {"a": 1.0, "b": 2.0}, "together": {"a": 1.5, "b": 1.0, "c": 0.5}}
    chart = bars.stacked("title", "s", rows, see="look")
    assert spans(chart, "a") == [(0, 1, 2), (0, 1.5, 1)]
    assert spans(chart, "b") == [(1, 3, 2), (1.5, 2.5, 1)]
    assert spans(chart, "c") == [(2.5, 3, 1)]
    assert chart.y.names == ("alone", "together")
    assert chart.y.ticks == (2, 1)
    assert len({one.tone for one in chart.series}) == 3
    assert chart.see == "look"


def test_parts_add_up_and_a_negative_one_goes_back():
    chart = bars.adding_up("title", "s", {"a": 2.0, "b": -0.5, "c": 1.0}, "all")
    assert spans(chart, "part") == [(0, 2, 4), (1.5, 2.5, 2)]
    assert spans(chart, "negative") == [(1.5, 2, 3)]
    assert spans(chart, "their sum") == [(0, 2.5, 1)]
    assert chart.y.names == ("a", "b", "c", "all")


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_one_bar_for_each_name(start):
    axis = Axis("times the rate")
    chart = bars.ranked("title", axis, {"a": 1.5, "b": 0.9}, ("most", 1.7), start=start)
    assert spans(chart, "times the rate") == [
        (start, 1.5, 2),
        (min(start, 0.9), max(start, 0.9), 1),
    ]
    assert chart.series[1].x.tolist() == [1.7, 1.7]


def test_a_value_lies_between_its_ends_across_the_limits():
    rows = {"a": (0.1, 0.2, 0.4), "b": (0.3, 0.3, 0.3)}
    chart = bars.between("title", Axis("loss"), rows, {"tolerance": 0.3})
    assert spans(chart, "may be") == [(0.1, 0.4, 2)]
    assert chart.series[1].x.tolist() == [0.2, 0.3]
    assert chart.series[2].label == "tolerance 0.3"
    assert np.unique(chart.series[2].x) == [0.3]
