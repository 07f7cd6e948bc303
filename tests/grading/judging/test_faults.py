"""Whatever is killed, full or closed in the middle: resuming gives what an undisturbed run gives.

SCALELAB_FAULT_RUNS=50 kills more often than the few times of `--all`; what came of it is kept in
tests/submissions/kills.json, which the instructor's page tells.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from scalelab.files import atomic
from scalelab.grading.box import bubblewrap
from tests.notebooks import ROOT, SLUGS
from tests.sampling import seed
from tests.submissions import classes, stage, tried
from tests.submissions.kinds import kinds

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

NAMES = (
    "honest",
    "hard exit in a cell",
    "answer copied",
    "cut off",
    "no folder",
    "prints",
    "lambda",
    "heartbeat",
    "hard exit on hidden inputs only",
)
SLUG = random.Random(seed()).choice(SLUGS)
CLASS = [kind for kind in kinds() if kind.name in NAMES]
RUNS = int(os.environ.get("SCALELAB_FAULT_RUNS", "6"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def start(root, *words):
    """Start a run in a process of its own."""
    line = [sys.executable, "-m", "tests.submissions.classes", str(root), *words]
    return subprocess.Popen(
        line, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def results(root):
    return {p.name: p.read_bytes() for p in root.glob(f"course/graded/{SLUG}/results/*.json")}


def grades(root):
    """Return all scores in the gradebook, by student and cell."""
    with Gradebook(f"sqlite:///{root / 'course' / 'gradebook.db'}") as book:
        return {
            (submission.student_id, grade.name): (grade.auto_score, grade.needs_manual_grade)
            for submission in book.find_assignment(SLUG).submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def children(pid):
    """Return the process and all below it."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found = [pid]
    for parent in found:
        found += [child for child, its in pairs if its == parent]
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A course whose run nobody disturbed."""
    root = stage.course(tmp_path_factory.mktemp("undisturbed"), SLUG)
    classes.enrol(root, CLASS)
    grade(root, gradebook=True)
    yield root
    classes.close()


def grade(root, **wish):
    """Grade as `start` does, but in this process."""
    return classes.grade(root, executor=classes.here, modules=("numpy", "scalelab.checks"), **wish)


def twin(undisturbed, root):
    """Return a course with the same class and secret in another place."""
    stage.course(root, SLUG)
    classes.enrol(root, CLASS)
    (root / "course" / "secret").write_bytes((undisturbed / "course" / "secret").read_bytes())
    return root


def test_the_undisturbed_run_wrote_what_it_should(undisturbed):
    assert len(results(undisturbed)) == len(CLASS)
    scored = {student for (student, _), (score, _) in grades(undisturbed).items() if score}
    assert len(scored) == len(CLASS) - 2  # one is missing, one is no notebook


VICTIMS = ("the run itself", "something below it")


@pytest.mark.parametrize(
    ("victim", "turns"),
    [
        (VICTIMS[seed() % 2], 1),
        *(pytest.param(victim, RUNS // 2, marks=pytest.mark.thorough) for victim in VICTIMS),
    ],
)
def test_kills_at_random_moments_change_nothing(victim, turns, undisturbed, tmp_path):
    root, luck = twin(undisturbed, tmp_path), random.Random(f"{victim} {seed()}")
    done = 0
    for turn in range(turns):
        process = start(root, "resume", *(["gradebook"] if turn % 2 else []))
        time.sleep(luck.uniform(0.1, 5.0))
        below = children(process.pid)
        target = process.pid if victim == "the run itself" else luck.choice(below[1:] or below)
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL)
        said, _ = process.communicate(timeout=120)
        # Even the program that nbgrader starts to learn the version of its tables may be hit.
        assert process.returncode == 0 or target == process.pid or "alembic" in said, said
        for name, data in results(root).items():  # whole, whenever one looks
            assert data == results(undisturbed)[name]
        done += 1
        for pid in below[1:]:
            assert gone(pid)
    assert done == turns
    process = start(root, "gradebook", "resume")
    assert process.wait(timeout=120) == 0, process.stdout.read()
    assert results(root) == results(undisturbed)
    assert grades(root) == grades(undisturbed)
    if RUNS >= 50 and turns > 1:
        tried.keep_kills(victim, done, SLUG, len(results(root)))


def gone(pid, within=10.0):
    """Wait for a process to end; zombies have."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_or_a_closed_folder_stops_the_run_and_room_lets_it_go_on(undisturbed, tmp_path):
    root = twin(undisturbed, tmp_path)
    place = root / "course" / "graded"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(place)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(OSError, match="No space left"):
            grade(root)
        for name, data in results(root).items():
            assert data == results(undisturbed)[name]
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        with pytest.raises(OSError, match="Read-only file system"):
            grade(root, resume=True)
        subprocess.run(["mount", "-o", "remount,rw,size=16m", str(place)], check=True)
        grade(root, resume=True)
        assert results(root) == results(undisturbed)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_two_runs_at_once_are_refused(tmp_path):
    from scalelab.grading.inputs.course import writing

    with writing(tmp_path), pytest.raises(ValueError, match="one writer"), writing(tmp_path):
        pass


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    place = tmp_path / "folder" / "ada.json"
    atomic.keep(place, b"one")
    fresh = tmp_path / "folder" / f".{threading.get_native_id()}.new"
    fresh.mkdir()  # nothing can be written there
    with pytest.raises(IsADirectoryError):
        atomic.keep(place, b"two")
    assert place.read_bytes() == b"one"
