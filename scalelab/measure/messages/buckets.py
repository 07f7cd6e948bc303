"""Data-parallel steps whose gradients travel in buckets, while the backward pass still runs (Section 3.8)."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scalelab.arguments import whole
from scalelab.measure.ranks import emulate, jobs, workers
from scalelab.records import Sample
from scalelab.refusal import Refusal


class Steps(NamedTuple):
    """A step without an exchange, and with one in b buckets."""

    compute: Sample  # forward, backward and update, nothing sent
    backward: float  # seconds of its backward pass, the median
    bucket: dict[int, Sample]  # b: one bucket's all-reduce, nothing else going on
    step: dict[int, Sample]  # b: the whole step


def measure(
    buckets: Sequence[int],
    count: int = 2,
    *,
    layers: int = 16,
    width: int = 512,
    batch: int = 64,
    iterations: int = 9,
    emulated: bool = False,
    limit: float = 120.0,
) -> Steps:
    """Time one training step on `count` ranks for each number of buckets, all by turns.

    The model is `layers` square layers of `width`, so a gradient is 4 layers width^2 bytes. A bucket
    is sent as soon as its last gradient is there. Emulated, the passes are sleeps, which leave the
    cores to the exchange as a GPU would. Section 3.8.
    """
    layers = whole("layers", layers, "it counts the layers of the model")
    for b in buckets:
        whole("buckets", b, "each counts the buckets of a step", 1, layers)
        if layers % b:
            raise Refusal(f"buckets must divide the {layers} layers evenly, got {b}: choose others")
    for name, value in (("width", width), ("batch", batch), ("iterations", iterations)):
        whole(name, value, "it is a count")
    given: dict[str, Any] = {
        "layers": layers,
        "width": width,
        "batch": batch,
        "emulated": bool(emulated),
    }
    ranks = workers.launch(
        steps, count, limit=limit, buckets=list(buckets), iterations=iterations, **given
    )

    def sample(what: str, label: str) -> Sample:
        same = [{"seconds": rank["seconds"][what], **rank["sleep"]} for rank in ranks]
        return jobs.gathered(same, label, given)

    return Steps(
        sample("compute", "compute alone"),
        sample("backward", "backward pass").median,
        {b: sample(f"bucket {b}", f"one of {b} buckets") for b in buckets},
        {b: sample(f"step {b}", f"a step in {b} buckets") for b in buckets},
    )


def steps(
    buckets: Sequence[int],
    layers: int,
    width: int,
    batch: int,
    iterations: int,
    emulated: bool,
    clock: Callable[[], float] = time.perf_counter,
) -> jobs.Told:
    """Time on this rank what `measure` launches."""
    import torch
    from torch import distributed

    torch.manual_seed(0)
    work = _Work(layers, width, batch)
    passes, sleep = (work.forward, work.backward), dict[str, float]()
    if emulated:
        lasting = [emulate.calibrated(half) for half in passes]
        sleep = {"sleep": sum(lasting)}
        passes = work.asleep(*lasting)
    seconds: dict[str, list[float]] = {}

    def timed(what, run):
        distributed.barrier()
        start = clock()
        inner = run()
        seconds.setdefault(what, []).append(clock() - start)
        return inner

    def step(b=None):
        passes[0]()
        start = clock()
        work.begin(b)
        passes[1]()
        lasted = clock() - start
        work.finish()
        return lasted

    for turn in range(2 + iterations):
        if turn == 2:
            seconds.clear()
        seconds.setdefault("backward", []).append(timed("compute", step))
        for b in buckets:
            part = work.flat[: len(work.flat) // b]
            timed(f"bucket {b}", lambda part=part: distributed.all_reduce(part))
            timed(f"step {b}", lambda b=b: step(b))
    return {"seconds": seconds, "sleep": sleep}


class _Work:
    """A chain of square layers whose gradients lie side by side, those of the last layer first."""

    def __init__(self, layers, width, batch):
        import torch
        from torch import nn

        self.layers = [nn.Linear(width, width, bias=False) for _ in range(layers)]
        self.model = nn.Sequential(*self.layers)
        self.flat = torch.zeros(layers * width * width)
        self.parts = self.flat.split(width * width)
        self.input = torch.randn(batch, width)
        self.loss: torch.Tensor | None = None
        self.each, self.waiting = 0, []
        for place, (layer, part) in enumerate(
            zip(reversed(self.layers), self.parts, strict=True), 1
        ):
            layer.weight.grad = part.view(width, width)
            layer.weight.register_post_accumulate_grad_hook(lambda _, n=place: self.ready(n))

    def begin(self, buckets):
        self.each = len(self.layers) // buckets if buckets else 0

    def ready(self, place):
        """Send a bucket when the gradient at this place, counted from 1, is its last."""
        from torch import distributed

        if self.each and place % self.each == 0:
            size = len(self.flat) // len(self.layers)
            part = self.flat[(place - self.each) * size : place * size]
            self.waiting.append(distributed.all_reduce(part, async_op=True))

    def finish(self):
        import torch
        from torch import distributed

        for one in self.waiting:
            one.wait()
        self.waiting.clear()
        self.each = 0
        with torch.no_grad():
            for layer, part in zip(reversed(self.layers), self.parts, strict=True):
                step = 1e-6 / distributed.get_world_size() * part
                layer.weight -= step.view_as(layer.weight)
        self.flat.zero_()

    def forward(self):
        self.loss = self.model(self.input).square().mean()
        return self.loss

    def backward(self):
        loss = self.forward() if self.loss is None else self.loss
        loss.backward(retain_graph=True)

    def asleep(self, forward, backward):
        """Return both passes as sleeps; the gradients still get ready one after another."""
        pause = emulate.sleeper()

        def backwards():
            for place in range(1, len(self.layers) + 1):
                pause(backward / len(self.layers))
                self.ready(place)

        return lambda: pause(forward), backwards
