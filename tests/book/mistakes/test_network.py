"""Mistakes that section 3.8 once made, each as what is true instead."""

import itertools
import re

import numpy as np
import pytest
from scipy import optimize

from scalelab import data, links
from scalelab.models import network
from scalelab.models.machines import hardware
from scalelab.models.network import algorithms, collectives, hierarchy, ledger, messages, overlap
from scalelab.models.network.network import Network
from scalelab.show.plots import network as figures
from tests.notebooks import chapter

CELLS = {cell["id"]: cell["source"] for cell in chapter("08_network").nb.cells}
CARD, NVLINK, NVLINK_5 = (Network(0, 1 / rate) for rate in (50e9, 450e9, 900e9))
SLOW = Network(alpha=30e-6, beta=1 / 10e9)


def prices(size, nodes, nvlink):
    wires = size, nodes, 8, nvlink, CARD
    return {
        "one ring": hierarchy.rings_all_reduce(*wires),
        "eight rings": hierarchy.rings_all_reduce(*wires, 8),
        "in sequence": hierarchy.hierarchical_all_reduce(*wires),
        "in a pipeline": hierarchy.hierarchical_all_reduce(*wires, overlapped=True),
    }


def test_phase_after_phase_at_full_speed_is_no_lower_bound_of_what_a_library_took():
    """4 GiB on 4 x 8 B200: the published row lies below the sum and above what may overlap."""
    sweep = links.Sweep.published("nccl_allreduce_4x8xB200_payload")
    (took,) = sweep.seconds[sweep.size == 2**32]
    priced = prices(2**32, 4, NVLINK_5)
    assert 1e3 * took == pytest.approx(22.05, abs=0.005)
    assert priced["in a pipeline"] < priced["eight rings"] < took < priced["in sequence"]
    assert 7 < priced["one ring"] / took < 8


def test_eight_flat_rings_are_faster_than_a_hierarchy_phase_after_phase():
    """140 GB on 16 x 8; the right price of all stays 1.201 s, and is the dearest that uses all cards."""
    priced = prices(140e9, 16, NVLINK)
    assert priced["in sequence"] == pytest.approx(1.201, abs=0.0005)
    assert priced["in sequence"] / priced["eight rings"] == pytest.approx(1.73, abs=0.005)
    assert priced["one ring"] / priced["in sequence"] == pytest.approx(4.63, abs=0.005)
    assert priced["in a pipeline"] == pytest.approx(0.656, abs=0.0005)


@pytest.mark.parametrize(
    ("nodes", "per_node", "rings"), [(2, 2, 2), (3, 4, 4), (4, 8, 8), (4, 8, 3), (4, 8, 1)]
)
def test_rings_load_the_wires_with_what_their_messages_carry(nodes, per_node, rings):
    """Every ring drawn hop by hop: by NVLink within a node, and by the last one's card out of it."""
    workers, size = nodes * per_node, 1e9
    fast, slow = np.zeros(workers), np.zeros(workers)
    for ring in range(rings):
        order = [
            n * per_node + (ring + i) % per_node for n in range(nodes) for i in range(per_node)
        ]
        for a, b in itertools.pairwise([*order, order[0]]):
            inside = a // per_node == b // per_node
            (fast if inside else slow)[a] += size / rings / workers
    rounds = 2 * (workers - 1)
    for inside, outside in (
        (Network(0, 1e-9), Network(0, 1e-12)),
        (Network(0, 1e-12), Network(0, 1e-9)),
    ):
        expected = rounds * max(fast.max() * inside.beta, slow.max() * outside.beta)
        priced = hierarchy.rings_all_reduce(size, nodes, per_node, inside, outside, rings)
        assert priced == pytest.approx(expected, rel=1e-12)
    assert slow.max() == pytest.approx(size / rings / workers)  # no card carries two rings


def test_without_a_slow_wire_rings_are_one_ring():
    link = Network(3e-6, 1e-10, 2e-11)
    for nodes, per_node in ((1, 8), (8, 1)):
        priced = hierarchy.rings_all_reduce(1e8, nodes, per_node, link, link)
        assert priced == pytest.approx(collectives.all_reduce(1e8, 8, link))


def pipelined(chunks, before, across, after):
    """Greedy: NVLink gathers a chunk as soon as it may, else scatters the next; the card takes its turn."""
    nvlink = card = 0.0
    arrived, scattered = [], 0
    while scattered < chunks or arrived:
        if arrived and (arrived[0] <= nvlink or scattered == chunks):
            nvlink = max(nvlink, arrived.pop(0)) + after
        else:
            nvlink += before
            scattered += 1
            card = max(card, nvlink) + across
            arrived.append(card)
    return nvlink


@pytest.mark.parametrize(
    ("nodes", "nvlink"), [(16, NVLINK), (4, NVLINK_5), (4, Network(0, 1 / 60e9))]
)
def test_phases_in_a_pipeline_come_near_the_busier_wire_and_never_below(nodes, nvlink):
    size, wires = 1e9, (8, nvlink, CARD)
    least = hierarchy.hierarchical_all_reduce(size, nodes, *wires, overlapped=True)
    took = []
    for chunks in (1, 4, 16, 256, 4096):
        part = size / chunks
        took.append(
            pipelined(
                chunks,
                collectives.reduce_scatter(part, 8, nvlink),
                collectives.all_reduce(part / 8, nodes, CARD),
                collectives.all_gather(part, 8, nvlink),
            )
        )
    assert took[0] == pytest.approx(hierarchy.hierarchical_all_reduce(size, nodes, *wires))
    assert all(t >= least * (1 - 1e-12) for t in took)
    assert took[-1] == pytest.approx(least, rel=0.002)


def test_the_sheets_carried_out_to_the_letter_leave_184_and_1024():
    """By sums over axes, not by messages: 16 nodes, 8 GPUs, 8 parts, a one each."""
    held = np.ones((16, 8, 8), int).sum(axis=1, keepdims=True).repeat(8, axis=1)
    for gpu in range(8):
        held[:, gpu, gpu] = held[:, gpu, gpu].sum()
    ones = np.ones((128, 128), int)
    before = messages.run(messages.hierarchical(16, 8, "all-reduce", "nothing"), ones)[0]
    assert (before == held.reshape(128, 8).repeat(16, axis=1)).all()
    first, cost = messages.run(messages.hierarchical(16, 8, "all-reduce", "all-reduce"), ones)
    assert set(held.sum(axis=1).flat) == {184}
    assert set(first.flat) == {184}
    assert cost.rounds == 14 + 30 + 14
    assert held[:, range(8), range(8)].sum(axis=1).tolist() == [1024] * 16


@pytest.mark.parametrize("name", messages.ALL_REDUCE)
@pytest.mark.parametrize("workers", [2, 8, 16])
def test_a_port_carries_what_its_own_messages_carry(name, workers):
    """The binomial tree is charged more than any port carries; its messages are the ring's in sum."""
    plan, size = messages.ALL_REDUCE[name](workers), 64.0 * workers
    sent, received = np.zeros(workers), np.zeros(workers)
    for m in itertools.chain(*plan.rounds):
        sent[m.sender] += (m.last - m.first) * 64
        received[m.receiver] += (m.last - m.first) * 64
    load = messages.load(plan, size)
    assert (load.port, load.sent) == (max(*sent, *received), sent.sum())
    charged = algorithms.traffic(size, workers, CARD, "all-reduce", name).moved
    assert load.port == charged if name != "binomial tree" else load.port < charged
    if name != "recursive doubling":
        assert load.sent == messages.load(messages.ring(workers), size).sent


def test_partners_far_apart_share_the_cable_that_a_ring_has_for_itself():
    across = {n: messages.load(p(64), 64, group=8).across for n, p in messages.ALL_REDUCE.items()}
    assert across["ring"] == 1
    assert across["halving-doubling"] == across["recursive doubling"] == 8


def test_the_published_sweeps_name_the_script_that_took_them():
    for name in ("nccl_allreduce_8xH200_payload", "nccl_allreduce_4x8xB200_payload"):
        note = data.load(name).note
        assert "all_reduce_bench.py" in note
        assert "nccl-tests" not in note


def test_a_selection_gathered_from_a_thousand_workers_is_slower_than_no_compression():
    """1% of 100 MB, chosen by each: the sum of the choices is ten messages."""
    plain = collectives.all_reduce(100e6, 1024, SLOW)
    gathered = [collectives.all_gather(1024 * 1e6, 1024, SLOW, a) for a in ("ring", "doubling")]
    assert min(gathered) > 1.2 * plain
    added = overlap.synchronizing_seconds(100e6, 1024, SLOW, ratio=100)
    assert added / plain == pytest.approx(0.75, abs=0.01)
    rng = np.random.default_rng(8)
    places = [set(rng.choice(10_000, 100, replace=False)) for _ in range(64)]
    assert len(set.union(*places)) > 40 * 100  # 64 choices of 1% share next to nothing
    namespace = {"network": network, "slow": SLOW}
    exec(CELLS["fewer-moves"], namespace)
    assert namespace["ways"]["the largest 1%"](1024) == gathered[0]


def test_something_is_exposed_however_long_the_backward_pass():
    assert overlap.equal_buckets_seconds(100e6, 4, 1e6, 8, SLOW) == pytest.approx(
        collectives.all_reduce(25e6, 8, SLOW)
    )


def test_the_log_names_the_algorithm_with_the_second_variable_only():
    told = [
        cell for cell in CELLS.values() if "`NCCL_DEBUG=INFO`" in cell or "NCCL_DEBUG=INFO" in cell
    ]
    assert told
    assert all("NCCL_DEBUG_SUBSYS" in cell for cell in told)


@pytest.mark.parametrize("workers", [2, 8, 128])
@pytest.mark.parametrize("way", ["DDP", "FSDP"])
def test_gradients_hide_from_the_tokens_at_which_a_root_finder_says_so(way, workers):
    """Times of one layer, priced as collectives and as FLOPs; its size does not matter."""
    peak, link = 4e14, Network(0, 1 / 450e9)

    def beyond(tokens):
        if way == "DDP":
            return collectives.all_reduce(2 * 5e8, workers, link) - 4 * 5e8 * tokens / peak
        forward = collectives.all_gather(2 * 5e8, workers, link) - 2 * 5e8 * tokens / peak
        backward = (
            forward + collectives.reduce_scatter(2 * 5e8, workers, link) - 2 * 5e8 * tokens / peak
        )
        return max(forward, backward)

    root = optimize.brentq(beyond, 1, 1e6)
    assert ledger.least_tokens(peak, 450e9, workers) == pytest.approx(root, rel=1e-6)
    intensity = [
        ledger.ledger(ledger.Layer(n, 4096), root, workers)[way].intensity for n in (1e6, 5e8)
    ]
    assert intensity == pytest.approx([peak / 450e9] * 2)


def test_no_tokens_help_tensor_parallelism_across_the_cards():
    gpu = hardware.device("H100 SXM")
    peak = hardware.peak(gpu, "bf16 tensor")
    reached = {
        t: ledger.ledger(figures.LAYER, t, 8)["tensor"].intensity for t in (64, 4096, 1 << 20)
    }
    assert len({round(r, 6) for r in reached.values()}) == 1
    assert peak / 450e9 < reached[64] < peak / 50e9
    weights = 2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672
    assert weights == figures.LAYER.parameters


def test_boxes_of_corrections_are_two_at_most():
    boxes = [cell for cell in CELLS.values() if re.search(r"^:class: correction$", cell, re.M)]
    assert len(boxes) <= 2
    assert not any("The text this chapter follows" in cell for cell in CELLS.values())
