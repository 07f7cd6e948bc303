"""Where submissions are graded: processes here, a Dask cluster by address, and the loss of workers."""

import contextlib
import dataclasses
import os
import random
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import pytest

from scalelab.grading.box import bubblewrap
from scalelab.grading.inputs.flag import Flag
from scalelab.grading.judging import grade_all, grade_one, result
from tests.notebooks import SLUGS
from tests.sampling import seed
from tests.submissions import classes, stage
from tests.submissions.kinds import kinds

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

NAMED = {kind.name: kind for kind in kinds()}
SOME = (  # whose process can be copied, cannot, or ends
    *("honest", "answer copied", "heartbeat", "name in capitals", "warns", "cut off"),
    *("hard exit on hidden inputs only", "calls counted", "older version copied"),
)
SLUG = random.Random(seed()).choice(SLUGS)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = stage.course(tmp_path_factory.mktemp("executors"), SLUG)
    classes.enrol(root, [NAMED[name] for name in SOME])
    return root


@pytest.fixture(scope="module")
def alone(course):
    """What the class is given without any other process."""
    yield classes.grade(course, executor=classes.here)
    classes.close()


@pytest.fixture
def cluster():
    """A scheduler with two workers in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with (
        mock.patch.dict(os.environ),  # a cluster leaves OMP_NUM_THREADS=1 and more behind
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as found,
    ):
        yield found


def test_a_dask_cluster_gives_the_same_bytes_even_if_one_worker_is_killed(course, alone, cluster):
    killed = []

    def kill_one(done, total, found):
        if done == 3 and not killed:
            pids = [worker.process.pid for worker in cluster.workers.values()]
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    address = cluster.scheduler_address
    found = classes.grade(course, executor=lambda: grade_all.dask(address), progress=kill_one)
    assert killed
    assert {s: result.written(one) for s, one in found.items()} == {
        s: result.written(one) for s, one in alone.items()
    }


def test_an_address_without_a_scheduler_is_one_sentence():
    pytest.importorskip("distributed")
    with (
        pytest.raises(ValueError, match="must be the address of a running Dask scheduler"),
        grade_all.dask("nowhere"),
    ):
        pass


class Fragile:
    """An executor that breaks whenever it is given one of some students."""

    def __init__(self, poison):
        import concurrent.futures

        self.pool, self.poison = concurrent.futures.ThreadPoolExecutor(3), poison
        self.broken = threading.Event()

    def submit(self, function, job):
        from concurrent.futures.process import BrokenProcessPool

        def work():
            if job.submission.student in self.poison:
                self.broken.set()
            self.broken.wait(0.05)
            if self.broken.is_set():
                raise BrokenProcessPool("a worker is gone")
            found = result.result(job.source, job.submission, score=1.0)
            return 0.0, found

        return self.pool.submit(work)


def test_who_kills_workers_is_given_up_and_the_neighbours_are_not(tmp_path):
    from scalelab.grading.inputs.collect import Submission
    from scalelab.grading.inputs.source import Source

    poison = {"s3", "s7"}
    jobs = [grade_one.Unit(Source("x", ()), Submission(f"s{n}", b"x")) for n in range(12)]

    @contextlib.contextmanager
    def executor():
        yield Fragile(poison)

    found = grade_all.run(jobs, executor, lambda pool: 3, tmp_path / "results")
    assert {name for name, one in found.items() if one["status"] == "failed"} == poison
    assert all(found[f"s{n}"]["score"] == 1.0 for n in range(12) if f"s{n}" not in poison)
    assert len(list((tmp_path / "results").glob("*.json"))) == 12


def test_every_submission_is_read_once_and_no_worker_starts_where_nothing_is_to_be_run(tmp_path):
    from scalelab.grading.inputs.collect import Submission
    from scalelab.grading.inputs.source import Source

    read = []

    def submission(student, data):
        def load():
            read.append(student)
            return data, "" if data else "it is a link"

        return Submission(student, load=load)

    students = {f"s{n}": b"x" if n % 3 else None for n in range(9)}
    jobs = [grade_one.Unit(Source("x", ()), submission(*one)) for one in students.items()]
    started = []

    @contextlib.contextmanager
    def executor():
        started.append(None)
        yield Fragile(())

    found = grade_all.run(jobs, executor, lambda pool: 3, tmp_path / "results")
    assert {name: one["score"] for name, one in found.items()} == {
        student: 1.0 if data else None for student, data in students.items()
    }
    assert sorted(read) == sorted(students)
    assert len(started) == 1
    grade_all.run(jobs[::3], executor, lambda pool: 3, tmp_path / "results")
    assert len(started) == 1


def test_slow_submissions_come_last_and_get_all_their_time(tmp_path):
    """The first try is short; who needs longer waits until the others are done."""
    root = stage.course(tmp_path, SLUG)
    classes.enrol(root, [NAMED["sleep"], NAMED["honest"], NAMED["lambda"], NAMED["prints"]])
    order = []
    limits = dataclasses.replace(stage.LIMITS, cell=3.0)
    found = classes.grade(
        root,
        executor=classes.here,
        limits=limits,
        progress=lambda d, t, r: order.append(r["student"]),
    )
    classes.close()
    assert order[-1] == "s000"
    cell = stage.of(root).id(stage.ONE)
    assert [str(Flag.of(flag)) for flag in found["s000"]["flags"]] == [
        f"{cell} took longer than {limits.cell:g} s"
    ]


def test_a_pool_leaves_no_process_behind():
    with grade_all.local(2) as pool:
        pids = {future.result() for future in [pool.submit(os.getpid) for _ in range(4)]}
        pool.submit(time.sleep, 100)
    for pid in pids:
        assert not os.path.exists(f"/proc/{pid}")


DIES = """if __name__ == "__main__":
    import os
    from scalelab.grading.judging import grade_all
    with grade_all.local(1) as pool:
        lost = [pool.submit(os._exit, 3), *(pool.submit(len, bytes(20_000_000)) for _ in range(4))]
        print(*(type(one.exception()).__name__ for one in lost))
"""


def test_a_program_ends_though_a_process_of_its_pool_died_before_a_long_message(tmp_path):
    """Before Python 3.11.5 it waited for ever to hand out the rest of the message."""
    file = tmp_path / "dies.py"
    file.write_text(DIES)
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["BrokenProcessPool"] * 5
    assert ran.returncode == 0
