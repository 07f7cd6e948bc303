"""The drawing of what devices hold: each block against bytes that are counted by hand."""

import pytest

from scalelab.models import machines
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.machines import what_fits

H100 = machines.device("H100 SXM")
MODELS = {8: 4, 70: 64}  # billions of parameters, and devices
SHOWN = {
    "what sits in a device": lambda: Stepper(
        *[what_fits(n, k, H100) for n, k in MODELS.items()], choose="model"
    )
}
SEQUENCE = {8: 32 * 4096 * 8192 / 1e9, 70: 80 * 8192 * 8192 / 1e9}  # layers, hidden units, tokens
TOP, BOTTOM, GB = 24, 284, 1.5  # of the paper, and units to a GB
# Bytes of each weight: weights, gradients, the optimizer's; how many of them are cut in pieces, from
# behind; and bytes that each token keeps in each layer for each hidden unit, of how many sequences.
STORY = [
    ((0, 0, 0), 0, 0),
    ((2, 0, 0), 0, 0),
    ((2, 2, 0), 0, 0),
    ((2, 2, 4), 0, 0),
    ((2, 2, 4 + 4 + 4), 0, 0),
    ((4, 4, 4 + 4), 0, 0),
    ((2, 2, 12), 1, 0),
    ((2, 2, 12), 2, 0),
    ((2, 2, 12), 3, 0),
    ((2, 2, 12), 3, 34),
    ((2, 2, 12), 3, 2 * 34),
    ((2, 2, 12), 3, 2 * 2),
    ((2, 2, 12), 3, 4 * 2),
    ((2, 2, 4 + 1 + 1), 3, 4 * 2),
]
models = pytest.mark.parametrize("billions", MODELS)


def held(billions, step):
    """What one device holds, in GB."""
    sizes, cut, kept = STORY[step]
    parts = dict(zip(("weights", "gradients", "optimizer"), sizes, strict=True))
    for name in list(parts)[3 - cut :]:
        parts[name] /= MODELS[billions]
    return {name: billions * size for name, size in parts.items()} | {
        "activations": kept * SEQUENCE[billions]
    }


def drawn(billions):
    return what_fits(billions, MODELS[billions], H100)


@models
def test_blocks_stand_on_each_other_each_as_high_as_its_bytes(billions):
    frames = drawn(billions).frames
    assert len(frames) == len(STORY)
    for step, frame in enumerate(frames):
        shapes = {one.key: one for one in frame.shapes}
        for at in range(1, 5):
            below = 0.0
            for part, size in held(billions, step).items():
                block, above = shapes[f"{part} of {at}"], below + size
                for edge, way in ((below, 1), (above, -1)):
                    there = (BOTTOM - block.y - way * block.height / 2) / GB
                    assert there == pytest.approx(min(edge, (BOTTOM - TOP) / GB))
                below = above


@models
def test_facts_say_what_is_held_and_whether_it_fits(billions):
    for step, frame in enumerate(drawn(billions).frames):
        parts = held(billions, step)
        for said, size in zip(
            frame.facts["On each device, in GB"].split(", "), parts.values(), strict=True
        ):
            assert float(said.split()[1]) == pytest.approx(size, rel=5e-3)
        fits = sum(parts.values()) <= H100.memory / 1e9
        assert frame.facts["Fits"] == ("yes" if fits else "no")


@models
def test_what_is_cut_says_which_piece_and_what_is_copied_does_not(billions):
    for step, frame in enumerate(drawn(billions).frames):
        cut = ["weights", "gradients", "optimizer"][3 - STORY[step][1] :]
        for shape in frame.shapes:
            if shape.kind == "block" and shape.text:
                part, _, at = shape.key.split()
                begin = f"{part[0]}{at}" if part in cut else part[0]
                assert shape.text.startswith(f"{begin}: ")


@models
def test_a_device_is_as_high_as_its_memory(billions):
    first = {one.key: one for one in drawn(billions).frames[0].shapes}
    for at in range(1, 5):
        assert first[f"device {at}"].height == pytest.approx(H100.memory / 1e9 * GB)
    assert first["limit"].y == pytest.approx(BOTTOM - H100.memory / 1e9 * GB)


def test_what_is_higher_than_the_paper_is_told_with_an_arrow():
    for billions, step, said in ((8, 4, "128"), (70, 4, "1,120 ↑"), (70, 8, "17.5")):
        frame = drawn(billions).frames[step]
        assert next(one.text for one in frame.shapes if one.key == "sum of 1") == said


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((9, 4, H100), "billions must be one of 8, 70, got '9': .*"),
        (([], 4, H100), "billions must be one of .*, got .*: .*"),
        ((8, 1, H100), "devices must be a whole number from 4 on, got 1: .*"),
        ((8, 4, "H100"), "device must be a Device, got 'H100': .*"),
        ((8, 4, machines.device("EPYC 9654")), "device must have memory .*, got 'EPYC 9654': .*"),
    ],
)
def test_junk_is_refused(given, sentence):
    with pytest.raises(Refusal, match=sentence):
        what_fits(*given)
