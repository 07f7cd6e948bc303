"""Where numbers are found again: against a cache that is carried out number by number."""

import itertools
from collections import OrderedDict

import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import kernels, reuse
from scalelab.models.kernels.reuse import Walk
from scalelab.refusal import Refusal

TWO = Walk(("a", "b"), "t"), Walk(("t", "c"), "d")
APART, TOGETHER = [TWO[:1], TWO[1:]], [TWO]


def misses(groups, vector, piece, room):
    """{(walk, name): reads not found in a cache of so many numbers that forgets the oldest}."""
    cache, missed = OrderedDict(), {}
    for number, group in enumerate(groups):
        for start in range(0, vector, piece):
            for turn, walk in enumerate(group):
                for at, name in itertools.product(
                    range(start, start + piece), (*walk.reads, walk.writes)
                ):
                    if (name, at) not in cache and name in walk.reads:
                        missed[number, turn, name] = missed.get((number, turn, name), 0) + 1
                    cache[name, at] = None
                    cache.move_to_end((name, at))
                    if len(cache) > room:
                        cache.popitem(last=False)
    return missed


@given(st.sampled_from([1, 2, 4, 8]), st.integers(1, 100))
def test_what_is_said_to_be_in_a_cache_is_never_missed_there(piece, room):
    vector = 16
    for groups in (APART, TOGETHER):
        missed = misses(groups, vector, piece, room)
        said = reuse.found(groups, vector, piece, {"cache": room})
        for number, group in enumerate(groups):
            for turn, walk in enumerate(group):
                for name in walk.reads:
                    if said[number][turn][name] == "cache":
                        assert (number, turn, name) not in missed


def test_a_temporary_goes_down_as_far_as_its_reader_finds_it():
    caches = {"L1d": 48e3, "L2": 1e6, "L3": 32e6}
    for piece, level in ((8e3, "L1d"), (64e3, "L2"), (6e6, "L3"), (64e6, "DRAM")):
        ((first, second),) = reuse.found(TOGETHER, 64e6, piece, caches)
        assert first == {"a": "DRAM", "b": "DRAM", "t": level}
        assert second == {"t": level, "c": "DRAM", "d": "DRAM"}
    assert reuse.found(APART, 64e6, 64e3, caches)[1][0]["t"] == "DRAM"


def test_number_by_number_reads_all_and_writes_one():
    one = kernels.elementwise(10, 4, operands=3, each=2)
    assert (one.flops, one.bytes) == (20, 4 * 10 * 4)


@pytest.mark.parametrize("groups", [None, [1], [[1]], [["ab"]]])
def test_what_is_no_walk_is_refused(groups):
    with pytest.raises(Refusal, match="must"):
        reuse.found(groups, 8, 8, {})
    with pytest.raises(Refusal, match="must"):
        Walk("ab", "c")
