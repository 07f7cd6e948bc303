"""What lasts and what does not, on devices that slow down as they are told."""

import pytest

from scalelab.measure.probe import sustained


class Device:
    """A call that takes seconds(now), on its own clock."""

    def __init__(self, seconds):
        self.seconds, self.now = seconds, 0.0

    def reading(self):
        spent = self.seconds(self.now)
        self.now += spent
        return spent

    def heat(self, least=0.0, window=1.0, most=30.0):
        return sustained.heat(self.reading, least, window, most, clock=lambda: self.now)


def test_a_steady_device_needs_two_windows():
    heat = Device(lambda now: 0.1).heat()
    assert heat.steady
    assert heat.burst == 0.1
    assert heat.seconds == pytest.approx(2, abs=0.3)


def test_heating_lasts_until_a_burst_is_over():
    """Three seconds at the boost clock, then slower: windows alike within them must not end it."""
    device = Device(lambda now: 0.10 if now < 3 else 0.15)
    heat = device.heat(least=4.0)
    assert heat.steady
    assert heat.burst == 0.10
    assert device.reading() == 0.15
    assert heat.seconds < 7


def test_a_burst_longer_than_the_heating_is_not_seen():
    """Nothing can see it but more time: that is what `least` is for."""
    assert Device(lambda now: 0.10 if now < 3 else 0.15).heat(least=0.0).seconds < 3


def test_a_slow_decline_is_followed_to_its_end():
    """Two per cent a second for ten seconds, then flat."""
    device = Device(lambda now: 0.1 * (1 + 0.02 * min(now, 10)))
    assert device.heat().steady
    assert device.now > 10


def test_a_device_that_never_settles_ends_at_the_limit_and_is_told():
    heat = Device(lambda now: 0.1 * (1 + 0.05 * now)).heat(most=20.0)
    assert not heat.steady
    assert 20 <= heat.seconds < 24


def test_one_per_cent_between_windows_is_noise():
    """Readings that alternate by a percent never look like a decline."""
    calls = iter(range(10**6))
    heat = Device(lambda now: 0.1 * (1 + 0.01 * (next(calls) % 2))).heat()
    assert heat.steady
    assert heat.seconds < 3


def test_warming_up_in_the_other_direction_ends_too():
    """Slow at first, as with memory that is touched for the first time."""
    heat = Device(lambda now: 0.2 if now < 0.5 else 0.1).heat()
    assert heat.steady
    assert heat.burst == 0.1


def test_a_call_longer_than_a_window_is_a_window_of_its_own():
    heat = Device(lambda now: 5.0).heat()
    assert heat == (5.0, True, 10.0)


@pytest.mark.parametrize(("count", "sizes"), [(1, [1024]), (2, [1024, 512]), (9, [1024, 512, 256])])
def test_the_fastest_sizes_are_run_to_the_end(count, sizes):
    assert sustained.finalists({256: 90.0, 512: 110.0, 1024: 120.0}, count) == sizes


def test_a_size_is_affordable_by_the_rate_of_the_last_one():
    """At 1e9 a second, the 2e9 operations of a 1000 x 1000 product take two seconds."""
    assert not sustained.affordable(1000, {256: 5e9, 512: 1e9}, longest=1.9)
    assert sustained.affordable(1000, {256: 5e9, 512: 1e9}, longest=2.0)


def test_the_first_size_is_always_tried():
    assert sustained.affordable(10**6, {}, longest=1e-9)
