"""What a capstone is told: what all of its runs share, and what changes with the workers."""

from dataclasses import asdict, dataclass

from scalelab.arguments import real, whole
from scalelab.measure.capstone import classifier
from scalelab.measure.ranks import torchrun
from scalelab.refusal import Refusal

_Told = dict[str, float | str | bool]


@dataclass(frozen=True)
class Settings:
    """One study: what stays the same in all of its runs, and what changes with the workers."""

    name: str = "strong"
    batch: int | dict[int, int] = 256  # global; or {workers: batch}, where it changes on purpose
    peak: float | None = None  # learning rate at its highest; None lets it grow with the batch
    warmup: float = 0.0  # share of the steps in which the learning rate rises
    weak: bool = False  # samples and batch grow with the workers
    samples: int = 8192
    epochs: int = 3
    width: int = 128
    price: float = 0.05  # dollars per worker and hour: invented, put in your own

    def at(self, count: int) -> tuple[int, int, float]:
        """Return the samples, the global batch and the learning rate of a run on so many workers."""
        growth = count if self.weak else 1
        batch = self.batch
        if isinstance(batch, dict):
            if count not in batch:
                raise Refusal(
                    f"batch must name every worker count, got none for {count}: add it, or give one "
                    "batch for all"
                )
            batch = batch[count]
        samples = whole("samples", self.samples, "it counts the data of an epoch") * growth
        batch = whole("batch", batch, "it counts the samples of one step, over all workers")
        batch *= growth
        if batch % count:
            raise Refusal(
                f"batch must be a multiple of the {count} workers, got {batch}: unequal shares "
                "would weigh the samples differently"
            )
        if batch > samples:
            raise Refusal(f"batch must be at most the {samples} samples, got {batch}: shrink it")
        peak = classifier.RATE * batch / classifier.BATCH if self.peak is None else self.peak
        return samples, batch, real("peak", peak, "it is a learning rate", 0, above=True)


def settings(plan: Settings, count: int) -> tuple[_Told, _Told]:
    """Return what all runs of a plan share, and what changes with the workers."""
    samples, batch, peak = plan.at(count)
    everything: _Told = {**asdict(plan), "samples": samples, "batch": batch, "peak": peak}
    changing = ["samples"] * plan.weak
    if plan.weak or isinstance(plan.batch, dict):
        changing += ["batch"] + ["peak"] * (plan.peak is None)
    varied = {name: everything[name] for name in changing}
    shared = {k: v for k, v in everything.items() if k not in ("name", "price", *varied)}
    if torchrun.inside() and (each := torchrun.sizes())[0] < each[1]:
        varied["nodes"] = -(-count // each[0])
    return shared, varied
