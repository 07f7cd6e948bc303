"""The drawing of the way out of a device: bytes counted by hand, moved forward in small ticks."""

import pytest

from scalelab.models import machines
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.machines import way_out

DGX = machines.node("DGX H100")
ARITHMETIC = 6 * 70e9 * 4096 / (8 * 989.5e12) / 0.4
LAYERS_SPLIT = {"inside the box": False, "over boxes": True}
# GB, by hand: an eighth of the weights twice; four rings of eight in 80 layers; a ring of 16.
SIZES = {
    "weights": 2 * 2 * 70 / 8,
    "activations": 4 * 80 * 2 * 7 / 8 * 4096 * 8192 * 2 / 1e9,
    "gradients": 2 * 15 / 16 * 2 * 70 / 8,
}
RATES = {"weights": 3350, "activations": 450, "gradients": 50}  # GB/s


def crossings(apart, node=DGX):
    return machines.crossings(node, 70e9, 4096, 8192, 80, copies=16, apart=apart)


def drawn(name):
    return way_out(name, crossings(LAYERS_SPLIT[name]), ARITHMETIC)


SHOWN = {
    "the way out of a device": lambda: Stepper(
        *[drawn(name) for name in LAYERS_SPLIT], choose="each layer split"
    )
}
names = pytest.mark.parametrize("name", LAYERS_SPLIT)


def ticked(apart, until, tick=1e-4):
    """Move what is on each rung, tick by tick, who is first in line alone; return the GB that arrived."""
    left = dict(SIZES)
    rungs = [["weights"], ["activations", "gradients"]] if apart else [[one] for one in SIZES]
    for _ in range(round(until / tick)):
        for line in rungs:
            if first := next((one for one in line if left[one] > 0), None):
                rate = RATES["gradients"] if apart and first == "activations" else RATES[first]
                left[first] = max(left[first] - rate * tick, 0)
    return {one: SIZES[one] - left[one] for one in SIZES}


def seconds(frame):
    return float(frame.facts["Time"].removesuffix(" ms").replace(",", "")) / 1e3


@names
def test_each_frame_shows_what_has_arrived_by_then(name):
    apart = LAYERS_SPLIT[name]
    for frame in drawn(name).frames:
        shapes = {one.key: one for one in frame.shapes}
        now = seconds(frame)
        rounding = 0.0005 if now > 0.001 else 1e-4  # times are written in whole milliseconds
        for what, moved in ticked(apart, now).items():
            where = (
                "outside" if what == "gradients" or (apart and what == "activations") else "inside"
            )
            rate = 50 if where == "outside" else RATES[what]
            slack = rate * rounding + 0.05
            fill = shapes[f"in the tank of {what}, {where}"]
            tank = shapes[f"tank of {what}, {where}"]
            assert fill.width / tank.width * SIZES[what] == pytest.approx(moved, abs=slack)
            assert fill.x - fill.width / 2 == pytest.approx(tank.x - tank.width / 2)
            said = float(shapes[f"arrived of {what}, {where}"].text.removesuffix(" GB"))
            assert said == pytest.approx(moved, abs=slack)


@names
def test_pipes_are_as_wide_as_the_rungs_are_fast_and_lead_from_the_gpu_to_the_tank(name):
    apart = LAYERS_SPLIT[name]
    shapes = {one.key: one for one in drawn(name).frames[0].shapes}
    pipes = [one for key, one in shapes.items() if key.startswith("pipe")]
    rates = [3350, 50, 50] if apart else [3350, 450, 50]
    assert [p.height / pipes[0].height for p in pipes] == pytest.approx([r / 3350 for r in rates])
    gpu, edge = shapes["GPU"], shapes["box"].x + shapes["box"].width / 2
    for pipe, outside in zip(pipes, (False, apart, True), strict=True):
        tank = shapes[pipe.key.replace("pipe of", "tank of")]
        assert pipe.x - pipe.width / 2 == pytest.approx(gpu.x + gpu.width / 2)
        assert pipe.x + pipe.width / 2 == pytest.approx(tank.x - tank.width / 2)
        assert (tank.x > edge) is outside


@names
def test_what_fills_a_tank_ends_below_its_number(name):
    for frame in drawn(name).frames:
        shapes = {one.key: one for one in frame.shapes}
        for key, fill in shapes.items():
            if key.startswith("in the tank of "):
                said = shapes[key.replace("in the tank", "arrived")]
                assert said.y + 6 <= fill.y - fill.height / 2 + 1  # half of its letters on a phone


@names
def test_the_bars_below_end_when_all_is_done(name):
    apart = LAYERS_SPLIT[name]
    shapes = {one.key: one for one in drawn(name).frames[-1].shapes}
    took = {what: SIZES[what] / RATES[what] for what in SIZES} | {"arithmetic": ARITHMETIC}
    if apart:
        took["activations"] = SIZES["activations"] / 50
    for what, long in took.items():
        bar = shapes[f"bar {what}"]
        assert bar.width / (346 - 92) * 1.5 == pytest.approx(long)
        begin = took["activations"] if apart and what == "gradients" else 0
        assert (bar.x - bar.width / 2 - 92) / (346 - 92) * 1.5 == pytest.approx(begin)


def test_the_card_carries_one_after_the_other():
    last = drawn("over boxes").frames[-1]
    assert seconds(last) == pytest.approx(
        (SIZES["activations"] + SIZES["gradients"]) / 50, abs=1e-3
    )
    captions = " ".join(one.caption for one in drawn("over boxes").frames)
    assert "the card is taken" in captions
    assert "They had to queue for 752 ms first." in captions


@pytest.mark.parametrize("node", machines.names("nodes"))
def test_every_node_of_the_catalogue_can_be_drawn(node):
    for apart in (False, True):
        found = way_out("x", crossings(apart, machines.node(node)), ARITHMETIC, until=9)
        assert 6 <= len(found.frames) <= 12


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"crossings": None}, "crossings must be those of .*, got .*: .*"),
        ({"crossings": [1, 2, 3]}, "crossings must be those of .*, got .*: .*"),
        ({"arithmetic": -1}, "arithmetic must be .*, got -1: .*"),
        ({"until": 0.5}, "until must be at least 0.656 s, got 0.5: .*"),
    ],
)
def test_junk_is_refused(given, sentence):
    with pytest.raises(Refusal, match=sentence):
        way_out(**{"name": "x", "crossings": crossings(False), "arithmetic": ARITHMETIC} | given)


def test_how_many_times_as_long_the_arithmetic_takes_is_said_to_two_digits():
    told = " ".join(frame.caption for frame in drawn("inside the box").frames)
    arithmetic, weights, activations = 543.05e-3, 35e9 / 3350e9, 37.6e9 / 450e9
    assert f"{arithmetic / weights:.0f} times as long" in told
    assert f"{arithmetic / activations:.1f} times as long" in told


def test_what_queues_for_the_card_does_not_set_out_and_the_box_holds_whom_it_shows():
    """Activations over the card let the gradients wait, and come from other boxes."""
    inside, over = drawn("inside the box"), drawn("over boxes")
    assert inside.frames[0].caption.startswith("The bytes of one step set out at once.")
    assert "others of its box" in inside.about
    assert "the gradients queue" in over.frames[0].caption
    assert "others of its box" not in over.about
