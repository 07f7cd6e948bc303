"""What one GPU makes of the kernels of language models: by its own clock, the caller's, and without launches.

The same kernels as in Section 3.7, at the sizes of large models, so that two GPUs can be set side by
side. Random numbers, except where zeros are the point.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import asdict, replace

from scalelab.measure.energy import energy
from scalelab.measure.probe import layer, workbench
from scalelab.measure.timing import cuda, devices, timing
from scalelab.records import Recording, Sample

_TITLE = "Kernels of language models on one GPU"
_ROWS, _CONTEXT = 16384, 2048
_COPIED = 2**28  # numbers of 2 bytes: 0.5 GB in, and as much out
_SIDE = 8192
_FIGURES = 5  # what is written with more is noise
_NOTE = (
    "Random numbers, where no zeros are named. What is read is larger than the L2 cache, except by the start "
    "of an operation, by attention that writes for one sequence and by attention that reads 512 or 2,048 "
    "tokens. `joules` are of one call among many in a row, by the GPU's own counter, nothing subtracted for "
    "being idle."
)

Report = Callable[[str], object]


def take(
    *,
    budget: float = 0.5,
    device: devices.Stopwatch | str = "cuda",
    place: str = "cuda",
    shapes: dict[str, layer.LayerShape] | None = None,
    report: Report = lambda name: None,
) -> Recording:
    """Time every kernel on the current GPU for about `budget` seconds each. Section 3.7.

    What a kernel's name stands for is in `given`, and `clock` says which of the clocks a Sample is of.
    What a device cannot do, as fp8 on an A100, is left out, and named in the note.
    """
    import torch

    watch = devices.pick(device)
    bench = workbench.CudaBench(watch, place, 2**62, {}, "HBM")
    samples: list[Sample] = []
    missing: list[str] = []
    with timing.seeds(0), torch.inference_mode():
        # What draws most comes first: the chip is warm from then on.
        for make in (_squares, _streams, _products, _attention, _layers):
            for name, given, run in make(torch, bench, shapes or layer.SHAPES):
                report(name)
                try:
                    samples += _timed(name, given, run, budget, watch)
                except RuntimeError:  # no such kernel for this device, or too little memory
                    missing.append(name)
            gc.collect()
    left_out = f" Not here: {', '.join(missing)}." if missing else ""
    return Recording(_TITLE, tuple(samples), _NOTE + left_out)


def _timed(name, given, run, budget, watch):
    """Yield the samples of one kernel, a clock each."""
    clocks = cuda.measure(run, label=name, budget=budget, precision=0.005, device=watch)
    if given["what"] == "square":
        given |= _joules(run, max(1, round(8 * budget / clocks.host.median)), watch)
    for clock in ("device", "host", "graph"):
        if sample := getattr(clocks, clock):
            seconds = tuple(float(f"{one:.{_FIGURES}g}") for one in sample.seconds)
            yield replace(sample, label=name, seconds=seconds, given={**given, "clock": clock})


def _joules(run, calls, watch):
    """Return the joules of one call, where the GPU tells, from many in a row."""
    with energy.meter() as spent:
        for _ in range(calls):
            run()
        watch.synchronize()
    told = [part.joules for name, part in spent.parts.items() if name.startswith("GPU")]
    return {"joules": told[0] / calls} if told and told[0] else {}


# Each of these yields kernels: what to call one, what it was given, and what runs it.


def _streams(torch, bench, shapes):
    """Yield what does little for each byte, and what does nothing at all."""
    from torch.nn import functional

    one, other = (torch.ones(10, device=bench.place) for _ in range(2))
    yield "add ten numbers", {"what": "start"}, lambda: one.add_(other)
    x, y = (torch.randn(_COPIED, device=bench.place, dtype=torch.bfloat16) for _ in range(2))
    yield "copy", {"what": "copy", "numbers": _COPIED}, lambda: y.copy_(x)
    size = {"rows": _ROWS, "columns": _SIDE}
    x = torch.randn(_ROWS, _SIDE, device=bench.place, dtype=torch.bfloat16)
    gain, bias = (torch.randn(_SIDE, device=bench.place, dtype=torch.bfloat16) for _ in range(2))
    norm = {"what": "layer norm", **size}
    yield "layer norm", norm, lambda: functional.layer_norm(x, (_SIDE,), gain, bias)
    yield "softmax", {"what": "softmax", **size}, lambda: functional.softmax(x, -1)


def _squares(torch, bench, shapes):
    """Yield products of two square matrices, by format, and once of zeros."""
    for name in ("fp32", "tf32", "bf16", "fp8"):
        given = {"what": "square", "format": name, "size": _SIDE, "zeros": False}
        with bench.product(name, _SIDE) as run:
            yield f"square product, {name}", given, run
    left, right, out = (
        torch.zeros(_SIDE, _SIDE, device=bench.place, dtype=torch.bfloat16) for _ in range(3)
    )
    given = {"what": "square", "format": "bf16", "size": _SIDE, "zeros": True}
    yield "square product, bf16, of zeros", given, lambda: torch.mm(left, right, out=out)


def _products(torch, bench, shapes):
    """Yield products of some tokens with a weight matrix, by format."""
    shape = shapes["70B"]
    for name, kind, fewest in (("bf16", torch.bfloat16, 1), ("fp8", torch.float8_e4m3fn, 16)):
        # As the kernels want it, each output's weights lie side by side.
        weights = torch.randn(shape.inner, shape.hidden, device=bench.place).to(kind).t()
        one = torch.ones((), device=bench.place)
        for tokens in (1, 4, 16, 64, 256, 1024, 4096):
            if tokens < fewest:
                continue
            x = torch.randn(tokens, shape.hidden, device=bench.place).to(kind)
            given = {"what": "product", "format": name, "tokens": tokens}
            given |= {"hidden": shape.hidden, "inner": shape.inner}
            run = _product(torch, name, x, weights, one)
            yield f"product of {tokens}, {name}", given, run


def _product(torch, name, x, weights, one):
    if name == "bf16":
        out = torch.empty(len(x), weights.shape[1], device=x.device, dtype=x.dtype)
        return lambda: torch.mm(x, weights, out=out)
    return lambda: torch._scaled_mm(
        x, weights, one, one, out_dtype=torch.bfloat16, use_fast_accum=True
    )


def _attention(torch, bench, shapes):
    """Yield attention that reads a prompt, and attention that writes a token."""
    from torch.nn import functional

    shape = shapes["70B"]
    heads, groups, size = shape.heads, shape.kv_heads, shape.head_size
    attend = functional.scaled_dot_product_attention

    def random(*sizes):
        return torch.randn(*sizes, device=bench.place, dtype=torch.bfloat16)

    given = {"heads": heads, "kv_heads": groups, "head_size": size}
    for context in (512, 2048, 8192):
        query, key, value = (random(1, n, context, size) for n in (heads, groups, groups))
        yield (
            f"attention reads {context}",
            {"what": "attention, reading", "context": context, "sequences": 1, **given},
            lambda q=query, k=key, v=value: attend(q, k, v, is_causal=True, enable_gqa=True),
        )
    for sequences in (1, 16, 64):
        query = random(sequences, groups, heads // groups, size)
        key, value = (random(sequences, groups, _CONTEXT, size) for _ in range(2))
        yield (
            f"attention of {sequences} writes",
            {"what": "attention, writing", "context": _CONTEXT, "sequences": sequences, **given},
            lambda q=query, k=key, v=value: attend(q, k, v),
        )


def _layers(torch, bench, shapes):
    """Yield whole layers: a prompt read, and a token written for one sequence and for sixteen."""
    for name, shape in shapes.items():
        whole = layer.DecoderLayer(shape, bench.place, torch.bfloat16)
        for sequences in (1, 16):
            shown = (sequences, 1, shape.hidden)
            x = torch.randn(*shown, device=bench.place, dtype=torch.bfloat16)
            cache = torch.randn(
                2,
                sequences,
                shape.kv_heads,
                _CONTEXT,
                shape.head_size,
                device=bench.place,
                dtype=torch.bfloat16,
            )
            given = {"what": "layer, writing", "shape": name, **asdict(shape)}
            given |= {"context": _CONTEXT, "sequences": sequences}
            yield (
                f"layer of {name} writes for {sequences}",
                given,
                lambda x=x, cache=cache, whole=whole: whole.write(x, *cache),
            )
        x = torch.randn(1, _CONTEXT, shape.hidden, device=bench.place, dtype=torch.bfloat16)
        given = {"what": "layer, reading", "shape": name, **asdict(shape)}
        given |= {"context": _CONTEXT, "sequences": 1}
        yield f"layer of {name} reads", given, lambda x=x, whole=whole: whole.read(x)
