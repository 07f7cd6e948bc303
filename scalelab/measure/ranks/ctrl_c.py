"""Ctrl-C while processes start: it waits until they stand, and never reaches them.

A terminal sends it to every process in the foreground. The agent stops the others, and one that is
only half started would add nothing but a traceback.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold Ctrl-C back for the block, from the processes that it starts for good."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # now, because its start would let the signal through again
    came: list[tuple[Any, ...]] = []
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread hears it, and whoever ignores it goes on ignoring it.
    holds = threading.current_thread() is threading.main_thread() and callable(before)
    if holds:
        signal.signal(signal.SIGINT, lambda *seen: came.append(seen))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started inherits it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if holds:
            signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(*came[0])
