"""One worker, the same batch and each its batch, timed by turns in one group of ranks."""

import pytest

from scalelab.measure.ranks import jobs, workers
from scalelab.refusal import Refusal
from tests.measure import worker_jobs
from tests.notebooks import ROOT

NAMES = ["one worker", "same batch", "each its batch"]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The processes must find `tests` however pytest was started."""
    monkeypatch.syspath_prepend(str(ROOT))


def test_each_run_is_timed_once_a_turn_and_the_first_turn_warms_up():
    taken = jobs.samples(jobs.epoch_under_both_lenses, 2, steps=2, batch=8, width=8, repetitions=3)
    assert list(taken) == NAMES
    assert [len(sample.seconds) for sample in taken.values()] == [3, 3, 3]


def test_the_share_of_a_worker_halves_or_stays_and_one_worker_is_the_first():
    """Samples that pass through the network on each rank in one turn of two steps."""
    told = workers.launch(worker_jobs.seen_under_both_lenses, 2, steps=2, batch=8, width=8)
    assert told[0] == {"one worker": [8, 8], "same batch": [4, 4], "each its batch": [8, 8]}
    assert told[1] == {"one worker": [], "same batch": [4, 4], "each its batch": [8, 8]}


def test_a_batch_that_does_not_divide_is_refused():
    with pytest.raises((Refusal, workers.WorkerError), match="multiple of the 2 workers"):
        jobs.samples(jobs.epoch_under_both_lenses, 2, batch=7)
