"""The drawing of a · b + c in a machine's memory, held against bytes that are counted by hand."""

import pytest

from scalelab import data
from scalelab.measure import probe
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.machines import carried

RECORD = data.recorded("probe")
STAMP = RECORD.samples[0].stamp
WIDTHS, CACHES = probe.bandwidths(RECORD), STAMP.machine.caches


def drawn(caches=CACHES):
    return {one.name: one for one in carried(WIDTHS, caches, STAMP)}


SHOWN = {"a b + c in memory": lambda: Stepper(*drawn().values(), choose="way")}
VECTOR, FLOPS = 64, 32  # MB of 16 million numbers, and MFLOP of a product and a sum of each
# Vectors to and from memory, and to and from a cache.
MOVED = {"two operations": (6, 0), "in pieces": (4, 2), "fused": (4, 0)}
ways = pytest.mark.parametrize("way", MOVED)


@ways
def test_all_that_is_read_and_written_is_counted_once(way):
    memory, cache = MOVED[way]
    last = drawn()[way].frames[-1]
    assert last.facts == {
        "Moves in this step": "the other 999 pieces, in the same way",
        "Counted so far": "all 1,000 pieces",
        "To and from memory": f"{VECTOR * memory} MB",
        "To and from a cache": f"{VECTOR * cache} MB" if cache else "0 B",
        "Computed": f"{FLOPS} MFLOP",
        "FLOP per byte of memory": f"{FLOPS / VECTOR / memory:.3g}",
    }
    takes = VECTOR * memory * 1e6 / WIDTHS["DRAM"] * 1e3
    assert f" takes {takes:.3g} ms there" in last.caption


@ways
def test_an_arrow_leads_from_where_a_piece_lies_to_the_arithmetic_or_back(way):
    floors = {
        s.key.removeprefix("floor "): s.y
        for s in drawn()[way].frames[0].shapes
        if s.key[:5] == "floor"
    }
    assert list(floors.values()) == sorted(floors.values())
    moved = []
    for frame in drawn()[way].frames:
        for s in frame.shapes:
            if s.kind == "arrow":
                name, what, _, level = s.key.split()
                ends = (floors[level], floors[""]) if what == "up" else (floors[""], floors[level])
                assert (s.y, s.y + s.height) == pytest.approx(ends)
                moved.append((name, what, level))
                word = "from" if what == "up" else "down to"
                assert f"{name} {word} {level}" in frame.facts["Moves in this step"]
    t = {"two operations": "DRAM", "in pieces": "L2"}.get(way)
    expected = [("a", "up", "DRAM"), ("b", "up", "DRAM")]
    expected += [("t", "down", t), ("t", "up", t)] if t else []
    assert moved == [*expected, ("c", "up", "DRAM"), ("d", "down", "DRAM")]


@ways
def test_it_is_said_of_how_many_pieces_the_bytes_are(way):
    """The title has the bytes of all of them, and a step those of one, a thousandth."""
    for frame in drawn()[way].frames:
        piece = "kB" in frame.facts["To and from memory"]
        assert piece == (frame.facts["Counted so far"] == "piece 1 of 1,000")


@ways
def test_a_way_is_as_wide_as_its_bandwidth(way):
    weights = {
        s.key.removeprefix("way from "): s.weight
        for s in drawn()[way].frames[0].shapes
        if s.key[:3] == "way"
    }
    for level, rate in WIDTHS.items():
        assert weights[level] / weights["L1d"] == pytest.approx(rate / WIDTHS["L1d"])


def test_the_name_of_a_floor_ends_beside_it_and_what_moves_is_shown_beside_it():
    shapes = {s.key: s for s in drawn()["fused"].frames[1].shapes}
    for level in ("", *WIDTHS):
        name, floor = shapes[f"name of {level}"], shapes[f"floor {level}"]
        assert (name.align, name.y) == ("end", floor.y)
        assert 0 < floor.x - floor.width / 2 - name.x < 10
    arrow = min(s.x for s in shapes.values() if s.kind == "arrow")
    assert 0 < arrow - (floor.x + floor.width / 2) < 20


def test_only_what_fits_a_cache_stays_in_it():
    def kept(way, caches):
        shapes = drawn(caches)[way].frames[-2].shapes
        return {s.key for s in shapes if " in L" in s.key}

    assert kept("two operations", CACHES) == kept("fused", CACHES) == set()
    # Five pieces of 64 kB pass between two uses: 320 kB.
    assert kept("in pieces", CACHES) == {
        f"{one} in {level}" for one in "abct" for level in ("L2", "L3")
    }
    assert kept("in pieces", CACHES | {"L2": 319e3}) == {f"{one} in L3" for one in "abct"}
    last = drawn(CACHES | {"L2": 319e3, "L3": 319e3})["in pieces"].frames[-1]
    assert last.facts["To and from memory"] == "384 MB"


def test_in_a_register_a_number_goes_nowhere():
    frames = drawn()["fused"].frames
    assert "in a register" in frames[2].caption
    assert not [
        s for frame in frames for s in frame.shapes if s.kind == "arrow" and s.key[0] == "t"
    ]


@pytest.mark.parametrize(
    ("bandwidths", "caches"),
    [(None, {}), ({"DRAM": 1e9}, {}), ({"L2": 1e9, "DRAM": 1e9}, {}), ({"L2": -1, "DRAM": 1}, {"L2": 1e6}),
     ({"L2": 1e9, "HBM": 1e9}, {"L2": 1e6})],
)  # fmt: skip
def test_what_is_no_ladder_is_refused(bandwidths, caches):
    with pytest.raises(Refusal, match="must"):
        carried(bandwidths, caches, STAMP)


def test_a_cache_that_holds_a_whole_vector_is_not_said_to_hold_a_piece():
    """Nor do a, b and c lie in memory because no cache could hold them."""
    frames = drawn(CACHES | {"L3": 384 * 2**20})["two operations"].frames
    assert "nothing of them in a cache" in frames[0].caption
    down = next(one.caption for one in frames if one.facts["Moves in this step"] == "t down to L3")
    assert "L3 holds it" in down
    assert "at once" not in down
    piece = next(
        one.caption
        for one in drawn()["in pieces"].frames
        if "t down to L2" in one.facts["Moves in this step"]
    )
    assert "at once" in piece
