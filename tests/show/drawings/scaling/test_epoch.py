"""The drawing of an epoch: each frame against seconds that are ticked off by hand."""

import itertools

import pytest

from scalelab.models.scaling import epoch, speedup
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.scaling import training_epoch
from tests.models.scaling.test_epoch import COSTS, PIECES, ticked

COUNTS = (1, 2, 4)
TICK = 0.5
SHOWN = {
    "an epoch": lambda: Stepper(
        *[training_epoch(epoch.spans(PIECES, k, **COSTS)) for k in COUNTS], choose="workers"
    )
}
counts = pytest.mark.parametrize("workers", COUNTS)


def drawn(workers):
    return training_epoch(epoch.spans(PIECES, workers, **COSTS))


def seconds(text):
    return float(text.split()[0])


def blocks(frame, begins):
    return {
        s.key: s for s in frame.shapes if s.kind == "block" and s.key.startswith(begins) is True
    }


@counts
def test_each_frame_shows_what_was_done_until_then_and_no_more(workers):
    lanes, picture = ticked(workers), drawn(workers)
    scale = (352 - 82) / 80  # units to a second: one worker's epoch is as long as the axis
    for frame in picture.frames:
        until = round(seconds(frame.facts["Time so far, of T(K)"]) / TICK)
        for part in epoch.PARTS:
            spent = [TICK * lane[:until].count(part) for lane in lanes]
            own = blocks(frame, f"{part} of batch")
            for who, mine in enumerate(spent, 1):
                widths = [s.width for key, s in own.items() if key.endswith(f"by worker {who}")]
                assert sum(widths) == pytest.approx(mine * scale)
            row = blocks(frame, f"all {part}").get(f"all {part}")
            assert (row.width if row else 0) == pytest.approx(sum(spent) * scale)
            said = next(s.text for s in frame.shapes if s.key == f"seconds of {part}")
            assert float(said) == pytest.approx(sum(spent))
            assert f"{part} {sum(spent):g}" in frame.facts["Spent by all, in seconds"]


@counts
def test_a_block_stands_where_its_seconds_do(workers):
    lanes, scale = ticked(workers), (352 - 82) / 80
    for key, block in blocks(drawn(workers).frames[-1], epoch.PARTS).items():
        if " of batch " in key:
            part, who = key.split()[0], int(key.rsplit(maxsplit=1)[1]) - 1
            start, end = ((block.x + way * block.width / 2 - 82) / scale / TICK for way in (-1, 1))
            assert set(lanes[who][round(start) : round(end)]) == {part}


@counts
def test_no_number_stands_on_the_stroke_or_the_bar_of_its_row(workers):
    digit = 8  # units of one on a phone
    for frame in drawn(workers).frames:
        shapes = {s.key: s for s in frame.shapes}
        for key, said in shapes.items():
            part = key.removeprefix("seconds of ")
            if part == key:
                continue
            start = said.x - digit * len(said.text)
            if stroke := shapes.get(f"one worker's {part}"):
                assert stroke.x < start - 2
            if bar := shapes.get(f"all {part}"):
                assert bar.x + bar.width / 2 < start - 2


@counts
def test_speedup_and_efficiency_end_as_the_definitions_say(workers):
    picture = drawn(workers)
    last, end = picture.frames[-1].facts, TICK * len(ticked(workers)[0])
    assert last["Speedup so far"] == f"80/{end:g} = {speedup.speedup(80, end):.2f}"
    assert last["Efficiency so far"] == f"{speedup.efficiency(80, end, workers):.2f}"
    assert picture.title.endswith(f"{end:g} s")


@counts
def test_time_only_goes_on_and_efficiency_never_rises_above_one(workers):
    facts = [frame.facts for frame in drawn(workers).frames]
    times = [seconds(one["Time so far, of T(K)"]) for one in facts]
    assert all(a <= b for a, b in itertools.pairwise(times))
    assert all(float(one["Efficiency so far"]) <= 1 for one in facts[1:])
    assert facts[0]["Speedup so far"] == "–"


def test_the_balance_adds_up():
    assert drawn(2).frames[-1].caption == (
        "Paid for: 2 × 56 = 112 s. Work: 80 s. The rest is 8 s of waiting, 16 s of exchange and 8 s of "
        "updates made again."
    )
    assert 80 + 8 + 16 + 8 == 2 * 56


def test_who_is_late_is_named():
    captions = [frame.caption for frame in drawn(4).frames]
    slow = [max(range(4), key=row.__getitem__) + 1 for row in PIECES]
    assert f"Worker {slow[0]} is done last" in captions[3]
    for caption, who in zip(captions[6:9], slow[1:], strict=True):
        assert f"Worker {who} is done last" in caption


@pytest.mark.parametrize("junk", [[], None, 3, [1], "spans"])
def test_junk_is_refused(junk):
    with pytest.raises(Refusal, match=r"spans must be .*, got .*: .*"):
        training_epoch(junk)


def test_more_workers_than_lanes_are_refused():
    with pytest.raises(Refusal, match="at most 4 workers"):
        training_epoch(epoch.spans([[1] * 8], 8))
