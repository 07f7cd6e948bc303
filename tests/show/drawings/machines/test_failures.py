"""The drawing of a run that fails: each frame against a run that is followed minute by minute."""

import math

import pytest

from scalelab.models import machines
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.machines import interrupted

BROKEN = {65: 2, 205: 4, 290: 1, 455: 3}  # minutes, and which machine
RUN = {"write": 10, "restart": 10, "until": 500}
EVERY = (20, 50, 200)
SHOWN = {
    "a run that fails": lambda: Stepper(
        *[interrupted(f"{every} min", every, BROKEN, **RUN) for every in EVERY], choose="save every"
    )
}
intervals = pytest.mark.parametrize("every", EVERY)


def drawn(every):
    return interrupted(f"{every} min", every, BROKEN, **RUN)


def followed(every, until, failed):
    """What each minute was, as it looks at a moment at which so many failures have come."""
    minutes, at_risk, doing, left = [], [], "work", every
    moments = sorted(BROKEN)[:failed]
    for minute in range(until + 1):
        if minute in moments:
            for one in at_risk:
                minutes[one] = "lost"
            at_risk, doing, left = [], "restarting", RUN["restart"]
        if minute == until:
            return minutes
        minutes.append({"work": "unsaved"}.get(doing, doing))
        if doing != "restarting":
            at_risk.append(minute)
        left -= 1
        if not left:
            if doing == "saving":
                for one in at_risk:
                    minutes[one] = "saved" if minutes[one] == "unsaved" else minutes[one]
                at_risk = []
            doing = "saving" if doing == "work" else "work"
            left = RUN["write"] if doing == "saving" else every
    return minutes


def seen(every):
    """Yield each frame, and what each of its minutes was."""
    for frame in drawn(every).frames:
        marks = sum(one.kind == "circle" for one in frame.shapes)
        until = int(frame.facts["Time"].split()[0])
        yield frame, followed(every, until, marks)


@intervals
def test_blocks_show_what_each_minute_was_and_what_became_of_it(every):
    tones, scale = drawn(every).tones, (344 - 80) / 500
    for frame, minutes in seen(every):
        found = [None] * len(minutes)
        for block in frame.shapes:
            if block.kind == "block" and " from " in block.key:
                begin, end = ((block.x + way * block.width / 2 - 80) / scale for way in (-1, 1))
                kind = next(name for name, tone in tones.items() if tone == block.tone)
                for minute in range(round(begin), round(end)):
                    found[minute] = kind
        assert found == minutes


@intervals
def test_rows_and_facts_add_the_minutes_up(every):
    for frame, minutes in seen(every):
        shapes = {one.key: one for one in frame.shapes}
        for kind in drawn(every).tones:
            (said,) = (
                one.text for key, one in shapes.items() if key.startswith(f"minutes {kind},")
            )
            assert float(said) == minutes.count(kind)
            assert shapes[f"all {kind}"].width == pytest.approx(
                minutes.count(kind) * (344 - 80) / 500
            )
            assert f"{kind} {minutes.count(kind)}" in frame.facts["Minutes of each kind"]
        if minutes:
            assert frame.facts["Safe"] == f"{minutes.count('saved') / len(minutes):.0%} of the time"


@intervals
def test_a_mark_stands_in_the_lane_of_the_machine_that_failed(every):
    marks = [one for one in drawn(every).frames[-1].shapes if one.kind == "circle"]
    lanes = {one.key: one.y for one in drawn(every).frames[-1].shapes if one.key.startswith("lane")}
    assert [one.y for one in marks] == [
        lanes[f"lane {BROKEN[moment]}"] for moment in sorted(BROKEN)
    ]
    assert [(one.x - 80) * 500 / (344 - 80) for one in marks] == pytest.approx(sorted(BROKEN))


def test_no_block_is_drawn_over_a_mark():
    """What first appears later lies on top, so what follows a failure is there before its mark."""
    things = list(SHOWN["a run that fails"]().things.items())
    for every in EVERY:
        for frame in drawn(every).frames:
            there = {one.key: one for one in frame.shapes}
            shown = [there[key] for key, _ in things if key in there]
            for at, mark in enumerate(shown):
                if mark.kind == "circle":
                    assert not any(
                        abs(one.x - mark.x) < (one.width + mark.width) / 2 - 1e-6
                        for one in shown[at:]
                        if one.kind == "block" and " from " in one.key
                    )


@intervals
def test_who_comes_back_is_at_a_checkpoint_where_there_is_one(every):
    for frame in drawn(every).frames:
        if frame.caption.startswith("All are back"):
            written = not frame.facts["Minutes of each kind"].startswith("saved 0,")
            assert ("the last checkpoint left them" in frame.caption) == written
            assert ("at the very beginning" in frame.caption) != written


def test_of_the_three_the_middle_one_keeps_most_and_is_what_young_says():
    kept = [followed(every, 500, 4).count("saved") for every in EVERY]
    assert kept[1] == max(kept)
    assert machines.young_interval(10, 500 / len(BROKEN)) == pytest.approx(EVERY[1])
    assert math.sqrt(2 * 10 * 125) == EVERY[1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"broken": {}}, "broken must be a mapping .*, got .*: .*"),
        ({"broken": [3]}, "broken must be a mapping .*, got .*: .*"),
        ({"broken": {600: 1}}, "moment must be .*, got 600: .*"),
        ({"broken": {60: 5}}, "machine must be .*, got 5: .*"),
        ({"interval": 0}, "interval must be .*, got 0: .*"),
        ({"until": -1}, "until must be .*, got -1: .*"),
    ],
)
def test_junk_is_refused(given, sentence):
    with pytest.raises(Refusal, match=sentence):
        interrupted(**{"name": "x", "interval": 20, "broken": BROKEN} | RUN | given)
