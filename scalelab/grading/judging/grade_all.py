"""A class graded by several processes, here or on a cluster: who works, and who is given up."""

import concurrent.futures
import contextlib
import ctypes
import json
import multiprocessing.context
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalelab.files import atomic
from scalelab.grading.box import bubblewrap
from scalelab.grading.box.sandbox import START, NoWorker, not_started
from scalelab.grading.judging import result as results
from scalelab.grading.judging.grade_one import QUICK, Unit, grade_unsettled, settled
from scalelab.grading.judging.result import Result
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
        pool.end()
        bubblewrap.sweep()


def _started(workers):
    """Return a pool of which one process has answered."""
    pool = None
    try:
        pool = _Pool(workers)
        # The others start with their work: a pool that breaks while one starts mixes up its files.
        pool.submit(os.getpid).result(START)
        return pool
    except BaseException as error:
        statuses = {process.exitcode for process in pool.end()} if pool else set()
        if not isinstance(error, (concurrent.futures.BrokenExecutor, OSError)):
            raise
        itself = statuses - {-signal.SIGTERM, -signal.SIGKILL}  # by these we end the others
        said = f"a process ended with status {min(itself)} as it began" if itself else str(error)
        raise not_started(said) from None


class _Pool(concurrent.futures.ProcessPoolExecutor):
    """A pool that knows its processes, and how many there may be."""

    def __init__(self, workers):
        self._workers, self._context = workers, _Spawning()
        super().__init__(
            workers, mp_context=self._context, initializer=_begin, initargs=(os.getpid(),)
        )

    def threads(self):
        """Return how many submissions are graded at once."""
        return self._workers

    def end(self):
        """Kill the processes, which may be in the middle of an endless loop; return them."""
        # The pool has to close its files, or the next one would be given their numbers meanwhile.
        # It may never come to that where a process died in the middle of a message: hence a time.
        if sys.version_info < (3, 11, 5):  # there such a message kept this program from ending
            with contextlib.suppress(AttributeError):  # of a pool that has let go of it
                self._call_queue._reader.close()  # type: ignore[attr-defined]
        closing = threading.Thread(
            target=self.shutdown, kwargs={"cancel_futures": True}, daemon=True
        )
        closing.start()
        started = [process for process in self._context.processes if process.pid is not None]
        for process in started:
            process.kill()
            process.join()
        closing.join(5)
        return started


class _Spawning(multiprocessing.context.SpawnContext):
    """Starts processes anew, and remembers which."""

    def __init__(self):
        self.processes = []

    def Process(self, *args, **named):  # type: ignore[override]  # a class there, called all the same
        process = super().Process(*args, **named)
        self.processes.append(process)
        return process


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
        yield _DaskExecutor(client)


class _DaskExecutor(concurrent.futures.Executor):
    """The executor of a Dask client that knows how many workers there are just now."""

    def __init__(self, client):
        self._client, self._executor = client, client.get_executor(pure=False)

    def submit(self, function, /, *arguments, **named):
        return self._executor.submit(function, *arguments, **named)

    def threads(self):
        """Return how many submissions are graded at once."""
        return sum(self._client.nthreads().values())


def slots(executor: Any) -> int:
    """Return how many submissions to hand out at once, so that nobody waits for the next."""
    return 2 * max(1, executor.threads())


def _begin(parent):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we could ask to die with it
        os._exit(1)


Pool = Callable[[], AbstractContextManager[concurrent.futures.Executor]]
Slots = Callable[[concurrent.futures.Executor], int]  # how many jobs to hand out at once
Progress = Callable[[int, int, Result], object]  # told how many are done, of how many, and the last
ATTEMPTS = 3  # workers that one submission may lose before it is given up
JUDGING = 60.0  # seconds for all that is not the student's code; a worker that needs more hangs


def run(
    jobs: Sequence[Unit],
    executor: Pool,
    slots: Slots,
    folder: Path,
    report: Progress = lambda done, total, result: None,
) -> dict[str, Result]:
    """Grade all jobs; return {student: result}, each kept in `folder` as well.

    `executor` is called for a context that gives an executor, again whenever one is broken.
    """
    done: dict[str, Result] = {}
    seconds: dict[str, float] = {}
    attempts: dict[str, int] = {}
    waiting = [replace(job, quick=job.limits.cell > QUICK) for job in jobs]
    total = len(jobs)

    def finish(job, result):
        student = job.submission.student
        atomic.keep(folder / f"{results.file_name(student)}.json", results.written(result))
        done[student] = result
        report(len(done), total, result)

    while waiting := _without_settled(waiting, finish):
        with executor() as pool:
            waiting = _drain(pool, waiting, slots(pool), finish, attempts, seconds)
    atomic.keep(folder.parent / "timings.json", _timings(seconds))
    return done


def _without_settled(jobs, finish):
    """Finish jobs up to the first that has to be run; return that one, loaded, and all after it.

    So a run in which nothing has to be run starts no worker.
    """
    for n, job in enumerate(jobs):
        loaded = _loaded(job)
        result = settled(loaded)
        if result is None:
            return [loaded, *jobs[n + 1 :]]
        finish(job, result)
    return []


def _drain(pool, waiting, slots, finish, attempts, seconds):
    """Hand out jobs until all are done or the pool is broken; return those that are left."""
    running: dict[concurrent.futures.Future, Unit] = {}
    slow: list[Unit] = []
    broken, stopped = False, None
    waiting, began = waiting[::-1], time.monotonic()
    while (waiting or running or slow) and not broken:
        if not waiting and not running:
            waiting, slow = slow[::-1], []
        while waiting and len(running) < slots and not _alone([*running.values()], attempts):
            if running and _alone(waiting[-1:], attempts):
                break
            job = waiting.pop()
            loaded = _loaded(job)  # one by one: a class of them would not fit into memory
            result = settled(loaded)
            if result is None and attempts.get(job.submission.student, 0) >= ATTEMPTS:
                result = _given_up(job)
            if result is not None:
                finish(job, result)
                continue
            try:
                running[pool.submit(timed, loaded)] = job
            except concurrent.futures.BrokenExecutor:
                waiting.append(job)
                broken = True
                break
        ready, _ = concurrent.futures.wait(running, 1.0, return_when="FIRST_COMPLETED")
        if ready:
            began = time.monotonic()
        elif time.monotonic() > began + _patience(running.values()):
            broken = True
        for future in ready:
            job = running.pop(future)
            student = job.submission.student
            try:
                spent, result = future.result()
            except NoWorker as error:
                stopped = error
                continue
            except Exception as error:
                broken |= isinstance(error, concurrent.futures.BrokenExecutor)
                attempts[student] = attempts.get(student, 0) + 1
                waiting.insert(0, job)
                continue
            seconds[student] = seconds.get(student, 0.0) + spent
            if result is None:
                slow.append(replace(job, quick=False))
            else:
                finish(job, result)
        if stopped:  # the others are none the better for a new pool
            raise stopped
    for job in running.values():  # one of them may be to blame
        attempts[job.submission.student] = attempts.get(job.submission.student, 0) + 1
    return [*waiting[::-1], *slow, *running.values()]


def _alone(jobs, attempts):
    """Say whether one of some jobs was there when a worker was lost: it must not lose others'."""
    return any(attempts.get(job.submission.student) for job in jobs)


def _loaded(job):
    return replace(job, submission=job.submission.loaded())


def timed(job: Unit) -> tuple[float, Result | None]:
    """Grade one submission that is not settled where this runs; return (seconds, result)."""
    start = time.monotonic()
    result = grade_unsettled(job)
    return time.monotonic() - start, result


def _patience(jobs):
    """Return the seconds in which one of some jobs must end, if it is to end at all."""
    return START + JUDGING + max((job.limits.submission for job in jobs), default=0.0)


def _given_up(job):
    """Return the result of a submission that several workers did not survive."""
    what = f"the grader stopped {ATTEMPTS} times while it was at work on this one"
    return results.result(job.source, job.submission, status=results.FAILED, reason=what)


def _timings(seconds):
    rounded = {student: round(spent, 3) for student, spent in sorted(seconds.items())}
    return (json.dumps(rounded, indent=1) + "\n").encode()
