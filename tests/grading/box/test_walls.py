"""What students' code can do to the kernel behind the walls, and what it must still be able to do."""

import concurrent.futures
import errno
import json
import re
import socket
import struct
import textwrap
import tracemalloc
from pathlib import Path

import pytest

from scalelab.checks.plain import Unreadable, plain
from scalelab.grading.box import bubblewrap, system_calls, wire
from scalelab.grading.box.sandbox import Sandbox

pytestmark = [
    pytest.mark.turns(3),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

HEADERS = {  # of Debian's linux-libc-dev: the numbers of system calls
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(modules=("numpy", "torch")) as found:
        yield found


@pytest.fixture
def student(sandbox):
    """Run a cell in a fresh process; return what it printed."""
    fork = sandbox.fork({})
    yield lambda text: printed(fork, text)
    fork.kill()
    sandbox.wait()


def printed(fork, text):
    said = fork.ask({"run": textwrap.dedent(text), "seconds": 60}, 61)
    assert said["error"] is None, said
    return said["text"].split()


def in_a_child(text):
    """Return a cell that runs a program, which can be read and written again as a fork cannot."""
    return (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {textwrap.dedent(text)!r}])"
    )


NAMESPACES = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    NEW_USER, CLONE = 0x10000000, {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    arguments = (ctypes.c_uint64 * 8)(NEW_USER, 0, 0, 0, 17, 0, 0, 0)
    print(libc.unshare(NEW_USER), file=out)
    print(libc.syscall(CLONE, NEW_USER | 17, 0, 0, 0, 0), file=out)
    print(libc.syscall(435, arguments, 64), file=out)
    print(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), file=out)
    print(int(open("/proc/self/status").read().split("CapEff:")[1].split()[0], 16), file=out)
"""


def test_a_program_that_is_started_makes_no_namespace_in_which_it_has_every_right(student):
    program = f"out = open('/tmp/out', 'w')\n{textwrap.dedent(NAMESPACES)}"
    assert student(f"{in_a_child(program)}\nprint(open('/tmp/out').read())") == ["-1"] * 4 + ["0"]


def test_short_of_memory_an_exercise_goes_first_with_all_that_it_starts(student):
    program = """
        try:
            open("/proc/self/oom_score_adj", "w").write("0")
        except OSError:
            pass
        open("/tmp/out", "a").write(open("/proc/self/oom_score_adj").read())
    """
    both = f"{in_a_child(program)}{textwrap.dedent(program)}print(open('/tmp/out').read())"
    assert student(both) == ["1000", "1000"]


COUNTERS = ("vmstat", "stat", "loadavg", "uptime", "meminfo", "zoneinfo", "interrupts", "locks")


def test_no_counter_of_the_kernel_tells_what_was_done_before(student):
    look = f"""
        def seen():
            return [open("/proc/" + name).read() for name in {COUNTERS}]
        before = seen()
        import ctypes, mmap
        page = mmap.mmap(-1, 1 << 16)
        where = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        for _ in range(1000):
            ctypes.CDLL(None).mlock(where, 4096), ctypes.CDLL(None).munlock(where, 4096)
        print(seen() == before)
    """
    assert student(look) == ["True"]


def test_of_the_machine_nothing_is_in_proc_but_what_holds_still(student):
    look = """
        import os
        for place, folders, files in os.walk("/proc"):
            if place == "/proc":
                folders[:] = [name for name in folders if not name.isdigit() and name != "self"
                              and name != "thread-self"]
            for name in files:
                if os.path.getsize(f"{place}/{name}") or (place != "/proc" and print(place, name)):
                    print(name)
    """
    kept = {"cpuinfo", "filesystems", "version", "loadavg", "meminfo", "stat", "uptime", "vmstat"}
    assert set(student(look)) == kept


def test_a_machine_that_holds_still_is_still_known(student):
    psutil = pytest.importorskip("psutil")
    look = """
        import os, psutil
        print(os.cpu_count(), psutil.cpu_count(), psutil.virtual_memory().total, psutil.cpu_percent())
        with open("/proc/cpuinfo") as file:
            print(sum("model name" in line for line in file))
    """
    cpus, memory = psutil.cpu_count(), psutil.virtual_memory().total
    models = Path("/proc/cpuinfo").read_text().count("model name")
    assert student(look) == [*map(str, (cpus, cpus, memory)), "0.0", str(models)]


LOCKS = """
    import fcntl, struct
    def tried(work):
        try:
            print(work())
        except OSError as error:
            print(error.errno)
    def lock(kind):
        return struct.pack("hhqqi4x", kind, 0, 12345, 1, 0)
    file = open("/usr/lib/os-release")
    tried(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
    fcntl.fcntl(file, fcntl.F_SETLK, lock(fcntl.F_RDLCK))
    tried(lambda: fcntl.fcntl(file, fcntl.F_GETLK, lock(fcntl.F_WRLCK)))
    tried(lambda: fcntl.fcntl(file, 36, lock(fcntl.F_WRLCK)))
    import ctypes
    print(ctypes.CDLL(None).inotify_init1(0))
"""


def test_two_submissions_do_not_meet_in_a_lock_on_a_file_that_both_can_read(sandbox):
    both = [sandbox.fork({}) for _ in range(2)]
    said = [printed(fork, LOCKS) for fork in both]
    assert said[0] == said[1] == [*map(str, (errno.ENOSYS, errno.EINVAL, errno.EINVAL)), "-1"]
    for fork in both:
        fork.kill()
    sandbox.wait()


WARM = """
    import ctypes, errno, mmap, os
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    file = os.open("/usr/lib/os-release", os.O_RDONLY)
    page = ctypes.c_void_p(libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, file, 0))
    room = ctypes.create_string_buffer(4096)
    for tell in (
        lambda: libc.sysinfo(room),
        lambda: libc.mincore(page, 4096, room),
        lambda: libc.syscall(451, file, (ctypes.c_uint64 * 2)(0, 4096), room, 0),
        lambda: os.preadv(file, [bytearray(10)], 0, os.RWF_NOWAIT),
    ):
        try:
            assert tell() == -1
            print(errno.errorcode[ctypes.get_errno()])
        except OSError as error:
            print(errno.errorcode[error.errno])
    print(os.preadv(file, [bytearray(10)], 0))
"""


def test_no_call_tells_how_full_the_machine_is_or_what_somebody_has_read(student):
    refused = {"ENOSYS", "EOPNOTSUPP", "ENOTSUP"}  # the last two are one: libc's word for `preadv2`
    *calls, honest = student(WARM)
    assert len(calls) == 4
    assert set(calls) <= refused
    assert honest == "10"


def test_no_kind_of_socket_leads_out_of_the_network_namespace(student):
    look = """
        import socket
        for family in {*range(64)} - {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}:
            try:
                print(socket.socket(family, socket.SOCK_DGRAM))
            except OSError as error:
                print(error.errno)
    """
    assert set(student(look)) == {str(errno.EAFNOSUPPORT)}


WORKS = {
    "threads": """
        import concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            print(sum(pool.map(abs, [-1, 2, -3])))
    """,
    "processes": """
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(sum(pool.map(abs, [-1, 2, -3])))
    """,
    "a program": """
        import subprocess
        print(subprocess.run(["expr", "1", "+", "5"], capture_output=True, text=True).stdout)
    """,
    "a shell in a session of its own": """
        import subprocess
        print(subprocess.check_output("echo 6", shell=True, start_new_session=True, text=True))
    """,
    "torch with threads and workers": """
        import torch
        torch.set_num_threads(2)
        assert (torch.ones(300, 300) @ torch.ones(300, 300)).sum() == 300 ** 3
        data = torch.utils.data.TensorDataset(torch.tensor([1, 2, 3]))
        print(sum(int(x) for x, in torch.utils.data.DataLoader(data, num_workers=2)))
    """,
    "ranks that meet over loopback": """
        import torch, torch.distributed as dist
        store = dist.TCPStore("127.0.0.1", 29600, 1, True, wait_for_workers=False)
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        six = torch.tensor(6)
        dist.all_reduce(six)
        print(int(six))
    """,
    "a database": """
        import sqlite3
        with sqlite3.connect("/tmp/some.db") as database:
            database.execute("create table numbers(n)")
            database.execute("insert into numbers values (6)")
        print(sqlite3.connect("/tmp/some.db").execute("select n from numbers").fetchone()[0])
    """,
    "an event loop": """
        import asyncio
        async def six():
            await asyncio.sleep(0)
            return 6
        print(await six())
    """,
}


@pytest.mark.parametrize("text", WORKS.values(), ids=WORKS)
def test_what_honest_code_needs_of_the_kernel_works(text, student):
    assert student(text) == ["6"]


@pytest.mark.parametrize(("which", "machine"), list(enumerate(HEADERS)), ids=HEADERS)
def test_every_refused_call_has_the_number_that_the_kernels_own_headers_give_it(which, machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip("needs linux-libc-dev of Debian")
    due = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    refused = {**system_calls._REFUSED, "clone": system_calls._CLONE, "fcntl": system_calls._FCNTL}
    ours = {
        (name, str(both[which]))
        for name, both in {**refused, "socket": system_calls._SOCKET}.items()
        if both[which] is not None
    }
    known = {name for name, _ in due}
    newer = {name for name, _ in ours} - known
    assert newer <= {"cachestat"}, "of Linux 6.5"
    assert {one for one in ours if one[0] in known} - set(due) == set()


def through(data):
    """Return what our side reads of a frame that holds these bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs, concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(theirs.sendall, struct.pack("!I", len(data)) + data)
        return wire.receive(ours)


def peak(work):
    """Return the most bytes that Python held at once for some work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"[]," * 2_600_000 + b"[]]",
        b'["' + b'","' * 2_600_000 + b'"]',
        b'["' + b'\\"' * 1_000_000 + b'"' + b",0" * 600_000 + b"]",
    ],
    ids=["lists", "texts", "a text of quotes before numbers"],
)
def test_a_frame_of_many_small_parts_does_not_grow_on_our_side(data):
    def refused():
        with pytest.raises(wire.Broken, match="more parts"):
            through(data)

    assert peak(refused) < 4 * wire.MOST


@pytest.mark.parametrize(
    "value",
    [[1j] * 99_000, ["a,[{" * 2000] * 700, dict.fromkeys(range(49000), ","), ['"\\,'] * 99_000],
    ids=["complex numbers", "texts of commas", "a dictionary", "quotes"],
)
def test_as_much_as_an_answer_may_hold_comes_through(value):
    assert wire.decoded(through(json.dumps(wire.encoded(plain(value))).encode())) == value


@pytest.mark.parametrize(
    "sent",
    [[[]] * 100_001, [[[]] * 400] * 400, {"d": [[n, n] for n in range(50_001)]}],
    ids=["a list", "lists", "a dictionary"],
)
def test_a_forged_answer_is_no_larger_than_one_that_was_read(sent):
    assert wire.decoded(sent) == Unreadable("something that cannot be read")


def test_a_forged_answer_is_no_deeper_than_one_that_was_read():
    deep = []
    for _ in range(30):
        deep = [deep]
    assert isinstance(wire.decoded(deep), Unreadable)
    assert isinstance(plain(deep), Unreadable)


@pytest.mark.parametrize(
    ("walls", "says", "not_so"),
    [
        (
            bubblewrap.Walls("bubblewrap is not installed", True, "2"),
            {"students run as": "you, with all your rights", "grading": "refused"},
            ("of their own", "control group", "read-only"),
        ),
        (
            bubblewrap.Walls("", False, ""),
            {"students run as": "you, without any rights", "memory and processes": "has no limit"},
            ("of their own", "by control group", "1.5 GB"),
        ),
        (
            bubblewrap.Walls("", True, "1"),
            {"students run as": "of their own", "memory and processes": "by control group, 1.5 GB"},
            ("has no limit", "refused"),
        ),
    ],
    ids=["no bubblewrap", "no control groups", "root"],
)
def test_the_doctor_promises_no_wall_that_does_not_stand(walls, says, not_so, monkeypatch):
    monkeypatch.setattr(bubblewrap, "find", lambda: walls)
    told = dict(bubblewrap.doctor())
    assert all(words in told[question] for question, words in says.items())
    assert not [words for words in not_so if words in " ".join(told.values())]
