"""Buckets under a backward pass, held against one clock that ticks here in steps of five microseconds."""

import pytest

from scalelab import units
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.network import bucketed

SIZE, BACKWARD, WORKERS, UNTIL = 100e6, 0.030, 8, 0.060
SLOW = Network(alpha=30e-6, beta=1 / 10e9)
COUNTS = (1, 4, 20, 100)


def drawn(count):
    return bucketed(f"{100 / count:g} MB", SIZE, count, BACKWARD, WORKERS, SLOW, until=UNTIL)


SHOWN = {"buckets": lambda: Stepper(*map(drawn, COUNTS), choose="bucket of")}
each = pytest.mark.parametrize("count", COUNTS)


def clocked(count):
    """When each bucket begins and has arrived, in units of 5 µs, which divide all times of these four."""
    tick = 5
    takes = 2 * 7 * 30 + 2 * 7 / 8 * SIZE / count / 10e9 * 1e6  # µs: 14 rounds, 7/8 of it twice
    assert takes % tick == pytest.approx(0, abs=1e-6)
    left, begun, there, now = 0, [], [], 0
    while len(there) < count:
        if left == 0 and len(begun) < count and now * count >= (len(begun) + 1) * BACKWARD * 1e6:
            begun.append(now)
            left = round(takes / tick)
        now += tick
        if left:
            left -= 1
            if left == 0:
                there.append(now)
    return begun, there


def moments(count):
    """The times of the frames in µs: every five milliseconds, and the end."""
    end = clocked(count)[1][-1]
    return [
        *range(0, 30001, 5000),
        *[now for now in range(35000, 60000, 5000) if now < end - 1000],
        end,
    ]


@each
def test_the_facts_are_those_of_a_clock(count):
    begun, there = clocked(count)
    frames = drawn(count).frames
    for now, frame in zip(moments(count), frames, strict=True):
        full = min(int(now * count / 30000 + 1e-9), count)
        done = sum(one <= now for one in there)
        waiting = full - sum(one <= now for one in begun)
        assert frame.facts["Buckets"] == f"{full} full, {done} exchanged, {waiting} in line"
        waits = max(now - 30000, 0) / 1e3
        said = frame.facts["The step waits"]
        assert (
            units.parse(said, "s") == pytest.approx(waits / 1e3, rel=5e-3)
            if waits
            else said == "not yet"
        )
    assert drawn(count).title.endswith(f"{said} exposed")


@each
def test_blocks_lie_where_the_clock_says_and_change_colour_at_the_end_of_the_pass(count):
    begun, there = clocked(count)
    left, right = 8, 352

    def at(micros):
        return left + (right - left) * micros / 60000

    for now, frame in zip(moments(count), drawn(count).frames, strict=True):
        blocks = {one.key: one for one in frame.shapes if one.kind == "block"}
        for which, (start, stop) in enumerate(zip(begun, there, strict=True), 1):
            spans = {
                "hidden": (start, min(stop, now, 30000)),
                "exposed": (max(start, 30000), min(stop, now)),
            }
            for name, (one, two) in spans.items():
                block = blocks.get(f"bucket {which} of {count}, {name}")
                assert (block is not None) == (two > one)
                if block:
                    assert block.x - block.width / 2 == pytest.approx(at(one), abs=1e-3)
                    assert block.x + block.width / 2 == pytest.approx(at(two), abs=1e-3)
                    assert block.tone == (1 if name == "hidden" else 2)
        waits = blocks.get("waits")
        assert (waits is not None) == (now > 30000)
        if waits:
            assert waits.x + waits.width / 2 == pytest.approx(at(now), abs=1e-3)
        made = sum(one.width for key, one in blocks.items() if key.startswith("made"))
        assert made == pytest.approx(at(min(now, 30000)) - left, abs=1e-3)


@each
def test_exposed_is_what_the_formula_of_equal_buckets_says(count):
    c = 2 * 7 * 30e-6 + 2 * 7 / 8 * SIZE / count / 10e9
    formula = max(c, count * c - (1 - 1 / count) * BACKWARD)
    assert clocked(count)[1][-1] == pytest.approx(1e6 * (BACKWARD + formula), abs=0.01)


@each
def test_a_layer_that_is_at_work_has_not_made_its_gradients(count):
    for now, frame in zip(moments(count), drawn(count).frames, strict=True):
        if "No bucket" in frame.caption:
            done = [layer for layer in range(1, 21) if 30000 * layer <= 20 * now]
            assert frame.caption.startswith(f"{len(done) or 'no'} layer"), now


def test_an_axis_that_ends_too_soon_and_junk_are_refused():
    with pytest.raises(Refusal, match="until must be at least"):
        bucketed("all", SIZE, 1, BACKWARD, WORKERS, SLOW, until=0.04)
    with pytest.raises(Refusal, match="size must be"):
        bucketed("all", -1, 1, BACKWARD, WORKERS, SLOW)
    with pytest.raises(Refusal, match="count must be"):
        bucketed("all", SIZE, 0, BACKWARD, WORKERS, SLOW)
