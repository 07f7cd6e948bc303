"""Where a step's time goes: known timelines, a rasteriser as the second opinion, and real steps."""

import gzip
import json
import math
import re

import pytest
from hypothesis import given, settings, strategies as st

from scalelab import records
from scalelab.files import kineto
from scalelab.measure.ranks import jobs, workers
from scalelab.measure.trace import profile, trace
from scalelab.measure.trace.timeline import TracedStep
from scalelab.records import Machine, Split
from scalelab.refusal import Refusal
from tests.measure import worker_jobs
from tests.notebooks import ROOT

SAMPLES = ROOT / "tests" / "samples"
HOST, GPU = 4711, 0


def op(name, start, end, *, kind="cpu_op", thread=1, process=HOST, **args):
    """A complete event as Kineto writes it, with times given in milliseconds."""
    event = {"ph": "X", "cat": kind, "name": name, "pid": process, "tid": thread, "args": args}
    return event | {"ts": 1000 * start, "dur": 1000 * (end - start)}


def step(start, end, name="ProfilerStep#1"):
    return op(name, start, end, kind="user_annotation")


def kernel(name, start, end, *, stream=7, kind="kernel", **args):
    return op(name, start, end, kind=kind, process=GPU, thread=stream, **args)


def call(name, start, end, **args):
    return op(name, start, end, kind="cuda_runtime", **args)


def written(path, events, **head):
    path.write_text(json.dumps({"traceEvents": events, **head}))
    return path


@pytest.fixture
def splits(tmp_path):
    """Write events to a file and read them back as Splits."""

    def read(*events, head=None, **settings):
        path = written(tmp_path / "trace.json", events, **(head or {}))
        return trace.read(path, workers=settings.pop("workers", 2), **settings)

    return read


def milliseconds(split):
    """Return compute, exposed, launch, idle and hidden."""
    parts = (split.compute, split.exposed, split.launch, split.idle, split.hidden)
    return tuple(round(part * 1000, 6) for part in parts)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # An operator and what it calls are one stretch of work.
        (
            [op("aten::linear", 1, 6), op("aten::addmm", 2, 5), op("aten::mm", 3, 4)],
            (5, 0, 0, 5, 0),
        ),
        # So are two threads at once.
        ([op("aten::mm", 1, 6), op("aten::mm", 4, 8, thread=2)], (7, 0, 0, 3, 0)),
        # What lies outside the step is not part of it.
        ([op("aten::mm", -5, 2), op("aten::mm", 9, 30)], (3, 0, 0, 7, 0)),
        # A collective behind compute is hidden; what outlasts it is exposed.
        (
            [op("aten::mm", 0, 6), op("gloo:all_reduce", 4, 9, kind="user_annotation", thread=2)],
            (6, 3, 0, 1, 2),
        ),
        # The host's dispatch and the transfer are one communication, not two.
        (
            [
                op("c10d::allreduce_", 2, 4),
                op("gloo:all_reduce", 3, 9, kind="user_annotation", thread=2),
            ],
            (0, 7, 0, 3, 0),
        ),
        # A collective inside an operator of the backward pass is no compute.
        (
            [
                op("autograd::engine::evaluate_function: AccumulateGrad", 1, 9),
                op("c10d::allreduce_", 3, 7),
            ],
            (4, 4, 0, 2, 0),
        ),
        # Nor is what the collective itself calls.
        ([op("c10d::allreduce_", 3, 7), op("aten::copy_", 4, 5)], (0, 4, 0, 6, 0)),
        # Waiting is no work, whatever it is wrapped in.
        ([op("aten::item", 1, 9), op("cudaStreamSynchronize", 2, 8)], (2, 0, 0, 8, 0)),
        # NCCL on the host is recognised by name.
        ([op("nccl:all_reduce", 1, 5, kind="user_annotation")], (0, 4, 0, 6, 0)),
        ([op("_c10d_functional::wait_tensor", 1, 5)], (0, 4, 0, 6, 0)),
        # Annotations are no work.
        ([op("Optimizer.step#SGD.step", 1, 9, kind="user_annotation")], (0, 0, 0, 10, 0)),
    ],
)
def test_the_host_alone_on_known_timelines(splits, events, expected):
    (split,) = splits(step(0, 10), *events)
    assert milliseconds(split) == expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # Two streams at once are one busy device.
        ([kernel("gemm", 1, 6), kernel("relu", 4, 8, stream=8)], (7, 0, 0, 3, 0)),
        # Copies and fills are work of this worker.
        (
            [
                kernel("Memcpy HtoD", 1, 3, kind="gpu_memcpy"),
                kernel("Memset", 3, 4, kind="gpu_memset"),
            ],
            (3, 0, 0, 7, 0),
        ),
        # NCCL behind compute is hidden.
        (
            [kernel("gemm", 0, 6), kernel("ncclDevKernel_AllReduce_Sum_f32", 4, 9, stream=9)],
            (6, 3, 0, 1, 2),
        ),
        # Its annotations, on host and device, are no second communication.
        (
            [
                kernel("gemm", 0, 10),
                kernel("nccl:all_reduce", 2, 9, stream=9, kind="gpu_user_annotation"),
                op("nccl:all_reduce", 1, 2, kind="user_annotation"),
            ],
            (10, 0, 0, 0, 0),
        ),
        # Gloo moves data on the host even where there is a device.
        (
            [kernel("gemm", 0, 4), op("gloo:all_reduce", 3, 9, kind="user_annotation")],
            (4, 5, 0, 1, 1),
        ),
        # The device waits while the host works towards the next kernel.
        ([kernel("gemm", 0, 2), op("aten::mm", 3, 6), kernel("gemm", 8, 10)], (4, 0, 3, 3, 0)),
        # From the call to the start of the kernel it is a launch, whatever the host does then.
        (
            [
                call("cudaLaunchKernel", 3, 4, correlation=5),
                kernel("gemm", 7, 10, correlation=5),
                call("cudaDeviceSynchronize", 4, 10),
            ],
            (3, 0, 4, 3, 0),
        ),
        # A host that only waits launches nothing.
        ([kernel("gemm", 0, 2), call("cudaStreamSynchronize", 2, 9)], (2, 0, 0, 8, 0)),
        # Marks of synchronisation on the device are no work.
        ([kernel("gemm", 0, 2), kernel("Event Sync", 2, 9, kind="cuda_sync")], (2, 0, 0, 8, 0)),
        # A collective of another maker is known by what it does.
        (
            [kernel("gemm", 0, 2), kernel("one_shot_all_reduce_kernel", 2, 5, stream=8)],
            (2, 3, 0, 5, 0),
        ),
    ],
)
def test_a_device_on_known_timelines(splits, events, expected):
    (split,) = splits(step(0, 10), *events)
    assert milliseconds(split) == expected


def test_nothing_is_rounded_to_microseconds(splits):
    """Kineto writes three decimals: these operators take 0.4 µs each."""
    events = [op("aten::view", 0.001 * k, 0.001 * k + 0.0004) for k in range(10)]
    (split,) = splits(step(0, 1), *events)
    assert split.compute == pytest.approx(4e-6, rel=1e-12)


def test_a_host_that_runs_ahead_does_not_make_the_steps_look_short(splits):
    """It launches three steps in 1 ms each; the device needs 10 ms for each of them."""
    events = []
    for k in range(3):
        events += [step(k, k + 1, f"ProfilerStep#{k}")]
        events += [call("cudaLaunchKernel", k, k + 0.5, correlation=k)]
        events += [kernel("gemm", 1 + 10 * k, 11 + 10 * k, correlation=k)]
    first, second, third = splits(*events)
    assert milliseconds(first) == (10, 0, 1, 0, 0)
    assert milliseconds(second) == milliseconds(third) == (10, 0, 0, 0, 0)
    assert sum(s.seconds for s in (first, second, third)) == pytest.approx(0.031)


def test_a_step_that_waits_for_its_device_is_as_long_as_its_mark(splits):
    events = [call("cudaLaunchKernel", 1, 2, correlation=1), kernel("gemm", 2, 8, correlation=1)]
    (split,) = splits(step(0, 10), *events)
    assert split.seconds == pytest.approx(0.010)


def test_traces_of_early_kineto_say_the_same_in_other_words(splits):
    """Capital categories, steps among the operators, threads as text: as in PyTorch 1.8."""
    old = [
        op("ProfilerStep#7", 0, 10, kind="Operator", thread="4711"),
        op("aten::mm", 1, 3, kind="Operator", thread="4711"),
        op("cudaLaunchKernel", 2, 3, kind="Runtime", thread="4711", correlation=9),
        op("volta_sgemm", 4, 8, kind="Kernel", process=GPU, thread="stream 7", correlation=9),
        op("Memcpy HtoD", 8, 9, kind="Memcpy", process=GPU, thread="stream 7"),
    ]
    (split,) = splits(*old)
    assert milliseconds(split) == (5, 0, 3, 2, 0)
    assert split.label == "ProfilerStep#7"


def test_a_bare_list_of_events_is_a_trace_too(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps([step(0, 4), op("aten::mm", 1, 2)]))
    (split,) = trace.read(path, workers=1)
    assert milliseconds(split) == (1, 0, 0, 3, 0)


def test_a_step_can_have_any_name(splits):
    events = [
        step(0, 4, "train"),
        step(4, 9, "train"),
        step(9, 12, "training"),
        op("aten::mm", 0, 9),
    ]
    assert [s.seconds for s in splits(*events, step="train")] == pytest.approx([0.004, 0.005])


def test_the_configuration_comes_from_the_trace_or_from_the_caller(splits):
    head = {
        "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
        "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}, {"id": 1, "name": "NVIDIA H200"}],
        "host_name": "node-5",
        "baseTimeNanoseconds": 1_775_078_550_000_000_000,
    }
    (split,) = splits(step(0, 10), kernel("gemm", 1, 2), head=head, workers=None)
    assert (split.workers, split.rank, split.date) == (8, 3, "2026-04-01")
    assert split.machine == Machine("NVIDIA H200, node-5", cores=None)
    assert split.stamp.kind == "recorded"
    here = Machine("mine", cores=2)
    (split,) = splits(step(0, 10), head=head, workers=4, rank=1, machine=here)
    assert (split.workers, split.rank, split.machine) == (4, 1, here)


def test_the_exposed_share_is_of_the_whole_step_on_that_many_workers(splits):
    (split,) = splits(
        step(0, 200), op("aten::mm", 0, 180), op("gloo:all_reduce", 150, 200, thread=2), workers=8
    )
    assert split.exposed_share == pytest.approx(0.1)
    assert (split.workers, split.seconds) == (8, pytest.approx(0.2))


# --- The second opinion: paint every millisecond, without any arithmetic on intervals ---

LENGTH = 24
NAMES = ("aten::mm", "aten::linear", "c10d::allreduce_", "gloo:all_reduce", "aten::wait_tensor")
KERNELS = ("gemm", "ncclDevKernel_AllGather", "Memcpy HtoD")
moments = st.tuples(st.integers(-3, LENGTH + 3), st.integers(0, LENGTH)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)
host_events = st.lists(
    st.builds(
        lambda name, when, thread: op(
            name,
            *when,
            thread=thread,
            kind="user_annotation" if name.startswith("gloo") else "cpu_op",
        ),
        st.sampled_from(NAMES),
        moments,
        st.integers(1, 3),
    ),
    max_size=10,
)
calls = st.lists(
    st.builds(
        lambda name, when, number: call(name, *when, correlation=number),
        st.sampled_from(("cudaLaunchKernel", "cudaStreamSynchronize")),
        moments,
        st.integers(0, 4),
    ),
    max_size=6,
    unique_by=lambda e: e["args"]["correlation"],
)
device_events = st.lists(
    st.builds(
        lambda name, when, number, stream: kernel(
            name,
            *when,
            stream=stream,
            kind="gpu_memcpy" if "Memcpy" in name else "kernel",
            **({} if number is None else {"correlation": number}),
        ),
        st.sampled_from(KERNELS),
        moments,
        st.none() | st.integers(0, 6),
        st.integers(7, 8),
    ),
    min_size=1,
    max_size=8,
)


def covers(event, moment):
    return event["ts"] <= 1000 * moment < event["ts"] + event["dur"]


def painted_host(events, moment):
    """Return what the host does in one millisecond, by asking every event."""
    on = [e for e in events if covers(e, moment)]
    working = any(
        e["cat"] == "cpu_op"
        and not any(
            o["tid"] == e["tid"] and o["name"] not in ("aten::mm", "aten::linear") for o in on
        )
        for e in on
    )
    talking = any(e["name"] in ("c10d::allreduce_", "gloo:all_reduce") for e in on)
    return {"compute": working, "communication": talking, "launch": False}


def painted_device(events, moment):
    on = [e for e in events if covers(e, moment)]
    started = {e["args"]["correlation"]: e["ts"] for e in events if e["cat"] == "cuda_runtime"}
    device = [e for e in on if e["pid"] == GPU]
    waits = ("cudaStreamSynchronize", "aten::wait_tensor")
    busy = any(
        e["pid"] == HOST
        and e["cat"] != "user_annotation"
        and not any(o["tid"] == e["tid"] and o["name"] in waits for o in on)
        for e in on
    )
    queued = any(
        started.get(e["args"].get("correlation"), math.inf) <= 1000 * moment < e["ts"]
        for e in events
        if e["pid"] == GPU
    )
    return {
        "compute": any("nccl" not in e["name"] for e in device),
        "communication": any("nccl" in e["name"] for e in device)
        or any(e["name"].startswith("gloo") for e in on),
        "launch": busy or queued,
    }


def tally(paint, events, window):
    """Count milliseconds: compute, exposed, launch, idle, hidden."""
    counts = dict.fromkeys(("compute", "exposed", "launch", "idle", "hidden"), 0)
    for moment in range(*window):
        now = paint(events, moment)
        if now["compute"]:
            counts["compute"] += 1
            counts["hidden"] += now["communication"]
        elif now["communication"]:
            counts["exposed"] += 1
        else:
            counts["launch" if now["launch"] else "idle"] += 1
    return tuple(counts.values())


TRIES = pytest.mark.parametrize("tries", [60, pytest.param(300, marks=pytest.mark.thorough)])


@TRIES
def test_any_timeline_of_a_host_agrees_with_painting_it(tries, tmp_path):
    @settings(max_examples=tries)
    @given(events=host_events)
    def agrees(events):
        path = written(tmp_path / "t.json", [step(0, LENGTH), *events])
        (split,) = trace.read(path, workers=2)
        assert milliseconds(split) == tally(painted_host, events, (0, LENGTH))

    agrees()


@TRIES
def test_any_timeline_of_a_device_agrees_with_painting_it(tries, tmp_path):
    """Two steps, each ending with the last thing launched in it, the second not before the first."""

    @settings(max_examples=tries)
    @given(host=host_events, calls=calls, device=device_events, cut=st.integers(1, LENGTH - 1))
    def agrees(host, calls, device, cut):
        events = [*host, *calls, *device]
        marks = [(0, cut), (cut, LENGTH)]
        launched = {e["args"]["correlation"]: e["ts"] for e in calls}
        windows, done = [], 0
        for start, end in marks:
            own = [
                e["ts"] + e["dur"]
                for e in device
                if 1000 * start <= launched.get(e["args"].get("correlation"), e["ts"]) < 1000 * end
            ]
            windows.append((max(start, done), max([1000 * end, *own]) // 1000))
            done = windows[-1][1]
        steps = [step(*mark, f"ProfilerStep#{k}") for k, mark in enumerate(marks)]
        path = written(tmp_path / "t.json", [*steps, *events])
        if any(start >= end for start, end in windows):
            with pytest.raises(ValueError, match="must have steps that take time"):
                trace.read(path, workers=2)
            return
        found = trace.read(path, workers=2)
        assert [milliseconds(s) for s in found] == [
            tally(painted_device, events, w) for w in windows
        ]

    agrees()


# --- A real step, recorded by Kineto ---


def test_a_recorded_step_of_two_workers_is_split_without_remainder():
    ranks = [trace.read(SAMPLES / f"step_rank{r}.json{s}") for r, s in ((0, ""), (1, ".gz"))]
    for rank, (split,) in enumerate(ranks):
        assert (split.workers, split.rank, split.date) == (2, rank, "2026-11-20")
        parts = (split.compute, split.exposed, split.launch, split.idle)
        assert sum(parts) == pytest.approx(split.seconds, rel=1e-12)
        assert split.hidden > 0
        assert split.launch == 0
        assert 0 < split.exposed_share < 1


def test_a_recorded_step_agrees_with_painting_it_by_the_microsecond():
    raw = json.loads((SAMPLES / "step_rank0.json").read_text())["traceEvents"]
    (mark,) = [e for e in raw if e["name"].startswith("ProfilerStep#")]
    threads = {}
    for e in raw:
        if e["ph"] == "X" and e["pid"] == mark["pid"] and e is not mark:
            threads.setdefault(e["tid"], []).append(e)
    cells = range(int(mark["dur"]))
    compute, talk = set(), set()
    for events in threads.values():
        own, spoken = set(), set()
        for e in events:
            start = round(e["ts"] - mark["ts"])
            stretch = range(max(0, start), min(len(cells), start + round(e["dur"])))
            if e["name"].startswith(("gloo:", "c10d::")):
                spoken.update(stretch)
            elif e["cat"] == "cpu_op":
                own.update(stretch)
        compute |= own - spoken
        talk |= spoken
    (split,) = trace.read(SAMPLES / "step_rank0.json")
    # Each of some hundred edges is rounded to a microsecond.
    assert split.compute == pytest.approx(len(compute) / 1e6, abs=2e-4)
    assert split.exposed == pytest.approx(len(talk - compute) / 1e6, abs=2e-4)
    assert split.communication == pytest.approx(len(talk) / 1e6, abs=2e-4)


def test_summing_the_rows_of_a_profiler_counts_time_that_never_passed():
    """The shortcut of adding durations up: operators that call operators, and hidden transfers."""
    raw = json.loads((SAMPLES / "step_rank0.json").read_text())["traceEvents"]
    (split,) = trace.read(SAMPLES / "step_rank0.json")
    operators = sum(e["dur"] for e in raw if e.get("cat") == "cpu_op") / 1e6
    transfers = sum(e["dur"] for e in raw if str(e["name"]).startswith("gloo:")) / 1e6
    assert operators > split.seconds > split.compute
    assert transfers > split.exposed


def test_waiting_for_the_last_worker_is_told_from_moving_data(tmp_path, monkeypatch):
    """Rank 0 reaches the all-reduce at 2 ms and rank 1 at 6 ms; both leave it at 8 ms."""

    def launch(job, count, *, limit, folder, plan):
        for rank, arrival in enumerate((2, 6)):
            transfer = op("gloo:all_reduce", arrival, 8, kind="user_annotation", thread=2)
            events = {"traceEvents": [step(0, 10), op("aten::mm", 0, arrival + 1), transfer]}
            with gzip.open(f"{folder}/rank{rank}.json.gz", "wt") as file:
                json.dump(events, file)
        return [plan["skip"] + plan["active"]] * count

    monkeypatch.setattr(workers, "launch", launch)
    (first,), (second,) = profile.profile(jobs.training_epoch, 2, active=1)
    # Rank 0 computes until 3, so that of its wait from 2 to 6 only 3 ms are exposed.
    assert milliseconds(first) == (3, 5, 0, 2, 1)
    assert first.waiting == pytest.approx(0.003)
    assert milliseconds(second) == (7, 1, 0, 2, 1)
    assert second.waiting == 0


def test_a_transfer_that_is_over_waits_no_longer():
    """What rank 0 sends at 1 ms is buffered and done at 2 ms; rank 1 asks for it at 7 ms."""

    def one(start, end):
        event = kineto.Event("gloo:send", "user_annotation", HOST, 1, start, end, None)
        return TracedStep("s", (0, 10), (), (), (), (), (), (event,))

    assert profile._waits((one(1, 2), one(7, 9))) == [[(1, 2)], [(7, 7)]]


def test_ranks_that_did_different_things_do_not_say_who_waited():
    one, other = (
        trace.steps(kineto.read(SAMPLES / f"step_rank{k}"), trace.STEP)[0]
        for k in ("0.json", "1.json.gz")
    )
    assert profile._waits((one, other)) != [None, None]
    shorter = other._replace(transfers=other.transfers[1:])
    assert profile._waits((one, shorter)) == [None, None]


@pytest.fixture
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


EPOCH = {"steps": 12, "batch": 64, "width": 16, "repetitions": 1}


@pytest.mark.parametrize("count", [1, 2])
def test_a_real_job_is_profiled_on_every_rank(count, importable, tmp_path):
    found = profile.profile(
        jobs.training_epoch, count, active=3, skip=6, keep=tmp_path / "traces", **EPOCH
    )
    assert len(found) == count
    assert len(list((tmp_path / "traces").iterdir())) == count
    for rank, splits in enumerate(found):
        assert [s.label for s in splits] == [f"ProfilerStep#{k}" for k in (6, 7, 8)]
        for split in splits:
            assert (split.workers, split.rank) == (count, rank)
            assert split.compute > 0
            assert (split.communication > 0) == (count > 1)
            assert split.waiting <= split.exposed
            assert split.stamp.kind == "measured here"
            assert records.from_json(records.to_json(split)) == split


def test_some_rank_is_always_the_last_to_arrive(importable):
    """In each collective at least one rank waits for nobody: with one per step, none or all of it."""
    found = profile.profile(jobs.training_epoch, 2, active=3, skip=6, **EPOCH)
    for step_of_ranks in zip(*found, strict=True):
        assert min(split.waiting for split in step_of_ranks) == 0


def test_a_job_may_end_with_the_last_profiled_step_and_not_before(importable):
    """Twelve steps after the four of the warm-up."""
    settings = EPOCH | {"skip": 12}
    (splits,) = profile.profile(jobs.training_epoch, 1, active=4, **settings)
    assert len(splits) == 4
    with pytest.raises(ValueError, match="at least 17 optimizer steps, got 16"):
        profile.profile(jobs.training_epoch, 1, active=5, **settings)


@pytest.mark.parametrize(
    ("job", "settings", "message"),
    [
        (worker_jobs.roll_call, {}, "job must take at least 15 optimizer steps, got 0"),
        (lambda: None, {}, "arguments must be data that can be pickled|job must be a function"),
        (3, {}, "job must be a function of a module that other processes can import, got 3"),
        (jobs.training_epoch, {"active": 0}, "active must be a whole number from 1 on, got 0"),
        (jobs.training_epoch, {"skip": 1.5}, "skip must be a whole number from 1 on, got 1.5"),
        (jobs.training_epoch, {"keep": "/dev/null/x"}, "keep must be a folder that can be made"),
    ],
)
def test_a_job_that_cannot_be_profiled_is_refused(job, settings, message, importable):
    with pytest.raises(ValueError, match=message):
        profile.profile(job, 1, **settings)


def test_the_profiler_of_a_reader_is_split_too():
    import torch

    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1),
    ) as running:
        for _ in range(3):
            torch.mm(torch.ones(64, 64), torch.ones(64, 64))
            running.step()
    splits = trace.profiled(running)
    assert len(splits) == 2
    for split in splits:
        assert split.workers == 1
        assert 0 < split.compute <= split.seconds
        assert split.communication == split.exposed_share == 0
        assert split.machine.torch.startswith("2.")
        assert split.stamp.kind == "measured here"


@pytest.mark.gpu
def test_the_split_of_a_gpu_step_is_of_the_devices_time():
    """Large products, then a pause of the host, then a synchronisation: mostly compute, then idle."""
    import time

    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    big = torch.ones(4096, 4096, device="cuda")
    with torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=0, warmup=2, active=2, repeat=1),
    ) as running:
        for _ in range(4):
            for _ in range(20):
                torch.mm(big, big)
            torch.cuda.synchronize()
            time.sleep(0.05)
            running.step()
    for split in trace.profiled(running):
        assert split.compute > 0
        assert split.idle > 0.04
        assert split.communication == 0
        assert split.compute + split.launch + split.idle == pytest.approx(split.seconds)


def test_what_is_no_profiler_is_refused():
    with pytest.raises(Refusal, match=r"profiler must be a finished torch\.profiler\.profile"):
        trace.profiled("trace.json")


def test_the_mean_step_is_the_mean_of_its_parts(splits):
    found = splits(
        step(0, 10, "s"), step(10, 30, "s"), op("aten::mm", 2, 4), op("gloo:send", 12, 18), step="s"
    )
    mean = trace.mean(found)
    assert mean.seconds == pytest.approx(0.015)
    assert milliseconds(mean) == (1, 3, 0, 11, 0)
    assert (mean.label, mean.workers, mean.waiting) == ("mean of 2 steps", 2, None)
    assert trace.mean(found[:1]) == found[0]


def test_a_mean_over_different_configurations_is_refused(splits):
    (two,) = splits(step(0, 10), workers=2)
    (four,) = splits(step(0, 10), workers=4)
    for mixed in ((two, four), ()):
        with pytest.raises(ValueError, match="splits must be of one rank of one configuration"):
            trace.mean(mixed)


@pytest.mark.parametrize(
    "change",
    [
        {"idle": 0.5},
        {"seconds": 0.0},
        {"compute": -1.0},
        {"communication": 0.05},
        {"waiting": 0.3},
        {"rank": 2},
        {"workers": 0},
        {"launch": math.nan},
    ],
)
def test_a_split_that_does_not_add_up_is_refused(change):
    good = {"seconds": 1.0, "compute": 0.7, "exposed": 0.2, "launch": 0.0, "idle": 0.1}
    good |= {"communication": 0.3, "label": "s", "workers": 2, "rank": 1, "date": ""}
    good |= {"machine": Machine("m", 1), "waiting": 0.1}
    assert Split(**good).hidden == pytest.approx(0.1)
    with pytest.raises(ValueError, match=r" must .*, got .*: "):
        Split(**good | change)


GOOD = step(0, 10)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([op("aten::mm", 0, 1)], "contain the step 'ProfilerStep', got .*no annotation"),
        ([step(0, 1, "epoch")], "contain the step .* name one of 'epoch', or call profiler.step"),
        ([], "hold events with a duration"),
        ([{"ph": "M", "name": "process_name"}], "hold events with a duration"),
        ([GOOD, step(5, 15)], "have steps one after another"),
        ([GOOD, GOOD | {"pid": 9, "ts": 20000}], "be of one process"),
        ([step(3, 3)], "have steps that take time"),
        ([GOOD, kernel("a", 1, 2), kernel("b", 1, 2) | {"pid": 1}], "be of one device"),
        ([GOOD, 5], r"traceEvents\[1\] must be an object, got 5"),
        ([GOOD, {"ph": "B", "ts": 1}], r"traceEvents\[1\] must end \(ph E\), as it begins"),
        ([GOOD | {"name": None}], r"traceEvents\[0\] must have text for name"),
        ([GOOD | {"cat": 3}], r"traceEvents\[0\] must have text for name"),
        ([GOOD | {"args": [1]}], r"traceEvents\[0\] must have text for name"),
        ([GOOD | {"ts": "soon"}], r"traceEvents\[0\]\.ts must be a number of microseconds"),
        ([GOOD | {"ts": True}], r"traceEvents\[0\]\.ts must be"),
        ([GOOD | {"dur": -1}], r"traceEvents\[0\]\.dur must be"),
        ([GOOD | {"dur": None}], r"traceEvents\[0\]\.dur must be"),
        ([GOOD | {"dur": 1e300}], r"traceEvents\[0\]\.dur must be"),
        ([GOOD | {"ts": 10**400}], r"traceEvents\[0\]\.ts must be"),
        ([GOOD | {"ts": math.nan}], r"traceEvents\[0\]\.ts must be"),
    ],
)
def test_a_trace_that_cannot_be_split_says_where_and_what_to_do(events, message, tmp_path):
    path = written(tmp_path / "bad.json", events)
    with pytest.raises(ValueError, match=message) as error:
        trace.read(path, workers=2)
    assert str(error.value).startswith(str(path))
    assert re.fullmatch(r".+ must .+, got .+: .+", str(error.value))


def test_a_trace_of_nobody_knows_how_many_workers_asks(splits):
    with pytest.raises(ValueError, match=r"must say how many workers took part, .* workers="):
        splits(step(0, 10), workers=None)


@pytest.mark.parametrize(
    "head",
    [
        {"distributedInfo": 5, "deviceProperties": 5, "baseTimeNanoseconds": "x", "host_name": []},
        {"distributedInfo": {"rank": "0", "world_size": -1}, "baseTimeNanoseconds": 1e300},
        {"distributedInfo": {"rank": 9, "world_size": True}, "deviceProperties": [3, {"name": 4}]},
        {"baseTimeNanoseconds": math.nan},
    ],
)
def test_a_strange_head_is_the_same_as_none(splits, head):
    (split,) = splits(GOOD, head=head)
    assert (split.workers, split.rank, split.date) == (2, 0, "")
    assert split.machine.name == "not stated in the trace"
