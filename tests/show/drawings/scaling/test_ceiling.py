"""The drawing of the part that stays: bars measured, and a ceiling found by trying."""

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.scaling import cut

NODES = (1, 2, 4, 16, 64, 1024)
SHOWN = {"ceiling": lambda: Stepper(cut("cut", parallel=0.180, serial=0.020, nodes=NODES))}
LEFT = 50


def drawn():
    return cut("cut", 0.180, 0.020, NODES)


def blocks(frame):
    return {one.key: one for one in frame.shapes if one.kind == "block"}


def test_each_bar_is_twenty_and_a_share_of_a_hundred_and_eighty():
    for many, frame in enumerate(drawn().frames[: len(NODES)], 1):
        found = blocks(frame)
        assert len(found) == 2 * many
        unit = found["divides 1"].width / 180
        for nodes in NODES[:many]:
            stays, divides = found[f"stays {nodes}"], found[f"divides {nodes}"]
            assert stays.width / unit == pytest.approx(20)
            assert stays.x - stays.width / 2 == pytest.approx(LEFT)
            assert divides.width / unit == pytest.approx(
                180 / nodes, abs=0.3
            )  # a line still is seen
            assert divides.x - divides.width / 2 == pytest.approx(stays.x + stays.width / 2)


def test_the_facts_of_a_row_are_its_seconds():
    for nodes, frame in zip(NODES, drawn().frames, strict=False):
        seconds = 20 + 180 / nodes
        assert frame.facts["Speedup S"] == f"{200 / seconds:.2f}"
        assert frame.facts["What stays, of this step"] == f"{20 / seconds:.0%}"
        assert frame.facts["Left to gain from here"] == f"{seconds / 20:.2f} times"


def test_the_wall_stands_where_the_first_part_ends_and_its_speedup_is_never_passed():
    *rows, wall, end = drawn().frames
    stays = blocks(rows[0])["stays 1"]
    for frame in (wall, end):
        line = next(one for one in frame.shapes if one.kind == "line")
        assert line.x == pytest.approx(stays.x + stays.width / 2)
    said = next(one.text for one in end.shapes if one.key == "endless S")
    gains = [200 / (20 + 180 / nodes) for nodes in (1e3, 1e6, 1e9)]
    assert all(gain < float(said) for gain in gains)
    assert gains[-1] == pytest.approx(float(said))


def test_every_bar_passes_the_wall_and_none_ends_before_it():
    """The caption had it the other way round."""
    wall = drawn().frames[-2]
    at = next(one.x for one in wall.shapes if one.kind == "line")
    assert all(
        one.x + one.width / 2 > at for key, one in blocks(wall).items() if key.startswith("divides")
    )
    assert wall.caption.startswith("No bar ends before this line")


def test_the_row_in_which_most_is_what_stays_says_so():
    said = [nodes for nodes, frame in zip(NODES, drawn().frames, strict=False)
            if "more than half" in frame.caption]  # fmt: skip
    assert said == [next(nodes for nodes in NODES if 180 / nodes < 20)]


@pytest.mark.parametrize(
    "given",
    [(1, 0, NODES), (-1, 1, NODES), (1, 1, (2, 4)), (1, 1, (1,)), (1, 1, (1, 4, 2)), (1, 1, (1, 2.5)),
     (1, 1, tuple(range(1, 10))), ("x", 1, NODES), (1, 1, 7), (1, 1, "12")],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(given):
    with pytest.raises(Refusal, match=r"must .+, got .+: .+"):
        cut("c", *given)
