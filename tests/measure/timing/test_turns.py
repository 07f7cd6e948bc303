"""Jobs by turns, with a clock that only they move."""

import pytest

from scalelab.measure.timing import turns


class Clock:
    """A clock that jobs move; it slows down for a while, as a machine does."""

    def __init__(self, slow=lambda now: 1.0):
        self.now, self.slow = 0.0, slow

    def __call__(self):
        return self.now

    def job(self, seconds):
        def run():
            self.now += seconds * self.slow(self.now)

        return run


def test_each_job_is_timed_once_a_turn():
    clock = Clock()
    samples = turns.by_turns({"a": clock.job(0.1), "b": clock.job(0.3)}, turns=7, clock=clock)
    assert [len(one.seconds) for one in samples.values()] == [7, 7]
    assert samples["b"].median == pytest.approx(0.3)


def test_a_machine_that_slows_down_does_not_change_a_ratio_by_turns():
    """Half of the time everything takes three times as long: one after the other would say 3 or 1/3."""
    clock = Clock(slow=lambda now: 3.0 if int(now / 10) % 2 else 1.0)
    samples = turns.by_turns({1: clock.job(0.1), 2: clock.job(0.05)}, turns=61, clock=clock)
    assert turns.turn_ratio(samples[1], samples[2]) == pytest.approx(2, rel=0.01)


def test_what_did_not_take_turns_has_no_ratio():
    clock = Clock()
    one = turns.by_turns({"a": clock.job(0.1)}, turns=3, clock=clock)["a"]
    other = turns.by_turns({"a": clock.job(0.1)}, turns=4, clock=clock)["a"]
    with pytest.raises(ValueError, match="first and second must have taken turns, got 3 and 4"):
        turns.turn_ratio(one, other)
    with pytest.raises(ValueError, match="jobs must hold at least one function"):
        turns.by_turns({})
