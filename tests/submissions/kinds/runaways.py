"""Code that does not end, ends too much, or wants everything; and floods of what it gives."""

from __future__ import annotations

import os

from tests.submissions.kinds import FLAGGED, GRADED, NOT_ONE, NOT_TWO, code_kinds
from tests.submissions.stage import ONE, TWO

MARK = f"9{os.getpid()}"  # seconds to sleep: how a test knows a process of its own class
_LATE = "took longer than"
_STOPPED = "answer-{one} stopped with"
_ENDED = "ended the process"


def _half(body):
    return {ONE: f"def half(x):\n    {body}"}


KINDS = [
    *code_kinds(
        "runaways",
        {
            "endless loop in a cell": ({ONE: "while True: pass"}, FLAGGED, NOT_ONE, _LATE),
            "endless loop in a function": (_half("while True: pass"), GRADED, NOT_ONE),
            "endless loop that swallows all": (
                {
                    ONE: "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
                },
                FLAGGED,
                NOT_ONE,
                _LATE,
            ),
            "endless loop in a function that swallows all": (
                _half(
                    "\n    while True:\n        try:\n            while True: pass\n"
                    "        except BaseException: pass"
                ),
                GRADED,
                NOT_ONE,
            ),
            "endless loop with alarms off": (
                {ONE: "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"},
                FLAGGED,
                NOT_ONE,
                _LATE,
            ),
            "endless loop in C": ({ONE: "sum(iter(int, 1))"}, FLAGGED, NOT_ONE, "answer-{one}"),
            "sleep": ({ONE: "import time\ntime.sleep(10_000)"}, FLAGGED, NOT_ONE, _LATE),
            "waits for input": (
                {ONE: "import os\nr, w = os.pipe()\nos.read(r, 1)"},
                FLAGGED,
                NOT_ONE,
                _LATE,
            ),
            "deadlock": (
                {ONE: "import threading\nk = threading.Lock()\nk.acquire()\nk.acquire()"},
                FLAGGED,
                NOT_ONE,
                _LATE,
            ),
            "recursion": (_half("return half(x)"), GRADED, NOT_ONE),
            "exit in a cell": ({ONE: "import sys\nsys.exit(1)"}, FLAGGED, NOT_ONE, _STOPPED),
            "quit in a cell": ({ONE: "quit()"}, FLAGGED, NOT_ONE, _STOPPED),
            "exit in a function": (_half("raise SystemExit"), GRADED, NOT_ONE),
            "hard exit in a cell": ({ONE: "import os\nos._exit(0)"}, FLAGGED, NOT_ONE, _ENDED),
            "hard exit in a function": (_half("import os; os._exit(0)"), FLAGGED, NOT_ONE, _ENDED),
            "crash": ({ONE: "import ctypes\nctypes.string_at(0)"}, FLAGGED, NOT_ONE, _ENDED),
            "crash in a function": (
                _half("import ctypes; ctypes.string_at(0)"),
                FLAGGED,
                NOT_ONE,
                _ENDED,
            ),
            "abort": ({ONE: "import os\nos.abort()"}, FLAGGED, NOT_ONE, _ENDED),
            "closes every descriptor": (
                {ONE: "import os\nos.closerange(0, 4096)"},
                FLAGGED,
                NOT_ONE,
                _ENDED,
            ),
            "fork bomb": (
                {
                    ONE: "import os, time\nend = time.time() + 30\nwhile time.time() < end:\n"
                    "    try: os.fork()\n    except OSError: pass"
                },
                FLAGGED,
                NOT_ONE,
                "answer-{one}",
            ),
            "many threads": (
                {
                    ONE: "import threading, time\nt = []\nfor _ in range(100_000):\n"
                    "    t.append(threading.Thread(target=time.sleep, args=(60,), daemon=True))\n"
                    "    t[-1].start()"
                },
                FLAGGED,
                NOT_ONE,
                _STOPPED,
            ),
            "memory": ({ONE: "x = bytearray(8 * 10**9)"}, FLAGGED, NOT_ONE, _STOPPED),
            "memory bit by bit": (
                # Not written to, or on a busy machine its time would be over before its memory.
                {ONE: "import numpy as np\nx = []\nwhile True: x.append(np.empty(10**7))"},
                FLAGGED,
                NOT_ONE,
                _STOPPED,
            ),
            "memory in files": (
                {
                    ONE: "import os\nn = 0\nwhile True:\n    n += 1\n"
                    "    open(f'/dev/shm/{n}', 'wb').write(bytes(10**7))"
                },
                FLAGGED,
                NOT_ONE,
                _STOPPED,
            ),
            "disk": (
                {
                    ONE: "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'wb').write(bytes(10**7))"
                },
                FLAGGED,
                NOT_ONE,
                _STOPPED,
            ),
            "files without end": (
                {ONE: "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/x{n}', 'w').close()"},
                FLAGGED,
                NOT_ONE,
                _STOPPED,
            ),
            "detached process": (
                {
                    ONE: f"import subprocess\nsubprocess.Popen(['sleep', '{MARK}'], "
                    "start_new_session=True)"
                },
                GRADED,
                NOT_ONE,
            ),
            "detached twice over": (
                {
                    ONE: "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
                    f"        os.execlp('sleep', 'sleep', '{MARK}')\n    os._exit(0)"
                },
                GRADED,
                NOT_ONE,
            ),
            "thread that goes on": (
                {
                    ONE: "import threading\ndef spin():\n    while True: pass\n"
                    "threading.Thread(target=spin, daemon=True).start()"
                },
                GRADED,
                NOT_ONE,
            ),
            "kills all it can": (
                {
                    ONE: "import os, signal\nfor s in (15, 9):\n    try: os.kill(-1, s)\n"
                    "    except OSError: pass\ntry: os.killpg(0, 15)\nexcept OSError: pass"
                },
                GRADED,
                NOT_ONE,
            ),
            "kills its parent": (
                {ONE: "import os, signal\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass"},
                GRADED,
                NOT_ONE,
            ),
            "a number too large": ({TWO: "limit = 10**100_000"}, GRADED, NOT_TWO),
            "a power without end": (
                {TWO: "limit = 9**9**9"},
                FLAGGED,
                NOT_TWO,
                "answer-{two}",
            ),
        },
    ),
    *code_kinds(
        "floods",
        {
            "prints without end": ({ONE: "while True: print('x')"}, FLAGGED, NOT_ONE, _LATE),
            "one long line": ({ONE: "print('x' * 10**8)"}, GRADED, NOT_ONE),
            "many lines": ({ONE: "for n in range(30_000): print(n)"}, GRADED, NOT_ONE),
            "writes past Python": (
                {ONE: "import os\nfor _ in range(2000): os.write(1, b'x' * 65536)"},
                GRADED,
                NOT_ONE,
            ),
            "stderr": ({ONE: "import sys\nsys.stderr.write('x' * 10**7)"}, GRADED, NOT_ONE),
            "displays without end": (
                {
                    ONE: "from IPython.display import display, HTML\n"
                    "for _ in range(2000): display(HTML('<script>alert(1)</script>' * 100))"
                },
                GRADED,
                NOT_ONE,
            ),
            "large result": (_half("return [0.0] * 10**7"), GRADED, NOT_ONE),
            "endless result": (
                _half("import itertools; return itertools.count()"),
                GRADED,
                NOT_ONE,
            ),
            "deep result": (
                {
                    ONE: "def half(x):\n    d = []\n    for _ in range(10_000): d = [d]\n    return d"
                },
                GRADED,
                NOT_ONE,
            ),
            "result that holds itself": (_half("r = []; r.append(r); return r"), GRADED, NOT_ONE),
            "long text": (_half("return 'x' * 10**8"), GRADED, NOT_ONE),
            "long error": (_half("raise ValueError('x' * 10**8)"), GRADED, NOT_ONE),
            "large answer": ({ONE: "# " + "x" * 500_000}, GRADED, NOT_ONE),
        },
    ),
]
