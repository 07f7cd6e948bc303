"""Joules and grams, against integrated power traces and published footprints."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import cost, energy, step
from scalelab.models.cost.energy import ElectricityGrid
from scalelab.models.cost.step import Step
from scalelab.refusal import Refusal

DAY, MWH = 86400.0, 3.6e9


@pytest.mark.parametrize("share", [0.0, 0.25, 0.8, 1.0])
def test_energy_is_the_integral_of_a_power_trace(share):
    """A worker that computes for a share of every second, sampled each millisecond for a minute."""
    edges = np.arange(60_001) / 1000
    busy = (edges[:-1] + 0.0005) % 1.0 < share
    trace = np.where(busy, 700.0, 90.0)
    integral = float(np.sum(trace * np.diff(edges)))
    modelled = energy.joules(60, energy.watts(share, idle=90, busy=700), workers=8, pue=1.2)
    assert modelled == pytest.approx(8 * 1.2 * integral, rel=1e-9)


def test_the_published_footprint_of_gpt_3():
    """Patterson et al. 2021: 10,000 V100 at 330 W for 14.8 days, PUE 1.10: 1287 MWh, 552.1 t."""
    joules = energy.joules(14.8 * DAY, watts=330, workers=10_000, pue=1.10)
    assert joules / MWH == pytest.approx(1287, rel=0.005)  # days are published to a tenth
    grid = ElectricityGrid(intensity=429, place="USA", date="2020", source="arXiv:2104.10350")
    assert energy.grams(1287 * MWH, grid) / 1e6 == pytest.approx(552.1, abs=0.05)


def test_a_step_that_waits_still_draws_power():
    """Per sample: the busy joules stay, the idle ones grow with what the step waits."""
    job = Step(4096, 50, 1e9, all_reduce=lambda size, workers: size / 12.5e9)
    workers = np.array([1, 64, 1024])
    power = energy.watts(step.efficiency(job, workers), idle=100, busy=700)
    each = energy.per_work(energy.joules(step.seconds(job, workers), power, workers), 4096)
    busy = 700 / 50
    waits = step.seconds(job, workers) - step.compute(job, workers)
    assert each == pytest.approx(busy + 100 * workers * waits / 4096, rel=1e-12)
    assert (np.diff(each) > 0).all()


def test_the_cheaper_and_faster_run_can_emit_more():
    """Twice the machines at a 60% discount: done sooner, for less money, with more joules."""
    few, many = (8 * 3600, 4.0, 8), (5 * 3600, 3.2, 16)
    bills = [cost.dollars(seconds, hourly) for seconds, hourly, _ in (few, many)]
    joules = [energy.joules(seconds, 600, workers) for seconds, _, workers in (few, many)]
    assert bills[1] < bills[0]
    assert joules[1] > joules[0]


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e3), st.integers(1, 10**5), st.floats(1, 3))
def test_energy_scales_with_everything(seconds, watts, workers, pue):
    joules = energy.joules(seconds, watts, workers, pue)
    assert joules >= seconds * watts * workers * (1 - 1e-12)
    assert energy.joules(2 * seconds, watts, workers, pue) == pytest.approx(2 * joules)
    grid = ElectricityGrid(300, "somewhere", "2024-05")
    assert energy.grams(joules, grid) == pytest.approx(joules / 3.6e6 * 300)


@given(st.floats(0, 1), st.floats(0, 500), st.floats(0, 500))
def test_power_lies_between_idle_and_busy(share, idle, more):
    watts = energy.watts(share, idle, idle + more)
    assert idle - 1e-9 <= watts <= idle + more + 1e-9


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: energy.watts(0.5, idle=300, busy=200),
            "busy must be at least idle, got 100 W less",
        ),
        (lambda: energy.watts(80, 100, 700), r"utilization must be in \[0, 1\], got 80: "),
        (lambda: energy.joules(1, 1, pue=0.9), "pue must be a finite number from 1 on, got 0.9: "),
        (
            lambda: energy.grams(1, 429),
            "grid must be an ElectricityGrid, got 429: .* without place and date",
        ),
        (
            lambda: ElectricityGrid(-1, "USA", "2020"),
            "intensity must be a finite number from 0 on, got -1: ",
        ),
        (lambda: ElectricityGrid(429, "", "2020"), "place must be text, got '': name the grid"),
        (
            lambda: ElectricityGrid(429, "USA", "lately"),
            "date must be a year, .*, got 'lately': say when",
        ),
        (lambda: ElectricityGrid(429, "USA", 2020), "date must be a year, .*, got 2020: say when"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(Refusal, match=sentence):
        call()
