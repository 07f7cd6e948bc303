"""What runs in a student's process: notebook cells with IPython, and calls of what they define.

Everything here is at the mercy of the student's code; nobody believes it more than an answer.
"""

import contextlib
import io
import os
import random
import re
import resource
import signal
import socket

LETTERS, PICTURES, PICTURE = 10_000, 4, 400_000  # kept of what one cell shows
# Soft bounds on one process; the walls bound all of them together.
LIMITS = {"NPROC": 64, "NOFILE": 256, "FSIZE": 64 << 20, "CORE": 0, "MEMLOCK": 64 << 10}
_INSTALL = re.compile(r"\s*(python\d? -m )?(pip\d?|conda|mamba)\b")
DATA = 1 << 30  # bytes that a process may add to what it starts with


def prepared():
    """Return an IPython shell that keeps no history and writes no file.

    Also import all that is used below: a fork has no rights to read it.
    """
    import IPython.core.displayhook
    import IPython.core.displaypub  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    import scalelab.checks.call
    import scalelab.checks.plain
    import scalelab.grading.wire  # noqa: F401

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    shell = InteractiveShell.instance(config=config)
    shell.enable_gui = lambda gui=None: None  # %matplotlib asks for one; there is no window
    for name in ("pip", "conda", "mamba"):  # would only wait for a network that is not there
        shell.register_magic_function(_not_installed, magic_name=name)
    run = shell.system
    shell.system = lambda line: _not_installed(line) if _INSTALL.match(line) else run(line)
    return shell


def _not_installed(line):
    print("nothing is installed while grading")


def warm(shell):
    """Run what every fork would run first, so that it finds it done."""
    for text in ("0", "def nothing():\n    pass"):
        _run(shell, text, 60)
    shell.user_ns.pop("nothing", None)


def main(shell, channel):
    """Answer what comes over the socket until it is closed."""
    from scalelab.grading import wire

    channel = socket.socket(fileno=channel)
    _quiet()
    _seed()
    names = shell.user_ns
    while True:
        try:
            asked = wire.receive(channel)
        except EOFError:
            return
        if "environment" in asked:
            os.environ.update(asked["environment"])
            wire.send(channel, {})
        elif "run" in asked:
            wire.send(channel, _run(shell, asked["run"], asked["seconds"]))
        elif "copy" in asked:
            channel = _copied(channel)
        else:
            wire.send(channel, _answer(names, asked))


def _copied(channel):
    """Leave a copy of this process that answers on a channel of its own; return each one's own.

    A thread would be missing in the copy, so where there are any, none is made.
    """
    from scalelab.grading import wire

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


def limit(data_now):
    """Bound this process; called before any of the student's code."""
    for name, most in LIMITS.items():
        _lower(getattr(resource, f"RLIMIT_{name}"), most)
    _lower(resource.RLIMIT_DATA, data_now + DATA)


def _lower(what, most):
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _answer(names, asked):
    """Say what a name stands for, or what calling it gives."""
    from scalelab.checks.call import call
    from scalelab.checks.plain import plain
    from scalelab.grading import wire

    value = names.get(asked["name"])
    if "arguments" not in asked:
        return {"callable": callable(value), "value": wire.encoded(plain(value))}
    outcome = call(value, wire.unpacked(asked["arguments"]), asked["seconds"])
    return {"outcome": wire.told(outcome)}


class _Kept(io.TextIOBase):
    """Takes any amount of text and keeps the beginning."""

    encoding = "utf-8"

    def __init__(self):
        super().__init__()
        self.parts, self.left = [], LETTERS

    def writable(self):
        return True

    def write(self, text):
        if self.left > 0:
            self.parts.append(text[: self.left])
            self.left -= len(text)
        return len(text)

    def fileno(self):
        return 1


def _run(shell, text, seconds):
    """Run one cell as a notebook would; return what it showed and how it ended."""
    out, shown = _Kept(), []
    _show_to(shell, shown)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result, late = _timed(lambda: shell.run_cell(text, store_history=False), seconds)
    error = result and (result.error_before_exec or result.error_in_exec)
    return {
        "text": "".join(out.parts),
        "shown": _pictures_and_texts(shown),
        "late": late,
        "error": _described(error) if error and not late else None,
    }


def _show_to(shell, shown):
    """Let what a cell displays, and its last value, go to a list."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            shown.append({"data": format_dict})

        def log_output(self, format_dict):
            pass

        def finish_displayhook(self):
            self._is_active = False

    shell.display_pub = CapturingDisplayPublisher(shell=shell)
    shell.display_pub.outputs = shown
    shell.displayhook = shell.display_trap.hook = Hook(shell=shell)
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None


def _timed(function, seconds):
    """Call a function, and interrupt it when it takes too long; say whether it did."""
    late = []

    class Late(BaseException):
        pass

    def ring(*_):
        late.append(True)
        raise Late

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        return function(), bool(late)
    except Late:
        return None, True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _described(error):
    """Return [name, message, line in the cell] of an exception."""
    from scalelab.checks.plain import type_name

    line, step = getattr(error, "lineno", None), error.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename.startswith("/tmp/ipykernel") or (
            "ipython-input" in step.tb_frame.f_code.co_filename
        ):
            line = step.tb_lineno
        step = step.tb_next
    try:
        said = str(error)[:300]
    except Exception:
        said = ""
    return [type_name(type(error)), said, line if isinstance(line, int) else None]


def _pictures_and_texts(shown):
    """Keep PNG pictures and plain text of what was displayed; HTML and scripts stay here."""
    import base64

    kept, pictures, letters = [], 0, LETTERS
    for one in shown:
        data = one.get("data", {}) if isinstance(one, dict) else {}
        png = data.get("image/png")
        if isinstance(png, bytes):
            png = base64.b64encode(png).decode()
        if isinstance(png, str) and len(png) <= PICTURE and pictures < PICTURES:
            kept.append(["png", "".join(png.split())])
            pictures += 1
        elif isinstance(data.get("text/plain"), str) and letters > 0:
            kept.append(["text", data["text/plain"][:letters]])
            letters -= len(data["text/plain"])
    return kept


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
