"""What limits a step: the article's classes at their edges, and what happens between them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import bottleneck, step
from scalelab.models.cost.step import Step
from scalelab.models.scaling import laws

SHARE = st.floats(0, 1)


@pytest.mark.parametrize(
    ("shares", "kind"),
    [
        ((0.91, 0.09), "computation"),
        ((0.69, 0.31), "communication"),
        ((0.95, 0.05, 0.96), "memory"),
        ((0.60, 0.35, 0.96), "memory"),  # out of memory first: nothing else can be tried
        ((0.60, 0.35, 0.50, 0.20), "imbalance"),  # a wait shows up inside the all-reduce
        ((0.90, 0.09), "mixed: communication"),  # every threshold has to be passed
        ((0.91, 0.10), "mixed: communication"),
        ((0.70, 0.31), "mixed: communication"),
        ((0.69, 0.30), "mixed: communication"),
        ((0.80, 0.20), "mixed: communication"),  # the gap between the classes
        ((0.80, 0.05), "mixed: other"),
        ((0.60, 0.15), "mixed: other"),
        ((0.80, 0.05, 0.95, 0.10), "mixed: waiting"),
        ((0.95, 0.40), "mixed: communication"),  # hidden well: the next wall
        ((1.00, 0.00), "computation"),
        ((0.00, 0.00), "mixed: other"),
    ],
)
def test_a_step_falls_into_the_class_of_its_shares(shares, kind):
    assert bottleneck.classify(*shares) == kind


def article(utilization, communication, memory):
    """List the classes of the reference article that hold, in its own words."""
    rules = {
        "computation": utilization > 0.90 and communication < 0.10,
        "communication": utilization < 0.70 and communication > 0.30,
        "memory": memory > 0.95,
    }
    return {name for name, holds in rules.items() if holds}


@given(SHARE, SHARE, SHARE, SHARE)
def test_the_class_is_one_of_the_articles_wherever_it_has_one(
    utilization, communication, memory, w
):
    kind = bottleneck.classify(utilization, communication, memory, w)
    classes = article(utilization, communication, memory)
    if w > 0.1:
        assert kind == ("memory" if "memory" in classes else "imbalance")
    elif classes:
        assert kind in classes
    else:
        assert kind.startswith("mixed: ")


def test_a_fifth_of_all_ways_to_split_a_step_has_no_class_in_the_article():
    """Where utilization and communication add up to a step: 70 to 90% and 10 to 30%."""
    utilization = np.linspace(0, 1, 1001)
    kinds = bottleneck.classify(utilization, 1 - utilization)
    mixed = np.char.startswith(kinds, "mixed")
    assert mixed.mean() == pytest.approx(0.2, abs=0.002)
    assert (kinds[mixed] == "mixed: communication").all()  # nothing else is lost there


@given(SHARE, SHARE, SHARE)
def test_a_mixed_step_names_the_largest_loss(utilization, communication, waiting):
    kind = bottleneck.classify(utilization, communication, 0, waiting)
    if kind.startswith("mixed: "):
        lost = {
            "communication": communication,
            "waiting": waiting,
            "other": max(1 - utilization - communication - waiting, 0),
        }
        assert lost[kind.removeprefix("mixed: ")] == max(lost.values())


def test_the_largest_of_three_losses_need_not_be_most_of_what_is_lost():
    """The advice said "most of what is lost" wherever neither communication nor waiting was the largest."""
    busy, talks, waits = 0.70, 0.10, 0.09
    other = 1 - busy - talks - waits
    assert bottleneck.classify(busy, talks, 0, waits) == "mixed: other"
    assert other < 0.5 * (1 - busy)
    said = bottleneck.advice("mixed: other")
    assert "Most of what is lost" not in said
    assert "The largest part of what is lost is neither" in said


def test_every_class_has_advice_and_can_occur():
    grid = [0, 0.05, 0.08, 0.11, 0.2, 0.35, 0.6, 0.8, 0.95, 1]
    found = {bottleneck.classify(*shares) for shares in itertools.product(grid, repeat=4)}
    assert found == set(bottleneck.ADVICE)
    assert len({bottleneck.advice(kind) for kind in found}) == len(found)
    with pytest.raises(ValueError, match=r"kind must be one of memory, .*, got 'cpu'"):
        bottleneck.advice("cpu")


def test_a_modelled_step_goes_from_one_wall_to_the_other():
    job = Step(
        microbatch=4096,
        worker_throughput=50,
        gradient=1e9,
        all_reduce=lambda size, workers: size / 12.5e9,
    )
    kinds = []
    for workers in (2, 64, 256, 4096):
        time, parts = step.seconds(job, workers), step.terms(job, workers)
        kinds.append(bottleneck.classify(parts["compute"] / time, parts["exchange"] / time))
    assert kinds == ["computation", "computation", "mixed: communication", "communication"]


def test_what_is_lost_when_nothing_hides_is_the_serial_fraction_of_a_step():
    job = Step(
        microbatch=4096,
        worker_throughput=50,
        gradient=1e9,
        all_reduce=lambda size, workers: size / 12.5e9,
    )
    workers = np.array([2, 64, 4096])
    share = laws.step_serial(step.compute(job, workers), step.communication(job, workers))
    assert share == pytest.approx(1 - step.efficiency(job, workers), rel=1e-12)
