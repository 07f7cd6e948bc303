"""One size of a cluster: the step on it, what limits it, and what the whole run takes, costs and draws."""

import math
from dataclasses import dataclass

from scalelab.models.cost import bottleneck, cost, energy, mfu
from scalelab.models.kernels import transformer
from scalelab.models.machines import failures
from scalelab.plan import layouts, step
from scalelab.plan.job import Job, Layout


@dataclass(frozen=True)
class Row:
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


def row(job: Job, workers: int, share: float) -> Row | str:
    """Return the Row of K devices with their fastest layout, or the reason why there is none."""
    found = layouts.fastest(job, workers, share)
    return found if isinstance(found, str) else of(job, workers, found, share)


def of(job: Job, workers: int, fit: layouts.Fit, share: float) -> Row:
    """Return the Row of one layout on K devices."""
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
    return Row(
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
