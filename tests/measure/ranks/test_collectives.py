"""Collectives on real processes: what arrives is right, and the slowest rank sets the time."""

import pytest

from scalelab.measure.messages import collectives
from scalelab.measure.ranks import workers
from scalelab.models.network.algorithms import ALGORITHMS
from tests.measure import worker_jobs
from tests.notebooks import ROOT
from tests.sampling import sampled

pytestmark = pytest.mark.turns(2)

SIZES = (4, 1000, 2**20)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The processes must find `tests` however pytest was started."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize(
    ("collective", "count"),
    sampled(
        [pytest.param(c, k) for c in collectives.GLOO for k in (1, 2, 4) if (c, k) != ("send", 1)],
        4,
    ),
)
def test_every_size_is_measured_and_its_numbers_arrive(collective, count):
    """The ranks look at what arrived; the test after the next shows that they do."""
    samples = collectives.measure(collective, SIZES, count, iterations=3)
    assert [s.given["workers"] for s in samples] == [count] * 3
    for sample, size in zip(samples, SIZES, strict=True):
        assert len(sample.seconds) == 3
        assert size <= sample.given["bytes"] < size + 4 * count
        assert sample.given["bytes"] % 4 == 0
        assert ("spread" in sample.given) == ("algorithm" in sample.given) == (count > 1)


def test_the_slowest_rank_sets_the_time_and_the_arrivals_are_told(monkeypatch):
    """On clocks of their own: rank r takes r + 1 seconds for each call, so four ranks take 4."""
    monkeypatch.setattr(collectives, "timed", worker_jobs.ticking)
    (sample,) = collectives.measure("all-reduce", [64], 4, iterations=3)
    assert sample.seconds == (4.0, 4.0, 4.0)
    # The looks at the clock before are 6, 8 and 10: three calls warm up, and each takes two looks.
    assert sample.given["spread"] == 3 * 8
    assert any("The ranks began 24 s apart, 600% of the time" in a.text for a in sample.advice)


def test_half_of_a_round_trip_is_the_time_of_a_send(monkeypatch):
    monkeypatch.setattr(collectives, "timed", worker_jobs.ticking)
    (sample,) = collectives.measure("send", [64], 2, iterations=2)
    assert sample.seconds == (1.0, 1.0)
    # What was timed is the way there and back: the ranks began 6 s apart in 2 s of it, not in 1.
    late = f"{sample.given['spread'] / 2:.0%}"
    assert any(late in a.text for a in sample.advice if a.name == "late start")


def test_sizes_take_turns_so_that_a_disturbance_does_not_meet_all_calls_of_one(monkeypatch):
    """One after the other, 13 calls that another program slowed were all of the shortest message."""
    monkeypatch.setattr(collectives, "timed", worker_jobs.disturbed)
    samples = collectives.measure("all-reduce", [64, 128], 2, iterations=10)
    assert [len(sample.seconds) for sample in samples] == [10, 10]
    assert [max(sample.seconds) for sample in samples] == [100.0, 100.0]
    assert [min(sample.seconds) for sample in samples] == [1.0, 1.0]


@pytest.mark.parametrize("collective", sampled(collectives.GLOO, 2))
def test_numbers_that_do_not_arrive_are_noticed(collective, monkeypatch):
    monkeypatch.setattr(collectives, "timed", worker_jobs.forgetful)
    with pytest.raises(workers.WorkerError, match="arrived with wrong numbers"):
        collectives.measure(collective, [64], 2, iterations=1)


def test_the_spread_is_from_the_first_to_the_last_arrival():
    assert collectives._spread([[0, 10], [3, 10], [1, 12]]) == (3, 2)


def ranks(*hosts):
    """What ranks on these hosts would have returned for one message."""
    return [{"bytes": 64, "host": host, "begun": [0.0], "seconds": [1.0]} for host in hosts]


def test_ranks_on_several_hosts_have_no_common_clock(monkeypatch):
    """A spread that nobody can know is absent, not zero."""
    monkeypatch.setattr(workers, "launch", lambda *a, **b: [[r] for r in ranks("a", "b")])
    (apart,) = collectives.measure("all-reduce", [64], 2)
    monkeypatch.setattr(workers, "launch", lambda *a, **b: [[r] for r in ranks("a", "a")])
    (together,) = collectives.measure("all-reduce", [64], 2)
    assert "spread" not in apart.given
    assert together.given["spread"] == 0


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "broadcast"])
def test_what_gloo_does_has_a_price_in_the_models(collective):
    """The names are the same on both sides, so that a fit knows which formula to take."""
    assert collectives.GLOO[collective] in ALGORITHMS[collective]


def test_a_message_under_nccl_names_no_algorithm_of_gloo(monkeypatch):
    monkeypatch.setattr(workers, "launch", lambda *a, **b: [[r] for r in ranks("a", "a")])
    (sample,) = collectives.measure("all-reduce", [64], 2, device="cuda")
    assert sample.given["backend"] == "nccl"
    assert "algorithm" not in sample.given


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("gossip", [64], 2), "collective must be one of all-reduce, .*, got 'gossip'"),
        ((None, [64], 2), "collective must be one of"),
        (("all-reduce", [], 2), "sizes must be a list of at least one"),
        (("all-reduce", [0], 2), "sizes must be a whole number from 1"),
        (("all-reduce", [2.5], 2), "sizes must be a whole number"),
        (("all-reduce", 64, 2), "sizes must be a list"),
        (("all-reduce", [64], 0), "workers must be a whole number from 1"),
        (("send", [64], 1), "count must be a whole number from 2"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_sentence(arguments, expected):
    with pytest.raises(ValueError, match=expected) as error:
        collectives.measure(*arguments)
    assert " must " in str(error.value)
    assert ", got " in str(error.value)


@pytest.mark.gpu
@pytest.mark.parametrize("collective", [name for name in collectives.GLOO if name != "send"])
def test_nccl_moves_the_same_numbers(collective):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA here")
    for count in {1, torch.cuda.device_count()}:
        (sample,) = collectives.measure(collective, [2**20], count, iterations=3, device="cuda")
        assert sample.given["backend"] == "nccl"
