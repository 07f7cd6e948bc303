"""The figures of section 3.7: what is drawn, and what its table says."""

import numpy as np
import pytest

from scalelab import data, units
from scalelab.measure import probe
from scalelab.models.kernels import kernels, roofline
from scalelab.models.machines import hardware
from scalelab.show import draw
from scalelab.show.plots import roofline as figures

PEAKS, LEVELS = {"fp32": 90e9}, {"DRAM": 9e9, "L1": 100e9, "L2": 70e9}


def test_only_the_roof_proper_has_a_flat_part():
    """Others would lie on it and be hidden: each ends at its ridge, where it meets the roof."""
    roof, *slopes = figures.roofs("t", PEAKS, LEVELS).series
    assert [one.tag for one in (roof, *slopes)] == list(LEVELS)
    assert roofline.ridge(90e9, 9e9) in roof.x
    for one, bandwidth in zip(slopes, (100e9, 70e9), strict=True):
        assert one.x[-1] == pytest.approx(roofline.ridge(90e9, bandwidth))
        assert one.y == pytest.approx(one.x * bandwidth / 1e9)
        assert roof.y.max() == pytest.approx(one.y[-1]) == 90


def test_each_flat_has_its_name_beside_it_for_all_have_one_look():
    roof, *_, bf16, fp64 = figures.roofs(
        "t", {"fp32": 90e9, "bf16": 60e9, "fp64": 40e9}, LEVELS
    ).series
    assert [one.end for one in (roof, bf16, fp64)] == ["fp32", "bf16", "fp64"]
    assert [(one.kind, one.tag) for one in (bf16, fp64)] == [("dashed", "")] * 2


@pytest.mark.parametrize("type_size", [0.56, 1.05], ids=["desk", "phone"])
def test_each_name_stands_nearest_to_its_own_line(type_size):
    """The flat of bf16 began at the end of that of fp32, and there its name was read as the name of that."""
    record = data.recorded("probe")
    rates, widths = probe.rates(record), probe.bandwidths(record)
    peaks = {"fp32": rates["fp32"]} | rates
    chart = figures.roofs("t", peaks, {"DRAM": widths["DRAM"]} | widths)
    own = {
        name: turn for turn, one in enumerate(chart.series) for name in (one.tag, one.end) if name
    }
    assert set(own) == {*peaks, *widths}
    _, axes = draw.drawing(chart)
    lines = []
    for one in chart.series:
        corners = axes.transData.transform(np.column_stack([one.x, one.y]))
        along = np.linspace(0, len(corners) - 1, 50 * len(corners))
        at = np.arange(len(corners))
        lines.append(np.column_stack([np.interp(along, at, side) for side in corners.T]))
    for text in axes.texts:
        box = text.get_window_extent()
        end = box.x0 if text.get_ha() == "left" else box.x1
        middle = end + ((box.x0 + box.x1) / 2 - end) * type_size, (box.y0 + box.y1) / 2
        away = [np.hypot(*(line - middle).T).min() for line in lines]
        assert np.argmin(away) == own[text.get_text()], text.get_text()
        assert box.x0 >= axes.bbox.x0
        assert text.get_ha() == "right" or end + box.width * type_size <= axes.figure.bbox.x1


def test_a_higher_flat_is_reached_along_the_slope_from_the_roof_below_it():
    """It hung in the air, and the corner that the text computes was nowhere."""
    peaks = {"fp32": 90e9, "int8": 720e9, "bf16": 360e9}
    *_, int8, bf16 = figures.roofs("t", peaks, LEVELS).series
    for one, below, peak in ((bf16, 90e9, 360e9), (int8, 360e9, 720e9)):
        assert one.x[0] == pytest.approx(below / 9e9)
        assert peak / 9e9 in one.x
        assert one.y == pytest.approx(roofline.attainable(one.x, peak, 9e9) / 1e9)


def test_points_that_move_are_drawn_large_beside_their_slopes():
    """Over the whole axis two slopes a tenth apart lay on each other."""
    chart = figures.roofs(
        "t", PEAKS, {"DRAM": 9e9, "names": 8e9}, {"dot": (0.25, 1e9)}, after={"dot": (0.5, 2e9)}
    )
    spans = [one.x.max() / one.x.min() for one in chart.series if one.kind == "line"]
    assert max(spans) < 1000 < figures.ENDS[1] / figures.ENDS[0]
    for one in chart.series:
        assert chart.x.low < np.nanmin(one.x)


def test_arrows_lead_from_every_point_to_where_it_went_unless_it_hardly_moved():
    before = {"dot": (0.25, 1e9), "axpy": (0.2, 2e9), "still": (1.0, 2e9)}
    after = {"dot": (0.5, 2e9), "axpy": (0.2, 6e9), "still": (1.0, 2.01e9)}
    (led,) = (
        one
        for one in figures.roofs("t", PEAKS, LEVELS, before, after=after).series
        if one.kind == "edge"
    )
    begin = np.flatnonzero(np.isnan(led.x))[:-1] + 1
    assert led.x[begin] == pytest.approx([0.25, 0.2])
    assert led.y[begin] == pytest.approx([1, 2])
    tips = begin + 1
    assert 0.25 < led.x[tips][0] < 0.5
    assert led.x[tips][1] == pytest.approx(0.2)
    assert 1 < led.y[tips][0] < 2 < led.y[tips][1] < 6
    assert (
        "from before to after"
        not in figures.roofs("t", PEAKS, LEVELS, before, after=after).columns()
    )


def test_a_slow_flat_begins_at_a_slope_and_does_not_cross_their_names():
    for slow, begin in ((4e9, 0.04), (1e9, 1 / 9), (0.1e9, figures.ENDS[0])):
        *slopes, flat = figures.roofs("t", {"fp32": 90e9, "fp16": slow}, LEVELS).series
        assert flat.x[0] == pytest.approx(begin)
        assert flat.x[0] >= min(one.x[0] for one in slopes)


def test_a_calculated_roof_begins_where_it_leaves_the_one_that_was_measured():
    chart = figures.roofs("t", {"bf16": 800e12}, {"HBM": 4e12}, theory=1000e12)
    measured, calculated = chart.series
    assert calculated.x[0] == pytest.approx(200)
    assert calculated.y[[0, -1]] == pytest.approx([800, 1000])
    assert np.isin([200.0, 250.0], calculated.x).all()
    assert measured.tag == ""


def test_a_calculated_roof_that_is_too_low_is_drawn_all_the_same():
    """Where a clock was told that is not the highest, the measured roof must be seen above it."""
    measured, calculated = figures.roofs("t", {"fp32": 80e9}, {"DRAM": 8e9}, theory=40e9).series
    assert calculated.x[0] == pytest.approx(5)
    assert calculated.y == pytest.approx(np.full(calculated.x.size, 40.0))
    assert measured.y.max() == 80


def test_kernels_keep_their_names_in_the_table_and_are_within_the_picture():
    points = {"axpy": (0.17, 1e8), "product": (100, 89e9)}
    chart = figures.roofs("t", PEAKS, LEVELS, points)
    assert [row[-1] for row in chart.rows()] == ["0.1 (axpy)", "89 (product)"]
    for one in chart.series:
        assert (chart.y.low < one.y).all()
        assert (one.y < chart.y.high).all()


def test_points_before_and_after_are_two_sets_under_one_roof():
    chart = figures.roofs("t", PEAKS, LEVELS, {"dot": (0.25, 1e9)}, after={"dot": (0.5, 2e9)})
    before, after = chart.series[-2:]
    assert (before.label, after.label) == ("before", "after")
    assert (before.y[0], after.y[0]) == (1.0, 2.0)
    assert before.tone != after.tone


def test_points_that_moved_have_their_names_beside_them_and_no_numbers():
    """Both were "1": before, two operations; after, one walk."""
    chart = figures.roofs("t", PEAKS, LEVELS, {"two": (0.25, 1e9)}, after={"one": (0.5, 2e9)})
    assert [(one.words, one.names) for one in chart.series[-2:]] == [(("two",), ()), (("one",), ())]
    assert "before: 1 at 0.25 (two). after: 2 at 0.5 (one)." in chart.describe()
    still = figures.roofs("t", PEAKS, LEVELS, {"dot": (0.25, 1e9)}).series[-1]
    assert (still.words, still.names) == ((), ("dot",))


def test_every_device_of_the_panel_has_its_roof_in_the_format_that_it_has():
    """The slider starts from the reader's own device, so each has a stop, and its own roof."""
    assert set(figures.YOURS.values) == set(hardware.names())
    assert len(set(figures.YOURS.near)) == len(figures.YOURS.near)
    for name, (peak, bandwidth) in zip(figures.YOURS.values, figures.YOURS.near, strict=True):
        roof = figures.moving(name, 32, 2048).series[0]
        assert roof.y.max() == pytest.approx(peak / 1e12)
        assert roof.y[0] / roof.x[0] == pytest.approx(bandwidth / 1e12)
    said = {name: figures.moving(name, 1, 128).readouts["Ridge"] for name in figures.YOURS.values}
    assert said["T4"] == "203 FLOP/B, in fp16"
    assert said["Core i7-8565U"] == "6 FLOP/B, in fp32"


def test_each_kernel_of_a_layer_says_how_long_it_takes_at_least():
    """The slider moved intensities only, and nobody saw what a longer context costs."""
    for context in (128, 8192):
        said = figures.moving("H100 SXM", 32, context).readouts["Attention, writing"]
        kernel = figures.layer(32, context)["attention, writing"]
        assert said.endswith(f"memory, at least {units.text(float(kernel.bytes / 3.35e12), 's')}")


def test_numbers_of_four_bytes_have_half_the_intensity_of_those_of_two():
    narrow, wide = (figures.layer(32, 2048, width) for width in (2, 4))
    for name, kernel in narrow.items():
        assert kernel.flops == wide[name].flops
        assert kernel.bytes == pytest.approx(wide[name].bytes / 2)


@pytest.mark.parametrize("device", figures.FOUND.values)
def test_each_best_product_has_the_colour_of_the_roof_it_is_held_against(device):
    chart = figures.published(device)
    tones = {one.label.split(",")[0]: one.tone for one in chart.series if one.kind == "dashed"}
    found = [one for one in chart.series if one.kind == "points"]
    assert len(found) == len(chart.readouts) == 2
    for one in found:
        name = one.label.split(",")[0]
        printed = next(line for line in chart.series if line.label == f"{name}, printed")
        assert one.tone == tones[name]
        assert one.y[0] < printed.y.max() <= chart.y.high


def test_the_walls_of_a_chain_of_walks_are_drawn_where_they_can_be_seen():
    took, starts = [9e-3, 5e-3, 7e-3], [8e-3, 8e-4, 8e-5]
    chart = figures.pieces([10, 100, 1000], took, starts, 2e-3, 6e-3, figures.said("a test"))
    measured, begun, *level = chart.series
    assert measured.y == pytest.approx([9, 5, 7])
    assert list(begun.x) == pytest.approx([10, 80])  # where it leaves the picture
    assert list(begun.y) == pytest.approx([8, chart.y.low])
    assert [one.y[0] for one in level] == [6, 2]


def test_a_bar_is_as_long_as_what_it_says_and_stands_beside_its_name():
    rows = {"one": {"a": 3.0, "b": 1.0}, "two": {"a": 2.0}}
    chart = figures.bars("t", "ms", rows, figures.MODEL, "see")
    places = dict(zip(chart.y.names, chart.y.ticks, strict=True))
    found = {
        (name, series.label): series.x[at + 1] - series.x[at]
        for series in chart.series
        for at in range(0, series.x.size, 3)
        for name, place in places.items()
        if abs(series.y[at] - place) < 0.5
    }
    assert found == {("one", "a"): 3, ("one", "b"): 1, ("two", "a"): 2}
    assert chart.series[0].x[0] == 0


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_no_bar_of_a_group_hides_a_part_of_another(groups):
    """They lay on each other by half, and nobody saw how long the one behind is."""
    rows = {f"group {n}": {"a": 3.0, "b": 1.0, "c": 2.0} for n in range(groups)}
    _, drawn = draw.drawing(figures.bars("t", "ms", rows, figures.MODEL, "see"))
    lanes = [line for line in drawn.lines if len(line.get_xdata())]
    heights = np.sort(np.unique([y for line in lanes for y in line.get_ydata() if np.isfinite(y)]))
    assert heights.size == 3 * groups
    at = drawn.transData.transform([(0, y) for y in heights])[:, 1]
    apart = np.diff(at) / drawn.figure.dpi / draw.POINT
    assert apart.min() > lanes[0].get_linewidth() + 1


def test_what_moved_has_its_name_in_the_picture_once_and_in_the_table_twice():
    """At either end of each arrow stood the same word, and some of them on a slope."""
    before, after = (
        {"dot": (0.25, 1e9), "axpy": (0.1, 1e9)},
        {"dot": (0.5, 2e9), "axpy": (0.2, 1e9)},
    )
    chart = figures.roofs("t", PEAKS, LEVELS, before, after=after)
    picture, _ = draw.svg(chart)
    assert [picture.count(f">{name}<") for name in before] == [1, 1]
    assert "after: 2 at 0.5 (dot), 1 at 0.2 (axpy)" in chart.describe()


def test_the_slower_of_two_clocks_is_the_whole_of_its_row():
    chart = figures.clocks([kernels.gemv(4096, 4096, 4), kernels.gemm(64, 64, 64, 4)], 200e9, 80e9)
    compute, fetch = (series.x[1::3] for series in chart.series)
    assert compute == pytest.approx([100 * (0.5 / 2.5), 100], rel=1e-3)
    assert fetch == pytest.approx([100, 100 * 2.5 / (64 / 6)], rel=1e-3)


def test_no_move_of_attention_passes_its_roof():
    series = {one.label.split(":")[0]: one for one in figures.three_moves().series}
    roof, higher = series["roof, bf16"], series["roof, fp8"]
    flat, raised, slope = (
        series[name] for name in ("reaching the flat", "raising the flat", "along the slope")
    )
    assert (flat.y < roof.y.max()).all()
    assert flat.y == pytest.approx([0.35 * 989.5, 840])
    assert raised.y[0] == flat.y[1]
    assert roof.y.max() < raised.y[1] < higher.y.max() == pytest.approx(1979)
    assert raised.x[1] == 2 * raised.x[0] == 4096  # n/2 FLOPs per byte of two bytes each
    assert slope.x == pytest.approx([1, 8], rel=0.01)
    assert slope.y == pytest.approx(np.array(slope.x) * 3.35, rel=1e-3)


def test_two_slopes_that_would_lie_on_each_other_are_drawn_as_one_under_both_names():
    chart = figures.roofs("t", PEAKS, {"lines": 10e9, "names": 10.2e9, "L1": 100e9})
    assert [one.label for one in chart.series] == ["fp32, from lines and names", "from L1"]
    apart = figures.roofs("t", PEAKS, {"lines": 10e9, "names": 12e9})
    assert [one.label for one in apart.series] == ["fp32, from lines", "from names"]
