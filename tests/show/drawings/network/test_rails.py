"""Two nodes of four: whose gradients are where, and what each round waits for, carried out here by hand."""

import itertools

import pytest

from scalelab.models.network import hierarchy, messages
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.network import two_nodes

SIZE = 3.6e9
NVLINK, CARD = Network(0, 1 / 450e9), Network(0, 1 / 50e9)
AROUND = (0, 1, 2, 3, 7, 6, 5, 4)
THREE = messages.hierarchical(2, 4)
RING = messages.renumbered(messages.ring(8), AROUND)
PLANS = {
    "hierarchy, a card for each GPU": (THREE, None),
    "hierarchy, one card for all": (THREE, 1),
    "flat ring": (RING, None),
}
TOOK = {  # milliseconds of each round: 900 MB by NVLink 2, 450 MB by cable 9, four of these in turn 36
    "hierarchy, a card for each GPU": [2, 2, 2, 9, 9, 2, 2, 2],
    "hierarchy, one card for all": [2, 2, 2, 36, 36, 2, 2, 2],
    "flat ring": [9] * 14,
}


def drawn(name):
    plan, cards = PLANS[name]
    return two_nodes(name, plan, SIZE, NVLINK, CARD, cards)


SHOWN = {"two nodes": lambda: Stepper(*map(drawn, PLANS), choose="plan")}
each = pytest.mark.parametrize("name", PLANS)


def things(frame, kind):
    return {shape.key: shape for shape in frame.shapes if shape.kind == kind}


def sets(plan, rounds):
    """Whose gradients are in which part of whom; a set cannot count twice, so no sum may meet itself."""
    held = [[{worker} for _ in range(plan.parts)] for worker in range(plan.workers)]
    for sent in plan.rounds[:rounds]:
        before = [[set(part) for part in parts] for parts in held]
        for m in sent:
            for part in range(m.first, m.last):
                come, there = before[m.sender][part], before[m.receiver][part]
                assert not (m.adds and come & there)
                held[m.receiver][part] = come | there if m.adds else come
    return held


@each
def test_every_part_shows_whose_gradients_are_in_it(name):
    plan, _ = PLANS[name]
    frames = drawn(name).frames
    assert len(frames) == len(plan.rounds) + 1
    for done, frame in enumerate(frames):
        held, bars = sets(plan, done), things(frame, "bar")
        for gpu, part in itertools.product(range(8), range(8)):
            bar, whose = bars[f"part {part + 1} of GPU {gpu + 1}"], held[gpu][part]
            assert {who for who, filled in enumerate(bar.cells) if filled} == whose
            assert bar.tone == {1: 0, 8: 3}.get(len(whose), 1)
        complete = sum(len(part) == 8 for parts in held for part in parts)
        assert frame.facts["Hold the whole sum"] == f"{complete} of 64 parts"
    assert complete == 64


@each
def test_time_is_that_of_the_slowest_message_round_after_round(name):
    frames, far = drawn(name).frames, 0
    for frame, took in zip(frames[1:], TOOK[name], strict=True):
        far += took
        assert frame.facts["This round"] == f"{took} ms"
        assert frame.facts["Time so far"] == f"{far} ms"
    assert drawn(name).title.endswith(f"{len(frames) - 1} rounds, {far} ms")


@each
def test_what_a_round_waits_for_is_told_by_the_cables_that_it_takes(name):
    told = {2: "NVLink, 900 MB each", 36: "one cable, 4 messages each way"}
    told[9] = "2 cables, 450 MB each" if name == "flat ring" else "4 cables, 450 MB each way"
    for frame, took in zip(drawn(name).frames[1:], TOOK[name], strict=True):
        assert frame.facts["Waits for"] == told[took]


def test_all_three_take_what_the_formulas_charge():
    totals = [1e-3 * sum(TOOK[name]) for name in PLANS]
    assert totals == pytest.approx(
        [
            hierarchy.hierarchical_all_reduce(SIZE, 2, 4, NVLINK, CARD),
            hierarchy.hierarchical_all_reduce(SIZE, 2, 4, NVLINK, Network(0, 4 / 50e9)),
            hierarchy.rings_all_reduce(SIZE, 2, 4, NVLINK, CARD),
        ]
    )


@each
def test_each_message_is_a_word_that_comes_from_its_sender_and_an_arrow(name):
    plan, cards = PLANS[name]
    for frame, sent in zip(drawn(name).frames[1:], plan.rounds, strict=True):
        boxes, arrows = things(frame, "box"), things(frame, "arrow")
        words = {key: box for key, box in boxes.items() if key.startswith("message")}
        assert len(words) == len(sent)
        crossing = [m for m in sent if (m.sender < 4) != (m.receiver < 4)]
        shared = cards == 1 and crossing
        assert len(arrows) == (2 if shared else len(sent))
        for m in sent:
            parts = f"{m.first + 1}" if m.last - m.first == 1 else f"{m.first + 1}-{m.last}"
            word = words[f"message {m.sender + 1}→{m.receiver + 1} of {len(parts)}"]
            sender = boxes[f"GPU {m.sender + 1}"]
            assert (word.text, word.start) == (parts, (sender.x, sender.y))
            # What everyone waits for has its own colour: the cables beside NVLink, or a shared one.
            awaited = m in crossing and (shared or len(crossing) < len(sent))
            assert word.tone == (4 if awaited else 2)
            if not shared:
                assert arrows[f"arrow {m.sender + 1}→{m.receiver + 1}"].tone == word.tone


@each
def test_a_cable_is_coloured_while_it_carries_something_and_arrows_are_as_wide_as_links(name):
    plan, cards = PLANS[name]
    for frame, sent in zip(drawn(name).frames[1:], plan.rounds, strict=True):
        cables = [one for key, one in things(frame, "line").items() if " cable " in key]
        crossing = {m.sender % 4 for m in sent if m.sender // 4 != m.receiver // 4}
        assert len(cables) == (1 if cards == 1 else 4)
        assert sum(one.tone != 0 for one in cables) == min(len(crossing), len(cables))
        for arrow in things(frame, "arrow").values():
            between = abs(arrow.height) > 40
            assert arrow.weight == (1.4 if between else 3.2)


@each
def test_no_boxes_lie_on_each_other(name):
    for frame in drawn(name).frames:
        for one, two in itertools.combinations(things(frame, "box").values(), 2):
            apart = (
                abs(one.x - two.x) - (one.width + two.width) / 2,
                abs(one.y - two.y) - (one.height + two.height) / 2,
            )
            assert max(apart) >= 0, (one.key, two.key, frame.caption)


def test_a_plan_that_adds_finished_sums_shows_it_from_its_last_phase_on():
    """An all-reduce inside at both ends: what is added twice is purple, and no part of it is whole."""
    plan = messages.hierarchical(2, 4, "all-reduce", "all-reduce")
    sheet = two_nodes("first sheet", plan, SIZE, NVLINK, CARD)
    twice = [any(bar.tone == 4 for bar in things(f, "bar").values()) for f in sheet.frames]
    assert twice == [False] * 9 + [True] * 6
    assert sheet.frames[-1].facts["Hold the whole sum"] == "0 of 64 parts"
    assert sheet.tones["some added more than once"] == 4
    assert max(sheet.chosen) == len(sheet.frames) - 1  # so that it is seen on paper
    assert [(f.caption.split(":")[0], "once more" in f.caption) for f in sheet.frames[7:11]] == [
        ("All-reduce across, round 1 of 2", False),
        ("All-reduce across, round 2 of 2", False),
        ("Reduce-scatter inside, round 1 of 3", True),
        ("Reduce-scatter inside, round 2 of 3", True),
    ]


@each
def test_the_legend_names_a_colour_only_where_a_round_waits(name):
    awaits = "a slower message, for which the others wait" in drawn(name).tones
    assert awaits == any(
        box.tone == 4 for f in drawn(name).frames for box in things(f, "box").values()
    )


def test_who_is_there_first_waits_until_the_cables_are_done():
    """450 MB take 1 ms over NVLink and 9 ms over a card."""
    first = next(drawn(n).frames[1].caption for n in PLANS if "flat ring" in n)
    assert "6 messages are there after 1 ms, and wait until 9 ms for 2 on cables" in first
    part = SIZE / 8
    assert (part * NVLINK.beta, part * CARD.beta) == pytest.approx((1e-3, 9e-3))


def test_what_does_not_fit_on_two_nodes_of_four_is_refused():
    with pytest.raises(Refusal, match="8 workers and as many parts"):
        two_nodes("ring", messages.ring(6), SIZE, NVLINK, CARD)
    with pytest.raises(Refusal, match="cards must be 1 or 4"):
        two_nodes("ring", RING, SIZE, NVLINK, CARD, cards=2)
    with pytest.raises(Refusal, match="size must be"):
        two_nodes("ring", RING, "all", NVLINK, CARD)
