"""What the probe runs: matrix products, sweeps over memory and a launch of nothing, all by PyTorch.

Random numbers everywhere: zeros switch fewer transistors, and a chip at its power limit then
clocks higher. What the probe makes of them is in `probe`; torch is imported inside functions.
"""

import contextlib
import math
from collections.abc import Callable, Iterator

from scalelab.measure.host.machine import this_machine, usable_memory
from scalelab.measure.probe import levels
from scalelab.measure.timing import devices

ARRAYS = {"copy": 2, "triad": 3}
# As in the catalogue of hardware; tf32 and fp8 are ways of a GPU.
_FORMATS = {
    "fp64": "float64",
    "fp32": "float32",
    "tf32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp8": "float8_e4m3fn",
    "int8": "int8",
}
_FLOAT = 4  # bytes of the numbers that are swept
_LINE = 16  # of them are one cache line
# Elements that one thread sweeps in one call, so that starting the call is a small part of it ...
_PER_CALL = 2**22
# ... by that many rows for each way to shift one, which takes so many elements in all.
_WAYS = 8
_SHIFT = (_WAYS - 1) * _LINE


class Workbench:
    """The work for one place; `stated` are its caches, `last` is what lies beyond them."""

    name: str
    formats: tuple[str, ...]
    products: tuple[int, ...]  # sizes worth trying
    by_columns: tuple[str, ...] = ()  # formats whose fast kernels want the right matrix so

    def __init__(
        self,
        device: devices.Stopwatch,
        place: str,
        memory: int,
        stated: dict[str, int],
        last: str,
        threads: int = 1,
    ) -> None:
        self.device, self.place, self.threads = device, place, threads
        self.memory, self.stated, self.last = memory, stated, last

    def sizes(self) -> list[int]:
        """Return the working sets worth sweeping, smallest first: each place has its own."""
        raise NotImplementedError

    @contextlib.contextmanager
    def product(self, name: str, size: int) -> Iterator[Callable[[], object]]:
        """Give a call of one product of random matrices; float32 is exact unless it is tf32."""
        import torch

        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
        try:
            yield self._product(torch, name, size)
        finally:
            torch.set_float32_matmul_precision(before)

    def _product(self, torch, name, size):
        kind = getattr(torch, _FORMATS[name])
        left, right = (self._matrix(torch, kind, size) for _ in range(2))
        if name in self.by_columns:
            right = right.t()
        if name == "int8":
            out = torch.empty(size, size, dtype=torch.int32, device=self.place)
            return lambda: torch._int_mm(left, right, out=out)
        if name == "fp8":
            one = torch.ones((), device=self.place)
            return lambda: torch._scaled_mm(
                left, right, one, one, out_dtype=torch.bfloat16, use_fast_accum=True
            )
        out = torch.empty_like(left)
        return lambda: torch.mm(left, right, out=out)

    def _matrix(self, torch, kind, size):
        if not kind.is_floating_point:
            return torch.randint(-128, 128, (size, size), dtype=kind, device=self.place)
        return torch.randn(size, size, device=self.place).to(kind)

    def sweep(self, kind: str, size: int) -> tuple[Callable[[], object], int]:
        """Return a call that sweeps a working set of about `size` bytes, and the bytes it moves.

        Counted as STREAM counts: what the kernel names, not what a cache fetches before it writes.
        Source: McCalpin 1995, https://www.cs.virginia.edu/~mccalpin/papers/bandwidth/node3.html.
        """
        import torch

        views = self._arrays(torch, ARRAYS[kind], size // ARRAYS[kind] // _FLOAT)
        moved = views[0].numel() * len(views) * _FLOAT
        if kind == "copy":
            target, source = views
            return (lambda: target.copy_(source)), moved
        target, left, right = views
        return (lambda: torch.add(left, right, alpha=3.0, out=target)), moved

    def nothing(self) -> Callable[[], object]:
        """Return a call with as little work as there is: an addition of one number."""
        import torch

        one, other = (torch.ones(1, device=self.place) for _ in range(2))
        return lambda: one.add_(other)

    def _arrays(self, torch, count, elements):
        raise NotImplementedError


class ProcessorBench(Workbench):
    """The processor, on as many threads as PyTorch uses now."""

    name = "cpu"
    formats = ("fp64", "fp32", "bf16", "fp16", "int8")
    products = (256, 512, 768, 1024, 1536, 2048, 3072, 4096)

    def sizes(self) -> list[int]:
        """Return powers of two from half the smallest cache to well beyond the last."""
        caches = list(self.stated.values()) or [2**15 * self.threads, 2**25]
        return _powers(caches[0] / 2, 3 * levels.STREAM * caches[-1], self.memory)

    def _arrays(self, torch, count, elements):
        """Return arrays of which every thread sweeps its own part many times in one call.

        A call costs a microsecond, in which 48 KiB could have been swept several times over. So
        the rows of a view overlap: each begins one cache line after another, in so many ways that
        a few lines more are as many sweeps as one likes.
        """
        part = max(elements // self.threads // _LINE, 1) * _LINE
        ways = max(0, math.ceil(math.log(_PER_CALL / part, _WAYS)))
        while 2 * ways * _SHIFT > part:
            ways -= 1
        shape = (self.threads, *[_WAYS] * ways, part - ways * _SHIFT)
        strides = (part, *[_LINE] * ways, 1)
        pattern, arrays = torch.randn(_LINE), []
        for _ in range(count):
            held = torch.empty(self.threads * part // _LINE, _LINE)
            # Each thread writes its own part first, so that the memory is near its core.
            held.copy_(pattern)
            arrays.append(held.view(-1).as_strided(shape, strides))
        return arrays


class CudaBench(Workbench):
    """The current CUDA device."""

    name = "cuda"
    formats = tuple(_FORMATS)
    products = (2048, 3072, 4096, 6144, 8192, 12288, 16384)
    by_columns = ("fp8", "int8")

    def sizes(self) -> list[int]:
        """Return powers of two from a sixteenth of the L2 cache to well beyond it."""
        cache = max(self.stated.values(), default=2**25)
        return _powers(cache / 16, 3 * levels.STREAM * cache, self.memory)

    def _arrays(self, torch, count, elements):
        return [torch.randn(elements, device=self.place) for _ in range(count)]


def pick(device: str | devices.Stopwatch) -> Workbench:
    """Return the Workbench for "cpu", "cuda" or "auto"."""
    import torch

    device = devices.pick(device)
    if not hasattr(device, "captured"):
        threads = torch.get_num_threads()
        stated = levels.capacities(this_machine(), threads)
        memory = (usable_memory() or 2**31) // 8
        return ProcessorBench(device, "cpu", memory, stated, "DRAM", threads)
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    # Only stacked memory has so wide a bus.
    last = "HBM" if getattr(properties, "memory_bus_width", 0) >= 1024 else "DRAM"
    free, _ = torch.cuda.mem_get_info()
    return CudaBench(device, "cuda", free // 4, {"L2": properties.L2_cache_size}, last)


def _powers(low: float, high: float, most: int) -> list[int]:
    """Return the powers of two from the one up to `low` to the one from `high` on, within `most`."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    return [2**n for n in range(first, last + 1) if 2**n <= most]
