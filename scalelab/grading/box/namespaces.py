"""The inner walls: what one exercise gets for itself, and the rights that it gives up for good.

Of what one fork writes, the next finds nothing: files, System V objects, ports that a connection
has just left and the kernel's keys would all outlive it. Standard library only.
"""

import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct

_PID, _NS, _IPC, _NET = 0x20000000, 0x20000, 0x08000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_NO_NEW_RIGHTS, _BOUNDING, _AMBIENT, _FILTER = 38, 24, 47, 22
_SET_FLAGS, _UP = 0x8914, 1  # of a network interface
_libc = ctypes.CDLL(None, use_errno=True)
SPACE = "size=64m,nr_inodes=4k,mode=1777"  # of a private /tmp
# By machine: its name in a filter, and the numbers of add_key, request_key and keyctl.
_KEYS = {"x86_64": (0xC000003E, 248, 249, 250), "aarch64": (0xC00000B7, 217, 218, 219)}


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
    _refuse_keys()


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


def _refuse_keys():
    """Answer every call for the kernel's keys as a kernel without any: no namespace parts them."""
    if platform.machine() not in _KEYS:
        raise OSError(f"no filter of system calls is written for {platform.machine()}")
    name, *calls = _KEYS[platform.machine()]
    load, mask, equal, answer = 0x20, 0x54, 0x15, 0x06
    lines = [
        (load, 0, 0, 4),
        (equal, 0, 3 + len(calls), name),  # numbers of another machine mean other calls
        (load, 0, 0, 0),
        (mask, 0, 0, 0x3FFFFFFF),  # x32 marks its calls by the bit above
        *((equal, len(calls) - n, 0, call) for n, call in enumerate(calls)),
        (answer, 0, 0, 0x7FFF0000),
        (answer, 0, 0, 0x00050000 | errno.ENOSYS),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))
    _insist(_libc.prctl(_FILTER, 2, program, 0, 0), "filter")
