"""One run of a program: its wall time, how it ended, and nothing of it left running.

The program writes into a file, not into a pipe, so nobody waits for a grandchild that keeps it open.
It leads a process group of its own, which is ended as a whole: at the time limit, at Ctrl-C, and, by a
guard, even when this process is killed. What has left the group, as the ranks of torchrun do, is found
by a mark in its environment, where the system shows that (Linux).
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalelab.refusal import Refusal

MOST_OUTPUT = 2**30  # bytes; a program that writes more is ended before the disk is full
GRACE = 5.0  # seconds from being asked to end to being killed
_SETTLE = 0.5  # seconds that helpers of an ended program have to go by themselves
_MARK = "SCALELAB_RUN"
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# It reads the mark and the group to end, waits until its own parent is gone, and then ends the group; if the
# parent was gone before it could tell the group, whoever has the mark. What is left is killed by its mark.
_GUARD = """
read mark && [ "$mark" ] || exit
read group; read _
each() { for one in /proc/[0-9]*; do grep -qs "$mark" "$one/environ" && kill -s "$1" "${one#/proc/}"; done; }
if [ "$group" ]; then kill -s TERM -- "-$group"; else each TERM; fi
sleep 5
[ "$group" ] && kill -s KILL -- "-$group"
each KILL
"""


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    seconds: float  # from its start to its end
    code: int = 0  # its exit code; the negative number of a signal
    cut: str = ""  # why it was ended before: "timeout" or "output"
    unstarted: str = ""  # why it could not be started
    left: int = 0  # processes that it left behind, and that were ended


def run(words: Sequence[str], log: str | Path, timeout: float | None = None) -> Ended:
    r"""Run a program to its end, its output in the file `log`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ended = run(["sh", "-c", "echo so far; exit 3"], Path(folder, "log"))
    ...     Path(folder, "log").read_text(), ended.code
    ('so far\n', 3)
    """
    if sys.platform == "win32":
        raise Refusal("run must be on Linux or macOS, got Windows: use it inside WSL")
    mark = uuid.uuid4().hex
    environment = os.environ | {_MARK: f"{os.environ.get(_MARK, '')}:{mark}"}
    with open(log, "wb") as output, _guard(mark) as protect, _stops() as at_a_stop:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            return Ended(0.0, unstarted=error.strerror or "an error")
        family = _Family(child.pid, mark)
        at_a_stop(family.end)
        protect(child.pid)
        watch = _Watch(family, output.fileno(), timeout)
        code = child.wait()  # without a limit, which would look only every now and then
        seconds = time.perf_counter() - start
        cut = watch.over()
        left = family.gone()
    return Ended(seconds, code, cut, left=left)


class _Family:
    """All processes that a program has started."""

    def __init__(self, leader, mark):
        self.leader, self.mark = leader, mark.encode()
        self.asked = 0.0  # when it was asked to end

    def members(self):
        """Return those that are alive; of a system that does not tell, the group as a whole."""
        if not Path("/proc/self/environ").exists():
            return [-self.leader] if _sent(-self.leader, 0) else []
        return [int(one.name) for one in Path("/proc").glob("[0-9]*") if self._marked(one)]

    def _marked(self, process):
        try:
            return self.mark in (process / "environ").read_bytes()
        except OSError:  # ended meanwhile, or of somebody else
            return False

    def end(self):
        """Ask all to end; kill them if they still have not a while later, or when asked again."""
        if self.asked:
            self.kill()
            return
        self.asked = time.monotonic()
        _sent(-self.leader, signal.SIGTERM)  # torchrun and mpirun end their own
        timer = threading.Timer(GRACE, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self):
        """Kill all that are alive."""
        for member in self.members():
            _sent(member, signal.SIGKILL)

    def gone(self):
        """Return how many were left behind by a program that ended, once they have ended too."""
        if self._wait(GRACE if self.asked else _SETTLE):
            return 0
        left = self.members()
        for member in left:
            _sent(member, signal.SIGTERM)
        if not self._wait(GRACE):
            self.kill()
            self._wait(GRACE)
        return len(left)

    def _wait(self, limit):
        until = time.monotonic() + limit
        while alive := self.members():
            if time.monotonic() > until:
                break
            time.sleep(0.02)
        return not alive


class _Watch:
    """A thread that ends the family of a program that takes too long, or writes too much."""

    def __init__(self, family, output, timeout):
        self.family, self.output = family, output
        self.until = time.monotonic() + timeout if timeout else float("inf")
        self.cut, self.done = "", threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self):
        while not self.done.wait(max(0.0, min(1.0, self.until - time.monotonic()))):
            if time.monotonic() >= self.until:
                self.cut = "timeout"
            elif os.fstat(self.output).st_size > MOST_OUTPUT:
                self.cut = "output"
            if self.cut:
                self.family.end()
                return

    def over(self):
        """Stop looking, and return why the program was ended, if it was."""
        self.done.set()
        self.thread.join()
        return self.cut


def _sent(process: int, number: int) -> bool:
    """Send a signal to a process, or to a group as the negative of its leader; whether it was there."""
    try:
        if process < 0:
            os.killpg(-process, number)
        else:
            os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@contextlib.contextmanager
def _guard(mark: str) -> Iterator[Callable[[int], None]]:
    """Give a function that takes the group to end in case this process is killed, first known by its mark."""
    guard = subprocess.Popen(
        ["/bin/sh", "-c", _GUARD], stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    pipe = guard.stdin
    assert pipe

    def tell(what: object) -> None:
        with contextlib.suppress(OSError):
            os.write(pipe.fileno(), f"{what}\n".encode())

    try:
        tell(mark)
        yield tell
    finally:
        guard.kill()
        guard.wait()
        pipe.close()


@contextlib.contextmanager
def _stops() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Give a function that takes what to do at Ctrl-C and its like, which take effect after the block.

    So they never come between the start of a program and the care for its end.
    """
    came: list[int] = []
    calls: list[Callable[[], object]] = []

    def note(number, frame):
        came.append(number)
        for call in calls:
            call()

    def then(call):
        calls.append(call)
        if came:  # before there was anything to do
            call()

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may hear
        for number in _STOPS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # as under nohup
                before[number] = signal.signal(number, note)
    try:
        yield then
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        os.kill(os.getpid(), came[0])
        time.sleep(1)  # where it is heard, at the latest
