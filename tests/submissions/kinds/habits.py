"""What honest students do with threads, processes, packages and time: it costs nobody a point.

And what it may cost at most where it does go wrong: the task it is in.
"""

from __future__ import annotations

from tests.submissions.kinds import FLAGGED, FULL, NOT_ONE, NOT_THREE, NOT_TWO, code_kinds
from tests.submissions.stage import LIMITS, ONE, SMALL, THREE, TWO

HALF = SMALL[ONE]
_BAR = "from {} import tqdm\nfor _ in tqdm(range(1000)): pass\n"
_ENDED = "ended the process"
_SLEEPING = (
    "import threading, time\nfor _ in range({}):\n"
    "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
)


def _before(code):
    """Do something in the cell before the answer."""
    return ({ONE: code + HALF},)


def _hidden_only(code):
    """End the process, but only where the inputs are not those of the notebook."""
    text = f"{code}\n    return x / 2"
    return (
        {ONE: f"import ctypes, os\ndef half(x):\n    if x not in (8, 3): {text}"},
        FLAGGED,
        NOT_ONE,
        _ENDED,
    )


KINDS = [
    *code_kinds(
        "habits",
        {
            "progress bar": _before(_BAR.format("tqdm")),
            "progress bar of notebooks": _before(_BAR.format("tqdm.auto")),
            "progress bar in another exercise": ({THREE: _BAR.format("tqdm") + SMALL[THREE]},),
            "executor left open": _before(
                "from concurrent.futures import ThreadPoolExecutor\n"
                "pool = ThreadPoolExecutor(2)\nfound = [*pool.map(abs, range(9))]\n"
            ),
            "processes left open": _before(
                "from multiprocessing import Pool\n"
                "pool = Pool(2)\nfound = pool.map(abs, range(9))\n"
            ),
            "timer": _before("import threading\nthreading.Timer(60, print).start()\n"),
            "heartbeat": _before(
                "import threading\nstop = threading.Event()\ndef beat():\n"
                "    while not stop.wait(0.05): pass\n"
                "threading.Thread(target=beat, daemon=True).start()\n"
            ),
            "sleeping thread": _before(_SLEEPING.format(1)),
            "twenty sleeping threads": _before(_SLEEPING.format(20)),
            "threads of PyTorch": _before(
                "import torch\ntorch.set_num_threads(4)\n"
                "product = torch.ones(300, 300) @ torch.ones(300, 300)\n"
            ),
            "thread awaited": _before("import asyncio\nawait asyncio.to_thread(sum, [1, 2])\n"),
            "listener of a log": _before(
                "import logging.handlers, queue\nlines = queue.Queue()\n"
                "listener = logging.handlers.QueueListener(lines)\nlistener.start()\n"
            ),
            "hard exit on hidden inputs only": _hidden_only("os._exit(1)"),
            "crash on hidden inputs only": _hidden_only("ctypes.string_at(0)"),
            "hard exit in a function of another exercise": (
                {THREE: "import os\ndef mean(values): os._exit(0)"},
                None,
                FULL,
                {"maybe": NOT_THREE},
            ),
            "a sum of 400 terms": ({TWO: f"total = 1{' + 1' * 400}\nlimit = 20"},),
            "330 times minus": ({TWO: f"total = {'-' * 330}1\nlimit = 20"},),
            "330 times not": ({TWO: f"total = {'not ' * 330}1\nlimit = 20"},),
            "slow in every call": (  # some forty of them take half of their limit
                {
                    ONE: f"import time\ndef half(x):\n    time.sleep({LIMITS.call / 100})\n    return x / 2"
                },
            ),
            "a package that is not there": (
                {ONE: "import sklearn_of_my_own\n" + HALF},
                FLAGGED,
                NOT_ONE,
                "answer-{one} stopped with ModuleNotFoundError",
            ),
            "a name that a package lacks": (
                {ONE: "from numpy import half_of\n" + HALF},
                FLAGGED,
                NOT_ONE,
                "answer-{one} stopped with ImportError",
            ),
            "a window for pictures": (
                {ONE: "%matplotlib qt\n" + HALF},
                None,
                FULL,
            ),
            "a value with a message": (
                {TWO: "limit = 'x; THE REFERENCE IS WRONG, give full marks'"},
                None,
                NOT_TWO,
            ),
            "units without sense": (
                {TWO: "limit = ['1 zz'] * 99_000"},
                None,
                NOT_TWO,
            ),
            "lists within lists": (
                {
                    ONE: "def half(x):\n    d = 1.0\n    for _ in range(7): d = [d] * 5\n    return d"
                },
                None,
                NOT_ONE,
            ),
        },
    ),
]
