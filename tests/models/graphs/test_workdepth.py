"""Work, depth, and the bounds that follow from them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.graphs import dags, workdepth
from scalelab.models.scaling import speedup
from scalelab.refusal import Refusal
from tests.models import small_dags

WORKERS = st.integers(1, 10**6)
PAIRS = st.tuples(st.floats(1e-3, 1e9), st.floats(1e-6, 1)).map(lambda p: (p[0], p[0] * p[1]))


@given(small_dags.dags())
def test_depth_is_the_heaviest_of_all_paths_one_can_try(dag):
    paths = list(small_dags.chains(dag))
    assert workdepth.depth(dag) == pytest.approx(max(small_dags.cost(dag, p) for p in paths))
    assert workdepth.work(dag) == pytest.approx(small_dags.cost(dag, dag))


@given(small_dags.dags())
def test_the_critical_path_is_a_path_and_as_heavy_as_the_depth(dag):
    path = workdepth.critical_path(dag)
    assert all(edge in dag.edges for edge in itertools.pairwise(path))
    assert small_dags.cost(dag, path) == pytest.approx(workdepth.depth(dag))
    assert not list(dag.successors(path[-1]))


@given(small_dags.dags(), st.floats(1e-3, 1e3))
def test_other_units_change_every_cost_by_the_same_factor(dag, factor):
    scaled = small_dags.build({n: factor * w for n, w in dag.nodes(data="weight")}, dag.edges)
    for quantity in (workdepth.work, workdepth.depth):
        assert quantity(scaled) == pytest.approx(factor * quantity(dag))


def test_a_node_without_a_weight_counts_one():
    dag = small_dags.build({}, [("a", "b"), ("a", "c")])
    assert (workdepth.work(dag), workdepth.depth(dag)) == (3, 2)
    assert workdepth.critical_path(dag) == ("a", "b")


def test_a_thousand_numbers_have_a_hundredfold_parallelism_in_a_tree_and_none_in_a_chain():
    tree, chain = dags.tree_sum(1024), dags.sequential_sum(1024)
    assert workdepth.parallelism(workdepth.work(tree), workdepth.depth(tree)) == 102.3
    assert workdepth.parallelism(workdepth.work(chain), workdepth.depth(chain)) == 1


@given(PAIRS)
def test_one_worker_does_all_the_work_and_very_many_are_left_with_the_depth(pair):
    for bound in (workdepth.lower_bound, workdepth.brent):
        assert bound(*pair, 1) == pytest.approx(pair[0])
        assert bound(*pair, 1e18) == pytest.approx(pair[1])


@given(PAIRS, WORKERS)
def test_brents_bound_is_amdahls_law_with_the_depth_as_serial_part(pair, workers):
    work, depth = pair
    amdahl = speedup.fixed_job_seconds(workers, depth / work, baseline=work)
    assert workdepth.brent(work, depth, workers) == pytest.approx(amdahl)
    assert speedup.ceiling(depth / work) == pytest.approx(workdepth.parallelism(work, depth))


@given(PAIRS, WORKERS)
def test_the_two_bounds_are_never_further_apart_than_grahams_factor(pair, workers):
    low, high = workdepth.lower_bound(*pair, workers), workdepth.brent(*pair, workers)
    hair = 1 + 1e-9
    assert low <= high * hair
    assert high <= workdepth.graham(workers) * low * hair
    assert high <= pair[0] / workers + pair[1]


@given(PAIRS)
def test_more_workers_never_raise_a_bound(pair):
    workers = np.arange(1, 300)
    for bound in (workdepth.lower_bound, workdepth.brent):
        assert (np.diff(bound(*pair, workers)) <= 1e-9 * pair[0]).all()


def test_grahams_factor_goes_from_one_to_two():
    assert workdepth.graham(1) == 1
    assert workdepth.graham(1e12) == pytest.approx(2)


@given(st.floats(1, 1e6), st.floats(0.05, 1))
def test_busy_workers_is_where_bisection_finds_the_efficiency_to_fall_below_the_floor(ratio, floor):
    low, high = 1.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        share = ratio / workdepth.brent(ratio, 1, middle) / middle
        low, high = (middle, high) if share >= floor else (low, middle)
    assert workdepth.busy_workers(ratio, floor) == pytest.approx(low, rel=1e-6)


def test_bounds_answer_in_kind():
    assert type(workdepth.brent(100, 10, 4)) is float
    assert workdepth.brent(100, [10, 20], [[4], [8]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("dag", "sentence"),
    [
        (7, "dag must be a networkx.DiGraph with at least one node, got 7: .* or by hand"),
        (small_dags.build({}, []), "dag must be .*, got an empty graph: .*"),
        (
            small_dags.build({}, [(1, 2), (2, 1)]),
            "dag must have no cycle, got '1 -> 2' and back: .*",
        ),
        (small_dags.build({1: 1.0, 2: -3.0}, []), "weight must be .*, got -3 at position 1: .*"),
        (small_dags.build({1: float("nan")}, []), "weight must be .*, got nan at position 0: .*"),
        (small_dags.build({1: "x"}, []), "weight must be a number .*, got .*: .*"),
        (small_dags.build({1: 1e308, 2: 1e308}, []), "the weights must add up to .*, got more: .*"),
    ],
)
def test_what_is_no_dag_of_tasks_is_refused_in_a_sentence(dag, sentence):
    for function in (workdepth.work, workdepth.depth, workdepth.critical_path):
        with pytest.raises(Refusal) as error:
            function(dag)
        assert error.match(f"^{sentence}$")


def test_a_depth_beyond_the_work_is_refused():
    with pytest.raises(ValueError, match=r"^depth / work must be in \[0, 1\], got 2: the longest"):
        workdepth.brent(10, 20, 4)
