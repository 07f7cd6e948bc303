"""All-reduces executed with values, and a data-parallel step against a simulation of it."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.graphs import dags, rank_dags, schedule, workdepth
from tests.models.schedule_faults import faults

COST = st.floats(0.1, 10)


@pytest.mark.parametrize("workers", range(1, 14))
def test_every_rank_of_a_ring_ends_with_the_sum(workers):
    parts = np.random.default_rng(workers).integers(-9, 9, (workers, workers))
    ended = dags.evaluate(rank_dags.ring_all_reduce(workers), parts.ravel())
    assert np.reshape(ended, (workers, workers)).tolist() == [parts.sum(0).tolist()] * workers


@pytest.mark.parametrize("workers", range(1, 20))
def test_every_rank_of_a_tree_ends_with_the_sum(workers):
    values = list(np.random.default_rng(workers).normal(size=(workers, 3)))
    for ended in dags.evaluate(rank_dags.tree_all_reduce(workers), values):
        assert ended == pytest.approx(sum(values))


@pytest.mark.parametrize("workers", range(2, 18))
def test_a_ring_takes_two_rounds_per_neighbour_and_a_tree_two_per_doubling(workers):
    ring, tree = rank_dags.ring_all_reduce(workers, 3), rank_dags.tree_all_reduce(workers, 3)
    assert workdepth.depth(ring) == 3 * 2 * (workers - 1)
    assert workdepth.work(ring) == 3 * 2 * (workers - 1) * workers
    assert workdepth.depth(tree) == 3 * 2 * math.ceil(math.log2(workers))
    assert workdepth.work(tree) == 3 * 2 * (workers - 1)


@pytest.mark.parametrize("workers", range(1, 14))
@pytest.mark.parametrize("build", [rank_dags.ring_all_reduce, rank_dags.tree_all_reduce])
def test_a_rank_receives_one_message_at_a_time_and_sends_one_at_a_time(build, workers):
    dag = build(workers)
    result = schedule.placed(dag)  # refuses a rank that receives two at once
    assert faults(dag, result) == ()
    sends = set()
    for slot in result.timeline:
        node = slot.node
        values = [u for u in dag.predecessors(node) if not dag.edges[u, node].get("order")]
        (sender,) = {dag.nodes[u]["worker"] for u in values} - {slot.worker}
        assert (sender, slot.start) not in sends
        sends.add((sender, slot.start))


def test_a_ring_keeps_every_rank_busy_and_a_tree_few():
    assert schedule.placed(rank_dags.ring_all_reduce(8)).efficiency == 1
    assert schedule.placed(rank_dags.tree_all_reduce(8)).efficiency < 1 / 3


def test_one_slow_rank_holds_up_the_whole_ring():
    """Rank 3 takes 5 instead of 1 for each of its 6 messages, and every round waits for it."""
    dag = rank_dags.ring_all_reduce(4)
    for node, rank in dag.nodes(data="worker"):
        if rank == 3 and dag.nodes[node]["op"] != "input":
            dag.nodes[node]["weight"] = 5.0
    assert schedule.placed(dag).makespan == 6 * 5


def step_seconds(layers, forward, backward, exchange, overlap):
    """Walk through one step by the clock: the network takes the all-reduces as they come."""
    clock = layers * forward
    gradients_at = []
    for _ in range(layers):
        clock += backward
        gradients_at.append(clock)
    network = 0.0
    for there in gradients_at:
        network = max(network, there if overlap else clock) + exchange
    return network


@given(st.integers(1, 4), st.integers(1, 6), COST, COST, COST, st.booleans())
def test_a_step_takes_as_long_as_the_clock_says(workers, layers, f, b, e, overlap):
    dag = rank_dags.data_parallel_step(workers, layers, f, b, e, overlap=overlap)
    simulated = step_seconds(layers, f, b, e, overlap)
    assert workdepth.depth(dag) == pytest.approx(simulated)
    formula = layers * f + max(layers * b + e, b + layers * e) if overlap else layers * (f + b + e)
    assert simulated == pytest.approx(formula)
    assert workdepth.work(dag) == pytest.approx(layers * (workers * (f + b) + e))
    result = schedule.placed(dag)
    assert faults(dag, result) == ()
    assert result.makespan == pytest.approx(simulated)
    assert result.workers == workers + 1


def test_a_straggler_delays_the_step_by_what_it_loses():
    """One of four ranks takes 7 instead of 2 for the backward pass of the first layer."""
    dag = rank_dags.data_parallel_step(4, 3)
    before = workdepth.depth(dag)
    slow = [n for n, at in dag.nodes(data=True) if at["label"] == "B0" and at["worker"] == 2]
    dag.nodes[slow[0]]["weight"] = 7.0
    assert workdepth.depth(dag) == before + 5
