"""The drawing of pages that wait for all of their calls, held against their table, read here by hand."""

import numpy as np
import pytest

from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.waiting import fan_out

LIMIT = 0.020


def table():
    dice = np.random.default_rng(14)
    slow = dice.random((10, 10)) < 0.1
    return np.where(slow, 0.050, dice.uniform(0.008, 0.014, (10, 10)))


STEPS = [[0.010, 0.012, 0.030], [0.011, 0.010, 0.012]]
CASES = {"pages": lambda: fan_out("ten pages", table(), LIMIT),
         "steps": lambda: fan_out("two steps", STEPS, LIMIT, whole="step", part="worker")}  # fmt: skip


def workers():
    """Eight workers for ten steps, without pauses and with."""
    dice = np.random.default_rng(11)
    steady = dice.normal(0.100, 0.005, (10, 8))
    return {"steady": steady, "with pauses": steady + 0.050 * (dice.random((10, 8)) < 0.05)}


SHOWN = {
    "fan-out": lambda: Stepper(CASES["pages"]()),
    "a step that waits": lambda: Stepper(
        *[
            fan_out(name, times, 0.120, whole="step", part="worker", horizon=0.170)
            for name, times in workers().items()
        ],
        choose="workers",
    ),
}


@pytest.mark.parametrize(("name", "times"), [("pages", table()), ("steps", np.array(STEPS))])
def test_rows_are_as_long_as_the_calls_and_grey_until_the_slowest(name, times):
    drawing = CASES[name]()
    whole, part = ("page", "server") if name == "pages" else ("step", "worker")
    axis = next(s for s in drawing.frames[0].shapes if s.key == "axis")
    each = axis.width / times.max()
    for done, frame in enumerate(drawing.frames[1 : len(times) + 1]):
        blocks = {s.key: s for s in frame.shapes if s.kind == "block"}
        slowest = max(times[done])
        for row, took in enumerate(times[done]):
            block = blocks[f"{part} {row + 1}"]
            assert block.width == pytest.approx(each * took)
            assert (
                block.tone == drawing.tones["a slow one" if took > LIMIT else f"a {part} at work"]
            )
            rest = blocks.get(f"rest {row + 1}")
            assert (rest.width if rest else 0) == pytest.approx(each * (slowest - took))
        assert frame.facts[f"This {whole}"] == f"{round(1e3 * slowest, 1):g} ms"


def test_cells_stay_and_a_page_is_slow_that_has_a_slow_one():
    drawing, times = CASES["pages"](), table()
    slow = drawing.tones["a slow one"]
    for done, frame in enumerate(drawing.frames[:11]):
        blocks = {s.key: s for s in frame.shapes if s.kind == "block"}
        cells = {key: one for key, one in blocks.items() if key.startswith("cell")}
        assert len(cells) == 10 * done
        for page in range(done):
            late = [row for row in range(10) if cells[f"cell {page + 1}.{row + 1}"].tone == slow]
            assert late == [row for row in range(10) if times[page][row] > LIMIT]
            assert (blocks[f"page {page + 1}"].tone == slow) == bool(late)
        pages = sum(any(one > LIMIT for one in times[page]) for page in range(done))
        calls = sum(one > LIMIT for page in range(done) for one in times[page])
        assert frame.facts["Slow pages"] == f"{pages} of {done}"
        assert frame.facts["Slow times"] == f"{calls} of {10 * done}"


def test_one_in_ten_calls_is_slow_and_most_pages_are():
    """1 - 0.9 ** 10 is 65%, which six pages of ten come nearest to."""
    last = CASES["pages"]().frames[-1]
    assert (
        last.caption
        == "10 of 100 times were slow, and 6 of 10 pages. Computed: 1 − (1 − 0.1)^10 = 65%."
    )
    times = table()
    page, call = (round(1e3 * one, 1) for one in (times.max(axis=1).mean(), times.mean()))
    assert last.facts["Mean times so far"] == f"page {page:g} ms, server {call:g} ms"


def test_pauses_cost_a_step_about_seven_times_what_they_cost_a_worker():
    """What the chapter says of them: 2.5 ms of a worker, who is slow in one of twenty steps."""
    steady, pauses = workers().values()
    assert (pauses.mean() - steady.mean()) * 1e3 == pytest.approx(2.5)
    longer = (pauses.max(axis=1).mean() - steady.max(axis=1).mean()) / (pauses - steady).mean()
    assert longer == pytest.approx(7, abs=0.2)
    even, late = (one.frames[-1].caption for one in SHOWN["a step that waits"]().drawings)
    assert (
        even == "Nobody was slow. Still the mean step took 105.9 ms, and the mean worker 100.1 ms."
    )
    assert late.startswith("4 of 80 times were slow, and 4 of 10 steps.")


def test_a_caption_says_who_is_waited_for():
    drawing = CASES["steps"]()
    assert drawing.frames[1].caption == (
        "Step 1: worker 3 is slow. The others were done after 12 ms, and the step waits."
    )
    assert "nobody is slow" in drawing.frames[2].caption


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0, 2.0], 1.0), "times must be a table"),
        ((np.ones((11, 2)), 1.0), "times must be at most 10"),
        ((np.zeros((2, 2)), 1.0), "times must be"),
        ((np.ones((2, 2)), "slow"), "limit must be"),
        ((np.ones((2, 2)), 1.0), "horizon must be"),
        (("page", 1.0), "times must"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        fan_out("a page", *given, horizon=0.5)
