"""Honest answers that look odd: every one of them is worth full marks."""

from __future__ import annotations

from tests.submissions.kinds import FLAGGED, FULL, GRADED, NOTHING, code_kinds, notebook_kind
from tests.submissions.stage import ONE, THREE, TWO

HALF = "def half(x):\n    return x / 2"


def _half(body, before=""):
    return ({ONE: f"{before}\ndef half(x):\n    {body}"},)


def _mean(body, before=""):
    return ({THREE: f"{before}\ndef mean(values):\n    {body}"},)


def _windows(notebook, stage):
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")


def _editors(notebook, stage):
    for n, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {
            "id": f"x{n}",
            "colab": {"base_uri": "x"},
            "vscode": {"languageId": "py"},
        }
    notebook["metadata"] |= {"colab": {"provenance": []}, "accelerator": "GPU", "widgets": {}}


def _executed(notebook, stage):
    for n, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = n
            cell["outputs"] = [
                {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
            ]


def _blank(notebook, stage):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = stage.source.by_id[cell["id"]].stub


def _scratch(code):
    def change(notebook, stage):
        at = notebook["cells"].index(stage.cell(notebook, ONE, "check"))
        cell = {"cell_type": "code", "metadata": {}, "source": code, "outputs": []}
        notebook["cells"].insert(at, cell)

    return change


LATER = {"onward": True}
_OWN = FLAGGED, FULL, "own"
KINDS = [
    *code_kinds(
        "oddities",
        {
            "honest": ({},),
            "warns": _half("warnings.warn('old'); return x / 2", "import warnings"),
            "warnings are errors": (
                {ONE: "import warnings\nwarnings.simplefilter('error')\n" + HALF},
            ),
            "prints": _half("print('x', x); return x / 2"),
            "writes to stderr": _half("sys.stderr.write('!'); return x / 2", "import sys"),
            "logs": _half(
                "logging.warning(x); return x / 2", "import logging\nlogging.basicConfig()"
            ),
            "whole number for a number": ({TWO: "limit = 20"},),
            "NumPy scalar": ({TWO: "limit = np.float64(20)"},),
            "half precision": _mean("return np.float16(np.mean(values))"),
            "single precision": _mean("return np.float32(np.mean(values))"),
            "array without dimensions": _half("return np.array(x) / 2"),
            "array of one": ({TWO: "limit = np.array(20.0)"},),
            "fraction": ({TWO: "from fractions import Fraction\nlimit = Fraction(20)"},),
            "decimal": ({TWO: "from decimal import Decimal\nlimit = Decimal(20)"},),
            "a float with manners": (
                {ONE: "class Seconds(float): pass\ndef half(x):\n    return Seconds(x / 2)"},
            ),
            "rounded to four digits": _half("return float(f'{x / 2:.4g}')"),
            "input mutated": _mean(
                "values.sort(); s = 0\n    n = len(values)\n"
                "    while values: s += values.pop()\n    return s / n"
            ),
            "stub line at the end": ({ONE: HALF + "\n# your answer here\npass"},),
            "stub line within": _half("...\n    return x / 2"),
            "answer above the stub": ({ONE: HALF + "\n\n# your answer here\npass\n"},),
            "NumPy's state changed": ({ONE: "np.seterr(all='raise')\nnp.random.seed(3)\n" + HALF},),
            "printing options changed": ({ONE: "np.set_printoptions(precision=1)\n" + HALF},),
            "folder changed": ({ONE: "import os\nos.chdir('/')\n" + HALF},),
            "lambda": ({ONE: "half = lambda x: x / 2"},),
            "partial": (
                {
                    ONE: "from functools import partial\nimport operator\n"
                    "half = partial(operator.mul, 0.5)"
                },
            ),
            "object that can be called": (
                {ONE: "class Half:\n    def __call__(self, x): return x / 2\nhalf = Half()"},
            ),
            "vectorized": ({ONE: "half = np.vectorize(lambda x: x / 2)"},),
            "cached": ({ONE: "from functools import lru_cache\n@lru_cache\n" + HALF},),
            "decorated": (
                {
                    ONE: "def same(f):\n    def g(*a, **k): return f(*a, **k)\n    return g\n@same\n"
                    + HALF
                },
            ),
            "annotated": ({ONE: "def half(x: float, /) -> float:\n    'Half.'\n    return x / 2"},),
            "more arguments": ({ONE: "def half(x, by=2, *rest, **named):\n    return x / by"},),
            "built in": ({THREE: "import statistics\nmean = statistics.fmean"},),
            "NumPy's own": ({THREE: "mean = np.mean"},),
            "helper of an earlier exercise": (
                {
                    ONE: "def over(a, b): return a / b\ndef half(x): return over(x, 2)",
                    THREE: "def mean(values): return over(sum(values), len(values))",
                },
                GRADED,
                FULL,
                LATER,
            ),
            "earlier answer used": (
                {
                    ONE: HALF,
                    THREE: "def mean(values): return half(2 * sum(values)) / len(values)",
                },
                GRADED,
                FULL,
                LATER,
            ),
            "star import earlier": (
                {ONE: "from statistics import *\n" + HALF, THREE: "mean = fmean"},
                GRADED,
                FULL,
                LATER,
            ),
            "Unicode names": ({ONE: "def half(größe):\n    δ = größe / 2\n    return δ"},),
            "tabs": ({ONE: "def half(x):\n\treturn x / 2"},),
            "top-level await": ({ONE: "import asyncio\nawait asyncio.sleep(0)\n" + HALF},),
            "matplotlib magic": ({ONE: "%matplotlib inline\n" + HALF},),
            "time magic": ({ONE: "%time sum(range(9))\n" + HALF},),
            "cell magic": ({ONE: "%%capture out\n" + HALF},),
            "shell": ({ONE: "!echo hello\n" + HALF},),
            "question mark": ({ONE: "len?\n" + HALF},),
            "install magic": ({ONE: "%pip install numpy\n!pip install torch\n" + HALF},),
            "display": ({ONE: "from IPython.display import display\ndisplay({'a': 1})\n" + HALF},),
            "last expression": ({ONE: HALF + "\nhalf(8)"},),
            "last expression that fails to show": (
                {ONE: HALF + "\nclass R:\n    def __repr__(self): raise ValueError\nR()"},
            ),
            "assertions of one's own": ({ONE: HALF + "\nassert half(2) == 1\nprint('passed')"},),
            "asks for input": (
                {ONE: HALF + "\nname = input('your name? ')"},
                FLAGGED,
                FULL,
                "answer-{one} stopped with EOFError",
            ),
            "raises after the answer": (
                {ONE: HALF + "\n1 / 0"},
                FLAGGED,
                FULL,
                "answer-{one} stopped with ZeroDivisionError",
            ),
            "exits after the answer": (
                {ONE: HALF + "\nimport sys\nsys.exit()"},
                FLAGGED,
                FULL,
                "answer-{one} stopped with SystemExit",
            ),
            "thread": _half(
                "r = []\n    t = threading.Thread(target=lambda: r.append(x / 2))\n"
                "    t.start(); t.join(); return r[0]",
                "import threading",
            ),
            "another process": _half(
                "return float(subprocess.check_output(['python', '-c', f'print({x} / 2)']))",
                "import subprocess",
            ),
            "a pool of one's own": (
                {
                    ONE: "from concurrent.futures import ThreadPoolExecutor\n"
                    "pool = ThreadPoolExecutor(1)\ncalls = []\ndef half(x):\n    calls.append(x)\n"
                    "    if x == 3.0: return pool.submit(lambda: x / 2).result()\n"
                    "    return x / 2 if x == 8 or calls[0] == 8 and 3.0 in calls else 0"
                },
            ),
            "calls counted": (
                {
                    ONE: "calls = []\ndef half(x):\n    calls.append(x)\n"
                    "    return x / 2 if x == 8 or calls[0] == 8 and 3.0 in calls else 0"
                },
            ),
            "a name used again": (
                {ONE: "n = 2\ndef half(x): return x / n", TWO: "n = 0.05\nlimit = 1 / n"},
            ),
            "prints after a check": ({TWO: "limit = 20.0\nprint('said afterwards')"},),
            "pool": _mean(
                "with ThreadPoolExecutor(2) as p: return sum(p.map(float, values)) / len(values)",
                "from concurrent.futures import ThreadPoolExecutor",
            ),
            "temporary file": _half(
                "with tempfile.TemporaryFile('w+') as f:\n        f.write(str(x / 2)); f.seek(0)\n"
                "        return float(f.read())",
                "import tempfile",
            ),
            "a file of one's own": (
                {
                    ONE: "open('notes.txt', 'w').write('2')\n"
                    "def half(x): return x / int(open('notes.txt').read())"
                },
            ),
            "random numbers": ({ONE: "import random\nrandom.seed()\n" + HALF},),
            "a short rest": ({ONE: "import time\ntime.sleep(0.3)\n" + HALF},),
            "shadows a builtin": (
                {THREE: "str = [1]\ndef mean(values):\n    return sum(values) / len(values)"},
            ),
            "deletes the setup": (
                {
                    ONE: "import numpy as xp\ndef half(x): return xp.multiply(x, 0.5)",
                    TWO: "del xp\nlimit = 20.0",
                },
            ),
            "generator expression within": _mean("return sum(v for v in values) / len(values)"),
            "long docstring": _half("'''" + "a " * 5000 + "'''\n    return x / 2"),
        },
    ),
    notebook_kind("nothing answered", "oddities", _blank, GRADED, NOTHING),
    notebook_kind("Windows line ends", "oddities", _windows),
    notebook_kind("metadata of other editors", "oddities", _editors),
    notebook_kind("executed, with errors shown", "oddities", _executed),
    notebook_kind("scratch cell that fails", "oddities", _scratch("1 / 0"), *_OWN),
    notebook_kind("scratch cell without sense", "oddities", _scratch("def x(:"), *_OWN),
    notebook_kind("scratch cell that exits", "oddities", _scratch("quit()"), *_OWN),
    notebook_kind("scratch cell that tries", "oddities", _scratch("half(10)"), *_OWN),
]
