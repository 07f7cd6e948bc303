"""The bubble and the memory of a pipeline, read off its own timeline."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.graphs import pipeline, schedule, workdepth
from tests.models.schedule_faults import faults

STAGES, MICROBATCHES, CHUNKS = st.integers(1, 6), st.integers(1, 12), st.integers(2, 4)
PASS = st.floats(0.1, 10)


def peak(dag, result, device):
    """Micro-batches in flight on a device: forward passes begun whose backward is not done."""
    share = 1 / (1 + max(chunk for _, chunk in dag.nodes(data="chunk")))
    held, most = 0.0, 0.0
    for slot in (slot for slot in result.timeline if slot.worker == device):
        if dag.nodes[slot.node]["op"] == "forward":
            held += share
            most = max(most, held)
        else:
            held -= share
    assert held == pytest.approx(0)
    return most


@given(STAGES, MICROBATCHES, PASS, PASS, st.sampled_from(["gpipe", "1f1b"]))
def test_the_timeline_idles_as_much_as_the_formula_says(stages, microbatches, f, b, order):
    dag = pipeline.dag(stages, microbatches, order, forward=f, backward=b)
    result = schedule.placed(dag)
    assert faults(dag, result) == ()
    assert result.workers == stages
    assert result.makespan == pytest.approx((microbatches + stages - 1) * (f + b))
    assert 1 - result.efficiency == pytest.approx(pipeline.bubble(stages, microbatches), abs=1e-9)
    held = peak(dag, result, device=0)
    assert held == pytest.approx(pipeline.in_flight(stages, microbatches, order))


@given(st.integers(1, 4), st.integers(1, 3), CHUNKS, PASS, PASS)
def test_interleaving_shrinks_the_bubble_and_costs_memory(stages, groups, chunks, f, b):
    microbatches = stages * groups
    dag = pipeline.dag(stages, microbatches, chunks=chunks, forward=f, backward=b)
    result = schedule.placed(dag)
    assert faults(dag, result) == ()
    assert result.makespan == pytest.approx((microbatches + (stages - 1) / chunks) * (f + b))
    bubble = pipeline.bubble(stages, microbatches, chunks)
    assert 1 - result.efficiency == pytest.approx(bubble, abs=1e-9)
    assert bubble <= pipeline.bubble(stages, microbatches)
    held = pipeline.in_flight(stages, microbatches, chunks=chunks)
    assert peak(dag, result, device=0) == pytest.approx(held)
    assert held >= pipeline.in_flight(stages, microbatches)


@pytest.mark.parametrize("stages", [2, 4, 8])
def test_1f1b_has_the_bubble_of_gpipe_and_holds_fewer_micro_batches(stages):
    gpipe, alternating = (
        (dag, schedule.placed(dag))
        for dag in (pipeline.dag(stages, 16, order) for order in ("gpipe", "1f1b"))
    )
    assert gpipe[1].makespan == alternating[1].makespan
    assert [peak(*gpipe, device) for device in range(stages)] == [16] * stages
    held = [peak(*alternating, device) for device in range(stages)]
    assert held == [stages - device for device in range(stages)]


@given(STAGES, STAGES, st.sampled_from([1, 2, 3]), st.sampled_from(["gpipe", "1f1b"]))
def test_every_device_does_every_pass_once_and_data_flows_along_the_model(
    stages, groups, chunks, order
):
    chunks = 1 if order == "gpipe" else chunks
    dag = pipeline.dag(stages, stages * groups, order, chunks, forward=1, backward=2)
    nodes = {(a["op"], a["chunk"], a["worker"], a["microbatch"]): n for n, a in dag.nodes.items()}
    passes = itertools.product(
        ("forward", "backward"), range(chunks), range(stages), range(stages * groups)
    )
    assert set(nodes) == set(passes)
    model = list(itertools.product(range(chunks), range(stages)))
    for microbatch in range(stages * groups):
        way = [("forward", *piece) for piece in model]
        way += [("backward", *piece) for piece in reversed(model)]
        steps = [nodes[(*step, microbatch)] for step in way]
        assert all(dag.has_edge(u, v) for u, v in itertools.pairwise(steps))
        assert not any(dag.edges[edge]["order"] for edge in itertools.pairwise(steps))


def test_no_order_of_the_passes_beats_the_formula():
    """Brute force: two devices, two micro-batches, every order on each device."""
    passes = [(op, microbatch) for op in "FB" for microbatch in range(2)]
    best = float("inf")
    for first, second in itertools.product(itertools.permutations(passes), repeat=2):
        done, queues, clocks = {}, [list(first), list(second)], [0.0, 0.0]
        moved = True
        while moved:
            moved = False
            for device in (0, 1):
                if not queues[device]:
                    continue
                op, m = queues[device][0]
                needs = {("F", 0): None, ("F", 1): ("F", m, 0), ("B", 1): ("F", m, 1)}
                need = needs.get((op, device), ("B", m, 1))
                if need is None or need in done:
                    start = max(clocks[device], done.get(need, 0.0))
                    clocks[device] = done[op, m, device] = start + (1 if op == "F" else 2)
                    queues[device].pop(0)
                    moved = True
        if not any(queues):
            best = min(best, *[max(clocks)])
    assert best == workdepth.depth(pipeline.dag(2, 2)) == (2 + 2 - 1) * (1 + 2)


def test_published_shares():
    """GPipe calls the bubble negligible from m = 4 p on: a fifth of the step, and less."""
    stages = np.array([2, 4, 8, 64])
    assert (pipeline.bubble(stages, 4 * stages) < 1 / 5).all()
    assert pipeline.bubble(4, 1) == 0.75  # one batch, whole: three of four devices idle
    # Narayanan et al. 2021 divide by the busy time: (p - 1) / m, and 1 / v of that interleaved.
    for chunks in (1, 2, 4):
        share = pipeline.bubble(8, 32, chunks)
        assert share / (1 - share) == pytest.approx(7 / 32 / chunks)
    # Korthikanti et al. 2022: interleaving holds 1 + (p - 1) / (p v) times as much as 1F1B.
    more = pipeline.in_flight(8, 64, chunks=4) / pipeline.in_flight(8, 64)
    assert more == pytest.approx(1 + 7 / (8 * 4))


@given(st.integers(2, 1000), st.floats(0.01, 0.9), st.integers(1, 8))
def test_enough_microbatches_keep_the_bubble_and_one_fewer_does_not(stages, share, chunks):
    microbatches = pipeline.enough_microbatches(stages, share, chunks)
    assert microbatches == int(microbatches)
    assert pipeline.bubble(stages, microbatches, chunks) <= share * (1 + 1e-9)
    if microbatches > 1:
        assert pipeline.bubble(stages, microbatches - 1, chunks) > share


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 8))
def test_the_bubble_shrinks_with_microbatches_and_chunks_and_grows_with_stages(p, m, v):
    bubble = pipeline.bubble(p, m, v)
    assert pipeline.bubble(p, m + 1, v) <= bubble
    assert pipeline.bubble(p, m, v + 1) <= bubble
    assert pipeline.bubble(p + 1, m, v) > bubble
    assert 0 <= bubble < 1


def test_one_stage_has_no_bubble():
    assert pipeline.bubble(1, [1, 7]).tolist() == [0, 0]
    assert pipeline.enough_microbatches(1, 0.01) == 1


def test_memory_answers_in_kind():
    assert type(pipeline.in_flight(4, 8, "gpipe")) is float
    assert pipeline.in_flight([2, 4, 8], 4).tolist() == [2, 4, 4]
    assert pipeline.in_flight([2, 4], [[8], [9]], "gpipe").tolist() == [[8, 8], [9, 9]]


@given(st.integers(1, 6), st.integers(0, 9), st.floats(0.5, 5), st.floats(0.1, 1))
def test_a_backward_pass_in_two_halves_leaves_the_bubble_of_a_forward_pass(stages, more, f, share):
    backward, microbatches = 2 * f * share, 2 * stages - 1 + more
    for order in ("zb-h1", "zb-h2"):
        dag = pipeline.dag(stages, microbatches, order, forward=f, backward=backward)
        result = schedule.placed(dag)
        assert faults(dag, result) == ()
        wanted = microbatches * (f + backward) + (stages - 1) * f
        assert result.makespan == pytest.approx(wanted)


@pytest.mark.parametrize(("order", "most"), [("zb-h1", 4), ("zb-h2", 7)])
def test_activations_are_held_until_the_gradient_of_the_weights_is_done(order, most):
    dag = pipeline.dag(4, 16, order)
    slots = schedule.placed(dag).timeline
    for device in range(4):
        mine = [slot for slot in slots if slot.worker == device]
        begun = [slot.start for slot in mine if dag.nodes[slot.node]["op"] == "forward"]
        ended = [slot.finish for slot in mine if dag.nodes[slot.node]["op"] == "weights"]
        held = [sum(b <= t for b in begun) - sum(e <= t for e in ended) for t in begun]
        assert max(held) == most == pipeline.in_flight(4, 16, order)


def test_with_memory_for_it_no_stage_waits_between_its_first_and_its_last_pass():
    """Qi et al. 2023, H2; H1 has a third of the bubble of 1F1B where all three passes cost the same."""
    for stages, microbatches in ((2, 3), (4, 8), (6, 20)):
        slots = schedule.placed(pipeline.dag(stages, microbatches, "zb-h2")).timeline
        for device in range(stages):
            mine = sorted(slot[2:] for slot in slots if slot.worker == device)
            assert all(a[1] == b[0] for a, b in itertools.pairwise(mine))
        ends = [schedule.placed(pipeline.dag(stages, microbatches, o)) for o in ("1f1b", "zb-h1")]
        idle = [result.makespan - 3 * microbatches for result in ends]
        assert idle[0] == pytest.approx(3 * idle[1])
