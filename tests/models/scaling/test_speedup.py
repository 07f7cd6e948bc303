"""Speedup, efficiency and the serial fraction."""

import heapq

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.scaling import speedup, study

WORKERS = st.integers(1, 10**6)
SERIAL = st.floats(0, 1)
GOLDEN = """
  1 1.0000  1.0000 1.0000
  2 0.5250  1.9048 0.9524
  4 0.2875  3.4783 0.8696
  8 0.1688  5.9259 0.7407
 16 0.1094  9.1429 0.5714
 32 0.0797 12.5490 0.3922
 64 0.0648 15.4217 0.2410
128 0.0574 17.4150 0.1361
256 0.0537 18.6182 0.0727
512 0.0519 19.2844 0.0377
"""


def test_the_table_of_the_chapter_digit_for_digit():
    rows = []
    for workers in 2 ** np.arange(10):
        seconds = speedup.fixed_job_seconds(workers, 0.05)
        gain, share = speedup.speedup(1, seconds), speedup.efficiency(1, seconds, workers)
        rows.append(f"{workers:3} {seconds:.4f} {gain:7.4f} {share:.4f}")
    assert rows == GOLDEN.strip("\n").split("\n")
    assert speedup.ceiling(0.05) == 20


def makespan(tasks, workers):
    """When the last of unit tasks ends if each goes to the worker that is free first."""
    free = [0] * workers
    for _ in range(tasks):
        heapq.heappush(free, heapq.heappop(free) + 1)
    return max(free)


@pytest.mark.parametrize("workers", [1, 2, 3, 8, 12])
@pytest.mark.parametrize("serial_tasks", [0, 1, 24, 480])
def test_a_simulated_schedule_takes_as_long_as_the_formula_says(workers, serial_tasks):
    """Serial tasks run alone; 480 parallel ones divide evenly by every worker count here."""
    total = serial_tasks + 480
    simulated = makespan(serial_tasks, 1) + makespan(480, workers)
    model = speedup.fixed_job_seconds(workers, serial_tasks / total, baseline=total)
    assert model == pytest.approx(simulated)


@given(SERIAL, st.floats(1e-9, 1e9))
def test_one_worker_takes_the_baseline(serial, baseline):
    assert speedup.fixed_job_seconds(1, serial, baseline) == pytest.approx(baseline)


@given(WORKERS, st.floats(1e-6, 1))
def test_no_speedup_reaches_the_ceiling_or_passes_the_workers(workers, serial):
    gain = speedup.speedup(1, speedup.fixed_job_seconds(workers, serial))
    assert gain <= min(speedup.ceiling(serial), workers) * (1 + 1e-12)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), WORKERS)
def test_efficiency_is_speedup_per_worker(baseline, seconds, workers):
    gain = speedup.speedup(baseline, seconds)
    assert speedup.efficiency(baseline, seconds, workers) == pytest.approx(gain / workers)


def test_nothing_serial_means_no_ceiling():
    assert speedup.ceiling(0) == speedup.ceiling(-0.0) == np.inf
    assert list(speedup.ceiling([0, 0.5, 1])) == [np.inf, 2, 1]


@given(st.integers(2, 10**6), SERIAL)
def test_karp_flatt_finds_the_serial_fraction_that_made_the_time(workers, serial):
    gain = speedup.speedup(1, speedup.fixed_job_seconds(workers, serial))
    assert speedup.karp_flatt(gain, workers) == pytest.approx(serial, abs=1e-9)


def test_karp_flatt_reproduces_a_published_example():
    """Quinn 2003, section 7.5: the speedups on 2 to 8 processors of a program with e = 0.10."""
    published = [1.82, 2.50, 3.08, 3.57, 4.00, 4.38, 4.71]
    assert list(speedup.karp_flatt(published, np.arange(2, 9)).round(2)) == [0.1] * 7


@given(WORKERS, st.floats(1e-6, 1))
def test_efficiency_and_the_share_of_the_ceiling_add_up_to_more_than_one(workers, serial):
    """The theorem of Eager, Zahorjan and Lazowska 1989, here for a job with one serial part."""
    seconds = speedup.fixed_job_seconds(workers, serial)
    share = speedup.speedup(1, seconds) / speedup.ceiling(serial)
    assert speedup.efficiency(1, seconds, workers) + share > 1


def test_karp_flatt_of_a_superlinear_run_is_negative():
    assert speedup.karp_flatt(10, 8) < 0


@given(st.integers(2, 10**5), st.floats(0.01, 1))
def test_the_largest_serial_fraction_is_what_bisection_finds(workers, floor):
    def kept(serial):
        seconds = speedup.fixed_job_seconds(workers, serial)
        return speedup.efficiency(1, seconds, workers) >= floor

    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    assert speedup.largest_serial(workers, floor) == pytest.approx(low, abs=1e-9)


def test_one_worker_keeps_any_floor_with_any_serial_fraction():
    assert speedup.largest_serial(1, 1) == 1
    assert list(speedup.largest_serial([1, 1, 2], [0.5, 1, 1])) == [1, 1, 0]


def test_first_below_and_knee_read_the_same_table_from_both_ends():
    workers = 2 ** np.arange(10)
    share = speedup.efficiency(1, speedup.fixed_job_seconds(workers, 0.05), workers)
    assert speedup.first_below(workers, share, 0.5) == 32
    assert speedup.knee(workers, share, 0.5) == 16
    assert speedup.first_below(workers, share, 0.01) is None
    assert speedup.knee(workers, share, 0.01) == 512
    assert speedup.knee([2, 4], [0.3, 0.2], 0.5) is None


def test_a_dip_ends_the_knee_even_when_efficiency_recovers():
    assert speedup.knee([1, 2, 4, 8], [1, 0.7, 0.9, 0.9], 0.8) == 1


@given(st.permutations([(1, 1.0), (2, 0.9), (4, 0.6), (8, 0.7), (16, 0.2)]))
def test_the_order_of_the_rows_does_not_matter(rows):
    workers, share = zip(*rows, strict=True)
    assert speedup.first_below(workers, share, 0.65) == 4
    assert speedup.knee(workers, share, 0.65) == 2


def test_arguments_are_left_as_they_were():
    workers = np.array([1.0, 2.0, 4.0])
    speedup.fixed_job_seconds(workers, 0.5)
    speedup.largest_serial(workers, 0.5)
    assert list(workers) == [1, 2, 4]


def test_a_table_is_read_against_one_floor():
    with pytest.raises(ValueError, match="floor must be one number, got 2 in an array"):
        speedup.first_below([1, 2], [1, 0.9], [0.5, 0.6])


def test_mismatched_arrays_are_answered_with_their_shapes():
    with pytest.raises(ValueError, match=r"got \(2,\), \(3,\): give one number per row"):
        speedup.speedup([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"workers of shape \(2,\) and efficiency of shape \(3,\)"):
        speedup.knee([1, 2], [1, 1, 1], 0.5)


def test_relative_efficiency_is_the_strong_efficiency_over_another_base():
    workers, seconds = np.array([8, 64, 512]), np.array([100.0, 14.0, 2.5])
    over_one = study.strong_efficiency(700, seconds, workers)
    over_eight = study.strong_efficiency(100, seconds, workers, base=8)
    assert speedup.relative_efficiency(over_one[0], over_one) == pytest.approx(over_eight)


def test_a_good_relative_efficiency_can_hide_a_bad_base():
    assert speedup.relative_efficiency(base_efficiency=0.3, efficiency=0.28) > 0.9
