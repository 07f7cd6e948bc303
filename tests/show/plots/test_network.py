"""The figure of section 3.8 that goes through an all-reduce round by round."""

import numpy as np
import pytest

from scalelab.models.network import algorithms, messages
from scalelab.models.network.network import Network
from scalelab.show.plots import network as figures
from scalelab.show.sliders import Replay

K = figures.STEPPED
EVERYBODY = frozenset(range(1, K + 1))


def carried_out(way, rounds):
    """Who is in which part of whom after so many rounds, with sets in place of numbers."""
    held = [[frozenset([worker])] * K for worker in range(1, K + 1)]
    for sent in messages.ALL_REDUCE[way](K).rounds[:rounds]:
        before = [[*parts] for parts in held]
        for m in sent:
            for part in range(m.first, m.last):
                come, there = before[m.sender][part], before[m.receiver][part]
                assert not (m.adds and come & there)  # nobody is added twice
                held[m.receiver][part] = come | there if m.adds else come
    return held


def members(word):
    """The workers that a bar names."""
    if word == "all":
        return EVERYBODY
    first, dash, last = word.partition("-")
    if not dash:
        return frozenset(map(int, word))
    return frozenset((int(first) - 1 + n) % K + 1 for n in range((int(last) - int(first)) % K + 1))


def bars(chart):
    """{(worker, part): whose gradients, by which series}."""
    found = {}
    for series in chart.series:
        if series.kind == "lane":
            for i, word in enumerate(series.inside):
                middle = (series.x[3 * i] + series.x[3 * i + 1]) / 2
                part = chart.x.names[np.argmin(np.abs(np.array(chart.x.ticks) - middle))]
                place = int(series.y[3 * i]), int(part)
                assert place not in found
                found[place] = members(word), series.label
    return found


@pytest.mark.parametrize("way", messages.ALL_REDUCE)
def test_every_part_names_those_whose_gradients_have_come_so_far(way):
    for done in range(1, len(messages.ALL_REDUCE[way](K).rounds) + 1):
        shown, held = bars(figures.stepped(way, done)), carried_out(way, done)
        assert len(shown) == K * K
        for (worker, part), (whose, state) in shown.items():
            assert whose == held[worker - 1][part - 1]
            named = {frozenset([worker]): "of one worker", EVERYBODY: "of all"}
            assert state == named.get(whose, "of several")
    assert {whose for whose, _ in shown.values()} == {EVERYBODY}


@pytest.mark.parametrize("way", messages.ALL_REDUCE)
def test_each_message_of_a_round_is_an_arrow_a_mark_and_a_word(way):
    for number, sent in enumerate(messages.ALL_REDUCE[way](K).rounds, 1):
        chart = figures.stepped(way, number)
        edges = next(s for s in chart.series if s.kind == "edge")
        begins = np.flatnonzero(np.isnan(edges.x))[:-1] + 1
        assert edges.y[begins] == pytest.approx([m.sender + 1 for m in sent])
        # Each ends before the worker it leads to, on its way there.
        ways = zip(
            edges.y[begins], edges.y[begins + 1], [m.receiver + 1 for m in sent], strict=True
        )
        assert all(
            abs(tip - to) < 0.35 and (to - start) * (tip - start) > 0 for start, tip, to in ways
        )
        arrived = next(s for s in chart.series if s.kind == "points")
        places = {(m.receiver + 1, p + 1) for m in sent for p in range(m.first, m.last)}
        assert {*zip(arrived.y, arrived.x, strict=True)} == places
        told = chart.readouts["Sent in this round"]
        assert all(f"{m.sender + 1}→{m.receiver + 1}" in told for m in sent)


@pytest.mark.parametrize("way", messages.ALL_REDUCE)
def test_the_last_round_has_paid_what_the_formula_charges(way):
    end = figures.stepped(way, figures.ROUND.values[-1]).readouts
    charged = algorithms.traffic(1.0, K, Network(0, 1), "all-reduce", way)
    assert end["Paid so far"] == end["In the end"] == f"{charged.rounds:g}α + {charged.moved:g} βM"
    assert end["Have the whole sum"] == "8 of 8 workers"


def test_the_figure_keeps_its_words_and_its_table_has_a_row_for_each_part():
    replay = Replay(figures.stepped, {"way": figures.WAY, "after": figures.ROUND})
    for chart in replay.frames:
        rows = [*chart.rows()]
        assert [row[0] for row in rows] == [str(part) for part in range(1, K + 1)]
    ring = [*figures.stepped("ring", 2).rows()]
    assert ring[0][1:] == ["", "8, 5, 4, 3, 2, 1", "78, 6-8", "", "6"]
