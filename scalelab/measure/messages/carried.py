"""Carry out plans of messages between real processes, by turns, and time them (Section 3.8).

The library's collectives leave the choice of an algorithm to the library. Here the caller says who
sends what to whom, so that two algorithms can be timed on the same wires in the same minute.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from scalelab.arguments import shown, whole
from scalelab.measure.ranks import jobs, workers
from scalelab.records import Sample
from scalelab.refusal import Refusal
from scalelab.units import counted, text

_WARM_UP = 3
_TURN = 5  # iterations of a size until the next has its turn
_Message = tuple[int, int, int, int, bool]  # sender, receiver, first part, last part, adds


class _Rounds(Protocol):
    @property
    def parts(self) -> int: ...

    @property
    def rounds(self) -> Iterable[Iterable[_Message]]: ...


def measure(
    plans: Mapping[str, _Rounds],
    sizes: Sequence[int],
    count: int,
    *,
    iterations: int = 15,
    limit: float = 120.0,
) -> dict[str, tuple[Sample, ...]]:
    """Return {name: one Sample per size}: all-reduces of `sizes` bytes by each plan, on `count` ranks.

    A plan has `parts`, and `rounds` of (sender, receiver, first part, last part, adds). In every
    iteration each plan has its turn, and the sizes take turns of a few iterations. A size is rounded up
    to equal parts. Section 3.8.
    """
    fit = isinstance(plans, dict) and all(hasattr(plan, "rounds") for plan in plans.values())
    if not fit or not plans:
        raise Refusal(
            f"plans must name at least one plan, got {shown(plans)}: give {{name: plan}}, "
            "with plans from scalelab.models.network.messages"
        )
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise Refusal(
            f"sizes must be a list of at least one number of bytes, got {shown(sizes)}: name some"
        )
    whole("iterations", iterations, "it counts the turns of each plan")
    sizes = [whole("sizes", size, "each is the bytes of a message", 1, 2**40) for size in sizes]
    plain = {
        name: (plan.parts, [[tuple(m) for m in messages] for messages in plan.rounds])
        for name, plan in plans.items()
    }
    ranks = workers.launch(
        carry, count, limit=limit, plans=plain, sizes=sizes, iterations=iterations
    )
    by_plan: dict[str, list[Sample]] = {name: [] for name in plans}
    for n, size in enumerate(sizes):
        for name in plans:
            same = [rank[n][name] for rank in ranks]
            label = f"{name}, {text(size, 'B', binary=True)} on {counted(count)}"
            given = {"bytes": same[0]["bytes"], "collective": "all-reduce", "algorithm": name}
            by_plan[name].append(jobs.gathered(same, label, given))
    return {name: tuple(samples) for name, samples in by_plan.items()}


def carry(
    plans: Mapping[str, tuple[int, list[list[_Message]]]],
    sizes: Sequence[int],
    iterations: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[dict[str, jobs.Told]]:
    """Time every plan at every size on this rank, checking the sums: what `measure` launches."""
    told: list[dict[str, jobs.Told]] = [{name: {"seconds": []} for name in plans} for _ in sizes]
    for done in range(0, iterations, _TURN):
        for one, size in zip(told, sizes, strict=True):
            calls = min(_TURN, iterations - done)
            for name, turn in _timed(plans, size, calls, clock).items():
                one[name]["seconds"] += turn["seconds"]
                one[name]["bytes"] = turn["bytes"]
    return told


def _timed(plans, size, iterations, clock):
    import torch
    from torch import distributed

    rank, count = distributed.get_rank(), distributed.get_world_size()
    parts = max(parts for parts, _ in plans.values())
    each = -(-size // (4 * parts))  # numbers of four bytes in a part
    full, scratch = (torch.empty(each * parts) for _ in range(2))
    seconds: dict[str, list[float]] = {name: [] for name in plans}
    for _ in range(_WARM_UP + iterations):
        for name, (parts_, rounds) in plans.items():
            full.fill_(rank + 1)
            distributed.barrier()
            start = clock()
            _carry(rounds, rank, full, scratch, len(full) // parts_)
            seconds[name].append(clock() - start)
            if not bool((full == count * (count + 1) / 2).all()):
                raise RuntimeError(f"{name} left a wrong sum of {size} bytes")
    return {n: {"bytes": 4 * len(full), "seconds": s[_WARM_UP:]} for n, s in seconds.items()}


def _carry(rounds, rank, full, scratch, each):
    from torch import distributed

    for messages in rounds:
        arriving, waiting = [], []
        for sender, receiver, first, last, adds in messages:
            where = slice(first * each, last * each)
            if receiver == rank:
                waiting.append(distributed.irecv(scratch[where], sender))
                arriving.append((where, adds))
            if sender == rank:
                waiting.append(distributed.isend(full[where], receiver))
        for transfer in waiting:
            if transfer:  # None to a rank outside the group; here all are in it
                transfer.wait()
        for where, adds in arriving:
            if adds:
                full[where] += scratch[where]
            else:
                full[where] = scratch[where]
