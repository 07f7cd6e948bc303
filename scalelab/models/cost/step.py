"""The time of a training step on K workers: T(K) = compute + exposed + bubble + stragglers (Section 3.9).

The job is synchronous: every worker takes its share of a batch, all sum their gradients, all go on.
What an all-reduce takes, and how far the slowest worker lags, are functions that the caller gives.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real, shown, whole
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import MOST, counts, instance
from scalelab.refusal import Refusal

AllReduce = Callable[[float, Floats], Numbers]
Slowest = Callable[[Floats], Numbers]

BACKWARD = 2 / 3  # of the compute: a backward pass costs two forward passes
_SAMPLES = "it is the samples of one micro-batch, over all workers"
_SECONDS = "it returns the seconds of an all-reduce of so many bytes among so many workers"
_SLOWEST = "it returns the time of the slowest of so many workers, in multiples of the mean"


@dataclass(frozen=True)
class Step:
    """A training step: the job in four fields, then what one may do about its cost.

    >>> Step(512, worker_throughput=100, gradient=4e8, all_reduce=lambda size, k: size / 25e9).overlap
    0.0
    """

    microbatch: float  # samples of one micro-batch, over all workers
    worker_throughput: float  # samples per second that one worker computes
    gradient: float  # bytes of gradient for the whole model
    all_reduce: AllReduce  # (bytes, workers) -> its seconds
    accumulation: int = 1  # micro-batches from one all-reduce to the next
    overlap: float = 0.0  # share of the all-reduce that may run behind the backward pass
    compression: float = 1.0  # bytes of gradient per byte sent; encoding slows the workers
    per_node: int = 1  # copies of the model in a node, which reduce among themselves first
    # The same inside a node; `all_reduce` is between them.
    all_reduce_inside: AllReduce | None = None
    stages: int = 1  # workers that share one copy of the model as a pipeline
    slowest: Slowest | None = None  # workers -> time of the slowest, in multiples of the mean

    def __post_init__(self) -> None:
        def settle(name, check, *limits, **more):
            object.__setattr__(self, name, check(name, getattr(self, name), *limits, **more))

        settle("microbatch", real, _SAMPLES, 1)
        settle(
            "worker_throughput", real, "it is the samples per second of one worker", 0, above=True
        )
        settle("gradient", real, "it is the gradient of the whole model, in bytes", 0)
        settle("accumulation", whole, "it counts the micro-batches of a step", 1, MOST)
        settle("overlap", real, "it is the share of the all-reduce that can hide", 0, 1)
        settle("compression", real, "it is bytes of gradient per byte sent", 1)
        settle("per_node", whole, "it counts the copies of the model in a node", 1, MOST)
        settle("stages", whole, "it counts the workers to a copy of the model", 1, MOST)
        _function("all_reduce", self.all_reduce, _SECONDS)
        if self.per_node > 1 or self.all_reduce_inside is not None:
            remedy = f"{_SECONDS} of one node, and per_node > 1 needs it"
            _function("all_reduce_inside", self.all_reduce_inside, remedy)
        if self.slowest is not None:
            _function("slowest", self.slowest, _SLOWEST)


def compute(step: Step, workers: Numbers) -> Answer:
    """Seconds in which every worker computes its share: samples / (K worker_throughput).

    Source: the definition of a rate. Section 3.9.

    >>> compute(Step(512, 100, 4e8, lambda size, workers: size / 25e9), [1, 8])
    array([5.12, 0.64])
    """
    return _compute(*_checked(step, workers))


def communication(step: Step, workers: Numbers) -> Answer:
    """Seconds of the all-reduce, hidden or not: of M = gradient / (stages compression) bytes.

    With g copies per node: all_reduce_inside(M, g) + all_reduce(M / g, nodes), because an all-reduce
    inside is the reduce-scatter before and the all-gather after.
    Source: the three phases as in `hierarchy`. Section 3.9.

    >>> flat = Step(512, 100, 4e8, lambda size, workers: 2 * (workers - 1) / workers * size / 25e9)
    >>> communication(flat, 8)
    0.028
    """
    return _communication(*_checked(step, workers))


def exposed(step: Step, workers: Numbers) -> Answer:
    """Seconds of the all-reduce that no computing hides: max((1 - overlap) C, C - window).

    The gradients are complete, and can travel, only during the last micro-batch's backward pass:
    the window is 2/3 of that micro-batch.
    Source: Li et al. 2020, arXiv:2006.15704, for the overlap and what accumulation leaves of it.
    Section 3.9.

    >>> slow = Step(512, 100, 4e8, lambda size, workers: size / 1e9, overlap=0.75)
    >>> round(exposed(slow, 8), 9), round(exposed(slow, 512), 9)
    (0.1, 0.393333333)
    """
    step, workers = _checked(step, workers)
    return _exposed(step, workers, _compute(step, workers))


def terms(step: Step, workers: Numbers) -> dict[str, Answer]:
    """Seconds of a step by cause: "compute", "exchange" (what is exposed), "bubble", "stragglers".

    A pipeline of p stages idles for compute (p - 1) / m over m micro-batches; all wait for the
    slowest worker for compute (slowest(K) - 1).
    Sources: Huang et al. 2019, arXiv:1811.06965, for the bubble; the sum is ours. Section 3.9.

    >>> piped = Step(512, 100, 4e8, lambda size, workers: 0.02, accumulation=8, stages=4)
    >>> terms(piped, 64)
    {'compute': 0.64, 'exchange': 0.02, 'bubble': 0.24, 'stragglers': 0.0}
    """
    step, workers = _checked(step, workers)
    busy = np.asarray(_compute(step, workers))
    lag = np.ones_like(workers)
    if step.slowest is not None:
        lag = numbers("slowest", step.slowest(workers), _SLOWEST, 1 - 1e-9)
    return {
        "compute": answer(lambda c: c, busy),
        "exchange": _exposed(step, workers, busy),
        "bubble": answer(lambda c: c * (step.stages - 1) / step.accumulation, busy),
        "stragglers": answer(lambda c, x: c * np.maximum(x - 1, 0), busy, lag),
    }


def seconds(step: Step, workers: Numbers) -> Answer:
    """Seconds of a step: the sum of its `terms`.

    Source: the definition. Section 3.9.

    >>> seconds(Step(512, 100, 4e8, lambda size, workers: 0.02), [1, 8, 64])
    array([5.12, 0.66, 0.1 ])
    """
    parts = [np.asarray(part) for part in terms(step, workers).values()]
    return answer(lambda *p: sum(p), *parts)


def throughput(step: Step, workers: Numbers) -> Answer:
    """Samples per second: microbatch accumulation / T(K). It compares steps of unequal length fairly.

    Whether a larger batch teaches as much per sample is another question: `study.total_efficiency`.
    Source: the definition. Section 3.9.

    >>> throughput(Step(512, 100, 4e8, lambda size, workers: 0.02), 64)
    5120.0
    """
    time = np.asarray(seconds(step, workers))
    return answer(lambda t: step.microbatch / t * step.accumulation, time)


def efficiency(step: Step, workers: Numbers) -> Answer:
    """The share of a step in which the workers compute, E(K) = compute / T(K) = T(1) / (K T(K)).

    Source: Eager, Zahorjan and Lazowska 1989, doi:10.1109/12.21127, for a compute that divides
    evenly. Section 3.9.

    >>> round(efficiency(Step(512, 100, 4e8, lambda size, workers: 0.02), 64), 9)
    0.8
    """
    parts = [np.asarray(part) for part in terms(step, workers).values()]
    return answer(lambda c, *others: c / (c + sum(others)), *parts)


def _checked(step: Step, workers: Numbers) -> tuple[Step, Floats]:
    step = instance(
        "step",
        step,
        Step,
        "describe it with Step(microbatch, worker_throughput, gradient, all_reduce)",
    )
    workers = counts("workers", workers, "it counts the workers that share the batch")
    copies = workers / step.stages
    wrong = workers[(copies != np.floor(copies)) | (copies > step.microbatch)]
    if wrong.size:
        raise Refusal(
            f"workers must be a multiple of {step.stages} and at most {step.microbatch * step.stages:g}, "
            f"got {wrong[0]:g}: every copy of the model takes {step.stages} of them, and at least "
            f"one of the {step.microbatch:g} samples"
        )
    return step, workers


def _compute(step, workers):
    return answer(
        lambda k: step.microbatch / k / step.worker_throughput * step.accumulation, workers
    )


def _communication(step, workers):
    copies, size = workers / step.stages, step.gradient / step.stages / step.compression
    nodes = np.ceil(copies / step.per_node)
    outside = _reduced("all_reduce", step.all_reduce, size / step.per_node, nodes)
    within = np.zeros(())
    if step.per_node > 1:
        within = _reduced(
            "all_reduce_inside", step.all_reduce_inside, size, np.minimum(step.per_node, copies)
        )
    return answer(np.add, outside, within)


def _exposed(step, workers, busy):
    window = BACKWARD * np.asarray(busy) / step.accumulation
    total = np.asarray(_communication(step, workers))
    return answer(lambda c, w: np.maximum((1 - step.overlap) * c, c - w), total, window)


def _reduced(name, function, size, workers):
    """Call an all-reduce; one worker alone has nobody to tell."""
    time = numbers(name, function(size, workers), _SECONDS, 0)
    return np.where(workers > 1, time, 0.0)


def _function(name, given, meaning):
    if not callable(given):
        raise Refusal(f"{name} must be a function, got {shown(given)}: {meaning}")
