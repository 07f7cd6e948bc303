"""Mistakes that section 3.1 and the overview once made, each recomputed from something independent."""

import ast
import importlib
import random
import re
import types

import numpy as np
import pytest

from scalelab import data, ranks
from scalelab.models.network import collectives
from scalelab.models.network.network import Network
from scalelab.models.scaling import laws, speedup, statistical, study
from scalelab.records import Stamp
from scalelab.show.plots import MODEL, against_ideal, speedup as figures
from tests.notebooks import ROOT, Notebook, chapter


def fraction(gain, workers):
    """Karp and Flatt's fraction, from its definition and not from the package."""
    return (1 / gain - 1 / workers) / (1 - 1 / workers)


def rates():
    """The ray tracer's rates as printed, over its processors."""
    series = data.load("usl_raytracer")
    return np.array(series.workers, float), np.array(series.values, float)


def test_shares_of_different_clocks_are_not_divided_by_each_other():
    """0.0025 of the 96-GPU time against 0.05 of the one-GPU time is no "twenty times less"."""
    seen_from_96 = fraction(48 * 42 / 47, 48)
    serial, parallel = 0.05, 0.95 / 96  # of a job with 5% at one GPU, in the time of 96
    on_that_clock = serial / (serial + parallel)
    assert on_that_clock / seen_from_96 == pytest.approx(330, rel=0.01)
    assert laws.rebase(seen_from_96, 96) == pytest.approx(2.6e-5, rel=0.02)
    for text in (chapter("01_speedup").prose, (ROOT / "book/corrections.md").read_text()):
        at = re.search(r"0\.0025|0\.002 to 0\.003", text).start()
        near = text[at - 400 : at + 600]
        written = [float(number) for number in re.findall(r"0\.\d+", near)]
        assert any(number == pytest.approx(on_that_clock, abs=0.005) for number in written)


def test_what_a_book_printed_is_published_and_not_recorded():
    """A recorded number names machine, date and versions, and the ray tracer's book names none of them."""
    code = "\n".join(chapter("01_speedup").code)
    assert re.findall(r'Stamp\(\s*"(\w+)"', code) == ["published"] * 2
    assert Stamp("published", note="Gunther 2007").text.startswith("published")


@pytest.mark.parametrize("share", [0.96, 0.8, 0.5, 0.2])
def test_the_error_of_a_fraction_depends_on_efficiency_and_not_on_the_size(share):
    """An error of 1% in S moves e by 1%/(1 - E) of itself, at any K: nothing else makes small K poor."""
    for workers in (2, 4, 64):
        exact, off = (fraction(share * workers * gain, workers) for gain in (1, 1.0001))
        assert abs(off / exact - 1) / 0.0001 == pytest.approx(1 / (1 - share), rel=0.01)


def test_a_cost_that_begins_with_the_second_worker_is_no_serial_part_of_the_first():
    """T(K) = c/K + x from two on: the ceiling is c/x, twice what 1/e(2) says, and e falls to x/c."""
    c, x = 100.0, 4.0
    counts = [2, 4, 16, 10**6]
    gains = [c / (c / k + x) for k in counts]
    implied = [speedup.karp_flatt(gain, k) for gain, k in zip(gains, counts, strict=True)]
    assert gains[-1] == pytest.approx(c / x, rel=1e-3)
    assert speedup.ceiling(implied[0]) == pytest.approx(c / x / 2)
    assert implied == sorted(implied, reverse=True)
    assert implied[-1] == pytest.approx(implied[0] / 2, rel=1e-3)


def test_rates_of_two_figures_leave_more_room_than_whole_numbers():
    printed = rates()[1]
    assert all(rate % 10 == 0 for rate in printed[2:])  # whole tens from the third row on
    first, eight = 20.0, 130.0
    room = [fraction(rate / one, 8) for rate, one in ((eight + 5, 19.5), (eight - 5, 20.5))]
    assert (first, eight) == (printed[0], printed[2])
    assert room == pytest.approx([0.022, 0.045], abs=0.0005)
    narrow = [fraction(rate / one, 8) for rate, one in ((130.5, 19.5), (129.5, 20.5))]
    assert narrow[0] > room[0]
    assert narrow[1] < room[1]


def test_the_ray_tracer_is_read_once_as_the_list_of_data_sets_reads_it():
    """One constant fraction describes all rows within a tenth: no overhead that grows is needed."""
    workers, printed = rates()
    (a, b), *_ = np.linalg.lstsq(
        np.column_stack([printed, printed / workers]), np.ones(workers.size), rcond=None
    )
    off = abs(1 / (a + b / workers) / printed - 1)
    assert off.max() < 0.1
    assert off.argmax() == 0  # the yardstick of all the others
    assert a / (a + b) == pytest.approx(0.057, abs=0.0005)
    implied = fraction(printed[5:] / printed[0], workers[5:])
    assert implied.max() - implied.min() < 0.01  # it has stopped growing
    assert "Contention alone" in data.datasets.load("usl_raytracer").teaches


def test_a_fraction_also_falls_for_reasons_other_than_a_wrong_baseline():
    """In the published rows e falls from 24 to 32 processors, and nobody doubts T(1) for that."""
    workers, printed = rates()
    falling = fraction(printed[1:] / printed[0], workers[1:])[5:8]
    assert list(falling) == sorted(falling, reverse=True)


def test_the_cache_serves_three_quarters_of_itself_already_badly():
    """A working set of 0.75 MiB is superlinear though the cache has 1 MiB; one curve explains all."""
    run = data.recorded("superlinear")
    assert run.samples[0].machine.caches["L2"] == 2**20
    rate = {
        (int(one.given["workers"]), one.given["size"] / one.given["workers"] / 2**20): 8e9
        / one.given["workers"]
        / one.median
        / 1e9
        for one in run.samples
    }
    assert 2 * rate[2, 0.375] / rate[1, 0.75] == pytest.approx(2.21, abs=0.01)
    shared = [share for workers, share in rate if workers == 1 and (2, share) in rate]
    assert len(shared) >= 4
    assert all(abs(rate[2, share] / rate[1, share] - 1) < 0.1 for share in shared)


def test_half_the_fleet_is_idle_one_worker_past_the_crossing_of_the_dashed_lines():
    for serial in (0.01, 0.05, 0.2):
        crossing = 1 / serial  # where S = K meets S = 1/s
        seconds = serial + (1 - serial) / (crossing + 1)
        assert 1 / seconds / (crossing + 1) == pytest.approx(0.5)
        assert 1 / seconds == pytest.approx((1 / serial + 1) / 2)


def test_tables_beside_speedups_interpolate_nothing():
    """The prediction in a row is the one of that row, not a point on a chord."""
    workers, printed = rates()
    chart = against_ideal("t", workers, printed / 20, lambda k: 1 / (0.05 + 0.95 / k), MODEL)
    shown = [[float(cell) for cell in row] for row in chart.rows()]
    for k, ideal, predicted, _ in shown:
        assert ideal == k
        assert predicted == pytest.approx(1 / (0.05 + 0.95 / k), rel=5e-4)
    knee = figures.fixed_job(0.05, 0.5)
    marked = next(one for one in knee.series if one.kind == "points")
    curve = next(one for one in knee.series if one.label == "speedup S(K)")
    assert marked.x[0] in curve.x


def test_the_waterfall_falls_from_two_to_what_was_measured():
    chart = figures.second_worker([2, 1.9, 1.95, 1.4], MODEL)
    falls = [one for one in chart.series if one.kind == "band"]
    heights = [(one.low[0], one.high[0]) for one in falls]
    assert heights == [(1.9, 2), (1.9, 1.95), (1.4, 1.95)]
    assert [row[-1].split()[0] for row in chart.rows()] == ["2", "1.9", "1.95", "1.4"]


def test_the_loss_law_on_the_page_is_the_one_that_is_computed():
    text = chapter("01_speedup").prose
    written = re.search(
        r"L_\\infty = ([\d.]+).*A = (\d+).*B = ([\d{},]+).*= ([\d.]+).*= ([\d.]+)", text
    )
    limit, a, b, alpha, beta = (float(re.sub(r"[{},]", "", one)) for one in written.groups())
    n, d = 70e9, 1.4e12
    assert limit + a / n**alpha + b / d**beta == pytest.approx(statistical.loss(n, d), abs=0.005)


@pytest.mark.parametrize("seed", range(20))
def test_noise_within_its_bound_never_makes_a_constant_fraction_overhead(seed):
    """The rule of task 2.3 once said so in up to two cases of three."""
    source = next(c for c in chapter_of_solution() if "def diagnose" in c)
    space = {"speedup": speedup}
    exec(source, space)
    rng = random.Random(seed)
    serial, within = rng.uniform(0.005, 0.05), 0.01
    times = {k: 1000 * (serial + (1 - serial) / k) for k in (1, 2, 4, 8, 16)}
    noisy = [t * (1 + rng.uniform(-within, within)) for t in times.values()]
    assert space["diagnose"](list(times), noisy, within) in ("serial", "cannot tell")
    assert space["diagnose"](list(times), list(times.values()), 1e-6) == "serial"


def chapter_of_solution():
    """The code cells of the assignment's reference."""
    import nbformat

    notebook = nbformat.read(ROOT / "solutions/01_speedup/01_speedup.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_no_cell_takes_away_a_name_that_was_imported():
    """The practical example called a number `claim`; the claim of section 1 could not be run again."""
    trees = [ast.parse(source) for source in chapter("01_speedup").code]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    assert "show" in imported
    assert not imported & stored


def test_fewer_than_six_repetitions_show_their_range_and_promise_less():
    """The baseline's slow tries are repeated a few times in half a second: no interval of 95%."""
    for count in range(1, 6):
        first, coverage = ranks.narrowest(count)
        assert (first, coverage) == (1, pytest.approx(1 - 0.5 ** (count - 1)))
        assert coverage < 0.95
    assert ranks.narrowest(6)[1] >= 0.95
    assert "fewer than six repetitions" in chapter("01_speedup").prose


def test_weak_efficiency_and_scaled_speedup_are_the_names_of_section_3_3():
    """Section 3.1 promised two names that section 3.3 did not give."""
    assert "E_{\\text{weak}}" in chapter("03_study").prose
    assert "**scaled speedup**" in chapter("03_study").prose
    grown = study.scaled_speedup(1, 1, growth=0.05 + 0.95 * 256)
    assert grown == pytest.approx(laws.gustafson(256, 0.05)) == pytest.approx(243.25)
    assert grown / 256 == pytest.approx(0.95, abs=0.0005)
    assert study.weak_efficiency(1, 1) == 1


def test_only_another_baseline_would_make_the_fraction_of_question_2_constant():
    """100 s on eight and 80 s on sixteen are a + b/K with a = 60 and b = 320: T(1) = 380 s."""
    a, b = np.linalg.solve([[1, 1 / 8], [1, 1 / 16]], [100, 80])
    assert a + b == pytest.approx(380)
    assert fraction((a + b) / 100, 8) == pytest.approx(fraction((a + b) / 80, 16))


def test_chapters_call_functions_as_the_notation_says():
    text = (ROOT / "book/notation.md").read_text()
    code = "\n".join(chapter("01_speedup").code)
    for call in ("scaling.efficiency(", "scaling.speedup.speedup("):
        assert call in text
        assert call in code
    assert "import speedup\n" not in code


def test_the_cover_shows_the_bill_that_it_is_about(monkeypatch):
    """Every point of the curve is a number of nodes: its hours and its dollars."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    chart = importlib.import_module("cover").bill(512, 4)
    (curve,) = [one for one in chart.series if one.kind == "joined"]
    for nodes, hours, dollars in zip(2.0 ** np.arange(10), curve.x, curve.y, strict=True):
        assert hours == pytest.approx(4 + 76 / nodes)
        assert dollars == pytest.approx(20 * nodes * hours)
    assert [float(word) for word in curve.words] == [2.0**turn for turn in range(10)]
    (wall,) = [one for one in chart.series if one.kind == "dashed"]
    assert set(wall.x) == {4}
    assert curve.y.max() <= wall.y.max()


def test_data_that_grow_without_the_batch_are_no_weak_scaling():
    """Twice the data at the same batch are twice the steps, each cut as small as before."""

    def seconds(samples, batch, workers):  # each sample 1 ms, each step of two and more 1 ms
        return samples / batch * (0.001 * batch / workers + 0.001 * (workers > 1))

    workers, samples, batch = 64, 6400, 100
    alone = seconds(samples, batch, 1)
    strong = alone / (workers * seconds(samples, batch, workers))
    data_only = alone / seconds(workers * samples, batch, workers)
    both = alone / seconds(workers * samples, workers * batch, workers)
    assert data_only == pytest.approx(strong)
    assert strong < 0.62 < 0.98 < both
    assert "double the data and the global batch with them" in chapter("01_speedup").prose


def test_a_yardstick_that_is_too_slow_lets_the_fraction_grow_for_ever_but_ever_more_slowly():
    """So growth alone did not clear T(1); growth at that pace did."""
    serial, wrong = 0.06, 0.15
    workers = np.array([4.0, 8, 20, 64, 1024])
    gains = laws.amdahl(workers, serial) / (1 - wrong)
    seen = fraction(gains, workers)
    assert (np.diff(seen) > 0).all()
    assert seen == pytest.approx((1 - wrong) * serial - wrong / (workers - 1))
    pace = np.diff(seen) / np.diff(np.log2(workers))
    assert (np.diff(pace) < 0).all()


@pytest.mark.parametrize("serial", [0.01, 0.2, 0.5, 1.0])
def test_where_ideal_and_ceiling_cross_half_is_idle_only_for_a_small_serial_part(serial):
    efficiency = laws.amdahl(1 / serial, serial) * serial
    assert efficiency == pytest.approx(1 / (2 - serial))


def test_whole_percents_of_the_peak_imply_a_share_to_one_digit():
    """47% on 96 GPUs and 42% on 4,608, each rounded, and not "times"."""
    series = data.load("megatron_core_strong_h100")
    first, last = (round(value) for value in (series.values[0], series.values[-1]))
    assert (first, last) == (47, 42)
    more = series.workers[-1] / series.workers[0]
    implied = [
        fraction(more * low / high, more)
        for low, high in ((last - 0.5, first + 0.5), (last + 0.5, first - 0.5))
    ]
    assert implied == pytest.approx([0.0031, 0.0020], abs=5e-5)


def test_steps_fall_with_the_batch_and_samples_grow():
    batches = np.array([100.0, 1000, 10_000])
    steps = statistical.training_steps(batches, 5000, 5e6)
    assert (np.diff(steps) < 0).all()
    assert (np.diff(steps * batches) > 0).all()


def cell(name):
    """The source of a cell of section 3.1."""
    return next(one.source for one in chapter("01_speedup").nb.cells if one.id == name)


def test_the_bytes_of_an_all_reduce_imply_a_constant_fraction_without_any_serial_work():
    """The key insight called a constant fraction work that does not divide, and nothing else."""
    workers = 2.0 ** np.arange(1, 10)

    def implied(alpha):
        seconds = 100 / workers + collectives.all_reduce(2.5e9, workers, Network(alpha, beta=1e-9))
        return fraction(100 / seconds, workers), 100 / seconds

    constant, gains = implied(alpha=0)
    assert constant == pytest.approx(0.05)
    assert gains == pytest.approx(laws.amdahl(workers, 0.05))  # so its forecast holds
    assert (np.diff(implied(alpha=0.01)[0]) > 0).all()
    glossary = (ROOT / "book/glossary.md").read_text()
    for text in (cell("insight-fraction"), cell("karp-flatt-if"), glossary):
        assert "grows as $1 - 1/K$" in text
    assert "1 - 1/K, like the bytes" in speedup.karp_flatt.__doc__


def test_a_baseline_with_another_batch_is_another_job():
    """An epoch that divides perfectly loses, or gains, if T(1) may choose its global batch."""

    def epoch(batch, workers=1):  # 10,240 samples of 1 ms, and 50 ms for each update
        return 10_240 / batch * (0.001 * batch + 0.05) / workers

    alone, eight = epoch(256), epoch(256, workers=8)
    assert alone / (8 * eight) == pytest.approx(1)
    assert epoch(1024) / (8 * eight) < 0.9
    assert epoch(64) / (8 * eight) > 1.4
    assert "#correction-epoch" in cell("baseline-honest")
    baseline = (ROOT / "book/glossary.md").read_text().split("\nbaseline\n")[1].split("\n\n")[0]
    assert "same {term}`job`" in baseline
    assert "batch size" not in baseline


def test_one_worker_alone_pays_for_what_both_repeat():
    """With no other loss, e(2) is just the share of T(1) that both workers make in full."""
    repeated, divided = 0.004, 0.996
    assert fraction(1 / (repeated + divided / 2), 2) == pytest.approx(repeated)
    said = "a single worker pays for nothing of all this but the calls and the optimizer step"
    assert said in cell("karp-flatt-exchange")


def test_what_the_newcomer_lacks_of_the_average_shrinks_in_a_large_fleet():
    """Its part of the average falls for ever; the difference of the two rises, and then falls."""
    average = laws.amdahl(np.array([1.0, 32, 512]), 0.05) / [1, 32, 512]
    newcomer = 0.95 * average**2
    assert (np.diff(newcomer / average) < 0).all()
    assert np.argmax(average - newcomer) == 1
    said = "$(1 - s)\\,E(K)$ times what the average worker does, and this factor shrinks"
    assert said in cell("model-marginal-text")


def test_a_newcomer_beats_the_average_where_efficiency_rises():
    """So he does worse only where it falls; and two may be worth more than two."""
    run = data.recorded("superlinear").samples
    gain = max(one.median / two.median for one, two in zip(run[::2], run[1::2], strict=True))
    assert gain > 2
    assert gain - 1 > gain / 2
    assert "where it falls the newcomer does worse" in cell("efficiency-average")
    assert "as much as four can" not in cell("speedup-define")


def test_machines_beyond_the_flat_part_lower_the_loss_by_less_than_is_said():
    (said,) = re.findall(r"lower the loss by less than ([\d.]+) nats", cell("frontier-read"))

    def loss(workers):
        arithmetic = 4e14 * 30 * 86400 / speedup.fixed_job_seconds(workers, 1e-3)
        return float(statistical.loss(*statistical.compute_optimal(arithmetic)))

    assert "month = 4e14 * 30 * 86400" in cell("frontier-code")
    left = loss(16_384) - loss(1e15)
    assert 0.5 * float(said) < left < float(said)


def test_half_the_serial_part_doubles_the_ceiling_and_the_cluster_only_nearly():
    for serial, more in ((0.001, 1.999), (0.05, 1.952), (1, 1.5)):
        few, many = 1 + 1 / serial, 1 + 2 / serial
        for size, share in ((few, serial), (many, serial / 2)):
            assert laws.amdahl(size, share) / size == pytest.approx(0.5)
        assert many / few == pytest.approx(more, abs=0.001)
    assert "the ceiling exactly, the cluster the more nearly" in cell("explore-read")
    assert "nearly doubles" in cell("explore-engineer")


def test_a_cell_that_is_said_to_be_next_is_no_claim():
    """The guess of section 1 promised a training, and the claim came first."""
    cells = chapter("01_speedup").nb.cells
    for at, one in enumerate(cells):
        if one.cell_type == "markdown" and "next cell" in one.source.lower():
            following = next(later for later in cells[at:] if later.cell_type == "code")
            assert not re.search(r"= claim\(", following.source), one.id
    assert "Below, a small network is trained" in cell("observe-guess")


def test_a_curve_is_too_high_only_from_where_the_pieces_fit():
    """At 3 MiB two workers are worth two: there T(2) suffers as T(1) does."""
    run = data.recorded("superlinear").samples
    gains = {
        one.given["size"]: one.median / two.median
        for one, two in zip(run[::2], run[1::2], strict=True)
    }
    assert gains[3 * 2**20] == pytest.approx(1.99, abs=0.01)
    assert max(gains.values()) > 2.5
    assert "the whole curve" not in cell("superlinear-consequences")
    assert "from there on the curve is too high" in cell("superlinear-consequences")


def test_two_hardware_threads_of_one_core_are_among_what_two_copies_lose():
    assert "two hardware threads of one" in cell("karp-flatt-quiet-read")


def test_the_180_of_the_practical_example_are_of_a_story():
    assert "a story" in cell("model-five")


def test_a_rising_fraction_may_be_a_poor_yardstick():
    """The ray tracer with a T(1) a tenth too slow: e rises by far more than a quarter, without overhead."""
    workers, serial = np.array([8.0, 64]), 0.056
    honest = 1 / laws.amdahl(workers, serial)
    told = fraction(1.09 / honest, workers)
    assert told[1] > 1.25 * told[0]
    task = Notebook(ROOT / "solutions/01_speedup/01_speedup.ipynb").prose
    assert "or T(1) alone is too slow" in task


def test_shares_of_jobs_of_different_sizes_are_told_not_to_be_compared():
    base, large, share = np.array([(96, 4608, 42 / 47), (2240, 3360, 60.1 * 2240 / 44.4 / 3360)]).T
    e = fraction(large / base * share, large / base)
    assert e == pytest.approx([0.0025, 0.216], abs=0.001)
    assert laws.rebase(e[1], 2240) < 2e-4  # of the time on one GPU
    assert "do not rank the jobs" in cell("frontier-jobs-read")


def test_the_pair_of_llama_runs_has_one_efficiency_in_the_whole_book():
    """It once was 0.95 here, from rounded shares of the peak, and 0.93 in 3.9, from the same table."""
    there = "\n".join(one.source for one in chapter("09_cost").nb.cells)
    pair = re.search(r"Llama 3 405B.*\((8192, 16384), (\d+), (\d+)\)", there)
    assert f"({pair[1]}, {pair[3]} / {pair[2]})" in cell("frontier-jobs")


def test_a_step_does_not_load_the_first_batch():
    task = Notebook(ROOT / "solutions/01_speedup/01_speedup.ipynb").prose
    assert "step has a serial 5%" not in task


def test_two_questions_about_a_bill_do_not_share_a_name():
    """`most` was a ratio to one GPU in `usable` and a ratio to the step before in `stop_at`."""
    task = Notebook(ROOT / "solutions/01_speedup/01_speedup.ipynb")
    code = "\n".join(task.code)
    assert "def usable(serial, most)" in code
    assert "def stop_at(serial, per_doubling)" in code


def test_the_climb_to_twenty_processors_is_more_than_rounding_but_no_step_of_it_is():
    """The caption said that the marks climb by more than their bars, of each of them."""
    workers, printed = rates()
    half = np.where(printed < 100, 0.5, 5)
    most = dict(
        zip(workers, fraction((printed - half) / 20.5, np.maximum(workers, 2)), strict=True)
    )
    least = dict(
        zip(workers, fraction((printed + half) / 19.5, np.maximum(workers, 2)), strict=True)
    )
    assert all(least[b] < most[a] for a, b in ((8, 12), (12, 16), (16, 20)))
    assert least[20] > most[8]
    chart = figures.implied([8, 20], [0.03, 0.05], [0.02, 0.04], [0.04, 0.06], MODEL)
    assert "until a bar begins above the end of the one at eight" in chart.see


def test_who_takes_a_slow_time_for_t1_has_it_on_top_of_the_fraction():
    """The caption had him divide by it, which makes a speedup smaller."""
    run = data.recorded("superlinear").samples[0]
    assert speedup.speedup(2 * run.median, run.median) > speedup.speedup(run.median, run.median)
    see = figures.baselines((1,), {1: [run]}).see
    assert "high above the dashed line for T(1)" in see
    assert "divides by" not in see


def test_one_worker_and_one_of_two_read_alike_but_not_the_same():
    """Their rates were said to lie on one curve; at equal bytes they are up to 9% apart."""
    run = data.recorded("superlinear")
    rate = {
        (one.given["workers"], one.given["size"] / one.given["workers"]): figures.reading_rate(
            one, one.median
        )
        for one in run.samples
    }
    apart = [
        abs(rate[1, size] / rate[2, size] - 1) for k, size in rate if k == 1 and (2, size) in rate
    ]
    assert 0.05 < max(apart) < 0.1
    assert "less than a tenth above" in figures.reading_rates(run).see
    assert "lie on nearly one curve" in cell("superlinear-hump")


def account(capsys, alone, copies, quiet, epoch):
    """Run the account of the second worker on four times, each a pair of ends, and return its lines."""
    ends = {"alone": alone, "copies": copies, "quiet": quiet, "epoch": epoch}
    names = {
        name: types.SimpleNamespace(low=low, median=(low + high) / 2, high=high)
        for name, (low, high) in ends.items()
    }
    exec(cell("karp-flatt-quiet-ends"), names)
    exec(cell("karp-flatt-blame"), names)
    return capsys.readouterr().out.splitlines()


def test_the_account_says_itself_which_steps_the_intervals_leave_open(capsys):
    """The reader was told that a step may say nothing, and had to work out which."""

    def around(median, wide):
        return median - wide, median + wide

    # 2, then 1.6 and 1.2 with tight intervals, then 1.15 in an interval that holds 1.2.
    shares, divides, exchanges, answer = account(
        capsys, around(1, 0.01), around(1.25, 0.01), around(1 / 1.2, 0.01), around(1 / 1.15, 0.05)
    )
    assert re.search(r"-0\.4\d to -0\.3\d: stands$", shares)
    assert re.search(r"-0\.4\d to -0\.3\d: stands$", divides)
    assert exchanges.endswith("says nothing")
    assert "cannot tell" in answer


def test_a_wide_time_of_one_worker_leaves_no_step_open_that_divides_it_twice(capsys):
    """The two speedups of a step took T(1) from opposite ends: -1.25 to +0.11, of times that lie apart."""
    alone, quiet, epoch = (151, 191), (76.1, 83.2), (99.1, 120)
    shares, divides, exchanges, answer = account(capsys, alone, (150, 190), quiet, epoch)
    steps = [t * (1 / b - 1 / a) for t in alone for a in quiet for b in epoch]
    assert max(steps) < 0  # at one T(1), whichever
    assert exchanges.endswith(f" {min(steps):+.2f} to {max(steps):+.2f}: stands")
    assert f"Yes: it makes S(2) lower by {-max(steps):.2f} to {-min(steps):.2f}." in answer
    assert shares.endswith("says nothing")  # two copies against an exact 2: there T(1) decides
    assert divides.endswith("says nothing")


def test_the_question_of_the_exchange_is_answered_whichever_way_the_times_fall(capsys):
    """It was asked, and the page went on to the ceiling."""
    for epoch, said in (((90, 91), "Yes: "), ((70, 71), "No: "), ((79, 84), "cannot tell")):
        *_, answer = account(capsys, (151, 191), (160, 170), (80, 81), epoch)
        assert answer.startswith("Is the exchange to blame? ")
        assert said in answer
