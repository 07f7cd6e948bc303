"""A hierarchical all-reduce: the golden number, and a run that moves the bytes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import collectives, hierarchy, messages
from scalelab.models.network.network import Network
from tests.models import collective_simulator as simulator

CARD, NVLINK = Network(0, 1 / 50e9), Network(0, 1 / 450e9)
ACROSS = Network(2.0**-8, 2.0**-16, 2.0**-20)
INSIDE = Network(2.0**-10, 2.0**-20, 2.0**-21)


def relabelled(rounds, workers, part):
    """The same messages among other workers and, as `part` says, other elements."""
    return [
        [
            simulator.Message(workers[m.sender], workers[m.receiver], part[m.where], m.adds)
            for m in messages
        ]
        for messages in rounds
    ]


def at_once(*groups):
    """Rounds of groups that work side by side."""
    return [[*itertools.chain(*together)] for together in zip(*groups, strict=True)]


def phases(nodes, per_node, elements, across):
    """Rounds of the three phases; worker n g + i is the i-th of node n."""
    node = [[n * per_node + i for i in range(per_node)] for n in range(nodes)]
    everything, part = np.arange(elements), simulator.chunks(elements, per_node)

    def inside(rounds):
        return at_once(*(relabelled(rounds(per_node, elements), w, everything) for w in node))

    lanes = (
        relabelled(across(nodes, part[i].size), [w[i] for w in node], part[i])
        for i in range(per_node)
    )
    return (
        inside(simulator.ring_reduce_scatter),
        at_once(*lanes),
        inside(simulator.ring_all_gather),
    )


@pytest.mark.parametrize(("nodes", "per_node"), [(1, 4), (2, 2), (3, 4), (4, 3), (8, 2), (2, 8)])
@pytest.mark.parametrize("algorithm", ["ring", "halving-doubling", "recursive doubling"])
def test_three_phases_that_move_the_bytes_take_as_long_as_the_formula_says(
    nodes, per_node, algorithm
):
    across = {
        "ring": simulator.ring_all_reduce,
        "halving-doubling": simulator.halving_doubling_all_reduce,
        "recursive doubling": simulator.recursive_doubling_all_reduce,
    }[algorithm]
    elements = 8 * per_node * nodes
    buffers = np.random.default_rng(2).integers(-99, 99, (nodes * per_node, elements))
    total = buffers.sum(axis=0)
    links = (INSIDE, ACROSS, INSIDE)
    runs = [simulator.run(p, buffers) for p in phases(nodes, per_node, elements, across)]
    assert (buffers == total).all()
    seconds = sum(run.seconds(link) for run, link in zip(runs, links, strict=True))
    size = elements * simulator.ELEMENT
    priced = hierarchy.hierarchical_all_reduce(size, nodes, per_node, INSIDE, ACROSS, algorithm)
    assert priced == pytest.approx(seconds, rel=1e-12)


def test_eight_by_sixteen_takes_what_the_chapter_says():
    assert hierarchy.hierarchical_all_reduce(140e9, 16, 8, NVLINK, CARD) == pytest.approx(
        1.201, abs=0.0005
    )


SIZES = st.one_of(st.just(0), st.floats(1, 1e12))
NETWORKS = st.builds(Network, st.floats(0, 1e-3), st.floats(1e-12, 1e-8), st.floats(0, 1e-9))


@given(SIZES, st.integers(1, 500), NETWORKS, NETWORKS)
def test_nodes_of_one_worker_or_one_node_alone_leave_a_plain_all_reduce(size, count, slow, fast):
    alone = hierarchy.hierarchical_all_reduce(size, count, 1, fast, slow)
    assert alone == pytest.approx(collectives.all_reduce(size, count, slow))
    within = hierarchy.hierarchical_all_reduce(size, 1, count, fast, slow)
    assert within == pytest.approx(collectives.all_reduce(size, count, fast))


@given(SIZES, st.integers(2, 64), st.integers(2, 64), NETWORKS)
def test_links_of_one_speed_move_the_bytes_of_one_ring_in_fewer_rounds(size, nodes, inner, link):
    """(g-1)/g + (N-1)/(N g) = (K-1)/K twice over; but 2 (g + N - 2) rounds, not 2 (g N - 1)."""
    flat = collectives.all_reduce(size, nodes * inner, link)
    split = hierarchy.hierarchical_all_reduce(size, nodes, inner, link, link)
    saved = 2 * (nodes * inner - 1) - 2 * (nodes + inner - 2)
    assert flat - split == pytest.approx(saved * link.alpha, rel=1e-6, abs=1e-9 * flat)


@pytest.mark.parametrize(("nodes", "per_node"), [(1, 4), (4, 1), (2, 2), (3, 4), (2, 8)])
@pytest.mark.parametrize("shared", [1, 2])
def test_messages_that_take_turns_on_a_card_make_the_round_as_long_as_the_formula_says(
    nodes, per_node, shared
):
    cards = max(per_node // shared, 1)
    plan, size = messages.hierarchical(nodes, per_node), 8.0 * nodes * per_node
    rounds = hierarchy.arrivals(plan, size, per_node, INSIDE, ACROSS, cards)
    link = Network(ACROSS.alpha, ACROSS.beta * per_node / cards, ACROSS.gamma)
    priced = hierarchy.hierarchical_all_reduce(size, nodes, per_node, INSIDE, link)
    assert sum(map(max, rounds)) == pytest.approx(priced, rel=1e-12)


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 2), (2, 4), (4, 8)])
def test_a_ring_through_the_nodes_takes_as_long_as_its_formula_says(nodes, per_node):
    plan, size = messages.ring(nodes * per_node), 8.0 * nodes * per_node
    inside, outside = Network(0, 1 / 450e9), Network(0, 1 / 50e9)
    rounds = hierarchy.arrivals(plan, size, per_node, inside, outside)
    assert sum(map(max, rounds)) == pytest.approx(
        hierarchy.rings_all_reduce(size, nodes, per_node, inside, outside)
    )
    # One message leaves each node, and the others are there long before.
    assert all(sorted(one)[-nodes - 1] < 0.2 * max(one) for one in rounds)


def test_what_goes_out_of_one_card_and_into_another_takes_the_fuller_of_the_two():
    to = messages.Message
    plan = messages.MessagePlan(6, 2, ((to(0, 2, 0, 2, False), to(4, 3, 0, 1, False)),))
    (both,) = hierarchy.arrivals(plan, 100, 2, Network(0, 1e-9), Network(1, 1), cards=1)
    assert both == (151, 151)  # two nodes send to one, whose cable carries 100 + 50 bytes
    (apart,) = hierarchy.arrivals(plan, 100, 2, Network(0, 1e-9), Network(1, 1))
    assert apart == (101, 51)
