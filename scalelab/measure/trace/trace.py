"""Where the time of a real training step goes: from PyTorch's profiler, or from its trace files.

Summing a profiler's rows counts nested calls twice and hidden communication as if it cost time.
Here every moment of a step is counted once: compute; else communication, then exposed; else a
launch; else idle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scalelab.arguments import shown, whole
from scalelab.files import files, kineto
from scalelab.measure.host.machine import this_machine
from scalelab.measure.trace.timeline import TracedStep, steps
from scalelab.records import Machine, Split
from scalelab.refusal import Refusal
from scalelab.spans import Span, intersection, length, union

if TYPE_CHECKING:
    import torch

STEP = "ProfilerStep"  # what torch.profiler calls a step


def read(
    path: str | Path,
    *,
    step: str = STEP,
    workers: int | None = None,
    rank: int | None = None,
    machine: Machine | None = None,
) -> tuple[Split, ...]:
    """Return the Split of every step in a Chrome trace (.json or .json.gz) of one rank.

    Workers and rank stand in the trace of a distributed job; else give them. Copies count as compute.
    A trace of a GPU job must hold the device's events. Section 3.5.
    """
    trace = kineto.read(path)
    workers = trace.workers if workers is None else whole("workers", workers, "it counts ranks")
    if workers is None:
        raise files.wrong(path, "", "say how many workers took part", "nothing", "give workers=")
    rank = (trace.rank or 0) if rank is None else rank
    return tuple(
        split(s, workers, rank, machine or trace.machine, trace.date, "recorded")
        for s in steps(trace, step)
    )


def profiled(
    profiler: torch.profiler.profile,
    *,
    step: str = STEP,
    workers: int | None = None,
    rank: int | None = None,
) -> tuple[Split, ...]:
    """Return the Split of every step that a finished torch.profiler recorded here. Section 3.5."""
    if not hasattr(profiler, "export_chrome_trace"):
        raise Refusal(
            f"profiler must be a finished torch.profiler.profile, got {shown(profiler)}: "
            "give what stands behind `as` after its block"
        )
    with tempfile.TemporaryDirectory(prefix="scalelab-") as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        trace = kineto.read(path)
    workers = workers or trace.workers or 1
    rank = (trace.rank or 0) if rank is None else rank
    return tuple(split(s, workers, rank, this_machine(), trace.date) for s in steps(trace, step))


def mean(splits: Iterable[Split]) -> Split:
    """Return the Split of the mean step, part by part; of one rank in one configuration only.

    Section 3.5.
    """
    splits = tuple(splits)
    kinds = {(s.workers, s.rank, s.machine.name) for s in splits}
    if len(kinds) != 1:
        raise Refusal(
            f"splits must be of one rank of one configuration, at least one, got {shown(kinds)}: "
            "average each rank by itself"
        )
    first, parts = splits[0], ("seconds", "compute", "exposed", "launch", "idle", "communication")
    means = {name: sum(getattr(s, name) for s in splits) / len(splits) for name in parts}
    waits = [s.waiting for s in splits if s.waiting is not None]
    return Split(
        label=f"mean of {len(splits)} steps" if len(splits) > 1 else first.label,
        workers=first.workers,
        rank=first.rank,
        machine=first.machine,
        date=first.date,
        waiting=sum(waits) / len(waits) if len(waits) == len(splits) else None,
        kind=first.kind,
        **means,
    )


def split(
    step: TracedStep,
    workers: int,
    rank: int,
    machine: Machine,
    date: str,
    kind: str = "measured here",
    before: Iterable[Span] | None = None,
) -> Split:
    """Return one TracedStep of a timeline as a record; `before` are spans in which others were awaited."""
    sets = ("compute", "exposed", "launch", "idle", "communication")
    return Split(
        label=step.label,
        workers=workers,
        rank=rank,
        seconds=length([step.window]) / 1e9,
        **{name: length(getattr(step, name)) / 1e9 for name in sets},
        machine=machine,
        date=date,
        waiting=None if before is None else length(intersection(step.exposed, union(before))) / 1e9,
        kind=kind,
    )
