"""The inner walls: what one exercise gets for itself, and the rights that it gives up for good.

Of what one fork writes, the next finds nothing: files, System V objects and ports that a
connection has just left would all outlive it. Standard library only.
"""

import ctypes
import fcntl
import os
import re
import socket
import struct
from pathlib import Path

from scalelab.grading.box import system_calls

_PID, _NS, _IPC, _NET = 0x20000000, 0x20000, 0x08000000, 0x40000000
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_AGAIN, _BIND, _REC, _PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
_NO_NEW_RIGHTS, _BOUNDING, _AMBIENT = 38, 24, 47
_SET_FLAGS, _UP = 0x8914, 1  # of a network interface
_libc = ctypes.CDLL(None, use_errno=True)
SPACE = "size=64m,nr_inodes=4k,mode=1777"  # of a private /tmp
# Of /proc, what is a process's own. All else is about the machine: whoever makes a counter there
# move can be read by whoever comes next, so it holds still, or is empty.
_OWN = ("self", "thread-self", "net", "mounts")
_KEPT, _AT_ZERO = ("cpuinfo", "filesystems", "version"), ("loadavg", "stat", "uptime", "vmstat")
_STILL = "/tmp/still"  # what stands in for them, until /tmp is a private one
_NO_FILE, _NO_FOLDER = "-file", "-folder"


def hold_still() -> None:
    """Write down once what every exercise shall see of this machine in /proc."""
    proc, still = Path("/proc"), Path(_STILL)
    still.mkdir()
    _mount("tmpfs", _STILL, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    (still / _NO_FILE).touch()
    (still / _NO_FOLDER).mkdir()
    for name in _KEPT:
        (still / name).write_text((proc / name).read_text())
    for name in _AT_ZERO:
        (still / name).write_text(_at_zero((proc / name).read_text()))
    (still / "meminfo").write_text(_all_free((proc / "meminfo").read_text()))
    _mount(None, _STILL, None, _AGAIN | _BIND | _READ_ONLY | _NOSUID | _NODEV)


def _at_zero(text):
    return re.sub(r"\b\d+\b", "0", text)


def _all_free(meminfo):
    r"""Keep how much memory there is, and nothing of what is done with it.

    >>> print(_all_free("MemTotal:  99 kB\nMemFree:  12 kB\nMlocked:  8 kB"))
    MemTotal:  99 kB
    MemFree:  99 kB
    Mlocked:  0 kB
    """
    total, *used = meminfo.splitlines()
    free = ("MemFree:", "MemAvailable:")
    others = (
        line.split(":")[0] + ":" + total.partition(":")[2]
        if line.startswith(free)
        else _at_zero(line)
        for line in used
    )
    return "\n".join([total, *others])


def next_processes() -> int:
    """Let the next fork begin a space of processes; return what leads back to our own."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    _insist(_libc.unshare(_PID), "unshare")
    return own


def own_processes(own: int) -> None:
    """Let forks be among our own processes again: else the next would join the last one's."""
    _insist(_libc.setns(own, _PID), "setns")
    os.close(own)


def enclose() -> None:
    """Take private mounts, then give up every right for good."""
    _insist(_libc.unshare(_NS | _IPC | _NET), "unshare")
    _loopback()
    _mount("none", "/", None, _PRIVATE | _REC)
    with open("/proc/self/oom_score_adj", "w") as file:  # short of memory, this one goes first
        file.write("1000")
    # Read-only, or its processes could lower that number again.
    _mount("proc", "/proc", "proc", _READ_ONLY | _NOSUID | _NODEV | _NOEXEC)
    _cover_the_machine()
    for place in ("/tmp", "/dev/shm"):
        _mount("tmpfs", place, "tmpfs", _NOSUID | _NODEV, SPACE)
    # A Python that is installed under /tmp is there again, see `bubblewrap`.
    for n, path in enumerate(filter(None, os.environ.get("SCALELAB_HELD", "").split(os.pathsep))):
        os.makedirs(path, exist_ok=True)
        _mount(f"/held/{n}", path, None, _BIND)
    os.chdir("/tmp")
    for right in range(64):
        _libc.prctl(_BOUNDING, right, 0, 0, 0)
    _libc.prctl(_AMBIENT, 4, 0, 0, 0)
    if (user := _user()) is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _drop()
    _insist(_libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0), "no_new_privs")
    system_calls.refuse()


def _cover_the_machine():
    """Put what holds still over all of /proc that is not about a process, whatever there is."""
    names = os.listdir(_STILL)
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() and entry.name not in _OWN:
            nothing = _NO_FOLDER if entry.is_dir(follow_symlinks=False) else _NO_FILE
            still = entry.name if entry.name in names else nothing
            _mount(f"{_STILL}/{still}", entry.path, None, _BIND)


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


def _loopback():
    """Let the processes of this exercise reach each other, and nobody else, by the network."""
    with socket.socket() as one:
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
