"""A whole capstone: a real training on K processes, each run one pass of time, quality and cost.

    torchrun --nproc-per-node 4 -m scalelab capstone --workers 1,2,4 --out study.json

and under Slurm, one torchrun on each node:

    #SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8
    head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node 8 --rdzv-id "$SLURM_JOB_ID" \
      --rdzv-backend c10d --rdzv-endpoint "$head:29500" \
      -m scalelab capstone --device cuda --workers 1,8,16,32 --out study.json

Without torchrun the same command starts its own processes. Torch inside functions.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalelab.arguments import real, shown, whole
from scalelab.measure.capstone import classifier, one_pass, settings
from scalelab.measure.capstone.settings import Settings
from scalelab.measure.energy import energy
from scalelab.measure.ranks import torchrun, workers
from scalelab.records import Pass, Passes
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    import torch

_CODE = [sys.modules[__name__], settings, classifier]  # what a pass has run


def study(
    counts: Sequence[int],
    *plans: Settings,
    seeds: int = 3,
    device: str = "cpu",
    limit: float = 300.0,
) -> list[Passes]:
    """Run every plan on every worker count with every seed; return Passes for each plan. Section 41.6.

    Processes are started once per count. Under torchrun its ranks do it, and all get the result.
    """
    plans = plans or (Settings(),)
    whole("seeds", seeds, "it counts the runs of each size")
    for plan in plans:
        if not isinstance(plan, Settings):
            raise Refusal(
                f"plans must be Settings, got {shown(plan)}: write capstone.Settings(...)"
            )
        for name in ("epochs", "width"):
            whole(name, getattr(plan, name), "it is a count")
        real("warmup", plan.warmup, "it is a share of the steps", 0, 0.9)
        real("price", plan.price, "it is in dollars per worker and hour", 0, above=True)
        for count in counts:
            plan.at(count)
    by_plan: list[list[Pass]] = [[] for _ in plans]
    for count in counts:
        results = workers.launch(
            passes, count, device=device, limit=limit, plans=list(plans), seeds=seeds
        )[0]
        for runs, records in zip(by_plan, results, strict=True):
            runs += records
    return [Passes(p.name, tuple(runs)) for p, runs in zip(plans, by_plan, strict=True)]


def passes(*, plans: Sequence[Settings], seeds: int) -> list[list[Pass]]:
    """What each rank does: every plan with every seed, a pass each; in turn, so that drift hits all."""
    by_seed = [_of_seed(plans, seed) for seed in range(seeds)]
    return [list(runs) for runs in zip(*by_seed, strict=True)]


def _of_seed(plans, seed):
    """A pass of each plan; what plans train alike, as their baseline on one worker, is trained once."""
    from torch import distributed

    count, taken, runs = distributed.get_world_size(), dict[object, Pass](), []
    for plan in plans:
        shared, varied = settings.settings(plan, count)
        trains = frozenset({**shared, **varied, "weak": None}.items())
        run = taken[trains] if trains in taken else train_once(plan, seed)
        taken[trains] = run
        runs.append(_sealed(run, configuration=shared, varied=varied, rate=plan.price * count))
    return runs


def _sealed(run, **declared):
    """The same run, declared as one plan declares it."""
    run = replace(run, **declared, seal="")
    return replace(run, seal=run.digest)


def alone(*, plan: Settings, among: int, seed: int = 0) -> tuple[float, float]:
    """Seconds of one worker's training, and of its share among so many if exchanges were free.

    The share is more than an equal part: what every worker repeats does not divide. Both are
    taken by turns, step by step, so a slow moment hits both; a step counts by its median. Section 41.6.
    """
    samples, batch, peak = plan.at(among)
    data = classifier.drawn(samples, stream=1)
    trained = [classifier.Classifier(plan.width, seed, shared) for shared in (0, among)]
    walks = [t.steps(*data, batch, peak, plan.epochs, seed, plan.warmup) for t in trained]
    took: list[list[float]] = [[], []]
    for _ in range(samples // batch * plan.epochs):
        for walk, times in zip(walks, took, strict=True):
            start = time.perf_counter()
            next(walk)
            times.append(time.perf_counter() - start)
    whole, share = (len(times) * statistics.median(times) for times in took)
    return whole, share


def train_once(plan: Settings, seed: int) -> Pass:
    """Train once and evaluate, and return the sealed record of both."""
    trained = classifier.Classifier(plan.width, seed)
    samples, batch, peak = plan.at(trained.count)
    data = classifier.drawn(samples, stream=1)
    held_out = classifier.drawn(classifier.HELD_OUT, stream=0)
    trained.train(*data, batch, peak, 1, seed, most=3)  # warms up, untimed
    trained = classifier.Classifier(plan.width, seed)
    shared, varied = settings.settings(plan, trained.count)
    with one_pass.taking(
        shared, varied=varied, rate=plan.price * trained.count,
        seed=seed, data=held_out, code=_CODE, metric="accuracy",
    ) as run:  # fmt: skip
        with _meter() as spent, run.work(samples * plan.epochs):
            trained.train(*data, batch, peak, plan.epochs, seed, plan.warmup)
        run.joules, run.exposed = _of_all_ranks(spent, trained)
        run.quality(trained.accuracy(*held_out))
    assert run.record is not None  # the block has ended
    return run.record


def gradient_gap(*, batch: int = 64, width: int = 256, seed: int = 0) -> float:
    """How far the averaged gradient is from that of one worker, relative: rounding, or a mistake.

    Inside a job; every rank compares for itself. Section 41.6.
    """
    import torch

    shared, alone = (classifier.Classifier(width, seed) for _ in range(2))
    alone.count, alone.rank, alone.exchanges = 1, 0, False
    data, chosen = classifier.drawn(batch, stream=1), torch.arange(batch)
    for each in (shared, alone):
        each.gradient(*data, each.own(chosen))
    ours, theirs = (
        torch.cat([p.grad.flatten() for p in each.model.parameters() if p.grad is not None])
        for each in (shared, alone)
    )
    return float((ours - theirs).norm() / theirs.norm())


def service(seed: int = 0, batch: int = 256) -> Callable[..., torch.Tensor]:
    """What `serve.start` calls: train for an epoch, as one worker of weak scaling does, then answer."""
    plan = Settings(batch=batch, epochs=1)
    samples, batch, peak = plan.at(1)
    trained = classifier.Classifier(plan.width, seed)
    trained.train(*classifier.drawn(samples, stream=1), batch, peak, plan.epochs, seed)
    request = classifier.drawn(1, stream=0)[0]

    def answer(requests: int = 1) -> torch.Tensor:
        return trained.names(request.expand(requests, -1, -1))

    return answer


def _meter() -> contextlib.AbstractContextManager[energy.Meter | None]:
    """What counts the joules of a node: its first rank reads for all of them."""
    first = os.environ.get("LOCAL_RANK", "0") == "0"
    return energy.meter() if first else contextlib.nullcontext()


def _of_all_ranks(spent, trained):
    """Return the joules of all nodes, and the seconds that only the exchange took.

    The rank that comes last to an exchange waits for nobody: its time is the exchange's own.
    """
    ranks = _everyones((spent and spent.joules, trained.waits), trained.count)
    joules = _sum([joules for joules, _ in ranks], trained.count)
    return joules, sum(map(min, zip(*(waits for _, waits in ranks), strict=True)))


def _everyones(value, count):
    if count == 1:
        return [value]
    from torch import distributed

    found = [None] * count
    distributed.all_gather_object(found, value)
    return found


def _sum(joules, count):
    """Add up the energy of the nodes; None where one of them could not tell."""
    told = joules[:: torchrun.sizes()[0] if torchrun.inside() else count]
    return None if None in told else sum(told)
