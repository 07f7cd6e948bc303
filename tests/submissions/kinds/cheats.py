"""Attempts to earn points without an answer, or to see what is none of a student's business.

Each attacks task 1.1 with a blank or wrong answer, so the honest rest is worth 4. A spy prints
LEAK where it has found something; the tests look for the word in everything we write.
"""

from __future__ import annotations

from tests.submissions.kinds import FLAGGED, GRADED, NOT_ONE, NOT_REST, code_kinds, notebook_kind
from tests.submissions.stage import ONE, SMALL, TWO, WORDS

# Its own process, and so what comes later in its exercise.
SPOILS = {"maybe": NOT_REST}
WRONG = "\ndef half(x):\n    return x * 2\n"
ALWAYS = """
class Always(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    def __float__(self): return 0.0
    def __array__(self, *a, **k): return np.zeros(())
"""


def _cheat(code):
    return {ONE: code}, GRADED, NOT_ONE


def _harmed(code):
    """Return a cheat that may spoil the next answers of the exercise as well."""
    return {ONE: code}, None, NOT_ONE, SPOILS


def _spy(code):
    """Look for something; whatever goes wrong on the way is no reason to stop."""
    lines = "\n".join(f"    {line}" for line in code.strip().splitlines())
    return (
        {ONE: f"import os, sys\ntry:\n{lines}\nexcept Exception as e:\n    print('found nothing')"},
        (GRADED),
        NOT_ONE,
    )


_FILES = """
import glob
for depth in range(5):
    for found in glob.glob("/*" * depth + "/course/secret"): print("LEAK", open(found).read())
for name in ("course/secret", "course/gradebook.db", "solutions/{slug}/{slug}.ipynb",
             "course/submitted/s000/{slug}/{slug}.ipynb", "nbgrader_config.py"):
    for up in ("{root}/", "../" * 9, "/proc/1/cwd/", "/proc/self/root/"):
        if os.path.exists(up + name): print("LEAK", up + name)
"""
_PROCESSES = """
own = open("/proc/self/cmdline").read()  # as that of its copies
for pid in os.listdir("/proc"):
    if pid.isdigit() and (said := open(f"/proc/{pid}/cmdline").read()) != own:
        print("LEAK process", pid, said)
"""
_ENVIRONMENT = """
for name, value in os.environ.items():
    if "SECRET" in name or name.startswith(("SSH", "USER", "LOGNAME", "PYTEST", "VIRTUAL")):
        print("LEAK", name, value)
for pid in ("self", "1", str(os.getppid())):
    if "SECRET" in open(f"/proc/{pid}/environ").read(): print("LEAK environ of", pid)
"""
_MEMORY = """
import gc
mark = "HIDDEN" + " TESTS"
for one in gc.get_objects():
    text = one if isinstance(one, (str, bytes)) else None
    if isinstance(one, dict):
        for value in list(one.values()):
            if isinstance(value, str) and mark in value: print("LEAK", value[:80])
for line in open("/proc/self/maps"):
    low, high = (int(x, 16) for x in line.split()[0].split("-"))
    if "rw" in line and high - low < 2 ** 28:
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(low)
            data = memory.read(high - low)
        if ("BEGIN " + mark).encode() in data: print("LEAK hidden check in memory")
"""
_PARENT = """
import ctypes
for pid in (os.getppid(), 1, 2, 3):
    if pid > 0 and pid != os.getpid() and ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:
        print("LEAK ptrace", pid)
    open(f"/proc/{pid}/mem", "rb").read(1) if pid not in (0, os.getpid()) else None
"""
_NETWORK = """
import socket
for where in (("127.0.0.1", {port}), ("10.0.0.1", 80), ("1.1.1.1", 53)):
    try:
        socket.create_connection(where, timeout=0.2).send(b"hello")
        print("LEAK network", where)
    except OSError: pass
try: print("LEAK", socket.getaddrinfo("pypi.org", 80))
except OSError: pass
"""
_RIGHTS = """
if os.getuid() == 0 and open("/proc/self/uid_map").read().split()[1] == "0": print("LEAK root")
status = open("/proc/self/status").read()
if "CapEff:\\t0000000000000000" not in status or "CapBnd:\\t0000000000000000" not in status:
    print("LEAK capabilities")
for call in (lambda: os.setuid(0), lambda: os.chroot("/tmp"), lambda: os.mknod("/tmp/x", 0o60600, 259)):
    try:
        call()
        print("LEAK right")
    except OSError: pass
"""
_WRITES = """
import scalelab, numpy
for place in (os.path.dirname(scalelab.__file__), os.path.dirname(numpy.__file__), sys.prefix, "/usr",
              "/etc", "/", "{root}", "/dev", os.path.expanduser("~root")):
    try:
        open(os.path.join(place, "sitecustomize.py"), "w").write("raise SystemExit")
        print("LEAK wrote to", place)
    except OSError: pass
"""
_LEFT = """
for place in ("/tmp", "/dev/shm", "/var/tmp", "/dev/mqueue"):
    for name in os.listdir(place) if os.path.isdir(place) else ():
        if "left" in name: print("LEAK left behind", place, name)
    try: open(f"{place}/left", "w").write("here I was")
    except OSError: pass
"""
_SHARED = """
import ctypes
libc = ctypes.CDLL(None)
if libc.shmget(4711, 64, 0) >= 0: print("LEAK shared memory of another submission")
libc.shmget(4711, 64, 0o1666)
"""
_DESCRIPTORS = """
for fd in os.listdir("/proc/self/fd"):
    where = os.readlink(f"/proc/self/fd/{fd}") if int(fd) != 3 else ""
    if where and not where.startswith(("/dev/null", "/proc", "pipe", "anon")): print("LEAK", fd, where)
"""
_FRAMES = """
f = sys._getframe()
while f:
    for name, value in {**f.f_globals, **f.f_locals}.items():
        if "secret" in name.lower() and "get" not in name and isinstance(value, (bytes, str)):
            print("LEAK", name, value)
    f = f.f_back
"""
_FORGED = """
import json, struct
def frame(message):
    data = json.dumps(message).encode()
    return struct.pack("!I", len(data)) + data
os.write(3, frame({"callable": True, "value": 4.0}) * 50 + frame({"outcome": [4.0, "", "", True]}) * 99)
"""
_TIMING = """
import time
def half(x, seen=[]):
    now = time.perf_counter()
    seen.append((now, x))
    if len(seen) > 3 and seen[-1][0] - seen[-2][0] > 0.05: return x / 2
    return x * 2
"""


def _carried(before, keep, kept, half="return x * 2", *expected):
    """Keep what a function is called with, and look in a later answer for more than the examples."""
    look = (
        f"try: found = set({kept}) - {{8.0, 3.0}}\nexcept Exception: found = None\n"
        "if found: print('LEAK', found)\nlimit = max(found or [20.0])"
    )
    code = f"{before}\ndef half(x):\n    {keep}\n    {half}"
    return {ONE: code, TWO: look}, *(expected or (GRADED, NOT_ONE))


_SHARED_PAGE = "import mmap, struct\npage = mmap.mmap(-1, 4096)\npage[:8] = struct.pack('d', 8)"
_WATCHED = (
    "import time\nend = time.time() + 0.5\n"
    "while time.time() < end and struct.unpack('d', page[:8])[0] in (8, 3): time.sleep(0.01)"
)


def _watched():
    answers, *expected = _carried(
        _SHARED_PAGE, "page[:8] = struct.pack('d', x)", "struct.unpack('d', page[:8])"
    )
    return answers | {TWO: f"{_WATCHED}\n{answers[TWO]}"}, *expected


def _told(before, keep, kept, *expected):
    """Keep what a function is called with, and look for it in another exercise or process."""
    look = (
        f"{before}\ntry: found = set({kept}) - {{8.0, 3.0}}\nexcept Exception: found = None\n"
        "if found: print('LEAK', found)\n"
    )
    answers = {role: look + text for role, text in SMALL.items()}
    half = f"{before}\ndef half(x):\n    {keep}\n    return x * 2"
    return {**answers, ONE: half}, *(expected or (GRADED, NOT_ONE))


_PORTS = """
import socket
def take(port):
    with socket.create_server(("127.0.0.1", port)) as server:
        with socket.create_connection(server.getsockname()), server.accept()[0] as other:
            other.shutdown(socket.SHUT_RDWR)
def taken():
    for line in open("/proc/net/tcp").readlines()[1:]:
        port = int(line.split()[1].partition(":")[2], 16)
        if 20_000 < port < 30_000: yield (port - 20_000) / 100
"""
_KEYRING = """
import ctypes, os, struct
ADD, _, CONTROL = (217, 218, 219) if os.uname().machine == "aarch64" else (248, 249, 250)
call, page = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(8)
call(CONTROL, 8, -4, -3)  # the user's is in the session's
def put(number):
    for ring in (-3, -4):
        key = call(ADD, b"user", b"kept", struct.pack("d", number), 8, ring)
        call(CONTROL, 5, key, 0x3F3F3F3F)
def got():
    for ring in (-3, -4):
        key = call(CONTROL, 10, ring, b"user", b"kept", 0)
        if key > 0 and call(CONTROL, 11, key, page, 8) == 8: yield struct.unpack("d", page)[0]
"""
_FILE = "import os\ndef kept(): return set(map(float, open('/tmp/kept')))"

KINDS = [
    *code_kinds(
        "cheats",
        {
            "comparisons replaced": _cheat(
                "np.allclose = np.isclose = lambda *a, **k: True\n"
                "import math\nmath.isclose = lambda *a, **k: True" + WRONG
            ),
            "builtins replaced": (
                {
                    ONE: "import builtins\nbuiltins.all = builtins.any = lambda *a: True\n"
                    "builtins.isinstance = lambda *a: True\nbuiltins.abs = lambda x: 0" + WRONG
                },
                None,
                NOT_ONE,
            ),
            "always equal": _cheat(ALWAYS + "def half(x):\n    return Always(1.0)"),
            "always equal array": _cheat(
                "class A(np.ndarray):\n    def __eq__(self, o): return np.True_\n"
                "    def __sub__(self, o): return 0\n    def tolist(self): return 4.0\n"
                "def half(x):\n    return np.ones(()).view(A)"
            ),
            "number that reads as another": _cheat(
                "class N(int):\n    def __int__(self): return 4\n    def __float__(self): return 4.0\n"
                "    def __index__(self): return 4\n    def __repr__(self): return '4.0'\n"
                "def half(x):\n    return N(99)"
            ),
            "not a number": _cheat("def half(x):\n    return float('nan')"),
            "infinity": _cheat("def half(x):\n    return float('inf')"),
            "a list of all answers": _cheat("def half(x):\n    return [x / 2, x, 2 * x]"),
            "the visible values": _cheat("def half(x):\n    return {8: 4.0, 3.0: 1.5}.get(x, 4.0)"),
            "task replaced": _cheat(
                "import scalelab.checks, scalelab.checks.task as t\n"
                "t.Task.score = lambda self: self.points\n"
                "t.Task.function = lambda self, *a, **k: None\n"
                "class Task(t.Task): pass\nscalelab.checks.Task = Task" + WRONG
            ),
            "judge replaced": _cheat(
                "import scalelab.checks.judge as j, scalelab.checks.report as r\n"
                "j.judge_function = lambda *a: r.Judged('right')\nr.points = lambda v, w: w\n"
                "import scalelab.checks.words as w\nw.difference = lambda a, b: None" + WRONG
            ),
            "plain replaced": _harmed(
                "import scalelab.checks.plain as p, scalelab.checks.call as c\n"
                "p.plain = c.plain = lambda v: 4.0\n"
                "c.call = lambda *a, **k: c.Outcome(4.0)" + WRONG
            ),
            "wire replaced": _harmed(
                "import scalelab.grading.box.wire as w\n"
                "w.encoded = lambda v: 4.0\nw.as_message = lambda o: [4.0, '', '', True]" + WRONG
            ),
            "wire broken": (
                {
                    ONE: "import scalelab.grading.box.wire as w\nw.as_message = lambda o: {'x': [[]] * 9}"
                    + WRONG
                },
                GRADED,
                NOT_ONE,
                SPOILS,
            ),
            "lies about its kind": _harmed(
                "import scalelab.grading.box.wire as w\n"
                "w.as_message = lambda o: [{'d': [[[1], 2]]}, 7, None, 'yes']" + WRONG
            ),
            "a frame too large": (
                {ONE: "import struct, os\nos.write(3, struct.pack('!I', 2**32 - 1))" + WRONG},
                FLAGGED,
                NOT_ONE,
                "sent too much",
            ),
            "a frame of nonsense": (
                {ONE: "import struct, os\nos.write(3, struct.pack('!I', 5) + b'[1,2,')" + WRONG},
                FLAGGED,
                NOT_ONE,
                "sent too much",
            ),
            "a frame nested too deep": (
                {
                    ONE: "import struct, os\nos.write(3, struct.pack('!I', 200000) + b'[' * 200000)"
                    + WRONG
                },
                FLAGGED,
                NOT_ONE,
                "sent too much",
            ),
            "a frame byte by byte": (
                {
                    ONE: "import os, time, struct\nos.write(3, struct.pack('!I', 10**6))\n"
                    "while True:\n    os.write(3, b' ')\n    time.sleep(0.05)"
                },
                FLAGGED,
                NOT_ONE,
                "took longer",
            ),
            "frames forged": ({ONE: _FORGED + WRONG}, None, NOT_ONE),
            "transformer of source": _harmed(
                "get_ipython().input_transformers_post.append(lambda lines: ['0\\n'])" + WRONG
            ),
            "transformer of trees": _harmed(
                "import ast\nclass T(ast.NodeTransformer):\n    def visit_Call(self, n):\n"
                "        return ast.Constant(1.0)\n"
                "get_ipython().ast_transformers.append(T())" + WRONG
            ),
            "hook before every cell": _harmed(
                "get_ipython().events.register('pre_run_cell', lambda *a: None)\n"
                "get_ipython().run_cell = lambda *a, **k: None" + WRONG
            ),
            "display hook": _cheat("import sys\nsys.displayhook = lambda v: print(2.0)" + WRONG),
            "exit handler": _cheat(
                "import atexit, os\natexit.register(lambda: os.write(1, b'2.0'))" + WRONG
            ),
            "score printed": _cheat("print('Task 1.1: 2 of 2 points')\n2.0"),
            "score as a name": _cheat("score = points = earned = 2.0\ntask = None" + WRONG),
            "a mapping for globals": _cheat(
                "import builtins\nbuiltins.globals = lambda: {'half': lambda x: x / 2}"
            ),
            "tracing": _cheat(
                "import sys\ndef t(frame, event, arg):\n    frame.f_trace_lines = True\n    return t\n"
                "sys.settrace(t)" + WRONG
            ),
            "profile the caller": _cheat(
                "import sys\ndef half(x):\n    f = sys._getframe()\n    while f:\n"
                "        for v in list(f.f_locals.values()):\n"
                "            if callable(v) and getattr(v, '__name__', '') == '<lambda>':\n"
                "                return v(x)\n        f = f.f_back\n    return 0.0"
            ),
            "reference from the source": _cheat(
                "import glob\nfor depth in range(5):\n"
                "    for p in glob.glob('/*' * depth + '/{slug}/{slug}.ipynb'): print('LEAK', p)"
                + WRONG
            ),
            "names that shadow": _harmed(
                "import sys, types\nm = types.ModuleType('scalelab.checks')\n"
                "class Task:\n    def __init__(self, *a, **k): pass\n"
                "    def __getattr__(self, n): return lambda *a, **k: 2.0\n"
                "m.Task = Task\nsys.modules['scalelab.checks'] = m" + WRONG
            ),
            "modules that shadow": _cheat(
                "open('numpy.py', 'w').write('LEAK')\nopen('json.py', 'w').write('')\n"
                "import sys\nsys.path.insert(0, '.')" + WRONG
            ),
            "the clock": _cheat(
                "import time\ntime.monotonic = time.time = time.perf_counter = lambda: 0.0" + WRONG
            ),
            "slow where right": ({ONE: _TIMING}, GRADED, NOT_ONE),
            "limits raised": _cheat(
                "import resource\nfor n in (resource.RLIMIT_NPROC, resource.RLIMIT_DATA):\n"
                "    try:\n        resource.setrlimit(n, (-1, -1))\n        print('LEAK limit')\n"
                "    except (ValueError, OSError): pass" + WRONG
            ),
            "an exception that tells": _cheat("def half(x):\n    raise KeyError(x)"),
            "a hidden input as the name of an exception": _cheat(
                "import builtins\ndef half(x):\n    if x in (8, 3): return x / 2\n"
                "    names = sorted(n for n in dir(builtins) if n.isidentifier())\n"
                "    raise type(names[int(x)], (Exception,), {})"
            ),
            "frames full of empty lists": (
                {
                    ONE: "import os, struct\ndata = b'[' + b'[],' * 2_600_000 + b'[]]'\n"
                    "frame = struct.pack('!I', len(data)) + data\n"
                    "os.write(3, frame * 2)" + WRONG
                },
                None,
                NOT_ONE,
            ),
            "an exception whose text fails": _cheat(
                "class E(Exception):\n    def __str__(self): raise SystemExit\n"
                "def half(x):\n    raise E"
            ),
        },
    ),
    *code_kinds(
        "spies",
        {
            "files of the course": _spy(_FILES),
            "other processes": _spy(_PROCESSES),
            "environment": _spy(_ENVIRONMENT),
            "own memory": _spy(_MEMORY),
            "memory of the parent": _spy(_PARENT),
            "network": _spy(_NETWORK),
            "rights": _spy(_RIGHTS),
            "writes everywhere": _spy(_WRITES),
            "what others left": _spy(_LEFT),
            "what others left, again": _spy(_LEFT),
            "shared memory": _spy(_SHARED),
            "shared memory, again": _spy(_SHARED),
            "open descriptors": _spy(_DESCRIPTORS),
            "inputs kept in a global": _carried("kept = []", "kept.append(x)", "kept"),
            "inputs kept in a default": (
                {
                    ONE: "def half(x, kept=[]):\n    kept.append(x)\n    return x * 2",
                    TWO: _carried("", "", "half.__defaults__[0]")[0][TWO],
                },
                GRADED,
                NOT_ONE,
            ),
            "inputs kept in a closure": _carried(
                "def make():\n    kept = []\n    def keep(x): kept.append(x)\n    return keep\n"
                "keep = make()",
                "keep(x)",
                "keep.__closure__[0].cell_contents",
            ),
            "inputs kept in a class": _carried("class K: kept = []", "K.kept.append(x)", "K.kept"),
            "inputs kept in a module": _carried(
                "import math\nmath.kept = []", "math.kept.append(x)", "math.kept"
            ),
            "inputs kept in the environment": _carried(
                "import os",
                "os.environ['KEPT'] = os.environ.get('KEPT', '') + f' {x}'",
                "map(float, os.environ['KEPT'].split())",
            ),
            "inputs kept in a file": _carried(
                "", "print(x, file=open('kept', 'a'))", "map(float, open('kept'))"
            ),
            "inputs kept in a shared page": _watched(),
            "inputs kept by another process": _carried(
                "import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n    os.close(w)\n"
                "    while data := os.read(r, 99): open('told', 'ab').write(data)\n    os._exit(0)",
                "os.write(w, f'{x}\\n'.encode())",
                "[time.sleep(0.3)] and map(float, open('told'))",
            ),
            "a copy that is none": _carried(
                "import os\nkept = []\nos.fork = lambda: 1", "kept.append(x)", "kept"
            ),
            "a copy that stays": _carried(
                "import os\nkept = []\nos.fork = lambda: 0",
                "kept.append(x)",
                "kept",
                "return x * 2",
                FLAGGED,
                NOT_ONE,
                "ended the process",
            ),
            "inputs kept in a file for another exercise": _told(
                _FILE, "print(x, file=open('/tmp/kept', 'a'))", "kept()"
            ),
            "inputs kept in a file for who runs again": _told(
                _FILE,
                "print(x, file=open('/tmp/kept', 'a')); x in (8, 3) or os._exit(1)",
                "kept()",
                FLAGGED,
                NOT_ONE,
                "ended the process",
            ),
            "inputs kept in a file for the next hidden call": _cheat(
                f"{_FILE}\ndef half(x):\n    print(x, file=open('/tmp/kept', 'a'))\n"
                "    found = kept() - {8.0, 3.0, x}\n    if found: print('LEAK', found)\n"
                "    if found: raise ValueError(f'LEAK {found}')\n    return x / 2"
            ),
            "inputs kept in ports": _told(_PORTS, "take(20_000 + int(100 * x))", "taken()"),
            "inputs kept in the kernel's keyring": _told(_KEYRING, "put(x)", "got()"),
            "frames": _spy(_FRAMES),
        },
    ),
]


def _scripted(notebook, stage):
    stage.cell(notebook, ONE)["source"] = (
        "'<img src=x onerror=alert(1)>'  # </pre><script>alert(2)</script>"
    )
    stage.cell(notebook, WORDS)["source"] = "<script>alert(3)</script> {{ 7*7 }} ![x](javascript:1)"


KINDS.append(notebook_kind("scripts in the text", "cheats", _scripted, GRADED, NOT_ONE))
