"""Of a size the fastest layout that fits and the row it makes, or what is against the size."""

import math
from dataclasses import dataclass, replace

from scalelab.models.cost import bottleneck, cost, energy, mfu
from scalelab.models.kernels import transformer
from scalelab.models.machines import failures
from scalelab.plan import memory as plan_memory, step
from scalelab.plan.job import Job, Layout
from scalelab.plan.keys import RECOMPUTE

MOST_STAGES = 64  # of those that the plan tries by itself
MICRO_BATCHES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Against:
    """One reason against a size: its kind, what it comes to, and what was allowed.

    Without any layout a size is "split copies", "more copies than sequences" or "no split"; else it is
    "too big", "endless", "too late", "too dear" or "too idle".
    """

    kind: str
    amount: float = 0.0  # in SI or dollars; 0 where the kind says all
    limit: float = 0.0


@dataclass(frozen=True)
class Fitting:
    """A layout, the step it takes, and the bytes it puts on a device."""

    layout: Layout
    time: step.Time
    held: dict[str, float]
    fits: bool

    @property
    def bytes(self) -> float:
        """All that a device holds."""
        return sum(self.held.values())


def fastest(job: Job, workers: int, share: float) -> Fitting | Against:
    """Return the fastest Fitting on K devices, or the one that nearly fits, or why there is none."""
    best, closest = None, None
    for layout, parts, fits in _candidates(job, workers):
        if fits:
            time = step.time(job, layout, workers, share)
            if best is None or time.seconds < best.time.seconds:
                best = Fitting(layout, time, parts, True)
        elif closest is None or sum(parts.values()) < sum(closest[1].values()):
            closest = layout, parts
    if best:
        return best
    if closest:
        layout, parts = closest
        return Fitting(layout, step.time(job, layout, workers, share), parts, False)
    return _why_none(job, workers)


def _candidates(job, workers):
    """Yield layouts without None, what a device holds of each, and whether that fits.

    Of two that differ in recomputing only, the second is a last resort.
    """
    layout = job.layout
    for tensor in [layout.tensor] if layout.tensor else _tensors(job, workers):
        if workers % tensor:
            continue
        for pipeline in (
            [layout.pipeline] if layout.pipeline else _pipelines(job, workers // tensor)
        ):
            split = tensor * pipeline
            if workers % split or workers // split > job.batch:
                continue
            share = -(-job.batch // (workers // split))
            some = [n for n in MICRO_BATCHES if n == 1 or n <= share]
            for micro in [layout.micro_batch] if layout.micro_batch else some:
                if micro > share:
                    continue
                for recompute in [layout.recompute] if layout.recompute else _recomputes(layout):
                    candidate = replace(
                        layout,
                        tensor=tensor,
                        pipeline=pipeline,
                        micro_batch=micro,
                        recompute=recompute,
                    )
                    parts = plan_memory.bytes_by_part(job, candidate, workers)
                    fits = sum(parts.values()) <= job.cluster.usable_memory * job.cluster.memory
                    yield candidate, parts, fits
                    if fits:
                        break  # computing more again would only be slower


def _tensors(job, workers):
    most = min(job.cluster.per_node, workers, job.shape.heads)
    return [n for n in _powers(most) if job.shape.heads % n == 0]


def _pipelines(job, most):
    layers = job.shape.layers
    return [n for n in _powers(min(most, layers, MOST_STAGES)) if layers % n == 0]


def _recomputes(layout):
    return [kind for kind in RECOMPUTE if kind != "selective" or not layout.fused_attention]


def _powers(most):
    return [2**n for n in range(int(most).bit_length())]


def _why_none(job, workers):
    split = job.layout.split
    if workers % split:
        return Against("split copies", workers, split)
    if workers // split > job.batch:
        return Against("more copies than sequences", workers // split, job.batch)
    return Against("no split")


@dataclass(frozen=True)
class PlanRow:
    """What a plan knows of K devices. What cannot be known from the file is None."""

    workers: int
    layout: Layout
    time: step.Time
    held: dict[str, float]  # bytes of one device, by part
    memory: float  # share of the device's
    fits: bool
    throughput: float  # tokens per second
    mfu: float
    efficiency: float  # useful seconds over all: 1 on one device of endless memory and bandwidth
    kind: str  # as in models.bottleneck
    run: float | None  # seconds of the whole run, failures included; inf where it never ends
    useful_share: float | None  # of that, after checkpoints and failures
    hours: float | None  # device-hours of the run
    dollars: float | None
    joules: float | None
    dollars_per_million: float | None  # tokens
    joules_per_token: float | None

    @property
    def seconds(self) -> float:
        """The step, T(K)."""
        return self.time.seconds


def row(job: Job, workers: int, share: float) -> PlanRow | Against:
    """Return the PlanRow of K devices with their fastest layout, or why there is none."""
    found = fastest(job, workers, share)
    return found if isinstance(found, Against) else of_layout(job, workers, found, share)


def of_layout(job: Job, workers: int, fit: Fitting, share: float) -> PlanRow:
    """Return the PlanRow of one layout on K devices."""
    cluster, time = job.cluster, fit.time
    tokens = job.batch * job.sequence
    throughput = tokens / time.seconds
    flops = transformer.training_flops(job.shape, job.sequence)
    memory = fit.bytes / cluster.memory
    lasting = _lasting(cluster, workers)
    run = hours = dollars = joules = None
    watts = _watts(cluster, time)
    if job.goal.tokens is not None:
        run = _stretched(job.goal.tokens / throughput, lasting)
        hours = run / cost.HOUR * workers
        if math.isfinite(run):
            if cluster.price is not None:
                dollars = cost.dollars(run, cluster.price * workers)
            if watts is not None:
                joules = energy.joules(run, watts, workers, cluster.pue)
    effective = throughput * lasting  # tokens per second that last
    per_million = per_token = None
    if effective > 0:
        if cluster.price is not None:
            per_million = cluster.price * workers / cost.HOUR / effective * 1e6
        if watts is not None:
            per_token = watts * workers * cluster.pue / effective
    return PlanRow(
        workers=workers,
        layout=fit.layout,
        time=time,
        held=fit.held,
        memory=memory,
        fits=fit.fits,
        throughput=throughput,
        mfu=mfu.mfu(throughput, flops, workers, cluster.peak),
        efficiency=time.useful / time.seconds,
        kind=_kind(time, memory, fit.fits),
        run=run,
        useful_share=lasting if cluster.failures else None,
        hours=hours,
        dollars=dollars,
        joules=joules,
        dollars_per_million=per_million,
        joules_per_token=per_token,
    )


def _kind(time, memory, fits):
    if not fits:
        return "memory"
    return bottleneck.classify(
        min(time.computing / time.seconds, 1.0),
        min(time.communication / time.seconds, 1.0),
        min(memory, 1.0),
    )


def _lasting(cluster, workers):
    """Return the share of the time that becomes lasting work; 1 where failures were not given."""
    if cluster.failures is None:
        return 1.0
    mttf = failures.mean_time_to_failure(cluster.failures, workers)
    interval = max(failures.daly_interval(cluster.checkpoint, mttf), cluster.checkpoint)
    return failures.useful_share(interval, cluster.checkpoint, cluster.restart, mttf)


def _stretched(useful, lasting):
    """Return the time of a run with failures; one whose share is next to nothing never ends."""
    return useful / lasting if lasting > 1e-6 else math.inf


def _watts(cluster, time):
    """Return the mean power of a device; without a power at rest, that at work all the time."""
    if cluster.power is None:
        return None
    idle = cluster.power if cluster.idle_power is None else cluster.idle_power
    return energy.watts(min(time.computing / time.seconds, 1.0), idle, cluster.power)
