"""The walls around students' code: a bubblewrap sandbox per worker, inner namespaces per fork.

The outer wall shows the system's libraries, this Python and this package, read-only, and nothing
else: no course, no home, no network, no other process. The inner one (`namespaces`) gives
every exercise its own processes, its own /tmp and no rights. Standard library only.
"""

import contextlib
import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import scalelab

MEMORY = 1_500_000_000  # bytes that one worker's students may hold together
PROCESSES = 200  # of one worker together; each student has fewer, see `student_process.LIMITS`
_JOIN = 'for group in $0; do echo $$ > "$group" || exit 9; done; exec "$@"'
_CAPABILITIES = ("SYS_ADMIN", "NET_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL")
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/fonts", "/etc/alternatives")
_PACKAGE = Path(scalelab.__file__).resolve().parent
HELD, HELD_NAMES = "/held", "SCALELAB_HELD"
_LINKS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")


@dataclass(frozen=True)
class Walls:
    """What this machine gives: `missing` says why it cannot isolate, "" if it can."""

    missing: str
    nobody: bool  # students run under a user id of their own, which needs root
    cgroup: str  # where limits on all of a worker's memory and processes can be set, or ""

    @property
    def name(self) -> str:
        """The word that every result carries."""
        return "none" if self.missing else "namespaces"


def command(inside: Iterable[str]) -> list[str]:
    """Return the command line that runs `inside` behind the outer wall."""
    line = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    line += [f"--unshare-{what}" for what in ("pid", "net", "ipc", "uts", "cgroup-try")]
    if os.geteuid() != 0:
        line += ["--unshare-user", "--uid", "0", "--gid", "0"]
    line += [word for c in _CAPABILITIES for word in ("--cap-add", f"CAP_{c}")]
    for link in _LINKS:
        if Path(link).is_symlink():
            line += ["--symlink", os.readlink(link), link]
        elif Path(link).is_dir():
            line += ["--ro-bind", link, link]
    line += ["--perms", "0755", "--tmpfs", "/tmp"]
    for path in (*_SYSTEM, *_python()):
        for above in list(reversed(Path(path).parents))[1:]:  # else they are closed to students
            line += ["--perms", "0755", "--dir", str(above)]
        line += ["--ro-bind-try", path, path]
    for n, path in enumerate(_under_tmp()):
        line += ["--ro-bind", path, f"{HELD}/{n}"]
    line += ["--proc", "/proc", "--dev", "/dev"]
    fonts = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    line += ["--ro-bind-try", str(fonts), "/fonts"]  # the list of fonts takes seconds to make
    return [*line, "--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/tmp", *inside]


def environment() -> dict[str, str]:
    """Return all that the sandbox learns of our environment, which holds the secret: nothing."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        # Of the folder that holds the package, nothing but the package is there.
        "PYTHONPATH": os.pathsep.join([str(_PACKAGE.parent), *_libraries()]),
        "HOME": "/tmp",
        HELD_NAMES: os.pathsep.join(_under_tmp()),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": "/tmp/ipython",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    }


@functools.cache
def find() -> Walls:
    """Try what this machine gives, by building the walls around a program that looks around."""
    return Walls(_missing(), os.geteuid() == 0, _cgroup())


def doctor() -> list[tuple[str, str]]:
    """Return (question, answer) pairs that say what this machine can give."""
    walls = find()
    if walls.missing:
        return [
            ("isolation", f"no: {walls.missing}"),
            ("students run as", "you, with all your rights"),
            ("network", "yours"),
            ("files", "yours"),
            ("memory and processes", "limited for each process only"),
            ("grading", "refused without --unsafe"),
        ]
    own = "a user id of their own" if walls.nobody else "you, without any rights"
    return [
        ("isolation", "yes: bubblewrap, and namespaces and a filter of calls for each exercise"),
        ("students run as", own),
        ("network", "none"),
        ("files", "the system's libraries and Python, read-only; a small /tmp"),
        (
            "memory and processes",
            f"of each worker: by control group, {MEMORY / 1e9:g} GB and {PROCESSES}"
            if walls.cgroup
            else "limited for each process only, as control groups cannot be written here: "
            "what processes share in memory has no limit",
        ),
        ("grading", "as usual"),
    ]


@contextlib.contextmanager
def limited(walls: Walls) -> Iterator[list[str]]:
    """Make a control group for a worker, where that is possible; give what starts a command in it."""
    name = f"scalelab-{os.getpid()}-{time.monotonic_ns()}"
    made: list[Path] = []
    try:
        for folder, file, most in _limits(walls.cgroup):
            place = folder / name
            if place not in made:
                place.mkdir()
                made.append(place)
            (place / file).write_text(str(most))
        yield ["sh", "-c", _JOIN, " ".join(str(place / "cgroup.procs") for place in made)]
    finally:
        for place in made:
            _remove(place)


def sweep() -> None:
    """Remove the groups of workers that were killed and could not do it themselves."""
    for top in {folder for folder, *_ in _limits(find().cgroup)}:
        for place in top.glob("scalelab-*"):
            if not Path("/proc", place.name.split("-")[1]).exists():
                _remove(place)


def _remove(place):
    """Remove a group as soon as the kernel has buried its last process."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            place.rmdir()
            return
        time.sleep(0.02)


def _limits(version):
    """Yield (folder of the hierarchy, file, value)."""
    top = Path("/sys/fs/cgroup")
    if version == "1":
        yield top / "memory", "memory.limit_in_bytes", MEMORY
        yield top / "pids", "pids.max", PROCESSES
    elif version == "2":
        yield top, "memory.max", MEMORY
        yield top, "pids.max", PROCESSES


def _python():
    """List the folders of this interpreter, its libraries and this package; nothing else of ours."""
    folders = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)}
    folders |= {*_libraries(), str(_PACKAGE)}
    inside = (path for path in folders if not path.startswith("/usr/") and path != "/usr")
    return sorted(inside)  # what holds others comes before them


def _under_tmp():
    """List what of this Python a private /tmp would hide; it is held elsewhere too, see `namespaces`."""
    return [path for path in _python() if path.startswith("/tmp/") and Path(path).exists()]


def _libraries():
    """List where packages are installed: also outside the interpreter's own folders."""
    named = (path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    return [path for path in named if Path(path).is_dir()]


def _missing():
    if sys.platform != "linux":
        return "it needs Linux"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    # A second look, in case the first was killed by somebody else.
    return _tried() and _tried()


def _tried():
    """Return why the walls do not stand, or ""."""
    look = [
        sys.executable,
        "-c",
        "from scalelab.grading.box import fork_server; fork_server.try_walls()",
    ]
    try:
        done = subprocess.run(
            command(look), env=environment(), capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run ({error})"
    if done.returncode or "walls stand" not in done.stdout:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"namespaces are not allowed here ({last[:200]})"
    return ""


def _cgroup():
    """Return the version of the control groups that can be written here, or ""."""
    top = Path("/sys/fs/cgroup")
    for version, needed in (("2", ["cgroup.controllers"]), ("1", ["memory", "pids"])):
        if all((top / name).exists() for name in needed):
            with contextlib.suppress(OSError):
                if version == "2":
                    (top / "cgroup.subtree_control").write_text("+memory +pids")
                for folder in {folder for folder, *_ in _limits(version)}:
                    place = folder / f"scalelab-try-{os.getpid()}"
                    place.mkdir()
                    place.rmdir()
                return version
    return ""
