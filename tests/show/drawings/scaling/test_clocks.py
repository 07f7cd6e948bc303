"""The drawing of two clocks: each job carried out second by second by one worker and by several."""

import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.scaling import from_profile, two_clocks

JOBS = {"the job stays": False, "the job grows": True}
READINGS = {"an exchange": True, "work of one worker": False}
SHOWN = {
    "two clocks": lambda: Stepper(*[two_clocks(*one) for one in JOBS.items()], choose="job"),
    "from a profile": lambda: Stepper(
        *[from_profile(*one) for one in READINGS.items()], choose="the share is"
    ),
}
jobs = pytest.mark.parametrize("grows", JOBS.values())
readings = pytest.mark.parametrize("exchange", READINGS.values())


def ended(tasks, workers):
    """When a team is done: tasks that anybody can do, in units, and at the end one that only one can."""
    free = [0.0] * workers
    for task in tasks[:-1]:
        free[free.index(min(free))] += task
    return max(free) + tasks[-1]


def blocks(frame, word):
    return [one for one in frame.shapes if one.kind == "block" and one.key.startswith(word)]


def long(shapes):
    """From the left end of some shapes to their right end."""
    ends = [(one.x - one.width / 2, one.x + one.width / 2) for one in shapes]
    return max(end for _, end in ends) - min(begin for begin, _ in ends)


def per_count(frames):
    return [(1, frames[0]), *zip((2, 4, 8), (frames[at] for at in (1, 4, 7)), strict=True)]


@jobs
def test_the_bars_are_as_long_as_one_worker_and_as_a_team_take(grows):
    frames = two_clocks("c", grows).frames
    unit = None
    for workers, frame in per_count(frames):
        tasks = [1.0] * (90 * workers if grows else 90) + [10.0]
        if not grows:  # a second is no smallest thing
            tasks = [1 / 8] * (8 * 90) + [10.0]
        alone, together = ended(tasks, 1), ended(tasks, workers)
        bar = [*blocks(frame, "piece"), *blocks(frame, "stays alone")]
        lanes = [*blocks(frame, "lane"), *blocks(frame, "stays 1"), *blocks(frame, "waits")]
        unit = unit or long(bar) / alone
        assert long(bar) / unit == pytest.approx(alone)
        assert long(lanes) / unit == pytest.approx(together)
        said = f"{alone / together:.3g}"
        assert frame.facts["Speedup, one length over the other"].endswith(f"= {said}")
        assert frame.facts["By the laws"] == f"Amdahl {said}, Gustafson {said}"
        assert frame.facts["Share on one worker"] == f"{10 / alone:.3f}"
        assert frame.facts["Share on K workers"] == f"{10 / together:.3f}"


@jobs
def test_only_the_clock_that_is_read_has_its_share_beside_it(grows):
    for frame in two_clocks("c", grows).frames:
        for which in ("alone", "K"):
            words = next(one.text for one in frame.shapes if one.key == f"clock {which}")
            line = blocks(frame, f"read {which}")
            assert ("share" in words) == bool(line)
        assert len(blocks(frame, "lane")) == len(blocks(frame, "piece"))


@jobs
def test_pieces_alone_add_up_to_what_the_lanes_hold(grows):
    for _, frame in per_count(two_clocks("c", grows).frames):
        pieces, lanes = blocks(frame, "piece"), blocks(frame, "lane")
        assert sum(one.width for one in pieces) == pytest.approx(sum(one.width for one in lanes))
        assert long(pieces) == pytest.approx(sum(one.width for one in pieces))


@readings
def test_one_worker_does_what_the_lanes_hold_and_exchanges_with_nobody(exchange):
    frames = from_profile("p", exchange).frames
    for workers, frame in ((2, frames[3]), (4, frames[5]), (8, frames[6])):
        computing = 160 / workers
        alone = 160 if exchange else 180
        together = computing + 20
        unit = blocks(frame, "lane 1")[0].width / computing
        bar = [*blocks(frame, "piece"), *blocks(frame, "stays alone")]
        assert long(bar) / unit == pytest.approx(alone)
        assert bool(blocks(frame, "stays")) != exchange
        assert len(blocks(frame, "exchange")) == (workers if exchange else 0)
        said = frame.facts["One worker over all of them"]
        assert said == f"{alone} / {together:g} = {alone / together:.3g}"
        assert frame.facts["Efficiency"] == f"{alone / together / workers:.2f}"
        assert frame.facts["Share of their step"] == f"{20 / together:.0%}"


def test_a_piece_that_moves_over_comes_from_the_lane_of_its_worker():
    frames = from_profile("p", True).frames
    for frame, at in ((frames[1], 1), (frames[2], 2)):
        lane = blocks(frame, f"lane {at}")[0]
        assert [one.start for one in blocks(frame, "piece") if one.start] == [(lane.x, lane.y)]
    assert not any(one.start for frame in frames[3:] for one in frame.shapes)
    grown = two_clocks("c", True).frames[4]  # 4 workers, after 2
    assert [one.key for one in grown.shapes if one.start] == ["piece 3", "piece 4"]


@readings
def test_endless_workers_compute_nothing_and_their_gain_is_never_reached(exchange):
    frame = from_profile("p", exchange).frames[-1]
    assert not blocks(frame, "lane")
    alone = 160 if exchange else 180
    limit = float(frame.facts["One worker over all of them"].split("= ")[1])
    gains = [alone / (160 / workers + 20) for workers in (10, 1e3, 1e9)]
    assert all(gain < limit for gain in gains)
    assert gains[-1] == pytest.approx(limit)


def test_what_gustafson_adds_to_an_exchange_is_drawn_as_what_nobody_does():
    frames = {one: from_profile("p", one).frames for one in (True, False)}
    ghost = next(one for one in frames[True][4].shapes if one.key == "with nobody")
    assert ghost.width == pytest.approx(blocks(frames[True][4], "exchange 1")[0].width)
    assert "says 1.8" in frames[True][4].caption
    assert "says 1.8 as well" in frames[False][4].caption
    assert not any(one.key == "with nobody" for frame in frames[False] for one in frame.shapes)


@pytest.mark.parametrize(
    ("make", "given"),
    [(two_clocks, {"serial": 0}), (two_clocks, {"parallel": -1}), (two_clocks, {"serial": "x"}),
     (from_profile, {"share": 0}), (from_profile, {"share": 1}), (from_profile, {"share": None})],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(make, given):
    with pytest.raises(Refusal, match=r"must .+, got .+: .+"):
        make("c", True, **given)
