"""The engine on real assignments: one task again, ended processes, what the grader stumbles over."""

import concurrent.futures
import contextlib
import json
import random
import resource
import threading
from dataclasses import replace

import pytest

from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs import collect, read, source, steps
from scalelab.grading.judging import grade_all, grade_one
from tests.assignments.runner import SLUGS
from tests.sampling import sampled, seed
from tests.submissions import classes, stage as stages

pytestmark = [
    pytest.mark.turns(3),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]


@pytest.fixture(scope="module", params=sampled(SLUGS, 1))
def course(request, tmp_path_factory):
    """A course with three honest students of a real assignment, graded: (root, results)."""
    root = stages.course(tmp_path_factory.mktemp("course"), request.param)
    classes.enrol(root, classes.neighbours()[:3])
    with classes.here() as thread:
        yield root, classes.grade(root, executor=lambda: contextlib.nullcontext(thread))
        classes.close()


def again(root, **wish):
    with classes.here() as thread:
        return classes.grade(root, executor=lambda: contextlib.nullcontext(thread), **wish)


def test_grading_one_task_again_keeps_the_points_of_the_others(course):
    """A task of a real assignment, beside others of its exercise that are not asked for."""
    root, before = course
    test = random.Random(seed()).choice(before["s000"]["tests"])
    found = again(root, tasks=(test["number"],))
    assert {s: one["score"] for s, one in found.items()} == {
        s: one["score"] for s, one in before.items()
    }
    assert found == before


def job(root, notebook, **wish):
    stage = stages.of(root)
    data = json.dumps(notebook).encode()
    written = source.load(root, stage.slug)
    wish = {"limits": classes.LIMITS, "modules": classes.MODULES} | wish
    return grade_one.Unit(written, collect.Submission("ada", data), **wish)


def test_what_a_single_task_left_out_of_a_new_hand_in_is_graded_when_the_class_resumes(course):
    root, _ = course
    stage = stages.of(root)
    blank = dict.fromkeys([c.id for c in stage.source.cells if c.answer], "pass")
    before = grade_one.grade(job(root, stage.handed_in(blank)))
    one = grade_one.grade(
        job(root, stage.honest(), previous=before, only={stage.id(stages.ONE, "check")})
    )
    assert before["score"] < one["score"] < stage.most
    assert grade_one.grade(job(root, stage.honest(), previous=one))["score"] == stage.most


ENDS = {
    "exits": "import os; os._exit(3)",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "floods": "import os; [os.write(n, b'x' * 10**6) for n in range(3, 9)]",
}


@pytest.mark.parametrize("how", sampled(ENDS, 1))
def test_a_function_that_ends_its_process_costs_its_own_task_alone(course, how):
    root, _ = course
    stage = stages.of(root)
    body = f"def half(x):\n    {ENDS[how]}\n    return x / 2"
    found = grade_one.grade(job(root, stage.handed_in({stages.ONE: body})))
    assert found["reason"] == ""
    ended = {
        flag["cell"].replace("answer", "check") for flag in found["flags"] if flag["run"]
    }  # called it themselves
    lost = {test["id"] for test in found["tests"] if test["score"] < test["max_score"]}
    assert stage.id(stages.ONE, "check") in lost
    assert lost <= {stage.id(stages.ONE, "check")} | ended
    assert len(ended) < len(found["tests"]) / 3


THREADS = {
    "sleeps": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "a bar of tqdm": "from tqdm import tqdm\nfor _ in tqdm(range(1000)):\n    pass",
    "a pool left open": (
        "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(3).submit(pow, 2, 3)"
    ),
}


@pytest.mark.parametrize("which", sampled(THREADS, 1))
def test_a_living_thread_costs_nothing(course, which):
    root, _ = course
    stage = stages.of(root)
    text = f"{THREADS[which]}\n{stages.SMALL[stages.ONE]}"
    found = grade_one.grade(job(root, stage.handed_in({stages.ONE: text})))
    assert (found["reason"], found["score"]) == ("", stage.most)


def test_what_stands_before_the_setup_is_run_before_it(course):
    """Whoever plays with a name of the course's there still finds the course's own below."""
    root, _ = course
    stage = stages.of(root)
    notebook = stage.honest()
    play = "import builtins\nmath = json = np = data = checks = statistics = None"
    cell = {"cell_type": "code", "metadata": {}, "source": play, "outputs": []}
    notebook["cells"].insert(0, cell)
    assert grade_one.grade(job(root, notebook))["score"] == stage.most


def test_a_setup_that_starts_a_thread_is_run_for_each_exercise(course):
    root, _ = course
    stage = stages.of(root)
    unit = job(root, stage.honest())
    cells = list(unit.source.cells)
    at = next(n for n, cell in enumerate(cells) if cell.kind == "code")
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    cells[at] = replace(cells[at], text=thread + cells[at].text, stub=cells[at].stub)
    found = grade_one.grade(replace(unit, source=replace(unit.source, cells=tuple(cells))))
    assert found["score"] == stage.most


def test_what_the_grader_stumbles_over_is_one_submissions_reason(course, monkeypatch):
    root, before = course
    read = grade_one.read

    def stumbles(data, *more):
        if b"stumbling block" in data:
            raise RecursionError("maximum recursion depth exceeded")
        return read(data, *more)

    monkeypatch.setattr(grade_one, "read", stumbles)
    place = root / "course" / "submitted" / "s001" / stages.of(root).slug
    notebook = place / f"{place.name}.ipynb"
    honest = notebook.read_bytes()
    try:
        notebook.write_bytes(honest.replace(b'"cells"', b'"stumbling block": 1, "cells"', 1))
        found = again(root)
    finally:
        notebook.write_bytes(honest)
    assert found["s001"]["status"] == "failed"
    assert found["s001"]["reason"].startswith("the grader could not cope with it (RecursionError")
    assert [found[s] for s in ("s000", "s002")] == [before[s] for s in ("s000", "s002")]


def test_a_worker_reads_a_submission_once_although_it_was_graded_before(course, monkeypatch):
    root, _ = course
    stage, read, times = stages.of(root), grade_one.read, []
    before = grade_one.grade(job(root, stage.honest()))
    monkeypatch.setattr(grade_one, "read", lambda *given: times.append(1) or read(*given))
    changed = job(root, stage.handed_in({stages.ONE: "half = None"}), previous=before)
    _, found = grade_all.timed(changed)
    assert found["score"] < before["score"]
    assert len(times) == 1


def test_a_worker_that_hangs_is_given_up_and_the_others_are_graded(course, monkeypatch, tmp_path):
    root, _ = course
    unit = job(root, stages.of(root).honest())
    over, graded = threading.Event(), grade_one.grade(unit)

    def hangs(one):
        if one.submission.student == "bob":
            over.wait(60)
        return 0.0, graded | {"student": one.submission.student}

    @contextlib.contextmanager
    def pool():
        workers = concurrent.futures.ThreadPoolExecutor(2)
        workers.threads = lambda: 2
        yield workers
        workers.shutdown(wait=False)

    monkeypatch.setattr(grade_all, "timed", hangs)
    monkeypatch.setattr(grade_all, "_patience", lambda jobs: 0.1)
    names = ("ada", "bob", "eve")
    jobs = [replace(unit, submission=replace(unit.submission, student=name)) for name in names]
    found = grade_all.run(jobs, pool, grade_all.slots, tmp_path / "results")
    over.set()
    assert {name: one["status"] for name, one in found.items()} == {
        "ada": "graded",
        "bob": "failed",
        "eve": "graded",
    }
    assert "stopped 3 times" in found["bob"]["reason"]


def test_what_a_submission_says_in_all_is_bounded(course):
    """Each answer is small enough; their sum would fill the grader's memory."""
    root, _ = course
    stage = stages.of(root)
    long = "def half(x):\n    return ['x' * 90_000] * 20"
    unit = job(root, stage.handed_in({stages.ONE: long}))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = grade_one.grade(unit)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB
    assert found["reason"] == ""
    assert len(json.dumps(found)) < 2_000_000


def test_a_check_that_was_told_too_much_leaves_the_next_ones_their_points(course):
    root, _ = course
    stage = stages.of(root)
    long = "def half(x):\n    return [x / 7] * 99_000"  # some megabytes for each call
    found = grade_one.grade(job(root, stage.handed_in({stages.ONE: long})))
    stopped = {flag["cell"].replace("answer", "check") for flag in found["flags"]}
    lost = {test["id"] for test in found["tests"] if test["score"] < test["max_score"]}
    assert stage.id(stages.ONE, "check") in lost
    assert lost <= {stage.id(stages.ONE, "check")} | stopped  # who called it, and could not use it


@pytest.mark.parametrize(
    ("earlier", "later", "needed"),
    [
        ("rate = 2.0", "y = rate * 2", True),
        ("rate = 2.0", "def f(rate):\n    return rate * 2", False),
        ("rate = 2.0", "y = [rate for rate in range(3)]", False),
        ("rate = 2.0", "rate = 3.0\ny = rate", False),
        ("rate = 2.0", "rate = rate + 1", True),
        ("rate = 2.0", "rate += 1", True),
        ("rate = 2.0", "def f():\n    return rate", True),
        ("def f():\n    rate = 2.0\n    return rate", "y = rate", False),
        ("def f():\n    global rate\n    rate = 2.0", "y = rate", True),
        ("from math import *", "y = 1", True),
        ("import numpy as np", "import numpy as np\ny = np.pi", False),
        ("rate = 2.0", "y = eval('rate')", True),
    ],
)
def test_an_exercise_runs_earlier_ones_only_for_names_that_it_takes_from_them(
    earlier, later, needed
):
    one, two = (source.Cell(name, "code", "", "", answer=True) for name in "ab")
    handed = read.Handed({"a": (earlier,), "b": (later,)})
    assert steps.needed([one], [two], handed) is needed
