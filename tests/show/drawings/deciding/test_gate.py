"""The drawing of the quality gate, each interval worked out here from the formula of the section."""

import math

import numpy as np
import pytest

from scalelab import rubric
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.deciding import quality_gate

pytestmark = pytest.mark.turns(2)

DEVIATION, TOLERANCE = 0.159, 0.3
NOISE = rubric.Noise(DEVIATION, runs=50)
STUDENT = 1.67655  # 95% of Student's t with 49 degrees of freedom, from a printed table
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def pairs(loss, seed):
    luck = np.random.default_rng(seed).normal(0, DEVIATION, (2, 24))
    return 24.59 + luck[0], 24.59 - loss + luck[1]


WAYS = {
    "nothing truly lost": pairs(0, 0),
    "0.167 truly lost": pairs(0.167, 0),
    "0.29 truly lost": pairs(0.29, 0),
    "0.29 truly lost, other luck": pairs(0.29, 11),
    "0.5 truly lost": pairs(0.5, 0),
}
GIVEN = (TOLERANCE, NOISE, ("1 GPU", "8 GPUs"), "BLEU")
SHOWN = {"quality gate": lambda: Stepper(*quality_gate(WAYS, *GIVEN), choose="what is true")}
ways = pytest.mark.parametrize("way", WAYS)


def drawn(way):
    return next(one for one in quality_gate(WAYS, *GIVEN) if one.name == way)


def by_hand(way, count):
    """The loss of means of so many runs, and how far it may be off to either side."""
    base, row = (sum(map(float, side[:count])) / count for side in WAYS[way])
    return base - row, STUDENT * DEVIATION * math.sqrt(2 / count)


def place():
    """Where a loss lies: two that are drawn tell the scale of all."""
    last = drawn("0.5 truly lost").frames[-1]
    there = {shape.key: shape for shape in last.shapes}
    zero, most = there["nothing"].x, there["allowed"].x
    return lambda loss: zero + loss / TOLERANCE * (most - zero)


def test_no_end_is_less_than_nothing_by_nothing_and_thousands_are_told_apart():
    """There stood "-0.00 and 0.75 BLEU", and 3039 where the text has 3,127."""
    first = drawn("0.5 truly lost").frames[1].facts
    assert first["The loss lies between"] == "0.00 and 0.75 BLEU"
    assert drawn("0.29 truly lost").frames[3].facts["Runs of each to decide"] == "3,039"


@ways
def test_every_interval_is_that_of_the_formula_and_stays_when_runs_are_added(way):
    across = place()
    for done, frame in enumerate(drawn(way).frames):
        there = {shape.key: shape for shape in frame.shapes}
        assert [n for n in COUNTS if f"loss {n}" in there] == [*COUNTS[:done]]
        for n in COUNTS[:done]:
            loss, margin = by_hand(way, n)
            block = there[f"loss {n}"]
            ends = block.x - block.width / 2, block.x + block.width / 2
            assert ends == pytest.approx((across(loss - margin), across(loss + margin)), abs=0.02)
            assert there[f"middle {n}"].x == pytest.approx(across(loss), abs=0.02)
            word = (
                "pass" if loss + margin <= TOLERANCE else "fail" if loss - margin > TOLERANCE else "undecided"
            )  # fmt: skip
            assert there[f"word {n}"].text == word
            assert block.tone == drawn(way).tones[word]
        if done:
            word = there[f"word {COUNTS[done - 1]}"].text
            assert frame.facts["Answer"] == word
            assert frame.caption.endswith(f": {word}.")


@ways
def test_there_is_a_dot_for_each_run_and_a_stroke_at_their_mean(way):
    frame = drawn(way).frames[6]  # eight of each
    for side in (0, 1):
        dots = [s.x for s in frame.shapes if s.key.startswith(f"run {side}.")]
        (mean,) = [s.x for s in frame.shapes if s.key == f"mean {side}"]
        assert len(dots) == 8
        assert mean == pytest.approx(sum(dots) / 8)
        values = np.array(WAYS[way][side][:8])
        # One scale for both strips: as far apart as the runs are.
        assert np.corrcoef(dots, values)[0, 1] == pytest.approx(1)
        (said,) = [s.text for s in frame.shapes if s.key == f"is {side}"]
        assert said == f"mean {values.mean():.3f}"
    assert frame.facts["Runs in all"] == "16"


@ways
def test_both_parts_have_numbers_that_say_where_a_run_and_an_end_of_a_loss_lie(way):
    """Neither 24.6 nor -0.11 could be read off it: of both scales only 0 had its number."""
    frame = drawn(way).frames[-1]
    there = {shape.key: shape for shape in frame.shapes}
    runs = {f"run {s}.{n}": v for s in (0, 1) for n, v in enumerate(WAYS[way][s])}
    low, _ = by_hand(way, 24)
    losses = {"middle 24": low, "nothing": 0.0, "allowed": TOLERANCE}
    for numbers, values in (("value ", runs), ("loss of ", losses)):
        scale = {float(s.text): s.x for key, s in there.items() if key.startswith(numbers)}
        assert len(scale) >= 3
        slope, start = np.polyfit(list(scale), list(scale.values()), 1)
        for key, value in values.items():
            assert there[key].x == pytest.approx(start + slope * value, abs=0.05)
        assert min(np.diff(sorted(scale.values()))) > 30
    assert "0.0" in {shape.text for shape in frame.shapes}


def test_what_the_chapter_says_of_the_five():
    words = {way: [one.facts["Answer"] for one in drawn(way).frames[1:]] for way in WAYS}
    assert set(words["nothing truly lost"]) == {"pass"}
    assert words["0.167 truly lost"] == ["undecided"] * 6 + ["pass"] * 3
    assert set(words["0.29 truly lost"]) == {"undecided"}
    # Right in the end, and wrong for whoever stops at the first answer.
    assert words["0.29 truly lost, other luck"][1] == "fail"
    assert words["0.29 truly lost, other luck"][-1] == "undecided"
    assert words["0.5 truly lost"][-1] == "fail"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (({}, 0.3, NOISE), "ways must be"),
        (({"a": 3}, 0.3, NOISE), "way 'a' must be 24 runs"),
        (({"a": ([1.0], [2.0])}, 0.3, NOISE), "way 'a' must be 24 runs"),
        (({"a": (["x"] * 24, [2.0] * 24)}, 0.3, NOISE), "way 'a' must be 24 runs|run must be"),
        ((WAYS, -1, NOISE), "tolerance must be"),
        ((WAYS, 0.3, 0.159), "noise must be a Noise"),
        ((WAYS, 0.3, NOISE, ("a", "b"), "q", 3), "counts must be"),
        ((WAYS, 0.3, NOISE, ("a", "b"), "q", (2, 1)), "counts must be"),
    ],
)
def test_what_the_gate_cannot_be_asked_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        quality_gate(*given)
