"""Kernels under a roof: counted beside timed."""

import dataclasses

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from scalelab import placement
from scalelab.measure.probe import layer
from scalelab.measure.timing import timing
from scalelab.models.kernels import kernels
from scalelab.records import Machine, Sample


def timed(seconds):
    def measure(function, *, label, budget):
        function()
        return Sample(label, (seconds,) * 9, 1, Machine("here", 2), "2026-01-01", "done", ())

    return measure


def case(kernel):
    return placement.Case(kernel.name, kernel, int, kernel.bytes)


def test_a_kernel_on_the_slope_is_told_its_share_of_the_slope():
    kernel = kernels.axpy(1000, width=4)  # 2,000 FLOPs, 12,000 bytes
    found = placement.place(case(kernel), 1e12, 1e9, measure=timed(24e-6))
    assert found.kind == "memory"
    assert found.least == pytest.approx(12e-6)
    assert found.share == pytest.approx(0.5)
    assert found.achieved == pytest.approx(2000 / 24e-6)
    assert found.alarm is None


def test_a_kernel_above_its_roof_raises_the_alarm():
    kernel = kernels.gemm(64, 64, 64, width=4)
    found = placement.place(case(kernel), 1e9, 1e9, measure=timed(1e-6))
    assert found.share > 1
    assert "nothing runs above its roof" in found.alarm


@pytest.fixture(autouse=True)
def on_one_core():
    """On many cores the threads of a large machine would wait for one another."""
    with timing.threads(1):
        yield


def test_each_of_the_dozen_runs_and_counts_what_torch_counts():
    dozen = placement.dozen()
    assert len(dozen) == len({one.name for one in dozen}) == 12
    for one in dozen:
        name, kernel, function = one.name, one.kernel, one.run
        with FlopCounterMode(display=False) as counter:
            assert torch.isfinite(function()).all(), name
        if name.startswith(("product", "matrix", "attention")):
            assert counter.get_total_flops() in (0, kernel.flops), name
    assert all(one.kernel.flops == 0 for one in dozen if one.name == "copy")


def test_a_kernel_can_run_again_and_again():
    dozen = {one.name: one.run for one in placement.dozen()}
    for _ in range(200):
        found = dozen["axpy"]()
    assert torch.isfinite(found).all()


@pytest.mark.parametrize(
    ("sequences", "context", "reads"), [(1, 24, False), (3, 24, False), (2, 12, True)]
)
def test_a_layer_is_counted_as_torch_counts_it(sequences, context, reads):
    """Torch counts all pairs of a prompt, where half of them are masked."""
    shape = layer.LayerShape(64, 96, 8, 2, 8)
    one = layer.DecoderLayer(shape, "cpu", torch.float32)
    x = torch.randn(sequences, context if reads else 1, 64)
    cache = torch.randn(2, sequences, 2, context, 8)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        one.read(x) if reads else one.write(x, *cache)
    given = {"what": "layer, reading" if reads else "layer, writing", **dataclasses.asdict(shape)}
    given |= {"sequences": sequences, "context": context}
    kernel = placement.counted(sample(given))
    hidden_pairs = 4 * 64 * sequences * context * (context - 1) / 2 if reads else 0
    assert counter.get_total_flops() - hidden_pairs == kernel.flops
    weights = sum(w.numel() for w in (one.query_key_value, one.output, one.gate_up, one.down))
    assert kernel.bytes == 2 * (weights + 2 * x.numel() + cache.numel())


def test_what_comes_out_of_eight_bits_has_sixteen():
    given = {"what": "product", "tokens": 16, "inner": 96, "hidden": 64}
    narrow, wide = (placement.counted(sample({**given, "format": f})) for f in ("fp8", "bf16"))
    assert narrow.flops == wide.flops == 2 * 16 * 96 * 64
    assert narrow.bytes == 16 * 64 + 64 * 96 + 2 * 16 * 96
    assert wide.bytes == 2 * (16 * 64 + 64 * 96 + 16 * 96)


def sample(given):
    return Sample("one", (1e-3,), 1, Machine("here", 2), "2026-01-01", given=given)
