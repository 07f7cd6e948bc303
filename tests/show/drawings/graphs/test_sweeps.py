"""The drawing of a scan, each frame held against sums that are added up here one by one."""

import itertools

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.graphs import scan

MOVES = [3, 1, 4, 1, 5, 9, 2, 6]
SHOWN = {"partial sums": lambda: Stepper(scan(MOVES))}
LISTS = pytest.mark.parametrize("numbers", [MOVES, [100, 0, 7, 30], [0] * 8])


def boxes(frame, kind):
    """{(level, place from the left): text} of the boxes of one kind that say something."""
    found = {}
    for shape in frame.shapes:
        word, *where = shape.key.split()
        if shape.kind == "box" and word == kind and shape.text:
            level, x = (int(where[0]), float(where[1])) if kind != "after" else (0, float(where[0]))
            found[level, x] = int(shape.text)
    turns = {level: sorted(x for at, x in found if at == level) for level, _ in found}
    return {(level, turns[level].index(x)): text for (level, x), text in found.items()}


@LISTS
def test_a_node_holds_the_sum_of_its_numbers_and_that_of_all_to_its_left(numbers):
    last = scan(numbers).frames[-1]
    own, left, after = (boxes(last, kind) for kind in ("own", "left", "after"))
    count, levels = len(numbers), len(numbers).bit_length() - 1
    places = [(level, turn) for level in range(levels + 1) for turn in range(count >> level)]
    assert set(own) == set(left) == set(places)
    for level, turn in places:
        begin, end = turn << level, (turn + 1) << level
        assert own[level, turn] == sum(numbers[begin:end])
        assert left[level, turn] == sum(numbers[:begin])
    assert [after[0, turn] for turn in range(count)] == [*itertools.accumulate(numbers)]


@LISTS
def test_sums_go_up_a_level_in_a_round_and_come_down_one(numbers):
    frames = scan(numbers).frames
    levels = len(numbers).bit_length() - 1
    assert len(frames) == 2 * levels + 3
    for step, frame in enumerate(frames):
        up, down = min(step, levels), max(2 * levels + 1 - step, 0)
        assert {level for level, _ in boxes(frame, "own")} == set(range(up + 1))
        assert {level for level, _ in boxes(frame, "left")} == set(range(down, levels + 1))
        rounds = min(step, levels) + min(max(step - levels - 1, 0), levels)
        # An addition for each arrow that meets another: two go up to a node, one comes from beside.
        ways = [s.key.split()[0] for s in frame.shapes if s.kind == "arrow"]
        now = ways.count("up") // 2 + ways.count("beside") + ways.count("after")
        assert frame.facts["At once in this round"] == f"{now}"
        assert frame.facts["Rounds"].startswith(f"{rounds} of {2 * levels}")
    total = 2 * (len(numbers) - 1)
    assert frames[-2].facts["Additions"] == f"{total} of {total}"


def test_an_arrow_ends_at_the_box_that_is_written_in_this_round():
    drawn = scan(MOVES)
    for frame in drawn.frames[:-1]:
        written = [
            s
            for s in frame.shapes
            if s.kind == "box" and s.tone == drawn.tones["written in this round"]
        ]
        arrows = [s for s in frame.shapes if s.kind == "arrow"]
        for arrow in arrows:
            x, y = arrow.x + arrow.width, arrow.y + arrow.height
            near = [s for s in written if abs(x - s.x) <= 9 and abs(y - s.y) <= 9]
            assert len(near) == 1, arrow.key


@pytest.mark.parametrize(
    "numbers", [[1, 2, 3], [1, 2, 3, 4, 5, 6], [1, 2, 3, -4], [1, 2, 3, 997], None, [1.5] * 4]
)
def test_what_does_not_fit_is_refused(numbers):
    with pytest.raises(Refusal, match="must"):
        scan(numbers)


def test_the_round_after_the_last_is_counted_apart():
    """The sums before each place take the rounds of the title, and those after it one more."""
    facts = SHOWN["partial sums"]().drawings[0].frames[-1].facts
    assert facts["Rounds"] == "6 of 6, and one more"
    assert facts["Additions"] == "14 of 14, and 8"
