"""The drawing of an all-reduce, each frame held against its plan, carried out here with names."""

import itertools
import math
from collections import Counter

import pytest

from scalelab.models.network import algorithms, messages
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.network import all_reduce

K = 8
PLANS = {name: plan(K) for name, plan in messages.ALL_REDUCE.items()} | {
    "two nodes": messages.hierarchical(2, 4),
    "two nodes, wrongly": messages.hierarchical(2, 4, last="all-reduce"),
    "first sheet": messages.hierarchical(2, 4, "all-reduce", "all-reduce"),
    "a ring of three": messages.ring(3),
    "a tree of five": messages.binomial_tree(5),
}
SHOWN = {
    "all-reduce": lambda: Stepper(
        *[all_reduce(name, PLANS[name]) for name in messages.ALL_REDUCE], choose="algorithm"
    ),
    "ring of four": lambda: Stepper(all_reduce("ring", messages.ring(4))),
    "first sheet": lambda: Stepper(
        all_reduce("hierarchy", PLANS["two nodes"]),
        all_reduce("first sheet", PLANS["first sheet"]),
        choose="plan",
    ),
}
plans = pytest.mark.parametrize("name", PLANS)


def carried_out(plan, rounds):
    """Who is in which part of whom after so many rounds, with names in place of numbers."""
    held = [[Counter([worker]) for _ in range(plan.parts)] for worker in range(plan.workers)]
    for sent in plan.rounds[:rounds]:
        before = [[Counter(part) for part in parts] for parts in held]
        for m in sent:
            for part in range(m.first, m.last):
                come, there = before[m.sender][part], before[m.receiver][part]
                held[m.receiver][part] = come + there if m.adds else come
    return held


def things(frame, kind):
    return {shape.key: shape for shape in frame.shapes if shape.kind == kind}


@plans
def test_every_part_shows_those_whose_gradients_have_come_so_far(name):
    plan = PLANS[name]
    drawn = all_reduce(name, plan)
    assert len(drawn.frames) == len(plan.rounds) + 1
    for done, frame in enumerate(drawn.frames):
        held, bars = carried_out(plan, done), things(frame, "bar")
        assert len(bars) == plan.workers * plan.parts
        for worker, part in itertools.product(range(plan.workers), range(plan.parts)):
            bar, whose = bars[f"part {part + 1} of worker {worker + 1}"], held[worker][part]
            assert [who for who, filled in enumerate(bar.cells) if filled] == sorted(whose)
            said = {1: "gradients of one worker", plan.workers: "of all"}.get(
                len(whose), "of several"
            )
            wrong = max(whose.values()) > 1
            assert bar.tone == drawn.tones["some added more than once" if wrong else said]
        complete = sum(
            sorted(part.elements()) == [*range(plan.workers)] for parts in held for part in parts
        )
        told = f"{complete} of {plan.workers * plan.parts} parts"
        assert frame.facts["Hold the whole sum"] == told


@plans
def test_each_message_of_a_round_is_an_arrow_from_box_to_box_and_a_word(name):
    plan = PLANS[name]
    for frame, sent in zip(all_reduce(name, plan).frames[1:], plan.rounds, strict=True):
        arrows, boxes = things(frame, "arrow"), things(frame, "box")
        assert len(arrows) == len(boxes) - plan.workers == len(sent)
        for m in sent:
            way, count = f"{m.sender + 1}→{m.receiver + 1}", m.last - m.first
            arrow = arrows[f"arrow {way}"]
            one = boxes[f"message {way} of {count} part{'s' * (count > 1)}"]
            assert distance(boxes, m.sender, arrow.x, arrow.y) == pytest.approx(0, abs=3)
            end = arrow.x + arrow.width, arrow.y + arrow.height
            assert distance(boxes, m.receiver, *end) == pytest.approx(0, abs=3)
            assert one.start == (arrow.x, arrow.y)
            # It stands on its arrow, nearer to who gets it.
            along = math.dist(one.start, (one.x, one.y)), math.dist((one.x, one.y), end)
            assert sum(along) == pytest.approx(math.hypot(arrow.width, arrow.height))
            assert along[0] > along[1]
            span = f"{m.first + 1}" if count == 1 else f"{m.first + 1}-{m.last}"
            assert one.text == ("all" if count == plan.parts else span)
            assert arrow.weight == pytest.approx(1 + 2.5 * count / plan.parts)
            assert way in frame.facts["Sent in this round"]


def distance(boxes, worker, x, y):
    """How far a place is from the box of a worker, 0 at its edge, and less inside."""
    box = boxes[f"worker {worker + 1}"]
    return max(abs(x - box.x) - box.width / 2, abs(y - box.y) - box.height / 2)


@plans
def test_nothing_is_drawn_over_a_box_or_a_message_nor_beside_the_paper(name):
    drawn = all_reduce(name, PLANS[name])
    for frame in drawn.frames:
        boxes = things(frame, "box").values()
        for one, two in itertools.combinations(boxes, 2):
            apart = [
                abs(one.x - two.x) - (one.width + two.width) / 2,
                abs(one.y - two.y) - (one.height + two.height) / 2,
            ]
            assert max(apart) >= 0, (one.key, two.key, frame.caption)
        for one in boxes:
            assert one.width / 2 < one.x < drawn.width - one.width / 2
            assert one.height / 2 < one.y < drawn.height - one.height / 2


@plans
def test_only_a_plan_that_adds_twice_says_so(name):
    drawn = all_reduce(name, PLANS[name])
    wrong = name in ("two nodes, wrongly", "first sheet")
    assert ("some added more than once" in drawn.tones) == wrong
    whole = drawn.frames[-1].facts["Hold the whole sum"]
    parts = PLANS[name].workers * PLANS[name].parts
    assert whole == f"{0 if wrong else parts} of {parts} parts"


@pytest.mark.parametrize("way", messages.ALL_REDUCE)
def test_the_last_round_has_paid_what_the_formula_charges(way):
    drawn = all_reduce(way, PLANS[way])
    charged = algorithms.traffic(1.0, K, Network(0, 1), "all-reduce", way)
    paid = f"{charged.rounds:g}α + {charged.moved:g} βM"
    assert drawn.frames[-1].facts["Paid so far"] == paid
    assert drawn.title.endswith(paid)
    assert drawn.frames[-1].facts["Hold the whole sum"] == "64 of 64 parts"


@pytest.mark.parametrize(
    ("name", "done", "caption"),
    [
        ("ring", 0, "Before the first round, each of 8 workers holds its own gradients, cut in 8 parts."),
        ("ring", 3, "Round 3 of 14: every worker sends 1 part to the one before it. "
                    "What arrives is added to what is there."),
        ("ring", 8, "Round 8 of 14: every worker sends 1 part to the next. "
                    "What arrives is kept in place of what was there."),
        ("halving-doubling", 1, "Round 1 of 6: every worker swaps 4 parts with the worker 4 numbers "
                                "away. What arrives is added to what is there."),
        ("recursive doubling", 1, "Round 1 of 3: every worker swaps all 8 parts with its neighbour. "
                                  "What arrives is added to what is there."),
        ("binomial tree", 1, "Round 1 of 6: workers 5, 6, 7, 8 send all 8 parts each, to workers 1, 2, "
                             "3, 4. What arrives is added to what is there."),
        ("binomial tree", 4, "Round 4 of 6: worker 1 sends all 8 parts to worker 2. "
                             "What arrives is kept in place of what was there."),
    ],
)  # fmt: skip
def test_a_caption_says_in_words_what_the_round_does(name, done, caption):
    assert all_reduce(name, PLANS[name]).frames[done].caption == caption


def test_the_four_of_the_chapter_are_played_from_one_place():
    stepper = Stepper(*[all_reduce(name, PLANS[name]) for name in messages.ALL_REDUCE])
    assert sum(key.startswith("part") for key in stepper.things) == K * K


def test_a_plan_of_more_than_can_be_told_apart_is_refused():
    with pytest.raises(Refusal, match="at most 8 workers"):
        all_reduce("ring", messages.ring(9))
