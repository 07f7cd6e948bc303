"""An honest timer: warm up, repeat until the median is known well enough, keep everything.

The clock and the device are arguments, so that what the timer does can be checked without waiting.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Mapping

from scalelab.arguments import whole
from scalelab.measure.timing import devices, rounds, stats
from scalelab.records import Sample
from scalelab.units import text


def measure(
    function: Callable[[], object],
    *,
    label: str = "",
    budget: float = 1.0,
    precision: float = 0.02,
    clock: devices.Clock = time.perf_counter,
    given: Mapping[str, float | str | bool] | None = None,
    device: str | devices.Stopwatch = "cpu",
) -> Sample:
    """Time `function()` until its median is known within `precision`, or `budget` seconds are over.

    Warm-up comes on top of the budget: a fifth of it, or a few calls. On "cuda" the times are the
    device's own; `cuda.measure` adds the host's. Without a label it has the function's name. Section 3.1.

    >>> measure(lambda: sum(range(1000)), label="sum", budget=0.05).label
    'sum'
    """
    budget, precision = rounds.checked(function, budget, precision)
    device = devices.pick(device, clock)
    reading = rounds.reader(function, device)
    inner = rounds.settle(reading, device.shortest, budget)

    def known(seconds: list[float]) -> str:
        off = stats.margin(seconds)
        return (
            f"precise: the median is known within {text(off, '%', 2)}" if off <= precision else ""
        )

    seconds, stopped = rounds.repeat(lambda: reading(inner), known, budget, clock)
    return rounds.sample(label or rounds.named(function), seconds, inner, stopped, precision, given)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Run the block with this many PyTorch threads, then restore what was set. Section 3.1."""
    count = whole("count", count, "it is how many threads to use")
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def seeds(seed: int) -> Iterator[None]:
    """Run the block with Python's, NumPy's and PyTorch's random numbers from this seed on.

    Then restore their states, as if the block had drawn none. Section 3.1.
    """
    seed = whole("seed", seed, "it starts the random numbers", 0, 2**32 - 1)
    import numpy as np
    import torch

    python, numpy = random.getstate(), np.random.get_state()
    # Asking a GPU for its state would start it: only one that runs already has a state to keep.
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(gpus):
        for start in (random.seed, np.random.seed, torch.manual_seed):
            start(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
