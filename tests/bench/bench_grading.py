"""Grading against stock `nbgrader autograde`, on the same honest submissions that use torch."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from scalelab.grading.box import bubblewrap
from scalelab.grading.box.sandbox import MODULES
from scalelab.grading.judging import grade_all
from tests.bench import Row
from tests.submissions import assignment, classes
from tests.submissions.kinds import kinds

STOCK, OURS, WHOLE = 4, 60, 500  # submissions: stock takes seconds for each
TORCH = "import torch\n\ndef half(x):\n    return float(torch.tensor(x, dtype=torch.float64) / 2)"


def rows():
    """Yield seconds per submission beside stock's, and how long a whole class takes."""
    if bubblewrap.find().missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        stock = _stock(Path(folder) / "stock")
        few, more, many = (_ours(Path(folder) / f"{n}", n) for n in (OURS, 2 * OURS, 4 * OURS))
        yield Row(f"grade {OURS} / nbgrader autograde, seconds each", few / OURS, stock, 1 / 20)
        yield Row("grading one more / 50 ms", (many - few) / (3 * OURS), 0.05, 1.0)
        yield Row("120 more / twice 60 more submissions", many - more, 2 * (more - few), 1.2)
        yield Row("240 by two Dask workers / by one", *_dask(Path(folder)), 1 / 1.7)
        with _memory() as peak:
            whole = _ours(Path(folder) / "whole", WHOLE, kinds())
        yield Row(f"grade {WHOLE} with every kind of trouble / two minutes", whole, 120.0, 1.0)
        yield Row("the most memory that took / 2 GB", max(peak), 2e9, 1.0, unit="B")


def _class(root, count, others=()):
    root.mkdir()
    assignment.course(root)
    classes.enrol(root, list(others)[:count])
    honest = assignment.handed_in(root, {**assignment.HONEST, "answer-1-1": TORCH})
    for n in range(count - len(list(others)[:count])):
        folder = root / "course" / "submitted" / f"t{n:03}" / assignment.SLUG
        folder.mkdir(parents=True)
        (folder / f"{assignment.SLUG}.ipynb").write_text(json.dumps(honest))


def _ours(root, count, others=()):
    """Return the seconds of one run, the start of the workers included."""
    _class(root, count, others)
    start = time.perf_counter()
    limits = {"limits": classes.Limits()} if others else {}
    found = classes.grade(
        root, executor=lambda: grade_all.local(2), modules=MODULES, gradebook=True, **limits
    )
    spent = time.perf_counter() - start
    scores = [one["score"] for student, one in found.items() if student.startswith("t")]
    assert scores == [assignment.MOST] * len(scores)
    return spent


@contextlib.contextmanager
def _memory():
    """Collect, once a second, the bytes that this process and all below it share or hold."""
    import psutil

    peak, over = [0], threading.Event()

    def watch():
        while not over.wait(1.0):
            with contextlib.suppress(psutil.NoSuchProcess):
                tree = psutil.Process().children(recursive=True)
                peak.append(psutil.Process().memory_full_info().pss + sum(map(_held, tree)))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def _held(process):
    import psutil

    try:
        return process.memory_full_info().pss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _dask(folder):
    """Return the seconds of two workers and of one, their start left out."""
    import distributed

    spent = []
    for workers in (2, 1):
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster:
            root = folder / f"dask{workers}"
            _class(root, 4 * OURS)
            address = cluster.scheduler_address
            for _ in range(2):  # the first time they start their fork servers
                start = time.perf_counter()
                classes.grade(root, executor=lambda to=address: grade_all.dask(to), modules=MODULES)
            spent.append(time.perf_counter() - start)
    return spent


def _stock(root):
    """Return nbgrader's own seconds for one submission."""
    _class(root, STOCK)
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": bins}
    how = {"cwd": root, "env": environment, "check": True, "capture_output": True}
    shutil.rmtree(root / "exercises")
    subprocess.run(["nbgrader", "generate_assignment", "demo"], **how)
    start = time.perf_counter()
    subprocess.run(["nbgrader", "autograde", "demo"], **how)
    spent = time.perf_counter() - start
    return spent / STOCK
