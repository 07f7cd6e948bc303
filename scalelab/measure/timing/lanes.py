"""Who did what when: jobs that wait for one another, done by a few threads that take what is ready."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from scalelab.arguments import shown, whole
from scalelab.measure.timing import devices
from scalelab.refusal import Refusal


class Ran(NamedTuple):
    """A job that was done: which, by which worker, from when to when, in seconds after the start."""

    node: Hashable
    worker: int
    start: float
    finish: float


def in_lanes(
    jobs: Mapping[Hashable, Callable[[], object]],
    needs: Mapping[Hashable, Iterable[Hashable]],
    workers: int,
    *,
    clock: devices.Clock = time.perf_counter,
) -> tuple[Ran, ...]:
    """Run jobs on some threads, each as soon as a thread is free and all that it needs is done.

    Whoever is free takes the job that has been ready for longest: the schedule is greedy. Jobs that
    release Python's lock, as torch's products do, run at the same time. Section 3.6.

    >>> [one.node for one in in_lanes({"roof": list, "wall": list}, {"roof": ["wall"]}, workers=2)]
    ['wall', 'roof']
    """
    workers = whole("workers", workers, "it counts the threads", 1, 1024)
    order = _order(jobs, needs)
    ready = deque(order.get_ready())
    ran: list[Ran] = []
    failed: list[Hashable] = []
    turn = threading.Condition()
    begin = clock()

    def work(worker):
        while True:
            with turn:
                turn.wait_for(lambda: ready or failed or not order.is_active())
                if failed or not ready:
                    return
                node = ready.popleft()
            try:
                start = clock()
                jobs[node]()
                finish = clock()
            except BaseException:
                with turn:
                    failed.append(node)
                    turn.notify_all()
                raise
            with turn:
                ran.append(Ran(node, worker, start - begin, finish - begin))
                order.done(node)
                ready.extend(order.get_ready())
                turn.notify_all()

    with ThreadPoolExecutor(workers) as threads:
        for one in [threads.submit(work, worker) for worker in range(workers)]:
            one.result()
    return tuple(ran)


def _order(jobs, needs):
    unknown = ({*needs} | {need for wanted in needs.values() for need in wanted}) - {*jobs}
    if unknown:
        raise Refusal(
            f"needs must name jobs, got {shown(sorted(map(str, unknown))[0])}: give each a function"
        )
    order = TopologicalSorter({node: needs.get(node, ()) for node in jobs})
    try:
        order.prepare()
    except CycleError as error:
        raise Refusal(
            f"needs must not go in a circle, got {shown(error.args[1])}: none of them can be first"
        ) from None
    return order
