"""One rank comes late to a collective: what the clock of each rank says then (Section 3.8)."""

import time
from collections.abc import Callable

from scalelab.arguments import real, whole
from scalelab.measure.ranks import jobs, workers
from scalelab.records import Sample


def measure(
    size: int, count: int, *, late: float, iterations: int = 15, limit: float = 120.0
) -> tuple[Sample, ...]:
    """Return one Sample per rank: its own time inside an all-reduce to which the last rank is late.

    `late` is in seconds after a common start. What a rank measures is its wait for the last one and
    the transfer together; only the last to arrive sees the transfer alone. Section 3.8.
    """
    whole("size", size, "it is the bytes of the message", 1, 2**40)
    whole("count", count, "one rank has nobody to wait for", 2)
    late = real("late", late, "it is how many seconds the last rank is late", 0, 60)
    whole("iterations", iterations, "it counts the calls to time")
    ranks = workers.launch(inside, count, limit=limit, size=size, late=late, iterations=iterations)
    given = {"workers": count, "bytes": size, "late": late}
    return tuple(
        jobs.gathered([rank], f"rank {n} of {count}", given) for n, rank in enumerate(ranks)
    )


def inside(
    size: int,
    late: float,
    iterations: int,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
) -> jobs.Told:
    """Time all-reduces on this rank, the last one entering them late: what `measure` launches."""
    import torch
    from torch import distributed

    values, seconds = torch.ones(-(-size // 4)), []
    last = distributed.get_rank() == distributed.get_world_size() - 1
    for _ in range(3 + iterations):
        values.fill_(1)
        distributed.barrier()
        if last:
            sleep(late)
        start = clock()
        distributed.all_reduce(values)
        seconds.append(clock() - start)
    return {"seconds": seconds[3:]}
