"""Which memory a working set lives in: by stated sizes, and by made-up bandwidths."""

import random

import pytest

from scalelab.measure.probe import levels
from scalelab.records import Machine

KIB, MIB = 2**10, 2**20
STATED = {"L1d": 96 * KIB, "L2": 2 * MIB, "L3": 32 * MIB}


def plateaus(*steps, noise=0.0, seed=0):
    """Return points whose sizes double, from (bandwidth, how many sizes) for each level."""
    rng, rates = random.Random(seed), [rate for rate, count in steps for _ in range(count)]
    return [(2**k, rate * (1 + noise * rng.uniform(-1, 1))) for k, rate in enumerate(rates)]


def test_private_caches_add_up_over_the_threads_and_shared_ones_do_not():
    machine = Machine(
        "m",
        8,
        caches={"L1d": 48, "L2": 1000, "L3": 9000},
        cache_counts={"L1d": 8, "L2": 8, "L3": 1},
    )
    assert levels.capacities(machine, 4) == {"L1d": 192, "L2": 4000, "L3": 9000}
    assert levels.capacities(machine, 1) == {"L1d": 48, "L2": 1000, "L3": 9000}


def test_threads_beyond_the_cores_bring_no_caches():
    machine = Machine("m", 2, caches={"L1d": 48}, cache_counts={"L1d": 2})
    assert levels.capacities(machine, 16) == {"L1d": 96}


def test_a_machine_that_does_not_count_its_caches_has_one_of_each():
    assert levels.capacities(Machine("m", 4, caches={"L2": 1000}), 4) == {"L2": 1000}


@pytest.mark.parametrize(
    ("size", "arrays", "level"),
    [
        (1 * KIB, 2, "L1d"),
        (72 * KIB, 2, "L1d"),  # three quarters of it
        (73 * KIB, 2, ""),
        (96 * KIB, 2, ""),
        (143 * KIB, 2, ""),
        (144 * KIB, 2, "L2"),  # half as much again
        (1536 * KIB, 3, "L2"),
        (2 * MIB, 3, ""),
        (4 * MIB, 3, "L3"),
        (24 * MIB, 3, "L3"),
        (64 * MIB, 2, ""),  # twice the last cache, and still half in it
        (255 * MIB, 2, ""),
        (256 * MIB, 2, "DRAM"),  # each array four times the last cache
        (256 * MIB, 3, ""),
        (384 * MIB, 3, "DRAM"),
    ],
)
def test_a_level_is_named_only_where_the_set_clearly_lives_in_it(size, arrays, level):
    assert levels.level(size, arrays, STATED, "DRAM") == level


def test_without_caches_everything_is_memory():
    assert levels.level(1, 2, {}, "HBM") == "HBM"


def test_two_caches_of_nearly_one_size_leave_no_room_for_the_larger():
    """A last-level cache hardly larger than what is above it: nothing clearly lives in it alone."""
    stated = {"L2": 1000, "L3": 1200}
    named = {levels.level(size, 2, stated, "DRAM") for size in range(1, 20000)}
    assert named == {"L2", "", "DRAM"}


@pytest.mark.parametrize("seed", range(20))
def test_plateaus_are_told_apart_through_noise(seed):
    """Ten per cent either way, and falls to a half or less, as between real levels."""
    points = plateaus((600, 4), (300, 4), (150, 4), (50, 3), noise=0.1, seed=seed)
    random.Random(seed).shuffle(points)
    assert levels.falls(points) == [(2**3, 2**4), (2**7, 2**8), (2**11, 2**12)]


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_is_no_boundary(seed):
    assert levels.falls(plateaus((100, 16), noise=0.12, seed=seed)) == []


def test_a_fall_over_several_sizes_is_one_boundary():
    points = [(1, 100), (2, 100), (4, 70), (8, 40), (16, 22), (32, 21)]
    assert levels.falls(points) == [(2, 16)]


def test_the_rise_of_sets_too_small_for_their_call_is_no_boundary():
    assert levels.falls([(1, 20), (2, 60), (4, 95), (8, 100), (16, 50), (32, 50)]) == [(8, 16)]


def test_a_slow_slope_is_a_boundary_once_it_has_lost_a_quarter():
    """Five per cent a step: never a step that falls, and yet half is gone in the end."""
    points = [(2**k, 100 * 0.95**k) for k in range(12)]
    assert levels.falls(points) == [(2**5, 2**6)]


def test_a_last_fall_without_a_floor_is_reported_as_far_as_it_was_seen():
    assert levels.falls([(1, 100), (2, 100), (4, 40)]) == [(2, 4)]
    assert levels.falls([]) == levels.falls([(1, 5)]) == []


def test_levels_without_names_are_numbered_between_the_falls():
    seen = [(4, 8), (32, 128)]
    named = [levels.between_falls(2**k, seen, "DRAM") for k in range(9)]
    assert named == [*["level 1"] * 3, *["level 2"] * 3, "", "DRAM", "DRAM"]


def test_without_a_fall_there_is_one_memory():
    assert levels.between_falls(1, [], "DRAM") == "DRAM"


def test_a_stated_size_that_no_fall_confirms_is_named():
    seen = [(64 * KIB, 128 * KIB), (16 * MIB, 128 * MIB)]
    assert levels.unseen(STATED, seen) == ["L2"]
    assert levels.unseen(STATED, [*seen, (1 * MIB, 4 * MIB)]) == []
    assert levels.unseen(STATED, []) == ["L1d", "L2", "L3"]
