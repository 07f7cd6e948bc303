"""What the times of a scaling study say, and how fast its problem must grow."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from scalelab.models.scaling import laws, speedup, study
from scalelab.refusal import Refusal

SECONDS = st.floats(1e-3, 1e6)
WORKERS = st.integers(1, 10**6)
SHARE = st.floats(0.01, 0.99)


# --- Efficiency --------------------------------------------------------------------------------


@given(SECONDS, SECONDS, WORKERS)
def test_strong_efficiency_over_one_worker_is_that_of_section_3_1(baseline, seconds, workers):
    expected = speedup.efficiency(baseline, seconds, workers)
    assert study.strong_efficiency(baseline, seconds, workers) == pytest.approx(expected)


@given(SECONDS, SECONDS, SECONDS, st.integers(1, 4096), WORKERS)
def test_efficiency_over_a_base_is_the_ratio_of_two_efficiencies(one, at_base, seconds, base, k):
    """SE(K) = E(K) / E(K0): the time on one worker cancels, so nobody needs to have measured it."""
    ratio = speedup.efficiency(one, seconds, k) / speedup.efficiency(one, at_base, base)
    assert study.strong_efficiency(at_base, seconds, k, base) == pytest.approx(ratio)


@given(SECONDS, SECONDS, WORKERS)
def test_scaled_speedup_is_weak_efficiency_times_growth_and_with_no_growth_a_speedup(
    baseline, seconds, growth
):
    gain = study.scaled_speedup(baseline, seconds, growth)
    assert gain / growth == pytest.approx(study.weak_efficiency(baseline, seconds))
    fixed = study.scaled_speedup(baseline, seconds, 1)
    assert fixed == pytest.approx(speedup.speedup(baseline, seconds))


@pytest.mark.parametrize("serial", [0, 0.05, 0.5])
def test_a_job_that_grows_in_its_parallel_part_has_gustafsons_speedup(serial):
    """Serial seconds stay, every worker gets as many parallel seconds as the first had."""
    for workers in (1, 8, 512):
        work = serial + (1 - serial) * workers
        seconds = serial + (1 - serial) * workers / workers
        gain = study.scaled_speedup(1, seconds, growth=work)
        assert gain == pytest.approx(laws.gustafson(workers, serial))


def test_total_efficiency_splits_the_time_to_target_of_a_published_run():
    """MLPerf Training 1.0, RNN-T on 8 and 128 A100s: minutes, and epochs to the target at one batch.

    Source: github.com/mlcommons/training_results_v1.0, means of the raw logs.
    """
    gpus, minutes, epochs = np.array([8, 128]), np.array([38.6959, 4.4138]), np.array([62.3, 63.9])
    per_epoch = minutes / epochs
    system = study.strong_efficiency(per_epoch[0], per_epoch, gpus, base=8)
    algorithmic = study.algorithmic_efficiency(epochs[0], epochs)
    total = study.total_efficiency(system, algorithmic)
    assert total == pytest.approx(study.strong_efficiency(minutes[0], minutes, gpus, base=8))
    assert total == pytest.approx([1, 0.548], abs=5e-4)
    assert system == pytest.approx([1, 0.562], abs=5e-4)
    assert algorithmic == pytest.approx([1, 0.975], abs=5e-4)


# --- The fastest batch -------------------------------------------------------------------------

STEP = {
    "fixed": st.floats(1e-4, 1),
    "sample": st.floats(1e-5, 0.1),
    "critical": st.floats(1, 1e6),
}


@given(st.integers(1, 10**5), *STEP.values())
def test_no_other_batch_reaches_the_target_before_the_fastest(workers, fixed, sample, critical):
    """Steps and seconds of a step are written out here, and all batches of a fine grid are tried."""
    best = study.fastest_batch(workers, fixed=fixed, sample=sample, critical=critical)
    batches = best * np.append(np.geomspace(1e-3, 1e3, 2001), 1.0)
    seconds = (1 + critical / batches) * (fixed + sample * batches / workers)
    assert seconds.argmin() in (1000, 2001)
    least = (math.sqrt(fixed) + math.sqrt(sample * critical / workers)) ** 2
    assert seconds.min() == pytest.approx(least)
    job = {"fixed": fixed, "sample": sample, "critical": critical, "least_steps": 7}
    assert study.target_seconds(workers, best, **job) == pytest.approx(7 * least)


@given(st.integers(1, 10**5), *STEP.values())
def test_at_the_fastest_batch_machines_and_learning_are_equally_efficient(
    workers, fixed, sample, critical
):
    batch = study.fastest_batch(workers, fixed=fixed, sample=sample, critical=critical)
    computing = sample * batch / workers
    assert computing / (computing + fixed) == pytest.approx(critical / (critical + batch))
    even = fixed * workers / sample  # computes for as long as the fixed part takes
    assert batch == pytest.approx(math.sqrt(critical * even))


def test_only_growth_between_strong_and_weak_reaches_the_least_time():
    """Strong keeps taking more steps than needed, weak keeps each step as long as it is."""
    workers = 8 * 2.0 ** np.arange(0, 80, 20)
    job = {"fixed": 0.02, "sample": 0.002, "critical": 8192, "least_steps": 1 / 0.02}
    times = {
        power: study.target_seconds(workers, 512 * (workers / 8) ** power, **job)
        for power in (0, 0.5, 1, 1.25)
    }
    assert times[0][-1] == pytest.approx(17)
    assert times[1][-1] == pytest.approx(7.4)
    assert times[0.5][-1] == pytest.approx(1, rel=1e-4)
    assert times[1.25][-1] > 100


# --- Isoefficiency -----------------------------------------------------------------------------


def tree_sum_seconds(numbers, workers):
    """Add numbers one per second on a tree of workers; a message takes a second too."""
    clocks = [numbers / workers] * workers
    while len(clocks) > 1:
        pairs = zip(clocks[::2], clocks[1::2], strict=True)
        clocks = [max(a, b) + 1 + 1 for a, b in pairs]  # a message, an addition
    return clocks[0]


def test_the_textbook_sum_on_a_tree_keeps_80_percent_at_64_192_and_512_numbers():
    """Grama, Gupta and Kumar: To = 2 K log2 K, so 4, 8, 16 workers want 64, 192, 512 numbers."""
    workers = np.array([4, 8, 16])
    least = study.isoefficiency(workers, 0.8, lambda work, k: 2 * k * np.log2(k))
    assert least == pytest.approx([64, 192, 512])


@pytest.mark.parametrize("workers", [2, 4, 64, 1024])
@pytest.mark.parametrize("floor", [0.3, 0.8, 0.99])
def test_a_simulated_sum_of_the_least_size_has_the_efficiency_asked_for(workers, floor):
    def lost(work, k):
        return k * tree_sum_seconds(work, int(k)) - work

    least = study.isoefficiency(workers, floor, lost)
    seconds = tree_sum_seconds(least, workers)
    assert speedup.efficiency(least, seconds, workers) == pytest.approx(floor)
    smaller = speedup.efficiency(0.9 * least, tree_sum_seconds(0.9 * least, workers), workers)
    assert smaller < floor


def test_a_sum_on_a_row_of_workers_needs_sizes_that_grow_with_the_square():
    """A published exercise: 500 steps per message between neighbours, 1 per addition.

    Its table of 6,000, 36,000 and 168,000 numbers on 2, 4 and 8 workers has one efficiency on the
    diagonal, because they are in the ratio of K (K - 1).
    """
    workers, sizes = np.array([2, 4, 8]), np.array([6e3, 36e3, 168e3])
    least = study.isoefficiency(workers, 0.8, lambda work, k: k * (k - 1) * 501)
    assert least / least[0] == pytest.approx(sizes / sizes[0])


@given(WORKERS, SHARE, st.floats(1e-3, 1e3), st.floats(0, 2), st.floats(0, 0.8))
def test_a_power_law_overhead_has_a_closed_form(workers, floor, cost, by_workers, by_work):
    """To = c K^a W^b gives W = (e c K^a)^(1 / (1 - b)) with e = E / (1 - E)."""

    def lost(work, k):
        return cost * k**by_workers * work**by_work

    ratio = floor / (1 - floor)
    exact = (ratio * cost * workers**by_workers) ** (1 / (1 - by_work))
    assume(exact < 0.99 * study._WORK[1])  # beyond, no work is enough
    assert study.isoefficiency(workers, floor, lost) == pytest.approx(exact, rel=1e-9)


def test_of_two_overheads_the_one_that_asks_for_more_decides():
    """The mixed overhead of the textbook, K^1.5 + K^0.75 W^0.75: the second part asks for K^3."""
    workers = np.array([16.0, 256.0, 4096.0])

    def lost(work, k):
        return k**1.5 + k**0.75 * work**0.75

    both = study.isoefficiency(workers, 0.5, lost)
    assert both / (both + lost(both, workers)) == pytest.approx(0.5)
    assert (both > workers**3).all()
    assert both[-1] == pytest.approx(workers[-1] ** 3, rel=1e-3)


def test_a_ring_all_reduce_of_fixed_size_needs_work_in_proportion_to_the_workers():
    """Bandwidth term only: each worker loses 2 (K - 1) / K times the gradient's seconds."""
    workers = np.array([2, 64, 1024])
    gradient = 0.02
    least = study.isoefficiency(workers, 0.9, lambda work, k: k * 2 * (k - 1) / k * gradient)
    assert least == pytest.approx(9 * 2 * gradient * (workers - 1))


def test_overhead_that_grows_like_the_work_is_never_or_always_outgrown():
    floors = np.array([0.5, 0.9])
    assert list(study.isoefficiency(100, floors, lambda w, k: 0.2 * w)) == [0, math.inf]
    assert study.isoefficiency(100, 0.5, lambda w, k: w * k) == math.inf
    assert study.isoefficiency(100, 1, lambda w, k: 0) == 0
    assert study.isoefficiency(100, 1, lambda w, k: 1e-9) == math.inf


def test_isoefficiency_broadcasts_like_the_rest():
    least = study.isoefficiency([[2], [4]], [0.5, 0.8, 0.9], lambda w, k: k)
    assert least == pytest.approx(np.outer([2, 4], [1, 4, 9]))
    assert type(study.isoefficiency(2, 0.5, lambda w, k: k)) is float
    assert study.isoefficiency([], 0.5, lambda w, k: k).shape == (0,)


@pytest.mark.parametrize(
    ("overhead", "error", "sentence"),
    [
        (3, Refusal, "overhead must be a function of work and workers, got 3: it returns"),
        (lambda w, k: None, ValueError, "overhead must be a finite number from 0 on, got None: it"),
        (lambda w, k: -1, ValueError, "overhead must be a finite number from 0 on, got -1: it"),
    ],
)
def test_what_is_no_overhead_is_refused_in_one_sentence(overhead, error, sentence):
    with pytest.raises(error, match=sentence):
        study.isoefficiency(4, 0.8, overhead)
