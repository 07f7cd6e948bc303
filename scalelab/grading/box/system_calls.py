"""The calls of the kernel that students' code is refused, for good and for all that it starts.

Refused is what would build walls of its own (there the kernel is widest), what reaches into another
process, and what no namespace parts: two submissions would meet in it. Standard library only.
"""

import ctypes
import errno
import os
import platform
import struct

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # their names in a filter
# By call: its number on each of the machines above; None where there is none.
_REFUSED = {
    # Walls of one's own: with them come all rights over them.
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39)},
    **{"pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428)},
    **{"move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431)},
    **{"fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442)},
    "clone3": (435, 435),  # hides its flags in memory; without it libc takes `clone`
    # Other processes, and files by number instead of by name.
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"kcmp": (312, 272), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265)},
    # The wide ones, of which coursework needs none.
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426)},
    **{"io_uring_register": (427, 427), "userfaultfd": (323, 282), "bpf": (321, 280)},
    "perf_event_open": (298, 241),
    # What all exercises have in common: keys, the kernel's log, locks on a file of the system's
    # that anybody may read, and word of who opens it.
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    **{"syslog": (103, 116), "flock": (73, 32), "fanotify_init": (300, 262)},
    **{"inotify_init": (253, None), "inotify_init1": (294, 26)},
    # How full the machine is, and which parts of a file that all can read somebody has read.
    **{"sysinfo": (99, 179), "mincore": (27, 232), "cachestat": (451, 451)},
    "preadv2": (327, 286),  # asked not to wait, it tells; without it libc takes `preadv`
}
# These are refused by what they are asked for.
_CLONE, _FCNTL, _SOCKET = (56, 220), (72, 25), (41, 198)
_NEW_NAMESPACES = 0x7E020000
_COMMON = (5, 36, 1024, 1026)  # F_GETLK and F_OFD_GETLK tell of others; leases and notes too
_FAMILIES = (1, 2, 10, 16)  # unix, IPv4, IPv6, netlink; a vsock leads out of any network namespace

_LOAD, _EQUAL, _SET, _MASK, _ANSWER = 0x20, 0x15, 0x45, 0x54, 0x06
_Line = tuple[int, int, int, int]  # what to do, lines to skip if so and if not, and with what
_ALLOW = (_ANSWER, 0, 0, 0x7FFF0000)
_NUMBER, _MACHINE, _FIRST, _SECOND = ((_LOAD, 0, 0, offset) for offset in (0, 4, 16, 24))
_X32 = 0x40000000  # marks the calls of a second table on x86_64
_SET_FILTER = 22
_libc = ctypes.CDLL(None, use_errno=True)


def refuse() -> None:
    """Refuse them to this process and to all that it will start."""
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(f"no filter of system calls is written for {machine}")
    lines = _filter([*_MACHINES].index(machine), _MACHINES[machine])
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))
    if _libc.prctl(_SET_FILTER, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), f"filter: {os.strerror(ctypes.get_errno())}")


def _filter(which: int, machine: int) -> list[_Line]:
    """Return the program that the kernel asks before each call."""
    unknown = _error(errno.ENOSYS)  # as a kernel without it: who can do without then does
    numbers = [number for both in _REFUSED.values() if (number := both[which]) is not None]
    return [
        *(_MACHINE, (_EQUAL, 1, 0, machine), unknown),  # another's numbers mean other calls
        *(_NUMBER, (_SET, 0, 1, _X32), unknown),
        *(line for number in numbers for line in _where(number, unknown)),
        *_where(
            _CLONE[which],
            *(_FIRST, (_MASK, 0, 0, _NEW_NAMESPACES), (_EQUAL, 1, 0, 0), _error(errno.EPERM)),
            _ALLOW,
        ),
        *_where(
            _FCNTL[which],
            *(_SECOND, *(line for one in _COMMON for line in _where(one, _error(errno.EINVAL)))),
            _ALLOW,
        ),
        *_where(
            _SOCKET[which],
            *(_FIRST, *(line for one in _FAMILIES for line in _where(one, _ALLOW))),
            _error(errno.EAFNOSUPPORT),
        ),
        _ALLOW,
    ]


def _where(value: int, *then: _Line) -> list[_Line]:
    """Return lines that are passed over unless what was loaded last is this value."""
    return [(_EQUAL, 0, len(then), value), *then]


def _error(number: int) -> _Line:
    return (_ANSWER, 0, 0, 0x00050000 | number)
