"""Code that does not end, ends too much, or wants everything; and floods of what it gives."""

from __future__ import annotations

import os

from tests.submissions.kinds import FLAGGED, GRADED, code_kinds

ONE = "answer-1-1"
MARK = f"9{os.getpid()}"  # seconds to sleep: how a test knows a process of its own class
_LATE = "took longer than"
_ENDED = "ended the process"


def _half(body):
    return {ONE: f"def half(x):\n    {body}"}


KINDS = [
    *code_kinds(
        "runaways",
        {
            "endless loop in a cell": ({ONE: "while True: pass"}, FLAGGED, 4.0, _LATE),
            "endless loop in a function": (_half("while True: pass"), GRADED, 4.0),
            "endless loop that swallows all": (
                {
                    ONE: "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
                },
                FLAGGED,
                4.0,
                _LATE,
            ),
            "endless loop in a function that swallows all": (
                _half(
                    "\n    while True:\n        try:\n            while True: pass\n"
                    "        except BaseException: pass"
                ),
                GRADED,
                4.0,
            ),
            "endless loop with alarms off": (
                {ONE: "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"},
                FLAGGED,
                4.0,
                _LATE,
            ),
            "endless loop in C": ({ONE: "sum(iter(int, 1))"}, FLAGGED, 4.0, "answer-1-1"),
            "sleep": ({ONE: "import time\ntime.sleep(10_000)"}, FLAGGED, 4.0, _LATE),
            "waits for input": (
                {ONE: "import os\nr, w = os.pipe()\nos.read(r, 1)"},
                FLAGGED,
                4.0,
                _LATE,
            ),
            "deadlock": (
                {ONE: "import threading\nk = threading.Lock()\nk.acquire()\nk.acquire()"},
                FLAGGED,
                4.0,
                _LATE,
            ),
            "recursion": (_half("return half(x)"), GRADED, 4.0),
            "exit in a cell": ({ONE: "import sys\nsys.exit(1)"}, GRADED, 4.0),
            "quit in a cell": ({ONE: "quit()"}, GRADED, 4.0),
            "exit in a function": (_half("raise SystemExit"), GRADED, 4.0),
            "hard exit in a cell": ({ONE: "import os\nos._exit(0)"}, FLAGGED, 4.0, _ENDED),
            "hard exit in a function": (_half("import os; os._exit(0)"), FLAGGED, 4.0, _ENDED),
            "crash": ({ONE: "import ctypes\nctypes.string_at(0)"}, FLAGGED, 4.0, _ENDED),
            "crash in a function": (
                _half("import ctypes; ctypes.string_at(0)"),
                FLAGGED,
                4.0,
                _ENDED,
            ),
            "abort": ({ONE: "import os\nos.abort()"}, FLAGGED, 4.0, _ENDED),
            "closes every descriptor": (
                {ONE: "import os\nos.closerange(0, 4096)"},
                FLAGGED,
                4.0,
                _ENDED,
            ),
            "fork bomb": (
                {
                    ONE: "import os, time\nend = time.time() + 30\nwhile time.time() < end:\n"
                    "    try: os.fork()\n    except OSError: pass"
                },
                FLAGGED,
                4.0,
                ONE,
            ),
            "many threads": (
                {
                    ONE: "import threading, time\nt = []\nfor _ in range(100_000):\n"
                    "    t.append(threading.Thread(target=time.sleep, args=(60,), daemon=True))\n"
                    "    t[-1].start()"
                },
                GRADED,
                4.0,
            ),
            "memory": ({ONE: "x = bytearray(8 * 10**9)"}, GRADED, 4.0),
            "memory bit by bit": (
                # Not written to, or on a busy machine its time would be over before its memory.
                {ONE: "import numpy as np\nx = []\nwhile True: x.append(np.empty(10**7))"},
                GRADED,
                4.0,
            ),
            "memory in files": (
                {
                    ONE: "import os\nn = 0\nwhile True:\n    n += 1\n"
                    "    open(f'/dev/shm/{n}', 'wb').write(bytes(10**7))"
                },
                GRADED,
                4.0,
            ),
            "disk": (
                {
                    ONE: "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'wb').write(bytes(10**7))"
                },
                GRADED,
                4.0,
            ),
            "files without end": (
                {ONE: "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/x{n}', 'w').close()"},
                GRADED,
                4.0,
            ),
            "detached process": (
                {
                    ONE: f"import subprocess\nsubprocess.Popen(['sleep', '{MARK}'], "
                    "start_new_session=True)"
                },
                GRADED,
                4.0,
            ),
            "detached twice over": (
                {
                    ONE: "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
                    f"        os.execlp('sleep', 'sleep', '{MARK}')\n    os._exit(0)"
                },
                GRADED,
                4.0,
            ),
            "thread that goes on": (
                {
                    ONE: "import threading\ndef spin():\n    while True: pass\n"
                    "threading.Thread(target=spin, daemon=True).start()"
                },
                GRADED,
                4.0,
            ),
            "kills all it can": (
                {
                    ONE: "import os, signal\nfor s in (15, 9):\n    try: os.kill(-1, s)\n"
                    "    except OSError: pass\ntry: os.killpg(0, 15)\nexcept OSError: pass"
                },
                GRADED,
                4.0,
            ),
            "kills its parent": (
                {ONE: "import os, signal\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass"},
                GRADED,
                4.0,
            ),
            "a number too large": ({"answer-2-1": "limit = 10**100_000"}, GRADED, 5.0),
            "a power without end": (
                {"answer-2-1": "limit = 9**9**9"},
                FLAGGED,
                5.0,
                "answer-2-1",
            ),
        },
    ),
    *code_kinds(
        "floods",
        {
            "prints without end": ({ONE: "while True: print('x')"}, FLAGGED, 4.0, _LATE),
            "one long line": ({ONE: "print('x' * 10**8)"}, GRADED, 4.0),
            "many lines": ({ONE: "for n in range(30_000): print(n)"}, GRADED, 4.0),
            "writes past Python": (
                {ONE: "import os\nfor _ in range(2000): os.write(1, b'x' * 65536)"},
                GRADED,
                4.0,
            ),
            "stderr": ({ONE: "import sys\nsys.stderr.write('x' * 10**7)"}, GRADED, 4.0),
            "displays without end": (
                {
                    ONE: "from IPython.display import display, HTML\n"
                    "for _ in range(2000): display(HTML('<script>alert(1)</script>' * 100))"
                },
                GRADED,
                4.0,
            ),
            "large result": (_half("return [0.0] * 10**7"), GRADED, 4.0),
            "endless result": (_half("import itertools; return itertools.count()"), GRADED, 4.0),
            "deep result": (
                {
                    ONE: "def half(x):\n    d = []\n    for _ in range(10_000): d = [d]\n    return d"
                },
                GRADED,
                4.0,
            ),
            "result that holds itself": (_half("r = []; r.append(r); return r"), GRADED, 4.0),
            "long text": (_half("return 'x' * 10**8"), GRADED, 4.0),
            "long error": (_half("raise ValueError('x' * 10**8)"), GRADED, 4.0),
            "large answer": ({ONE: "# " + "x" * 500_000}, GRADED, 4.0),
        },
    ),
]
