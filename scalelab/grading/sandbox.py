"""Our end of the walls: start the fork server, ask for forks, talk with them, end them.

Every answer comes within its time or not at all. Standard library only.
"""

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

from scalelab.grading import walls as built
from scalelab.grading import wire

# What any assignment may want besides what its own cells import. It takes seconds, so once per worker.
MODULES = ("numpy", "matplotlib.pyplot", "torch", "scalelab.checks", "scalelab.records")
_JOIN = 'for group in $0; do echo $$ > "$group" || exit 9; done; exec "$@"'
START = 180.0  # seconds for all imports on a busy machine


class NoWalls(ValueError):
    """A machine cannot isolate, so nothing is graded on it."""


class Died(Exception):
    """The student's process ended, or was ended: too late, too much, or by itself."""


class Sandbox:
    """A fork server behind walls; `with` ends it and all that it has started."""

    def __init__(self, modules=MODULES, unsafe=False):
        self.walls = built.find()
        if self.walls.missing and not unsafe:
            raise NoWalls(
                "grading must isolate students' code, got a machine that cannot "
                f"({self.walls.missing}): see `scalelab grade --doctor`, or accept it by --unsafe"
            )
        self.open, self.gone = contextlib.ExitStack(), set()
        try:
            self._start(modules)
        except BaseException:
            self.open.close()
            raise

    def _start(self, modules):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = self.open.enter_context(ours)
        isolated = not self.walls.missing
        told = {"modules": list(modules), "walls": isolated}
        line = [sys.executable, "-m", "scalelab.grading.server"]
        line += [str(theirs.fileno()), json.dumps(told)]
        self.errors = self.open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        environment, folder = built.environment(), "/"
        if not isolated:
            folder = self.open.enter_context(tempfile.TemporaryDirectory())
            environment |= {"HOME": folder, "IPYTHONDIR": folder, "MPLCONFIGDIR": folder}
        groups = self.open.enter_context(built.limited(self.walls))
        line = built.command(line) if isolated else line
        self.process = subprocess.Popen(
            ["sh", "-c", _JOIN, groups, *line],
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
        self._heard(time.monotonic() + START)

    def fork(self):
        """Return a fresh Fork."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"fork"], [theirs.fileno()])
        while "started" not in (said := self._heard(time.monotonic() + START)):
            pass
        return Fork(self, ours, said["started"])

    def kill(self, pid):
        """End a fork and everything it started, without waiting."""
        self.control.send(json.dumps({"kill": pid}).encode())

    def wait(self, pids):
        """Wait until some forks are gone."""
        while not self.gone.issuperset(pids):
            self._heard(time.monotonic() + START)
        self.gone.difference_update(pids)

    def _heard(self, end):
        """Read one message of the server; note who has ended."""
        ready, _, _ = select.select([self.control], [], [], max(0.0, end - time.monotonic()))
        data = self.control.recv(10_000) if ready else b""
        if not data:
            raise RuntimeError(f"the fork server is gone: {self._last_words()}")
        said = json.loads(data)
        if "ended" in said:
            self.gone.add(said["ended"])
        return said

    def _last_words(self):
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def _end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self):
        """End the server, and with it everything behind the walls."""
        self.open.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Fork:
    """One student's process."""

    def __init__(self, sandbox, channel, pid):
        self.sandbox, self.channel, self.pid = sandbox, channel, pid
        self.copies = []

    def copy(self, seconds):
        """Return this process as it is now, to be asked later; None where it cannot be copied.

        The copy lives among the processes of this one, and ends with it.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            self.copies.append(Fork(self.sandbox, ours, self.pid))
            said = self.ask({"copy": True}, seconds, theirs)
        return self.copies[-1] if said.get("copied") is True else None

    def alive(self, seconds):
        """Say whether this process still answers: another one may have ended it."""
        try:
            self.ask({"environment": {}}, seconds)
        except Died:
            return False
        return True

    def ask(self, message, seconds, channel=None):
        """Send a message and return the answer; raise Died where none comes in time."""
        self.channel.settimeout(seconds)
        try:
            wire.send(self.channel, message)
            if channel is not None:
                socket.send_fds(self.channel, [b"+"], [channel.fileno()])
            answer = wire.receive(self.channel, time.monotonic() + seconds)
            if isinstance(answer, dict):
                return answer
            raise Died("flood")
        except TimeoutError:
            raise Died("late") from None
        except wire.Broken:
            raise Died("flood") from None
        except (EOFError, OSError):
            raise Died("ended") from None

    def kill(self):
        """End this process and everything it started."""
        for one in (self, *self.copies):
            one.channel.close()
        self.sandbox.kill(self.pid)
