"""What runs in a student's process: it is asked for cells to run, for names, and to call them.

Everything here is at the mercy of the student's code; nobody believes it more than an answer.
"""

from __future__ import annotations

import os
import random
import resource
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalelab.grading.box import cell

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Soft bounds on one process; the walls bound all of them together.
LIMITS = {"NPROC": 64, "NOFILE": 256, "FSIZE": 64 << 20, "CORE": 0, "MEMLOCK": 64 << 10}
DATA = 1 << 30  # bytes that a process may add to what it starts with
SETUP = 60.0  # seconds for each cell of ours that comes before any answer


def prepared(setup: Sequence[str]) -> InteractiveShell:
    """Return a shell that has run what comes before any answer.

    All is imported that is used below: a fork has no rights to read it.
    """
    import scalelab.checks.call
    import scalelab.checks.plain
    import scalelab.grading.box.wire  # noqa: F401

    shell = cell.shell()
    cell.warm(shell)
    _seed()
    for text in setup:
        cell.run(shell, text, SETUP)
    return shell


def main(shell: InteractiveShell, channel: int) -> None:
    """Answer what comes over the socket until it is closed."""
    from scalelab.grading.box import wire

    line = socket.socket(fileno=channel)
    _quiet()
    names = shell.user_ns
    while True:
        try:
            asked = wire.receive(line)
        except EOFError:
            return
        if "environment" in asked:
            os.environ.update(asked["environment"])
            wire.send(line, {})
        elif "run" in asked:
            wire.send(line, cell.run(shell, asked["run"], asked["seconds"]))
        elif "copy" in asked:
            line = _copied(line)
        else:
            for answer in _answers(names, asked):
                wire.send(line, answer)


def _copied(channel):
    """Leave a copy of this process that answers on a channel of its own; return each one's own.

    A thread would be missing in the copy, so where there are any, none is made.
    """
    from scalelab.grading.box import wire

    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    own = socket.socket(fileno=descriptors[0])
    try:
        pid = None if len(os.listdir("/proc/self/task")) > 1 else os.fork()
    except OSError:
        pid = None
    if pid == 0:
        channel.close()
        return own
    own.close()
    wire.send(channel, {"copied": pid is not None})
    return channel


def limit(data_now: int) -> None:
    """Bound this process; called before any of the student's code."""
    for name, most in LIMITS.items():
        _lower(getattr(resource, f"RLIMIT_{name}"), most)
    _lower(resource.RLIMIT_DATA, data_now + DATA)


def _lower(what, most):
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _answers(names, asked):
    """Say what names stand for, or what calling one on some cases gives, until the time is up."""
    from scalelab.checks.call import calls
    from scalelab.checks.plain import plain
    from scalelab.grading.box import wire

    for name in asked.get("names", ()):
        value = names.get(name)
        yield {"callable": callable(value), "value": wire.encoded(plain(value))}
    cases = map(wire.unpacked, asked.get("cases", ()))
    for outcome in calls(names.get(asked.get("call")), cases, asked["seconds"]):
        yield {"outcome": wire.as_message(outcome)}


def _quiet():
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _seed():
    """Give everybody the same random numbers, so that grading twice gives the same result."""
    import sys

    random.seed(0)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
