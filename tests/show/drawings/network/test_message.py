"""The drawing of one message, held against T = alpha + beta M worked out by hand."""

import pytest

from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.network import one_message

CARD = Network(alpha=5e-6, beta=1 / 50e9)
SHOWN = {"one message": lambda: Stepper(one_message(CARD))}
# Microseconds, kB that have arrived, and kB of each message of the last row, step by step.
BY_HAND = [
    (0, 0, []),
    (2.5, 0, [250]),
    (5, 0, [250]),
    (7.5, 125, [250]),
    (10, 250, [250]),
    (5, 0, [25]),
    (5.5, 25, [25]),
    (5, 0, [1000]),
    (25, 1000, [1000]),
    (22, 100, [25, 25, 25, 25]),
    (7, 100, [100]),
]


@pytest.mark.parametrize("step", range(len(BY_HAND)))
def test_each_step_tells_and_draws_what_has_arrived_by_when(step):
    frame = one_message(CARD).frames[step]
    micros, there, sizes = BY_HAND[step]
    said = frame.facts
    assert said["After"] == (f"{micros:g} µs" if micros else "0 s")
    if not sizes:
        return
    assert said["Arrived"].startswith(
        f"{there:g} kB" if 0 < there < 1000 else "1 MB" if there else "0 B"
    )
    speed = there * 1e3 / (micros * 1e-6) / 1e9
    assert said["Bytes over time"] == (f"{speed:.3g} GB/s" if there else "0 B/s")
    shapes = {shape.key: shape for shape in frame.shapes}
    share = there / sum(sizes)
    assert sum(shapes["arrived"].cells) == round(10 * share)
    assert sum(shapes["to be sent"].cells) == 10 - round(10 * share)
    # The blocks of the row end where its time does, on the axis that the ticks are on.
    row = max(int(key[4:]) for key in shapes if key.startswith("row "))
    blocks = [
        one for key, one in shapes.items() if key.endswith(f" of row {row}") and one.kind == "block"
    ]
    tick = [shapes[f"tick {n}"].x for n in (0, 1)]
    ends = max(one.x + one.width / 2 for one in blocks)
    assert (ends - tick[0]) / (tick[1] - tick[0]) * 5 == pytest.approx(micros)
    assert sum(one.width for one in blocks) == pytest.approx(ends - tick[0])  # one after another


def test_earlier_rows_stay_whole():
    frames = one_message(CARD).frames
    wide = {one.key: one.width for one in frames[-1].shapes if one.kind == "block"}
    assert wide["start 0 of row 0"] == pytest.approx(wide["bytes 0 of row 0"])  # n-half
    assert wide["bytes 0 of row 2"] == pytest.approx(4 * wide["start 0 of row 2"])
    assert wide["bytes 0 of row 1"] == pytest.approx(0.1 * wide["start 0 of row 1"])


def test_another_link_has_other_sizes_on_the_same_picture():
    other = one_message(Network(alpha=50e-6, beta=1 / 1e9))
    assert other.frames[4].facts["Arrived"] == "50 kB of 50 kB"
    assert other.frames[4].facts["After"] == "100 µs"
    same = [(one.key, one.x, one.width) for one in other.frames[8].shapes if one.kind == "block"]
    drawn = [
        (one.key, one.x, one.width)
        for one in one_message(CARD).frames[8].shapes
        if one.kind == "block"
    ]
    assert [key for key, *_ in same] == [key for key, *_ in drawn]
    for one, two in zip(same, drawn, strict=True):
        assert one[1:] == pytest.approx(two[1:])


def test_a_link_without_latency_is_refused():
    with pytest.raises(Refusal, match="alpha of link must be above 0"):
        one_message(Network(0, 1e-9))
    with pytest.raises(Refusal, match="network must be"):
        one_message("a card")
