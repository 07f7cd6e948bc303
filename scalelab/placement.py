"""Kernels under a roof: what was counted beside what was fetched and what was timed (Section 3.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from scalelab.measure.timing import timing
from scalelab.models.kernels import alarms, attention, kernels, roofline, transformer
from scalelab.models.kernels.kernels import Kernel
from scalelab.records import Sample

_FP32, _BF16 = 4, 2  # bytes
_WIDTH = {"fp32": 4, "tf32": 4, "bf16": 2, "fp8": 1}
_LONG = 16_000_000  # numbers, which no cache of a laptop holds
# What two measurements may differ by before it is an alarm, and before it is a finding.
_NOISE, _SLACK = 0.1, 0.25


@dataclass(frozen=True)
class Case:
    """A kernel to place: what it must do and move, how to run it, and what that run fetches.

    A core fetches a line before it overwrites it, which no count names, and fetches an operand that is
    named twice only once. What goes along several parts of memory abreast has more lines on their way.
    """

    name: str
    kernel: Kernel
    run: Callable[[], object]
    fetched: float  # bytes that come in from memory
    abreast: bool = False


@dataclass(frozen=True)
class Placed:
    """A kernel, its time, and the roof above it."""

    name: str
    kernel: Kernel
    sample: Sample
    kind: str  # what it waits for by the count: "compute", "memory" or "launch"
    least: float  # seconds that its roof allows
    apart: float  # seconds that its clocks would take one after the other
    alarm: str | None  # why it cannot be as fast as measured

    @property
    def intensity(self) -> float:
        """FLOPs per byte."""
        return float(self.kernel.intensity)

    @property
    def achieved(self) -> float:
        """FLOP/s."""
        return float(self.kernel.flops / self.sample.median)

    @property
    def share(self) -> float:
        """How much of what its roof allows it reached; above 1 the alarm says why."""
        return self.least / self.sample.median

    @property
    def finding(self) -> str:
        """What the time says of the count: "impossible", "its clocks", or "another cause"."""
        if self.alarm:
            return "impossible"
        return "its clocks" if self.sample.median <= (1 + _SLACK) * self.apart else "another cause"


def place(
    case: Case,
    peak: float,
    bandwidth: float,
    launch: float = 0.0,
    *,
    budget: float = 0.25,
    measure: Callable[..., Sample] | None = None,
) -> Placed:
    """Time a kernel and place it, by what it must move, under one roof. Section 3.7."""
    sample = (measure or timing.measure)(case.run, label=case.name, budget=budget)
    return judge(case.kernel, sample, peak, bandwidth, launch)


def refetched(case: Case, sample: Sample, peak: float, reads: float, launch: float = 0.0) -> Placed:
    """Place what was timed by the lines it fetches, under a roof of `reads`. Section 3.7."""
    return judge(replace(case.kernel, bytes=case.fetched), sample, peak, reads, launch)


def judge(
    kernel: Kernel,
    sample: Sample,
    peak: float,
    bandwidth: float,
    launch: float = 0.0,
    *,
    device: str = "cpu",
) -> Placed:
    """Hold a time against the clocks of a kernel: computing, moving and starting. Section 3.7."""
    counted = (kernel.flops, kernel.bytes, peak, bandwidth, launch)
    if kernel.flops:
        achieved = float(kernel.flops / sample.median)
        over = partial(alarms.over_the_roof, achieved, float(kernel.intensity), peak)
    else:
        over = partial(alarms.over_the_slope, float(kernel.bytes / sample.median))
    least, apart, _ = roofline.bounds(*counted)
    return Placed(
        name=sample.label,
        kernel=kernel,
        sample=sample,
        kind=roofline.classify(*counted),
        least=least,
        apart=apart,
        alarm=over(bandwidth, tolerance=_NOISE, device=device),
    )


def counted(sample: Sample) -> Kernel:
    """Return what a kernel that `probe.accelerator` timed must do and move, by what it was given.

    Of a layer move the weights once, the vectors that enter and leave, and the keys and values.
    Section 3.7.
    """
    given: dict[str, Any] = dict(sample.given)
    match given["what"]:
        case "start":
            return kernels.elementwise(10, _FP32)
        case "copy":
            return kernels.copy(given["numbers"], _BF16)
        case "layer norm":
            return kernels.layer_norm(given["rows"], given["columns"], _BF16)
        case "softmax":
            return kernels.softmax(given["rows"], given["columns"], _BF16)
        case "square":
            side = given["size"]
            return _product(side, side, side, given["format"])
        case "product":
            return _product(given["tokens"], given["inner"], given["hidden"], given["format"])
        case "attention, reading" | "attention, writing":
            return _attention(given)
    reads = given["what"] == "layer, reading"
    one = transformer.Transformer(
        1,
        given["hidden"],
        given["heads"],
        vocabulary=1,
        feedforward=given["inner"],
        kv_heads=given["kv_heads"],
        head_size=given["head_size"],
        gated=True,
    )
    weights, kept = transformer.matrix_parameters(one), given["sequences"] * given["context"]
    tokens = kept if reads else given["sequences"]
    moved = weights + 2 * tokens * given["hidden"]
    moved += 2 * kept * given["kv_heads"] * given["head_size"]
    flops = 2 * weights * tokens + _attention(given).flops
    return Kernel(given["what"], float(flops), float(_BF16 * moved))


def _attention(given):
    """Count attention of one of the two kinds, alone or in a layer."""
    shape = {name: given[name] for name in ("heads", "kv_heads", "sequences")}
    long, size = given["context"], given["head_size"]
    if given["what"].endswith("writing"):
        return attention.decode(long, size, _BF16, **shape)
    return attention.fused(long, long, size, _BF16, causal=True, **shape)


def _product(m, n, k, name):
    """Count a product in one of the formats; what comes out of fp8 has 16 bits."""
    counted = kernels.gemm(m, n, k, _WIDTH[name])
    more = (max(_BF16, _WIDTH[name]) - _WIDTH[name]) * m * n
    return replace(counted, bytes=counted.bytes + more)


def sweeps() -> list[Case]:
    """Return ways through memory: one vector or two read, updated, copied, parts abreast. Section 3.7."""
    import torch

    x, y, total = torch.randn(_LONG), torch.randn(_LONG), torch.empty(())
    once = _LONG * _FP32
    # A matrix of four rows times a vector goes along all of them together.
    along = partial(torch.mv, x.view(4, -1), torch.randn(_LONG // 4))

    def case(name, flops, named, run, fetched):
        kernel = Kernel(name, float(flops), float(named))
        return Case(name, kernel, run, float(fetched), abreast=run is along)

    return [
        case("read", _LONG, once, partial(torch.sum, x, 0, out=total), once),
        # From two vectors at once more lines are on their way than from one.
        case("read, two at once", 2 * _LONG, 2 * once, partial(torch.dot, x, y), 2 * once),
        case("update in place", _LONG, 2 * once, partial(y.mul_, -1.0), once),
        case("copy", 0, 2 * once, partial(y.copy_, x), 2 * once),
        case("read, four abreast", 2 * _LONG, 1.25 * once, along, 1.25 * once),
    ]


def dozen() -> list[Case]:
    """Return a dozen kernels of deep learning in float32, as people call them.

    From no arithmetic at all to a square product, on random data. What waits for memory is larger
    than the caches of a laptop; what computes may live in one. Section 3.7.
    """
    import torch
    from torch.nn import functional

    def case(name: str, kernel: Kernel, run: Callable[[], object], fetched: float = 0.0) -> Case:
        return Case(name, kernel, run, fetched or float(kernel.bytes))

    def product(width: int) -> Case:
        run = partial(torch.mm, torch.randn(width, side), tall)
        return case(f"product {width} wide", kernels.gemm(width, side, side, _FP32), run)

    n, side, long = _LONG, 4096, 16_384
    once = float(n * _FP32)
    x, y, grid = torch.randn(n), torch.randn(n), torch.randn(4000, 4000)
    tall, vector, square = torch.randn(side, side), torch.randn(side), torch.randn(1024, 1024)
    token, cache = torch.randn(1, 8, 1, 64), torch.randn(2, 1, 8, long, 64)
    prompt = torch.randn(3, 1, 8, 512, 64)
    gain, bias = torch.randn(2, 4000)
    norm = partial(functional.layer_norm, grid, (4000,), gain, bias)
    along = partial(torch.mv, tall, vector)
    multiply = partial(torch.mm, square, square.clone())
    attend = functional.scaled_dot_product_attention
    write, read = partial(attend, token, *cache), partial(attend, *prompt)
    return [
        case("copy", kernels.copy(n, _FP32), partial(y.copy_, x), 2 * once),
        case("axpy", kernels.axpy(n, _FP32), partial(y.add_, x, alpha=0.5), 2 * once),
        # The same vector twice: it comes in once.
        case("dot", kernels.dot(n, _FP32), partial(torch.dot, x, x), once),
        case("softmax", kernels.softmax(4000, 4000, _FP32), partial(functional.softmax, grid, 1)),
        case("layer norm", kernels.layer_norm(4000, 4000, _FP32), norm),
        replace(case("matrix · vector", kernels.gemv(side, side, _FP32), along), abreast=True),
        *map(product, (4, 32, 256)),
        case("square product", kernels.gemm(1024, 1024, 1024, _FP32), multiply),
        case("attention, one token", attention.decode(long, 64, _FP32, heads=8), write),
        case("attention, prompt", attention.fused(512, 512, 64, _FP32, heads=8), read),
    ]
