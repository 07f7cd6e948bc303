"""Run a cell of a student's as a notebook would, with IPython, and note what it shows.

Everything here is at the mercy of the student's code; nobody believes it more than an answer.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import signal
from typing import TYPE_CHECKING, Any

from scalelab.grading.box.clean_output import LETTERS, PICTURE, PICTURES

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_INSTALL = re.compile(r"\s*(python\d? -m )?(pip\d?|conda|mamba)\b")


def shell() -> InteractiveShell:
    """Return an IPython shell that keeps no history and writes no file."""
    import IPython.core.displayhook
    import IPython.core.displaypub  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    ipython: Any = InteractiveShell.instance(config=config)  # some of its methods are replaced
    ipython.enable_gui = lambda gui=None: None  # %matplotlib asks for one; there is no window
    # Pictures are kept, whatever window the author of a cell would have them in; %pylab asks here too.
    ipython.enable_matplotlib = lambda gui=None: ("inline", "inline")
    for name in ("pip", "conda", "mamba"):  # would only wait for a network that is not there
        ipython.register_magic_function(_not_installed, magic_name=name)
    system = ipython.system
    ipython.system = lambda line: _not_installed(line) if _INSTALL.match(line) else system(line)
    return ipython


def _not_installed(line):
    print("nothing is installed while grading")


def warm(shell: InteractiveShell) -> None:
    """Run what every fork would run first, so that it finds it done."""
    for text in ("0", "def nothing():\n    pass"):
        run(shell, text, 60)
    shell.user_ns.pop("nothing", None)


def run(shell: InteractiveShell, text: str, seconds: float) -> dict[str, Any]:
    """Run one cell as a notebook would; return what it showed and how it ended."""
    out = _Kept()
    shown = _show(shell)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result, late = _timed(lambda: shell.run_cell(text, store_history=False), seconds)
    error = result and (result.error_before_exec or result.error_in_exec)
    return {
        "text": "".join(out.parts),
        "shown": _pictures_and_texts(shown),
        "late": late,
        "error": _described(error) if error and not late else None,
    }


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


@functools.cache
def _display(shell):
    """Return the list to which a cell's displays and its last value go, and what puts them there.

    Made once: each publisher asks to hear of every cell from then on.
    """
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher

    shown: list[dict[str, Any]] = []

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            shown.append({"data": format_dict})

        def log_output(self, format_dict):
            pass

        def finish_displayhook(self):
            self._is_active = False

    publisher = CapturingDisplayPublisher(shell=shell)
    publisher.outputs = shown
    return shown, publisher, Hook(shell=shell, cache_size=0)


def _show(shell):
    """Let what a cell displays go to a list, whatever an earlier one has changed; return that list."""
    shown, publisher, hook = _display(shell)
    shown.clear()
    publisher.outputs = shown
    shell.display_pub = publisher
    shell.displayhook = shell.display_trap.hook = hook
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None
    return shown


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

    parts, pictures, letters = [], 0, LETTERS
    for display in shown:
        data = display.get("data", {}) if isinstance(display, dict) else {}
        png = data.get("image/png")
        if isinstance(png, bytes):
            png = base64.b64encode(png).decode()
        if isinstance(png, str) and len(png) <= PICTURE and pictures < PICTURES:
            parts.append(["png", "".join(png.split())])
            pictures += 1
        elif isinstance(data.get("text/plain"), str) and letters > 0:
            parts.append(["text", data["text/plain"][:letters]])
            letters -= len(data["text/plain"])
    return parts
