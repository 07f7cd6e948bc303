"""The drawing of a run on spot machines: its blocks are time and money, held against `runs` and by hand."""

from dataclasses import replace

import pytest

from scalelab.models import cost, machines
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.deciding import spot_runs

HOUR, DAY, SEED = 3600, 86400, 2
BETWEEN = machines.mean_time_to_failure(DAY, 8)
OFTEN = machines.daly_interval(60, BETWEEN)
GIVEN = cost.Spot(8 * 0.7, BETWEEN, write=60, restart=300, wait=1800)
KEPT = replace(GIVEN, kept=7 / 8)
WAYS = {
    "others given back": (GIVEN, OFTEN),
    "others kept": (KEPT, OFTEN),
    "kept, two minutes' notice": (replace(KEPT, notice=120), OFTEN),
    "saved every two hours": (GIVEN, 2 * HOUR),
}
SHOWN = {
    "spot run": lambda: Stepper(*spot_runs(DAY, WAYS, 8 * 2.0, seed=SEED), choose="what one does")
}
ways = pytest.mark.parametrize("way", WAYS)
LEFT, ACROSS = 50, 302 / 8  # where a line begins, and how long an hour is
TONES = {"saved": 3, "lost": 2, "open": 1, "wait": 5, "restart": 4}


def drawn(way):
    return next(one for one in spot_runs(DAY, WAYS, 16.0, seed=SEED) if one.name == way)


def blocks(frame):
    return [shape for shape in frame.shapes if shape.kind == "block"]


def hours(frame, *tones):
    return sum(one.width for one in blocks(frame) if one.tone in [TONES[t] for t in tones]) / ACROSS


def money(frame, hourly):
    """The area of the blocks: as high as the machines that are paid; what is 2 high is nothing."""
    paid = sum(one.width * one.height / 18 for one in blocks(frame) if one.height > 2)
    return hourly * paid / ACROSS


@ways
def test_the_last_step_is_the_run_that_the_simulation_follows(way):
    offer, interval = WAYS[way]
    (elapsed,), (paid,), (times,) = (
        getattr(cost.runs(DAY, interval, offer, jobs=1, seed=SEED), name)
        for name in ("elapsed", "dollars", "preemptions")
    )
    last = drawn(way).frames[-1]
    assert hours(last, *TONES) == pytest.approx(elapsed / HOUR, abs=0.02)
    assert money(last, offer.hourly) == pytest.approx(paid, rel=2e-3)
    assert sum(shape.kind == "arrow" for shape in last.shapes) == times
    assert last.facts["Work that lasts"] == "24.0 of 24 h"
    assert last.facts["Bill so far"].startswith(f"${paid:,.2f}, at $5.60 an hour; on demand $384")
    assert f"{elapsed / HOUR:.1f} h in place of 24" in last.caption


@ways
def test_each_step_goes_on_where_the_one_before_stopped_and_its_area_is_the_bill(way):
    offer, _ = WAYS[way]
    ended = -1.0
    for frame in drawn(way).frames:
        assert money(frame, offer.hourly) == pytest.approx(
            float(frame.facts["Bill so far"][1:].split(",")[0]), abs=0.1
        )
        assert frame.facts["Lost"] == f"{hours(frame, 'lost'):.1f} h"
        assert hours(frame, *TONES) >= ended
        ended = hours(frame, *TONES)
        # Line after line, a block begins where one ends, or at the left.
        for one in blocks(frame):
            begins, line = one.x - one.width / 2, one.y + one.height / 2
            ends = [o.x + o.width / 2 for o in blocks(frame) if o.y + o.height / 2 == line]
            assert min(abs(begins - other) for other in [LEFT, *ends]) < 0.1


def test_what_was_not_saved_is_lost_when_a_machine_goes_unless_there_was_a_notice():
    before, after = (drawn("others given back").frames[at] for at in (1, 2))
    assert hours(before, "open") == hours(after, "lost") > 0
    assert hours(before, "lost") == hours(after, "open") == 0
    assert all(
        hours(frame, "lost", "open") == 0 for frame in drawn("kept, two minutes' notice").frames
    )


def test_by_hand():
    """It saves every 18 min 19 s and a minute each: nine times until one is taken, 14 min after the last."""
    interval = OFTEN + 60
    frame = drawn("others given back").frames[1]
    lasting = float(frame.facts["Work that lasts"].split()[0])
    assert lasting == pytest.approx(9 * OFTEN / HOUR, abs=0.05)
    ticks = sorted(shape.x for shape in frame.shapes if shape.key.startswith("checkpoint"))
    assert ticks == pytest.approx([LEFT + n * interval / HOUR * ACROSS for n in range(1, 10)])
    assert "saves 9 times" in frame.caption


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, WAYS, 16), "useful must be"),
        ((DAY, {}, 16), "ways must be"),
        ((DAY, {"a": GIVEN}, 16), "way 'a' must be an offer and an interval"),
        ((DAY, {"a": (3, 60)}, 16), "offer of 'a' must be a Spot"),
        ((DAY, {"a": (replace(GIVEN, between=900 * DAY), 3600)}, 16), "preempted 1 to"),
        ((9 * DAY, {"a": (replace(GIVEN, between=DAY), 3600)}, 16), "at most 72 hours"),
        ((DAY, WAYS, -1), "on_demand must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        spot_runs(*given)


def test_a_notice_is_one_of_the_times_it_saved_and_none_is_said_in_words():
    """Saved every 18 min 19 s and upon the notice: all that was worked for lasts."""
    noticed = drawn("kept, two minutes' notice").frames[1]
    ticks = [shape for shape in noticed.shapes if shape.key.startswith("checkpoint")]
    assert f"saves {len(ticks)} times. The last of them was upon a notice." in noticed.caption
    assert "never saves" in drawn("saved every two hours").frames[1].caption


def test_what_was_never_saved_is_lost_as_a_whole_and_a_return_may_be_cut_short():
    """The next machine is taken 3 minutes into a return of 5."""
    told = [frame.caption for frame in drawn("saved every two hours").frames]
    assert "All 23 min of work are lost." in told[2]
    cut = [frame.caption for frame in drawn("others kept").frames if "cut short" in frame.caption]
    assert len(cut) == 1
    assert cut[0].endswith("3 min of coming back, which is cut short.")
