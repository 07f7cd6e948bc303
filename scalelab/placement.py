"""Kernels under a roof: what was counted beside what was timed (Section 3.7)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scalelab.measure.timing import timing
from scalelab.models.kernels import alarms, attention, kernels, roofline
from scalelab.models.kernels.kernels import Kernel
from scalelab.records import Sample

_FP32 = 4  # bytes


@dataclass(frozen=True)
class Placed:
    """A kernel, its time, and the roof above it."""

    name: str
    kernel: Kernel
    sample: Sample
    kind: str  # what it waits for: "compute", "memory" or "launch"
    least: float  # seconds that its roof allows
    alarm: str | None  # why it cannot be as fast as measured

    @property
    def intensity(self) -> float:
        """FLOPs per byte that it must move."""
        return float(self.kernel.intensity)

    @property
    def achieved(self) -> float:
        """FLOP/s."""
        return float(self.kernel.flops / self.sample.median)

    @property
    def share(self) -> float:
        """How much of what its roof allows it reached; above 1 the alarm says why."""
        return self.least / self.sample.median


def place(
    name: str,
    kernel: Kernel,
    function: Callable[[], object],
    peak: float,
    bandwidth: float,
    launch: float = 0.0,
    *,
    budget: float = 0.25,
    measure: Callable[..., Sample] | None = None,
) -> Placed:
    """Time a kernel and place it under one roof. Section 3.7."""
    sample = (measure or timing.measure)(function, label=name, budget=budget)
    alarm = None
    if kernel.flops:
        achieved = float(kernel.flops / sample.median)
        intensity = float(kernel.intensity)
        alarm = alarms.over_the_roof(achieved, intensity, peak, bandwidth, tolerance=0.1)
    return Placed(
        name=name,
        kernel=kernel,
        sample=sample,
        kind=roofline.classify(kernel.flops, kernel.bytes, peak, bandwidth, launch),
        least=roofline.bounds(kernel.flops, kernel.bytes, peak, bandwidth, launch)[0],
        alarm=alarm,
    )


def dozen(device: str = "cpu") -> list[tuple[str, Kernel, Callable[[], object]]]:
    """Return a dozen kernels of deep learning in float32: (name, what it counts, how to run it).

    From no arithmetic at all to a square product, on random data that no cache of a laptop holds,
    but for the last few. Section 3.7.
    """
    import torch
    from torch.nn import functional

    def random(*shape):
        return torch.randn(*shape, device=device)

    n, side = 16_000_000, 1024
    x, y, grid = random(n), random(n), random(4000, 4000)
    tall, vector, square = random(4096, 4096), random(4096), random(side, side)
    token, cache = random(1, 8, 1, 64), random(2, 1, 8, 1024, 64)
    prompt = random(3, 1, 8, 512, 64)
    fused = functional.scaled_dot_product_attention
    products = [
        (
            f"product {width} wide",
            kernels.gemm(width, side, side, _FP32),
            partial(torch.mm, random(width, side), square),
        )
        for width in (4, 32, 256, 1024)
    ]
    return [
        ("copy", kernels.copy(n, _FP32), partial(y.copy_, x)),
        ("axpy", kernels.axpy(n, _FP32), partial(y.add_, x, alpha=0.5)),
        ("dot", kernels.dot(n, _FP32), partial(torch.dot, x, x)),
        ("softmax", kernels.softmax(4000, 4000, _FP32), partial(functional.softmax, grid, 1)),
        (
            "layer norm",
            kernels.layer_norm(4000, 4000, _FP32),
            partial(functional.layer_norm, grid, (4000,)),
        ),
        ("matrix · vector", kernels.gemv(4096, 4096, _FP32), partial(torch.mv, tall, vector)),
        *products,
        (
            "attention, one token",
            attention.decode(1024, 64, _FP32, heads=8),
            partial(fused, token, *cache),
        ),
        (
            "attention, prompt",
            attention.fused(512, 512, 64, _FP32, heads=8),
            partial(fused, *prompt),
        ),
    ]
