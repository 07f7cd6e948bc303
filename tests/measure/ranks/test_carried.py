"""Plans between real processes, a late rank, and steps in buckets: what must hold on any machine."""

import numpy as np
import pytest

from scalelab.links.sweep import Sweep
from scalelab.measure.messages import buckets, carried, skew
from scalelab.measure.ranks import workers
from scalelab.models.network import messages
from tests.measure import worker_jobs
from tests.notebooks import ROOT


def test_plans_run_by_turns_and_give_samples_that_a_fit_can_read():
    plans = {name: messages.ALL_REDUCE[name](2) for name in ("ring", "recursive doubling")}
    found = carried.measure(plans, [1000, 4096, 65536], 2, iterations=3)
    assert list(found) == list(plans)
    for name, samples in found.items():
        assert [s.given["bytes"] for s in samples] == [1000, 4096, 65536]
        assert {len(s.seconds) for s in samples} == {3}
        assert Sweep.recorded(samples).algorithm == name


def test_sizes_of_plans_take_turns_too(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(carried, "carry", worker_jobs.all_disturbed)
    plans = {name: messages.ALL_REDUCE[name](2) for name in ("ring", "recursive doubling")}
    found = carried.measure(plans, [64, 128], 2, iterations=10)
    for sample in (one for samples in found.values() for one in samples):
        assert len(sample.seconds) == 10
        assert (min(sample.seconds), max(sample.seconds)) == (1.0, 100.0)


def test_a_plan_that_adds_twice_is_refused_by_the_processes_too():
    wrong = messages.ring(2) + messages.ring(2)
    with pytest.raises(workers.WorkerError, match="left a wrong sum"):
        carried.measure({"twice": wrong}, [64], 2, iterations=1)


def test_without_a_plan_nothing_is_started():
    with pytest.raises(ValueError, match=r"plans must name at least one plan, got \{\}"):
        carried.measure({}, [64], 2)
    with pytest.raises(ValueError, match="plans must name at least one plan, got"):
        carried.measure({"ring": "ring"}, [64], 2)
    with pytest.raises(ValueError, match="sizes must be a list of at least one number of bytes"):
        carried.measure({"ring": messages.ring(2)}, 64, 2)


def test_the_punctual_rank_waits_for_the_late_one():
    punctual, late = skew.measure(1024, 2, late=0.05, iterations=5)
    # Its sleep cannot be shorter than asked for, however busy the machine is.
    assert max(punctual.seconds) > 0.04
    assert punctual.given["workers"] == late.given["workers"] == 2


def test_steps_in_buckets_hold_one_sample_for_each_count():
    found = buckets.measure((1, 2), layers=2, width=16, batch=4, iterations=3)
    assert sorted(found.step) == sorted(found.bucket) == [1, 2]
    assert {len(s.seconds) for s in (found.compute, *found.step.values())} == {3}
    assert 0 < found.backward <= max(found.compute.seconds)


def test_emulated_steps_say_so():
    found = buckets.measure((1,), layers=2, width=16, batch=4, iterations=2, emulated=True)
    assert "emulated" in found.step[1].stamp.text


def test_buckets_must_divide_the_layers():
    with pytest.raises(ValueError, match="buckets must divide the 16 layers evenly, got 3"):
        buckets.measure((3,))


def test_every_gradient_of_a_step_is_exchanged_once(monkeypatch):
    """Whatever the number of buckets: the parts that are sent make up the whole gradient."""
    torch = pytest.importorskip("torch")
    from torch import distributed

    work, sent = buckets._Work(4, 8, 2), []
    monkeypatch.setattr(distributed, "get_world_size", lambda: 1)
    monkeypatch.setattr(
        distributed, "all_reduce", lambda part, async_op: sent.append(part.clone()) or _Done()
    )
    for count in (1, 2, 4):
        sent.clear()
        work.forward()
        work.begin(count)
        work.backward()
        whole = work.flat.clone()
        assert len(sent) == count
        assert torch.equal(torch.cat(sent), whole)
        assert np.all(whole.abs().numpy().reshape(4, -1).sum(1) > 0)
        work.finish()


class _Done:
    def wait(self):
        pass
