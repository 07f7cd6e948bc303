"""The plan: T(K), efficiency, memory, bill and energy over sizes, the size to buy and why, and what-ifs.

All of it is modelled; `published` says how far such times were off on runs that others published.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scalelab.arguments import shown
from scalelab.plan import file as plan_file, published, whatif
from scalelab.plan.choice import Choice, choose, closest, safe
from scalelab.plan.job import Cluster, Job
from scalelab.plan.row import Against, PlanRow, row
from scalelab.refusal import Refusal
from scalelab.seen import Seen
from scalelab.units import bill, counted

NOT_MODELLED = (
    "Kernels reach one share of the peak, whatever their shape: small matrices reach less, and so, on an "
    "H100, does attention over long sequences.",
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
class Plan(Seen):
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

    def __repr__(self) -> str:
        sizes = counted(len(self.rows), "size")
        bought = self.bought
        if bought is None:
            return f"<Plan {self.job.name}: none of {sizes} meets every limit>"
        price = "" if bought.dollars is None else f", for {bill(bought.dollars)}"
        return f"<Plan {self.job.name}: of {sizes}, {bought.workers} devices to buy{price}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each size that the model fits into."""
        names = ("workers", "seconds", "throughput", "mfu", "efficiency", "kind", "memory")
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        for name in ("run", "dollars", "joules"):
            columns[name] = [getattr(row, name) for row in self.rows]
        return columns | {"to buy": [row.workers == self.chosen for row in self.rows]}

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


def plan(job: Job | str | os.PathLike[str] | Mapping[str, object]) -> Plan:
    """Plan a training run: T(K), efficiency, bill, and the size to buy. Section 3.9.

    The job is what `file` reads, the TOML or JSON file itself, its tables as a dictionary, or "example".

    >>> plan("example").chosen
    128
    """
    job = job if isinstance(job, Job) else _read(job)
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


def _read(given: object) -> Job:
    if isinstance(given, Mapping):
        return plan_file.described(dict(given))
    if not isinstance(given, (str, os.PathLike)):
        raise Refusal(
            f"job must be a file, its tables or a Job, got {shown(given)}: write plan('plan.toml')"
        )
    if given == "example" and not os.path.lexists(given):
        return plan_file.parse(plan_file.example(), "example")
    return plan_file.read(Path(os.fsdecode(given)))


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
