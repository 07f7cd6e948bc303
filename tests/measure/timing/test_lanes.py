"""Jobs that wait for one another, on real threads; nothing here looks at how long they take."""

import itertools
import threading

import pytest

from scalelab.measure.timing import lanes

DIAMOND = {"left": ["top"], "right": ["top"], "bottom": ["left", "right"]}
NOTHING = dict.fromkeys(("bottom", "left", "right", "top"), list)


class Ticks:
    """A clock of which no two readings are the same, whichever threads read it."""

    def __init__(self):
        self.numbers, self.lock = itertools.count(), threading.Lock()

    def __call__(self):
        with self.lock:
            return float(next(self.numbers))


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_no_job_begins_before_all_it_needs_has_ended_and_no_worker_does_two_at_once(workers):
    ran = {one.node: one for one in lanes.in_lanes(NOTHING, DIAMOND, workers, clock=Ticks())}
    assert ran.keys() == NOTHING.keys()
    for node, needed in DIAMOND.items():
        assert all(ran[before].finish < ran[node].start for before in needed)
    for worker in range(workers):
        mine = sorted(one[2:] for one in ran.values() if one.worker == worker)
        assert all(first[1] < then[0] for first, then in itertools.pairwise(mine))
    assert all(0 < one.start < one.finish for one in ran.values())


def test_jobs_that_are_ready_run_at_the_same_time():
    """Each of two waits until the other has begun, and neither ends if they take turns."""
    meeting = threading.Barrier(2, timeout=60)
    jobs = NOTHING | {"left": meeting.wait, "right": meeting.wait}
    ran = {one.node: one.worker for one in lanes.in_lanes(jobs, DIAMOND, 2)}
    assert {ran["left"], ran["right"]} == {0, 1}


def test_what_has_been_ready_for_longest_goes_first():
    """One worker: a and b are ready at once, c only after a."""
    jobs = {"a": list, "b": list, "c": list}
    assert [one.node for one in lanes.in_lanes(jobs, {"c": ["a"]}, 1)] == ["a", "b", "c"]


def test_a_job_that_fails_ends_them_all_and_says_why():
    done = []

    def fails():
        raise ArithmeticError("no such product")

    jobs = NOTHING | {"left": fails, "bottom": lambda: done.append("bottom")}
    with pytest.raises(ArithmeticError, match="no such product"):
        lanes.in_lanes(jobs, DIAMOND, 3)
    assert not done


@pytest.mark.parametrize(
    ("needs", "workers", "message"),
    [
        ({"top": ["bottom"], **DIAMOND}, 2, "needs must not go in a circle"),
        ({"cellar": ["top"]}, 2, "needs must name jobs, got 'cellar'"),
        ({"top": ["roof"]}, 2, "needs must name jobs, got 'roof'"),
        (DIAMOND, 0, "workers must be a whole number"),
    ],
)
def test_what_cannot_be_run_is_refused(needs, workers, message):
    with pytest.raises(ValueError, match=message):
        lanes.in_lanes(NOTHING, needs, workers)
