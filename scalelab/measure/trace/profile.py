"""Profile a real data-parallel job on all of its ranks, and tell waiting from moving data.

The job is not touched: a step ends where an optimizer has taken one, which PyTorch can report.
"""

import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from scalelab.arguments import shown, whole
from scalelab.files import kineto
from scalelab.measure.host.machine import this_machine
from scalelab.measure.ranks import workers
from scalelab.measure.trace import trace
from scalelab.measure.trace.timeline import steps as timeline
from scalelab.records import Split
from scalelab.refusal import Refusal


def profile(
    job: Callable[..., object],
    count: int,
    *,
    active: int = 5,
    skip: int = 10,
    limit: float = 120.0,
    keep: str | Path | None = None,
    **arguments: Any,
) -> tuple[tuple[Split, ...], ...]:
    """Return one tuple of Splits per rank: where each of the `active` steps of the job went.

    The job trains with a torch optimizer, as `jobs.training_epoch` does; its first `skip` steps are
    left out. Profiling takes time of its own: quote shares from here, and times from `jobs.sample`.
    The trace files stay in the folder `keep`, if there is one. Section 3.5.
    """
    if not callable(job) or getattr(job, "__module__", "__main__") == "__main__":
        raise Refusal(
            f"job must be a function of a module that other processes can import, got {shown(job)}: "
            "move it from the notebook or script into a module"
        )
    whole("active", active, "it counts the steps to profile")
    whole("skip", skip, "it counts the steps to leave out first")
    with tempfile.TemporaryDirectory(prefix="scalelab-") as scratch:
        folder = _folder(keep) if keep else Path(scratch)
        plan = {"job": job, "arguments": arguments, "skip": skip, "active": active}
        taken = workers.launch(profiled_job, count, limit=limit, folder=str(folder), plan=plan)
        if min(taken) < skip + active:
            raise Refusal(
                f"job must take at least {skip + active} optimizer steps, got {min(taken)}: give it "
                "more, or lower skip or active"
            )
        ranks = [timeline(kineto.read(_file(folder, r)), trace.STEP) for r in range(count)]
    machine, today = this_machine(), date.today().isoformat()
    waits = list(zip(*(_waits(same) for same in zip(*ranks, strict=True)), strict=True))
    return tuple(
        tuple(
            trace.split(step, count, rank, machine, today, before=before)
            for step, before in zip(ranks[rank], waits[rank], strict=True)
        )
        for rank in range(count)
    )


def profiled_job(folder: str, plan: dict[str, Any]) -> int:
    """Run a job under PyTorch's profiler, leave the trace, return how many steps it took."""
    from torch import distributed, profiler
    from torch.optim.optimizer import register_optimizer_step_post_hook

    taken = 0
    # Of the steps that are left out, the last one warms the profiler itself up.
    schedule = profiler.schedule(wait=plan["skip"] - 1, warmup=1, active=plan["active"], repeat=1)
    with profiler.profile(
        activities=profiler.supported_activities(),
        schedule=schedule,
        on_trace_ready=lambda p: p.export_chrome_trace(str(_file(folder, distributed.get_rank()))),
    ) as running:

        def stepped(*_: object) -> None:
            nonlocal taken
            taken += 1
            running.step()

        hook = register_optimizer_step_post_hook(stepped)
        try:
            plan["job"](**plan["arguments"])
        finally:
            hook.remove()
    return taken


def _waits(same):
    """Return for each rank when it was in a collective that another had not yet entered.

    One machine, one clock: its ranks' traces share their zero. None where the ranks differ in what
    they did, so that nothing can be matched.
    """
    names = {tuple(e.name for e in step.transfers) for step in same}
    if len(names) != 1:
        return [None] * len(same)
    last = [max(e.start for e in group) for group in zip(*(s.transfers for s in same), strict=True)]
    return [
        [(e.start, min(e.end, arrived)) for e, arrived in zip(s.transfers, last, strict=True)]
        for s in same
    ]


def _folder(path: str | Path) -> Path:
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except (TypeError, OSError):
        raise Refusal(
            f"keep must be a folder that can be made or used, got {shown(path)}: name another"
        ) from None
    return folder


def _file(folder: str | Path, rank: int) -> Path:
    return Path(folder) / f"rank{rank}.json.gz"
