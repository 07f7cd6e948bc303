"""Whether other programs disturbed a measurement, and another try if they did.

Linux counts how long a thread was ready to run while others had the processor: that time is in
the clock's reading and belongs to none of our work. Elsewhere nothing is known, and nothing repeated.
"""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from scalelab.arguments import real, whole

_PROC = Path("/proc")
# A kernel at rest takes up to 1% for itself.
_MOST = 0.02

_Result = TypeVar("_Result")


class Try(NamedTuple, Generic[_Result]):
    """The least disturbed of some tries."""

    result: _Result
    waited: float | None  # by all threads, as a share of the time it took; None where unknown
    tries: int

    @property
    def disturbed(self) -> bool:
        """Whether even this one was."""
        return self.waited is not None and self.waited > _MOST


def waited(proc: Path = _PROC) -> float | None:
    """Return the seconds that this process's threads were kept waiting so far, or None.

    What a virtual machine's host took away ("steal") is in it.
    Source: https://docs.kernel.org/scheduler/sched-stats.html.
    """
    threads = [_numbers(path) for path in (proc / "self/task").glob("*/schedstat")]
    if not any(threads):
        return None
    stolen = _numbers(proc / "stat", word="cpu")[7:8]
    tick = os.sysconf("SC_CLK_TCK")
    return sum(times[1] for times in threads if times) / 1e9 + sum(stolen) / tick


def undisturbed(
    measure: Callable[[], _Result],
    *,
    tries: int = 3,
    pause: float = 0.0,
    waited: Callable[[], float | None] = waited,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
) -> Try[_Result]:
    """Call measure() until other programs leave it alone, at most `tries` times; keep the calmest.

    In between it rests for `pause` seconds. Section 3.7.

    >>> undisturbed(lambda: 7, waited=lambda: 0.0)
    Try(result=7, waited=0.0, tries=1)
    """
    tries = whole("tries", tries, "it counts how often to measure at most")
    best: Try[_Result] | None = None
    least = math.inf
    for count in range(1, tries + 1):
        if count > 1:
            sleep(pause)
        before, start = waited(), clock()
        result = measure()
        after, seconds = waited(), clock() - start
        if before is None or after is None or seconds <= 0:
            return Try(result, None, count)
        # Threads that ended took their part of the sum with them.
        share = max(0.0, real("waited", after - before, "it is in seconds") / seconds)
        if best is None or share < least:
            best, least = Try(result, share, count), share
        best = best._replace(tries=count)
        if not best.disturbed:
            break
    assert best is not None  # of one try at least
    return best


def _numbers(path: Path, word: str = "") -> list[int]:
    """Return the numbers on a file's first line, after this word."""
    try:
        line = path.read_text().partition("\n")[0]
    except OSError:  # the thread has just ended, or the kernel does not count
        return []
    parts = line.removeprefix(word).split()
    return [int(part) for part in parts] if all(map(str.isdigit, parts)) else []
