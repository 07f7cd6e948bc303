"""A figure as data: its words come from the same numbers as its picture."""

import numpy as np
import pytest

from scalelab.show import words
from scalelab.show.chart import Axis, Chart, Points


def chart(*series):
    return Chart("Title", Axis("workers"), Axis("speedup"), series)


def test_alt_text_names_axes_ends_and_an_inner_peak():
    text = chart(Points("run", [1, 2, 4], [1, 3, 2])).describe()
    assert text == ("Title. speedup against workers. run: from 1 at 1 to 2 at 4, highest 3 at 2.")


def test_table_reads_a_line_between_its_points_at_the_marked_places():
    rows = list(
        chart(
            Points("line", [1, 3], [10, 30]), Points("marks", [2, 2.5], [21, 26], "points")
        ).rows()
    )
    assert rows == [["2", "20", "21"], ["2.5", "25", "26"], ["3", "30", ""]]


@pytest.mark.parametrize(
    ("high", "ys", "last"), [(None, [1, 4], "9"), (5, [1, 4], "5"), (None, [4, 4], "2")]
)
def test_table_goes_on_behind_the_last_mark_as_far_as_a_curve_is_seen_to_rise(high, ys, last):
    """A printed table stopped at the size somebody measured, beside a curve that led to the one asked for."""
    series = Points("curve", [1, 9], ys), Points("marks", [1, 2], [1, 2], "points")
    rows = list(Chart("Title", Axis("workers", high=high), Axis("speedup"), series).rows())
    assert [row[0] for row in rows] == ["1", "2", *([last] if last != "2" else [])]


def test_table_twin_stays_readable_however_many_points_a_line_has():
    x = np.arange(1, 1001)
    rows = list(chart(Points("line", x, x**2)).rows())
    assert len(rows) == 12
    assert rows[0][0] == "1"
    assert rows[-1][0] == "1,000"


def test_the_rows_of_a_smooth_curve_over_doublings_are_the_doublings():
    x = 8 * 2.0 ** (np.arange(0, 43) / 6)
    rows = list(chart(Points("line", x, x**2)).rows())
    assert [row[0] for row in rows] == ["8", "16", "32", "64", "128", "256", "512", "1,024"]
    assert [row[1] for row in rows[:2]] == ["64", "256"]
    assert len(list(chart(Points("line", x[:-1], x[:-1])).rows())) == words.MOST_ROWS


def test_a_part_is_told_by_its_own_amount():
    """Where it lies among the others is for the eye: nobody wants to subtract to learn how much it is."""
    whole = chart(
        Points("lower", [1, 2], [3, 1], "part", low=[0, 0], high=[3, 1]),
        Points("upper", [1, 2], [4, 6], "part", low=[3, 1], high=[7, 7]),
    )
    assert list(whole.rows()) == [["1", "3", "4"], ["2", "1", "6"]]
    assert "upper: from 4 at 1 to 6 at 2." in whole.describe()


def test_named_points_are_told_by_their_names():
    found = chart(
        Points("line", [1, 2], [1, 2]), Points("job", [1, 1, 2], [3, 4, 5], "points", names="abc")
    )
    assert list(found.rows()) == [["1", "1", "3 (a), 4 (b)"], ["2", "2", "5 (c)"]]
    assert found.describe().endswith("job: a 3 at 1, b 4 at 1, c 5 at 2.")


def test_places_that_no_digit_tells_apart_share_a_row():
    """A dot product also writes one number: beside what stood at 0.25 it made a second row like it."""
    dot = Points("before", [32e6 / 128_000_004, 1], [3, 4], "points", names=("dot", "b"))
    axpy = Points("after", [0.25, 1], [5, 6], "points", names=("axpy", "b"))
    rows = [["0.25", "3 (dot)", "5 (axpy)"], ["1", "4 (b)", "6 (b)"]]
    assert list(chart(dot, axpy).rows()) == rows
    assert [row[0] for row in chart(Points("a", [1e-9, 2e-9], [1, 2], "points")).rows()] == [
        "1e-09",
        "2e-09",
    ]


def test_points_with_bars_show_their_interval_in_the_table():
    rows = list(chart(Points("m", [1], [2], "points", low=[1.5], high=[2.5])).rows())
    assert rows == [["1", "2 (1.5 to 2.5)"]]


def test_a_point_whose_ends_nobody_knows_has_its_value_alone():
    """It stood there as "1 ( to )"."""
    bars = Points("bars", [1, 2], [1, 3], "points", low=[np.nan, 2], high=[np.nan, 4])
    assert list(chart(bars).rows()) == [["1", "1"], ["2", "3 (2 to 4)"]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Points("a", [1, 2], [1]), "one value for each x (2), got 1"),
        (lambda: Points("a", [1], [1], "spiral"), "kind must be one of line"),
        (lambda: Points("a", [1, 2], [1, 2], names=("b",)), "one for each of its 2 points, got 1"),
        (lambda: Points("a", [], []), "at least one point, got none"),
        (lambda: chart(), "at least one series, got none"),
    ],
)
def test_a_chart_that_cannot_be_drawn_says_why(make, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        make()


def test_a_mark_without_a_word_has_its_value_alone_in_the_table():
    path = Points("run", [1, 2], [3, 4], "joined", words=("", "two"))
    assert list(chart(path).rows()) == [["1", "3"], ["2", "4 (two)"]]


def test_a_single_mark_does_not_empty_the_table_of_its_curve():
    curve, mark = Points("line", [1, 3], [10, 30]), Points("mark", [2], [20], "points")
    assert [row[0] for row in chart(curve, mark).rows()] == ["1", "2", "3"]


def test_marks_at_one_place_of_several_curves_do_not_empty_the_table_either():
    curves = Points("a", [1, 3], [10, 30]), Points("b", [1, 3], [20, 60])
    marks = Points("here", [2, 2], [20, 40], "points")
    rows = list(chart(*curves, marks).rows())
    assert rows == [["1", "10", "20", ""], ["2", "20", "40", "20, 40"], ["3", "30", "60", ""]]


def test_lanes_are_told_as_bars():
    gap = np.nan
    tasks = Points("task", [0, 2, gap, 3, 4, gap], [1, 1, gap, 2, 2, gap], "lane")
    chart = Chart("two tasks", Axis("time"), Axis("worker"), (tasks,))
    assert chart.describe() == "two tasks. worker against time. task: 2 bars until 4."


def test_table_tells_who_is_busy_when():
    gap = np.nan
    tasks = Points(
        "task", [0, 2, gap, 0, 3, gap, 2, 4, gap], [1, 1, gap, 2, 2, gap, 1, 1, gap], "lane"
    )
    rows = list(Chart("tasks", Axis("time"), Axis("worker"), (tasks,)).rows())
    assert rows == [["0", "1, 2"], ["2", "1, 2"], ["3", "1"], ["4", ""]]


def test_table_shows_every_point_at_a_place_and_counts_those_that_are_too_many():
    marks = Points("task", [1] * 8 + [2, 2], [*range(1, 9), 1, 2], "points")
    assert [row[1] for row in chart(marks).rows()] == ["8: 1 to 8", "1, 2"]
    assert chart(marks).describe().endswith("task: 10 points from 1 to 2, up to 8.")


def test_edges_of_a_graph_are_counted_where_they_begin():
    edges = Points("needs", [1, 2, np.nan, 1, 3, np.nan], [1, 1, np.nan, 2, 1, np.nan], "dashed")
    tasks = Points("task", [1, 1, 2, 3], [1, 2, 1, 1], "points")
    assert [row[1] for row in chart(edges, tasks).rows()] == ["2", "", ""]
    assert "needs: 2 lines." in chart(edges).describe()


def test_short_lines_beside_quantities_have_no_column():
    """The lines from each base to its end once stood as 1, 1, 2 in a table of efficiencies."""
    short = Points("from its base", [1, 2, np.nan, 4, 8], [1, 1, np.nan, 1, 1], "line", tone=0)
    reported = Points("reported", [2, 8], [0.9, 0.7], "points")
    beside = Chart("Title", Axis("workers", log=True), Axis("efficiency"), (short, reported))
    assert beside.columns() == ["workers", "reported"]
    assert list(beside.rows()) == [["2", "0.9"], ["8", "0.7"]]
    assert "from its base: 2 lines." in beside.describe()
    alone = Chart("Title", Axis("workers", log=True), Axis("efficiency"), (short,))
    assert alone.columns() == ["workers", "from its base"]


def test_an_upright_line_and_a_single_mark_have_their_row_in_a_long_table():
    x = np.arange(1.0, 101)
    limit, mark = (
        Points("limit", [50.5, 50.5], [0, 9], "dashed"),
        Points("mark", [7.5], [1], "points"),
    )
    found = chart(Points("line", x, x), limit, mark)
    assert ["7.5", "7.5", "", "1"] in list(found.rows())
    assert ["50.5", "50.5", "here", ""] in list(found.rows())
    assert "limit: at 50.5." in found.describe()


def test_between_points_that_are_only_joined_nothing_is_read():
    """A line through measurements is for the eye: its table has their rows, and no others."""
    found = chart(
        Points("one", [8, 64], [1, 0.5], "joined"), Points("ideal", [8, 128], [1, 1], "dashed")
    )
    other = chart(Points("one", [8, 64], [1, 0.5], "joined"), Points("b", [16], [1], "joined"))
    assert list(found.rows()) == [["8", "1", "1"], ["64", "0.5", "1"]]
    assert list(other.rows()) == [["8", "1", ""], ["16", "", "1"], ["64", "0.5", ""]]
    assert "one: from 1 at 8 to 0.5 at 64." in found.describe()


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [("points", 13, 13), ("joined", 24, 24), ("points", 60, 12), ("line", 13, 12)],
)
def test_all_that_was_measured_is_in_the_table_until_nobody_would_read_it(kind, given, told):
    xs = np.arange(1.0, given + 1)
    assert words.places([Points("some", xs, xs, kind)]).size == told


def bars(*parts, names=("first", "second")):
    ticks = tuple(float(len(names) - turn) for turn in range(len(names)))
    high = Axis("", low=0.4, high=len(names) + 0.6, ticks=ticks, names=names)
    return Chart("Bars", Axis("ms", low=0.0), high, parts)


def test_each_bar_has_a_row_with_its_name_from_the_top():
    """It was told by its number, counted from below: "2, 3"."""
    gap = np.nan
    found = bars(
        Points("part", [0, 2, gap, 0, 3, gap], [2, 2, gap, 1, 1, gap], "lane"),
        Points("rest", [2, 5, gap], [2, 2, gap], "lane"),
        Points("as it stands", [4, 2.5], [2, 1], "points"),
        Points("limit", [4, 4], [0.4, 2.6], "dashed"),
    )
    assert found.columns() == ["bar: ms", "part", "rest", "as it stands", "limit"]
    assert list(found.rows()) == [
        ["first", "2", "2 to 5", "4", "4"],
        ["second", "3", "", "2.5", "4"],
    ]
    assert found.describe().startswith("Bars. ms, first, second. part: 2 bars until 3.")
    assert "as it stands: from first at 4 to second at 2.5." in found.describe()


def test_bars_of_one_name_at_several_times_are_told_by_time_and_name():
    gap = np.nan
    found = bars(
        Points("task", [0, 1, gap, 2, 3, gap, 0, 3, gap], [2, 2, gap, 2, 2, gap, 1, 1, gap], "lane")
    )
    assert next(iter(found.rows())) == ["0", "second, first"]


def test_the_named_ticks_of_an_axis_name_the_rows():
    """They were told as 1 to 3: who reads the table could not tell which is which."""
    x = Axis("device", ticks=(1, 2, 3), names=("A100", "H100", "H200"))
    found = Chart("Peaks", x, Axis("times"), (Points("peak", [1, 2, 3], [1, 3, 3], "joined"),))
    assert [row[0] for row in found.rows()] == ["A100", "H100", "H200"]
    assert "from 1 at A100 to 3 at H200" in found.describe()
