"""Mistakes that section 3.8 once made, each as what is true instead."""

import contextlib
import io
import itertools
import re

import nbformat
import numpy as np
import pytest
from scipy import optimize

from scalelab import data, links, records, show
from scalelab.links import regimes
from scalelab.models import machines, network
from scalelab.models.machines import hardware
from scalelab.models.network import (
    algorithms,
    bandwidth,
    collectives,
    crossover,
    hierarchy,
    ledger,
    messages,
    overlap,
)
from scalelab.models.network.network import Network
from scalelab.show.plots import network as figures
from tests.notebooks import ROOT, chapter

CELLS = {cell["id"]: cell["source"] for cell in chapter("08_network").nb.cells}
TASKS = nbformat.read(ROOT / "solutions/08_network/08_network.ipynb", 4)
CARD, NVLINK, NVLINK_5 = (Network(0, 1 / rate) for rate in (50e9, 450e9, 900e9))
SLOW = Network(alpha=30e-6, beta=1 / 10e9)
COUNTS = ("none", "one", "two", "three", "four", "five", "six")


def run(*names, **given):
    """Run cells of the chapter in order; return what they leave behind and what they print."""
    known = {"np": np, "network": network, "figures": figures, "machines": machines}
    known |= {"show": show} | given
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for name in names:
            exec(compile(CELLS[name], name, "exec"), known)
    return known, printed.getvalue()


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
    """1% of 100 MB, chosen by each, a value and its place: the choices are twenty messages."""
    chosen = np.zeros(250_000, "i4, f4").nbytes  # of 25 million numbers
    assert 1024 * chosen == pytest.approx(20.48 * 100e6)
    assert "twenty times the message" in CELLS["fewer-read"]
    plain = collectives.all_reduce(100e6, 1024, SLOW)
    gathered = [collectives.all_gather(1024 * chosen, 1024, SLOW, a) for a in ("ring", "doubling")]
    assert min(gathered) > 2.4 * plain
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


@pytest.mark.parametrize("slug", ["08_network", "09_cost"])
def test_the_log_names_the_algorithm_with_the_second_variable_only(slug):
    told = [cell for cell in chapter(slug).markdown if "NCCL_DEBUG=INFO" in cell]
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


def test_both_sheets_add_finished_sums_and_only_the_dear_beginning_is_no_bug():
    """All-reduce, across, all-gather is dear and right; a second all-reduce counts eights eight times."""
    ones = np.ones((128, 128), int)
    dear = messages.run(messages.hierarchical(16, 8, "all-reduce", "all-gather"), ones)[0]
    assert set(dear.flat) == {128}
    text = CELLS["hierarchy-proof"]
    assert "that only costs time" in text
    assert "end with another where an all-gather belongs, and that is the bug" in text
    assert (184 - 128) / 7 == 8  # not "some gradients twice"
    assert "twice" not in text


@pytest.mark.parametrize("workers", [8, 64])
def test_the_summary_says_what_doubling_waits_for(workers):
    """The most is waited for in the binomial tree, so "doubling the most" was of another count."""
    (told,) = re.findall(r"recursive doubling for \$(.+?)\$ whole messages", CELLS["summary"])
    assert told == r"\log_2 K"
    waited = {
        name: algorithms.traffic(1.0, workers, CARD, "all-reduce", name).moved
        for name in messages.ALL_REDUCE
    }
    assert waited["recursive doubling"] == pytest.approx(np.log2(workers))
    assert waited["recursive doubling"] < max(waited.values()) == waited["binomial tree"]


def test_busbw_stands_beside_the_sum_of_the_cards_of_a_node():
    """4 GiB on 4 x 8 B200: one card carries an eighth of what the ratio is over."""
    sweep = links.Sweep.published("nccl_allreduce_4x8xB200_payload")
    (took,) = sweep.seconds[sweep.size == 2**32]
    shown = bandwidth.bus_bandwidth(2**32, took, 32)
    card = bandwidth.nic_bandwidth(2**32, took, nodes=4, nics=8)
    left, _ = run("busbw-two")
    ratio = left["flattery"][list(left["nodes"]).index(4)]
    assert shown / (8 * card) == pytest.approx(ratio)
    assert shown / card > 10
    page = (ROOT / "book/corrections.md").read_text()
    assert "the cards of a node together then carry $2(n-1)/n$" in CELLS["busbw-nodes"]
    assert "what the cards of a node carry together" in CELLS["correction-two-nodes"]
    assert "the cards of one together carry at least $2\\frac{n-1}{n}$ of the message" in page
    assert "a card then carries" not in CELLS["busbw-nodes"]


def test_small_buckets_pay_the_latencies_of_all_their_rounds():
    b, rounds = 256, algorithms.traffic(0, 8, SLOW, "all-reduce", "ring").rounds
    exposed = overlap.equal_buckets_seconds(100e6, b, 0.030, 8, SLOW)
    free = overlap.equal_buckets_seconds(100e6, b, 0.030, 8, Network(0, SLOW.beta))
    paid = b * rounds * SLOW.alpha
    assert paid == pytest.approx(exposed - free, rel=0.2)
    assert b * SLOW.alpha < 0.1 * paid  # "a hundred latencies" for a hundred buckets
    assert "the latencies of their rounds a hundred times" in CELLS["overlap-bucket"]


def test_exposed_is_where_the_queue_of_buckets_ends():
    """First bucket after T / b, then b of them one behind the other; by a clock that walks them."""
    assert "all $b$ then travel one behind the other" in CELLS["overlap-bucket-on"]
    for b, each, back in ((4, 0.02, 0.04), (10, 0.001, 0.03), (1, 0.01, 0.02), (16, 0.003, 0.03)):
        clock = 0.0
        for bucket in range(b):
            clock = max(clock, back * (bucket + 1) / b) + each
        assert max(each, b * each - (1 - 1 / b) * back) == pytest.approx(clock - back)


def test_what_exercise_1_calls_hopeless_is_hopeless():
    (what,) = re.findall(r"Why can no (.+?) make a ring of 1,000", CELLS["exercise-1"])
    better = {"bandwidth": Network(5e-6, 0.02e-9 / 1000), "latency": Network(5e-9, 0.02e-9)}
    link = Network(5e-6, 0.02e-9)
    before, after = (collectives.all_reduce(1e3, 1000, one) for one in (link, better[what]))
    assert before / after < 1.01
    assert before / collectives.all_reduce(1e3, 1000, better["latency"]) > 500


def test_a_ring_pays_mainly_for_bytes_soon_after_it_pays_as_much_for_rounds():
    link, workers = Network(5e-6, 0.02e-9), 1000
    even = workers * network.half_size(link)

    def share(size):
        rounds = collectives.all_reduce(0, workers, link)
        return 1 - rounds / collectives.all_reduce(size, workers, link)

    assert share(even) == pytest.approx(1 / 2)
    assert share(2 * even) == pytest.approx(2 / 3)
    assert "only longer messages pay mainly for their bytes" in CELLS["ring-good-on"]


def test_the_list_counts_the_prices_of_a_hierarchy():
    left, _ = run("hierarchy-flat", outside=CARD)
    ways = COUNTS[len(left["prices"](1e9, 2, NVLINK))]
    assert f"price nodes of fast links in slow networks {ways} ways" in CELLS["you-will"]
    assert f'"{ways.capitalize()} prices' in CELLS["hierarchy-judged"]


def test_the_share_of_fits_in_words_is_the_one_printed():
    _, printed = run("fit-ols", card=Network(5e-6, 1 / 50e9))
    share = int(re.search(r"negative in (\d+)%", printed)[1])
    assert f"{COUNTS[round(share / 10)].capitalize()} fits in ten" in CELLS["fit-why"]


def test_a_worker_adds_half_of_what_two_all_reduce():
    added = messages.run(messages.ring(2), np.ones((2, 4)))[1].reduced
    assert added == np.ones(4).nbytes / 2
    assert "touches half of the bytes once more to add them" in CELLS["ring-live-text-on"]


def test_the_messages_across_the_middle_are_those_of_the_worst_round():
    plan = messages.ALL_REDUCE["halving-doubling"](8)
    crossing = [sum(m.sender < 4 <= m.receiver for m in sent) for sent in plan.rounds]
    assert messages.load(plan, 64, group=4).across == max(crossing) == 4
    assert crossing.count(0) == 4
    assert "in the round that has the most of them" in CELLS["table-cables"]


def two_nodes(tokens):
    """Run the cell that spreads a tensor-parallel group over two nodes."""
    gpu = hardware.device("H100 SXM")
    given = {"rows": ledger.ledger(figures.LAYER, tokens, 8), "nvlink": NVLINK, "outside": CARD}
    return run(
        "hierarchy-flat", "ledger-two-nodes", peak=hardware.peak(gpu, "bf16 tensor"), **given
    )


def test_two_nodes_share_the_crossing_and_still_gain_less_than_twofold():
    """Cards that eight GPUs share keep up; what does not shrink is what each sends inside its node."""
    left, printed = two_nodes(4096)
    gains = dict(re.findall(r"(.+?): +([\d.]+) times", printed))
    layer = figures.LAYER
    states = 2 * layer.hidden * 4096
    inside = 4 * 2 * 7 / 8 * states / 450e9  # of a GPU of one node, and of two
    across = 4 * 2 * 1 / 2 * states / 8 / 50e9
    product = 6 * layer.parameters * 4096 / left["peak"]
    assert across < inside
    assert across < product / 16  # above the ridge of the card, where one GPU a node lies far below
    best = (product / 8 + inside) / (product / 16 + inside)
    assert float(gains["phases in a pipeline"]) == round(best, 2) == max(map(float, gains.values()))
    assert f"{best:.2f} times the speed by the best of these four" in CELLS["ledger-two-read"]
    assert two_nodes(64)[1] == two_nodes(1 << 20)[1] == printed  # no batch mends it
    assert "if each of the eight GPUs sits in another node" in CELLS["ledger-clocks-read"]
    alone = collectives.all_reduce(states, 8, CARD)
    assert alone / collectives.all_reduce(states, 8, NVLINK) == pytest.approx(9)


def test_low_rank_waits_for_two_sums_one_after_the_other():
    """The second thin matrix is computed from the sum of the first: twice the rounds of a ring."""
    left, _ = run("fewer-moves", slow=SLOW)
    low_rank = left["ways"]["1% of low rank"]
    for workers in (8, 1024):
        rounds = 2 * (workers - 1)
        each = SLOW.alpha + SLOW.beta * 0.5e6 / workers
        assert low_rank(workers) == pytest.approx(2 * rounds * each)
    assert low_rank(1024) > network.all_reduce(100e6, 1024, SLOW)
    assert "two of them take *longer*" in CELLS["fewer-read"]


def test_eight_sizes_get_one_line_whatever_they_show():
    """Two lines take nine sizes, three take fourteen, even where a break is as plain as can be."""

    def lines(count):
        sizes = np.geomspace(2**10, 2**24, count)
        seconds = np.where(sizes < 2**17, 50e-6 + sizes / 5e9, 5e-3 + sizes / 0.5e9)
        return len(regimes.split(links.Sweep.of(sizes, seconds))[0].edges)

    assert lines(8) == 1
    assert lines(9) == 2
    assert "takes nine sizes at least" in CELLS["fit-yours-text"]
    assert "your eight sizes get one line" in CELLS["fit-yours-text-on"]


def test_a_second_node_gains_more_where_the_exchange_hides():
    """1.56 times is what waiting leaves; were everything hidden, twice the GPUs would be twice as fast."""
    cells = ("hierarchy-code", "hierarchy-flat", "ledger-code", "ledger-tokens", "ledger-two-nodes")
    left, printed = run(*cells)
    computing, calls = left["computing"], left["tensor"].calls
    fastest = min(left["prices"](left["tensor"].size, 2, left["nvlink"]).values())
    waiting = left["one"] / (computing / 2 + calls * fastest)
    assert f"{waiting:.2f} times" in printed
    hidden = max(computing, left["one"] - computing) / max(computing / 2, calls * fastest)
    assert hidden > 1.9 > 1.2 * waiting
    assert "and nothing hidden behind a product" in CELLS["ledger-two-read"]


def test_in_a_binomial_tree_of_eight_half_or_more_wait_in_four_of_six_rounds():
    """Not most of them in every round: in the first and the last all eight take part."""
    rounds = messages.binomial_tree(8).rounds
    busy = [len({end for m in sent for end in (m.sender, m.receiver)}) for sent in rounds]
    assert [8 - n for n in busy] == [0, 4, 6, 6, 4, 0]
    assert "in four of the six rounds half of the workers or more wait" in CELLS["table-columns-on"]


def test_a_state_that_no_part_is_in_is_told_as_none():
    """Nothing lies outside the picture of a ring's rounds."""
    from scalelab.show import series, words

    assert words.course(series.Points("of all", [np.nan], [np.nan], "lane")) == "none"


def test_the_conversion_that_was_withdrawn_multiplies_the_bytes_of_the_message_per_second():
    """270.3 GB/s of messages become 210.3, whether one starts from them or from the bus's 473.1."""
    bus, workers = 473.1, 8
    message = bus * workers / (2 * (workers - 1))
    withdrawn = message * (workers - 1) / (workers + 1)
    assert withdrawn == pytest.approx(210.3, abs=0.05)
    check = next(c for c in TASKS.cells if c["id"] == "check-3-2")["source"]
    known = re.search(r"_mine\.busbw (.+),\n.*that conversion is withdrawn", check)[1]
    told = eval(f"bus {known}", {"bus": bus, "_k": workers})
    assert told == pytest.approx(withdrawn)


def test_gloo_carries_two_buckets_at_a_time():
    """So a measured queue can be shorter than the formula's; and DDP's cap is not its only knob."""
    import inspect

    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    assert distributed.ProcessGroupGloo._Options()._threads == 2
    assert "gloo's two threads" in CELLS["overlap-read"]
    knobs = inspect.signature(DistributedDataParallel).parameters
    assert {"bucket_cap_mb", "bucket_cap_mb_list"} <= set(knobs)
    assert "one knob" not in CELLS["overlap-best-read"]


def test_the_leaf_that_the_text_points_at_has_children_in_the_other_tree_and_is_not_the_middle():
    """Worker 5 as the drawing counts, from 1; of the two in the middle, worker 4 is no leaf above."""
    above, below = (
        {r + 1: parent + 1 for r, parent in tree.items()} for tree in messages.two_trees(8)
    )
    assert "worker 5: a leaf of the tree above, it has two children" in CELLS["trees-drawing-read"]
    assert 5 not in above.values()
    assert 4 in above.values()
    assert sum(parent == 5 for parent in below.values()) == 2


@pytest.mark.parametrize("workers", [8, 64])
def test_what_beats_two_trees_at_a_power_of_two_beats_them_for_every_number_of_blocks(workers):
    """So it is no matter of size: eight were once called too few."""
    assert "never win at a power of two" in CELLS["trees-drawing-read"]
    best = messages.halving_doubling(workers)
    for blocks in (1, 2, 4, 8):
        trees = messages.double_binary_tree(workers, blocks)
        assert len(best.rounds) < len(trees.rounds)
        assert paid(best) < paid(trees)


@pytest.mark.parametrize("wire", [CARD, NVLINK, SLOW])
def test_two_trees_are_fastest_for_some_messages_where_many_would_have_to_be_folded(wire):
    assert "as 488 of 1,000 are" in CELLS["trees-drawing-read"]
    wire = Network(alpha=5e-6, beta=wire.beta)
    sizes = 2.0 ** np.arange(40)
    assert "double binary tree" in crossover.fastest(sizes, 1000, wire)
    assert "double binary tree" not in crossover.fastest(sizes, 1024, wire)
    ring, trees = (
        np.array([crossover.seconds(size, 1024, wire, "all-reduce", name) for size in sizes])
        for name in ("ring", "double binary tree")
    )
    assert (trees[:24] < ring[:24]).all()
    assert trees[-1] > ring[-1]


def paid(plan):
    """The largest message of each round, added up: what a worker waits for, in whole messages."""
    longest = (max(one.last - one.first for one in sent) for sent in plan.rounds)
    return sum(longest) / plan.parts


def test_each_method_of_the_frontier_cuts_the_term_that_the_text_says():
    """Rounds alone, bytes alone at the price of two rounds, or both: each from the model."""
    workers, size, start, byte = 1024, 1e6, Network(1.0, 1e-18), Network(0.0, 1.0)

    def gathered(way, wire):
        return collectives.all_gather(size, workers, wire, way)

    assert gathered("ring", start) == pytest.approx(1023)
    assert gathered("doubling", start) == pytest.approx(10)  # as PAT's
    assert gathered("ring", byte) == pytest.approx(gathered("doubling", byte))
    whole = collectives.all_reduce(size, workers, start, "ring")
    halves = [collectives.all_reduce(size / 100, workers, start, "ring") for _ in "PQ"]
    assert sum(halves) == pytest.approx(2 * whole)  # PowerSGD's two factors
    bytes_of = [collectives.all_reduce(m, workers, byte, "ring") for m in (size, size / 100)]
    assert 2 * bytes_of[1] < bytes_of[0] / 10
    said = CELLS["frontier-read"]
    assert "PAT cuts the rounds" in said
    assert r"PowerSGD cuts $\beta m$ and pays $\alpha r$ twice" in said
    assert "DiLoCo divides both" in said


def test_no_text_above_a_live_table_promises_what_its_claim_leaves_open():
    """Not out of all proportion, it said, above 29.6 times the forecast of a short message."""
    text, most = CELLS["ring-live-text-on"], re.search(r"most=(\d+)", CELLS["ring-live-claim"])[1]
    assert "proportion" not in text
    assert f"up to {COUNTS[int(most)]} times for the largest message" in text
    assert "For short ones it may be anything" in text
    claimed = f"forecast the largest all-reduce within a factor of {COUNTS[int(most)]}"
    assert claimed in CELLS["ring-live-claim"]
    assert "np.median(measured / forecast)" in CELLS["ring-live-ratio"]


def test_the_share_of_an_exchange_that_hides_is_measured_and_not_only_argued():
    waits = {"asleep": {1: 50.0, 4: 22.0, 16: 9.0}, "real": {1: 10.0, 4: 10.0, 16: 12.0}}
    given = {"exposed": lambda run, b: (0.0, run[b]), "counts": (1, 4, 16)}
    _, printed = run("overlap-hidden", **waits, **given)
    assert [line.split(": ")[1].split()[0] for line in printed.splitlines()] == [
        "56%", "82%", "0%", "-20%",
    ]  # fmt: skip


@pytest.mark.parametrize(("nodes", "each"), [(2, 4), (4, 8), (3, 5)])
def test_the_hierarchy_has_its_row_among_the_formulas(nodes, each):
    """Rounds, bytes on both levels and what is added up, against the price of its phases."""
    rows = CELLS["table-formulas"]
    size, workers = 1e6, nodes * each
    rounds = 2 * (each - 1) + 2 * (nodes - 1)
    inside, across = 2 * (each - 1) / each * size, 2 * (nodes - 1) / nodes * size / each

    def priced(within, between):
        return hierarchy.hierarchical_all_reduce(size, nodes, each, within, between)

    start, byte, none = Network(1, 1e-18), Network(0, 1), Network(0, 1e-18)
    assert priced(start, start) == pytest.approx(rounds)
    assert (priced(byte, none), priced(none, byte)) == pytest.approx((inside, across))
    assert (inside + across) / 2 == pytest.approx((workers - 1) / workers * size)
    assert r"| $2(g-1) + 2(n-1)$ | $2\frac{g-1}{g}M$ inside" in rows


def test_bruck_sends_a_part_once_for_each_one_in_its_distance():
    for levels in (1, 2, 3, 6):
        hops = [bin(distance).count("1") for distance in range(2**levels)]
        assert max(hops) == levels
        sent = collectives.all_to_all(2**levels, 2**levels, Network(0, 1), "Bruck")
        assert sent == pytest.approx(sum(hops))
    assert r"sent $\log_2 K$ times" in CELLS["table-others-ways"]


@pytest.mark.parametrize(("workers", "spared"), [(2, 2), (8, 0), (64, 2), (100, 2)])
def test_two_trees_carried_out_take_no_more_rounds_than_are_charged_and_some_take_fewer(
    workers, spared
):
    """The count is that of the slowest turns; two workers, a leaf and a root each, need half of it."""
    charged = algorithms.traffic(1.0, workers, CARD, "all-reduce", "double binary tree").rounds
    assert charged - len(messages.double_binary_tree(workers).rounds) == spared
    assert (
        r"at most $2(\lfloor\log_2 K\rfloor + q - 1)$ on the way up" in CELLS["table-trees-count"]
    )
    assert "| two trees, $q$ blocks each | at most $4(" in CELLS["table-formulas"]
    drawn = figures.rounds(CARD, 1e6).series[-1]
    assert drawn.label.endswith("at most")
    assert min(drawn.x) == 4


@pytest.mark.parametrize("workers", [4, 8, 64])
def test_the_root_above_a_power_of_two_workers_has_one_child(workers):
    first, _ = messages.two_trees(workers)
    children = [list(first.values()).count(up) for up in set(first.values())]
    assert sorted(children) == [1] + [2] * (workers // 2 - 1)
    assert "an inner worker has up to two children to serve" in CELLS["table-trees"]


def test_of_this_long_a_sweep_one_interval_in_ten_misses_and_of_short_ones_more():
    """Of 700 such sweeps of 21 sizes 90.7% held the true latency, of 250 with eight sizes 86.4%."""
    left, _ = run("fit-ols", card=Network(5e-6, 1 / 50e9))
    (line,) = links.fit(
        links.Sweep.of(
            left["M"], network.message_seconds(left["M"], left["card"]) * left["noise"][0]
        )
    ).regimes
    assert 5e-6 < line.latency.low < 1.01 * 5e-6  # by a hair
    assert "one in ten should miss, and of shorter sweeps a few more do" in CELLS["fit-yours-text"]


@pytest.mark.parametrize("workers", [2, 4, 8, 64])
@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_halving_doubling_takes_no_more_than_two_trees_and_between_two_workers_no_less(
    workers, blocks
):
    """Not fewer rounds and bytes at every power of two: two workers swap halves either way."""
    best, trees = messages.halving_doubling(workers), messages.double_binary_tree(workers, blocks)
    assert len(best.rounds) <= len(trees.rounds)
    assert paid(best) <= paid(trees)
    if (workers, blocks) == (2, 1):
        assert (len(best.rounds), paid(best)) == (len(trees.rounds), paid(trees))
    said = "needs no more rounds and waits for no more bytes"
    assert said in CELLS["trees-drawing-read"]


def test_the_shortest_message_of_the_explorer_is_not_short_on_its_slowest_link():
    """1 kB at 2 µs and 1.25 GB/s is 0.4 n-half, so left the lines are not yet apart as their rounds are."""
    wire = Network(alpha=2e-6, beta=1 / 1.25e9)
    assert 1e3 / network.half_size(wire) == pytest.approx(0.4)
    trees, halves = (
        collectives.all_reduce(1e3, 1024, wire, name)
        for name in ("binomial tree", "halving-doubling")
    )  # of as many rounds
    assert trees / halves == pytest.approx(1.35, abs=0.01)
    assert "On the far left the lines" in figures.choice(64, 1e6, 5e-6, 50e9).see
    assert "Where messages are far shorter than $n_{1/2}$" in CELLS["explore-read-on"]


def test_on_a_faster_link_all_curves_move_to_longer_messages_and_on_a_shorter_latency_back():
    """In multiples of the fastest each depends on the message over n-half, on nothing else of the link."""
    sizes, said = np.geomspace(1e3, 1e10, 29), CELLS["explore-read"]

    def beside(alpha, speed, sizes):
        link = Network(alpha, 1 / speed)
        names = algorithms.ALGORITHMS["all-reduce"]
        took = np.array([collectives.all_reduce(sizes, 100, link, name) for name in names])
        return took / took.min(axis=0)

    for alpha, speed, times in ((5e-6, 500e9, 10), (1e-6, 50e9, 1 / 5)):
        assert beside(alpha, speed, times * sizes) == pytest.approx(beside(5e-6, 50e9, sizes))
    assert "A faster link moves all curves to longer messages" in said
    assert "a shorter latency moves them back" in said


def test_rounds_alone_make_twenty_times_only_where_the_whole_message_is_short():
    """Question 1.4: a ring's messages may be short and doubling's not, for it sends everything."""
    (asked,) = (c["source"] for c in TASKS.cells if c["id"] == "question-1-4")
    assert "the all-reduce of 64 workers, which is of far fewer bytes than $n_{1/2}$" in asked

    def gain(size):
        ring, doubling = (
            collectives.all_reduce(size * network.half_size(SLOW), 64, SLOW, name)
            for name in ("ring", "recursive doubling")
        )
        return ring / doubling

    assert gain(0.01) == pytest.approx(126 / 6, rel=0.02)
    assert gain(64 * 0.1) < 4  # each message of the ring a tenth of n-half


def test_what_a_ring_and_halving_doubling_share_is_no_constant():
    """The hint to 2.2 asks what is the same for both: the bytes, which grow with the workers."""
    (asked,) = (c["source"] for c in TASKS.cells if c["id"] == "question-2-2")
    assert "the same for both at every K" in asked
    shares = [
        {
            algorithms.traffic(1.0, k, CARD, "all-reduce", name).moved
            for name in ("ring", "halving-doubling")
        }
        for k in (2, 4, 1024)
    ]
    assert [len(one) for one in shares] == [1, 1, 1]
    assert len(set.union(*shares)) == 3


def test_a_ring_turns_round_in_the_middle():
    """Not always to the right: parts go down the numbers while they are added, and up again afterwards."""
    rounds = messages.ring(4).rounds
    turns = [{(m.receiver - m.sender) % 4 for m in sent} for sent in rounds]
    assert turns == [{3}] * 3 + [{1}] * 3
    assert [all(m.adds for m in sent) for sent in rounds] == [True] * 3 + [False] * 3
    assert "to the right" not in CELLS["ring-idea"]
    assert "down the numbers while they are added, and up again" in CELLS["ring-drawing-read"]


def test_a_price_is_the_least_in_seconds_and_the_most_in_the_figure():
    """A measurement lies above a right price in seconds, and below its line in bytes per second."""
    measured = links.Sweep.published("nccl_allreduce_4x8xB200_payload")
    priced = prices(2**32, 4, NVLINK_5)
    chart = figures.speeds("title", measured, 2**32, priced, show.plots.MODEL)
    lines = {one.label: one.y[0] for one in chart.series}
    last = chart.series[-1].y[-1]
    (seconds,) = measured.seconds[measured.size == 2**32]
    for name, price in priced.items():
        assert (price < seconds) == (name in ("eight rings", "in a pipeline"))
        assert (lines[name] > last) == (price < seconds)
    said = CELLS["hierarchy-judge-text"]
    assert "in seconds a price is the least that its plan can take" in said
    assert "in the figure, which has bytes per second, its line is the most" in said
    assert "climb above both lines" in CELLS["hierarchy-judge-text-on"]


def test_the_first_rows_of_four_nodes_are_told_as_busbw_and_as_times():
    """0.01 GB/s of busbw are 6 ms for 32 KiB, 0.01 GB/s of the message would be half of that."""
    _, printed = run("published-nodes", links=links, data=data, records=records)
    assert "busbw in GB/s: 0.01 0.04 0.45" in printed
    assert f"ms: {2**15 / 0.01e9 * 2 * 31 / 32 * 1e3:.1f} " in printed
    assert "busbw (bus bandwidth, part 6)" in CELLS["published-nodes-read"]


def test_the_text_names_both_ends_of_what_the_all_reduce_may_take():
    """Up to six times, it said, above a claim that also holds at less than half."""
    (least,) = re.findall(r"least=([\d.]+)", CELLS["ring-live-claim"])
    assert f"allows less, too, down to {least}" in CELLS["ring-live-text-on"]


def test_four_rows_find_one_line_among_the_three_of_the_whole_sweep():
    """Not the right latency: there are three, and three of n-half."""
    rates = ["39.93", "219.89", "436.15", "473.10"]
    sizes = [2**20, 2**24, 2**28, 2**32]
    (one,) = links.fit(
        links.Sweep.of_rates(sizes, rates, workers=8, collective="all-reduce")
    ).regimes
    all_rows = links.fit(links.Sweep.published("nccl_allreduce_8xH200_payload")).regimes
    short, middle, long = (regime.latency.value for regime in all_rows)
    assert short < one.latency.value < middle < long
    assert max(all_rows[0].half, all_rows[1].half) < one.half < all_rows[2].half
    assert "the right latency" not in CELLS["library-read"]
    assert "this latency lies between those of the first two" in CELLS["library-read"]


@pytest.mark.parametrize("box", figures.BOX.values)
def test_weights_and_gradients_move_with_the_tokens_and_experts_stay_left_of_tensor_parallelism(
    box,
):
    """Three points of the card shared a label, and two of NVLink: each has the colour of what is sent."""

    def points(tokens):
        marks = (s for s in figures.clocks(box, tokens).series if s.kind == "points")
        return {one.label: (one.x, one.tone) for one in marks}

    few, many = points(64), points(16384)
    moved = {name for name in few if (many[name][0] > few[name][0]).all()}
    assert moved == {"weights", "gradients"}
    assert all((many[name][0] == few[name][0]).all() for name in few.keys() - moved)
    assert few["experts"][0] < min(few["tensor parallel"][0])
    assert len({tone for _, tone in few.values()}) == len(few) == 4
    assert "Weights read from memory and gradients move right" in CELLS["ledger-clocks-read"]


def test_a_figure_says_that_a_line_jumps_only_where_one_does():
    whole = links.fit(links.Sweep.published("nccl_allreduce_8xH200_payload"))
    sizes = 2.0 ** np.arange(10, 18)
    plain = links.fit(links.Sweep.of(sizes, 1e-4 + sizes / 1e9))
    assert "jumps" in figures.sweep("title", {"a": whole, "b": plain}).see
    assert "jumps" not in figures.sweep("title", {"a": plain, "b": plain}).see


@pytest.mark.parametrize(("last", "hidden"), [(1.0, True), (1.5, False)])
def test_a_figure_says_that_a_point_is_hidden_only_where_one_is(last, hidden):
    """At 16 MiB ring and doubling took the same time, and one of two points could not be seen."""
    sizes = 2.0 ** np.arange(10, 18)
    times = 1e-4 + sizes / 1e9
    slower = times * np.append(np.full(sizes.size - 1, 1.5), last)
    one, two = (links.fit(links.Sweep.of(sizes, seconds)) for seconds in (times, slower))
    assert ("lies behind the other" in figures.sweep("title", {"a": one, "b": two}).see) == hidden


def test_what_climbs_first_in_two_trees_comes_down_last():
    """So the first round has one message, though other leaves could send."""
    rounds = messages.double_binary_tree(8).rounds
    ends = [[(m.sender + 1, m.receiver + 1) for m in rounds[at]] for at in (0, -1)]
    assert ends == [[(5, 6)], [(6, 5)]]
    assert "only worker 5 sends, the one that the sum reaches last" in CELLS["table-trees-count"]
