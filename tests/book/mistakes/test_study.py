"""Mistakes that section 3.3 made once, each as it was: none may come back."""

import re

import numpy as np
import pytest

from scalelab.data import datasets
from scalelab.models import scaling
from scalelab.models.scaling import laws, study
from scalelab.show import columns
from scalelab.show.plots import MODEL, study as figures
from tests.notebooks import chapter

STRONG, WEAK = (datasets.load(f"mfc_frontier_{lens}_rdmaT") for lens in ("strong", "weak"))


def cell(slug, holding):
    """Return the code cell of a chapter that holds a text."""
    return next(code for code in chapter(slug).code if holding in code)


def test_a_figure_of_two_studies_has_no_row_that_nobody_measured():
    """It read one study at the sizes of the other, on a straight line, and called that recorded."""
    chart = figures.both("two", {8: 1.0, 64: 0.8}, {16: 1.0, 128: 0.9}, None, "nodes")
    assert [row[2:] for row in chart.rows()] == [["1", ""], ["", "1"], ["0.8", ""], ["", "0.9"]]
    assert chart.x.label == "nodes K"


def test_steps_are_counted_whole():
    """11,250 steps were printed as 11,200."""
    shown = {}
    names = {
        "np": np,
        "scaling": scaling,
        "plots": type("plots", (), {"MODEL": MODEL}),
        "table": lambda given, *_, **__: shown.update(given),
    }
    exec(cell("03_study", "least_steps, least_samples ="), names)
    assert 11_250 in list(shown["steps"])
    page = columns.table(shown, "steps")._repr_html_()
    assert re.search(r"\b11,250\b", page)
    assert re.search(r"\b10,625\b", page)


@pytest.mark.parametrize("workers", [2, 8, 256])
@pytest.mark.parametrize("exchange", [0.01, 0.3, 2.0])
def test_an_exchange_that_one_worker_never_makes_is_no_serial_part(workers, exchange):
    """Every worker computes its part of a second, then all exchange: E = 1 - s, and no law's."""
    clocks = [1 / workers] * workers
    step = max(clocks) + exchange
    share = exchange / step
    efficiency = study.strong_efficiency(1.0, step, workers)
    assert efficiency == pytest.approx(1 - share)
    too_high = laws.gustafson(workers, share) / workers - efficiency
    assert too_high == pytest.approx(share / workers)


def test_the_weak_table_foretells_the_end_of_the_strong_one_but_not_its_middle():
    """3 % of a step beside 1/512 of it; what all rows pay alike, the weak table divides out."""
    growth = np.array(STRONG.workers[1:]) / STRONG.workers[0]
    assert list(growth) == [k / WEAK.workers[0] for k in WEAK.workers[1:]]
    added = np.array(WEAK.seconds[1:]) / WEAK.seconds[0] - 1
    foretold = 1 / (1 + growth * added)
    measured = STRONG.seconds[0] / np.array(STRONG.seconds[1:]) / growth
    assert foretold == pytest.approx([0.976, 0.727, 0.0614], abs=5e-4)
    assert measured == pytest.approx([0.801, 0.370, 0.0881], abs=5e-4)
    piece = np.array([8, 16, 32, 64])
    times = piece * np.array([1.309068, 1.258899, 1.144731, 1.144664])
    mean = piece - piece.mean()  # the line by its normal equations, not by polyfit
    slope = (mean @ times) / (mean @ mean)
    fixed = times.mean() - slope * piece.mean()
    alone = (fixed + 64 * slope) / (fixed + 64 * slope / growth) / growth
    assert alone == pytest.approx(measured, rel=0.11)


def test_no_efficiency_of_learning_is_read_from_epochs_that_are_not_the_same_work():
    """An epoch of MiniGo is as many games as the machine happens to play."""
    assert not any("minigo" in code for code in chapter("03_study").code)
    assert "games" in " ".join(datasets.load("mlperf1.0_nvidia_minigo").traps)
    rnnt = datasets.load("mlperf1.0_nvidia_rnnt")
    assert len(set(rnnt.column("global_batch_size"))) == 1


def test_the_job_of_the_practical_example_is_the_one_that_judges_it():
    """A team's 33 hours on 16 GPUs and a public table's 33.2 looked like one run, and were not said to be."""
    bert = datasets.load("deepspeed_bert_large")
    assert (bert.workers[0], round(bert.values[0])) == (16, 33)
    story = next(text for text in chapter("03_study").markdown if "**Who:**" in text)
    assert "BERT-large" in story


def test_under_the_slow_half_of_the_growth_nothing_is_gained_and_in_the_middle_most():
    """The curve leaves the strong one late: 0.6 is halfway."""

    def at(power):
        return float(figures.lenses(power).readouts["E at K = 1,024"])

    halfway = (at(0) + at(1)) / 2
    powers = np.arange(16) / 10
    assert min(powers, key=lambda power: abs(at(power) - halfway)) == 0.6
    assert at(0.3) - at(0) < 0.1
    assert at(0.7) - at(0.3) > 0.5
