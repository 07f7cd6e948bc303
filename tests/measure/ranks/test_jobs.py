"""What jobs do on how many workers: who does which share, what is slept, what a sweep asks for."""

import pytest

from scalelab.measure.ranks import capacity, combine, emulate, jobs, sweep, workers
from scalelab.records import Machine, Recording, Sample
from scalelab.refusal import Refusal
from tests.measure import worker_jobs
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(2)

LAPTOP = Machine("laptop", cores=2)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The processes must find `tests` however pytest was started."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("count", sampled([1, 2, 4], 2))
def test_every_item_is_computed_once_however_many_share(count):
    done = workers.launch(worker_jobs.products, count, items=6)
    assert sum(done) == 2 * 6  # a warm-up and one repetition
    assert max(done) - min(done) <= 2  # dealt out, so that shares differ by one item at most


def test_an_emulated_epoch_sleeps_where_it_would_compute_and_sends_what_it_would_send():
    """More workers than cores: six steps, two repetitions, and every rank's gradients in each."""
    arguments = {"steps": 6, "batch": 64, "width": 8, "repetitions": 2}
    told = {"target": jobs.training_epoch, "arguments": arguments}
    ranks = workers.launch(worker_jobs.pauses, 4, **told)
    gradients = 64 * 8 + 8 + 8 * 8 + 8 + 8 + 1
    for rank in ranks:
        assert rank["slept"] == [rank["sleep"]] * 12
        assert rank["sent"] == [gradients] * 12
        assert rank["sleep"] == ranks[0]["sleep"] > 0
        assert rank["told"] == ["seconds", "sleep"]  # nothing was learned, so there are no weights


def test_of_four_epochs_in_turn_only_the_last_exchanges_anything():
    """The control differs from the epoch in the exchange alone: three steps, a warm-up and two rounds."""
    first, other = workers.launch(worker_jobs.sent_in_parts, 2)
    names = ["one worker", "copies", "without exchange", "with exchange"]
    for rank in (first, other):
        assert rank["sent"] == 3 * 3
        assert [len(rank["seconds"][name]) for name in names] == [2] * 4
    assert min(first["seconds"]["one worker"]) > max(other["seconds"]["one worker"])  # who waits


def test_an_epoch_of_one_s_own_is_the_whole_job_on_every_rank():
    """Two copies share nothing: each ends with the weights that one worker alone ends with."""
    (alone,) = workers.launch(worker_jobs.whole_epoch, 1)
    both = workers.launch(worker_jobs.whole_epoch, 2)
    assert [copy.tolist() for copy in both] == [alone.tolist()] * 2


def test_a_job_of_several_times_gives_a_sample_for_each(launched, monkeypatch):
    told = {"a": {"seconds": [1.0, 2.0]}, "b": {"seconds": [3.0, 1.0]}}
    monkeypatch.setattr(workers, "launch", lambda job, count, **_: [told, told])
    parts = jobs.samples(jobs.epoch_in_parts, 2)
    assert {name: one.seconds for name, one in parts.items()} == {"a": (1, 2), "b": (3, 1)}
    assert parts["a"].given["workers"] == 2


def test_emulated_items_are_slept_through_in_one_go():
    arguments = {"items": 6, "size": 8, "repetitions": 2}
    told = {"target": jobs.independent, "arguments": arguments}
    ranks = workers.launch(worker_jobs.pauses, 4, **told)
    for rank, share in zip(ranks, (2, 2, 1, 1), strict=True):
        assert rank["slept"] == [share * rank["sleep"]] * 2
        assert rank["sent"] == []


def test_the_first_rank_calibrates_for_all():
    assert workers.launch(worker_jobs.calibration, 2) == [5.0, 5.0]


class Late:
    """A clock, and a sleep that always wakes up so much too late."""

    def __init__(self, late):
        self.late, self.now, self.asked = late, 0.0, []

    def sleep(self, seconds):
        self.asked.append(seconds)
        self.now += seconds + self.late

    def clock(self):
        return self.now


@pytest.mark.parametrize("late", [0.0, 0.125, 0.5])
def test_a_sleep_lasts_as_long_as_the_work_it_stands_for(late):
    bed = Late(late)
    pause = emulate.sleeper(wanted=1.0, sleep=bed.sleep, clock=bed.clock)
    before = bed.now
    pause(2.0)
    assert bed.now - before == 2.0


def test_work_shorter_than_waking_up_is_not_slept_at_all():
    bed = Late(0.5)
    pause = emulate.sleeper(wanted=1.0, sleep=bed.sleep, clock=bed.clock)
    bed.asked.clear()
    pause(0.25)
    assert bed.asked == []


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1", None])
def test_a_sleep_that_cannot_be_is_refused(seconds):
    with pytest.raises(ValueError, match=r"seconds must be .*, got .*: "):
        emulate.sleeper(sleep=lambda s: None)(seconds)


def test_a_function_of_ones_own_is_called_once_more_than_it_is_timed(tmp_path):
    arguments = {"work": 3, "folder": str(tmp_path)}
    ranks = workers.launch(
        jobs.repeat, 2, function=worker_jobs.own, repetitions=4, arguments=arguments
    )
    assert [len(rank["seconds"]) for rank in ranks] == [4, 4]
    calls = [path.name.split()[:2] for path in tmp_path.iterdir()]
    assert len(calls) == 2 * 5
    assert {work for _, work in calls} == {"3"}


def test_a_function_that_has_timed_itself_is_believed():
    (rank,) = workers.launch(jobs.repeat, 1, function=worker_jobs.self_timed, arguments={})
    assert rank == {"seconds": [3.0, 4.0]}


def test_ranks_that_timed_different_things_are_refused():
    results = workers.launch(worker_jobs.at_odds, 2)
    with pytest.raises(ValueError, match=r"must time the same repetitions, got \[1, 2\] of them"):
        jobs.gathered(results, "at odds", {})


@pytest.mark.parametrize("answer", [None, 3.0, {}, {"seconds": 3.0}, {"seconds": None}])
def test_a_job_that_was_not_timed_is_refused(answer):
    with pytest.raises(ValueError, match=r"^job must return .* on every rank, got .*: let"):
        jobs.gathered([answer], "untimed", {})


def rank(*seconds, **more):
    """What a rank of a job returns."""
    return {"seconds": list(seconds), **more}


def test_more_workers_than_cores_is_said(monkeypatch):
    monkeypatch.setattr(capacity, "machines", lambda count: [LAPTOP])
    assert not any(a.name == "turns" for a in jobs.gathered([rank(1.0)] * 2, "two", {}).advice)
    assert any(
        a.text.startswith("3 workers took turns on 2 cores")
        for a in jobs.gathered([rank(1.0)] * 3, "three", {}).advice
    )


def test_sleeping_workers_need_no_core_and_the_stamp_says_that_they_slept(monkeypatch):
    monkeypatch.setattr(capacity, "machines", lambda count: [LAPTOP])
    given = {"steps": 4, "emulated": True}
    sample = jobs.gathered([rank(1.0, sleep=0.25)] * 3, "three", given)
    assert not any(a.name == "turns" for a in sample.advice)
    assert sample.given == {"workers": 3, "steps": 4, "sleep": 0.25, "emulated": emulate.NOTE}
    assert sample.stamp.text.endswith(" · " + emulate.NOTE)


def test_nodes_of_two_kinds_are_said(monkeypatch):
    monkeypatch.setattr(capacity, "machines", lambda count: [LAPTOP, Machine("server", cores=2)])
    sample = jobs.gathered([rank(1.0)] * 4, "four", {})
    assert sample.given["nodes"] == 2
    assert any("laptop is one, server another" in a.text for a in sample.advice)
    assert not any(a.name == "turns" for a in sample.advice)


def test_a_gpu_is_waited_for_before_each_look_at_the_clock(monkeypatch):
    """Launching work returns at once; only what the device has finished was timed."""
    import torch

    done = []
    monkeypatch.setattr(workers, "place", lambda: torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: done.append("wait"))
    monkeypatch.setattr(torch.distributed, "barrier", lambda: done.append("barrier"))
    monkeypatch.setattr(jobs.time, "perf_counter", lambda: done.append("look") or len(done))
    seconds, result = jobs.timed(lambda: done.append("run") or "result", 1)
    assert done == ["barrier", "wait", "look", "run", "wait", "look"]
    assert (seconds, result) == ([3], "result")


@pytest.fixture
def launched(monkeypatch):
    """Record what a sweep launches, instead of launching it."""
    calls = []

    def launch(job, count, **arguments):
        calls.append((job, count, arguments))
        return [rank(1.0 / count)] * count

    monkeypatch.setattr(workers, "launch", launch)
    monkeypatch.setattr(capacity, "machines", lambda count: [LAPTOP])
    return calls


def amounts(launched, name):
    return [(count, arguments[name]) for _, count, arguments in launched]


def test_strong_scaling_keeps_the_work_and_weak_scaling_lets_it_grow(launched):
    training, independent = sweep.find("training"), sweep.find("independent")
    list(sweep.sweep(training, [1, 2, 4], given={"batch": 64}))
    assert amounts(launched, "batch") == [(1, 64), (2, 64), (4, 64)]
    launched.clear()
    samples = list(sweep.sweep(independent, [2, 3], weak=True, given={"items": 5}))
    assert amounts(launched, "items") == [(2, 10), (3, 15)]
    assert [(s.given["scaling"], s.given["work"]) for s in samples] == [("weak", 10), ("weak", 15)]
    assert [s.seconds for s in samples] == [(0.5,), (1 / 3,)]


def test_the_default_work_of_a_job_grows_too(launched):
    list(sweep.sweep(sweep.find("training"), [1, 2], weak=True))
    assert amounts(launched, "batch") == [(1, 4096), (2, 8192)]


def test_the_work_of_a_function_of_ones_own_grows_by_its_argument(launched):
    own = sweep.find("tests.measure.worker_jobs:own")
    list(sweep.sweep(own, [1, 2], weak=True, repetitions=3))
    assert [job for job, *_ in launched] == [jobs.repeat] * 2
    assert [a["function"] for _, _, a in launched] == [worker_jobs.own] * 2
    assert amounts(launched, "arguments") == [(1, {"work": 1}), (2, {"work": 2})]
    assert amounts(launched, "repetitions") == [(1, 3), (2, 3)]


def test_a_sweep_launches_one_count_after_the_other(launched):
    """So that what is there can be kept before the next one is interrupted."""
    samples = sweep.sweep(sweep.find("independent"), [1, 2])
    assert launched == []
    assert next(samples).label == "independent on 1 worker"
    assert len(launched) == 1


@pytest.mark.parametrize(
    ("name", "counts", "options", "expected"),
    [
        ("training", [], {}, "workers must be at least one number"),
        ("training", [0], {}, "workers must be a whole number from 1"),
        ("training", [1, 10**6], {}, "workers must be a whole number from 1"),
        (
            "training",
            [3],
            {},
            "batch must be a multiple of every number of workers, got 4096 for 3",
        ),
        ("training", [2], {"given": {"batch": 1.5}}, "batch must be a whole number"),
        ("training", [2], {"given": {"colour": 1}}, "arguments must be among those of training"),
        ("training", [2], {"given": {"emulated": True}}, "arguments must be among those"),
        ("training", [2], {"repetitions": 0}, "repetitions must be a whole number"),
        ("training", [2], {"device": "tpu"}, "device must be one of cpu, cuda, got 'tpu'"),
        (
            "tests.measure.worker_jobs:self_timed",
            [2],
            {"weak": True},
            "job must have an argument `work`",
        ),
        (
            "tests.measure.worker_jobs:own",
            [2],
            {"emulated": True},
            "job must be training or independent",
        ),
        ("tests.measure.worker_jobs:fail", [2], {}, "arguments must hold how, folder"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused_before_its_first_run(
    launched, name, counts, options, expected
):
    with pytest.raises(ValueError, match=expected) as error:
        sweep.sweep(sweep.find(name), counts, **options)
    assert " must " in str(error.value)
    assert ", got " in str(error.value)
    assert launched == []


@pytest.mark.parametrize(
    "name",
    ["", "nothing", ":", "tests.measure.worker_jobs:", ":own", "tests.measure.worker_jobs:nothing",
     "no.such:job", "tests.measure.worker_jobs:Path.cwd.", "os:environ", "..:x", None, 3],
)  # fmt: skip
def test_a_job_that_cannot_be_found_is_refused_in_one_sentence(name):
    with pytest.raises(ValueError, match=r"^job must .*, got .*: [^\n]*$"):
        sweep.find(name)


def test_a_module_that_fails_when_imported_is_refused_with_its_reason(tmp_path, monkeypatch):
    (tmp_path / "broken_job.py").write_text("raise SystemExit('not\\ntoday')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"got 'broken_job:run' \(SystemExit: not today\)"):
        sweep.find("broken_job:run")


def test_cuda_without_a_gpu_is_refused_with_what_to_do(monkeypatch):
    import torch

    monkeypatch.setattr(capacity, "_DRIVERS", ("/",))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device must be cpu where there is no GPU"):
        workers.launch(worker_jobs.roll_call, 1, device="cuda")


def test_without_a_driver_nobody_asks_torch(monkeypatch):
    monkeypatch.setattr(capacity, "_DRIVERS", ())
    monkeypatch.setattr(capacity.sys, "platform", "linux")
    assert capacity.most("cuda")[0] == 0


def test_each_worker_needs_a_gpu_of_its_own(monkeypatch):
    import torch

    monkeypatch.setattr(capacity, "_DRIVERS", ("/",))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert capacity.most("cuda") == (4, "each needs a GPU, and this machine has 4 GPUs")
    assert capacity.usual("cuda") == 4
    with pytest.raises(ValueError, match="from 1 to 4, got 5: each needs a GPU"):
        capacity.fit(5, "cuda")


def test_what_one_gpu_is_too_few_for_is_told_without_an_empty_range(monkeypatch):
    monkeypatch.setattr(capacity, "most", lambda device: (1, "each needs a GPU, and there is 1"))
    with pytest.raises(Refusal, match=r"^workers must be 1, got 2: each needs a GPU"):
        capacity.fit(2, "cuda")
    with pytest.raises(
        Refusal, match=r"^workers must be 2 or more for this, got room for 1: each needs a GPU"
    ):
        capacity.fit(1, "cuda", 2)


def test_a_rank_under_nccl_takes_the_gpu_of_its_place_on_the_node(monkeypatch):
    import torch
    from torch import distributed

    taken, joined = [], {}
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(
        distributed,
        "init_process_group",
        lambda backend, **how: joined.update(how, backend=backend),
    )
    monkeypatch.setattr(distributed, "barrier", lambda: None)
    monkeypatch.setattr(distributed, "destroy_process_group", lambda: None)
    meeting = {"store": None, "rank": 7, "world_size": 8}
    result = workers._rank(None, dict, {"done": True}, "nccl", 60, **meeting)
    assert result == {"done": True}
    assert taken == [torch.device("cuda", 3)]
    assert joined["backend"] == "nccl"
    assert joined["device_id"] == torch.device("cuda", 3)
    assert (joined["rank"], joined["world_size"]) == (7, 8)


def test_a_job_finds_its_place_by_the_backend(monkeypatch):
    import torch
    from torch import distributed

    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(distributed, "get_backend", lambda: "nccl")
    assert workers.place() == torch.device("cuda", 3)
    monkeypatch.setattr(distributed, "get_backend", lambda: "gloo")
    assert workers.place() == torch.device("cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["training", "independent"])
def test_built_in_jobs_run_on_a_gpu(name):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    (sample,) = sweep.sweep(sweep.find(name), [1], device="cuda", repetitions=2)
    assert len(sample.seconds) == 2
    assert sample.given["backend"] == "nccl"


def test_a_job_may_use_torch_s_own_data_parallel_wrapper():
    """Each rank has other data, and their weights stay the same."""
    one, other = workers.launch(worker_jobs.data_parallel, 2)
    assert one["weights"] == other["weights"]
    assert one["losses"][-1] < one["losses"][0] != other["losses"][0]


def test_a_gpu_is_not_emulated(launched, monkeypatch):
    monkeypatch.setattr(capacity, "_gpus", lambda: 8)
    with pytest.raises(ValueError, match="device must be cpu to emulate, got cuda: "):
        sweep.sweep(sweep.find("training"), [2], emulated=True, device="cuda")
    assert launched == []


@pytest.mark.gpu
def test_one_rank_under_nccl_trains_with_torch_s_own_data_parallel_wrapper():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    (found,) = workers.launch(worker_jobs.data_parallel, 1, device="cuda")
    assert found["device"] == "cuda:0"
    assert found["losses"][-1] < found["losses"][0]
    assert len(found["seconds"]) == 3


def one(machine, label="a"):
    return Recording(label, (Sample(label, (1.0,), 1, machine, "2025-11-20"),), f"note {label}")


def test_recordings_of_one_machine_become_one():
    both = combine.recordings([one(LAPTOP), one(LAPTOP, "b")], title="both")
    assert [sample.label for sample in both.samples] == ["a", "b"]
    assert (both.title, both.note) == ("both", "note a note b")


def test_recordings_of_different_machines_are_refused_unless_asked_for():
    """Times do not compare across machines, nor across versions of what is timed."""
    server, newer = Machine("server", cores=64), Machine("laptop", cores=2, torch="2.13.0")
    with pytest.raises(ValueError, match="from one machine, got 'laptop' and 'server'"):
        combine.recordings([one(LAPTOP), one(server)])
    with pytest.raises(ValueError, match=r"got 'laptop' twice, with torch '' and '2\.13\.0'"):
        combine.recordings([one(LAPTOP), one(newer)])
    mixed = combine.recordings([one(LAPTOP), one(server)], mixed=True)
    assert [sample.machine for sample in mixed.samples] == [LAPTOP, server]


@pytest.mark.parametrize("parts", [[], [LAPTOP], [None]])
def test_nothing_to_combine_is_refused(parts):
    with pytest.raises(ValueError, match="parts must be Recordings, at least one"):
        combine.recordings(parts)
