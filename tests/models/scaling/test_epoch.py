"""An epoch laid out second by second, against a hand that moves each worker's clock in ticks."""

import itertools

import pytest

from scalelab.models.scaling import epoch, speedup
from scalelab.refusal import Refusal

PIECES = [(3, 4, 4, 5), (5, 4, 4, 3), (4, 3, 5, 4), (4, 5, 3, 4)]
COSTS = {"load": 2, "gradient": 2, "update": 2}


def ticked(workers, tick=0.5):
    """What each worker does in each tick: only an exchange needs all."""
    size = 4 // workers
    done = [[] for _ in range(workers)]
    for row in PIECES:
        own = [sum(row[who * size : (who + 1) * size]) for who in range(workers)]
        for who, lane in enumerate(done):
            lane += ["loading"] * round(2 / workers / tick) + ["computing"] * round(own[who] / tick)
        arrived = max(map(len, done))
        for lane in done:
            lane += ["waiting"] * (arrived - len(lane))
            # A ring: two times a K-th of the gradients to each of the others.
            lane += ["exchange"] * round(2 * (workers - 1) * (2 / workers) / tick)
            lane += ["update"] * round(2 / tick)
    return done


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_what_each_does_at_each_moment_is_what_a_hand_would_tick_off(workers):
    spans, lanes = epoch.spans(PIECES, workers, **COSTS), ticked(workers)
    for who, lane in enumerate(lanes):
        mine = [one for one in spans if one.worker == who]
        for at, part in enumerate(lane):
            now = 0.5 * at + 0.25
            assert [one.part for one in mine if one.start < now < one.end] == [part]
        assert max(one.end for one in mine) == 0.5 * len(lane)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_spans_of_a_worker_touch_and_all_end_together(workers):
    spans = epoch.spans(PIECES, workers, **COSTS)
    for who in range(workers):
        mine = [one for one in spans if one.worker == who]
        assert mine[0].start == 0
        assert all(one.end == two.start for one, two in itertools.pairwise(mine))
    assert len({max(s.end for s in spans if s.worker == who) for who in range(workers)}) == 1


def test_with_equal_pieces_and_no_exchange_the_update_is_the_serial_part():
    ends = [
        max(one.end for one in epoch.spans([[3] * 8] * 5, k, load=4, update=2))
        for k in (1, 2, 4, 8)
    ]
    assert ends == pytest.approx(speedup.fixed_job_seconds([1, 2, 4, 8], 2 / 30, 150).tolist())


@pytest.mark.parametrize(
    ("batches", "workers", "sentence"),
    [
        ([[1, 2, 3]], 2, "workers must share the 3 pieces .* evenly, got 2"),
        ([1, 2], 1, "batches must be rows"),
        ([[]], 1, "batches must be rows"),
        ([[1, -1]], 1, "batches must be in .*, got -1"),
        ([[1, 1]], 0, "workers must be a whole number"),
    ],
)
def test_what_cannot_be_shared_is_refused(batches, workers, sentence):
    with pytest.raises(Refusal, match=sentence):
        epoch.spans(batches, workers)
