"""The charts of section 3.5."""

import numpy as np
import pytest

from scalelab.show import plots
from scalelab.show.drawings.scaling import from_profile
from scalelab.show.plots import laws
from scalelab.show.series import starts


def test_the_staircase_goes_from_the_ideal_to_the_measurement_and_each_stair_starts_where_the_last_ended():
    chart = laws.losses(2, {"waiting": 1.7, "idle": 1.8, "compute": 1.5}, 1.6)
    found = by_name(chart)
    assert found["what is left"].x.tolist() == [1.7, 1.8, 1.5]
    assert found["measured"].x.tolist() == [1.6]
    assert chart.y.names == ("waiting", "idle", "compute", "measured")
    assert chart.y.ticks == (*found["what is left"].y, *found["measured"].y) == (4, 3, 2, 1)
    bars = {
        name: [(*found[name].x[at : at + 2], found[name].y[at]) for at in starts(found[name])]
        for name in ("a loss", "a gain")
    }
    assert bars == {"a loss": [(1.7, 2, 4), (1.5, 1.8, 2)], "a gain": [(1.7, 1.8, 3)]}


@pytest.mark.parametrize("after", [1.4, 3.81, 0.3])
def test_no_stair_leaves_the_picture_whatever_was_measured(after):
    """A worker who was disturbed while alone made the last loss a gain, which was above the paper."""
    chart = laws.losses(2, {"waiting": 1.9, "compute": after}, 1.5)
    for one in chart.series:
        known = one.x[np.isfinite(one.x)]
        assert chart.x.low < known.min()
        assert known.max() < chart.x.high


def test_a_fitted_curve_passes_through_what_was_measured_and_through_its_corners():
    chart = laws.fitted("t", [1, 3, 50], [1, 2, 3], {"law": np.log1p}, "rate", corners=(7.3,))
    line = chart.series[0]
    assert set(line.x) >= {1, 3, 7.3, 50}
    assert line.y == pytest.approx(np.log1p(line.x))


def by_name(chart):
    return {one.label: one for one in chart.series}


@pytest.mark.parametrize("serial", [0, 0.005, 0.05, 0.1, 0.5, 0.94])
def test_the_two_readings_of_a_share_have_one_value_in_the_table_where_it_was_read(serial):
    """At 32 workers and others the job that stays was read between its points, and stood below."""
    for measured_on in [*plots.POWERS, 100]:
        chart = laws.two_readings(serial, measured_on)
        assert chart.columns()[2:] == [
            "job that grows with K", "job that stays as it is", "where s was measured"
        ]  # fmt: skip
        (row,) = [row for row in chart.rows() if row[-1]]
        by_clock = serial + (1 - serial) * measured_on
        assert float(row[2].replace(",", "")) == pytest.approx(by_clock, rel=6e-4)
        assert row[2] == row[3] == row[4] == chart.readouts["Speedup there"].rstrip("×")


def test_on_one_clock_a_grown_job_has_its_serial_seconds_in_all_that_one_worker_would_do():
    found = by_name(laws.one_clock([0.1]))
    grown, fixed = found["Gustafson's job, s = 0.1"], found["Amdahl's job, s = 0.1"]
    assert grown.y == pytest.approx([10 / (10 + k * 90) for k in grown.x])
    assert set(fixed.y) == {0.1}
    assert grown.y[0] == fixed.y[0]


def test_a_percent_of_nodes_is_tried_and_saves_and_costs_what_is_drawn():
    found = by_name(laws.next_percent(0.1))
    sooner, dearer = found["sooner by"], found["dearer by"]
    for nodes, saved, added in zip(sooner.x, sooner.y, dearer.y, strict=True):
        before, after = (20 + 180 / k for k in (nodes, 1.0001 * nodes))
        assert 1e4 * (1 - after / before) == pytest.approx(saved, rel=1e-3, abs=1e-3)
        assert 1e4 * (1.0001 * after / before - 1) == pytest.approx(added, rel=1e-3, abs=1e-3)
    assert found["half of the ceiling"].x == pytest.approx(9)


def test_a_profile_of_an_exchange_is_a_curve_through_the_size_it_was_read_on():
    chart = laws.two_profiles({"early": (0.5, 8), "late": (0.5, 256)}, [8, 256])
    ceilings = [one.label for one in chart.series if one.kind == "points"]
    assert ceilings == ["at 8 and 256 GPUs; ceiling 8", "at 8 and 256 GPUs; ceiling 256"]
    found = by_name(chart)
    for name, on in (("early", 8), ("late", 256)):
        line = found[name]
        assert line.y == pytest.approx(1 / (1 / line.x + 1 / on))  # o / W is 1 / 8, or 1 / 256


def test_a_lever_moves_the_line_that_its_curve_never_passes():
    chart = laws.levers({"as it is": (180, 20, 1), "half": (180, 10, 1), "four": (720, 20, 4)})
    curves, lines = chart.series[::2], chart.series[1::2]
    limits = {one.label: line.y[0] for one, line in zip(curves, lines, strict=True)}
    assert limits == {"as it is": 10, "half": 20, "four": 40}
    for curve in curves:
        worth, serial, divides = {
            "as it is": (1, 20, 180), "half": (1, 10, 180), "four": (4, 20, 720)
        }[curve.label]  # fmt: skip
        assert curve.y == pytest.approx([worth * 200 / (serial + divides / k) for k in curve.x])
        assert max(curve.y) < limits[curve.label]


def test_the_parts_of_a_step_lie_end_to_end_and_what_is_nothing_has_no_bar():
    alone, two = (
        {"computing": 8.0, "waiting": 0.0, "idle": 2.0},
        {"computing": 4.0, "waiting": 3.0, "idle": 2.0},
    )
    found = by_name(laws.steps({"alone": alone, "0 of 2": two}))
    assert found["computing"].x[[0, 1, 3, 4]].tolist() == [0, 8, 0, 4]
    assert found["waiting"].x[:2].tolist() == [4, 7]
    assert found["waiting"].x.size == 3
    assert found["idle"].x[[0, 1, 3, 4]].tolist() == [8, 10, 7, 9]
    assert found["idle"].y[[0, 3]].tolist() == [2, 1]


def test_the_parts_of_a_step_have_the_colours_that_the_drawing_of_a_profile_gave_them():
    """Waiting was grey there and green here, where green had been what divides."""
    tones = from_profile("p", exchange=True).tones
    names = {"computing": "divides", "moving gradients": "exchange", "waiting": "waiting",
             "idle": "one worker alone must do it"}  # fmt: skip
    found = by_name(laws.steps({"alone": dict.fromkeys(names, 1.0)}))
    assert {one: found[one].tone for one in names} == {a: tones[b] for a, b in names.items()}


def test_a_law_without_corners_is_drawn_without_corners():
    """Between one node and two, and two and three, the curves were straight."""
    for chart in (laws.next_percent(0.1), laws.levers({"as it is": (180, 20, 1)})):
        nodes = chart.series[0].x
        assert max(nodes[1:] / nodes[:-1]) < 1.2


def test_what_a_curve_misses_is_in_percent_of_the_curve():
    found = by_name(laws.misses("t", [1, 2], [11.0, 18.0], {"law": lambda k: 10.0 * k}))
    assert found["law"].y == pytest.approx([10, -10])


def test_the_lowest_of_the_misses_stands_above_the_edge_of_the_picture():
    """It was a half of a mark."""
    assert laws.misses("t", [1, 2], [11.0, 18.0], {"law": lambda k: 10.0 * k}).y.low < -11
    assert laws.misses("t", [1, 2], [11.0, 22.0], {"law": lambda k: 10.0 * k}).y.low == 0


def test_the_first_parts_of_the_profilers_rows_are_their_self_times_and_all_of_them_add_up():
    torch = pytest.importorskip("torch")
    square = torch.randn(64, 64, requires_grad=True)
    with torch.profiler.profile() as prof:
        (square @ square).relu().sum().backward()
    rows = list(prof.key_averages())
    everything = by_name(laws.listed(rows, most=len(rows)))
    own = everything["itself"].x.reshape(-1, 3)
    calls = everything["what it calls"].x.reshape(-1, 3)
    assert (own[:, 1] - own[:, 0]).sum() == pytest.approx(
        sum(row.self_cpu_time_total for row in rows) / 1e3
    )
    assert max(calls[:, 1]) == pytest.approx(max(row.cpu_time_total for row in rows) / 1e3)
    assert len(set(laws.listed(rows, most=5).y.names)) == 5
    names = laws.listed(rows, most=len(rows)).y.names
    assert {"engine: SumBackward0", "SumBackward0"} <= set(names)  # they were cut where they differ
