"""The fork server: imports once what answers need, then forks a fresh process per exercise.

It runs behind the outer wall, holds no secret and no check, and never runs a line of a student's.
Each fork gets its own processes, /proc, /tmp and System V objects, and gives up every right; when
its first process ends, the kernel ends all the others. Standard library only, until it imports.
"""

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

from scalelab.grading import student

_PID, _NS, _IPC = 0x20000000, 0x20000, 0x08000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_NO_NEW_RIGHTS, _BOUNDING, _AMBIENT, _REAPER, _NO_HUGE_PAGES = 38, 24, 47, 36, 41
_libc = ctypes.CDLL(None, use_errno=True)
SPACE = "size=64m,nr_inodes=4k,mode=1777"  # of a private /tmp


def main():
    """Serve forks over the socket whose number is the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    told = json.loads(sys.argv[2])
    _libc.prctl(_REAPER, 1, 0, 0, 0)
    _libc.prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)  # a fork that writes one byte would copy 2 MB
    _import(told["modules"])
    shell = student.prepared()
    student.warm(shell)
    gc.collect()
    gc.freeze()
    control.send(b"{}")
    Server(control, shell, told["walls"]).serve()


def try_walls():
    """Build the inner walls once and say so; what fails raises."""
    pid, _ = _fork(True, lambda: None)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("the inner namespaces cannot be made")
    print("walls stand")


class Server:
    """The forks that are alive, and the socket over which they are asked for."""

    def __init__(self, control, shell, walls):
        self.control, self.shell, self.walls = control, shell, walls
        self.forks = {}  # pidfd: pid

    def serve(self):
        """Fork and kill as told, until the other side is gone."""
        while True:
            ready, _, _ = select.select([self.control, *self.forks], [], [])
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
            pid, watch = _fork(self.walls, lambda: student.main(self.shell, 3), descriptors[0])
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
        except ImportError:
            continue
        if name == "torch":
            module.set_num_threads(1)


def _fork(walls, work, channel=None):
    """Fork into fresh namespaces; return (pid, a descriptor that tells when it ends)."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY) if walls else None
    if walls:
        _insist(_libc.unshare(_PID), "unshare")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if channel is not None:
                os.dup2(channel, 3)
            os.closerange(4, 4096)
            data = _data()
            _enclose() if walls else os.setsid()
            student.limit(data)
            work()
            status = 0
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    if walls:
        _insist(_libc.setns(own, _PID), "setns")  # else the next fork would join this one
        os.close(own)
    return pid, os.pidfd_open(pid)


def _enclose():
    """Take private mounts, then give up every right for good."""
    _insist(_libc.unshare(_NS | _IPC), "unshare")
    _mount("none", "/", None, _PRIVATE | _REC)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for place in ("/tmp", "/dev/shm"):
        _mount("tmpfs", place, "tmpfs", _NOSUID | _NODEV, SPACE)
    # A Python that is installed under /tmp is there again, see `walls.py`.
    for n, path in enumerate(filter(None, os.environ.get("SCALELAB_HELD", "").split(os.pathsep))):
        os.makedirs(path, exist_ok=True)
        _mount(f"/held/{n}", path, None, _BIND)
    os.chdir("/tmp")
    with open("/proc/self/oom_score_adj", "w") as file:  # short of memory, this one goes first
        file.write("1000")
    for right in range(64):
        _libc.prctl(_BOUNDING, right, 0, 0, 0)
    _libc.prctl(_AMBIENT, 4, 0, 0, 0)
    if (user := _user()) is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _drop()
    _insist(_libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0), "no_new_privs")


def _user():
    """Return a user id that belongs to nobody else; None where only one id is mapped."""
    with open("/proc/self/uid_map") as file:
        if int(file.read().split()[2]) < 65536:
            return None
    return 61184 + os.stat("/tmp").st_dev % 4000  # no two private folders are the same device


def _drop():
    """Set all capabilities of this process to none."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    _insist(_libc.capset(header, none), "capset")


def _mount(what, where, kind, flags, options=None):
    words = [w.encode() if w else None for w in (what, where, kind)]
    given = options.encode() if options else None
    _insist(_libc.mount(*words, ctypes.c_ulong(flags), given), f"mount {where}")


def _insist(result, what):
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


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
