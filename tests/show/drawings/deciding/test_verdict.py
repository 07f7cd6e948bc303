"""The drawing of a verdict, held against the six times and accuracies of the section, judged here by hand."""

from fractions import Fraction

import pytest

from scalelab import rubric
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.deciding import four_numbers

K = (1, 2, 4, 8, 16, 32)
T = (3600, 1880, 1010, 560, 340, 250)
LEVEL = (0.871, 0.871, 0.871, 0.871, 0.870, 0.871)
MORE = {"work": 1.2e6, "metric": "accuracy", "name": "the example"}
STUDY = rubric.columns(K, T, rate=K, quality=LEVEL, **MORE)
WORSE = rubric.columns(K, T, rate=K, quality=[*LEVEL[:5], 0.860], **MORE)
DEMANDS = {
    "a floor of 0.70": {},
    "done in 20 minutes": {"deadline": 1200},
    "done in five minutes": {"deadline": 300},
    "32 ended at 0.860, floor 0.40": {"floor": 0.40},
}
REPORTS = {
    name: rubric.judge(WORSE if "0.860" in name else STUDY, **demand)
    for name, demand in DEMANDS.items()
}
SHOWN = {"verdict": lambda: Stepper(*four_numbers(REPORTS), choose="demand")}
TAKEN = {"a floor of 0.70": 8, "done in 20 minutes": 4, "32 ended at 0.860, floor 0.40": 16}
names = pytest.mark.parametrize("name", DEMANDS)


def by_hand(name):
    """Of each size, whether it keeps what is asked of each number, in whole fractions."""
    floor = Fraction(str(DEMANDS[name].get("floor", "0.7")))
    last = DEMANDS[name].get("deadline", 10**9)
    quality = [Fraction(str(q)) for q in (*LEVEL[:5], 0.860 if "0.860" in name else 0.871)]
    return {
        k: {
            "speedup": t <= last,
            "efficiency": Fraction(T[0], t) / k >= floor,
            "quality": quality[0] - q <= Fraction("0.005"),
            "cost": True,
        }
        for k, t, q in zip(K, T, quality, strict=True)
    }


def drawn(name):
    return next(one for one in four_numbers(REPORTS) if one.name == name)


def things(frame):
    return {shape.key: shape for shape in frame.shapes}


@names
def test_a_size_is_in_until_a_demand_that_it_misses_is_asked(name):
    keeps, asked = by_hand(name), []
    order = [
        *(["speedup"] if "deadline" in DEMANDS[name] else []),
        "efficiency",
        "quality",
    ]
    for frame in drawn(name).frames:
        asked = order[: int(frame.facts["Demands applied"])]
        there = [k for k in K if f"in {k}" in things(frame)]
        assert there == [k for k in K if all(keeps[k][column] for column in asked)]
        assert frame.facts["Still in"] == (", ".join(f"K = {k}" for k in there) or "nobody")
    assert asked == order


@names
def test_the_last_step_takes_the_fastest_or_under_a_deadline_the_cheapest(name):
    last = things(drawn(name).frames[-1])
    taken = [k for k in K if last[f"seconds {k}"].text == "taken"]
    assert taken == ([TAKEN[name]] if name in TAKEN else [])
    left = [k for k, keeps in by_hand(name).items() if all(keeps.values())]
    if left:
        cost = {k: k * t for k, t in zip(K, T, strict=True)}
        pick = min(left, key=cost.get) if "deadline" in DEMANDS[name] else max(left)
        assert [pick] == taken


@names
def test_bars_are_as_long_as_their_numbers_and_a_stroke_stands_where_the_demand_is(name):
    keeps, last = by_hand(name), things(drawn(name).frames[-1])
    for k, t in zip(K, T, strict=True):
        numbers = {"speedup": 3600 / t, "efficiency": 3600 / t / k, "cost": k * t / 3600}
        full = {"speedup": 3600 / 250, "efficiency": 1.0, "cost": 32 * 250 / 3600}
        for column, value in numbers.items():
            bar = last[f"bar {column} {k}"]
            assert bar.width == pytest.approx(66 * value / full[column])
            assert last[f"{column} {k}"].text == f"{value:.2f}"
        out = {
            column: things(frame).get(f"out {column} {k}") is not None
            for frame in drawn(name).frames[-1:]
            for column in keeps[k]
        }
        first = next((column for column, keeps_it in keeps[k].items() if not keeps_it), None)
        # Each size is told once what it misses: the first that is asked.
        assert out == {column: column == first for column in keeps[k]}
        stroke = last[f"limit efficiency {k}"]
        bar = last[f"bar efficiency {k}"]
        right = bar.x + bar.width / 2
        assert (right >= stroke.x - 1e-9) == keeps[k]["efficiency"]
        if "deadline" in DEMANDS[name]:
            bar, stroke = last[f"bar speedup {k}"], last[f"limit speedup {k}"]
            assert (bar.x + bar.width / 2 >= stroke.x - 1e-9) == keeps[k]["speedup"]


def test_each_demand_says_who_drops_out():
    """A column "closed for" sizes, and "for nobody who is left" where nobody was left."""
    said = [frame.caption for frame in drawn("done in five minutes").frames]
    assert [one.partition(": ")[2] for one in said if "drop" in one] == [
        "K = 1, 2, 4, 8 and 16 drop out.",
        "K = 32 drops out.",
        "nobody else drops out.",
    ]
    lower = [frame.caption for frame in drawn("32 ended at 0.860, floor 0.40").frames]
    assert "The floor is an efficiency of 0.40: nobody drops out." in lower


def test_quality_is_drawn_as_what_was_lost():
    last = things(drawn("32 ended at 0.860, floor 0.40").frames[-1])
    assert last["bar quality 32"].width == pytest.approx(26 * 0.011 / 0.005)
    assert last["bar quality 16"].width == pytest.approx(26 * 0.001 / 0.005)
    assert "bar quality 8" not in last
    assert last["out quality 32"].text == "out"


def test_a_head_says_what_is_asked_of_its_column_once_it_is_asked():
    """Under "accuracy" lay bars of its loss, and no stroke had its number."""
    named = [*(f"below {one}" for one in ("speedup", "efficiency", "quality", "cost"))]
    frames = [
        {key: things(frame)[key].text for key in named if key in things(frame)}
        for frame in drawn("done in five minutes").frames
    ]
    last = {"below speedup": "≥ 12", "below efficiency": "≥ 0.70", "below quality": "loss ≤ 0.005"}
    assert frames[0] == {}
    assert frames[-1] == last
    assert {**last, "below quality": "bar: the loss"} in frames
    budget = rubric.judge(STUDY, budget=2.0)
    (one,) = four_numbers({"two dollars": budget})
    assert things(one.frames[-1])["below cost"].text == "≤ 2.00"


def test_what_noise_leaves_open_is_no_pass():
    noisy = rubric.judge(STUDY, floor=0.4, noise=rubric.Noise(0.003))
    (one,) = four_numbers({"noisy": noisy})
    last = things(one.frames[-1])
    assert last["out quality 32"].text == "open"
    assert one.frames[-1].facts["Still in"] == "K = 1"


GROWN = rubric.columns([1, 2], [60, 62], rate=[1, 2], quality=[1, 1], work=[10, 20])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "reports must be"),
        ({"a": 3}, "report 'a' must be a Report"),
        ({"a": rubric.judge(GROWN)}, "got weak scaling"),
        ({"a": rubric.judge(STUDY, throughput=1.0)}, "a limit on throughput"),
    ],
)
def test_what_is_not_of_four_numbers_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        four_numbers(given)
