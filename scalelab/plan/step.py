"""The time of one training step on K devices, by cause: what `models.step` adds up, for a three-way layout.

A tensor group is the worker of `step.Step`: its pipeline is that of the stages, its all-reduce that of
the gradients. Tensor-parallel exchanges, sends between stages, interleaving and FSDP come on top.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.models.cost import step
from scalelab.models.graphs import pipeline
from scalelab.models.kernels import transformer
from scalelab.models.machines import memory
from scalelab.models.network import collectives, network
from scalelab.plan.job import Job, Layout
from scalelab.plan.memory import microbatches, one_layer

CAUSES = ("useful", "repeated", "uneven", "memory", "tensor", "stages", "gradients", "bubble")
# All-reduces of a layer's activations: two forward, two backward (Shoeybi et al. 2019, arXiv:1909.08053).
FORWARD, BACKWARD = 2, 2
# Passes over what a layer keeps, for norms, activations, dropout and softmax: written and read once forward;
# backward read once, and its gradient written and read. Computing again repeats the first two. Our count.
PASSES, AGAIN = 5, 2


@dataclass(frozen=True)
class Time:
    """Seconds of a step by cause; their sum is the step."""

    useful: float  # the model's FLOPs at the kernels' share of the peak
    repeated: float  # activations computed again
    uneven: float  # the busiest device's share beyond the mean
    memory: float  # what moves bytes and multiplies nothing: norms, softmax, the optimizer
    tensor: float  # exchanges inside the layers
    stages: float  # sends from stage to stage
    gradients: float  # what computing does not hide of the exchange between the copies
    bubble: float  # stages that wait for the first and the last micro-batch

    @property
    def seconds(self) -> float:
        """The step."""
        return sum(getattr(self, cause) for cause in CAUSES)

    @property
    def computing(self) -> float:
        """Seconds in which a device computes, useful or not."""
        return self.useful + self.repeated + self.uneven + self.memory

    @property
    def communication(self) -> float:
        """Seconds in which a device waits for bytes."""
        return self.tensor + self.stages + self.gradients


def time(job: Job, layout: Layout, workers: int, share: float) -> Time:
    """Return the Time of a step on K devices whose kernels reach a share of the peak."""
    assert layout.tensor
    assert layout.pipeline
    assert layout.micro_batch
    assert layout.recompute
    cluster, shape = job.cluster, job.shape
    copies, rounds = workers // layout.split, microbatches(job, layout, workers)
    asked = job.sequence * transformer.training_flops(shape, job.sequence)
    ran = job.sequence * transformer.training_flops(shape, job.sequence, recompute=layout.recompute)
    uneven = -(-shape.layers // layout.pipeline) * layout.pipeline / shape.layers
    described = step.Step(
        microbatch=copies * layout.micro_batch,
        worker_throughput=layout.tensor * cluster.peak * share / ran / uneven,
        gradient=job.parameters / layout.tensor * _gradient_bytes(job),
        all_reduce=lambda size, members: _flat_or_between(job, layout, copies, size, members),
        accumulation=rounds,
        overlap=layout.overlap,
        compression=layout.compression,
        per_node=_neighbours(job, layout, copies),
        all_reduce_inside=lambda size, members: _all_reduce(size, members, cluster.inside),
        stages=layout.pipeline,
    )
    groups = workers // layout.tensor
    moving = rounds * _layers(job, layout) * _moved(job, layout) / cluster.bandwidth
    computing = step.compute(described, groups)
    if layout.sharding == 3:
        exchange = _gathering(job, layout, copies) * rounds
        hidden = min(layout.overlap * exchange, computing + moving)
        gradients = exchange - hidden
    else:
        gradients = step.exposed(described, groups)
    pure = job.batch / workers / (cluster.peak * share)
    useful, both = pure * asked, pure * ran
    tensor = rounds * _layers(job, layout) * _in_layers(job, layout)
    idle = pipeline.bubble(layout.pipeline, rounds, layout.chunks)
    return Time(
        useful=useful,
        repeated=both - useful,
        uneven=max(computing - both, 0.0),
        memory=moving + _updated(job, layout, copies) / cluster.bandwidth,
        tensor=tensor,
        stages=rounds * _between_stages(job, layout, workers),
        gradients=gradients,
        bubble=(computing + moving + tensor) * idle / (1 - idle),
    )


def _neighbours(job, layout, copies):
    """Copies of a stage in one node: tensor groups fill a node first, copies next, stages last."""
    if not layout.hierarchy:
        return 1
    return max(1, min(job.cluster.per_node // layout.tensor, copies))


def _flat_or_between(job, layout, copies, size, members):
    """Between nodes; or flat, with a part of the gradients in a ring through each card of a node."""
    near = min(job.cluster.per_node // layout.tensor, copies)
    if layout.hierarchy or near <= 1:
        return _all_reduce(size, members, job.cluster.outside)
    within = copies * layout.tensor <= job.cluster.per_node
    link = job.cluster.inside if within else job.cluster.outside
    return _all_reduce(size if within else size / near, members, link)


def _all_reduce(size, members, link):
    """Seconds by the better of the two algorithms that libraries switch between."""
    ring = collectives.all_reduce(size, members, link)
    return np.minimum(ring, collectives.all_reduce(size, members, link, "double binary tree"))


def _moved(job, layout):
    """Bytes that one layer moves for one micro-batch on one device, outside its matrix products."""
    most = one_layer(job, layout, "selective" if layout.fused_attention else "none")
    again = {"none": 0.0, "full": most, "selective": most - one_layer(job, layout, "selective")}
    return PASSES * most + AGAIN * again[layout.recompute]


def _updated(job, layout, copies):
    """Bytes that the optimizer reads and writes: its statistics both ways, weight and gradient once."""
    weights, gradients, copy = memory.PRECISIONS[job.precision]
    each = weights + gradients + 2 * (copy + memory.OPTIMIZERS[job.optimizer])
    own = job.parameters / layout.split
    return own * each / (copies if layout.sharding else 1)


def _in_layers(job, layout):
    """Seconds that a tensor group exchanges activations in one layer, for one micro-batch."""
    if layout.tensor == 1:
        return 0.0
    link = job.cluster.inside if layout.tensor <= job.cluster.per_node else job.cluster.outside
    times = FORWARD + BACKWARD + (FORWARD if layout.recompute == "full" else 0)
    return times * collectives.all_reduce(_activation(job, layout), layout.tensor, link)


def _between_stages(job, layout, workers):
    """Seconds that one micro-batch travels, both ways, at one device; each of the group sends a part."""
    if layout.pipeline == 1:
        return 0.0
    link = job.cluster.inside if workers <= job.cluster.per_node else job.cluster.outside
    one = network.message_seconds(_activation(job, layout) / layout.tensor, link)
    return 2 * layout.chunks * (1 - layout.overlap) * one


def _gathering(job, layout, copies):
    """Seconds in which fully sharded copies gather each layer twice and scatter its gradient, once each."""
    if copies == 1:
        return 0.0
    near = _neighbours(job, layout, copies)
    nodes = -(-copies // near)
    weights = memory.PRECISIONS[job.precision][0]
    layer = job.parameters / layout.tensor / job.shape.layers
    total = 0.0
    for size, passes in ((layer * weights, 2), (layer * _gradient_bytes(job), 1)):
        inside = collectives.all_gather(size, near, job.cluster.inside)
        total += passes * (inside + collectives.all_gather(size / near, nodes, job.cluster.outside))
    return total * _layers(job, layout)


def _layers(job, layout):
    return -(-job.shape.layers // layout.pipeline)


def _activation(job, layout):
    """Bytes of one micro-batch between two layers."""
    return (
        layout.micro_batch * job.sequence * job.shape.hidden * (4 if job.precision == "fp32" else 2)
    )


def _gradient_bytes(job):
    return memory.PRECISIONS[job.precision][1]
