"""The drawing of a step, each frame held against its terms, worked out here by hand."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from scalelab.models import cost, network, waiting
from scalelab.refusal import Refusal
from scalelab.show.drawings import Stepper
from scalelab.show.drawings.deciding import steps

LATENCY, BANDWIDTH, SCATTER = 20e-6, 12.5e9, 0.03
WIRE = network.Network(alpha=LATENCY, beta=1 / BANDWIDTH)
RING = partial(network.all_reduce, network=WIRE)
QUICK = partial(network.all_reduce, network=replace(WIRE, beta=WIRE.beta / 4))
JOB = cost.Step(512, 20, 1.4e9, RING, slowest=partial(waiting.normal, mean=1.0, deviation=SCATTER))
WAYS = {
    "as it is": JOB,
    "nine tenths may hide": replace(JOB, overlap=0.9),
    "a link four times faster": replace(JOB, all_reduce=QUICK),
    "nobody late": replace(JOB, slowest=None),
    "a pipeline of four stages": cost.Step(32, 20, 1.4e9, RING, accumulation=16, stages=4),
}
SIZES = 2 ** np.arange(9)
SHOWN = {"step": lambda: Stepper(*steps(WAYS, SIZES), choose="change")}
ways = pytest.mark.parametrize("way", WAYS)
TERMS = ("compute", "exchange", "bubble", "stragglers")


def slowest(k):
    """The mean of the largest of k normal times, by adding up a density."""
    x = np.linspace(-9, 9, 40_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    below = np.cumsum(density) * (x[1] - x[0])
    return 1 + SCATTER * float((x * k * below ** (k - 1) * density).sum() * (x[1] - x[0]))


def by_hand(way, k):
    """Seconds of compute, exposed exchange, bubble, wait, and of the exchange that is hidden."""
    stages, parts = (4, 16) if way.startswith("a pipeline") else (1, 1)
    compute = 512 / 20 / k
    copies, size = k / stages, 1.4e9 / stages
    per_byte = 1 / BANDWIDTH / (4 if "link" in way else 1)
    exchange = 2 * (copies - 1) * (LATENCY + size / copies * per_byte)
    may = 0.9 if "nine" in way else 0.0
    hidden = min(may * exchange, 2 / 3 * compute / parts)
    late = (
        compute * (slowest(k) - 1) if way not in ("nobody late", "a pipeline of four stages") else 0
    )
    return compute, exchange - hidden, compute * (stages - 1) / parts, late, hidden


def things(frame):
    return {shape.key: shape for shape in frame.shapes}


def drawn(way):
    return next(one for one in steps(WAYS, SIZES) if one.name == way)


@ways
def test_a_step_is_as_long_as_its_parts_and_each_lies_behind_what_it_waits_for(way):
    sizes = [k for k in SIZES if not way.startswith("a pipeline") or 4 <= k <= 128]
    assert len(drawn(way).frames) == len(sizes)
    for k, frame in zip(sizes, drawn(way).frames, strict=True):
        compute, exposed, bubble, late, hidden = by_hand(way, k)
        there, per = things(frame), 262 / (compute + exposed + bubble + late)
        done = compute + bubble + late
        ends = {
            "forward, typical GPU": (0, compute / 3),
            "backward, typical GPU": (compute / 3, compute),
            "bubble, typical GPU": (compute, compute + bubble),
            "wait, typical GPU": (compute + bubble, done),
            "forward, slowest GPU": (0, (compute + late) / 3),
            "backward, slowest GPU": ((compute + late) / 3, compute + late),
            "hidden": (done - hidden, done),
            "exposed": (done, done + exposed),
        }
        for key, (begin, end) in ends.items():
            if (end - begin) * per < 0.05:
                assert key not in there
                continue
            block = there[key]
            assert block.width == pytest.approx((end - begin) * per, rel=1e-3)
            assert block.x - block.width / 2 == pytest.approx(92 + begin * per, abs=1e-2)


@ways
def test_the_bills_are_to_one_scale_and_only_their_computing_is_the_same(way):
    largest = max(
        sum(by_hand(one, k)[:4]) / by_hand(one, k)[0]
        for one in WAYS for k in SIZES if not one.startswith("a pipeline")
    )  # fmt: skip
    unit = (262 - 46) / largest
    frame = drawn(way).frames[-1]
    for k in SIZES:
        there = things(frame)
        if f"bill of {k}" not in there:
            assert way.startswith("a pipeline")
            assert k not in range(4, 129)
            continue
        compute, *lost = by_hand(way, k)[:4]
        x = 92.0
        for name, part in zip(TERMS, (compute, *lost), strict=True):
            if (width := unit * part / compute) > 0.05:
                block = there[f"{name} of {k}"]
                assert block.width == pytest.approx(width, rel=2e-3)
                assert block.x == pytest.approx(x + width / 2, abs=0.05)
            x += width
        assert there[f"bill of {k}"].text == f"{(compute + sum(lost)) / compute:.2f}"
    widths = [things(frame)[f"compute of {k}"].width for k in (4, 32, 128)]
    assert widths == pytest.approx([widths[0]] * 3)
    assert widths[0] == pytest.approx(unit, rel=1e-4)


@ways
def test_a_row_comes_with_its_size_and_stays(way):
    for before, after in zip(drawn(way).frames, drawn(way).frames[1:], strict=False):
        rows = [
            {key: one for key, one in things(frame).items() if " of " in key}
            for frame in (before, after)
        ]
        assert rows[0].items() < rows[1].items()


@pytest.mark.parametrize(
    ("way", "k", "caption"),
    [
        ("as it is", 1, "One GPU computes for 25.6 s, a third forward and two thirds backward. "
                        "It has nobody to tell and nobody to wait for."),
        ("as it is", 32, "32 GPUs compute for 0.8 s each. The largest loss is the exchange, 20% of "
                         "the step."),
        ("as it is", 128, "128 GPUs compute for 0.2 s each. The exchange takes longer than that, "
                          "and meanwhile all of them are paid for idling."),
        ("nine tenths may hide", 32, "32 GPUs compute for 0.8 s each. Of an exchange of 0.218 s, "
                                     "0.196 s run behind the backward pass, at no cost."),
        ("nine tenths may hide", 128, "128 GPUs compute for 0.2 s each. The backward pass is now "
                                      "shorter than the exchange of 0.227 s, which outlasts it."),
    ],
)  # fmt: skip
def test_a_caption_says_what_the_step_lost_to(way, k, caption):
    frame = drawn(way).frames[SIZES.tolist().index(k)]
    assert frame.caption == caption
    assert frame.facts["Efficiency"] == f"{by_hand(way, k)[0] / sum(by_hand(way, k)[:4]):.2f}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (({}, [1, 2]), "jobs must be"),
        (({"a": 3}, [1, 2]), "job 'a' must be a Step"),
        (({"a": JOB}, 3), "workers must be a row"),
        (({"a": JOB}, range(1, 20)), "workers must be a row"),
        (({"a": JOB}, [0]), "workers must be a whole number"),
        (({"a": JOB}, [1024]), "workers must hold a size"),
    ],
)
def test_what_is_no_step_or_no_size_is_refused(given, said):
    with pytest.raises(Refusal, match=said):
        steps(*given)


def test_a_title_names_the_sizes_that_are_drawn():
    """A pipeline of four stages takes four GPUs, and its micro-batches feed 32 copies at most."""
    for one in SHOWN["step"]().drawings:
        sizes = [int(frame.caption.split()[0].replace("One", "1")) for frame in one.frames]
        assert f"on {min(sizes)} to {max(sizes)} GPUs" in one.title
