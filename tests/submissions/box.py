"""A machine to throw away: what runs in the box sees little, may write little, and ends with it.

nbgrader runs students' code without walls, so a comparison needs some of its own around all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scalelab.grading.box import bubblewrap
from tests.notebooks import ROOT

HOME = "/home/me"
FONTS = "/fonts"  # matplotlib's list of them, which takes seconds to make
SIZE = 400_000_000  # bytes for each of the folders that can be written
WRITABLE = (HOME, "/tmp", "/var/tmp", "/dev/shm")
SHOWN = ("/usr", "/etc/alternatives", "/etc/ld.so.cache", sys.base_prefix, sys.prefix)
OURS = (ROOT / "scalelab", ROOT / "tests", ROOT / "exercises")  # the last for a wrong week


def command(inside, given):
    """Return the command line that runs `inside` in a box that shows the folder `given` as /given."""
    line = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    line += [f"--unshare-{what}" for what in ("user", "pid", "net", "ipc", "uts", "cgroup-try")]
    # The first process of the box is ours and cannot be killed from within.
    line += ["--uid", "1000", "--gid", "1000", "--as-pid-1", "--proc", "/proc", "--dev", "/dev"]
    for place in WRITABLE:
        line += ["--perms", "0777", "--size", str(SIZE), "--tmpfs", place]
    for link in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if Path(link).is_symlink():
            line += ["--symlink", os.readlink(link), link]
    for path in map(str, (*SHOWN, *OURS)):
        line += ["--ro-bind-try", path, path]
    line += ["--ro-bind-try", str(Path.home() / ".cache" / "matplotlib"), FONTS]
    line += ["--ro-bind", str(given), "/given", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*line, "--chdir", HOME, *inside]


def environment():
    """Return what a person who sits at such a machine has set."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": HOME,
        "USER": "me",
        "LANG": "C.UTF-8",
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    }


def run(inside, given, seconds):
    """Return what the first process of a box wrote; less than all where the box had to be ended.

    Where control groups can be written, the box has the memory and the processes of one worker
    of `scalelab grade`.
    """
    with bubblewrap.limited(bubblewrap.find()) as joined:
        line = [*joined, *command(inside, given)]
        with subprocess.Popen(
            line,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                return process.communicate(timeout=seconds)[0]
            except subprocess.TimeoutExpired:
                return b""
            finally:
                process.kill()  # bwrap, and with it all processes of its namespace
