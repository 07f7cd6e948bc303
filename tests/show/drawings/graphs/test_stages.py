"""The drawing of a pipeline, its blocks held against what a pipeline must do, and closed forms."""

import itertools

import numpy as np
import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.graphs import pipeline

P, M = 3, 6
SHOWN = {"a pipeline": lambda: Stepper(*pipeline(P, M), choose="schedule")}
DRAWN = {one.name: one for one in pipeline(P, M)}
# When the step ends, what stands still of 3 devices' time, and what each stage holds at most.
ENDS = {
    "GPipe": (3 * (M + P - 1), 6 * P, [M, M, M]),
    "1F1B": (3 * (M + P - 1), 6 * P, [3, 2, 1]),
    "1F1B, interleaved": (3 * (M + (P - 1) / 2), 3 * P, [4, 3, 2]),
    "zero bubble, H1": (3 * M + P - 1, 2 * P, [3, 3, 3]),
    "zero bubble, H2": (3 * M + P - 1, 2 * P, [5, 5, 5]),
}
names = pytest.mark.parametrize("name", ENDS)


def blocks(frame):
    """{(letter, micro-batch, piece, stage): (start, finish)} in units of time, from where blocks are."""
    zero = next(s for s in frame.shapes if s.key == "time 0").x
    unit = (next(s for s in frame.shapes if s.key == "time 6").x - zero) / 6
    found = {}
    for s in frame.shapes:
        if s.kind == "block" and s.key[0] in "FBW":
            what, _, where = s.key.partition(" on ")
            piece = 2 if what.endswith("piece 2") else 1
            edges = [(s.x - zero + way * (s.width + 0.8) / 2) / unit for way in (-1, 1)]
            assert what[1] == s.text
            found[what[0], int(what[1]), piece, int(where)] = tuple(round(e, 3) for e in edges)
    return found


@names
def test_each_pass_waits_for_the_one_that_it_needs_and_for_its_device(name):
    done = blocks(DRAWN[name].frames[-1])
    pieces = 2 if name == "1F1B, interleaved" else 1
    assert len(done) == 3 * P * M * pieces
    for (letter, batch, piece, stage), (start, finish) in done.items():
        assert finish - start == pytest.approx(1 / pieces)
        turn = (piece - 1) * P + stage  # the place of this piece in the model
        before = {
            "F": ("F", turn - 1), "B": ("B", turn + 1), "W": ("B", turn)
        }[letter] if (letter, turn) != ("B", P * pieces) else ("F", turn)  # fmt: skip
        what, at = before
        if at:
            needed = done[what, batch, (at - 1) // P + 1, (at - 1) % P + 1]
            # Only the zero bubble hands on B before W is done.
            both = letter == what == "B" and not name.startswith("zero")
            assert start >= needed[1] + both / pieces - 1e-6
    for stage in range(1, P + 1):
        mine = sorted(span for key, span in done.items() if key[3] == stage)
        assert all(one[1] <= two[0] + 1e-6 for one, two in itertools.pairwise(mine))


@names
def test_the_step_ends_and_stands_still_as_the_formulas_say(name):
    end, still, _ = ENDS[name]
    drawn = DRAWN[name]
    assert drawn.title.startswith(f"{name}: {end:g} units of time, {still / P / end:.1%}")
    assert max(finish for _, finish in blocks(drawn.frames[-1]).values()) == pytest.approx(end)
    assert drawn.frames[-1].facts["Stood still so far"] == f"{still:g} of {P * end:g}"


@names
def test_a_stage_holds_what_went_forward_and_has_not_come_back(name):
    end, _, most = ENDS[name]
    all_done, peaks = blocks(DRAWN[name].frames[-1]), [0.0] * P
    pieces = 2 if name == "1F1B, interleaved" else 1

    def held(stage, now):
        mine = [(key, span) for key, span in all_done.items() if key[3] == stage]
        begun = sum(key[0] == "F" and span[0] < now - 1e-6 for key, span in mine)
        ended = sum(key[0] == "W" and span[1] <= now + 1e-6 for key, span in mine)
        return (begun - ended) / pieces

    times = [min(2.0 * turn, end) for turn in range(len(DRAWN[name].frames))]
    for now, frame in zip(times, DRAWN[name].frames, strict=True):
        said = [float(one) for one in frame.facts["Held now, stage by stage"].split(", ")]
        assert said == [held(stage, now) for stage in range(1, P + 1)]
        drawn = {s.key: float(s.text) for s in frame.shapes if s.key.startswith("held by")}
        assert drawn == {f"held by {stage + 1}": one for stage, one in enumerate(said) if one}
        scale = {float(s.text): s.x for s in frame.shapes if s.key.endswith(" held")}
        for s in frame.shapes:  # a scale of its own, for it is none of time
            if s.key.startswith("held by"):
                ends = np.interp([0, float(s.text)], list(scale), list(scale.values()))
                assert [s.x - s.width / 2, s.x + s.width / 2] == pytest.approx(ends)
    for stage in range(P):
        # In the middle of every quarter of a unit, where nothing begins or ends.
        peaks[stage] = max(held(stage + 1, 0.125 + turn / 4) for turn in range(int(4 * end)))
    assert peaks == most
    assert DRAWN[name].frames[-1].facts["Held at most so far"] == f"{max(most):g}"


@names
def test_a_frame_shows_what_has_begun_and_the_gaps_between(name):
    end = ENDS[name][0]
    drawn, all_done = DRAWN[name], blocks(DRAWN[name].frames[-1])
    for turn, frame in enumerate(drawn.frames):
        now = min(2.0 * turn, end)
        shown = {key: span for key, span in all_done.items() if span[0] < now - 1e-6}
        assert set(blocks(frame)) == set(shown)
        busy = sum(min(span[1], now) - span[0] for span in shown.values())
        assert frame.facts["Stood still so far"] == f"{P * now - busy:g} of {P * now:g}"


def test_both_ways_of_1f1b_are_told_apart_by_a_prime():
    first = DRAWN["1F1B, interleaved"].frames[1].facts["Done in this step"]
    assert first == "stage 1: F1 F2 F3 F1′; stage 2: F1 F2 F3; stage 3: F1 F2"
    assert "Stage 1 waits for a gradient" in DRAWN["GPipe"].frames[6].caption
    assert "Stages 1 and 2 have nothing left to do." in DRAWN["zero bubble, H2"].frames[-1].caption


@names
def test_the_last_frame_and_no_other_says_that_all_is_done(name):
    """H1 ended on "All stages work", and so as if more were to come."""
    *before, last = (frame.caption for frame in DRAWN[name].frames)
    assert last.endswith(f" All {M} micro-batches are done.")
    assert not any("are done" in caption for caption in before)


def test_what_does_not_fit_is_refused():
    for sizes in ((8, 8), (3, 9), (2.5, 6), (4, 6)):
        with pytest.raises(Refusal, match="must"):
            pipeline(*sizes)
