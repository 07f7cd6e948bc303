"""The plan: T(K), efficiency, memory, bill and energy over sizes, the size to buy and why, and what-ifs.

All of it is modelled; `published` says how far such times were off on runs that others published.
"""

import math
from dataclasses import dataclass, field

from scalelab.plan import published, whatif
from scalelab.plan.choice import Choice, choose, closest, safe
from scalelab.plan.job import Cluster, Job
from scalelab.plan.row import Against, PlanRow, row
from scalelab.refusal import Refusal

NOT_MODELLED = (
    "Kernels reach one share of the peak, whatever their shape: small matrices reach less.",
    "Attention to the whole context is counted, also where a causal mask halves it; no experts, no context "
    "parallelism, no encoder.",
    "Reading data, evaluation, logging and a slow device are left out, and so are others on the network.",
    "Links are counted as if no switch above the node were oversubscribed; stages fill whole nodes.",
    "Memory: states, activations of 1F1B with sequence parallelism, scores of all tokens; no fragmentation, "
    "no buffers of libraries. usable_memory leaves room for them.",
    "Whether a larger batch still teaches as much per token is not asked.",
    "Failures come at a constant rate, checkpoints at Daly's interval, and hours are paid for all devices.",
    "Without idle_power a device draws its full power all the time; pue is 1 unless given.",
)


@dataclass(frozen=True)
class Plan:
    """What comes of a job: rows over sizes, the size to buy, reasons and what-ifs."""

    job: Job
    share: float  # of the peak that kernels reach
    share_from: str
    band: (
        float  # a step takes between 1/band and band times what the model says, in nine of ten runs
    )
    rows: tuple[PlanRow, ...]
    impossible: dict[int, Against]  # sizes without any layout
    choice: Choice
    safe: int | None  # the size to buy if every time is the band too short
    whatifs: tuple[whatif.WhatIf, ...] = ()
    notes: tuple[str, ...] = field(default=NOT_MODELLED)

    @property
    def chosen(self) -> int | None:
        """The size to buy, if any meets every limit."""
        return self.choice.workers

    @property
    def excluded(self) -> dict[int, tuple[Against, ...]]:
        """What is against each of the other sizes that do not meet every limit."""
        return self.choice.excluded

    @property
    def bought(self) -> PlanRow | None:
        """The row of the size to buy, or None."""
        return next((one for one in self.rows if one.workers == self.chosen), None)


def plan(job: Job) -> Plan:
    """Return the Plan of a job.

    >>> from scalelab.plan import file as plan_file
    >>> plan(plan_file.parse(plan_file.example())).chosen
    128
    """
    share, origin = kernel_share(job.cluster)
    rows, impossible = [], {}
    for workers in sizes(job):
        size = row(job, workers, share)
        if isinstance(size, Against):
            impossible[workers] = size
        else:
            rows.append(size)
    choice = choose(job, rows, impossible)
    at = next((size for size in rows if size.workers == choice.workers), None) or closest(rows)
    return Plan(
        job=job,
        share=share,
        share_from=origin,
        band=published.BAND,
        rows=tuple(rows),
        impossible=impossible,
        choice=choice,
        safe=safe(job, rows, impossible, published.BAND),
        whatifs=whatif.table(job, at, share) if at else (),
    )


def sizes(job: Job) -> tuple[int, ...]:
    """Return the device counts to compare: those given, or powers of two of whole copies.

    >>> from scalelab.plan import file as plan_file
    >>> sizes(plan_file.parse(plan_file.example()))[-3:]
    (256, 512, 1024)
    """
    cluster, layout = job.cluster, job.layout
    if cluster.sizes:
        return cluster.sizes
    least = layout.split
    if least > cluster.largest:
        raise Refusal(
            f"{job.name}: layout must fit into cluster.largest, {cluster.largest} devices, got "
            f"{layout.tensor or 1} x {layout.pipeline or 1}: raise largest, or split the model less"
        )
    return tuple(least * 2**n for n in range(int(math.log2(cluster.largest / least)) + 1))


def kernel_share(cluster: Cluster) -> tuple[float, str]:
    """Return the share of the peak that kernels reach, and where it is from, as text."""
    if cluster.kernel_share is not None:
        return cluster.kernel_share, "given in the file"
    kind = published.kind(cluster.device)
    share = published.SHARES[kind or published.FALLBACK]
    origin = f"the median of published runs on {kind or published.FALLBACK}"
    return share, origin if kind else f"{origin}; there are none on {cluster.device}"


def measured() -> str:
    """One sentence for under a plan: what its times are worth."""
    inside, of, systems = published.COVERAGE
    return (
        f"times within a factor of {published.BAND:.2f} either way held {inside} of {of} published "
        f"runs of {systems} systems, each system judged by what the others taught"
    )
