"""The drawing of hedged requests, held against two servers that are carried out here, by the millisecond."""

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.waiting import hedge

COME = [0, 10, 20, 30, 40, 60, 80]
TAKES, AGAIN = [100, 10, 10, 10, 10, 10, 10], [10] * 7
FIRST = "ABABABA"  # what seed 21 chooses for each
MS = 1e-3
CASES = {
    "sent once": {},
    "losers cancelled": {"delay": 0.030},
    "none cancelled": {"delay": 0.030, "cancel": False},
}
cases = pytest.mark.parametrize("name", CASES)


def drawn(name):
    columns = ([MS * one for one in column] for column in (COME, TAKES, AGAIN))
    return hedge(name, *columns, seed=21, horizon=0.130, **CASES[name])


SHOWN = {"a hedge": lambda: Stepper(*[drawn(name) for name in CASES], choose="copies")}


def by_the_millisecond(name):
    """Of each millisecond: who stands at A and at B, the first served, and who has an answer by then."""
    delay, cancel = CASES[name].get("delay"), CASES[name].get("cancel", True)
    lines, answered, seen = {"A": [], "B": []}, {}, []
    for now in range(200):
        for line in lines.values():
            if line and line[0][2] == 0:
                answered.setdefault(line.pop(0)[0], now)
        for line in lines.values():
            # Whoever is at the head has begun, unless it is answered in this very moment.
            begun = line[:1] if line and line[0][3] else []
            line[:] = begun + [
                one for one in line[len(begun) :] if not (cancel and one[0] in answered)
            ]
        for at, due in enumerate(COME):
            if due == now:
                lines[FIRST[at]].append([at, False, TAKES[at], False])
        for at, due in enumerate(COME):
            if delay and due + 1e3 * delay == now and at not in answered:
                lines["BA"["AB".index(FIRST[at])]].append([at, True, AGAIN[at], False])
        for line in lines.values():
            if line:
                line[0][3] = True
        seen.append(({k: [tuple(one[:2]) for one in v] for k, v in lines.items()}, dict(answered)))
        for line in lines.values():
            if line:
                line[0][2] -= 1
    return seen


def at(frame):
    return int(frame.facts["Clock"].split()[0])


@cases
def test_everybody_stands_where_the_milliseconds_put_them(name):
    seen = by_the_millisecond(name)
    drawing = drawn(name)
    assert len(drawing.frames) <= 20
    for frame in drawing.frames[1:]:
        lines, answered = seen[at(frame)]
        boxes = sorted((s for s in frame.shapes if s.kind == "box"), key=lambda s: s.y)
        found = {s.text: s for s in frame.shapes if s.kind == "circle"}
        expected = {}
        for box, line in zip(boxes, lines.values(), strict=True):
            for spot, (request, copy) in enumerate(line):
                expected[f"{request + 1}{'b' * copy}"] = (spot, box)
        there = {text for text, one in found.items() if one.tone != drawing.tones["answered"]}
        assert there == set(expected)
        for text, (spot, box) in expected.items():
            inside = abs(found[text].x - box.x) < box.width / 2
            assert inside == (spot == 0)
            assert found[text].y == box.y
        done = {text.strip("b") for text in set(found) - there}
        assert done == {f"{request + 1}" for request in answered}


@cases
def test_the_work_is_what_the_servers_did_until_then_and_too_late(name):
    seen = by_the_millisecond(name)
    for frame in drawn(name).frames[1:]:
        now = at(frame)
        busy = [line[0] for lines, _ in seen[:now] for line in lines.values() if line]
        late = [
            line[0]
            for lines, answered in seen[:now]
            for line in lines.values()
            if line and line[0][0] in answered
        ]
        told = f"{len(busy)} ms, of it {len(late)} ms on what was answered already"
        assert frame.facts["Work of the servers"] == told


@pytest.mark.parametrize(
    ("name", "slowest", "copies", "work"),
    list(zip(CASES, [100, 50, 50], [0, 3, 4], [160, 170, 200], strict=True)),
)
def test_copies_save_the_tail_and_uncancelled_ones_make_more_work_and_more_copies(
    name, slowest, copies, work
):
    last = drawn(name).frames[-1]
    assert last.facts["Slowest answer so far"] == f"{slowest} ms"
    assert last.facts["Copies sent"] == f"{copies}"
    assert last.facts["Work of the servers"].startswith(f"{work} ms")
    answers = by_the_millisecond(name)[-1][1]
    assert max(end - COME[at] for at, end in answers.items()) == slowest


def test_each_half_row_is_as_long_as_its_try():
    """Without cancellation: the first try from its arrival to its end, and the copy 30 ms later."""
    drawing = drawn("none cancelled")
    axis = next(s for s in drawing.frames[0].shapes if s.key == "axis")
    each = axis.width / 130
    blocks = {s.key: s for s in drawing.frames[-1].shapes if s.kind == "block"}
    for number, (begin, end) in {"1": (0, 100), "copy1": (40, 50), "3": (100, 110)}.items():
        block = blocks[f"work {number}"]
        assert block.width == pytest.approx(each * (end - begin))
        assert block.x - block.width / 2 == pytest.approx(axis.x + each * begin)
    assert blocks["work copy1"].y > blocks["work 1"].y
    assert blocks["work copy1"].tone == drawing.tones["a copy"]


def test_captions_tell_of_losers():
    cancelled, never = ([f.caption for f in drawn(name).frames] for name in list(CASES)[1:])
    assert any("The original 3 is cancelled in its line." in said for said in cancelled)
    assert any("The original 3 begins all the same." in said for said in never)
    assert never[-1].endswith("4 copies made it 200 ms of work.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0.0] * 13, [1.0] * 13, [1.0] * 13), "arrivals must be at most 12"),
        (([0.0], [1.0], [1.0], "soon"), "delay must be"),
        (([0.0], [1.0], [1.0, 2.0]), "must be columns of one table"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        hedge("a hedge", *given)
