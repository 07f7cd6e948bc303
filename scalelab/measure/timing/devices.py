"""Where work runs, and which clock sees it: this processor, or a GPU that has a clock of its own.

All that timing needs of torch.cuda is behind `Asynchronous`, so that a fake can take its place in a test.
"""

import contextlib
import time
import warnings
from collections.abc import Callable
from typing import Protocol

from scalelab.arguments import shown
from scalelab.refusal import Refusal

Clock = Callable[[], float]  # seconds since some moment in the past


class Stopwatch(Protocol):
    """Whatever can say how long work took."""

    shortest: float  # seconds that a reading must take at least; 0 where it must be one call

    def elapsed(self, run: Callable[[], object]) -> float:
        """Return the seconds from the start of run() to the end of the work it started."""


class Asynchronous(Stopwatch, Protocol):
    """A device that works on while the caller goes on."""

    def synchronize(self) -> None:
        """Wait until all work is done, on every stream."""

    def prepare(self) -> None:
        """Put other data in the place of what its L2 cache holds, if readings should be cold."""

    def captured(self, run: Callable[[], object]) -> Callable[[], None]:
        """Return a call that repeats the device's work of run() with a single launch."""


class Processor:
    """The processor that calls, by its clock."""

    # Far above what the clock can resolve (0.1 µs at worst) and what reading it takes.
    shortest = 1e-4

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock

    def elapsed(self, run: Callable[[], object]) -> float:
        """Work is done when the call returns."""
        start = self._clock()
        run()
        return self._clock() - start


class Cuda:
    """The current CUDA device and stream, by the device's own clock: two events around the work.

    Cold, the cache is flushed before every reading. That is the case of a kernel whose data another
    kernel has driven out; hot, it finds what its last call left. A cold reading is waited for, and the
    chip rests meanwhile: for a product of 4,096 on an H100, Triton's do_bench, which leaves no pause,
    found 8% more.
    """

    # Larger than any L2 so far, and 50 µs or more to write, in which the host can queue what follows.
    _FLUSH = 256 * 2**20

    def __init__(self, *, cold: bool = False) -> None:
        import torch

        if not torch.cuda.is_available():
            raise Refusal(
                'device must be one that PyTorch sees, got "cuda" and no CUDA device: '
                'ask for "cpu" or "auto", or install a CUDA build of PyTorch'
            )
        # Of a reading of several calls, all launches hide behind the work but the first: some µs.
        self.shortest = 0.0 if cold else 2e-3
        self._cuda = torch.cuda
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._other = None
        if cold:
            cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
            self._other = torch.empty(max(self._FLUSH, 2 * cache), dtype=torch.int8, device="cuda")

    def elapsed(self, run: Callable[[], object]) -> float:
        """The caller queues ahead of the device, so that its own time stays out."""
        self.prepare()
        self._start.record()
        run()
        self._end.record()
        self._end.synchronize()
        return self._start.elapsed_time(self._end) / 1e3

    def synchronize(self) -> None:
        """Wait for the whole device."""
        self._cuda.synchronize()

    def prepare(self) -> None:
        """Cold, overwrite a buffer larger than the cache."""
        if self._other is not None:
            self._other.zero_()

    def captured(self, run: Callable[[], object]) -> Callable[[], None]:
        """Capture a CUDA graph, after the run on a side stream that capturing asks for."""
        side = self._cuda.Stream()
        side.wait_stream(self._cuda.current_stream())
        try:
            with self._cuda.stream(side), _without_waiting(self._cuda):
                run()
        finally:
            self._cuda.current_stream().wait_stream(side)
        graph = self._cuda.CUDAGraph()
        with self._cuda.graph(graph):
            run()
        return graph.replay


@contextlib.contextmanager
def _without_waiting(cuda):
    """Let PyTorch raise RuntimeError where a call would wait for the device.

    Inside a capture it would raise as well, and leave PyTorch unable to draw random numbers there.
    """
    before = cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some calls go unnoticed
        cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        cuda.set_sync_debug_mode(before)


def pick(device: str | Stopwatch, clock: Clock = time.perf_counter) -> Stopwatch:
    """Return the Stopwatch meant by "cpu", "cuda" or "auto"; what already is one passes.

    >>> type(pick("cpu")).__name__
    'Processor'
    """
    if device == "auto":
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        return Processor(clock)
    if device == "cuda":
        return Cuda()
    if isinstance(device, str) or not hasattr(device, "elapsed"):
        raise Refusal(
            f'device must be "cpu", "cuda", "auto" or a Stopwatch, got {shown(device)}: '
            "say where the work runs"
        )
    return device
