"""Sleep in place of compute: a laptop shows real barriers with more workers than it has cores.

Sleeping workers need no core, so K of them compute at once on any machine; what they send each other
is real, and still takes its turns on the cores. How long to sleep is measured on one worker that has
the machine to itself.
"""

import statistics
import time
from collections.abc import Callable

from scalelab.arguments import real

# What a stamp says of such a run; the sleep itself is in `given`.
NOTE = "emulated: compute is a sleep as long as it takes one worker alone"
_TRIES = 15


def calibrated(
    compute: Callable[[], object],
    *,
    tries: int = _TRIES,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the median seconds of `compute()` on rank 0 while the other ranks wait; on every rank.

    Inside a job of `workers.launch`. Section 3.3.
    """
    import torch
    from torch import distributed

    compute()
    distributed.barrier()  # the others are done with theirs
    seconds = torch.zeros(1, dtype=torch.float64)
    if distributed.get_rank() == 0:
        seconds[0] = statistics.median(_lasting(compute, clock) for _ in range(tries))
    distributed.broadcast(seconds, 0)
    return seconds.item()


def sleeper(
    *,
    wanted: float = 1e-3,
    tries: int = _TRIES,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.perf_counter,
) -> Callable[[float], None]:
    """Return `pause(seconds)`, which lasts that long at the median.

    A system wakes sleepers late; how late, on this machine, is measured first and then subtracted.

    >>> sleeper()(0.002)
    """
    late = statistics.median(_lasting(lambda: sleep(wanted), clock) for _ in range(tries)) - wanted

    def pause(seconds: float) -> None:
        seconds = real("seconds", seconds, "it is how long to sleep in place of the work", 0)
        if seconds > late:
            sleep(seconds - late)

    return pause


def _lasting(function: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    function()
    return clock() - start
