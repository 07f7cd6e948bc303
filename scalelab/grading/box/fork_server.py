"""The fork server: imports once what answers need, then forks a fresh process per exercise.

It runs behind the outer wall, holds no secret and no check, and never runs a line of a student's.
Each fork gets processes of its own and the inner walls, see `namespaces`; when its first process
ends, the kernel ends all the others. Standard library only, until it imports.
"""

from __future__ import annotations

import ctypes
import gc
import glob
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from typing import TYPE_CHECKING

from scalelab.grading.box import namespaces, student_process

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_REAPER, _NO_HUGE_PAGES = 36, 41
_libc = ctypes.CDLL(None)


def main() -> None:
    """Serve forks over the socket whose number is the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    orders = json.loads(sys.argv[2])
    _libc.prctl(_REAPER, 1, 0, 0, 0)
    _libc.prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)  # a fork that writes one byte would copy 2 MB
    if orders["walls"]:
        namespaces.hold_still()
    _import(orders["modules"])
    shell = student_process.prepared(orders["setup"])
    gc.collect()
    gc.freeze()
    threads = len(os.listdir("/proc/self/task"))
    control.send(json.dumps({"threads": threads}).encode())
    ForkServer(control, shell, orders["walls"]).serve()


def try_walls() -> None:
    """Build the inner walls once and say so; what fails raises."""
    namespaces.hold_still()
    pid, _ = _fork(True, lambda: None)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit(1)  # the fork has said why
    print("walls stand")


class ForkServer:
    """The forks that are alive, and the socket over which they are asked for."""

    def __init__(self, control: socket.socket, shell: InteractiveShell, walls: bool) -> None:
        self.control, self.shell, self.walls = control, shell, walls
        self.forks: dict[int, int] = {}  # pidfd: pid

    def serve(self) -> None:
        """Fork and kill as told, until the other side is gone."""
        while True:
            watched: list[socket.socket | int] = [self.control, *self.forks]
            ready, _, _ = select.select(watched, [], [])
            for one in ready:
                if one is self.control:
                    if not self._told():
                        return
                else:
                    self._ended(one)

    def _told(self):
        data, descriptors, _, _ = socket.recv_fds(self.control, 1000, 1)
        if not data:
            return False
        if descriptors:
            pid, watch = _fork(
                self.walls, lambda: student_process.main(self.shell, 3), descriptors[0]
            )
            os.close(descriptors[0])
            self.forks[watch] = pid
            self._say(started=pid)
        else:
            self._kill(json.loads(data)["kill"])
        return True

    def _kill(self, pid):
        if pid in self.forks.values():
            if not self.walls:
                _signal_group(pid)
            os.kill(pid, signal.SIGKILL)

    def _ended(self, watch):
        pid = self.forks.pop(watch)
        os.close(watch)
        _, status = os.waitpid(pid, 0)
        if not self.walls:
            _signal_group(pid)
            _kill_strays(set(self.forks.values()))
        self._say(ended=pid, status=os.waitstatus_to_exitcode(status))

    def _say(self, **what):
        self.control.send(json.dumps(what).encode())


def _import(modules):
    for file in glob.glob("/fonts/fontlist-*"):
        os.makedirs("/tmp/matplotlib", exist_ok=True)
        shutil.copy(file, "/tmp/matplotlib")
    os.environ.setdefault("MPLCONFIGDIR", "/tmp/matplotlib")
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not f"{name}.".startswith(f"{error.name}."):
                raise  # it is there, but broken, and no student's fault
            continue
        if name == "torch":
            module.set_num_threads(1)


def _fork(walls, work, channel=None):
    """Fork into fresh namespaces; return (pid, a descriptor that tells when it ends)."""
    own = namespaces.next_processes() if walls else None
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if channel is not None:
                os.dup2(channel, 3)
            os.closerange(4, 4096)
            data = _data()
            namespaces.enclose() if walls else os.setsid()
            student_process.limit(data)
            work()
            status = 0
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    if own is not None:
        namespaces.own_processes(own)
    return pid, os.pidfd_open(pid)


def _data():
    """Return the bytes of data that this process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")


def _signal_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _kill_strays(ours):
    """Without walls: kill what a student's process left behind, which has become our child."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            strays = {int(pid) for pid in file.read().split()} - ours
        if not strays:
            return
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
