"""The drawing of a job that is cut or grows: its bars added up here, and its boxes counted."""

import math

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.scaling import lens

LENSES = {"the same job, cut (strong)": False, "a job that grows (weak)": True}
SHOWN = {
    "lenses": lambda: Stepper(*[lens(name, grows) for name, grows in LENSES.items()], choose="lens")
}
COUNTS = [1, 2, 4, 8, 16, 32]
lenses = pytest.mark.parametrize("grows", LENSES.values())


def step(workers, grows):
    """Milliseconds of computing and of exchange, sample by sample and level by level."""
    samples = 64 * workers if grows else 64
    exchange, reached = 0, 1
    while reached < workers:
        reached, exchange = 2 * reached, exchange + 5
    return sum(2 for _ in range(0, samples, workers)), exchange


def seen(frame, kind, word):
    return {
        int(one.key.split()[-1]): one
        for one in frame.shapes
        if one.kind == kind and one.key.split()[0] == word
    }


def runs(grows):
    """The frames in which a step has been run, with their counts of workers."""
    frames = lens("l", grows).frames
    return list(zip(COUNTS, [frames[0], *frames[2::2]], strict=True))


@lenses
def test_a_bar_is_as_long_as_its_milliseconds_and_all_bars_share_one_scale(grows):
    for many, (_, frame) in enumerate(runs(grows), 1):
        computing, exchange = seen(frame, "block", "computing"), seen(frame, "block", "exchange")
        assert list(computing) == COUNTS[:many]
        assert list(exchange) == COUNTS[1:many]
        unit = computing[1].width / 128
        for workers, bar in computing.items():
            ms = step(workers, grows)
            assert bar.width / unit == pytest.approx(ms[0])
            if workers > 1:
                assert exchange[workers].width / unit == pytest.approx(ms[1])
                end = exchange[workers].x - exchange[workers].width / 2
                assert end == pytest.approx(bar.x + bar.width / 2)


@lenses
def test_what_fills_the_boxes_is_the_batch(grows):
    for workers, frame in runs(grows):
        shares = seen(frame, "block", "share").values()
        boxes = seen(frame, "box", "worker")
        assert len(shares) == len(boxes) == workers
        room = 40 * 40
        filled = sum(one.width * one.height for one in shares) / room
        assert filled == pytest.approx(workers if grows else 1)
        texts = {int(one.text) for one in seen(frame, "text", "samples").values()}
        assert texts == {64 if grows else 64 // workers}


@lenses
def test_efficiency_is_useful_seconds_over_paid_ones(grows):
    for workers, frame in runs(grows):
        computing, exchange = step(workers, grows)
        took = computing + exchange
        assert frame.facts["Efficiency E"] == f"{computing / took:.2f}"
        gained = workers * computing / took
        assert frame.facts["Done per second"] == f"{gained:.2f} times"
        assert frame.facts["A step"].endswith(f"= {took} ms")


def test_the_last_doubling_makes_the_fixed_job_slower_and_the_caption_says_so():
    times = [sum(step(workers, False)) for workers in COUNTS]
    assert times == [128, 69, 42, 31, 28, 29]
    assert "longer than on half the workers" in runs(False)[-1][1].caption
    assert not any("longer" in frame.caption for _, frame in runs(False)[:-1])


def test_both_lenses_begin_with_the_same_job():
    one, other = (lens("l", grows).frames[0] for grows in (False, True))
    assert one == other


def test_a_new_share_comes_from_the_worker_that_had_it():
    frame = lens("l", False).frames[3]  # 4 workers
    shares, boxes = seen(frame, "block", "share"), seen(frame, "box", "worker")
    assert shares[1].start is shares[2].start is None
    for new, old in ((3, 1), (4, 2)):
        assert shares[new].start == (boxes[old].x, boxes[old].y)


@pytest.mark.parametrize(
    ("given", "what"),
    [({"batch": 48}, "a multiple of 32"), ({"batch": 6.4}, "a whole number"),
     ({"sample": 0}, "above 0"), ({"level": math.nan}, "from 0 on"), ({"sample": "x"}, "above 0")],
)  # fmt: skip
def test_what_no_step_could_be_is_refused(given, what):
    with pytest.raises(Refusal, match=what):
        lens("l", False, **given)
