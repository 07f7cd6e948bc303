"""Which layouts of a model on K devices are possible, and which of them is fastest."""

from dataclasses import dataclass, replace

from scalelab.plan import memory as plan_memory, step
from scalelab.plan.job import Job, Layout
from scalelab.plan.keys import RECOMPUTE

MOST_STAGES = 64  # of those that the plan tries by itself
MICRO_BATCHES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Fit:
    """A layout, the step it takes, and the bytes it puts on a device."""

    layout: Layout
    time: step.Time
    held: dict[str, float]
    fits: bool

    @property
    def bytes(self) -> float:
        """All that a device holds."""
        return sum(self.held.values())


def fastest(job: Job, workers: int, share: float) -> Fit | str:
    """Return the fastest Fit on K devices; if none fits, the one that comes closest; or a reason as text."""
    best, closest = None, None
    for layout in _candidates(job, workers):
        held = plan_memory.held(job, layout, workers)
        total = sum(held.values())
        if total <= job.cluster.usable_memory * job.cluster.memory:
            time = step.time(job, layout, workers, share)
            if best is None or time.seconds < best.time.seconds:
                best = Fit(layout, time, held, True)
        elif closest is None or total < sum(closest[1].values()):
            closest = layout, held
    if best:
        return best
    if closest:
        layout, held = closest
        return Fit(layout, step.time(job, layout, workers, share), held, False)
    return _why_none(job, workers)


def _candidates(job, workers):
    """Yield layouts without None: of two that differ in recomputing only, the second is a last resort."""
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
                    one = replace(
                        layout,
                        tensor=tensor,
                        pipeline=pipeline,
                        micro_batch=micro,
                        recompute=recompute,
                    )
                    yield one
                    held = sum(plan_memory.held(job, one, workers).values())
                    if held <= job.cluster.usable_memory * job.cluster.memory:
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
    layout = job.layout
    split = layout.split
    if workers % split:
        return f"{workers} devices hold no whole number of copies of {split}"
    if workers // split > job.batch:
        return f"{workers // split} copies share a batch of {job.batch} sequences"
    return "the batch is too small for the micro-batch, or no split of the model divides this count"
