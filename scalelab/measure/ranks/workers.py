"""Run a job on K real processes, of this machine or of a torchrun, and collect what each returns."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from scalelab.arguments import real, shown, unpainted
from scalelab.measure.ranks import agent, capacity, crash, torchrun
from scalelab.measure.timing.timing import threads
from scalelab.refusal import Failure, Refusal
from scalelab.units import counted, text

if TYPE_CHECKING:
    import torch

_Result = TypeVar("_Result")


class WorkerError(Failure):
    """A rank failed, ended without a result, or took too long."""

    def __init__(self, job: str, said: str = "", output: str = "", cause: str = "") -> None:
        super().__init__(f"{job} {said}".rstrip())
        self.said = said  # of that job, whoever names it otherwise
        self.output = unpainted(output)  # the end of what that rank had written
        self.cause = cause or said  # in a few words


def launch(
    job: Callable[..., _Result],
    workers: int,
    *,
    device: str = "cpu",
    limit: float = 120.0,
    **arguments: Any,
) -> list[_Result]:
    """Run `job(**arguments)` on every rank of a group and return the results in rank order.

    On "cpu" the ranks talk through gloo, on "cuda" through NCCL with a GPU each; `place()` tells the
    job where to put its tensors. One worker takes the same path as many, so that T(1) and T(K)
    compare. Each process uses one thread. `job` must be a function of an importable module; the time
    limit covers the start of the processes. Whatever happens, none is left running.

    In a program that torchrun started, on one node or on many, its first K ranks are the workers:
    every rank must make the same call, and every rank gets all the results. Sections 3.1 and 3.3.
    """
    _check(job, workers, device, limit, arguments)
    run = torchrun.run if torchrun.inside() else agent.run
    try:
        results = run(_rank, (job, arguments, capacity.BACKENDS[device], limit), workers, limit)
    except agent.Failed as cause:
        remedy = "mend the job, or give it longer" if cause.late else "mend the job"
        raise WorkerError(
            job.__name__,
            f"must finish on {counted(workers, 'rank')} within {text(limit, 's')}, got {cause}: {remedy}",
            cause.output,
            str(cause),
        ) from None
    return [results[rank] for rank in range(workers)]


def speaks() -> bool:
    """Whether this process speaks for all: rank 0 of a torchrun, or the only one."""
    return torchrun.rank() == 0


def place() -> torch.device:
    """Return the torch.device of this rank, inside a job: its GPU under NCCL, else the CPU."""
    import torch
    from torch import distributed

    if distributed.get_backend() == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


def _rank(deadline, job, arguments, backend, limit, **meeting):
    """Join the group, do the job, hand back its result: what each process runs."""
    from torch import cuda, device, distributed

    if not meeting:  # started by `agent`, not by a torchrun that may span machines
        threading.Thread(target=_end_with_parent, daemon=True).start()
        crash.watch(deadline)
        if os.path.exists("/sys/class/net/lo"):
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    if backend == "nccl":
        own = device("cuda", int(os.environ["LOCAL_RANK"]))
        cuda.set_device(own)
        meeting["device_id"] = own
    try:
        with threads(1):
            distributed.init_process_group(backend, timeout=timedelta(seconds=limit), **meeting)
            distributed.barrier()  # no rank may finish and leave while another still connects
            result = job(**arguments)
        pickle.dumps(result)
    except SystemExit as stop:
        raise RuntimeError(f"sys.exit({stop.code!r})") from stop
    except RuntimeError as error:
        # A lost connection is the echo of another rank's death: let the agent find that one first.
        if "gloo" in str(error):
            time.sleep(1)
        raise
    distributed.destroy_process_group()
    return result


def _end_with_parent():
    """Kill this rank once the process that launched it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent, "a rank is started by another process"
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def _check(job, workers, device, limit, arguments):
    module = sys.modules.get(getattr(job, "__module__", None) or "")
    importable = getattr(module, getattr(job, "__qualname__", ""), None)
    if not callable(job) or importable is not job or job.__module__ == "__main__":
        raise Refusal(
            f"job must be a function of a module that other processes can import, got {shown(job)}: "
            "move it from the notebook or script into a module"
        )
    capacity.fit(workers, device)
    meaning = "it is how many seconds the job may take, the start of its processes included"
    real("limit", limit, meaning, 0, 86400, above=True)
    try:
        pickle.dumps(arguments)
    except Exception as error:
        raise Refusal(
            f"arguments must be data that can be pickled, got an error instead ({error}): "
            "send numbers, text and arrays, and build the rest inside the job"
        ) from None
    if sys.platform == "win32":
        raise Refusal("launch must run on Linux or macOS, got Windows: use it inside WSL")
