"""The builders, run on values and measured against their closed forms."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.graphs import dags, schedule, workdepth
from tests.models import small_dags

SIZES = [*range(1, 35), 64, 100]
NUMBERS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=40)
WORDS = st.lists(st.text("abc", max_size=2), min_size=1, max_size=20)


def work_and_depth(dag):
    return workdepth.work(dag), workdepth.depth(dag)


def levels(n):
    return math.ceil(math.log2(n))


@given(NUMBERS)
def test_both_sums_add_up_like_python(values):
    assert dags.evaluate(dags.sequential_sum(len(values)), values) == [sum(values)]
    assert dags.evaluate(dags.tree_sum(len(values)), values) == [sum(values)]


@given(NUMBERS)
def test_both_scans_agree_with_numpy(values):
    """One leaves out the number itself, the other does not."""
    sums = np.cumsum(values)
    assert dags.evaluate(dags.hillis_steele_scan(len(values)), values) == list(sums)
    assert dags.evaluate(dags.blelloch_scan(len(values)), values) == list(sums - values)


@given(WORDS)
def test_the_operands_stay_in_order_so_joining_words_works_too(words):
    prefixes = ["".join(words[:i]) for i in range(len(words) + 1)]
    for sum_of in (dags.sequential_sum, dags.tree_sum):
        assert dags.evaluate(sum_of(len(words)), words) == prefixes[-1:]
    assert dags.evaluate(dags.blelloch_scan(len(words)), words, zero="") == prefixes[:-1]
    assert dags.evaluate(dags.hillis_steele_scan(len(words)), words) == prefixes[1:]


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 4), (3, 5, 2), (4, 4, 4), (1, 7, 1), (5, 1, 5)])
def test_the_matrix_product_agrees_with_numpy(size):
    rows, inner, columns = size
    rng = np.random.default_rng(36)
    a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    values = dags.evaluate(dags.matrix_product(*size), [*a.ravel(), *b.ravel()])
    assert np.reshape(values, (rows, columns)) == pytest.approx(a @ b)


@pytest.mark.parametrize("n", SIZES)
def test_sums_and_scans_have_the_work_and_depth_of_the_textbook(n):
    assert work_and_depth(dags.sequential_sum(n)) == (n - 1, n - 1)
    assert work_and_depth(dags.tree_sum(n)) == (n - 1, levels(n))
    rounds = [2**i for i in range(levels(n))]
    assert work_and_depth(dags.hillis_steele_scan(n)) == (sum(n - r for r in rounds), levels(n))
    work, depth = work_and_depth(dags.blelloch_scan(n))
    assert work == 2 * (n - 1)
    assert depth <= 2 * levels(n)
    if n == 2 ** levels(n):
        assert depth == 2 * levels(n)
        assert workdepth.work(dags.hillis_steele_scan(n)) == n * levels(n) - n + 1


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 4), (4, 8, 2), (3, 5, 3)])
def test_a_matrix_product_is_all_multiplications_at_once_and_then_trees(size):
    rows, inner, columns = size
    expected = rows * columns * (2 * inner - 1), 1 + levels(inner)
    assert work_and_depth(dags.matrix_product(*size)) == expected


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 9))
def test_map_reduce_runs_in_waves_with_a_barrier_between(maps, reduces, workers):
    dag = dags.map_reduce(maps, reduces, map_weight=3, reduce_weight=5)
    waves = 3 * math.ceil(maps / workers) + 5 * math.ceil(reduces / workers)
    assert schedule.greedy(dag, workers).makespan == waves
    assert work_and_depth(dag) == (3 * maps + 5 * reduces, 8)


def test_every_reduce_waits_for_every_map():
    dag = dags.map_reduce(4, 3)
    for node in dag.graph["outputs"]:
        above = nx.ancestors(dag, node)
        assert [dag.nodes[other]["op"] for other in above].count("map") == 4


def test_the_columns_of_a_scan_are_those_of_its_array():
    dag = dags.hillis_steele_scan(9)
    assert [dag.nodes[node]["column"] for node in dag.graph["outputs"]] == [*range(9)]


@pytest.mark.parametrize("builder", [dags.tree_sum, dags.blelloch_scan, dags.hillis_steele_scan])
def test_nodes_are_numbered_so_that_every_edge_points_to_a_larger_one(builder):
    dag = builder(21)
    assert list(dag) == [*range(len(dag))]
    assert all(u < v for u, v in dag.edges)


def test_a_dag_drawn_by_hand_runs_too():
    dag = small_dags.build({}, [("x", "twice"), ("y", "twice")])
    nx.set_node_attributes(dag, {"x": "input", "y": "input", "twice": "multiply"}, "op")
    assert dags.evaluate(dag, [6, 7]) == [42]


@pytest.mark.parametrize("layers", [1, 2, 6])
def test_a_backward_pass_holds_the_products_that_pytorch_records(layers):
    """Linear layers without bias: square, so that each product costs the same."""
    import torch

    from scalelab.models.graphs import autograd

    model = torch.nn.Sequential(*(torch.nn.Linear(4, 4, bias=False) for _ in range(layers)))
    real = autograd.dag(model(torch.ones(4, 4)).sum(), autograd.products)
    dag = dags.backward_pass(layers, 2 * 4**3)
    assert work_and_depth(dag) == work_and_depth(real)
    kinds = ("dX", "dW")
    recorded = [name for _, name in real.nodes(data="label") if name[-2:] in kinds]
    made = [op for _, op in dag.nodes(data="op")]
    assert [made.count(kind) for kind in kinds] == [
        sum(name.endswith(kind) for name in recorded) for kind in kinds
    ]
    ends = {dag.nodes[node]["op"] for node in dag if not dag.succ[node]}
    assert ends == {"dW"}
