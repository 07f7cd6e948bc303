"""Our end of the walls: start the fork server, ask for forks, talk with them, end them.

Every answer comes within its time or not at all. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from scalelab.grading.box import bubblewrap as built, wire
from scalelab.refusal import Refusal

# What any assignment may want besides what its own cells import. It takes seconds, so once per worker.
MODULES = ("numpy", "matplotlib.pyplot", "scalelab.checks", "scalelab.records")
START = 180.0  # seconds for all imports on a busy machine


class NoWorker(Refusal):
    """A machine cannot isolate, or cannot start what does: no student's code has run on it."""


def not_started(what: str) -> NoWorker:
    """Return a NoWorker that says what was wrong on this machine, and what to do."""
    return NoWorker(
        f"grading must start a worker on {socket.gethostname()}, got none "
        f"({wire.clean(what)[:300]}): mend that and go on with --resume; what is graded is kept"
    )


class Died(Exception):
    """The student's process ended, or was ended: too late, too much, or by itself."""


class Sandbox:
    """A fork server behind walls; `with` ends it and all that it has started.

    Each of its forks has run the cells of `setup`, but where these start threads; `ready` holds them then.
    """

    def __init__(
        self, modules: Iterable[str] = MODULES, unsafe: bool = False, setup: Iterable[str] = ()
    ) -> None:
        self.walls = built.find()
        if self.walls.missing and not unsafe:
            raise NoWorker(
                "grading must isolate students' code, got a machine that cannot "
                f"({self.walls.missing}): see `scalelab grade --doctor`, or accept it by --unsafe"
            )
        self.open, self.used = contextlib.ExitStack(), False
        self.alive: set[int] = set()
        try:
            self.ready = frozenset(setup)
            if self._start(modules, setup) > 1:  # a fork would have none of them
                self.open.close()
                self.ready = frozenset()
                self._start(modules, ())
        except BaseException as error:
            self.open.close()
            if isinstance(error, (RuntimeError, OSError)):
                raise not_started(str(error)) from None
            raise

    def _start(self, modules, setup):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = self.open.enter_context(ours)
        isolated = not self.walls.missing
        settings = {"modules": list(modules), "walls": isolated, "setup": list(setup)}
        line = [sys.executable, "-m", "scalelab.grading.box.fork_server"]
        line += [str(theirs.fileno()), json.dumps(settings)]
        self.errors = self.open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        environment, folder = built.environment(), "/"
        if not isolated:
            folder = self.open.enter_context(tempfile.TemporaryDirectory())
            environment |= {"HOME": folder, "IPYTHONDIR": folder, "MPLCONFIGDIR": folder}
        joined = self.open.enter_context(built.limited(self.walls))
        line = built.command(line) if isolated else line
        self.process = subprocess.Popen(
            [*joined, *line],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self.open.callback(self._end)
        return self._heard(time.monotonic() + START)["threads"]

    def fork(self, environment: Mapping[str, str]) -> Fork:
        """Return a fresh Fork that has answered: how it ends is the student's doing from here on."""
        try:
            fork = self._forked(environment) or self._forked(environment)
            if fork is None:
                raise RuntimeError(f"an exercise got no process: {self._last_words()}")
        except (RuntimeError, OSError) as error:
            if self.used:  # something that a student left behind may be in the way
                raise
            raise not_started(str(error)) from None
        self.used = True
        return fork

    def _forked(self, environment):
        """Return a fresh Fork, or None where its walls could not be built; then all others are gone."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"fork"], [theirs.fileno()])
        while "started" not in (reply := self._heard(time.monotonic() + START)):
            pass
        fork = Fork(self, ours, reply["started"])
        self.alive.add(fork.pid)
        try:
            fork.ask({"environment": environment}, START)
        except Died:
            fork.kill()
            self.wait()
            return None
        return fork

    def kill(self, pid: int) -> None:
        """End a fork and everything it started, without waiting."""
        self.control.send(json.dumps({"kill": pid}).encode())

    def wait(self) -> None:
        """Wait until all forks, which have been told to end, are gone."""
        while self.alive:
            self._heard(time.monotonic() + START)

    def _heard(self, end):
        """Read one message of the server; note who has ended."""
        ready, _, _ = select.select([self.control], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise RuntimeError(f"no word from the fork server for {START:g} s")
        data = self.control.recv(10_000)
        if not data:
            raise RuntimeError(f"the fork server is gone: {self._last_words()}")
        said = json.loads(data)
        if "ended" in said:
            self.alive.discard(said["ended"])
        return said

    def _last_words(self):
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        if lines:
            return lines[-1]
        with contextlib.suppress(subprocess.TimeoutExpired):
            return f"it said nothing and ended with status {self.process.wait(1)}"
        return "it said nothing"

    def _end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End the server, and with it everything behind the walls."""
        self.open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Fork:
    """One student's process."""

    def __init__(self, sandbox: Sandbox, channel: socket.socket, pid: int) -> None:
        self.sandbox, self.channel, self.pid = sandbox, channel, pid
        self.copies: list[Fork] = []
        self.room: wire.Room | None = None  # for all that it sends

    def copy(self, seconds: float) -> Fork | None:
        """Return this process as it is now, to be asked later; None where it cannot be copied.

        The copy lives among the processes of this one, and ends with it.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            self.copies.append(Fork(self.sandbox, ours, self.pid))
            self.copies[-1].room = self.room
            said = self.ask({"copy": True}, seconds, theirs)
        return self.copies[-1] if said.get("copied") is True else None

    def alive(self, seconds: float) -> bool:
        """Say whether this process still answers: another one may have ended it."""
        try:
            self.ask({"environment": {}}, seconds)
        except Died:
            return False
        return True

    def ask(
        self, message: Mapping[str, object], seconds: float, channel: socket.socket | None = None
    ) -> dict[str, Any]:
        """Send a message and return the answer; raise Died where none comes in time."""
        return next(self.answers(message, seconds, 1, channel))

    def answers(
        self,
        message: Mapping[str, object],
        seconds: float,
        count: int,
        channel: socket.socket | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Send a message and yield so many answers; raise Died where the last does not come in time."""
        end = time.monotonic() + seconds
        self.channel.settimeout(seconds)
        try:
            wire.send(self.channel, message)
            if channel is not None:
                socket.send_fds(self.channel, [b"+"], [channel.fileno()])
            for _ in range(count):
                answer = wire.receive(self.channel, end, self.room)
                if not isinstance(answer, dict):
                    raise Died("flood")
                yield answer
        except TimeoutError:
            raise Died("late") from None
        except wire.Broken:
            raise Died("flood") from None
        except (EOFError, OSError):
            raise Died("ended") from None

    def kill(self) -> None:
        """End this process and everything it started."""
        for one in (self, *self.copies):
            one.channel.close()
        self.sandbox.kill(self.pid)
