"""Mistakes that section 3.3 made once, each as it was: none may come back."""

import ast
import inspect
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from scalelab import records
from scalelab.data import datasets
from scalelab.measure.ranks import jobs
from scalelab.models import scaling
from scalelab.models.scaling import laws, study
from scalelab.show import columns, plots, words
from scalelab.show.plots import study as figures
from tests.notebooks import ROOT, chapter

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
        "show": SimpleNamespace(plots=plots, table=lambda given, *_, **__: shown.update(given)),
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
    """3% of a step beside 1/512 of it; what all rows pay alike, the weak table divides out."""
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
    for slug in ("03_study", "10_rubric"):
        assert not any("minigo" in code for code in chapter(slug).code)
    assert "games" in " ".join(datasets.load("mlperf1.0_nvidia_minigo").traps)
    rnnt = datasets.load("mlperf1.0_nvidia_rnnt")
    assert len(set(rnnt.column("global_batch_size"))) == 1


def test_three_percent_that_shrink_with_the_faces_are_no_single_digits():
    """97% of the weak study was said to mean single digits of the strong one: only if the 3% stay."""
    added = WEAK.seconds[-1] / WEAK.seconds[0] - 1
    smaller = WEAK.workers[-1] / WEAK.workers[0]
    assert smaller == 512
    faces = smaller ** (2 / 3)
    assert faces == pytest.approx(64)
    assert 1 / (1 + smaller * added) == pytest.approx(0.061, abs=5e-4)
    assert 1 / (1 + smaller * added / faces) == pytest.approx(0.81, abs=5e-3)


def test_what_one_gpu_says_is_uncertain_by_a_third():
    """The agreement within 11% was told as if four points with a kink gave more than one digit."""
    piece = np.array([8, 16, 32, 64])
    times = piece * np.array([1.309068, 1.258899, 1.144731, 1.144664])
    slope, fixed = np.polyfit(piece, times, 1)
    left = times - fixed - slope * piece
    spread = ((piece - piece.mean()) ** 2).sum()
    error = np.sqrt((left @ left) / 2 * (1 / 4 + piece.mean() ** 2 / spread))
    whole = fixed + 64 * slope
    assert fixed / whole == pytest.approx(0.023, abs=5e-4)
    assert error / whole == pytest.approx(0.008, abs=5e-4)
    assert 1000 * fixed / whole * STRONG.seconds[0] == pytest.approx(22, abs=0.5)
    assert 1000 * STRONG.seconds[-1] == pytest.approx(21, abs=0.5)


def test_an_epoch_that_the_logs_number_from_1_is_not_counted_twice():
    """Runs of DLRM that saw 3,775,334,400 of 4,195,197,692 samples stood as 1.9 epochs."""
    seen = 3_775_334_400 / 4_195_197_692  # of a log on 8 GPUs, whose last epoch_num is 1.8999
    assert seen == pytest.approx(0.8999, abs=5e-5)
    epochs = datasets.load("mlperf1.0_nvidia_dlrm").column("work_to_target")
    assert all(0.85 < one <= 1 for one in epochs)
    assert study.algorithmic_efficiency(epochs[0], epochs[-1]) == pytest.approx(0.91, abs=5e-4)


def test_the_epochs_of_rnnt_differ_at_the_edge_of_luck_and_not_by_less():
    """They were said not to differ, by the scatter of the minutes; the epochs scatter less."""
    runs = [57, 58, 58, 56, 60, 63, 59, 59, 60, 59, 58, 58, 56, 57, 58, 61, 59, 57, 59, 58]
    scatter = np.std(runs, ddof=1)  # MLPerf's reference at a batch of 2,048
    assert scatter == pytest.approx(1.7, abs=0.05)
    few, many = datasets.load("mlperf1.0_nvidia_rnnt").column("work_to_target")
    assert (many - few) / (scatter * np.sqrt(2 / 10)) == pytest.approx(2.1, abs=0.1)


def test_holding_the_machines_at_80_percent_costs_more_than_a_third():
    """It was told as a third; and which path ends nearest was not told at all."""
    job = {"fixed": 0.02, "sample": 0.002, "critical": 8192, "least_steps": 50}
    least = study.target_seconds(512, np.sqrt(8192 * 0.02 * 512 / 0.002), **job)
    assert study.target_seconds(512, 20_480, **job) / least == pytest.approx(1.36, abs=0.005)
    ends = [study.target_seconds(512, 512 * 64**power, **job) for power in (0.5, 0.75)]
    assert [least, *ends] == pytest.approx([5.1, 5.4, 5.6], abs=0.05)


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


def test_the_scatter_of_two_means_is_that_of_the_digits_shown():
    """1.7 times the root of 0.2 is 0.76; the scatter is 1.67."""
    runs = [57, 58, 58, 56, 60, 63, 59, 59, 60, 59, 58, 58, 56, 57, 58, 61, 59, 57, 59, 58]
    scatter = np.std(runs, ddof=1)
    assert f"{scatter:.2f}" == "1.67"
    assert f"{1.67 * np.sqrt(2 / 10):.2f}" == "0.75"


def test_the_work_of_a_job_with_a_serial_part_is_not_called_all_of_it():
    """K to the power p is what the part that divides has grown to."""
    says = figures.lenses(0.5, serial=0.1).readouts
    assert says["Parallel work at K = 1,024"] == "32 times"
    assert not any(name.startswith("Work ") for name in says)


def test_the_command_line_trains_what_the_cells_train():
    """`scalelab run training` is narrower unless it is told."""
    said = [text for text in chapter("03_study").markdown if "scalelab run training" in text]
    assert said
    lines = [line for text in said for line in text.splitlines() if "scalelab run training" in line]
    assert all("--set width=512" in line for line in lines)
    # The cells train 8 steps, the command 32 unless it is told.
    assert all("--set steps=8" in line for line in lines)
    assert inspect.signature(jobs.epoch_under_both_lenses).parameters["steps"].default == 8


def test_the_assignment_names_the_steps_of_its_epoch_to_the_command():
    """It said 16, and the command that it named for one's own times trained 32."""
    asked = json.loads((ROOT / "solutions/03_study/03_study.ipynb").read_text(encoding="utf-8"))
    (text,) = ("".join(c["source"]) for c in asked["cells"] if c["id"] == "question-3-3")
    (steps,) = re.findall(r"an epoch of (\d+) steps", text)
    assert f"scalelab run training --workers 1,2 --set steps={steps}" in text
    default = inspect.signature(jobs.training_epoch).parameters["steps"].default
    assert default != int(steps)


def test_a_figure_of_published_points_is_not_stamped_as_sums_without_a_measurement():
    code = cell("03_study", "figures.pieces(")
    names = {
        "np": np, "show": SimpleNamespace(Figure=lambda chart: chart), "figures": figures,
        "records": records, "piece": np.array([8, 64]), "step": np.array([1.0, 7.0]),
        "times": np.array([1.0, 8.0]), "E": np.array([1.0, 0.9, 0.5]), "slope": 0.1, "fixed": 0.2,
    }  # fmt: skip
    body = ast.parse(code).body
    body[-1] = ast.Assign([ast.Name("chart", ast.Store())], body[-1].value)
    exec(compile(ast.fix_missing_locations(ast.Module(body, [])), "cell", "exec"), names)
    assert names["chart"].stamp.kind == "published"
    assert "last column" not in names["chart"].stamp.note


def test_the_row_called_weak_takes_its_time_and_yet_has_no_efficiency_of_1():
    """The serial part does not grow: the work grows 57.7-fold on 64 workers, and so E is 0.90."""
    work, time = 0.1 + 0.9 * 64, 0.1 + 0.9 * 64 / 64
    assert time == pytest.approx(1.0)
    assert f"{work:.1f}" == "57.7"
    assert f"{work / time / 64:.2f}" == "0.90"
    assert scaling.sun_ni(64, 0.1, 64) / 64 == pytest.approx(work / time / 64)
    (said,) = (text for text in chapter("03_study").markdown if "called weak" in text)
    assert "57.7-fold" in said
    assert "64-fold" in said


def test_what_a_little_more_work_than_weak_buys_is_said_with_its_number():
    """It was said that above a power of 1 little is left to gain: with other sliders a quarter is."""

    def reads(power, **job):
        says = figures.lenses(power, **job).readouts
        return float(says["E at K = 1,024"]), float(says["Time at K = 1,024"].split()[0])

    (at, _), (then, time) = reads(1), reads(1.5)
    assert f"{time:.0f}" == "31"
    assert 0.06 < then - at < 0.075
    (at, _), (then, _) = (reads(power, serial=0.1, exchange=0.02) for power in (1, 1.5))
    assert then - at == pytest.approx(0.25, abs=0.02)
    (said,) = (text for text in chapter("03_study").markdown if "Watch the time as well" in text)
    assert "31 times" in said
    assert "a quarter with the other sliders" in said


def test_a_path_of_strong_scaling_ends_where_workers_would_have_no_sample_and_the_text_says_where():
    path = next(one for one in figures.plane(0.0).series if one.label == "your path")
    assert (path.y >= path.x).all()
    assert (path.x[0], path.x[-1]) == (8, 512)
    steep = next(one for one in figures.plane(1.0).series if one.label == "your path")
    assert steep.x[-1] == 4096
    text = "\n".join(chapter("03_study").markdown)
    assert "however many workers share them, up to 512." in text
    assert "Below the lowest dashed line some workers would have no sample" in text


def test_the_public_table_without_a_constant_batch_has_three_batches_of_a_worker():
    """One of them alone is a study; what is different about the row of 32 nobody knows."""
    (said,) = (text for text in chapter("03_study").markdown if "18% below its neighbours" in text)
    named = re.search(r"through (\w+) batches of a worker, and one row that nobody", said)[1]
    code = cell("03_study", "mpt_a100")
    load = re.search(r'data\.load\("(.*?)"\)', code)[1]
    table = datasets.load(load)
    each = np.array(table.column("global_batch_size")) / np.array(table.workers)
    assert named == {2: "two", 3: "three", 4: "four"}[np.unique(each).size]


def test_a_published_column_is_not_called_a_heading_that_a_table_has():
    words = (ROOT / "book/terminology.md").read_text(encoding="utf-8")
    assert "call a column that" in words
    data = (ROOT / "scalelab/data/public_scaling.json").read_text(encoding="utf-8")
    assert "under the heading" not in data


def test_a_flat_line_has_no_highest_point_of_its_rounding():
    """It went "from 10 at 2 to 10 at 4,096, highest 10 at 2,048": noise of 2e-13."""
    chart = figures.share_to_keep(0.8, 0.005, 0.002)
    flat = next(one for one in chart.series if one.label == "not at all")
    assert np.ptp(flat.y) > 0
    assert "highest" not in words.course(flat)


def test_a_batch_that_stays_is_not_said_to_grow():
    assert figures.plane(0.0).title.endswith("a batch that stays")
    assert "0.5" in figures.plane(0.5).title


def test_twice_a_small_batch_nearly_halves_the_steps_and_is_not_free():
    """At the left end it is 17 to 9, and 6% more samples: no half, and a million samples."""
    chart = figures.batch_trade(10_000, 10_000 * 8192, [512, 1024])
    steps, samples = (one.y for one in chart.series[:2])
    assert steps[0] / steps[-1] == pytest.approx(17 / 9)
    assert samples[-1] / samples[0] == pytest.approx(1.0625 / 1, rel=0.01)
    assert "nearly halves" in chart.see
