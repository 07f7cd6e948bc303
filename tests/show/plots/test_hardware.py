"""The charts of section 3.2."""

import numpy as np
import pytest

from scalelab.models import machines
from scalelab.show.plots import hardware

NAMES = ["A100 SXM 40GB", "H100 SXM", "H200 SXM"]


def series(chart, label):
    return next(one for one in chart.series if one.label.startswith(label))


def test_the_old_ones_of_a_quote_are_the_fewest_that_keep_up():
    bills, new = hardware.two_quotes(3, 4).series
    assert set(new.y) == {4 / 3}
    for serial, bill in zip(bills.x, bills.y, strict=True):
        count = next(k for k in range(3, 99) if serial + (1 - serial) / k <= 1 / 3 + 1e-12)
        assert bill == pytest.approx(count * (serial + (1 - serial) / count))


def test_generations_are_multiples_of_the_first():
    chart = hardware.generations(NAMES)
    assert all(one.y[0] == 1 for one in chart.series)
    assert series(chart, "dense").y[1] == pytest.approx(989.4 / 312, rel=1e-3)
    assert series(chart, "link").y[1:].tolist() == [1.5, 1.5]
    assert series(chart, "memory bandwidth").y[2] == pytest.approx(4.8e12 / 1.555e12, rel=1e-3)


def test_published_gains_keep_the_order_of_their_table():
    runs = machines.published_upgrades()
    chart = hardware.published_gains(runs, 1.43)
    assert series(chart, "gain").x.tolist() == [run.gain for run in runs]
    ends = series(chart, "two standard errors").x.reshape(-1, 3)
    assert (ends[:, 1] - ends[:, 0]) / 2 == pytest.approx([run.error for run in runs])
    assert [row[0] for row in chart.rows()] == [run.job.split(" (")[0] for run in runs]


def test_memory_feeds_up_to_its_corner_and_amdahl_ends_there():
    fed, amdahl, turn = hardware.corner(23.5, 96).series
    assert (turn.x[0], turn.y[0]) == (23.5, 23.5)
    assert fed.y == pytest.approx(np.minimum(fed.x, 23.5))
    assert 23.5 in fed.x
    assert (amdahl.y[0], amdahl.y[-1]) == pytest.approx((1, 23.5))
    assert (amdahl.y[1:-1] < fed.y[1:-1]).all()


def test_the_sum_of_saving_and_losing_is_least_where_they_are_equal():
    saves, loses, both, best = hardware.saving(30, 3600).series
    at = both.y.argmin()
    assert both.x[at] == pytest.approx(best.x[0]) == pytest.approx(np.sqrt(2 * 30 * 3600) / 60)
    assert saves.y[at] == pytest.approx(loses.y[at])
    assert best.y[0] == pytest.approx(both.y[at])


def test_room_ends_where_the_lines_meet():
    weights, memories = {"16 bits": 140e9, "8 bits": 70e9}, {"one": 143e9, "two": 160e9}
    chart = hardware.room(0.5e6, weights, memories, 80_000)
    assert series(chart, "16 bits").y[0] == 140
    assert series(chart, "memory of two").y.tolist() == [160] * 36
    assert series(chart, "what is needed").y.tolist() == [180, 110]
    wide = series(chart, "8 bits")
    assert wide.y[-1] > 160  # so that every crossing is on the paper


def test_far_bytes_take_as_long_as_all_would_from_memory_where_the_caption_says():
    """And then the mean is nearly doubled: of NVLink it is 1.87, which was said to be doubled."""
    near, ways = 3350e9, {"NVLink": 450e9, "card": 50e9}
    chart = hardware.far_bytes(near, ways)
    for name, rate in ways.items():
        curve, times = series(chart, name), near / rate
        for far, mean in zip(curve.x / 100, curve.y, strict=True):
            assert mean == pytest.approx((1 - far) + far * times)
        far = 1 / times
        assert far / rate == pytest.approx(1 / near)  # as long as every byte from memory
        mean = np.interp(100 * far, curve.x, curve.y)
        assert 1.85 < mean < 2
    assert "Where a byte takes 67 times as long, one such byte in 67 nearly doubles" in chart.see
    assert "as long as all bytes would from memory" in chart.see


def test_a_bill_is_the_price_over_the_gain_and_its_bar_follows_the_error():
    runs = machines.published_upgrades()
    chart = hardware.upgrade_bills(runs, 1.2)
    bills = series(chart, "bill")
    assert bills.x == pytest.approx([1.2 / run.gain for run in runs])
    ends = series(chart, "two standard errors").x.reshape(-1, 3)
    assert ends[:, 0] == pytest.approx([1.2 / (run.gain + run.error) for run in runs])
    assert ends[:, 1] == pytest.approx([1.2 / (run.gain - run.error) for run in runs])


def test_a_rack_alone_reaches_the_model_that_is_asked():
    """16 bytes a parameter, by hand: no box of eight holds 405 billion, 72 of its GPUs do."""
    chart = hardware.fast_reach()
    most = chart.series[0].x.reshape(-1, 3)[:, 1]
    assert most[:4] == pytest.approx(
        [8 * size / 16e9 for size in (42949672960, 85520809984, 150754820096, 192265846784)]
    )
    assert (np.diff(most) > 0).all()
    assert most[3] < 405 < most[4] == pytest.approx(9 * most[3])


@pytest.mark.parametrize(("fed", "one"), [(28.0, False), (96.0, True)])
def test_a_memory_that_feeds_all_cores_is_not_said_to_bend(fed, one):
    chart = hardware.corner(fed, 96)
    feeds, amdahl, *_ = chart.series
    same = np.allclose(feeds.y, amdahl.y)
    assert same is one
    assert ("two lines are one" in chart.see) is one


def test_a_laptops_card_serves_what_its_memory_holds():
    """By hand: 8 billion numbers of 2 bytes, and a cache of 8 × 2,048 tokens of 131,072 bytes each."""
    needs = 16e9 + 8 * 2048 * 131072
    for name in hardware.HOLDING.values:
        said = hardware.budget(name, "serve", 8, "nothing", 8, 2048).readouts
        assert said["Each of 64 needs"] == "18.1 GB"
        fits = machines.device(name).memory >= needs
        assert said["Fits from"] == ("1 device" if fits else "no number of devices"), name
    assert machines.device("T4").memory < needs < machines.device("RTX 4090").memory


@pytest.mark.parametrize(("gpus", "write", "restart"), [(512, 30, 180), (16384, 60, 600)])
def test_the_best_interval_is_a_point_of_the_curve_so_the_table_reads_no_chord_there(
    gpus, write, restart
):
    curve, mark = hardware.checkpoints(gpus, write, restart).series
    (at,) = np.flatnonzero(curve.x == mark.x[0])
    assert curve.y[at] == mark.y[0]
