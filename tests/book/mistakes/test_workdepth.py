"""What section 3.6 once said wrongly, or in a way that misled."""

import ast
import itertools
import re
from fractions import Fraction
from types import SimpleNamespace

import nbformat
import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from scalelab import show
from scalelab.models import graphs, network
from scalelab.show import drawings
from scalelab.show.plots import workdepth as figures
from tests.notebooks import ROOT

CHAPTER = {
    cell.id: cell.source
    for cell in nbformat.read(ROOT / "chapters" / "06_workdepth.ipynb", 4).cells
}


def run(*names, **given):
    """Run cells in order and return what they leave behind, with the lines that they print."""
    lines = []

    def keep(*parts, end="\n"):
        lines.append(" ".join(map(str, parts)) + end)

    known = {"np": np, "torch": torch, "graphs": graphs, "network": network}
    known |= {"figures": figures, "show": show}
    namespace = known | {"print": keep} | given
    for name in names:
        exec(compile(CHAPTER[name], name, "exec"), namespace)
    return SimpleNamespace(**namespace, lines="".join(lines).splitlines())


def block(width=32, heads=2, wide=128, tokens=16):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(width, heads, wide, 0.0)
    return layer(torch.randn(tokens, 1, width, requires_grad=True)).sum()


@pytest.mark.parametrize(("width", "heads", "tokens"), [(32, 2, 16), (48, 3, 5), (64, 4, 33)])
def test_views_and_accumulators_are_no_work_and_products_are_counted_as_pytorch_counts_them(
    width, heads, tokens
):
    loss = block(width, heads, 2 * width, tokens)
    dag = graphs.autograd.dag(loss, graphs.autograd.products)
    linear = sum(w for _, w in dag.nodes(data="weight")) - attention(dag)
    with FlopCounterMode(display=False) as counter:
        loss.backward()
    counted = counter.get_flop_counts()["Global"]
    assert linear == counted[torch.ops.aten.mm]


def attention(dag):
    return sum(w for n, w in dag.nodes(data="weight") if "Scaled" in dag.nodes[n]["label"])


def test_fused_attention_makes_one_product_more_than_the_four_that_unfused_attention_counts():
    with sdpa_kernel(SDPBackend.MATH):
        loss = block()
    with FlopCounterMode(display=False) as counter:
        loss.backward()
    unfused = counter.get_flop_counts()["Global"][torch.ops.aten.bmm]
    fused = attention(graphs.autograd.dag(block(), graphs.autograd.products))
    assert Fraction(int(fused), unfused) == Fraction(5, 4)


def test_the_parallelism_of_a_model_is_the_gradients_of_its_weights_and_not_its_bookkeeping():
    graph_of = run("model-block").graph_of
    for blocks in (1, 2, 5):
        dag = graph_of(blocks)
        T1, Tinf = graphs.work(dag), graphs.depth(dag)
        weights = sum(w for n, w in dag.nodes(data="weight") if dag.nodes[n]["label"][-2:] == "dW")
        assert T1 - Tinf == weights == blocks * 2 * 16 * 32 * (96 + 32 + 128 + 128)
        assert T1 / Tinf == pytest.approx(868_352 / 475_136)  # 2 FLOP x the sizes, by hand


def test_a_graph_is_drawn_by_the_rounds_that_its_depth_counts():
    for dag in (graphs.tree_sum(8), graphs.blelloch_scan(8), graphs.tree_sum(13)):
        chart = figures.graph("", dag, {"addition": ["+"]})
        marks = {series.label: series for series in chart.series}
        assert set(marks) == {"is needed by", "addition", "given"}
        assert marks["addition"].x.max() == graphs.depth(dag)
        assert marks["addition"].x.size == graphs.work(dag)
        assert set(marks["given"].x) == {0}


@pytest.mark.parametrize("way", figures.ALL_REDUCES)
def test_an_arrow_leads_from_a_result_to_what_needs_it_and_its_legend_says_so(way):
    """From A to B it said that A needs B."""
    for chart in (figures.exchanged(way, 4), figures.step("overlapped")):
        (edges,) = (series for series in chart.series if series.kind == "edge")
        begin, tip = (edges.x[np.flatnonzero(np.isnan(edges.x))[:-1] + i] for i in (1, 2))
        assert (begin < tip).all()
        assert edges.label == "is needed by"


def test_four_of_eight_clerks_have_nothing_to_do_in_a_tree_of_eight_receipts():
    """There were eight, and the section asks how many a computation can employ."""
    for clerks in (4, 8):
        timetable = graphs.greedy(graphs.tree_sum(8), clerks)
        assert timetable.makespan == 3
        assert len({slot.worker for slot in timetable.timeline}) == 4
    assert CHAPTER["sum-tree"].startswith("Four clerks can do better.")


def test_a_parallelism_is_what_work_over_depth_gives_to_a_whole_number():
    """7,936 over 5 stood there as 1,590."""
    columns = run("parallelism-code", "parallelism-table").columns
    rows = zip(columns["work"], columns["depth"], columns["parallelism"], strict=True)
    for work, depth, parallelism in rows:
        assert type(parallelism) is int
        assert abs(parallelism - work / depth) <= 0.5


def test_the_total_of_a_scan_is_drawn_with_the_zero_that_goes_on_from_it():
    """From 31 arrows led to 9, 4 and 3; and a round has more additions than in the drawing by levels."""
    scan = graphs.blelloch_scan(8)
    said = graphs.values(scan, [3, 1, 4, 1, 5, 9, 2, 6])
    chart = figures.graph("", scan, {"addition": ["+"]}, said)
    (additions,) = (series for series in chart.series if series.label == "addition")
    assert [word for word in additions.words if not word.isdecimal()] == ["31 → 0"]
    fourth = [int(word) for word, x in zip(additions.words, additions.x, strict=True) if x == 4]
    assert sorted(fourth) == [3, 4, 9]
    assert "So round 4 has three" in CHAPTER["scan-graph-read"]


def test_the_gradient_goes_past_the_feed_forward_part_too_and_the_text_says_by_what():
    dag = figures.without_free(graphs.autograd.dag(block(), graphs.autograd.products))
    (loss,) = (node for node, weight in dag.nodes(data="weight") if not weight)
    chain = networkx.dag_longest_path(dag)
    assert chain[0] == loss
    past = set(dag.succ[loss]) - set(dag.succ[chain[2]])
    needed = set(dag.succ[loss]) & set(dag.succ[chain[2]])
    assert {dag.nodes[node]["label"][-2:] for node in past} == {"dX", "dW"}  # of linear2
    assert {dag.nodes[node]["label"][-2:] for node in needed} == {"dX", "dW"}  # of out_proj
    assert "*skip connection*" in CHAPTER["model-skip"]


def test_every_task_of_a_watched_schedule_is_a_bar_of_its_own():
    for which, workers in itertools.product(figures.CHOICES, figures.WORKERS):
        bars = [s for s in figures.watch(workers, which).series if s.kind == "lane"]
        dag = figures.CHOICES[which]()
        tasks = sum(weight > 0 for _, weight in dag.nodes(data="weight"))
        assert sum(len(series.words) for series in bars) == tasks


def test_a_pipeline_shows_which_micro_batch_is_where_and_gpipe_waits_in_its_middle():
    for one in drawings.graphs.pipeline(4, 4):
        pieces = 2 if "interleaved" in one.name else 1
        for letter in "FBW":
            numbers = [
                s.text for s in one.frames[-1].shapes if s.key[0] == letter and s.kind == "block"
            ]
            assert sorted(numbers) == sorted("1234" * 4 * pieces)
    gpipe = graphs.placed(graphs.pipeline.dag(4, 8, "gpipe"))
    first = [slot for slot in gpipe.timeline if slot.worker == 0]
    gaps = [(a.finish, b.start) for a, b in itertools.pairwise(first) if b.start > a.finish]
    assert gaps == [(8, 17)]  # one wait, after the last forward pass and before the first gradient


def test_both_bounds_hold_for_greedy_and_amdahl_is_the_lower_one():
    found = run("parallelism-code", "bounds-amdahl-code")
    for line in found.lines:
        K, least, most, greedy = map(float, re.findall(r"\d+\.?\d*", line))
        assert least <= greedy <= most
        s = 10 / 1023
        assert least == pytest.approx(1 / (s + (1 - s) / K), abs=0.05)
    assert len(found.lines) == 3


@given(st.integers(2, 5), st.lists(st.integers(1, 9), min_size=1, max_size=7))
def test_grahams_bound_follows_from_the_two_bounds(workers, costs):
    best = min(
        max(sum(c for c, w in zip(costs, where, strict=True) if w == k) for k in range(workers))
        for where in itertools.islice(itertools.product(range(workers), repeat=len(costs)), 20_000)
    )
    greedy = graphs.greedy(graphs.independent(costs), workers).makespan
    T1, Tinf = sum(costs), max(costs)
    proof = (2 - 1 / workers) * max(T1 / workers, Tinf)
    assert greedy <= T1 / workers + (1 - 1 / workers) * Tinf + 1e-9
    assert T1 / workers + (1 - 1 / workers) * Tinf <= proof + 1e-9
    assert proof <= graphs.graham(workers) * best + 1e-9


def test_counts_of_a_section_that_counts_are_printed_whole():
    found = run("parallelism-code", "parallelism-table", "scan-compare")
    assert found.columns["Blelloch"][0] == 2 * 1023
    assert found.columns["Hillis and Steele"][0] == 1024 * 10 - 1024 + 1
    assert all(type(n) is int for name, them in found.columns.items() if name != "K" for n in them)


def test_a_balance_after_each_transaction_includes_the_last():
    moves = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    found = run("scan-code", "scan-balance")
    assert found.lines[1].endswith("31]")
    for n in (1, 2, 16, 256):
        given = np.random.default_rng(n).integers(-9, 9, n)
        assert (found.scan(given) + given == np.cumsum(given)).all()
    assert list(found.scan(moves)) == graphs.evaluate(graphs.blelloch_scan(8), moves.tolist())


def test_the_shallow_scan_wins_from_where_the_page_says():
    ends = [
        [graphs.greedy(build(1024), K).makespan for K in (460, 461)]
        for build in (graphs.blelloch_scan, graphs.hillis_steele_scan)
    ]
    assert ends[0][0] == ends[1][0]
    assert ends[0][1] > ends[1][1]


def test_a_tree_for_a_long_message_is_not_priced_without_its_blocks():
    found = run("collective-code")
    ring, whole, blocks = (float(part.split()[-2]) for part in found.lines[1].split(","))
    assert blocks < 1.1 * ring < whole / 5


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 12))
def test_no_number_of_workers_shortens_the_chain_of_an_answer(prompt, answer, layers):
    dag = graphs.language_model(prompt, answer, layers)
    assert graphs.work(dag) == (prompt + answer) * layers
    assert graphs.depth(dag) == (1 + answer) * layers
    assert graphs.greedy(dag, 10_000).makespan == graphs.depth(dag)


def test_one_worker_of_three_may_be_busy_for_less_than_all_are_on_average():
    """Six tasks of 1 and one of 3, handed out in this order: the bound promises 0.6, and two have 0.4."""
    ends, busy = [0.0] * 3, [0.0] * 3
    for task in [1, 1, 1, 1, 1, 1, 3]:
        first = ends.index(min(ends))
        ends[first] += task
        busy[first] += task
    last = max(ends)
    assert sum(busy) / (3 * last) == pytest.approx(0.6)
    assert sorted(b / last for b in busy) == pytest.approx([0.4, 0.4, 1.0])
    assert "on average" in CHAPTER["bounds-means"]


def test_two_trees_of_many_blocks_take_more_rounds_than_the_ring_of_64():
    """In the chapter's own case: what they have fewer of is not rounds."""
    rounds = 2 * (64 - 1)
    seconds = network.all_reduce(1e8, 64, network.Network(10e-6, 1e-9), "double binary tree")
    per_block = [4 * (6 + q - 1) * (10e-6 + 1e-9 * 1e8 / (2 * q)) for q in range(1, 2000)]
    assert min(per_block) == pytest.approx(seconds, rel=1e-6)
    assert 4 * (6 + per_block.index(min(per_block))) > 5 * rounds


def test_a_block_brings_more_work_than_it_makes_the_chain_longer():
    """The ratio stays because both grow by the same each time, and not because they are alike."""
    torch.manual_seed(0)

    def both(blocks):
        layers = [torch.nn.TransformerEncoderLayer(32, 2, 128, 0.0) for _ in range(blocks)]
        loss = torch.nn.Sequential(*layers)(torch.randn(16, 1, 32, requires_grad=True)).sum()
        dag = graphs.autograd.dag(loss, graphs.autograd.products)
        return np.array([graphs.work(dag), graphs.depth(dag)])

    one, two, three = (both(n) for n in (1, 2, 3))
    assert (three - two == two - one).all()
    work, depth = two - one
    assert work > 1.5 * depth


def test_a_sum_that_stays_where_it_was_made_crosses_one_arrow_less_than_it_has_additions():
    dag = graphs.tree_sum(1024)
    longest = graphs.depth(dag)
    additions = dag.subgraph(node for node, weight in dag.nodes(data="weight") if weight)
    arrows = networkx.dag_longest_path_length(additions, "none", 1)
    assert arrows == longest - 1
    (line,) = run("limits-arrows").lines
    assert f"tree {longest + 100 * arrows:.0f} ns" in line


@pytest.mark.parametrize(("workers", "idle"), [(4, 0), (12, 8), (16, 0)])
def test_who_waits_for_the_last_map_depends_on_how_many_they_are(workers, idle):
    timetable = graphs.greedy(graphs.map_reduce(16, 4), workers)
    waves = -(-16 // workers)
    assert workers * waves - 16 == idle
    assert timetable.makespan == waves + -(-4 // workers)  # no reduce began in a wave of maps
    assert "the last of the 16 maps" in CHAPTER["watch-barrier"]
    assert "with 12 workers eight stand idle for it; with 4," in CHAPTER["watch-barrier"]


def test_six_layers_go_backward_in_eleven_products_for_nobody_needs_the_gradient_of_the_data():
    layers = torch.nn.Sequential(*(torch.nn.Linear(8, 8, bias=False) for _ in range(6)))
    loss = layers(torch.randn(8, 8)).sum()
    with FlopCounterMode(display=False) as counter:
        loss.backward()
    products = counter.get_flop_counts()["Global"][torch.ops.aten.mm] / (2 * 8**3)
    dag = graphs.backward_pass(6)
    waiting = [dag.out_degree(n) for n, op in dag.nodes(data="op") if op == "dX"]
    assert products == len(dag) == 11
    assert waiting == [2, 2, 2, 2, 1]  # two below each, and below the last only its dW
    assert "in the first layer only one does, its $dW$" in CHAPTER["lanes-tasks"]
    assert "eleven products" in CHAPTER["lanes-tasks"]


@pytest.mark.parametrize("workers", figures.RANKS)
def test_a_tree_reaches_half_of_the_workers_in_its_outer_rounds_and_the_ring_all_in_each(workers):
    def come_in(way):
        timeline = graphs.placed(figures.ALL_REDUCES[way](workers)).timeline
        ends = sorted(slot.finish for slot in timeline)
        return [len(list(same)) for _, same in itertools.groupby(ends)]

    ring, tree = come_in("ring"), come_in("tree")
    assert set(ring) == {workers}
    assert tree[0] == tree[-1] == workers / 2 > max(tree[1:-1], default=0)
    assert (len(tree) < len(ring)) == (workers >= 4)
    said = CHAPTER["collective-graph-read"]
    assert "at half of them in the first round and in the last, and at fewer in between" in said
    assert "from four workers on it needs fewer rounds" in said
    assert "a point after round 0 is a message that has come in" in said  # at 0 are the inputs


def test_three_late_tasks_and_not_one_keep_the_pool_of_sixteen_above_its_bound():
    drawn = re.search(r"^lengths = .*", CHAPTER["pool-run"], re.MULTILINE)[0]
    names = {"np": np}
    exec(drawn, names)
    lengths = list(names["lengths"])
    timeline = graphs.greedy(graphs.independent(lengths), 16).timeline
    last = sorted(timeline, key=lambda slot: slot.finish)[-3:]
    longest = sorted(lengths)[-6:]
    assert all(lengths[slot.node] in longest for slot in last)
    first = min(slot.finish for slot in last)
    others = {slot.worker for slot in timeline} - {slot.worker for slot in last}
    assert len(others) == 13
    until = max(slot.finish for slot in timeline if slot.worker in others)
    assert until < first - 0.004  # they wait for more than 4 ms

    def without(*left_out):
        rest = [length for node, length in enumerate(lengths) if node not in left_out]
        return graphs.greedy(graphs.independent(rest), 16).makespan

    assert without(last[-1].node) > until + 0.004
    assert without(*(slot.node for slot in last)) == pytest.approx(until)
    assert "three of the six longest tasks" in CHAPTER["pool-late"]
    assert "the other thirteen threads wait for them" in CHAPTER["pool-late"]


def test_of_the_two_scans_one_is_work_efficient_and_it_is_named():
    serial = graphs.work(graphs.sequential_sum(1024))
    assert graphs.work(graphs.blelloch_scan(1024)) / serial == 2
    times = [
        graphs.work(graphs.hillis_steele_scan(n)) / graphs.work(graphs.sequential_sum(n))
        for n in (256, 1024, 4096)
    ]
    assert times == sorted(times)
    assert round(times[1]) == 9
    assert "Blelloch's two sweeps are, with twice the additions" in CHAPTER["scan-lesson"]
    assert "with nine times as many here, and more the longer" in CHAPTER["scan-lesson"]


def test_the_activations_of_one_of_two_pieces_count_half_as_the_page_says():
    """By the formula of Korthikanti et al., p (1 + (p - 1) / (p v)), which holds eleven halves here."""
    assert graphs.in_flight(4, 32, chunks=2) == 4 * (1 + 3 / (4 * 2)) == 11 / 2
    (interleaved,) = [one for one in drawings.graphs.pipeline(3, 6) if "interleaved" in one.name]
    held = [frame.facts["Held now, stage by stage"].split(", ") for frame in interleaved.frames]
    assert {float(one) % 1 for stages in held for one in stages} == {0, 0.5}
    assert "count as half a micro-batch" in CHAPTER["pipeline-interleaved"]


def test_a_makespan_is_explained_before_code_reads_one():
    order = list(CHAPTER)
    explained = [order.index(name) for name in order if "**makespan**" in CHAPTER[name]]
    read = [order.index(name) for name in order if ".makespan" in CHAPTER[name]]
    assert len(explained) == 1
    assert explained[0] < min(read)


def test_a_claim_about_a_bound_names_the_one_that_it_divides_by():
    """Graham's bound compares with the best schedule, and Brent's is a time."""
    assert "graphs.brent(" in CHAPTER["lanes-bound"]
    assert "graphs.graham(" not in CHAPTER["lanes-bound"]
    assert "Brent's bound" in CHAPTER["lanes-claim"]
    assert "Graham's bound" not in CHAPTER["lanes-claim"]


def test_every_chain_of_the_map_reduce_leads_through_one_node_of_no_cost():
    dag = figures.CHOICES["map 16, reduce 4"]()
    (middle,) = (node for node, weight in dag.nodes(data="weight") if not weight)
    maps, reduces = networkx.ancestors(dag, middle), networkx.descendants(dag, middle)
    assert (len(maps), len(reduces)) == (16, 4)
    cut = dag.subgraph(maps | reduces)
    assert not cut.edges
    assert (
        "it is one node, here of no cost, through which every chain goes"
        in (CHAPTER["watch-barrier"])
    )


def test_the_products_of_a_block_are_those_that_the_text_counts():
    """Two by weights at the attention, two in the feed-forward part; each has a dX and a dW."""
    dag = graphs.autograd.dag(block(), graphs.autograd.products)
    labels = [dag.nodes[node]["label"] for node, weight in dag.nodes(data="weight") if weight]
    assert sum(label.endswith("dW") for label in labels) == 4
    assert "a product by weights before it and one after it" in CHAPTER["model-costs"]
    assert "a *feed-forward* part of two more" in CHAPTER["model-costs"]


def test_attention_goes_backward_in_five_products_of_which_one_is_made_anew():
    """Its two products forward let one expect four; a product has two heads, each 16 by 16 by 16."""
    dag = graphs.autograd.dag(block(), graphs.autograd.products)
    (attention,) = (one for _, one in dag.nodes(data=True) if "Attention" in one["label"])
    assert attention["weight"] == 5 * 2 * (2 * 16**3)
    assert "Attention is one task of five products" in CHAPTER["model-read"]


def test_the_columns_of_a_backward_pass_have_the_names_of_the_layers_in_their_turn():
    """PyTorch itself says in which order it comes by the gradients of the weights."""
    layer = torch.nn.TransformerEncoderLayer(32, 2, 128, 0.0)
    turns = []
    for name, weights in layer.named_parameters():
        if weights.ndim == 2:
            weights.register_post_accumulate_grad_hook(lambda _, name=name: turns.append(name))
    layer(torch.randn(16, 1, 32, requires_grad=True)).sum().backward()
    (line,) = (one for one in CHAPTER["model-graph"].splitlines() if one.startswith("rounds"))
    named = ast.literal_eval(line.partition("= ")[2])
    assert named.pop(0) == "loss"  # the sum that begins it
    assert named.pop(named.index("attention")) == "attention"  # which has no weights
    assert len(named) == len(turns)
    assert all(short in name for short, name in zip(named, turns, strict=True)), turns


@pytest.mark.parametrize(("costs", "workers"), [([7, 3, 2, 5, 4, 6], 3), ([1, 1, 8, 2], 2)])
def test_the_greedy_scheduler_is_shown_and_does_what_the_drawn_one_does(costs, workers):
    """It was drawn, bounded and proved, and its few lines stood nowhere."""
    source = CHAPTER["bounds-greedy-code"].replace("[7, 3, 2, 5, 4, 6]", str(costs))
    lines = []
    exec(source.replace("[0, 0, 0]", str([0] * workers)), {"print": lines.append})
    tasks = networkx.DiGraph()
    tasks.add_nodes_from((n, {"weight": cost}) for n, cost in enumerate(costs))
    assert lines == [f"the last task ends at {graphs.greedy(tasks, workers).makespan:g}"]


@pytest.mark.parametrize("count", [4, 8, 64])
def test_the_way_down_of_a_scan_waits_for_a_total_that_none_of_its_sums_needs(count):
    """The figure has arrows from the total to the first additions of the way down, and said no reason."""
    scan = graphs.blelloch_scan(count)
    (order,) = [(one, other) for one, other, only in scan.edges(data="order") if only]
    free = scan.copy()
    free.remove_edge(*order)
    numbers = list(range(1, count + 1))
    assert graphs.evaluate(free, numbers) == graphs.evaluate(scan, numbers)
    assert graphs.depth(free) < graphs.depth(scan) == 2 * np.log2(count)
    said = "waits for the whole way up, though none of its sums needs the total."
    assert said in CHAPTER["scan-rounds"]


def test_the_night_employs_at_most_five_gpus_and_as_it_comes_fewer():
    """Its parallelism is five; the suite comes last, so eight GPUs have work for 3.3 of them."""
    night = graphs.independent([0.1] * 120 + [3.0])
    employed = [15 / graphs.greedy(night, K).makespan for K in (8, 16, 64, 121)]
    assert employed == sorted(employed)
    assert employed[0] == pytest.approx(10 / 3)
    assert employed[-1] == pytest.approx(5)
    assert "employ at most five GPUs on average" in CHAPTER["practical-rest"]


def test_as_many_workers_as_parallelism_over_floor_may_just_keep_the_floor():
    """A hint said that they were below it, and a check asks for the two that keep a half of a chain."""
    chain = graphs.sequential_sum(20)
    assert graphs.greedy(chain, 2).efficiency == 0.5 == graphs.parallelism(19, 19) / 2
    for folder in ("solutions", "exercises"):
        text = (ROOT / folder / "06_workdepth/06_workdepth.ipynb").read_text(encoding="utf-8")
        assert "below the floor for every K above parallelism / floor." in text


def test_an_interleaved_stage_waits_half_as_long_in_all_though_not_each_time():
    """Stage 1 waits 4, 1 and 1 in 1F1B, and no wait of the interleaved one lasts 2."""

    def waits(chunks):
        timetable = graphs.placed(graphs.pipeline.dag(3, 6, chunks=chunks))
        mine = [slot for slot in timetable.timeline if slot.worker == 0]
        gaps = [b.start - a.finish for a, b in itertools.pairwise(mine) if b.start > a.finish]
        busy = dict.fromkeys(range(3), 0.0)
        for slot in timetable.timeline:
            busy[slot.worker] += slot.finish - slot.start
        return gaps, [timetable.makespan - one for one in busy.values()]

    (gaps, plain), (shorter, interleaved) = waits(1), waits(2)
    assert gaps == [4, 1, 1]
    assert max(shorter) < 4 / 2
    assert plain == [2 * one for one in interleaved] == [6, 6, 6]
    assert "and waits for half as long in all." in CHAPTER["pipeline-interleaved"]


@pytest.mark.parametrize("order", ["gpipe", "1f1b"])
@pytest.mark.parametrize(("stages", "microbatches"), [(3, 6), (4, 1), (4, 32)])
def test_without_the_order_of_its_devices_a_pipeline_is_as_deep_as_one_micro_batch(
    stages, microbatches, order
):
    """The depth was to make the bubble, and by the arrows of the data it is the same for every m."""
    passes = graphs.pipeline.dag(stages, microbatches, order)
    free = passes.copy()
    free.remove_edges_from([(a, b) for a, b, only in passes.edges(data="order") if only])
    assert graphs.depth(free) == 3 * stages
    assert graphs.depth(passes) == 3 * (microbatches + stages - 1)
    assert (
        "from each pass of a device to the one that the schedule puts next"
        in (CHAPTER["pipeline-read"])
    )
    assert "the depth would be $3p$, whatever $m$" in CHAPTER["pipeline-data"]


@pytest.mark.parametrize("stages", [2, 3, 4, 6])
def test_both_zero_bubble_schedules_end_at_once_and_only_one_hands_on_every_3m_units(stages):
    m = 2 * stages - 1
    for order in ("zb-h1", "zb-h2"):
        timetable = graphs.placed(graphs.pipeline.dag(stages, m, order))
        assert timetable.makespan == 3 * m + stages - 1
        for stage in range(stages):
            mine = [slot for slot in timetable.timeline if slot.worker == stage]
            assert sum(slot.finish - slot.start for slot in mine) == 3 * m
            if order == "zb-h2":
                assert max(s.finish for s in mine) - min(s.start for s in mine) == 3 * m
    assert graphs.depth(graphs.pipeline.dag(stages, m)) - 3 * m == 3 * (stages - 1)
    assert "both end after $3m + p - 1$ units" in CHAPTER["pipeline-steps"]
    assert "$p - 1$ units is left, a third of 1F1B's" in CHAPTER["pipeline-steps"]
    assert "one step follows another every $3m$ units" in CHAPTER["pipeline-next"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_the_depth_of_a_product_of_matrices_is_whole_whatever_their_size(size):
    product = graphs.matrix_product(size, size, size)
    assert graphs.work(product) == size**2 * (2 * size - 1)
    assert graphs.depth(product) == 1 + np.ceil(np.log2(size))
    assert r"depth $1 + \lceil \log_2 n \rceil$" in CHAPTER["parallelism-read"]


def test_of_all_times_a_step_of_the_scheduler_hands_out_tasks_and_nothing_shrinks():
    """Every second step does neither; every moment is one or the other."""
    (drawing,) = drawings.graphs.greedy("", graphs.tree_sum(16), {"4": (4, "first ready")})
    left = [(f.facts["Work left"], f.facts["Longest chain left"]) for f in drawing.frames]
    assert left[0] == left[1]
    assert left[1:-1:2] == left[:-2:2]
    assert "At every moment it is one or the other" in CHAPTER["bounds-drawing-read"]


@pytest.mark.parametrize(("which", "workers"), [("sum, as a tree", 8), ("map 16, reduce 4", 12)])
def test_an_empty_lane_is_a_worker_with_nothing_to_do_and_no_lane_is_beyond_the_workers(
    which, workers
):
    """At the end nobody waits for anything any more, and the rows above K are no lanes."""
    chart = figures.watch(workers, which)
    timeline = graphs.greedy(figures.CHOICES[which](), workers).timeline
    last = max(slot.start for slot in timeline)
    assert sum(slot.finish > last for slot in timeline) < workers
    assert chart.y.high > workers + 1
    assert chart.see.startswith("Of the K lanes, one that is empty before the last bar ends")
    assert "a worker with nothing to do." in chart.see


ASSIGNMENT = {
    folder: (ROOT / folder / "06_workdepth/06_workdepth.ipynb").read_text(encoding="utf-8")
    for folder in ("solutions", "exercises")
}


def test_brent_promises_fewer_than_127_workers_where_the_length_of_a_map_varies():
    """The best answer of 2.4 planned with 127 then, and on so many the floor of 0.8 is lost."""
    even = graphs.map_reduce(1000, 10)
    assert int(graphs.busy_workers(graphs.work(even) / graphs.depth(even), 0.8)) == 127
    lengths = np.random.default_rng(36).exponential(size=1000)
    lengths *= 1000 / lengths.sum()
    varied = even.copy()
    for node, length in enumerate(lengths):
        assert varied.nodes[node]["op"] == "map"
        varied.nodes[node]["weight"] = length
    work, depth = graphs.work(varied), graphs.depth(varied)
    assert work == pytest.approx(1010)
    assert graphs.busy_workers(work / depth, 0.8) < 127 / 2
    assert graphs.greedy(varied, 127).efficiency < 0.8
    said = "worked out anew: the longest map makes the depth longer, and 127 becomes fewer."
    assert ASSIGNMENT["solutions"].count(said) == 2


@pytest.mark.parametrize(("short", "last"), [(224, 2), (240, 3), (256, 3)])
def test_a_task_that_started_too_late_may_be_too_short_to_matter(short, last):
    """The time of job c is the sum of the two then as well, and twice the workers are what helps."""
    job = graphs.independent([1] * short + [last])
    ends = graphs.greedy(job, 16).makespan
    assert ends == short / 16 + last
    assert ends < 1.5 * graphs.greedy(job, 16, "longest").makespan
    assert ends >= 1.5 * graphs.greedy(job, 32).makespan
    for text in ASSIGNMENT.values():
        assert "something started too late: see how much there is to gain." in text


def test_after_a_round_that_reaches_one_back_the_first_place_still_holds_one():
    before = "abcdef"
    held = [before[0], *(a + b for a, b in itertools.pairwise(before))]
    assert [len(one) for one in held] == [1, 2, 2, 2, 2, 2]
    for text in ASSIGNMENT.values():
        assert "every place but the first holds two" in text
        assert "after one round no place holds more than two" in text
