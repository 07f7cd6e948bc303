"""Junk into every public function: a legitimate answer or one helpful sentence, nothing else.

Every day tries other junk; what SCALELAB_SEED was, pytest says at the start and the end of a run. What
a seed once found is kept in FOUND.
"""

import dataclasses
import decimal
import fractions
import inspect
import math
import re
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from scalelab import units
from scalelab.measure.timing import stats
from scalelab.models.cost import cost
from scalelab.models.graphs import autograd, dags, pipeline, rank_dags, schedule
from scalelab.models.machines import cores
from scalelab.models.network import algorithms, collectives, hierarchy, messages, overlap
from scalelab.models.network.network import Network
from scalelab.models.scaling import laws, speedup
from scalelab.models.waiting import batching, hedging, queues, stragglers, tail
from scalelab.refusal import Refusal
from tests.public import PLAUSIBLE, functions, luck, meant
from tests.sampling import sampled

SENTENCE = re.compile(r".+ must .+, got .+: .+")
NUMBERS = st.one_of(
    st.floats(),
    st.integers(-3, 3),
    st.sampled_from([10**400, -(10**400), 2**63, 5e-324, 1.7e308, math.nan, math.inf, -0.0]),
    st.sampled_from([fractions.Fraction(1, 3), decimal.Decimal("0.5"), decimal.Decimal("NaN")]),
    st.sampled_from([np.float16(0.5), np.float32(3), np.int8(4), np.bool_(True), 1j]),
)
JUNK = st.one_of(
    NUMBERS,
    st.text(max_size=5),
    st.sampled_from([None, True, ..., b"3", {}, {1: 2}, set(), object(), [[1], [2, 3]], print]),
    st.lists(st.one_of(NUMBERS, PLAUSIBLE, st.none(), st.text(max_size=3)), max_size=4),
    st.lists(PLAUSIBLE, max_size=8),
    arrays.arrays(np.float64, arrays.array_shapes(min_dims=0, min_side=0, max_side=4)),
    arrays.arrays(st.sampled_from(["i8", "u1", "?", "U2", "M8[s]", "c16"]), 2),
)


def legitimate(answer, *, infinite):
    """No NaN anywhere, and no infinity unless the docstring promises one."""
    if answer is None or isinstance(answer, (str, bool, int)):
        return True
    if isinstance(answer, (tuple, list)):
        return all(legitimate(item, infinite=infinite) for item in answer)
    if isinstance(answer, dict):
        return legitimate([*answer.values()], infinite=infinite)
    if isinstance(answer, nx.DiGraph):
        return legitimate(dict(answer.nodes(data="weight")), infinite=infinite)
    if dataclasses.is_dataclass(answer):
        return legitimate(vars(answer), infinite=infinite)
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "bU":
        return True  # classes and flags
    return bool(np.all(np.isfinite(answer) | (infinite & np.isposinf(answer))))


def answers_or_explains(function, arguments):
    """One of the two, without a warning, and what was given stays as it was."""
    before = repr(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning is no answer either
        try:
            answer = function(**arguments)
        except Refusal as error:
            assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
        else:
            assert legitimate(answer, infinite="infinite" in function.__doc__), answer
    assert repr(arguments) == before


def search(function, examples):
    """Try so many sets of arguments; what has a default is given or left out."""
    needed, optional = {}, {}
    for name, parameter in inspect.signature(function).parameters.items():
        place = needed if parameter.default is parameter.empty else optional
        place[name] = st.one_of(meant(name), meant(name), PLAUSIBLE, JUNK)

    @luck(function, examples)
    @given(arguments=st.fixed_dictionaries(needed, optional=optional))
    def holds(arguments):
        answers_or_explains(function, arguments)

    holds()


FOUND = [
    (dags.evaluate, {"dag": dags.tree_sum(1), "inputs": np.array(0.0)}),
    (dags.values, {"dag": dags.tree_sum(1), "inputs": np.array(0.0)}),
    (overlap.critical_workers, {"compute": 1, "communication": -0.0}),
    (laws.after_losses, {"baseline": 1e308, "workers": 1, "lost": [1e308]}),
    (laws.after_losses, {"baseline": np.zeros((0, 2)), "workers": 1, "lost": np.zeros((0, 1))}),
    (units.column, {"values": np.array(0.0)}),
    (
        cores.theory,
        {"vendor": np.array([0, 0]), "family": None, "model": 1, "vector": 1, "clock": 1},
    ),
    (queues.concurrency_percentile, {"rate": 0.5, "seconds": 2**63, "share": 0.25}),
    (stats.advice, {"values": [1, 1, 1, 1, 1, 2], "wanted": 3e-164}),
    (messages.load, {"plan": messages.ring(2), "size": 1e308}),
    (messages.renumbered, {"plan": messages.ring(2), "order": np.array([0, 1j])}),
]


@pytest.mark.parametrize(("function", "arguments"), FOUND)
def test_what_was_once_answered_with_nonsense_is_not_again(function, arguments):
    answers_or_explains(function, arguments)


@pytest.mark.parametrize("function", sampled(functions(), 80))
def test_junk_gets_a_legitimate_answer_or_a_helpful_sentence(function):
    search(function, 25)


@pytest.mark.thorough
@pytest.mark.parametrize("function", list(functions()))
def test_much_junk_gets_no_other_answer(function):
    search(function, 100)


NOTHING = object()
OTHERS_FIRST = ("algorithms.seconds", "algorithms.traffic", "units.parse")


@pytest.mark.parametrize("function", [one for one in functions() if one.id not in OTHERS_FIRST])
def test_what_is_of_no_use_is_refused_by_the_name_of_its_parameter(function):
    """The first parameter, which nothing before it can have spoilt, is named in the sentence."""
    first, *others = inspect.signature(function).parameters.values()

    @luck(function, 1)
    @given(st.fixed_dictionaries({p.name: meant(p.name) for p in others if p.default is p.empty}))
    def refuse(arguments):
        with pytest.raises(Refusal, match=rf"\b{first.name}\b.* must ") as error:
            function(**{first.name: NOTHING} | arguments)
        assert SENTENCE.fullmatch(str(error.value))

    refuse()


LINK = Network(5e-6, 1 / 50e9)
TREE = dags.tree_sum(2)
REFUSED = [
    (
        lambda: speedup.ceiling(1.3),
        r"serial must be in \[0, 1\], got 1.3: it is the fraction of the work that cannot run in "
        "parallel",
    ),
    (
        lambda: speedup.fixed_job_seconds([1, 0, 2], 0.5),
        "workers must be a finite number from 1 on, got 0 at position 1: it counts the workers that "
        "share the job",
    ),
    (
        lambda: speedup.speedup(10, 0),
        "seconds must be a finite number above 0, got 0: it is the time of the job on K workers, in "
        "seconds",
    ),
    (lambda: autograd.dag(3), "output must be a tensor with a grad_fn, got 3: compute it .*"),
    (
        lambda: batching.most_throughput([1, 2], [1], [1, 2], 3),
        r".* must be .*, got batch of shape \(2,\) and throughput of shape \(1,\) .*",
    ),
    (
        lambda: collectives.all_reduce(1e6, 2.5, LINK),
        "workers must be a whole number, got 2.5: it counts .*",
    ),
    (
        lambda: collectives.reduce_scatter(1e6, 2, LINK, "rings"),
        "algorithm must be one of ring, halving, got 'rings': .*",
    ),
    (
        lambda: collectives.broadcast(1e6, 2, 5e-6),
        r"network must be a Network, got 5e-06: write Network\(.*",
    ),
    (
        lambda: algorithms.traffic(1e6, 2, LINK, "barrier", "ring"),
        "collective must be one of all-reduce, .*, got 'barrier': .*",
    ),
    (
        lambda: hierarchy.hierarchical_all_reduce(1e9, 2, 2.5, LINK, LINK),
        "per_node must be a whole number, got 2.5: it counts .*",
    ),
    (
        lambda: overlap.bucketed_seconds([1e6, 0], 0.1, 8, LINK),
        "buckets must be a finite number above 0, got 0 at position 1: .*",
    ),
    (
        lambda: overlap.exposed_seconds([1, 2], [1, 2, 3], 2),
        r".* must be .*, got ready of shape \(2,\) and seconds of shape \(3,\): .*",
    ),
    (
        lambda: overlap.synchronizing_seconds(1e6, 8, LINK, every=1.5),
        "every must be a whole number, got 1.5: it counts .*",
    ),
    (
        lambda: cost.work_per_dollar(0, 10),
        "dollars must be a finite number above 0, got 0: .* free.*",
    ),
    (lambda: dags.tree_sum(0), "items must be a whole number from 1 on, got 0: .*"),
    (lambda: dags.tree_sum(10**400), "the DAG must have at most 200,000 nodes, got .*: .*"),
    (lambda: dags.matrix_product(200, 200, 200), "the DAG .* for rows 200, inner 200, .*: .*"),
    (lambda: dags.map_reduce(2, 2, -1), "map_weight must be .* from 0 on, got -1: .*"),
    (lambda: dags.evaluate(dags.tree_sum(3), [1]), r"inputs must hold 3 values, got \[1\]: .*"),
    (lambda: dags.evaluate(dags.tree_sum(3), 1), "inputs must hold 3 values, got 1: .*"),
    (lambda: dags.evaluate(dags.map_reduce(1, 1), []), "op must be one of .*, got 'map': .*"),
    (lambda: rank_dags.ring_all_reduce(0), "workers must be a whole number from 1 on, got 0: .*"),
    (lambda: rank_dags.ring_all_reduce(4, -1), "chunk must be .* from 0 on, got -1: .*"),
    (
        lambda: rank_dags.ring_all_reduce(1000),
        "the DAG must have at most .* for workers 1000: .*",
    ),
    (lambda: rank_dags.data_parallel_step(2, 2, "1 s"), "forward must be .*, got '1 s': .*"),
    (
        lambda: pipeline.dag(4, 6, chunks=2),
        "microbatches must be a multiple .*, got 6 for 4 .*",
    ),
    (lambda: pipeline.dag(4, 8, "gpipe", 2), "chunks must be 1 for the order 'gpipe', got 2: .*"),
    (lambda: pipeline.in_flight(4, 8, "gpipe", [1, 2]), "chunks must be 1 .*, got 2: .*"),
    (
        lambda: pipeline.dag(4, 8, "zero"),
        "order must be one of gpipe, 1f1b, zb-h1, zb-h2, got 'zero': .*",
    ),
    (lambda: pipeline.dag(10**6, 10**6), "the DAG must have at most 200,000 nodes, got .*"),
    (lambda: pipeline.bubble(0, 4), "stages must be a finite number from 1 on, got 0: .*"),
    (lambda: pipeline.enough_microbatches(4, 0), r"share must be in \(0, 1\], got 0: .*"),
    (
        lambda: schedule.greedy(TREE, 0),
        "workers must be a whole number from 1 to 1000000000, got 0: .*",
    ),
    (
        lambda: schedule.greedy(TREE, 2, "best"),
        "rule must be one of first ready, .*, got 'best': .*",
    ),
    (
        lambda: schedule.greedy(TREE, 2, [0]),
        r"rule must list every node of the DAG, got \[0\]: list\(dag\) does",
    ),
    (
        lambda: schedule.greedy(TREE, 2, [[]]),
        r"rule must list every node of the DAG, got \[\[\]\]: list\(dag\) does",
    ),
    (
        lambda: stragglers.uniform(2, 3, 2),
        "high must be at least low, got a high that is 1 s below.*",
    ),
    (lambda: stragglers.lognormal(2, 1, 5), r"spread must be in \[0, 3\], got 5: .*"),
    (
        lambda: stragglers.exponential(0, 1),
        "workers must be .*, got 0: it counts the workers that all have to finish.*",
    ),
    (
        lambda: hedging.hedged_percentile([1.0], -1, 0.5),
        "delay must be a finite number from 0 on, got -1: .*",
    ),
    (
        lambda: hedging.tied_percentile([], [1.0], 0.5),
        "waiting.* must be columns of one table .*, got .*: .*",
    ),
    (lambda: tail.percentile([1, 2], 99), r"share must be in \[0, 1\], got 99: it is the share.*"),
    (lambda: tail.percentile([], 0.5), ".* must .* at least one.*, got .*: .*"),
    (
        lambda: tail.percentile_interval([1, 2], 1.0),
        r"share must be in \(0, 0\.999999\], got 1\.0: .*",
    ),
    (
        lambda: tail.samples_needed(0.9, 0.9, -1),
        "slower must be a whole number from 0 to 1000000, got -1: .*",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_bad_input_is_answered_in_one_sentence(call, sentence):
    with pytest.raises(Refusal) as error:
        call()
    assert re.fullmatch(sentence, str(error.value)), error.value
