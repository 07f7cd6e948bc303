"""Grade a class: every submission ends in exactly one state, whatever the others did.

Each result is written as soon as it is known, whole or not at all. A worker that dies is replaced
and its submissions are handed out again; one that cannot even start ends the run, for no student
is to blame. Submissions that take long wait until the others are done. Standard library only.
"""

import concurrent.futures
import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from scalelab.grading.box.sandbox import NoWorker
from scalelab.grading.judging import result as results
from scalelab.grading.judging.grade_one import QUICK, Job, grade, settled
from scalelab.grading.judging.result import Result

Pool = Callable[[], AbstractContextManager[concurrent.futures.Executor]]
Slots = Callable[[concurrent.futures.Executor], int]  # how many jobs to hand out at once
Progress = Callable[[int, int, Result], object]  # told how many are done, of how many, and the last
ATTEMPTS = 3  # workers that one submission may lose before it is given up


def run(
    jobs: Sequence[Job],
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
    waiting: list[Job] = []
    total = len(jobs)

    def finish(job, found):
        student = job.submission.student
        results.keep(folder / f"{results.file_name(student)}.json", results.written(found))
        done[student] = found
        report(len(done), total, found)

    for job in jobs:
        found = settled(_loaded(job))
        if found is None:
            waiting.append(replace(job, quick=job.limits.cell > QUICK))
        else:
            finish(job, found)
    while waiting:
        with executor() as pool:
            waiting = _drain(pool, waiting, slots(pool), finish, attempts, seconds)
    results.keep(folder.parent / "timings.json", _timings(seconds))
    return done


def _drain(pool, waiting, slots, finish, attempts, seconds):
    """Hand out jobs until all are done or the pool is broken; return those that are left."""
    running, slow, broken, stopped = {}, [], False, None
    waiting = waiting[::-1]
    while (waiting or running or slow) and not broken:
        if not waiting and not running:
            waiting, slow = slow[::-1], []
        while waiting and len(running) < slots and not _alone([*running.values()], attempts):
            if running and _alone(waiting[-1:], attempts):
                break
            job = waiting.pop()
            try:
                running[pool.submit(timed, _loaded(job))] = job
            except concurrent.futures.BrokenExecutor:
                waiting.append(job)
                broken = True
                break
        ready, _ = concurrent.futures.wait(running, return_when="FIRST_COMPLETED")
        for future in ready:
            job = running.pop(future)
            student = job.submission.student
            try:
                spent, found = future.result()
            except NoWorker as error:
                stopped = error
                continue
            except Exception as error:
                broken |= isinstance(error, concurrent.futures.BrokenExecutor)
                attempts[student] = attempts.get(student, 0) + 1
                if attempts[student] < ATTEMPTS:
                    waiting.insert(0, job)
                else:
                    finish(job, _given_up(job, error))
                continue
            seconds[student] = seconds.get(student, 0.0) + spent
            if found is None:
                slow.append(replace(job, quick=False))
            else:
                finish(job, found)
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


def timed(job: Job) -> tuple[float, Result | None]:
    """Grade one submission where this runs; return (seconds, result)."""
    start = time.monotonic()
    found = grade(job)
    return time.monotonic() - start, found


def _given_up(job, error):
    """Return the result of a submission that several workers did not survive."""
    what = f"the grader stopped {ATTEMPTS} times ({type(error).__name__}: {error})"[:300]
    return results.result(job.source, job.submission, status=results.FAILED, reason=what)


def _timings(seconds):
    told = {student: round(spent, 3) for student, spent in sorted(seconds.items())}
    return (json.dumps(told, indent=1) + "\n").encode()
