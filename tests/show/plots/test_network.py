"""The figures of section 3.8, against what they draw from."""

import itertools
import re

import numpy as np
import pytest

from scalelab import data, links
from scalelab.models.network import algorithms, collectives, overlap
from scalelab.models.network.network import Network
from scalelab.show.plots import MODEL, network as figures

CARD, SLOW = Network(5e-6, 1 / 50e9), Network(30e-6, 1 / 10e9)


def drawn(chart, label):
    return next(one for one in chart.series if one.label == label)


def test_half_of_many_fits_lie_below_their_middle():
    fitted = np.random.default_rng(1).normal(5e-6, 20e-6, 1001)
    chart = figures.latencies(fitted, 5e-6)
    fits = drawn(chart, "fits")
    assert np.interp(1e6 * np.median(fitted), fits.x, fits.y) == pytest.approx(50, abs=0.5)
    below = 100 * np.mean(fitted < 0)
    assert np.interp(0, fits.x, fits.y) == pytest.approx(below, abs=1)
    assert drawn(chart, "true latency").x == pytest.approx([5, 5])


def test_the_wire_of_the_switch_carries_each_message_once_and_a_part_for_copying():
    ring, switch = (
        data.load(f"nccl_allreduce_H200_8GiB_vs_gpus_{name}").values[1:]
        for name in ("ring", "NVLS")
    )
    workers = data.load("nccl_allreduce_H200_8GiB_vs_gpus_ring").workers[1:]
    chart = figures.busbw(workers, ring, switch, 450e9, MODEL)
    wire = drawn(chart, "added up in the switch: its wire")
    for k, shown, carried in zip(workers, switch, wire.y, strict=True):
        seconds = 2**33 * 2 * (k - 1) / k / (shown * 1e9)
        assert carried * 1e9 * seconds == pytest.approx(2**33 * (1 + 1 / k))
    # What its caption says: over the link is the column, and no wire.
    assert max(wire.y) < max(ring) < 450 < max(switch)


def test_a_measurement_stands_beside_what_each_price_allows():
    swept = links.Sweep.published("nccl_allreduce_4x8xB200_payload")
    chart = figures.speeds("title", swept, 2**32, {"one": 0.1, "two": 0.02}, MODEL)
    assert drawn(chart, "one").y == pytest.approx([2**32 / 0.1 / 1e9] * 2)
    points = drawn(chart, "measured")
    at = dict(zip(points.x, points.y, strict=True))
    (seconds,) = swept.seconds[swept.size == 2**32]
    assert at[2**32 / 1e6] == pytest.approx(2**32 / seconds / 1e9)


def test_two_clocks_of_one_exchange_end_together():
    chart = figures.skewed([0.022, 0.002], 0.020, MODEL)
    inside = drawn(chart, "on its clock in the all-reduce")
    assert inside.x[[1, 4]] == pytest.approx([22, 22])
    assert inside.x[[0, 3]] == pytest.approx([0, 20])
    assert drawn(chart, "not there yet").x == pytest.approx([0, 20])


def test_what_is_exposed_is_the_higher_of_its_two_reasons_and_least_at_the_best():
    chart = figures.exposed(100e6, 0.030, 8, SLOW)
    waits, last, line = (
        drawn(chart, label)
        for label in ("exposed", "the last bucket alone", "the queue of all buckets")
    )
    for count, y, one, all_of_them in zip(waits.x, waits.y, last.y, line.y, strict=True):
        each = 14 * 30e-6 + 1.75 * 100e6 / count / 10e9
        assert one == pytest.approx(1e3 * each)
        assert y == pytest.approx(max(one, all_of_them))
    # Drawn as a line, it lay on the other two, and in the dark was one with them.
    assert waits.kind == "band"
    assert waits.high.tolist() == waits.y.tolist()
    assert not waits.low.any()
    best = drawn(chart, "best")
    assert best.x == overlap.best_buckets(100e6, 0.030, 8, SLOW)
    assert best.y <= min(waits.y)


def test_a_move_is_drawn_as_it_is_priced():
    ways = {"as it is": lambda k: 1.0 / k, "other": lambda k: 0.001 * k}
    chart = figures.moves(ways, "title")
    assert [one.kind for one in chart.series] == ["dashed", "line"]
    assert chart.series[0].x.tolist() == [8, 16, 32, 64, 128, 256, 512, 1024]
    assert chart.series[1].y == pytest.approx(chart.series[1].x)


def test_a_faster_link_leaves_the_latencies_of_the_rounds():
    chart = figures.offers(2e6, 64, 25e-6, [1.25e9, 12.5e9])
    for name, rounds in (("ring", 126), ("halving-doubling", 12)):
        line, points = drawn(chart, name), drawn(chart, f"{name}, today and on offer")
        assert (line.y > 1e3 * rounds * 25e-6).all()
        for x, y in zip(points.x, points.y, strict=True):
            assert y == pytest.approx(1e3 * (rounds * 25e-6 + 2 * 63 / 64 * 2e6 / (x * 1e9)))
    # What the practical example says: the better algorithm on the old link beats the ring on the new.
    said = "halving-doubling, today and on offer", "ring, today and on offer"
    halving, ring = (drawn(chart, label).y for label in said)
    assert halving[0] < ring[1]


def test_no_line_of_a_step_lies_on_another():
    chart = figures.critical(6.4, 1e9, CARD)
    computing, exchange, both = (
        drawn(chart, label)
        for label in ("computation T(1) / K", "all-reduce by ring", "both, nothing hidden")
    )
    tall = max(both.y)
    for one, two in itertools.combinations((computing, exchange, both), 2):
        assert max(abs(one.y - two.y)) > 0.1 * tall
        if both in (one, two):  # at every worker count some of the picture's height apart
            assert min(abs(one.y - two.y)) > 0.02 * tall
    there = drawn(chart, "critical scale")
    for line in (computing, exchange):  # and the table twin reads no chord of a curve
        assert np.interp(there.x, line.x, line.y) == pytest.approx(float(there.y[0]), rel=1e-4)


@pytest.mark.parametrize("workers", [2, 8, 64, 100, 1024])
def test_where_two_algorithms_cost_the_same_both_are_seen(workers):
    chart = figures.choice(workers, 1e6, 5e-6, 50e9)
    lines = [one for one in chart.series if one.label != "your message"]
    assert {one.label for one in lines} == set(algorithms.ALGORITHMS["all-reduce"])
    took = {
        one.label: collectives.all_reduce(1e6 * one.x, workers, CARD, one.label) for one in lines
    }
    for one in lines:
        assert one.y == pytest.approx(took[one.label] / np.min([*took.values()], axis=0))
    assert (
        [one.label for one in lines if one.kind == "dashed"]
        == [lines[-1].label]
        == ["halving-doubling"]
    )
    # Tones are the order of the table, whatever is drawn on top.
    names = list(algorithms.ALGORITHMS["all-reduce"])
    assert all(one.tone == names.index(one.label) + 1 for one in lines)


def test_no_algorithm_leaves_the_picture_of_the_choice_wherever_the_sliders_stand():
    """The axis in milliseconds had nine powers of ten, and the lines lay in one stroke."""
    for workers, latency, speed in itertools.product(
        (8, 64, 100, 1024), figures.LATENCY.values, figures.LINKS
    ):
        chart = figures.choice(workers, 1e6, latency, speed)
        ratios = np.concatenate([one.y for one in chart.series if one.label != "your message"])
        assert chart.y.low < ratios.min() == 1
        assert ratios.max() < chart.y.high


def test_rounds_double_in_a_ring_and_grow_by_steps_elsewhere():
    chart = figures.rounds(CARD, 1e6)
    workers = 2.0 ** np.arange(1, 11)
    assert drawn(chart, "ring").y == pytest.approx(2 * (workers - 1))
    assert drawn(chart, "recursive doubling").y == pytest.approx(np.log2(workers))
    both = drawn(chart, "halving-doubling and binomial tree").y
    for name in ("halving-doubling", "binomial tree"):
        said = [algorithms.traffic(1e6, k, CARD, "all-reduce", name).rounds for k in workers]
        assert both == pytest.approx(said)
    trees = drawn(chart, "two trees, 1 MB, at most").y
    assert (np.diff(trees) > 0).all()
    assert (np.diff(trees) <= 12).all()


def test_a_pair_of_predicted_and_measured_has_one_colour():
    columns = {
        f"{who}: {what}": [3, 2, 1] for who in ("a", "b") for what in ("predicted", "measured")
    }
    chart = figures.waits((1, 4, 16), columns, MODEL)
    assert [one.tone for one in chart.series] == [1, 1, 2, 2]
    assert [one.kind for one in chart.series] == ["dashed", "joined"] * 2


def test_gradients_are_hidden_from_the_tokens_on_that_the_ledger_says():
    chart = figures.hidden(989.5e12, {"NVLink": (450e9, 8, 1)})
    line = drawn(chart, "NVLink")
    tokens = 989.5e12 / 450e9 * 7 / 8  # FLOPs per byte are the tokens, times K / (K - 1)
    assert line.x * line.y == pytest.approx(tokens)


def test_every_figure_says_what_to_see():
    fit = links.fit(links.Sweep.published("nccl_allreduce_8xH200_payload"))
    charts = [
        figures.sweep("one", {"a": fit}),
        figures.sweep("two", {"a": fit, "b": fit}),
        figures.sweep("naive", {"a": fit}, naive=lambda m: m),
        figures.choice(8, 1e6, 5e-6, 50e9),
        figures.clocks("DGX H100", 1024),
        figures.critical(6.4, 1e9, CARD),
        figures.exposed(100e6, 0.030, 8, SLOW),
        figures.rounds(CARD, 1e6),
    ]
    assert all(chart.see for chart in charts)
    assert len({chart.see for chart in charts}) == len(charts)


def test_a_few_rows_and_all_of_them_are_drawn_as_they_were_published():
    sweep = links.Sweep.published("nccl_allreduce_8xH200_payload")
    rates = ["39.93", "219.89", "436.15", "473.10"]
    few = links.Sweep.of_rates(
        [2**20, 2**24, 2**28, 2**32], rates, workers=8, collective="all-reduce"
    )
    chart = figures.few_rows(sweep, links.fit(few), MODEL)
    every, marks = drawn(chart, "all rows of the sweep"), drawn(chart, "the rows it was fitted to")
    assert marks.y == pytest.approx([float(one) for one in rates])
    assert np.interp(marks.x, every.x, every.y) == pytest.approx(marks.y, rel=1e-3)
    assert every.y == pytest.approx(2 * 7 / 8 * sweep.size / sweep.seconds / 1e9)


@pytest.mark.parametrize(
    ("box", "tokens", "peak"), [("DGX H100", 256, 989.5), ("DGX B200", 65536, 2250)]
)
def test_the_roofs_of_the_clocks_share_a_flat_of_no_ones_colour(box, tokens, peak):
    """Drawn in the colour of memory, it did not tell of which link a point on it is."""
    chart = figures.clocks(box, tokens)
    flat, roofs = chart.series[0], [one for one in chart.series if one.label.startswith("roof")]
    assert flat.y == pytest.approx([peak] * flat.x.size)
    assert flat.tone not in {one.tone for one in chart.series[1:]}
    assert flat.x[0] == pytest.approx(min(one.x[-1] for one in roofs))
    for one in roofs:
        assert np.diff(np.log(one.y)) == pytest.approx(np.diff(np.log(one.x)))
        assert one.y[-1] == pytest.approx(peak)  # each ends on the flat


@pytest.mark.parametrize("box", figures.BOX.values)
def test_of_two_points_of_a_colour_the_left_or_upper_one_goes_by_nvlink(box):
    for tokens in (64, 1024, 16384):
        chart = figures.clocks(box, tokens)
        assert all(chart.y.low < y < chart.y.high / 1.5 for one in chart.series for y in one.y)
        told = {name: float(x.split()[0].replace(",", "")) for name, x in chart.readouts.items()}
        gradients, states = (drawn(chart, label) for label in ("gradients", "tensor parallel"))
        by_link, by_card = (x for name, x in told.items() if name.startswith("gradients"))
        assert gradients.x == pytest.approx([by_link, by_card], abs=0.5)
        assert by_link < by_card
        assert states.x[0] == states.x[1]
        assert max(states.y) == pytest.approx(chart.series[0].y[0])  # NVLink keeps up


@pytest.mark.parametrize("box", figures.BOX.values)
def test_tensor_parallelism_keeps_up_inside_each_box_and_nowhere_outside(box):
    """As the text after the figure says, whichever box the reader has."""
    said = figures.clocks(box, 1024).readouts
    for way, keeps_up in (("NVLink", True), ("card", False)):
        told = said[f"tensor parallel, by {way}"].replace(",", "")
        sent, ridge = map(float, re.search(r"^(\d+) FLOP/B ridge\s(\d+)$", told).groups())
        assert (sent > 2 * ridge, sent < ridge / 2) == (keeps_up, not keeps_up), told


def test_a_doubling_more_than_doubles_the_rounds_of_a_ring():
    ring = drawn(figures.rounds(CARD, 1e6), "ring").y
    assert (ring[1:] > 2 * ring[:-1]).all()


def test_an_end_of_an_interval_that_says_nothing_is_printed_as_open():
    """The first line of the H200 has its bandwidth between 142 GB/s and 6.66 TB/s, over links of 450 GB/s."""
    fit = links.fit(links.Sweep.published("nccl_allreduce_8xH200_payload"))
    assert fit.regimes[0].bandwidth.high > 10 * fit.regimes[0].bandwidth.value
    told = figures.regimes(fit)["bytes of message per second"]
    assert told[0].endswith("GB/s to ?)")
    assert not any("?" in one for one in told[1:])
