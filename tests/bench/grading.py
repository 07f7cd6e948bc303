"""Grading against stock `nbgrader autograde`, on the same honest submissions of every assignment."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scalelab.grading import classroom
from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import course as courses, source
from scalelab.grading.judging import grade_all
from tests.assignments.runner import SLUGS
from tests.bench import Row
from tests.notebooks import ROOT

STOCK, OURS, MANY = 5, 300, 160  # submissions: stock takes seconds for each
GOAL, BAR = 1 / 20, 1 / 10  # of stock's seconds for one submission


def rows():
    """Yield seconds per submission beside stock's, of every assignment, and how a class grows."""
    if bubblewrap.find().missing:
        return
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        for slug in SLUGS:
            stock, few, many = (
                _seconds(Path(folder) / f"{slug}-{n}", slug, n, command)
                for n, command in ((STOCK, "nbgrader"), (STOCK, "scalelab"), (OURS, "scalelab"))
            )
            shares.append(many / OURS / (stock / STOCK))
            yield Row(
                f"{slug}: one of {OURS} / one of stock's {STOCK}", many / OURS, stock / STOCK, 1
            )
            yield Row(f"{slug}: all of {STOCK} / stock's", few, stock, 1.0)
        yield Row("the median of these / stock", statistics.median(shares), 1.0, BAR, unit="")
        slug = SLUGS[0]
        more, most = (
            _seconds(Path(folder) / f"{n}", slug, n, "scalelab") for n in (MANY, 2 * MANY)
        )
        yield Row(f"{MANY} more / {MANY}, the start with them", most - more, more, 1.1)
        yield Row(f"{MANY} by two Dask workers / by one", *_dask(Path(folder), slug), 1 / 1.7)


def _class(root, slug, count):
    """Make a course with honest submissions of an assignment, each from somebody with other numbers."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        (root / folder / slug).mkdir(parents=True)
        shutil.copy(ROOT / folder / slug / f"{slug}.ipynb", root / folder / slug)
    released, written = (
        json.loads((ROOT / folder / slug / f"{slug}.ipynb").read_text())
        for folder in ("exercises", "solutions")
    )
    answers = {cell["id"]: cell["source"] for cell in written["cells"]}
    for cell in released["cells"]:
        if cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] = answers[cell["id"]]
    for n in range(count):
        folder = root / "course" / "submitted" / f"s{n:03}" / slug
        folder.mkdir(parents=True)
        (folder / f"{slug}.ipynb").write_text(json.dumps(released))


def _seconds(root, slug, count, command):
    """Return the seconds of one command, its start included, on a class of so many."""
    _class(root, slug, count)
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    how = {"cwd": root, "env": {**os.environ, "PATH": bins}, "check": True, "capture_output": True}
    line = ["scalelab", "grade", slug, "--workers", "2"]
    if command == "nbgrader":
        shutil.rmtree(root / "exercises")
        subprocess.run(["nbgrader", "generate_assignment", slug], **how)
        line = ["nbgrader", "autograde", slug]
    start = time.perf_counter()
    subprocess.run(line, **how)
    spent = time.perf_counter() - start
    if command == "scalelab":
        report = json.loads((root / "course" / "graded" / slug / "report.json").read_text())
        assert report["states"]["graded"] == count, report["states"]
    return spent


def _dask(folder, slug):
    """Return the seconds of two workers and of one, their start left out."""
    import distributed

    spent = []
    for workers in (2, 1):
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster:
            root = folder / f"dask{workers}"
            _class(root, slug, MANY)
            course, written = courses.find(root), source.load(root, slug)
            for _ in range(2):  # the first time they start their fork servers
                start = time.perf_counter()
                classroom.grade(
                    course,
                    written,
                    classroom.Wish(gradebook=False),
                    lambda to=cluster.scheduler_address: grade_all.dask(to),
                    grade_all.slots,
                )
            spent.append(time.perf_counter() - start)
    return spent
