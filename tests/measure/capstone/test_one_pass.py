"""One pass: what it binds, what it refuses, and that what was edited shows."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab import records
from scalelab.measure.capstone import binding, one_pass
from scalelab.measure.ranks import workers
from scalelab.records import Machine, Pass, Passes
from scalelab.rubric import rubric
from scalelab.rubric.caveats import remarks

HOST = Machine("laptop, 4 cores", cores=4, torch="2.13.0")
CALL = {"seed": 0, "data": b"held out", "code": "v1", "metric": "accuracy"}


class Clock:
    """Moves only when told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def one(workers=1, seconds=60.0, quality=0.9, seed=0, **changes):
    """A sealed pass."""
    fields = {
        "configuration": {"width": 256}, "data": "d" * 16, "code": "c" * 16, "metric": "accuracy",
        "better": "higher", "machine": HOST, "date": "2025-11-20", "elapsed": seconds + 1,
        "work": 1000.0, "rate": float(workers), **changes,
    }  # fmt: skip
    made = Pass(workers=workers, seconds=seconds, quality=quality, seed=seed, **fields)
    return dataclasses.replace(made, seal=made.digest)


# --- Taking one ---


def test_only_the_work_region_is_timed():
    clock = Clock()
    with one_pass.taking({"width": 8}, **CALL, clock=clock) as run:
        clock.now += 5  # warm-up
        with run.work(1000):
            clock.now += 20
        clock.now += 3  # evaluation
        run.quality(0.87)
    found = run.record
    assert (found.seconds, found.elapsed, found.work) == (20, 28, 1000)
    assert (found.workers, found.quality, found.configuration) == (1, 0.87, {"width": 8})
    assert found.intact
    assert found.stamp.kind == "measured here"


def take(*steps):
    """Return the record of a pass of these steps."""
    with one_pass.taking({}, **CALL) as run:
        for step in steps:
            step(run)
    return run.record


def work(run):
    with run.work():
        pass


def crash(run):
    with run.work():
        raise ZeroDivisionError


def evaluate(run):
    run.quality(0.9)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((evaluate,), "quality must be of the work of this pass"),
        ((evaluate, work), "quality must be of the work of this pass"),
        ((work, work), "work must be entered once"),
        ((work, evaluate, evaluate), "quality must be given once"),
        ((work,), r"must hold work and its quality, got no quality\(\)"),
        ((), r"must hold work and its quality, got no work\(\)"),
        ((work, lambda run: run.quality(None)), "quality must be given on one rank at least"),
    ],
)
def test_time_and_quality_come_once_each_and_in_order(steps, said):
    with pytest.raises(ValueError, match=said):
        take(*steps)


def test_a_pass_that_fails_keeps_its_own_error():
    with pytest.raises(ZeroDivisionError):
        take(crash, evaluate)


def test_another_process_cannot_say_how_good_it_was(monkeypatch):
    def elsewhere(run):
        monkeypatch.setattr(one_pass.os, "getpid", lambda: -1)

    assert take(work, evaluate).quality == 0.9
    with pytest.raises(ValueError, match="quality must come from the process that was timed"):
        take(work, elsewhere, evaluate)


def training(disagree=False):
    """What each rank of the test below runs."""
    import time

    from torch import distributed

    rank = distributed.get_rank()
    with one_pass.taking({}, **CALL, varied={"batch": 64}, rate=2.0) as run:
        with run.work(10):
            time.sleep(0.05 if rank else 0.3)
        run.quality(0.9 + (rank if disagree else 0))
    return run.record


def test_ranks_of_a_group_share_one_record_with_the_time_of_the_slowest():
    first, second = workers.launch(training, 2)
    assert first == second
    assert first.workers == 2
    assert first.seconds >= 0.29
    assert first.intact


def test_ranks_that_hold_different_models_are_refused():
    with pytest.raises(workers.WorkerError, match="ranks must agree on the quality"):
        workers.launch(training, 2, disagree=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"configuration": 3}, "configuration must be a dictionary"),
        ({"configuration": {"a": [1]}}, "configuration must be a dictionary"),
        ({"configuration": {"a": math.nan}}, "configuration must be a dictionary"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"data": object()}, "data must be arrays"),
        ({"code": []}, "code must name what ran"),
        ({"code": 7}, "code must be functions or modules"),
        ({"code": "  "}, "code must be text"),
        ({"metric": ""}, "metric must be text"),
        ({"better": "more"}, "better must be higher or lower"),
        ({"rate": -1}, "rate must be"),
        ({"workers": 0}, "workers must be a whole number"),
    ],
)
def test_what_does_not_bind_is_refused_before_anything_runs(changes, said):
    given_ = {"configuration": {}, **CALL, **changes}
    with pytest.raises(ValueError, match=said):
        one_pass.taking(given_.pop("configuration"), **given_).__enter__()


# --- What binds ---


def test_a_digest_sees_values_types_shapes_and_order():
    arrays = [
        np.zeros(4), np.zeros((2, 2)), np.zeros(4, "f4"), np.arange(4.0), [np.zeros(4)],
        np.zeros(5), b"\0" * 32, "0000", [0, 0], [0.0, 0.0], [[0], 0], None,
    ]  # fmt: skip
    assert len({one_pass.digest(a) for a in arrays}) == len(arrays)
    assert one_pass.digest(np.arange(4.0)) == one_pass.digest(np.arange(4.0)[::1].copy())
    assert one_pass.digest(np.arange(8.0)[::2]) == one_pass.digest(np.array([0, 2, 4, 6.0]))


def test_a_tensor_has_the_digest_of_its_array():
    import torch

    assert one_pass.digest(torch.arange(3)) == one_pass.digest(np.arange(3))


def test_the_version_of_a_function_is_that_of_its_whole_file(tmp_path):
    assert one_pass.version(one) == one_pass.version([training, Clock])
    assert one_pass.version(one) != one_pass.version(binding)
    assert one_pass.version("1.2.3") == "1.2.3"


# --- The file ---


def test_passes_are_added_to_a_file_and_read_back_intact(tmp_path):
    path = tmp_path / "study.json"
    for k in (1, 2):
        one_pass.append(path, one(k, 60 / k), title="my study")
    found = records.from_json(path.read_text())
    assert (found.title, [p.workers for p in found.passes]) == ("my study", [1, 2])
    assert all(p.intact for p in found.passes)
    assert found.passes[0].stamp.kind == "recorded"


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "host.json"
    path.write_text(records.to_json(HOST))
    with pytest.raises(ValueError, match="must hold Passes, got a Machine"):
        one_pass.append(path, one())
    assert records.from_json(path.read_text()) == HOST


SEALED = json.loads(records.to_json(one()))


@given(st.sampled_from(sorted(set(SEALED) - {"record", "version", "machine", "better"})), st.data())
def test_whatever_is_edited_breaks_the_seal(name, data):
    old = SEALED[name]
    new = {
        dict: st.just({"width": 512}), str: st.just("another"), int: st.just(7), float: st.just(88.5),
        type(None): st.just(3.5),
    }[type(old)]  # fmt: skip
    edited = SEALED | {name: data.draw(new)} | ({"elapsed": 99.0} if name == "seconds" else {})
    assert not records.from_json(json.dumps(edited)).intact


def test_the_same_pass_keeps_its_seal_through_files_and_further_fields():
    text = json.dumps(SEALED | {"watts": 300, "machine": SEALED["machine"] | {"rack": 7}})
    assert records.from_json(text).intact


# --- One study ---


def study(**changes):
    return [one(1, 60.0, **changes), one(2, 31.0)]


def test_passes_of_one_study_are_judged():
    found = rubric.of_passes(Passes("mine", tuple(study())))
    assert found.bound
    assert rubric.judge(found).recommended == 2


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"configuration": {"width": 128}}, "'width', got 128 with 1 worker and 256 with 2"),
        ({"configuration": {"width": 256, "depth": 2}}, "'depth', got 2 with 1 worker and None"),
        ({"data": "other"}, "in data, got 'other'"),
        ({"code": "other"}, "in code"),
        ({"metric": "F1"}, "in metric"),
        ({"better": "lower"}, "in better"),
        ({"machine": Machine("another", 4)}, "in machine, got 'another'"),
        ({"machine": dataclasses.replace(HOST, torch="1.0")}, "in machine, got '1.0'"),
        ({"seed": 5}, "same seed in every size, got .5. with 1 worker and .0. with 2"),
        ({"varied": {"batch": 64}}, "names in varied"),
    ],
)
def test_passes_that_differ_are_refused_and_the_field_is_named(changes, named):
    with pytest.raises(ValueError, match=f"passes must .*{named}") as error:
        rubric.of_passes(study(**changes))
    assert "\n" not in str(error.value)


def test_what_varies_on_purpose_may_depend_on_the_workers_only():
    batches = [one(k, 60 / k, varied={"batch": 64 * k}) for k in (1, 2)]
    report = rubric.judge(rubric.of_passes(batches))
    assert any("batch" in remark for remark in remarks(report))
    again = [*batches, *(one(k, 60 / k, seed=1, varied={"batch": 64}) for k in (1, 2))]
    with pytest.raises(ValueError, match="passes must agree in varied 'batch', got 128 with 2"):
        rubric.of_passes(again)


def test_the_same_seed_twice_is_refused():
    with pytest.raises(ValueError, match="must differ in their seed, got 0 more than once"):
        rubric.of_passes([*study(), one(2, 30.0)])


def test_an_edited_pass_is_refused():
    edited = dataclasses.replace(one(2, 31.0), quality=0.95)
    with pytest.raises(ValueError, match="pass 2 must be as one_pass sealed it"):
        rubric.of_passes([one(), edited])


def test_a_price_stands_in_for_rates_that_were_not_known():
    passes = [one(k, 60 / k, rate=None) for k in (1, 2)]
    with pytest.raises(ValueError, match="rate must be given for every row"):
        rubric.of_passes(passes)
    assert rubric.of_passes(passes, price=3).configurations[1].rate == 6
