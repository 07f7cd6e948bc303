"""One pass: the time of the work and the quality of what it made, taken together and bound.

A speedup from one run and an accuracy from another say nothing about either. Here both come from
the same run, and a record binds them to configuration, seed, data, code and machine. Torch
inside functions.
"""

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date as today
from pathlib import Path

from scalelab.arguments import real, shown, whole
from scalelab.files import atomic, files
from scalelab.measure.capstone.binding import Source, digest, setting, version, word
from scalelab.measure.host.machine import this_machine
from scalelab.records import Pass, Passes
from scalelab.refusal import Refusal


class OnePass:
    """What happens inside `taking`: one work region, then one quality."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._process, self._began = clock, os.getpid(), clock()
        self._seconds: float | None = None
        self._quality: float | None = None
        self._work: float | None = None
        self.joules: float | None = None  # set what was measured: this ...
        self.exposed: float | None = None  # ... this ...
        self.latency: float | None = None  # ... and this
        self.record: Pass | None = None

    @contextlib.contextmanager
    def work(self, amount: float | None = None) -> Iterator[None]:
        """Time what happens in this block, and nothing else: once, after the warm-up.

        `amount` counts the useful results, on all workers together. Ranks start together, and the
        slowest ends the region.
        """
        if self._seconds is not None:
            raise Refusal(
                "work must be entered once in a pass, got a second time: "
                "put all of the timed work into one block"
            )
        if amount is not None:
            amount = real("amount", amount, "it counts the useful results", 0, above=True)
        _start_together()
        start = self._clock()
        yield
        _finish()
        self._seconds, self._work = self._clock() - start, amount

    def quality(self, value: float | None = None) -> None:
        """Say how good the result of that work is, after it and in the same process.

        Where every rank evaluates they must agree; where only rank 0 does, the others give None.
        """
        if self._seconds is None:
            raise Refusal(
                "quality must be of the work of this pass, got it before the work: "
                "evaluate after the block of work()"
            )
        if os.getpid() != self._process:
            raise Refusal(
                "quality must come from the process that was timed, got another one: "
                "evaluate where the model is"
            )
        if self._quality is not None:
            raise Refusal(
                "quality must be given once in a pass, got a second time: "
                "decide beforehand which evaluation counts"
            )
        self._quality = math.nan if value is None else real("quality", value, "it is one number")

    def _bound(self, workers, fields):
        """Return the sealed record of this rank's times and everyone's."""
        if self._seconds is None or self._quality is None:
            missing = "work()" if self._seconds is None else "quality()"
            raise Refusal(
                f"a pass must hold work and its quality, got no {missing}: call it in the block"
            )
        elapsed = self._clock() - self._began
        ranks = _gathered((self._seconds, self._quality, elapsed))
        qualities = [quality for _, quality, _ in ranks if not math.isnan(quality)]
        if not qualities:
            raise Refusal(
                "quality must be given on one rank at least, got None on all: evaluate on rank 0"
            )
        if max(qualities) - min(qualities) > 1e-6 * max(1e-300, *map(abs, qualities)):
            raise Refusal(
                f"ranks must agree on the quality of one model, got {min(qualities):g} and "
                f"{max(qualities):g}: do all ranks hold the same weights and the same data?"
            )
        if workers is None:
            workers = len(ranks)
        record = Pass(
            workers=workers,
            seconds=max(seconds for seconds, _, _ in ranks),
            quality=qualities[0],
            elapsed=max(took for _, _, took in ranks),
            machine=this_machine(),
            date=today.today().isoformat(),
            work=self._work,
            joules=self.joules,
            exposed=self.exposed,
            latency=self.latency,
            **fields,
        )
        return replace(record, seal=record.digest)


@contextlib.contextmanager
def taking(
    configuration: dict[str, float | str | bool],
    *,
    seed: int,
    data: object,
    code: str | Source | Sequence[Source],
    metric: str,
    better: str = "higher",
    varied: dict[str, float | str | bool] | None = None,
    rate: float | None = None,
    workers: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[OnePass]:
    """One pass, as a block: inside it run.work() and run.quality(), after it run.record.

    `configuration` is what all rows of the study share, `varied` what changes with the workers on
    purpose; `data` is what quality is evaluated on, `code` the functions or modules that run, or
    their version as text; `rate` is in dollars per hour of all workers together. Inside a process
    group the workers are its ranks. A pass that fails leaves no record. Section 41.6.

    >>> with taking({"n": 9}, seed=0, data=b"held out", code="v1", metric="accuracy") as run:
    ...     with run.work():
    ...         total = sum(range(9))
    ...     run.quality(total / 36)
    >>> run.record.quality, run.record.workers, run.record.intact
    (1.0, 1, True)
    """
    fields = {
        "configuration": setting("configuration", configuration),
        "varied": setting("varied", {} if varied is None else varied),
        "seed": whole("seed", seed, "it is what the run's random numbers started from", 0),
        "data": digest(data),
        "code": version(code),
        "metric": word("metric", metric),
        "better": better,
        "rate": None if rate is None else real("rate", rate, "it is in dollars per hour", 0),
    }
    if better not in ("higher", "lower"):
        raise Refusal(f"better must be higher or lower, got {shown(better)}: say which is good")
    if workers is not None:
        workers = whole("workers", workers, "it counts the workers of the run")
    run = OnePass(clock)
    yield run
    run.record = run._bound(workers, fields)


def append(path: str | Path, record: Pass, title: str = "passes") -> Passes | None:
    """Add a pass to a file of them, made where there is none; under torchrun rank 0 does it.

    The file is whole at any moment. Section 41.6.

    >>> import tempfile
    >>> with taking({}, seed=0, data="d", code="v1", metric="accuracy") as run:
    ...     with run.work():
    ...         pass
    ...     run.quality(0.9)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = append(f"{folder}/study.json", run.record)
    ...     len(append(f"{folder}/study.json", run.record).passes)
    2
    """
    if (group := _group()) and group.get_rank():
        return None
    if not isinstance(record, Pass):
        raise Refusal(f"record must be a Pass, got {shown(record)}: give run.record")
    before = Passes(title, ())
    if Path(path).exists():
        stored = files.record(path)
        if not isinstance(stored, Passes):
            kind = type(stored).__name__
            raise Refusal(f"{path} must hold Passes, got a {kind}: name another file")
        before = stored
    extended = replace(before, passes=(*before.passes, record))
    atomic.write(path, extended)
    return extended


def _group():
    """Return torch.distributed inside a process group, else None."""
    distributed = sys.modules.get("torch.distributed")
    return distributed if distributed is not None and distributed.is_initialized() else None


def _start_together():
    if group := _group():
        group.barrier()
    _finish()


def _finish():
    """Wait for what a GPU still has to do; who never touched one waits for nothing."""
    cuda = sys.modules.get("torch.cuda")
    if cuda is not None and cuda.is_initialized():
        cuda.synchronize()


def _gathered(value):
    group = _group()
    if group is None:
        return [value]
    values = [None] * group.get_world_size()
    group.all_gather_object(values, value)
    return values
