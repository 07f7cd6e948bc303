"""Where the units of work run: processes of this machine, or a Dask cluster by address.

Both are `concurrent.futures` executors. `distributed` is imported only where it is asked for.
"""

import concurrent.futures
import contextlib
import ctypes
import multiprocessing
import os
import re
import signal
from collections.abc import Iterator
from typing import Any

from scalelab.grading.box import bubblewrap
from scalelab.grading.box.sandbox import START, NoWorker, not_started
from scalelab.refusal import Refusal


@contextlib.contextmanager
def local(workers: int) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Give a pool of processes, which die with this one whatever ends it."""
    try:
        pool = _started(workers)
    except NoWorker:  # the first may have been killed by somebody else
        pool = _started(workers)
    try:
        yield pool
    finally:
        _end(pool)
        bubblewrap.sweep()


def _started(workers):
    """Return a pool of which one process has answered."""
    pool = None
    try:
        pool = concurrent.futures.ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(os.getpid(),),
        )
        # The others start with their work: a pool that breaks while one starts mixes up its files.
        pool.submit(os.getpid).result(START)
        return pool
    except BaseException as error:
        ended = {process.exitcode for process in _end(pool)} if pool else set()
        if not isinstance(error, (concurrent.futures.BrokenExecutor, OSError)):
            raise
        itself = ended - {-signal.SIGTERM, -signal.SIGKILL}  # by these we end the others
        said = f"a process ended with status {min(itself)} as it began" if itself else str(error)
        raise not_started(said) from None


def _end(pool):
    """Kill the processes of a pool, which may be in the middle of an endless loop; return them."""
    processes, manager = list((pool._processes or {}).values()), pool._executor_manager_thread
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
        process.join()
    if manager is not None:
        manager.join(5)  # it closes files, whose numbers the next pool would be given meanwhile
    return processes


@contextlib.contextmanager
def dask(address: str) -> Iterator[concurrent.futures.Executor]:
    """Give the executor of a cluster whose scheduler listens at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise Refusal(
            "--executor must find Dask, got no package `distributed`: pip install scalelab[cluster]"
        ) from None
    wrong = (
        f"--executor must be the address of a running Dask scheduler, got {address!r}: "
        "start `dask scheduler` and workers first, and write it like tcp://head:8786"
    )
    if not re.fullmatch(r"(\w+://)?[^/\s]+:\d+", address):
        raise Refusal(wrong)
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        raise Refusal(wrong) from None
    with client:
        yield client.get_executor(pure=False)


def slots(executor: Any) -> int:
    """Return how many submissions to hand out at once, so that nobody waits for the next."""
    client = getattr(executor, "_client", None)
    return 2 * max(1, sum(client.nthreads().values()) if client else executor._max_workers)


def _begin(parent):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we could ask to die with it
        os._exit(1)
