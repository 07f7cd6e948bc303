"""Charts to pictures."""

import re
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from scalelab.refusal import Refusal
from scalelab.show import draw, template
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import bars
from scalelab.show.sliders import Figure


@pytest.fixture
def chart():
    return Chart(
        "Title",
        Axis("workers", log=True),
        Axis("seconds", low=0.0, high=10.0),
        (
            Points("line", [1, 10, 100], [2.0, 4.0, 8.0]),
            Points("marks", [1, 100], [1.0, 9.0], "points", low=[0.5, 8.0], high=[1.5, 9.5]),
            Points("band", [1, 100], [2.0, 3.0], "band", low=[1.0, 2.0], high=[3.0, 4.0]),
        ),
    )


def test_a_script_can_place_a_value_where_matplotlib_drew_it(chart):
    """The scales that travel with the picture reproduce the path of the line."""
    picture, scales = draw.svg(chart)
    path = re.search(r'id="[^"]*-series-0">\s*<path d="([^"]+)"', picture).group(1)
    drawn = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    (a, b, log), (c, d, _) = scales["x"], scales["y"]
    assert log
    expected = [a, c + d * 2, a + b, c + d * 4, a + 2 * b, c + d * 8]
    assert drawn == pytest.approx(expected, abs=0.02)


def test_every_series_can_be_found_by_its_number(chart):
    picture, _ = draw.svg(chart)
    assert set(re.findall(r'id="f\w+-(series-[\w-]+)"', picture)) == {
        "series-0",
        "series-1",
        "series-1-bars",
        "series-2",
    }


def test_the_picture_takes_every_colour_from_the_page(chart):
    """A fixed colour would vanish on the other background."""
    picture, _ = draw.svg(chart)
    assert not re.findall(r"(?:fill|stroke): ?#(?!0{6})\w+", picture)
    assert "var(--sl-tone-1)" in picture


def test_the_same_chart_gives_the_same_picture(chart):
    assert draw.svg(chart) == draw.svg(chart)


def test_ids_of_two_figures_do_not_meet(chart):
    other = Chart("Other", chart.x, chart.y, chart.series[:1])
    ids = [set(re.findall(r'\bid="([^"]+)"', draw.svg(one)[0])) for one in (chart, other)]
    assert not ids[0] & ids[1]


def test_print_gets_a_png(chart):
    assert draw.png(chart).startswith(b"\x89PNG")


def test_limits_hold_every_frame():
    """A slider moves the curves, never the paper."""
    charts = [
        Chart("t", Axis("x"), Axis("y"), (Points("a", [0, 1], [0, top]),)) for top in (1, 5, 3)
    ]
    _, y = draw.limits(charts)
    assert y.low == 0.0
    assert y.high >= 5.0


def test_points_that_come_later_leave_a_hidden_mark_to_move():
    gone = Points("later", [1.0, 2.0], [np.nan, np.nan], "points")
    chart = Chart("t", Axis("x"), Axis("y"), (Points("curve", [1, 2], [1, 2]), gone))
    image, _ = draw.svg(chart)
    group = image[image.index("series-1") :]
    assert re.search(r'<use [^>]*style="display: none', group[: group.index("</g>")])
    assert "display: none" not in draw.svg(replace(chart, series=chart.series[:1]))[0]


def test_the_list_of_named_points_is_no_wider_than_the_paper():
    """In four columns it was cut at both ends."""
    names = [f"attention, kind {number}" for number in range(12)]
    points = Points("kernel", range(12), range(12), "points", names=tuple(names))
    lists = []
    with mock.patch.object(draw, "_saved", lambda figure, *_, **__: lists.append(figure)):
        draw.png(Chart("t", Axis("x"), Axis("y"), (Points("line", [0, 9], [0, 9]), points)))
    (figure,) = lists
    figure.draw_without_rendering()
    (box,) = [legend.get_window_extent() for legend in figure.legends]
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_named_points_are_numbered_as_their_list_is():
    points = Points("job", [1, 2, 3], [3, 1, 2], "points", names=("first", "second", "third"))
    chart = Chart("t", Axis("x", ticks=(10,)), Axis("y", ticks=(10,)), (points, points))
    assert sorted(_labels(chart)) == ["1", "1", "2", "2", "3", "3", "x", "y"]


@pytest.mark.parametrize("high", [(97, 107, 88), (107, 97, 88), (90, 90, 90), (80, 110, 100)])
def test_the_numbers_of_points_that_touch_lie_neither_on_each_other_nor_on_a_point(high):
    """The square product, the widest one and the prompt of section 3.7, at 171, 114 and 128 FLOP per byte."""
    points = Points("kernel", [114, 171, 128], high, "points", names=("wide", "square", "prompt"))
    axes = Axis("x", True, 0.006, 3000), Axis("y", True, 0.8, 1600)
    _, drawn = draw.drawing(Chart("t", *axes, (points,)))
    marks = drawn.transData.transform(np.column_stack([points.x, points.y]))
    dot = draw.style()["lines.markersize"] / 2 * drawn.figure.dpi * draw.POINT
    boxes = [(x - dot, x + dot, y - dot, y + dot) for x, y in marks]
    for number in drawn.texts:
        box = number.get_window_extent()
        middle, half = (box.y0 + box.y1) / 2, 0.36 * draw.SMALL * drawn.figure.dpi * draw.POINT
        boxes.append((box.x0, box.x1, middle - half, middle + half))
    assert len(boxes) == 6
    for turn, one in enumerate(boxes[3:], 3):
        for other in boxes[:turn]:
            beside = one[1] <= other[0] or other[1] <= one[0]
            assert beside or one[3] <= other[2] or other[3] <= one[2], (one, other)


@pytest.mark.parametrize("kind", ["dashed", "line"])
@pytest.mark.parametrize("rise", [0, 1])
def test_the_number_of_a_point_that_a_line_passes_stands_beside_the_line(kind, rise):
    at = np.array([2.0, 4.0, 7.0])
    points = Points("upgrade", at, 1 + rise * at, "points", names=("a", "b", "c"))
    passing = Points("as before", [0, 10], [1, 1 + 10 * rise], kind)
    nothing = Points("never", [1, 9], [np.nan, np.nan], kind)
    chart = Chart(
        "t", Axis("x", low=0, high=10), Axis("y", low=0, high=12), (passing, nothing, points)
    )
    _, drawn = draw.drawing(chart)
    along = drawn.transData.transform([(x, 1 + rise * x) for x in np.linspace(0, 10, 2001)])
    assert len(drawn.texts) == 3
    for number in drawn.texts:
        box = number.get_window_extent()
        middle, half = (box.y0 + box.y1) / 2, 0.36 * draw.SMALL * drawn.figure.dpi * draw.POINT
        across = (along[:, 0] > box.x0) & (along[:, 0] < box.x1)
        assert not any(across & (abs(along[:, 1] - middle) < half))


@pytest.mark.parametrize("apart", [1.001, 1.1, 3.0])
@pytest.mark.parametrize("end", ["tag", "end"])
def test_the_tags_of_lines_do_not_lie_on_each_other(apart, end):
    lines = [
        Points(f"line {n}", [1, 2], [apart**n, 2 * apart**n], **{end: f"L{n}"}) for n in range(4)
    ]
    chart = Chart("t", Axis("x", True, 0.1), Axis("y", True, 0.5, 200.0), lines)
    picture, _ = draw.svg(chart)
    at = [re.search(rf" y=\"([\d.]+)\"[^>]*>L{n}<", picture) for n in range(4)]
    heights = [float(found[1]) for found in at]
    assert all(np.diff(heights) <= -draw.SMALL)


def test_a_crowd_of_tags_stands_around_its_lines():
    """From the lowest up: the tag of the highest of four stood a line above its own."""
    lines = [Points(f"L{n}", [1, 2], [1, 10 + n / 100], end=f"L{n}") for n in range(4)]
    _, drawn = draw.drawing(Chart("t", Axis("x"), Axis("y", low=0.0, high=20.0), lines))
    lifts = [tag.xyann[1] for tag in drawn.texts]
    assert len(lifts) == 4
    assert np.mean(lifts) == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("rise", [-1.0, 1.0])
def test_the_word_of_a_mark_between_lines_stands_on_none_of_them(rise):
    """The name of axpy stood on a slope, which passed all four corners of its mark."""
    lines = [
        Points(f"line {n}", [0, 10], [5 - 5 * rise + n, 5 + 5 * rise + n]) for n in (-0.5, 0.3, 1.0)
    ]
    marks = Points("kernels", [5.0], [5.0], "points", words=("axpy",))
    axes = Axis("x", low=0, high=10), Axis("y", low=0, high=10)
    _, drawn = draw.drawing(Chart("t", *axes, (*lines, marks)))
    (word,) = drawn.texts
    box = word.get_window_extent()
    middle, half = (box.y0 + box.y1) / 2, 0.36 * draw.SMALL * drawn.figure.dpi * draw.POINT
    for line in lines:
        xs = np.linspace(0, 10, 2001)
        along = drawn.transData.transform(np.column_stack([xs, np.interp(xs, line.x, line.y)]))
        across = (along[:, 0] > box.x0) & (along[:, 0] < box.x1)
        assert not any(across & (abs(along[:, 1] - middle) < half))


def _labels(chart):
    picture, _ = draw.svg(chart)
    return re.findall(r">([^<>\n]+)</text>", picture)


@pytest.mark.parametrize(
    ("ticks", "shown"),
    [
        ((1e9, 1e10, 1e11, 1e12), ["10,000,000,000", "1,000,000,000,000"]),
        ((8, 64, 512, 1024), ["8", "64", "512", "1,024"]),
    ],
)
def test_labels_that_would_touch_leave_one_of_them_out(ticks, shown):
    """Counted from the right, so that the end of the axis keeps its number."""
    one = Points("line", [ticks[0], ticks[-1]], [1.0, 2.0])
    found = _labels(Chart("Title", Axis("x", log=True, ticks=ticks), Axis("y"), (one,)))
    assert found[: found.index("x")] == shown


@pytest.mark.parametrize("most", [12.0, 60.0, 150.0])
def test_a_logarithmic_axis_shows_at_least_two_numbers(most):
    """A range between two powers of ten would have one, and a reader could read nothing off it."""
    one = Points("line", [3.0, most], [1.0, 2.0])
    found = _labels(Chart("Title", Axis("x", log=True), Axis("y"), (one,)))
    assert len(found[: found.index("x")]) >= 2


def test_joined_points_are_drawn_as_a_line_and_as_marks():
    """A script moves both: the first path of the group, and a mark for each point."""
    points = Points("run", [1, 10, 100], [2.0, 4.0, 8.0], "joined")
    drawn, _ = draw.svg(Chart("T", Axis("K", log=True), Axis("s"), (points,)))
    group = drawn[drawn.index('-series-0"') :]
    assert group.index("<path") < group.index("<use")
    assert group.count("<use") >= 3


def test_a_bar_of_a_lane_ends_before_its_neighbour_and_carries_its_word():
    bars = [0, 1, np.nan, 1, 3, np.nan]
    lane = Points("task", bars, [1, 1, np.nan] * 2, "lane", words=("F0", "B0"))
    _, axes = draw.drawing(
        Chart("", Axis("time"), Axis("", ticks=(1,), names=("stage 1",)), (lane,))
    )
    first, _, _, second = axes.lines[0].get_xdata()[1:5]
    assert first < 1 < axes.lines[0].get_xdata()[3]
    assert [text.get_text() for text in axes.texts] == ["F0", "B0"]
    assert [text.get_position()[0] for text in axes.texts] == [0.5, 2.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["stage 1"]
    assert second < 3


def test_a_lane_that_has_no_bar_yet_is_as_thick_as_those_with_words():
    """A slider may bring its bars, and the script moves them without drawing them anew."""
    none = np.array([np.nan])
    words = Points("of some", [0, 2, np.nan], [1, 1, np.nan], "lane", words=("a",))
    chart = Chart("", Axis("x"), Axis("y"), (words, Points("of all", none, none, "lane")))
    _, axes = draw.drawing(chart)
    assert len({line.get_linewidth() for line in axes.lines}) == 1


def test_a_word_stands_above_each_mark_to_the_right_of_a_path_and_else_where_no_line_passes():
    for kind, side in (("joined", "left"), ("points", "right")):
        marks = Points("size", [1, 2], [3, 1], kind, words=("8", "16"))
        _, axes = draw.drawing(Chart("", Axis("x"), Axis("y", high=4.0), (marks,)))
        assert [(text.get_text(), text.get_ha()) for text in axes.texts] == [
            ("8", side),
            ("16", side),
        ]
        assert [text.xy for text in axes.texts] == [(1, 3), (2, 1)]
        assert all(text.get_position()[1] > 0 for text in axes.texts)
    marks = Points("task", [1], [2], "points", words=("31",))
    passing = Points("needs", [0, 1], [4, 2], "line")
    _, axes = draw.drawing(Chart("", Axis("x", high=2.0), Axis("y"), (passing, marks)))
    assert [text.get_ha() for text in axes.texts] == ["left"]


def test_a_word_of_a_path_keeps_off_a_straight_dashed_line_and_another_word():
    """The size to buy stood on its deadline, and another on the budget."""
    path = Points("size", [1, 2, 3], [3, 2, 1], "joined", words=("8", "16", "32"))
    upright = Points("deadline", [2.1, 2.1], [0, 4], "dashed")
    level = Points("budget", [0, 1.5], [3.2, 3.2], "dashed")
    slanted = Points("ideal", [0, 4], [0, 4], "dashed")
    axis = Axis("x", low=0.0, high=4.0), Axis("y", low=0.0, high=4.0)
    _, axes = draw.drawing(Chart("", *axis, (path, upright, level, slanted)))
    assert [text.get_position() for text in axes.texts] == [
        *[draw.BESIDE[1]] * 2,  # below to the left
        draw.BESIDE[0],
    ]
    near = Points("size", [1, 1.001], [2, 2.001], "joined", words=("8", "16"))
    _, axes = draw.drawing(Chart("", *axis, (near,)))
    assert [text.get_position() for text in axes.texts] == draw.BESIDE[:2]


def test_the_script_of_a_figure_puts_the_words_of_a_path_where_python_does():
    script = template.asset("figure.js")
    offs = ", ".join(f"{lift - draw.LIFTED:g}" for _, lift in draw.BESIDE[::2])
    assert f"beside = [{offs}].flatMap((off) => [1, -1].map(" in script
    assert f"[i * {draw.AT_MARK:g}, i * ({draw.LIFTED:g} + off)]" in script
    assert f"wide = {draw.DIGIT * draw.SMALL / 2:.2f} * words[i].length" in script
    assert script.count(f"/ 2 + {draw.CLEAR:g}") == 2


def test_a_word_stands_within_the_axes_and_on_no_other_mark():
    """The size of 32 workers stood over the axis, and half of it over the edge of the picture."""
    marks = Points("size", [0, 3, 2.5], [9.9, 5, 5.6], "points", words=("K = 32", "K = 8", "K = 9"))
    axis = Axis("x", low=-0.5, high=10.0), Axis("y", low=0.0, high=10.0)
    _, axes = draw.drawing(Chart("", *axis, (marks,)))
    dots = axes.transData.transform(np.column_stack([marks.x, marks.y]))
    for text in axes.texts:
        box = text.get_window_extent()
        assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1
        assert axes.bbox.y0 <= box.y0
        assert (box.y0 + box.y1) / 2 <= axes.bbox.y1
        assert not any(box.x0 < x < box.x1 and box.y0 < y < box.y1 for x, y in dots)


def test_a_word_is_nearer_to_its_own_mark_than_to_that_of_another():
    """On a phone softmax began under the mark of axpy, and 5 stood halfway between 2 and 5."""
    axis = Axis("x", low=0.0, high=10.0), Axis("y", low=0.0, high=10.0)
    marks = Points("before", [5], [5], "points", words=("softmax",))
    others = [
        Points("after", [x], [y], "points", words=("axpy",), quiet=True)
        for x, y in ((3.6, 5.8), (4.2, 5.0), (5.0, 5.6))
    ]
    numbered = Points("kernel", [4.6, 5.1], [5, 5], "points", names=("dot", "vector"))
    for series in (*((marks, other) for other in others), (numbered,)):
        _, axes = draw.drawing(Chart("", *axis, series))
        places = np.concatenate([np.column_stack([one.x, one.y]) for one in series])
        dots = axes.transData.transform(places)
        for text in axes.texts:
            box = text.get_window_extent()
            near = np.clip(dots, [box.x0, box.y0], [box.x1, box.y1])
            closest = np.argmin(np.hypot(*(dots - near).T))
            assert axes.transData.transform(text.xy) == pytest.approx(dots[closest])


def test_an_arrow_leads_from_where_something_was_to_where_it_moved():
    """Two dots and a line between them did not say which way."""
    up = Points("faster", [10, 10], [1, 100], "moved")
    chart = Chart("t", Axis("x", True, 1.0, 100.0), Axis("y", True, 0.1, 1000.0), (up,))
    picture, scales = draw.svg(chart)
    group = re.search(r'id="[^"]*-series-0">(.*?)</g>', picture, re.DOTALL)[1]
    shaft, head = (
        np.array(re.findall(r"-?[\d.]+", d), float).reshape(-1, 2)
        for d in re.findall(r'\bd="([^"]+)"', group)
    )
    (a, b, _), (c, d, _) = scales["x"], scales["y"]
    assert shaft[0] == pytest.approx([a + b, c], abs=0.1)
    assert head[1] == pytest.approx([a + b, c + 2 * d], abs=4)  # and half of its line more
    assert (head[[0, 2], 1] > head[1, 1]).all()
    assert "faster: from 1 at 10 to 100 at 10." in chart.describe()
    assert [*chart.rows()] == [["10", "1, 100"]]


def test_of_an_axis_that_only_keeps_things_apart_neither_ticks_nor_places_are_told():
    marks = Points("task", [0, 0, 1], [1, 2, 1], "points")
    chart = Chart("Two rounds", Axis("round", ticks=(0, 1)), Axis("", bare=True), (marks,))
    _, axes = draw.drawing(chart)
    assert not list(axes.get_yticks())
    assert list(chart.rows()) == [["0", "2"], ["1", "1"]]
    assert chart.describe() == "Two rounds. round. task: 3 points from 0 to 1."


def test_a_word_too_many_for_the_bars_of_a_lane_is_refused():
    with pytest.raises(Refusal, match="words of 'task' must be one for each bar"):
        Points("task", [0, 1], [1, 1], "lane", words=("F0", "B0"))


def test_coordinates_have_two_decimals_and_stand_where_matplotlib_put_them(monkeypatch):
    chart = Chart(
        "T",
        Axis("a"),
        Axis("b"),
        (Points("c", np.linspace(0, 1, 50), np.random.default_rng(0).random(50)),),
    )
    short, _ = draw.svg(chart)
    monkeypatch.setattr(draw, "_hundredths", lambda found: found[0])
    long, _ = draw.svg(chart)
    path = re.compile(r'\bd="([^"]*)"')
    numbers = [
        [float(one) for text in path.findall(image) for one in re.findall(r"-?\d+\.?\d*", text)]
        for image in (short, long)
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.0051)
    assert not [text for text in path.findall(short) if re.search(r"\.\d{3}", text)]
    assert len(short) < len(long)


def test_a_picture_brings_no_rule_for_the_page_around_it():
    """Matplotlib's rule for `*` had a browser style the whole page anew at each picture."""
    image, _ = draw.svg(Chart("t", Axis("x"), Axis("y"), (Points("a", [1, 2], [1, 2]),)))
    assert "<style" not in image
    assert 'style="stroke-linejoin: round' in image.partition(">")[0]


def test_few_named_bars_make_a_low_picture_and_thick_bars_and_many_the_usual_ones():
    """Three hair-thin bars stood in a picture of the usual height, ten times as far apart as thick."""
    looks = {}
    for many in (3, 16):
        chart = bars.ranked("t", Axis("ms"), {f"bar {at}": 1.0 + at for at in range(many)})
        figure, axes = draw.drawing(chart)
        apart = axes.bbox.height / figure.dpi / draw.POINT / (many + 0.2)
        looks[many] = figure.get_figheight(), axes.lines[0].get_linewidth(), apart
    usual = draw.style()["figure.figsize"][1]
    assert looks[3][0] < 0.7 * usual
    assert looks[16][0] == pytest.approx(usual)
    assert looks[3][1] == draw.BAR
    for _, thick, apart in looks.values():
        assert apart / 4 < thick < 0.8 * apart


def test_names_that_are_too_long_for_the_margin_stand_inside_each_above_its_own_bar():
    """Eleven rows had ticks without a name, and their names stood in a legend of five lines, with numbers."""
    values = {f"a change whose name is as long as that, {n}": 1 + n / 10 for n in range(11)}
    chart = bars.ranked("t", Axis("times", low=0.9), values, start=1.0, inside=True)
    figure, axes = draw.drawing(chart)
    assert not any(label.get_visible() and label.get_text() for label in axes.get_yticklabels())
    rows = axes.transData.transform([(1.0, place) for place in chart.y.ticks])[:, 1]
    half = axes.lines[0].get_linewidth() / 2 * figure.dpi * draw.POINT
    for text, row, above in zip(axes.texts, rows, [np.inf, *rows], strict=False):
        box = text.get_window_extent()
        assert row + half < box.y0 < box.y1 < above - half
        assert axes.bbox.x0 < box.x0 < box.x1 < axes.bbox.x1
    assert [text.get_text() for text in axes.texts] == list(values)
    assert [row[0] for row in chart.rows()] == list(values)


def test_a_crowd_of_marks_is_drawn_small_and_a_single_one_is_seen_among_them():
    x = np.arange(300.0)
    series = (Points("a request", x, x, "points"), Points("slowest", [299], [299], "points"))
    _, axes = draw.drawing(Chart("t", Axis("x"), Axis("y"), series))
    small, single = (line.get_markersize() for line in axes.lines)
    assert small < 0.7 * single


def test_a_logarithmic_axis_of_less_than_a_power_of_ten_has_more_numbers_in_order():
    """The axis of 3.5 to 11 ms had 5 and 10, and the half of all that lies at 4.2 lay beside none."""
    one = Points("line", [3.5, 11.0], [1.0, 2.0])
    found = _labels(Chart("Title", Axis("x", log=True), Axis("y"), (one,)))
    assert found[: found.index("x")] == ["4", "5", "6", "8", "10"]


def test_words_of_marks_in_one_place_stand_on_different_sides():
    marks = [Points(f"{name}: slowest", [1], [3], "points", words=(name,)) for name in "ab"]
    around = Points("all", [0, 2], [0, 5], "points")
    chart = Chart("t", Axis("x"), Axis("y"), (around, *marks))
    _, axes = draw.drawing(chart)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not boxes[0].overlaps(boxes[1])


def test_a_mark_that_has_its_name_beside_it_has_no_place_in_the_legend_and_keeps_its_column():
    users = Points("users", [0, 1], [1, 2], "points")
    slow = Points("users: slowest", [1], [2], "points", words=("users",))
    other = Points("batch", [1], [1], "points", words=("8",))  # a word that is not its name
    chart = Chart("t", Axis("x"), Axis("y"), (users, slow, other))
    keys = re.findall(r"</span>([^<]+)</li>", Figure(chart).html())
    assert keys == ["users", "batch"]
    assert chart.columns() == ["x", "users", "users: slowest", "batch"]
