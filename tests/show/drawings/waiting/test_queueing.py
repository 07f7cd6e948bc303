"""The drawing of a queue, each frame held against a clock that is carried out here, and Little's law."""

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.waiting import queue

MS = 1e-3
CLOCK = [12.5 * at for at in range(8)]
BUNCHES = [2, 4, 7, 10, 45, 48, 52, 88]
ALIKE, ONE_LONG = [10] * 8, [5, 5, 38, 5, 6, 5, 9, 7]
EVERY_FIVE = [5 * at for at in range(10)]
MIXED = [30, 6, 4, 8, 10, 10, 2, 20, 6, 4]
CASES = {
    "in bunches": (BUNCHES, ALIKE, 1, 1),
    "in bunches, one long": (BUNCHES, ONE_LONG, 1, 1),
    "by the clock": (CLOCK, ALIKE, 1, 1),
    "a queue each": (EVERY_FIVE, MIXED, 1, 3),
    "one queue for all": (EVERY_FIVE, MIXED, 3, 1),
    "two and two": (EVERY_FIVE, MIXED, 2, 2),
}
cases = pytest.mark.parametrize("name", CASES)


def drawn(name, horizon=None):
    arrivals, service, servers, pools = CASES[name]
    in_seconds = [[MS * one for one in column] for column in (arrivals, service)]
    return queue(name, *in_seconds, servers, pools, horizon)


SHOWN = {
    "a queue": lambda: Stepper(
        *[drawn(name, 0.100) for name in list(CASES)[:3]], choose="arrivals"
    ),
    "queues for several servers": lambda: Stepper(
        *[drawn(name) for name in list(CASES)[3:5]], choose="queues"
    ),
}


def carried_out(name):
    """When each begins and ends, in ms: whoever is first in a line takes the server that is free first."""
    arrivals, service, servers, pools = CASES[name]
    free = [[0.0] * servers for _ in range(pools)]
    begun = []
    for at, (arrival, took) in enumerate(zip(arrivals, service, strict=True)):
        seats = free[at % pools]
        first = min(range(servers), key=lambda one: seats[one])
        begun.append(max(arrival, seats[first]))
        seats[first] = begun[-1] + took
    return arrivals, begun, [b + s for b, s in zip(begun, service, strict=True)]


def circles(frame):
    return {int(s.text): s for s in frame.shapes if s.kind == "circle"}


@cases
def test_everybody_is_in_line_at_a_server_or_answered_as_the_clock_says(name):
    came, begun, left = carried_out(name)
    _, _, servers, pools = CASES[name]
    drawing = drawn(name)
    moments = sorted({*came, *left})
    assert len(drawing.frames) == len(moments) + 1 <= 20
    for frame, now in zip(drawing.frames[1:], moments, strict=True):
        there = circles(frame)
        assert sorted(there) == [at + 1 for at, one in enumerate(came) if one <= now]
        boxes = [s for s in frame.shapes if s.kind == "box"]
        assert len(boxes) == servers * pools
        for at, one in there.items():
            waits, done = now < begun[at - 1], now >= left[at - 1]
            seats = [box for box in boxes if abs(box.y - one.y) < 9 and abs(box.x - one.x) < 25]
            assert len(seats) == (not waits and not done)
            where = "waits" if waits else "answered" if done else "is served"
            assert one.tone == drawing.tones[where]
            if waits:
                assert one.x < boxes[0].x - boxes[0].width / 2
        places = [(one.x, one.y) for one in there.values()]
        assert len(set(places)) == len(places)


@cases
def test_who_came_first_stands_first_in_its_line(name):
    came, begun, left = carried_out(name)
    pools = CASES[name][3]
    for frame, now in zip(drawn(name).frames[1:], sorted({*came, *left}), strict=True):
        for pool in range(pools):
            line = [
                at + 1
                for at in range(len(came))
                if at % pools == pool and came[at] <= now < begun[at]
            ]
            places = [circles(frame)[one].x for one in line]
            assert places == sorted(places, reverse=True)
            assert len({circles(frame)[one].y for one in line}) <= 1


@cases
def test_each_row_is_as_long_as_the_stay_so_far_and_begins_where_it_came(name):
    came, begun, left = carried_out(name)
    drawing, horizon = drawn(name), max(left)
    axis = next(s for s in drawing.frames[0].shapes if s.key == "axis")
    each = axis.width / horizon
    for frame, now in zip(drawing.frames[1:], sorted({*came, *left}), strict=True):
        blocks = {s.key: s for s in frame.shapes if s.kind == "block"}
        for at in range(len(came)):
            for what, begin, end in (("wait", came, begun), ("work", begun, left)):
                length = min(end[at], now) - begin[at]
                if length <= 0:
                    assert f"{what} {at + 1}" not in blocks
                    continue
                block = blocks[f"{what} {at + 1}"]
                assert block.width == pytest.approx(each * length)
                start = axis.x + each * begin[at]
                assert block.x - block.width / 2 == pytest.approx(start)
        clock = next(s for s in frame.shapes if s.key == "clock")
        assert clock.x == pytest.approx(axis.x + each * now)


@cases
def test_the_facts_are_littles_law(name):
    """The lengths of the rows over the clock are how many were inside on average, second by second."""
    came, begun, left = carried_out(name)
    for frame, now in zip(drawn(name).frames[1:], sorted({*came, *left}), strict=True):
        inside = [a <= now < b for a, b in zip(came, left, strict=True)]
        waiting = [a <= now < b for a, b in zip(came, begun, strict=True)]
        told = f"{sum(inside)}, {sum(waiting)} of them waiting" if any(inside) else "nobody"
        assert frame.facts["Inside now"] == told
        if now:
            ticks = [(at + 0.5) / 2 for at in range(int(2 * now))]
            counted = sum(sum(a <= t < b for a, b in zip(came, left, strict=True)) for t in ticks)
            told = frame.facts["Length of all rows, over the clock"]
            assert float(told.split()[-4]) == pytest.approx(counted / len(ticks), abs=0.006)
            assert told.startswith(f"{counted / 2:g} ms in {now:g} ms")
    waits = [b - a for a, b in zip(came, begun, strict=True)]
    assert (
        frame.facts["Mean wait of those who began"] == f"{round(sum(waits) / len(waits), 1):g} ms"
    )
    stay = sum(left) - sum(came)
    assert f"{round(stay / len(came), 1):g} ms each" in frame.caption
    assert f"are {stay / max(left):.2f} inside on average" in frame.caption


def test_the_same_work_waits_for_its_arrivals_and_for_long_services():
    waits = [
        drawn(name).frames[-1].facts["Mean wait of those who began"] for name in list(CASES)[:3]
    ]
    assert waits == ["8.1 ms", "10.6 ms", "0 ms"]


def test_captions_say_who_waits_and_what_for():
    own, shared = (drawn(name) for name in list(CASES)[3:5])
    assert "Request 4 comes and waits for its own server, although 2 servers are free." in {
        frame.caption for frame in own.frames
    }
    assert not any("although" in frame.caption for frame in shared.frames)
    assert drawn("in bunches").frames[4].caption == "Request 4 comes and waits: 2 stand before it."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0.0] * 13, [1.0] * 13), "arrivals must be at most 12"),
        (([0.0], [1.0], 5), "servers must be at most 4"),
        (([0.0], [0.0]), "service must take some time"),
        (([0.0], [1.0], 1, 1, 0.5), "horizon must be"),
        (([0.0], [1.0], 1, 1, "long"), "horizon must be"),
        (([2.0, 1.0], [1.0, 1.0]), "arrivals must be in order"),
        ((None, [1.0]), "arrivals must"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        queue("a queue", *given)
