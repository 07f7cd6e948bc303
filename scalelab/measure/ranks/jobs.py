"""Jobs for real workers: a data-parallel epoch, whole or in parts, independent work, passes over memory.

Every rank of a process group runs the same function. The work of a job does not depend on how many
ranks share it; each returns the seconds of its own share, and the slowest rank ends the job.
"""

import inspect
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from scalelab.arguments import shown, whole
from scalelab.measure.ranks import capacity, emulate, workers
from scalelab.measure.ranks.training import Training
from scalelab.measure.timing import stats
from scalelab.records import Caution, Machine, Sample
from scalelab.refusal import Refusal
from scalelab.units import counted

# Bytes that one repetition of `stream` reads: about 0.1 s from a cache.
_TRAFFIC = 8e9

TOLD = ("rank", "workers", "share")  # what a function of a user's own may ask for
Told = dict[str, Any]  # by a rank: its "seconds", and what else the job found out
_Result = TypeVar("_Result")


def sample(
    job: Callable[..., Told],
    count: int,
    *,
    label: str = "",
    device: str = "cpu",
    limit: float = 120.0,
    **arguments: float | str | bool,
) -> Sample:
    """Run a job on `count` workers; the Sample holds the slowest rank's seconds. Section 3.1."""
    results = workers.launch(job, count, device=device, limit=limit, **arguments)
    return gathered(results, label or f"{job.__name__} on {counted(count)}", arguments)


def samples(
    job: Callable[..., dict[str, Told]], count: int, *, limit: float = 300.0, **arguments: Any
) -> dict[str, Sample]:
    """Run a job that times several things in turn; one Sample for each, under its name. Section 3.1."""
    results = workers.launch(job, count, limit=limit, **arguments)
    return {
        name: gathered([result[name] for result in results], name, arguments) for name in results[0]
    }


def gathered(
    results: Sequence[Told], label: str, given: Mapping[str, float | str | bool]
) -> Sample:
    """Return the Sample of what the ranks of a job returned, {"seconds": [...]} each."""
    for result in results:
        if not (isinstance(result, dict) and isinstance(result.get("seconds"), (list, tuple))):
            raise Refusal(
                f'job must return {{"seconds": [...]}} on every rank, got {shown(result)}: '
                "let `jobs.timed` time what it repeats"
            )
    count, seconds = len(results), slowest(result["seconds"] for result in results)
    machine, *others = capacity.machines(count)
    given = {name: value for name, value in given.items() if name != "emulated"}
    if "sleep" in results[0]:  # of one step or item, in place of its compute
        given |= {"sleep": results[0]["sleep"], "emulated": emulate.NOTE}
    advice = [*stats.advice(seconds)]
    if "emulated" not in given and count > (cores := (machine.cores or count) * (1 + len(others))):
        took = f"{count} workers took turns on {cores} cores, and the times hold their waiting. "
        advice.append(Caution("turns", took + "Use fewer, or emulate the compute."))
    if others:
        given["nodes"] = 1 + len(others)
    for name in sorted({other.name for other in others} - {machine.name}):
        differ = f"The nodes differ: {machine.name} is one, {name} another, and the slowest sets the time. "
        advice.append(Caution("unlike nodes", differ + "Use nodes of one kind."))
    return Sample(
        label=label,
        seconds=seconds,
        inner=1,
        machine=machine,
        date=date.today().isoformat(),
        stopped=f"all {len(seconds)} repetitions done",
        advice=tuple(advice),
        given={"workers": count, **given},
    )


def slowest(ranks: Iterable[Sequence[float]]) -> tuple[float, ...]:
    """Return for each repetition the seconds of the rank that finished last.

    >>> slowest([[1.0, 2.0], [1.5, 1.0]])
    (1.5, 2.0)
    """
    ranks = [list(seconds) for seconds in ranks]
    if len({len(seconds) for seconds in ranks}) > 1:
        raise Refusal(
            f"ranks must time the same repetitions, got {[len(seconds) for seconds in ranks]} of "
            "them: let every rank return the seconds of each"
        )
    return tuple(max(repetition) for repetition in zip(*ranks, strict=True))


def timed(run: Callable[[], _Result], repetitions: int) -> tuple[list[float], _Result | None]:
    """Return this rank's seconds for each repetition of `run()`, from a common start, and its result.

    Inside a job. On a GPU the clock waits until the work is done. Section 3.1.
    """
    from torch import cuda, distributed

    finish = cuda.synchronize if workers.place().type == "cuda" else lambda: None
    seconds: list[float] = []
    result = None
    for _ in range(repetitions):
        distributed.barrier()
        finish()
        start = time.perf_counter()
        result = run()
        finish()
        seconds.append(time.perf_counter() - start)
    return seconds, result


def repeat(
    *,
    function: Callable[..., object],
    arguments: Mapping[str, object],
    told: Sequence[str] = (),
    repetitions: int = 7,
) -> Told:
    """Time a function of your own on every rank, after a first call that does not count.

    It is told what it asks for of TOLD: its `rank`, how many `workers` there are, and its `share` of the
    argument `work`, a range. A function that returns {"seconds": [...]} has timed itself, best with
    `timed`. Section 3.3.
    """
    from torch import distributed

    whole("repetitions", repetitions, "it is a count")
    rank, count = distributed.get_rank(), distributed.get_world_size()
    ours: dict[str, object] = {"rank": rank, "workers": count}
    if "share" in told:
        ours["share"] = share(rank, count, whole("work", arguments.get("work"), "it is divided"))
    own = inspect.signature(function).parameters
    given = {name: value for name, value in arguments.items() if name in own or name != "work"}
    given |= {name: ours[name] for name in told}
    first = function(**given)
    if isinstance(first, dict) and "seconds" in first:
        return first
    return {"seconds": timed(lambda: function(**given), repetitions)[0]}


def share(rank: int, workers: int, work: int) -> range:
    """Return which of so many items are a rank's: the parts differ by one at most.

    >>> [share(rank, 3, 10) for rank in range(3)]
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    return range(rank * work // workers, (rank + 1) * work // workers)


def training_epoch(
    *,
    steps: int = 32,
    batch: int = 4096,
    width: int = 256,
    repetitions: int = 7,
    seed: int = 0,
    emulated: bool = False,
) -> Told:
    """Train a small network for one epoch of `steps` global minibatches, each rank on its shard.

    After every backward pass the gradients are averaged over the ranks, so that the step is the
    one that a single worker would take. Emulated, the passes are sleeps and the averaging is real.
    Sections 3.1 and 3.3.
    """
    from torch import distributed

    for name, value in (("steps", steps), ("width", width), ("repetitions", repetitions)):
        whole(name, value, "it is a count")
    whole("batch", batch, "it counts the examples of one step, over all workers")
    count = distributed.get_world_size()
    _divisible(batch, count)
    training = Training(1 if emulated else steps, batch, width, seed, workers.place())
    if emulated:
        alone, pause = emulate.calibrated(training.compute), emulate.sleeper()

        def epoch() -> None:
            for _ in range(steps):
                pause(alone)
                training.exchange()

        return {"seconds": timed(epoch, repetitions)[0], "sleep": alone}
    training.epoch(steps=4)
    seconds, weights = timed(training.epoch, repetitions)
    assert weights is not None  # of one repetition at least
    return {"seconds": seconds, "weights": weights.cpu().numpy()}


def epoch_in_parts(
    *, steps: int = 8, batch: int = 4096, width: int = 256, repetitions: int = 9, seed: int = 0
) -> dict[str, Told]:
    """Time four epochs in turn, so that all meet the same machine, and see what takes speed from K ranks.

    `one worker`: the first rank does the whole epoch, the others wait. `copies`: every rank does the whole
    epoch, and they share nothing but the machine. `without exchange`: each step is divided, no rank hears
    of another. `with exchange`: the epoch of `training_epoch`. Section 3.1.
    """
    from torch import distributed

    whole("repetitions", repetitions, "it is a count")
    _divisible(batch, distributed.get_world_size())
    first, place = distributed.get_rank() == 0, workers.place()
    job = Training(steps, batch, width, seed, place, shared=False)
    part = Training(steps, batch, width, seed, place)
    turns: dict[str, Callable[[], object]] = {
        "one worker": lambda: job.epoch() if first else None,
        "copies": job.epoch,
        "without exchange": lambda: part.epoch(exchange=False),
        "with exchange": part.epoch,
    }
    return _by_turns(turns, repetitions)


def epoch_under_both_lenses(
    *, steps: int = 8, batch: int = 64, width: int = 512, repetitions: int = 15, seed: int = 0
) -> dict[str, Told]:
    """Time an epoch in turn on one worker, on K with its batch, and on K with K times its batch.

    `one worker`: the first rank does the epoch, the others wait. `same batch`: the ranks share each step
    of it. `each its batch`: each rank has as many samples as the one worker had. Section 3.3.
    """
    from torch import distributed

    whole("repetitions", repetitions, "it is a count")
    place, count = workers.place(), distributed.get_world_size()
    _divisible(batch, count)
    job = Training(steps, batch, width, seed, place, shared=False)
    share = Training(steps, batch, width, seed, place)
    grown = Training(steps, count * batch, width, seed, place)
    first = distributed.get_rank() == 0
    turns: dict[str, Callable[[], object]] = {
        "one worker": lambda: job.epoch() if first else None,
        "same batch": share.epoch,
        "each its batch": grown.epoch,
    }
    return _by_turns(turns, repetitions)


def _by_turns(turns: Mapping[str, Callable[[], object]], repetitions: int) -> dict[str, Told]:
    """Time each once a turn, inside a job, so that what slows the machine for a while slows all."""
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for turn in range(1 + repetitions):  # the first warms up
        for name, run in turns.items():
            took, _ = timed(run, 1)
            seconds[name] += took if turn else []
    return {name: {"seconds": took} for name, took in seconds.items()}


def _divisible(batch: int, count: int) -> None:
    if batch % count:
        raise Refusal(
            f"batch must be a multiple of the {count} workers, got {batch}: "
            "unequal shards would weigh the examples differently"
        )


def independent(
    *, items: int = 240, size: int = 256, repetitions: int = 7, emulated: bool = False
) -> Told:
    """Multiply `items` pairs of square matrices, dealt out to ranks that never talk to each other.

    Embarrassingly parallel: what is lost is the uneven deal and the slowest rank. Section 3.3.
    """
    import torch
    from torch import distributed

    for name, value in (("items", items), ("size", size), ("repetitions", repetitions)):
        whole(name, value, "it is a count")
    left = torch.ones(size, size, device=workers.place())
    product = torch.empty_like(left)
    mine = range(distributed.get_rank(), items, distributed.get_world_size())

    def item() -> None:
        torch.mm(left, left, out=product)

    def run() -> None:
        for _ in mine:
            item()

    if emulated:
        seconds, pause = emulate.calibrated(item), emulate.sleeper()
        result = timed(lambda: pause(seconds * len(mine)), repetitions)[0]
        return {"seconds": result, "sleep": seconds}
    run()
    return {"seconds": timed(run, repetitions)[0]}


def stream(*, size: int, repetitions: int = 9) -> Told:
    """Add up a working set of `size` bytes, split evenly over the ranks, again and again.

    Whole passes, 8 GB in all, whatever the number of ranks. Section 3.1.
    """
    import torch
    from torch import distributed

    whole("size", size, "it is the bytes of the working set")
    whole("repetitions", repetitions, "it is a count")
    count = distributed.get_world_size()
    shard = torch.ones(max(1, size // 4 // count), device=workers.place())
    run = _reading(itertools.repeat(shard), count)
    run()
    return {"seconds": timed(run, repetitions)[0]}


def stream_in_turns(*, size: int, repetitions: int = 9) -> dict[str, Told]:
    """Time three in turn: a rank reads a working set of `size` bytes, one its share of it, all a share each.

    `whole`: the first rank adds up the set, the others wait. `share alone`: it adds up what would be its
    share as often as makes 8 GB. `shares`: each rank adds up a share, 8 GB together. Each turn has a set of
    its own, for where its pages happen to lie decides how much of it a cache holds. Section 3.1.
    """
    import torch
    from torch import distributed

    whole("size", size, "it is the bytes of the working set")
    whole("repetitions", repetitions, "it is a count")
    count, first = distributed.get_world_size(), distributed.get_rank() == 0
    sets = torch.ones(repetitions + 1, max(count, size // 4), device=workers.place())
    shares = sets[:, : sets.shape[1] // count]
    alone = {"whole": _reading(iter(sets), 1), "share alone": _reading(iter(shares), 1)}
    turns = {name: read if first else lambda: None for name, read in alone.items()}
    return _by_turns({**turns, "shares": _reading(iter(shares), count)}, repetitions)


def _reading(shards, count):
    """Return a function that adds up the next shard so often that so many ranks with one each read 8 GB."""

    def run() -> None:
        shard = next(shards)
        for _ in range(max(1, round(_TRAFFIC / (4 * len(shard) * count)))):
            shard.sum()

    return run


def superlinear_working_set(machine: Machine) -> int:
    """Return the bytes that overflow the L2 cache of one core and fit when halved.

    An eighth more than the cache: a sweep over it finds nothing left from the last one. Section 3.1.
    """
    if "L2" not in machine.caches:
        raise Refusal(
            f"machine must report its L2 cache, got {', '.join(machine.caches) or 'none'}: "
            'look at scalelab.data.recorded("superlinear") instead'
        )
    return machine.caches["L2"] * 9 // 8
