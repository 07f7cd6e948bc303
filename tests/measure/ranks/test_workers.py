"""Jobs on real processes: what they return, how they fail, and that nothing is left of them."""

import contextlib
import functools
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from scalelab.measure.host.machine import this_machine
from scalelab.measure.ranks import capacity, crash, jobs, torchrun, training, workers
from scalelab.records import Machine
from tests.measure import worker_jobs
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(3)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The processes must find `tests` however pytest was started."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture(scope="module")
def called():
    """What the ranks of a roll call said, launched once for each number of them."""
    return functools.cache(lambda count: workers.launch(worker_jobs.roll_call, count, offset=10))


@pytest.fixture
def scratch(tmp_path, monkeypatch, called):
    """Where everything temporary must go, and be gone from."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    called(1)  # the fork server keeps a folder of its own
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def gone(pids, within=10.0):
    """Whether all these processes end; a process takes a moment to be reaped."""
    deadline = time.monotonic() + within
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_rank_takes_part_and_answers_in_order(count, called):
    answers = called(count)
    assert [a["rank"] for a in answers] == list(range(count))
    assert {a["total"] for a in answers} == {sum(range(10, 10 + count))}


@pytest.mark.parametrize("count", [1, 2])
def test_each_rank_is_a_process_of_its_own_with_one_thread(count, called):
    """Also when there is only one, so that T(1) and T(2) are measured alike."""
    pids = {a["pid"] for a in called(count)}
    assert len(pids) == count
    assert os.getpid() not in pids
    assert {a["threads"] for a in called(count)} == {1}
    assert gone(pids)


HOW = {
    "raise": "ValueError: the disk is full on rank {}",
    "exit": "exit code 3 on rank {}",
    "exit as if all were well": "an exit without a result on rank {}",
    "sys.exit": "RuntimeError: sys.exit(0) on rank {}",
    "killed": "SIGKILL on rank {}",
    "unpicklable result": "Can't pickle local object 'fail.<locals>.<lambda>' on rank {}",
}


@pytest.mark.parametrize(
    ("how", "rank"), sampled([pytest.param(how, rank) for how in HOW for rank in (0, 1)], 3)
)
def test_a_rank_that_fails_takes_the_others_with_it_and_is_named(how, rank, scratch, tmp_path):
    """The others die of a lost connection, and that echo must not be reported as the cause."""
    with pytest.raises(workers.WorkerError) as error:
        workers.launch(worker_jobs.fail, 2, limit=60, how=how, folder=str(tmp_path), rank=rank)
    assert HOW[how].format(rank) in str(error.value)
    assert str(error.value).startswith("fail must finish on 2 ranks within 60 s, got ")
    pids = [path.name for path in tmp_path.iterdir() if path != scratch]
    assert len(pids) == 2
    assert gone(pids)
    assert list(scratch.iterdir()) == []


SLOW_TO_TELL = """
from scalelab.measure.ranks import agent, workers
from tests.measure import worker_jobs
agent._PRELOADED.append("tests.measure.slow_server")
for how in ("raise", "exit", "killed"):
    try:
        workers.launch(worker_jobs.fail, 2, how=how, folder=".", rank=1)
    except workers.WorkerError as error:
        print(error)
"""


def test_a_rank_whose_exit_code_comes_late_is_not_taken_for_one_that_left_silently(tmp_path):
    """Its process is gone before the fork server has told how, the longer the busier the machine."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SLOW_TO_TELL]
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    said = run.stdout.splitlines()
    for how, line in zip(("raise", "exit", "killed"), said, strict=True):
        assert HOW[how].format(1) in line


def test_a_job_that_hangs_ends_at_its_limit(scratch, tmp_path):
    """Where each rank stood tells the one that sleeps from the one that waits for it."""
    stood = r"rank 0 in all_reduce at \S+:\d+, rank 1 in fail at worker_jobs.py:"
    for limit in (2, 10, 60):  # a busy machine needs longer to get there
        with pytest.raises(
            workers.WorkerError, match=r"no end within the time limit .*give it longer"
        ) as e:
            workers.launch(worker_jobs.fail, 2, limit=limit, how="hang", folder=str(tmp_path))
        if re.search(stood, str(e.value)):
            break
    else:
        pytest.fail(str(e.value))
    assert gone([path.name for path in tmp_path.iterdir() if path != scratch])
    assert list(scratch.iterdir()) == []


def test_the_last_words_of_a_failed_rank_are_kept():
    with pytest.raises(workers.WorkerError, match="exit code 3 on rank 1") as error:
        workers.launch(worker_jobs.last_words, 2)
    assert error.value.output == "the disk is full"
    assert "disk" not in str(error.value)


def test_a_port_that_is_taken_does_no_harm(monkeypatch):
    """Neither PyTorch's usual port nor one that the environment names: each launch finds its own."""
    with socket.socket() as usual, socket.socket() as named:
        with contextlib.suppress(OSError):  # someone else may have it already: as good
            usual.bind(("127.0.0.1", 29500))
        named.bind(("127.0.0.1", 0))
        named.listen()
        monkeypatch.setenv("MASTER_PORT", str(named.getsockname()[1]))
        assert len(workers.launch(worker_jobs.roll_call, 2)) == 2


@pytest.fixture
def inside_torchrun(monkeypatch):
    """Make this very process the one rank of a torchrun."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "MASTER_PORT": port}
    for name, value in (told | {"MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": "x"}).items():
        monkeypatch.setenv(name, str(value))
    yield
    torchrun._store.cache_clear()


def test_inside_torchrun_a_launch_starts_no_process(inside_torchrun):
    for _ in range(2):
        (answer,) = workers.launch(worker_jobs.roll_call, 1, offset=5)
        assert answer["pid"] == os.getpid()
        assert answer["total"] == 5
    assert capacity.machines(1) == [this_machine()]


def test_torchrun_decides_how_many_workers_there_are(inside_torchrun, monkeypatch):
    assert capacity.usual() == 1
    with pytest.raises(ValueError, match="workers must be 1, got 2: torchrun started 1 rank"):
        workers.launch(worker_jobs.roll_call, 2)
    monkeypatch.setenv("WORLD_SIZE", "16")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    assert capacity.most() == (16, "torchrun started 16 ranks")
    monkeypatch.setattr(capacity, "_gpus", lambda: 4)
    assert capacity.most("cuda") == (4, "torchrun started 8 ranks on this node, and it has 4 GPUs")
    monkeypatch.setattr(capacity, "_gpus", lambda: 8)
    assert capacity.most("cuda") == (16, "torchrun started 16 ranks")


def test_inside_torchrun_a_failure_names_its_rank(inside_torchrun, tmp_path):
    from torch import distributed

    with pytest.raises(
        workers.WorkerError, match="got ValueError: the disk is full on rank 0: mend"
    ):
        workers.launch(worker_jobs.fail, 1, how="raise", folder=str(tmp_path), rank=0)
    distributed.destroy_process_group()  # torchrun would have ended the process


def test_inside_torchrun_nobody_waits_for_ever(inside_torchrun, monkeypatch):
    """Rank 1 of 2 has no part in a job of one worker, and rank 0 never delivers."""
    from torch.distributed import TCPStore

    port = int(os.environ["MASTER_PORT"])
    agent = TCPStore("127.0.0.1", port, world_size=2, is_master=True, wait_for_workers=False)
    for name, value in {"RANK": 1, "WORLD_SIZE": 2, "TORCHELASTIC_USE_AGENT_STORE": True}.items():
        monkeypatch.setenv(name, str(value))
    with pytest.raises(workers.WorkerError, match="got no end within the time limit: "):
        workers.launch(worker_jobs.roll_call, 1, limit=0.3)
    del agent


def test_a_node_speaks_once(inside_torchrun, monkeypatch):
    assert workers.speaks()
    monkeypatch.setenv("RANK", "3")
    assert not workers.speaks()


def test_where_ranks_stood_is_told_shortest_list_first(tmp_path):
    """The one that stands elsewhere is what one looks for."""
    for rank in range(8):
        place = ("loop", "job.py", 7) if rank == 5 else ("all_reduce", "c10d.py", 9)
        folder = tmp_path / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        (folder / "stack.txt").write_text(
            'Timeout (0:00:01)!\nThread 0x1 (most recent call first):\n  File "/a/b.py", line 1 in wait\n\n'
            'Thread 0x2 (most recent call first):\n  File "/a/{1}", line {2} in {0}\n'.format(
                *place
            )
            + '  File "/a/main.py", line 3 in <module>\n'
        )
    assert crash.standing(tmp_path) == (
        "rank 5 in loop at job.py:7, ranks 0, 1, 2, 3 and 3 more in all_reduce at c10d.py:9"
    )


def test_a_long_message_stays_one_readable_line(tmp_path):
    with pytest.raises(workers.WorkerError) as error:
        workers.launch(worker_jobs.fail, 2, how="raise on many lines", folder=str(tmp_path))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_launch_leaves_this_process_as_it_was(capfd):
    kept = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    environment, main = dict(os.environ), sys.modules["__main__"]
    assert workers.launch(worker_jobs.chatter, 2) == [True, True]
    assert {s: signal.getsignal(s) for s in kept} == kept
    assert dict(os.environ) == environment
    assert sys.modules["__main__"] is main
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import sys
from scalelab.measure.ranks import workers
from tests.measure import worker_jobs
print("start", flush=True)
try:
    print(workers.launch(worker_jobs.fail, 2, limit=60, how="{how}", folder=r"{folder}", rank={rank}))
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(5)
"""


def script(tmp_path, how, rank=0):
    """Start a script that has no `if __name__ == "__main__"` guard, as beginners' scripts do."""
    path, ranks = tmp_path / "script.py", tmp_path / "ranks"
    ranks.mkdir()
    path.write_text(SCRIPT.format(how=how, folder=ranks, rank=rank))
    # A killed process cannot clean up, so its folder for temporary files is one that pytest removes;
    # beside tmp_path, because the path of a socket in it must stay short.
    folder = tempfile.mkdtemp(dir=tmp_path.parent)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": folder}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, str(path)], env=environment, **pipe), ranks


@pytest.mark.thorough
def test_a_script_needs_no_guard_and_runs_once(tmp_path):
    process, _ = script(tmp_path, how="not at all")
    assert process.communicate(timeout=60) == ("start\n[None, None]\n", "")


@pytest.mark.parametrize("death", sampled([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], 1))
def test_the_ranks_do_not_outlive_the_script_that_launched_them_and_do_not_run_it(death, tmp_path):
    process, folder = script(tmp_path, how="hang")
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    pids = [path.name for path in folder.iterdir()]
    process.send_signal(death)
    said, _ = process.communicate(timeout=30)
    assert said == ("start\ninterrupted\n" if death == signal.SIGINT else "start\n")
    assert process.returncode == (5 if death == signal.SIGINT else -death)
    assert len(pids) == 2
    assert gone(pids)


@pytest.mark.thorough
def test_a_notebook_can_launch_and_keeps_its_threads():
    """In a real kernel: the ranks' single thread must not become the notebook's."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    said = []
    code = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "os.environ.pop('OMP_NUM_THREADS', None)  # before torch reads it\n"
        "from scalelab.measure.ranks import workers\n"
        "from tests.measure import worker_jobs\n"
        "totals = [a['total'] for a in workers.launch(worker_jobs.roll_call, 2, offset=1)]\n"
        "import torch\n"
        "print(totals, torch.get_num_threads() == len(os.sched_getaffinity(0)))"
    )
    try:
        client.execute_interactive(
            code, timeout=60, output_hook=lambda m: said.append(m["content"].get("text", m))
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert [line for line in said if isinstance(line, str)] == ["[3.0, 3.0] True\n"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((lambda: None, 2), "job must be a function of a module that other processes can import"),
        ((3, 2), "job must be a function"),
        ((worker_jobs.roll_call, 0), "workers must be a whole number from 1 to"),
        ((worker_jobs.roll_call, 10**9), "workers must be a whole number from 1 to"),
        ((worker_jobs.roll_call, 2.0), "workers must be a whole number"),
        ((worker_jobs.roll_call, "2"), "workers must be a whole number"),
        ((worker_jobs.roll_call, True), "workers must be a whole number"),
    ],
)
def test_an_impossible_launch_is_refused_before_it_starts(arguments, expected):
    with pytest.raises(ValueError, match=r" must be .*, got .*: ") as error:
        workers.launch(*arguments)
    assert str(error.value).startswith(expected)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "1", None])
def test_an_impossible_limit_is_refused(limit):
    with pytest.raises(ValueError, match=r"limit must be in \(0, 86400\], got"):
        workers.launch(worker_jobs.roll_call, 1, limit=limit)


def test_arguments_that_cannot_travel_are_refused():
    with pytest.raises(ValueError, match="arguments must be data that can be pickled"):
        workers.launch(worker_jobs.roll_call, 1, offset=lambda: 0)


EPOCH = {"steps": 6, "batch": 48, "width": 16, "repetitions": 2}


def one_process_epoch(steps, batch, width, seed=0):
    """The same epoch without any distribution, written out a second time."""
    import torch

    torch.manual_seed(seed)
    layers = [torch.nn.Linear(*shape) for shape in ((64, width), (width, width), (width, 1))]
    parameters = [p for layer in layers for p in layer.parameters()]
    for x, y in training.minibatches(steps, batch, seed):
        hidden = torch.relu(layers[1](torch.relu(layers[0](x))))
        loss = ((layers[2](hidden) - y) ** 2).mean()
        for p, slope in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            p.data -= 0.05 * slope
    return torch.cat([p.detach().flatten() for p in parameters]).numpy()


@pytest.fixture(scope="module")
def trained():
    """What the ranks of that epoch return, launched once for each number of them."""
    return functools.cache(lambda count: workers.launch(jobs.training_epoch, count, **EPOCH))


@pytest.mark.parametrize("count", sampled([1, 2, 3], 1, always=[2]))
def test_any_number_of_workers_takes_exactly_the_steps_of_one(count, trained):
    """Averaged gradients of equal shards are the gradient of the whole minibatch."""
    results = trained(count)
    alone = one_process_epoch(EPOCH["steps"], EPOCH["batch"], EPOCH["width"])
    for result in results:
        assert np.array_equal(result["weights"], results[0]["weights"])
        np.testing.assert_allclose(result["weights"], alone, rtol=1e-4, atol=1e-6)
        assert len(result["seconds"]) == EPOCH["repetitions"]


def test_an_epoch_changes_the_weights_and_depends_on_the_seed(trained):
    def weights(seed):
        (result,) = workers.launch(jobs.training_epoch, 1, **EPOCH, seed=seed)
        return result["weights"]

    (first,) = trained(1)
    assert np.array_equal(weights(0), first["weights"])
    assert np.abs(first["weights"] - weights(1)).max() > 0.1


def test_shards_must_be_equal():
    with pytest.raises(workers.WorkerError, match="batch must be a multiple of the 2 workers"):
        workers.launch(jobs.training_epoch, 2, **{**EPOCH, "batch": 47})


def test_two_workers_add_up_as_many_numbers_as_one():
    size = 2**20
    for count in (1, 2):
        total = sum(workers.launch(worker_jobs.additions, count, size=size))
        # One warm-up and one repetition of 8 GB, in numbers of four bytes.
        assert total == 2 * round(8e9 / size) * size // 4


def test_in_turns_one_worker_adds_up_twice_and_then_both_add_up_once():
    size = 2**20
    first, other = workers.launch(worker_jobs.additions, 2, size=size, called="stream_in_turns")
    part = round(8e9 / size) * size // 8
    assert other == 2 * part
    assert first == 2 * (2 * part + round(16e9 / size) * size // 8 + part)


def test_the_slowest_rank_counts_in_each_repetition():
    assert jobs.slowest([[1.0, 5.0, 2.0], [3.0, 4.0, 2.5]]) == (3.0, 5.0, 2.5)


def test_a_sample_of_a_job_says_what_was_run_and_where():
    sample = jobs.sample(jobs.training_epoch, 2, **EPOCH)
    assert sample.label == "training_epoch on 2 workers"
    assert sample.given == {"workers": 2, **EPOCH}
    assert len(sample.seconds) == EPOCH["repetitions"]
    assert sample.stamp.kind == "measured here"
    assert "Only 2 repetitions" in sample.advice[0].text
    assert pickle.loads(pickle.dumps(sample)) == sample


def test_the_superlinear_working_set_overflows_one_cache_and_fits_two():
    machine = Machine("two cores", cores=2, caches={"L1d": 48 * 1024, "L2": 2**20})
    size = jobs.superlinear_working_set(machine)
    assert size / 2 < machine.caches["L2"] < size


def test_a_machine_that_hides_its_cache_is_pointed_to_the_recorded_run():
    with pytest.raises(ValueError, match=r"must report its L2 cache, got none: .*superlinear"):
        jobs.superlinear_working_set(Machine("unknown", cores=1))
