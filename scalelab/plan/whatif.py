"""What one change would do at one size: overlap, compression, accumulation, hierarchy, links, next device."""

from dataclasses import dataclass, replace
from typing import Any

from scalelab.models.cost import cost
from scalelab.models.machines import hardware
from scalelab.models.network.network import Network
from scalelab.plan import memory as plan_memory, published, row as plan_row, step
from scalelab.plan.job import Job

NEXT = {"A100 SXM 40GB": "A100 SXM 80GB", "A100 SXM 80GB": "H100 SXM", "H100 SXM": "H200 SXM"}
NEXT |= {"H200 SXM": "B200 SXM"}


@dataclass(frozen=True)
class WhatIf:
    """One change and the row it makes; `gain` is throughput over that of the plan."""

    change: str
    row: plan_row.PlanRow
    gain: float
    worth: float | None = None  # dollars per device and hour at which the bill would be the same


def table(job: Job, at: plan_row.PlanRow, share: float) -> tuple[WhatIf, ...]:
    """Return the what-ifs at the size of a row, all with its layout unless the change is to the layout."""
    whatifs = []

    def ask(change, other, kernels=share, free=False, priced=False):
        fit = plan_row.fastest(other, at.workers, kernels) if free else _with(other, at, kernels)
        if isinstance(fit, plan_row.Against):
            return
        changed = plan_row.of_layout(other, at.workers, fit, kernels)
        gain = changed.throughput / at.throughput
        price = job.cluster.price
        worth = price / cost.relative_bill(gain, 1.0) if priced and price else None
        whatifs.append(WhatIf(change, changed, gain, worth))

    layout, cluster = at.layout, job.cluster
    for overlap in (0.0, 1.0):
        if layout.overlap != overlap:
            what = "nothing of it hides" if overlap == 0 else "all of it may hide"
            ask(f"overlap: {what}", _laid(job, overlap=overlap))
    if layout.sharding < 3:
        ask("gradients compressed fourfold", _laid(job, compression=4 * layout.compression))
        if layout.hierarchy:
            ask("no hierarchy: flat rings through all, one per card", _laid(job, hierarchy=False))
        ask("fully sharded (FSDP)", _laid(job, sharding=3))
    assert layout.micro_batch
    full = plan_memory.microbatches(job, layout, at.workers) * layout.micro_batch
    full *= at.workers // layout.split
    if full != job.batch:
        ask(f"a batch of {full}, the same for every copy", replace(job, batch=full))
    ask("twice the batch, accumulated", replace(job, batch=2 * job.batch))
    if job.batch % 2 == 0:
        ask("half the batch", replace(job, batch=job.batch // 2), free=True)
    for way in ("inside", "outside"):
        link = getattr(cluster, way)
        faster: dict[str, Any] = {way: Network(link.alpha, link.beta / 2)}
        other = replace(job, cluster=replace(cluster, **faster))
        ask(f"links {way} the node twice as fast", other, free=True)
    if layout.recompute == "full":
        ask("nothing computed again, if memory allowed", _laid(job, recompute="none"))
    ask("kernels a tenth better", job, min(1.1 * share, 1.0))
    following = NEXT.get(cluster.device)
    if following:
        other, kernels = _next(job, following, share)
        ask(f"next device: {following}", other, kernels, free=True, priced=True)
    return tuple(whatifs)


def _with(job, at, share):
    """Return the Fitting of the plan's own layout, with what the job now says of it otherwise."""
    own = {name: getattr(at.layout, name) for name in ("tensor", "pipeline", "micro_batch")}
    recompute = job.layout.recompute or at.layout.recompute
    layout = replace(job.layout, **own, recompute=recompute)
    parts = plan_memory.bytes_by_part(job, layout, at.workers)
    fits = sum(parts.values()) <= job.cluster.usable_memory * job.cluster.memory
    return plan_row.Fitting(layout, step.time(job, layout, at.workers, share), parts, fits)


def _laid(job, **changes):
    return replace(job, layout=replace(job.layout, **changes))


def _next(job, name, share):
    """Return the job on another device of the catalogue, links and price unchanged where it has none."""
    device, cluster = hardware.device(name), job.cluster
    here = hardware.device(cluster.device)
    dtype = next((kind for kind, peak in here.peaks.items() if peak == cluster.peak), None)
    peak = device.peaks.get(dtype, cluster.peak) if dtype else cluster.peak
    inside = cluster.inside
    if here.link and device.link and here.link != device.link:
        ratio = here.link.bandwidth / device.link.bandwidth
        inside = Network(inside.alpha, inside.beta * ratio)
    other = replace(
        cluster,
        device=name,
        peak=peak,
        memory=device.memory,
        bandwidth=device.bandwidth,
        power=device.power if cluster.power == here.power else cluster.power,
        inside=inside,
    )
    kind = published.kind(name)
    stated = cluster.kernel_share is not None
    kernels = share if stated else published.SHARES[kind or published.FALLBACK]
    return replace(job, cluster=other), kernels
