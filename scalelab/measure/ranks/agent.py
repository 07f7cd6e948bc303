"""PyTorch's elastic agent, the engine of torchrun, with the defaults of one machine.

It starts the processes, lets them meet on a free local port, stops them all when one fails, and
leaves nothing behind. Added here: a time limit, the silent exit, silence. Torch inside functions.
"""

import contextlib
import logging
import multiprocessing
import os
import sys
import tempfile
import time
import types
import uuid
from collections.abc import Callable
from typing import Any, cast

from scalelab.arguments import unpainted
from scalelab.measure.ranks import aside, crash, ctrl_c

# A fork server imports torch once: a first launch takes a few seconds, the next a tenth of one.
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
# The second is what the first optimizer of a process imports, for longer than torch itself takes.
_PRELOADED = ["torch.distributed.elastic.multiprocessing.errors", "torch._dynamo"]
_HOST = "127.0.0.1"
_TALKATIVE = ("torch.distributed.elastic", "torch.multiprocessing", "torchelastic-events-null")


class Failed(Exception):
    """The cause, in a few words, and the end of what the rank had written."""

    def __init__(self, cause: str, output: str = "", *, late: bool = False) -> None:
        super().__init__(unpainted(cause))
        self.output, self.late = output, late


def run(
    entry: Callable[..., object], arguments: tuple[object, ...], workers: int, limit: float
) -> dict[int, Any]:
    """Run `entry(deadline, *arguments)` in `workers` processes; return {rank: result}, or Failed."""
    deadline = time.monotonic() + limit
    with tempfile.TemporaryDirectory(prefix="scalelab-") as folder, _quiet():
        if METHOD == "forkserver":
            _start_server()  # it imports torch while this process does, two lines below
        spec, agent = _agent(entry, (deadline, *arguments), workers, deadline, folder)
        with _unnamed():
            try:
                result = agent.run()
            finally:
                spec.rdzv_handler.shutdown()
        for rank, failure in result.failures.items():
            wrote, place = crash.output(folder, rank), _place(failure)
            raise Failed(
                f"{_cause(failure)} on rank {rank}", "\n".join(filter(None, (wrote, place)))
            )
    return result.return_values


def _agent(entry, arguments, workers, deadline, folder):
    from torch.distributed.elastic import rendezvous
    from torch.distributed.elastic.agent.server import WorkerSpec, WorkerState
    from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std

    class Agent(LocalElasticAgent):
        def _start_workers(self, group):
            with _starting(), _scratch(folder):
                return super()._start_workers(group)

        def _monitor_workers(self, group):
            result = super()._monitor_workers(group)
            # A rank whose result is delivered still waits for the others, and any exit but 0 torch
            # reports itself. Its process id tells less: it is free before the exit code is known.
            codes = [process.exitcode for process in cast(Any, self._pcontext)._pc.processes]
            gone = [
                worker.global_rank
                for worker, code in zip(group.workers, codes, strict=True)
                if code == 0
            ]
            if result.state == WorkerState.HEALTHY and gone:
                wrote = crash.output(folder, gone[0])
                raise Failed(f"an exit without a result on rank {gone[0]}", wrote)
            if result.state == WorkerState.HEALTHY and time.monotonic() > deadline:
                stood = crash.standing(folder)
                raise Failed(f"no end within the time limit{stood and f' ({stood})'}", late=True)
            return result

    meeting = rendezvous.RendezvousParameters(
        backend="c10d",
        endpoint=f"{_HOST}:0",
        run_id=uuid.uuid4().hex,
        min_nodes=1,
        max_nodes=1,
        local_addr=_HOST,
    )
    spec = WorkerSpec(
        role="scalelab",
        local_world_size=workers,
        rdzv_handler=rendezvous.registry.get_rendezvous_handler(meeting),
        entrypoint=entry,
        args=arguments,
        max_restarts=0,
        monitor_interval=0.02,
        local_addr=_HOST,
    )
    return spec, Agent(spec, DefaultLogsSpecs(folder, redirects=Std.ALL), start_method=METHOD)


def _start_server():
    from multiprocessing import forkserver

    multiprocessing.set_forkserver_preload(_PRELOADED)
    with _starting():
        forkserver.ensure_running()


def _cause(failure):
    """Say in one line how a rank failed: its exception, the signal, or the exit code."""
    data = failure.error_file_data.get("message")
    if isinstance(data, dict) and data.get("message"):
        line = " ".join(data["message"].split()).removesuffix(":").removeprefix("Refusal: ")
        return line if len(line) <= 200 else f"{line[:197]}..."
    return failure.signal_name() if failure.exitcode < 0 else f"exit code {failure.exitcode}"


def _place(failure):
    """Say where in the user's own files an exception was raised, or nothing."""
    data = failure.error_file_data.get("message")
    stack = data.get("extraInfo", {}).get("py_callstack", "") if isinstance(data, dict) else ""
    place = crash.raised(stack)
    return f"raised in {place}" if place else ""


@contextlib.contextmanager
def _starting():
    """Start processes with one thread for every library, without Ctrl-C and the caller's script.

    Ranks never need that script, and would run it again to import it.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        # They import the module of the job before their output has a file of its own.
        with ctrl_c.held(), _environment(OMP_NUM_THREADS="1"), aside.stdout():
            yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _scratch(folder):
    """Keep in the folder the file that torch leaves behind for each process that fails."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextlib.contextmanager
def _quiet():
    """Silence the agent's log, and keep it from replacing this process's signal handlers."""
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    silence = logging.NullHandler()
    for logger in loggers:
        logger.addHandler(silence)
        logger.propagate = False
    try:
        with _environment(TORCHELASTIC_SIGNALS_TO_HANDLE=""):
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(silence)
            logger.propagate = True


@contextlib.contextmanager
def _unnamed():
    """Keep the rendezvous from asking who called it, for a log that is off.

    It looks up the source of the whole stack, again and again: under a notebook or a test, where the
    stack is deep, that takes longer than the launch.
    """
    from torch.distributed.elastic.rendezvous import dynamic_rendezvous as rendezvous

    before: Any = getattr(rendezvous, "get_method_name", None)
    rendezvous.get_method_name = lambda *_: ""
    try:
        yield
    finally:
        rendezvous.get_method_name = before


@contextlib.contextmanager
def _environment(**wanted):
    before = {name: os.environ.pop(name, None) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
