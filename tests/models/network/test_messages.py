"""Plans of messages: right sums, and exactly the rounds and bytes that are charged for them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.network import algorithms, hierarchy, messages
from scalelab.models.network.network import Network
from tests.models import collective_simulator as simulator

# Powers of two, so that every price is an exact sum.
NETWORK = Network(2.0**-10, 2.0**-20, 2.0**-21)
ACROSS = Network(2.0**-8, 2.0**-16, 2.0**-21)
PLANS = messages.ALL_REDUCE


def buffers(workers, elements):
    return np.random.default_rng(workers).integers(-99, 99, (workers, elements))


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("workers", [1, 2, 4, 8, 16])
def test_all_end_with_the_sum_for_the_price_of_the_table(name, workers):
    given = buffers(workers, 3 * workers)
    result, cost = messages.run(PLANS[name](workers), given)
    assert (result == given.sum(0)).all()
    assert cost == algorithms.traffic(24.0 * workers, workers, NETWORK, "all-reduce", name)


@given(st.integers(1, 12), st.sampled_from(["ring", "binomial tree"]))
def test_rings_and_trees_take_any_number_of_workers(workers, name):
    given = buffers(workers, workers)
    result, cost = messages.run(PLANS[name](workers), given)
    assert (result == given.sum(0)).all()
    priced = algorithms.traffic(8.0 * workers, workers, NETWORK, "all-reduce", name)
    assert cost.rounds == priced.rounds
    assert (cost.moved, cost.reduced) == pytest.approx((priced.moved, priced.reduced))


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_the_ring_is_that_of_the_other_simulator(workers):
    elements = 2 * workers
    other = simulator.run(simulator.ring_all_reduce(workers, elements), buffers(workers, elements))
    _, cost = messages.run(messages.ring(workers), buffers(workers, elements))
    assert (cost.rounds, cost.moved, cost.reduced) == (other.rounds, other.moved, other.reduced)


@pytest.mark.parametrize(("nodes", "per_node"), [(1, 4), (4, 1), (2, 2), (3, 4), (16, 8)])
def test_three_phases_add_up_once_and_a_second_addition_is_one_too_many(nodes, per_node):
    workers = nodes * per_node
    given = buffers(workers, workers)
    result, _ = messages.run(messages.hierarchical(nodes, per_node), given)
    assert (result == given.sum(0)).all()
    if nodes > 1 and per_node > 1:
        wrong, _ = messages.run(messages.hierarchical(nodes, per_node, last="all-reduce"), given)
        assert (wrong != given.sum(0)).any()


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 2), (3, 4), (4, 8)])
def test_three_phases_take_the_seconds_of_the_formula(nodes, per_node):
    elements = nodes * per_node
    plan = messages.hierarchical(nodes, per_node)
    network = {True: NETWORK, False: ACROSS}
    seconds = 0.0
    for messages_ in plan.rounds:
        (inside,) = {m.sender // per_node == m.receiver // per_node for m in messages_}
        one = messages.MessagePlan(plan.workers, plan.parts, (messages_,))
        seconds += messages.run(one, buffers(elements, elements))[1].seconds(network[inside])
    expected = hierarchy.hierarchical_all_reduce(8.0 * elements, nodes, per_node, NETWORK, ACROSS)
    assert seconds == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("workers", [*range(1, 18), 64])
@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_two_trees_end_with_the_sum_in_no_more_rounds_than_are_charged(workers, blocks):
    plan = messages.double_binary_tree(workers, blocks)
    given = buffers(workers, 2 * blocks)
    result, cost = messages.run(plan, given)
    assert (result == given.sum(0)).all()
    # Of the schedules that the edges leave open, the price is that of the slowest.
    most = len(simulator.double_tree_all_reduce(workers, 2 * blocks, blocks))
    least = most - 2 if workers > 2 else most / 2  # an edge each way: empty rounds are left out
    assert least <= cost.rounds <= most
    assert cost.moved == cost.rounds * 8


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_two_trees_of_eight_take_the_rounds_and_bytes_of_the_table(blocks):
    plan = messages.double_binary_tree(8, blocks)
    cost = messages.run(plan, buffers(8, 2 * blocks))[1]
    assert cost.rounds == 4 * (3 + blocks - 1)
    assert cost.moved == cost.rounds * (16 * blocks) / (2 * blocks)


def test_a_plan_in_another_order_does_the_same_among_others():
    order = [3, 0, 2, 1]
    plan, given = messages.renumbered(messages.ring(4), order), buffers(4, 4)
    assert (messages.run(plan, given)[0] == given.sum(0)).all()
    for sent, other in zip(messages.ring(4).rounds, plan.rounds, strict=True):
        assert {(order[m.sender], order[m.receiver]) for m in sent} == {m[:2] for m in other}
    with pytest.raises(ValueError, match="each number from 0 to 3 once"):
        messages.renumbered(plan, [0, 1, 2, 2])


def test_a_port_takes_one_message_at_a_time():
    both = (messages.Message(0, 1, 0, 1, True), messages.Message(2, 1, 0, 1, True))
    busy = messages.MessagePlan(3, 1, (both,))
    with pytest.raises(ValueError, match="one message per receiver"):
        messages.run(busy, np.ones((3, 1)))


def test_bad_input_is_told_in_one_sentence():
    with pytest.raises(ValueError, match="power of two, got 6"):
        messages.recursive_doubling(6)
    with pytest.raises(ValueError, match=r"3 rows of a multiple of 3 finite numbers, got"):
        messages.run(messages.ring(3), np.ones((3, 4)))
    with pytest.raises(
        ValueError, match="last must be one of all-gather, all-reduce, nothing, got 'x'"
    ):
        messages.hierarchical(2, 2, last="x")
