"""Time what ranks send each other: a collective ends when its slowest rank does.

A message of M bytes is what one rank holds in full, as in `scalelab.models.network.collectives`: what it
adds to an all-reduce, what it has after an all-gather. What gloo does, for fits to its times (counted
on the loopback under torch 2.13; source: github.com/pytorch/gloo):

all-reduce      a ring: 2 (K-1) rounds, 2 (K-1)/K M bytes per rank, in segments of at most 1 MiB
all-gather      a ring: K-1 rounds, (K-1)/K M bytes
reduce-scatter  none of its own: an all-reduce, of which a rank keeps its part
broadcast       a binomial tree: lg K rounds, rounded up, of M bytes each
send            M bytes from the first rank to the last, half of a round trip

Each of a ring's rounds is at least two messages, so that one travels while one is added.
NCCL chooses its algorithm by itself.
"""

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from scalelab.arguments import shown, whole
from scalelab.measure.ranks import capacity, jobs, workers
from scalelab.records import Caution, Sample
from scalelab.refusal import Refusal
from scalelab.units import counted, text

GLOO = {
    "all-reduce": "ring",
    "all-gather": "ring",
    "reduce-scatter": "all-reduce by ring",
    "broadcast": "binomial tree",
    "send": "point to point",
}
_WARM_UP = 3  # the first call makes connections and buffers, and follows another size
_TURN = 5  # calls of a size until the next has its turn
_LATE = 0.1  # an arrival spread beyond this share of the time is worth a word


def measure(
    collective: str,
    sizes: Sequence[int],
    count: int,
    *,
    iterations: int = 20,
    device: str = "cpu",
    limit: float = 120.0,
) -> tuple[Sample, ...]:
    """Return one Sample per message size on `count` ranks: of each iteration, the slowest rank's time.

    The sizes take turns of a few calls. A size is rounded up to whole numbers, and to equal parts where
    a rank holds a part. How far apart the ranks began is in `given["spread"]`, in seconds, the median;
    where they have no common clock, because they run on several machines, it is absent. Section 3.8.
    """
    if not isinstance(collective, str) or collective not in GLOO:
        raise Refusal(
            f"collective must be one of {', '.join(GLOO)}, got {shown(collective)}: choose one"
        )
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise Refusal(
            f"sizes must be a list of at least one number of bytes, got {shown(sizes)}: name some"
        )
    sizes = [whole("sizes", size, "each is the bytes of a message", 1, 2**40) for size in sizes]
    whole("iterations", iterations, "it counts the calls to time")
    if collective == "send":
        whole("count", count, "send needs a rank to send and another to answer", 2)
    arguments = {"collective": collective, "sizes": sizes, "iterations": iterations}
    try:
        ranks = workers.launch(timed, count, device=device, limit=limit, **arguments)
    except workers.WorkerError as error:  # by the name that the user gave
        raise workers.WorkerError(collective, error.said, error.output, error.cause) from None
    given = {"collective": collective, "backend": capacity.BACKENDS[device]}
    if device == "cpu" and count > 1:
        given["algorithm"] = GLOO[collective]
    return tuple(_sample(same, given) for same in zip(*ranks, strict=True))


def _spread(ranks):
    """Return for each iteration how long after the first rank the last one began.

    >>> _spread([[0.0, 1.0], [0.25, 1.0]])
    (0.25, 0.0)
    """
    return tuple(max(begun) - min(begun) for begun in zip(*ranks, strict=True))


def timed(
    collective: str,
    sizes: Sequence[int],
    iterations: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[jobs.Told]:
    """Time every size on this rank, checking what arrives: the job that `measure` launches.

    By turns, so that what disturbs the machine for a moment meets some calls of each and not all of one.
    """
    told: list[jobs.Told] = [{"begun": [], "seconds": []} for _ in sizes]
    for done in range(0, iterations, _TURN):
        for one, size in zip(told, sizes, strict=True):
            calls = min(_TURN, iterations - done)
            turn = _timed(*_prepared(collective, size), calls, clock)
            for name in ("begun", "seconds"):
                one[name] += turn.pop(name)
            one |= turn
    return told


def _timed(size, fill, run, right, iterations, clock):
    from torch import cuda, distributed

    finish = cuda.synchronize if workers.place().type == "cuda" else lambda: None
    begun, seconds = [], []
    for _ in range(_WARM_UP + iterations):
        fill()
        distributed.barrier()
        finish()
        begun.append(clock())
        run()
        finish()
        seconds.append(clock() - begun[-1])
    if not right():
        raise RuntimeError(f"a message of {size} bytes arrived with wrong numbers in it")
    warm = slice(_WARM_UP, None)
    return {"bytes": size, "host": platform.node(), "begun": begun[warm], "seconds": seconds[warm]}


def _prepared(
    collective: str, size: int
) -> tuple[int, Callable[[], None], Callable[[], object], Callable[[], bool]]:
    """Return the bytes of a message, and what fills, moves and checks it."""
    import torch
    from torch import distributed

    rank, count, place = distributed.get_rank(), distributed.get_world_size(), workers.place()
    parts = count if collective in ("all-gather", "reduce-scatter") else 1
    part = torch.empty(-(-size // (4 * parts)), device=place)  # numbers of four bytes, rounded up
    full = torch.empty(len(part) * parts, device=place)
    everyone = torch.arange(1.0, count + 1, device=place)  # rank r holds r + 1 everywhere

    def send() -> None:
        last = count - 1
        if rank in (0, last):
            first, then = (distributed.send, distributed.recv)[:: 1 if rank == 0 else -1]
            first(full, last - rank)
            then(full, last - rank)

    run, got, expected = {
        "all-reduce": (lambda: distributed.all_reduce(full), full, everyone.sum()),
        "all-gather": (
            lambda: distributed.all_gather_into_tensor(full, part),
            full,
            everyone.repeat_interleave(len(part)),
        ),
        "reduce-scatter": (
            lambda: distributed.reduce_scatter_tensor(part, full), part, everyone.sum(),
        ),
        "broadcast": (lambda: distributed.broadcast(full, 0), full, everyone[0]),
        "send": (send, full, everyone[0 if rank == count - 1 else rank]),
    }[collective]  # fmt: skip

    def fill() -> None:
        full.fill_(rank + 1)
        part.fill_(rank + 1)

    return 4 * len(full), fill, run, lambda: bool((got == expected).all())


def _sample(ranks, given):
    """Gather what the ranks measured for one size."""
    size, hosts = ranks[0]["bytes"], {rank["host"] for rank in ranks}
    trips = 2 if given["collective"] == "send" else 1
    ranks = [{**rank, "seconds": [s / trips for s in rank["seconds"]]} for rank in ranks]
    label = f"{given['collective']} of {text(size, 'B', binary=True)}"
    label += f" on {counted(len(ranks))}"
    sample = jobs.gathered(ranks, label, {"bytes": size, **given})
    if len(hosts) > 1 or len(ranks) == 1:
        return sample
    apart = statistics.median(_spread(rank["begun"] for rank in ranks))
    late = apart / (trips * sample.median)  # of what was timed, the way back included
    late_start = Caution(
        "late start",
        f"The ranks began {text(apart, 's', 2)} apart, {text(late, '%', 2)} of the time: part of it "
        "is waiting for the last to arrive, not moving bytes. Look at larger messages.",
    )
    advice = (*sample.advice, *([late_start] if late > _LATE else []))
    return replace(sample, given={**sample.given, "spread": apart}, advice=advice)
