"""The graphs and lanes of section 3.6: exchanges, a step, and a schedule as it was forecast and run."""

import itertools

import numpy as np
import pytest

from scalelab.models import graphs
from scalelab.records import Machine, Stamp
from scalelab.show import words
from scalelab.show.plots import workdepth as figures
from scalelab.show.sliders import Replay, Slider

HERE = Stamp("measured here", Machine("a machine", 2), "2026-01-01")


def marks(chart):
    """The points of a chart by the names of their kinds."""
    found = {s.label: [*zip(s.x, s.y, strict=True)] for s in chart.series if s.kind == "points"}
    assert len({*itertools.chain(*found.values())}) == sum(map(len, found.values()))
    return found


def arrows(chart):
    """Where each arrow begins and what mark it leads to: the nearest one to its tip."""
    (edges,) = (s for s in chart.series if s.kind == "edge")
    gaps = np.flatnonzero(np.isnan(edges.x))
    places = np.array([*itertools.chain(*marks(chart).values())])
    for start, stop in itertools.pairwise(gaps):
        begin, tip = (np.array([edges.x[i], edges.y[i]]) for i in (start + 1, start + 2))
        assert stop - start == 6
        yield tuple(begin), tuple(places[np.argmin(np.abs(places - tip).sum(axis=1))])


@pytest.mark.parametrize("ranks", figures.RANKS)
def test_an_all_reduce_is_drawn_round_by_round_up_to_its_depth(ranks):
    """Counted by hand: K messages in each of 2 (K - 1) rounds, or K - 1 up a tree and as many down."""
    ring, tree = (marks(figures.exchanged(way, ranks)) for way in ("ring", "tree"))
    for name, rounds in (("adds up", range(1, ranks)), ("hands on", range(ranks, 2 * ranks - 1))):
        assert sorted(ring[name]) == [(r, w) for r in rounds for w in range(1, ranks + 1)]
        assert len(tree[name]) == ranks - 1
    levels = int(np.log2(ranks))
    assert max(x for x, _ in tree["adds up"]) == levels
    assert max(x for x, _ in tree["hands on"]) == 2 * levels
    for found in (ring, tree):
        assert found["given"] == [(0, rank) for rank in range(1, ranks + 1)]


@pytest.mark.parametrize("way", figures.ALL_REDUCES)
def test_the_table_of_an_exchange_has_rounds_for_rows_and_no_heads_of_arrows(way):
    """Of two ranks each kind of point stands in one round, and there were rows such as 0.4727."""
    for ranks in figures.RANKS:
        chart = figures.exchanged(way, ranks)
        rounds = range(int(chart.readouts["Depth"].split()[0]) + 1)
        assert [row[0] for row in chart.rows()] == [str(one) for one in rounds]


def test_an_arrow_that_would_run_through_a_task_leads_below_it_and_the_columns_are_called_as_given():
    """The gradient that skips two layers lay under the chain of the others, and nobody saw it."""
    skips = graphs.independent([1, 1, 1])
    skips.add_edges_from([(0, 1), (1, 2), (0, 2)])
    chart = figures.graph("t", skips, {}, rounds=["", "last", "middle", "first"])
    edges = next(one for one in chart.series if one.kind == "edge")
    gaps = np.flatnonzero(np.isnan(edges.x))
    courses = [
        np.column_stack([edges.x, edges.y])[start + 1 : stop]
        for start, stop in itertools.pairwise(gaps)
    ]
    *straight, bent = sorted(courses, key=len)
    assert bent[0].tolist() == [1, 1]
    assert bent[:, 1].min() == pytest.approx(0.6, abs=0.01)  # below the task at 2, 1
    assert np.abs(bent[:, 0] - 3).min() < 0.2
    assert [len(course) for course in straight] == [5, 5]
    assert (chart.x.label, chart.x.names[-1]) == ("layer, the last one first", "first")


def test_in_a_ring_each_message_needs_its_neighbour_and_what_is_already_there():
    for begin, end in arrows(figures.exchanged("ring", 4)):
        assert end[1] in (begin[1], begin[1] % 4 + 1)
        assert begin[0] < end[0]


def test_overlapped_only_the_last_exchange_is_left_over():
    late, soon = (figures.step(exchange) for exchange in figures.EXCHANGES)
    assert [x for x, _ in marks(late)["exchange"]] == [10, 11, 12]
    assert [x for x, _ in marks(soon)["exchange"]] == [6, 8, 10]
    assert [x for x, y in marks(soon)["backward"] if y == 1] == [5, 7, 9]
    exposed = "Exchange that nothing hides"
    assert (late.readouts[exposed], soon.readouts[exposed]) == ("3 of 3", "1 of 3")
    needed = {begin for begin, end in arrows(soon) if end == (6, 5)}
    assert needed == {(5, rank) for rank in range(1, 5)}
    assert {x for (x, _), end in arrows(late) if end == (10, 5)} == {5, 9}


def test_the_figures_of_exchanges_keep_their_words_under_their_sliders():
    ways = Slider("way", tuple(figures.ALL_REDUCES), "ring")
    replay = Replay(figures.exchanged, {"way": ways, "ranks": Slider("K", figures.RANKS, 8)})
    assert len(replay.frames) == 6
    steps = Slider("exchange", tuple(figures.EXCHANGES), next(iter(figures.EXCHANGES)))
    assert len(Replay(figures.step, {"exchange": steps}).frames) == 2


def test_what_ran_lies_below_what_was_forecast_and_both_carry_the_layers():
    layers = graphs.backward_pass(3)
    forecast = graphs.greedy(graphs.backward_pass(3, 0.010), 2)
    slots = [
        graphs.Slot(s.node, 1 - s.worker, 2 * s.start, 2 * s.finish) for s in forecast.timeline
    ]
    did = graphs.Schedule(2, tuple(slots))
    chart = figures.ran("t", layers, forecast, did, 0.070, HERE)
    chain, beside, bound = chart.series
    assert (chain.label, beside.label) == ("dX", "dW")
    assert sorted(chain.words) == ["2", "2", "3", "3"]
    assert sorted(beside.words) == ["1", "1", "2", "2", "3", "3"]
    for series in (chain, beside):
        wide, rows = (series.x[1::3] - series.x[::3]), series.y[::3]
        assert wide[rows <= 2] == pytest.approx(20)  # as it ran, in ms
        assert wide[rows >= 4] == pytest.approx(10)
    assert [*bound.x] == [70, 70]
    assert dict(zip(chart.y.ticks, chart.y.names, strict=True))[4] == "forecast 1"
    assert chart.readouts["Ran"] == "60 ms"


def test_the_night_before_and_after_has_a_row_for_each_gpu_and_tells_the_long_ones():
    night = graphs.greedy(graphs.independent([0.1] * 12 + [3.0]), 4)
    split = graphs.greedy(graphs.independent([0.1] * 12 + [0.25] * 12), 4, "longest")
    chart = figures.nights("t", {"before": night, "after": split}, long=0.25)
    short, long = chart.series
    assert [series.x.size // 3 for series in (short, long)] == [24, 13]
    assert (long.x[1::3] - long.x[::3]).max() == pytest.approx(3)
    assert np.unique(np.concatenate([short.y, long.y])[::3]).size == 8
    assert chart.readouts["before"].startswith("ends after 3.30 h")
    (_, *now), *_ = chart.rows()  # the numbers of the GPUs, and no rows of the drawing
    assert dict(zip(chart.columns()[1:], now, strict=True)) == {
        "before: GPUs with a benchmark": "1, 2, 3, 4",
        "before: GPUs with the suite, or a part": "",
        "after: GPUs with a benchmark": "",
        "after: GPUs with the suite, or a part": "1, 2, 3, 4",
    }


def test_the_time_of_a_sum_is_that_of_its_longest_chain():
    """Counted along the chain by hand: a share alone, then an arrow and an addition for each round."""
    chart = figures.sums(1024, (0, 100))
    for curve, arrow in zip(chart.series[:2], (0, 100), strict=True):
        for workers, seconds in zip(curve.x, curve.y, strict=True):
            chain, left = 1024 // int(workers) - 1, int(workers)
            while left > 1:
                chain, left = chain + arrow + 1, left // 2
            assert seconds == chain
    assert chart.series[1].y[-1] == 910  # as the cell above it prints
    assert chart.series[-1].x.tolist() == [512, 8]


def test_the_table_of_the_bounds_has_them_as_they_are_and_not_read_between_two_others():
    """255 was 255.7, and the level of 16 was 16.42 where it begins."""
    chart = figures.between_bounds(graphs.blelloch_scan(256), "t")
    least, most, greedy = chart.series
    work, depth = 510, 16
    for workers in greedy.x:
        here = words.number(max(work / workers, depth))
        assert words.at(least, workers) == here
        assert words.at(most, workers) == words.number((work - depth) / workers + depth)
    level = {int(workers): ends / depth for workers, ends in zip(greedy.x, greedy.y, strict=True)}
    assert work / depth < 32
    assert level[32] > 4 / 3
    assert level[64] < 1.1
    assert "near it only with more workers" in chart.see
