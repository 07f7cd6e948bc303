"""What a layout puts on one device: states, activations in flight, and what a step holds for a moment."""

from scalelab.models.graphs import pipeline
from scalelab.models.machines import memory
from scalelab.plan.job import Job, Layout


def bytes_by_part(job: Job, layout: Layout, workers: int) -> dict[str, float]:
    """Return the bytes on the fullest device of K, by part.

    States from `memory.state`; activations of the first stage of 1F1B, all split over the tensor group
    (sequence parallelism); full recomputation holds the inputs of its layers and one layer whole.
    """
    assert layout.tensor
    assert layout.pipeline
    assert layout.micro_batch
    assert layout.recompute
    copies = workers // layout.split
    everywhere, split = memory.state(job.optimizer, job.precision, layout.sharding)
    own = job.parameters / layout.split
    states = own * (everywhere + split / copies)
    if layout.sharding == 3:  # two layers gathered, one at work and one on its way
        states += 2 * job.parameters / layout.tensor / job.shape.layers * _width(job)
    layers = -(-job.shape.layers // layout.pipeline)
    flight = pipeline.in_flight(
        layout.pipeline, microbatches(job, layout, workers), chunks=layout.chunks
    )
    recompute = "selective" if _no_scores(layout) else layout.recompute
    activations = flight * layers * one_layer(job, layout, recompute)
    if layout.recompute == "full":
        activations += one_layer(job, layout, "selective" if layout.fused_attention else "none")
    if layout.pipeline == 1:  # scores of all tokens; later stages hold fewer micro-batches
        tokens = layout.micro_batch * job.sequence
        activations += 4 * tokens * job.shape.vocabulary / layout.tensor
    return {"states": states, "activations": activations}


def microbatches(job: Job, layout: Layout, workers: int) -> int:
    """Micro-batches that the busiest copy of the model takes in a step."""
    assert layout.micro_batch
    copies = workers // layout.split
    return -(-job.batch // (copies * layout.micro_batch))


def one_layer(job: Job, layout: Layout, recompute: str) -> float:
    """Return the bytes that one layer keeps for one micro-batch, on one device of the tensor group."""
    assert layout.tensor
    assert layout.micro_batch
    whole = memory.activation_bytes(
        sequences=layout.micro_batch,
        context=job.sequence,
        layers=1,
        hidden=job.shape.hidden,
        heads=job.shape.heads,
        recompute=recompute,
    )
    return whole * (2 if job.precision == "fp32" else 1) / layout.tensor


def _no_scores(layout):
    """Whether a fused attention makes "none" as small as "selective"."""
    return layout.recompute == "none" and layout.fused_attention


def _width(job):
    return memory.PRECISIONS[job.precision][0]
