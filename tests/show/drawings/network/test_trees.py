"""Two trees at once: each block followed here by who has passed it on, and the rounds counted by formula."""

import itertools
import math

import pytest

from scalelab.models.network import messages
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.network import two_trees
from tests.models import collective_simulator as simulator

K = 8
SHOWN = {
    "two trees": lambda: Stepper(
        *[two_trees(f"{blocks} block{'s' * (blocks > 1)}", K, blocks) for blocks in (1, 2)],
        choose="each half in",
    )
}
both = pytest.mark.parametrize("blocks", [1, 2])


def things(frame, kind):
    return {shape.key: shape for shape in frame.shapes if shape.kind == kind}


def followed(plan, rounds):
    held = {
        (worker, part): {worker} for worker in range(plan.workers) for part in range(plan.parts)
    }
    for sent in plan.rounds[:rounds]:
        before = dict(held)
        for m in sent:
            come, there = before[m.sender, m.first], before[m.receiver, m.first]
            assert not (m.adds and come & there)
            held[m.receiver, m.first] = come | there if m.adds else come
    return held


@both
def test_every_block_shows_whose_gradients_have_come_so_far(blocks):
    plan, drawn = messages.double_binary_tree(K, blocks), two_trees("two", K, blocks)
    assert len(drawn.frames) == 1 + 4 * (int(math.log2(K)) + blocks - 1)
    for done, frame in enumerate(drawn.frames):
        held, bars = followed(plan, done), things(frame, "bar")
        for (worker, part), whose in held.items():
            bar = bars[f"block {part + 1} of {plan.parts} of worker {worker + 1}"]
            assert {who for who, filled in enumerate(bar.cells) if filled} == whose
            assert bar.tone == {1: 0, K: 3}.get(len(whose), 1)
        complete = sum(len(whose) == K for whose in held.values())
        assert frame.facts["Hold the whole sum"] == f"{complete} of {K * plan.parts} blocks"
    assert complete == K * 2 * blocks


@both
def test_each_round_pays_a_latency_and_the_bytes_of_a_block(blocks):
    for done, frame in enumerate(two_trees("two", K, blocks).frames[1:], 1):
        assert frame.facts["Paid so far"] == f"{done}α + {done / (2 * blocks):g} βM"


@both
def test_a_message_is_an_arrow_along_an_edge_of_its_tree_and_its_ends_are_busy(blocks):
    plan = messages.double_binary_tree(K, blocks)
    for frame, sent in zip(two_trees("two", K, blocks).frames[1:], plan.rounds, strict=True):
        arrows, circles = things(frame, "arrow"), things(frame, "circle")
        assert len(arrows) == len(sent)
        busy = set()
        for m in sent:
            half = ("first half", "second half")[m.first >= blocks]
            way = f"{m.sender + 1}→{m.receiver + 1}, {half}"
            arrow, block = arrows[f"arrow {way}"], circles[f"block {way}"]
            ends = [circles[f"{one + 1}, {half}"] for one in (m.sender, m.receiver)]
            busy |= {end.key for end in ends}
            tip = arrow.x + arrow.width, arrow.y + arrow.height
            for end, at in zip(ends, ((arrow.x, arrow.y), tip), strict=True):
                assert math.dist((end.x, end.y), at) == pytest.approx(
                    12
                )  # just outside of its circle
            assert block.start == (ends[0].x, ends[0].y)
            assert block.text == str(m.first % blocks + 1)
            told = dict(
                one.rsplit(" half ", 1) for one in frame.facts["Sent in this round"].split("; ")
            )
            assert way[:3] in told[half.split()[0]].split(", ")
        for worker, half in itertools.product(range(1, K + 1), ("first half", "second half")):
            circle = circles[f"{worker}, {half}"]
            tone = (2 if half == "first half" else 4) if circle.key in busy else 0
            assert circle.tone == tone


def test_the_trees_are_those_of_the_simulator_and_a_leaf_of_one_is_a_parent_in_the_other():
    for workers in (2, 3, 4, 5, 8, 13, 64):
        trees = messages.two_trees(workers)
        assert list(trees) == [parents for _, parents in simulator.two_trees(workers)]
        parents = [set(tree.values()) for tree in trees]
        assert not parents[0] & parents[1]


def test_the_root_is_farthest_from_the_middle_and_leaves_nearest():
    circles = things(two_trees("two").frames[0], "circle")
    for half, tree in zip(("first half", "second half"), messages.two_trees(K), strict=True):
        for low, up in tree.items():
            lower, upper = (abs(circles[f"{one + 1}, {half}"].y - 186) for one in (low, up))
            assert lower < upper


def test_more_than_can_be_told_apart_is_refused():
    with pytest.raises(Refusal, match="workers must be"):
        two_trees("two", 16)
    with pytest.raises(Refusal, match="blocks must be"):
        two_trees("two", 8, 3)
