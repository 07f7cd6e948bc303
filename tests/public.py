"""Every public function of the models, and what its parameters may sensibly be given."""

import importlib
import inspect
import pkgutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, seed as seeded, settings, strategies as st

import scalelab.models
from scalelab import ranks, units
from scalelab.measure.timing import stats
from scalelab.models.cost import bottleneck
from scalelab.models.cost.energy import ElectricityGrid
from scalelab.models.cost.spot import Spot
from scalelab.models.cost.step import Step
from scalelab.models.graphs import pipeline, schedule
from scalelab.models.kernels import roofline
from scalelab.models.kernels.reuse import Walk
from scalelab.models.kernels.transformer import Transformer
from scalelab.models.machines import hardware, memory
from scalelab.models.network import algorithms, messages
from scalelab.models.network.network import Network
from tests.sampling import seed

SHARED = ("checking", "choice", "requests", "erlang", "dag")  # what models build on themselves
PLAUSIBLE = st.one_of(st.integers(1, 64), st.floats(0.01, 1), st.floats(1, 1e3))
COUNT = st.integers(1, 64)
SHARE = st.floats(0.01, 0.99)
COLUMN = st.lists(PLAUSIBLE, min_size=3, max_size=3)
NETWORK = st.just(Network(5e-6, 1 / 50e9, 1e-12))
COLLECTIVE = st.sampled_from(sorted(algorithms.ALGORITHMS))
ALGORITHM = st.sampled_from(sorted({name for by in algorithms.ALGORITHMS.values() for name in by}))
JOB = Step(4096, 50, 3e9, lambda size, workers: 0.1 + 0 * workers)
FULL = replace(
    JOB, overlap=0.5, stages=2, accumulation=4, per_node=4, all_reduce_inside=JOB.all_reduce
)
MEANT = {  # by the name of the parameter, where not just any plausible number will do
    **dict.fromkeys(["algorithm", "first"], ALGORITHM),
    **dict.fromkeys(["network", "inside", "outside"], NETWORK),
    **dict.fromkeys(["workers", "servers", "nodes", "per_node", "stages", "layers", "items"], COUNT),
    **dict.fromkeys(["share", "serial", "efficiency", "utilization", "confidence", "level"], SHARE),
    "apart": st.booleans(),
    "batches": st.just([[3, 4], [4, 3]]),
    "block": st.none(),
    "caches": st.just({"L1d": 48, "L2": 1000}),
    "causal": st.booleans(),
    "collective": COLLECTIVE,
    "dag": st.just(pipeline.dag(2, 3)),
    "device": st.builds(hardware.device, st.sampled_from(hardware.names())),
    "dtype": st.sampled_from(["fp64", "fp32", "bf16"]),
    "failures": COLUMN,
    "groups": st.just([[Walk(("a", "b"), "t"), Walk(("t", "c"), "d")]]),
    "grid": st.just(ElectricityGrid(475, "Germany", "2023")),
    "kind": st.sampled_from([*roofline.ADVICE, *bottleneck.ADVICE]),
    "kv_heads": st.sampled_from([1, None]),
    "model": st.just(Transformer(2, 64, 4, 256)),
    "node": st.builds(hardware.node, st.sampled_from(hardware.names("nodes"))),
    "optimizer": st.sampled_from(sorted(memory.OPTIMIZERS)),
    "order": st.sampled_from(sorted(pipeline.ORDERS)),
    "overhead": st.just(lambda work, workers: 0.01 * workers),
    "overlap": st.booleans(),
    "paired": st.booleans(),
    "plan": st.builds(messages.ring, st.integers(1, 4)),
    "precision": st.sampled_from(sorted(memory.PRECISIONS)),
    "rate": SHARE,
    "recompute": st.sampled_from(["none", "selective", "full"]),
    "rule": st.sampled_from(sorted(schedule.RULES)),
    "schedule": st.just(schedule.greedy(pipeline.dag(2, 3), 2)),
    "second": st.just("halving-doubling"),
    "section": st.sampled_from(["devices", "links", "nodes"]),
    "spot": st.just(Spot(1.2, 7200, 60, 300, 900)),
    "stage": st.integers(0, 3),
    "step": st.sampled_from([JOB, FULL]),
    "values": COLUMN,
}  # fmt: skip


def functions():
    """Yield every function that readers give something: of the modules of models/, and of the others."""
    found = pkgutil.walk_packages(scalelab.models.__path__, "scalelab.models.")
    inside = [m.name for m in found if not m.ispkg and m.name.rpartition(".")[2] not in SHARED]
    models = [importlib.import_module(name) for name in inside]
    for module in [*models, stats, ranks, units]:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and inspect.signature(function).parameters:
                yield pytest.param(function, id=f"{module.__name__.split('.')[-1]}.{name}")


def meant(name):
    """Return what a parameter of this name may sensibly be given."""
    return MEANT.get(name, PLAUSIBLE)


def luck(function, examples):
    """Return a decorator: so many examples, other ones every day and for every function."""

    def chosen(test):
        limits = settings(
            max_examples=examples,
            database=None,  # what a seed finds, it finds again
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        return seeded(f"{seed()} {function.__module__} {function.__name__}")(limits(test))

    return chosen
