"""The laws of speedup, and the serial fraction that each of them means."""

import heapq
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.scaling import laws, speedup
from tests.cases import every

WORKERS = st.integers(1, 10**6)
SERIAL = st.floats(0, 1)
SOME_SERIAL = st.floats(1e-6, 1)
COHERENCY = st.floats(1e-9, 1)
GOLDEN = """
   1     1.00     1.00     1.00     1.00     1.00     1.00
   2     1.33     1.82     1.96     1.50     1.90     1.98
   4     1.60     3.08     3.77     2.50     3.70     3.94
   8     1.78     4.71     7.02     4.50     7.30     7.86
  16     1.88     6.40    12.31     8.50    14.50    15.70
  64     1.97     8.77    28.32    32.50    57.70    62.74
 256     1.99     9.66    41.97   128.50   230.50   250.90
1024     2.00     9.91    47.72   512.50   921.70  1003.54
"""


def test_the_table_of_the_chapter_digit_for_digit():
    serial = np.array([0.5, 0.1, 0.02])
    rows = [
        f"{k:4} "
        + " ".join(f"{x:8.2f}" for x in (*laws.amdahl(k, serial), *laws.gustafson(k, serial)))
        for k in (1, 2, 4, 8, 16, 64, 256, 1024)
    ]
    assert rows == GOLDEN.strip("\n").split("\n")


def test_the_ceilings_of_the_chapter_and_how_much_of_them_1024_workers_use():
    serial = np.array([0.5, 0.1, 0.02])
    assert [f"{x:.2f}" for x in speedup.ceiling(serial)] == ["2.00", "10.00", "50.00"]
    used = 100 * laws.share_of_ceiling(1024, serial)
    assert [f"{x:.1f}" for x in used] == ["99.9", "99.1", "95.4"]


def test_sizing_the_cluster_of_the_chapter():
    """180 ms of compute and 20 ms of communication: tenfold at most, 6.4 at 16, 9.9 at 1024."""
    serial = laws.step_serial(0.180, 0.020)
    assert serial == pytest.approx(0.1)
    assert speedup.ceiling(serial) == pytest.approx(1 + 180 / 20)
    assert laws.amdahl(np.array([16, 1024]), serial) == pytest.approx([6.4, 9.9], abs=0.05)


def test_the_exercise_of_the_chapter_counts_nodes():
    """240 ms and 60 ms on one node of 8 GPUs: 90% of the ceiling takes 36 nodes, 288 GPUs."""
    serial = laws.step_serial(0.240, 0.060)
    nodes = laws.workers_for_share(0.9, serial)
    assert nodes == 36
    assert laws.amdahl(nodes, serial) == pytest.approx(0.9 * 5)
    one_gpu = laws.rebase(serial, measured_on=8)
    same = laws.amdahl(8 * nodes, one_gpu) / laws.amdahl(8, one_gpu)
    assert same == pytest.approx(laws.amdahl(nodes, serial))


# --- Amdahl, Gustafson, Sun-Ni -----------------------------------------------------------------


def makespan(serial_tasks, parallel_tasks, workers):
    """When the last unit task ends: serial ones alone, then each to the worker that is free first."""
    free = [serial_tasks] * workers
    for _ in range(parallel_tasks):
        heapq.heapreplace(free, free[0] + 1)
    return max(free)


@every("workers", [1, 2, 3, 8, 12])
@every("serial_tasks", [0, 1, 24, 480])
@every("growth", [1, 2, 5])
def test_a_simulated_schedule_gains_what_the_memory_bounded_law_says(workers, serial_tasks, growth):
    """240 parallel tasks divide evenly here; grown, they run once on one worker and once on K."""
    serial = serial_tasks / (serial_tasks + 240)
    alone = makespan(serial_tasks, growth * 240, 1)
    gain = alone / makespan(serial_tasks, growth * 240, workers)
    assert laws.sun_ni(workers, serial, growth) == pytest.approx(gain)
    if growth == 1:
        assert laws.amdahl(workers, serial) == pytest.approx(gain)


@pytest.mark.parametrize("workers", [1, 2, 7, 64])
@pytest.mark.parametrize("serial_tasks", [0, 3, 100])
def test_a_simulated_job_that_fills_its_workers_gains_what_gustafson_says(workers, serial_tasks):
    """Everyone has 100 tasks after the serial ones, so the share is one of the K-worker time."""
    together = makespan(serial_tasks, 100 * workers, workers)
    gain = makespan(serial_tasks, 100 * workers, 1) / together
    assert laws.gustafson(workers, serial_tasks / together) == pytest.approx(gain)


@given(WORKERS, SERIAL)
def test_growth_of_one_is_amdahl_and_growth_by_the_workers_is_gustafson(workers, serial):
    assert laws.sun_ni(workers, serial, 1) == pytest.approx(laws.amdahl(workers, serial))
    assert laws.sun_ni(workers, serial, workers) == pytest.approx(laws.gustafson(workers, serial))


@given(WORKERS, SERIAL)
def test_amdahls_law_is_the_time_of_a_fixed_job_upside_down(workers, serial):
    seconds = speedup.fixed_job_seconds(workers, serial)
    assert laws.amdahl(workers, serial) == pytest.approx(speedup.speedup(1, seconds))


@given(SERIAL, st.floats(1, 1e6))
def test_one_worker_gains_nothing_under_any_law(serial, growth):
    assert laws.amdahl(1, serial) == pytest.approx(1)
    assert laws.gustafson(1, serial) == pytest.approx(1)
    assert laws.sun_ni(1, serial, growth) == pytest.approx(1)


@given(WORKERS, SERIAL, st.floats(1, 1e6), st.floats(1, 10))
def test_more_growth_never_gains_less_and_no_law_passes_the_workers(workers, serial, growth, more):
    gains = [
        laws.amdahl(workers, serial),
        laws.sun_ni(workers, serial, growth),
        laws.sun_ni(workers, serial, growth * more),
    ]
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(gains))
    assert gains[-1] <= workers * (1 + 1e-9)


@given(st.integers(1, 1000), SERIAL)
def test_the_same_number_read_as_gustafsons_never_promises_less_than_as_amdahls(workers, serial):
    """K - s (K - 1) exceeds K / (1 + s (K - 1)) by s (1 - s) (K - 1)^2 over its denominator."""
    gap = laws.gustafson(workers, serial) - laws.amdahl(workers, serial)
    exact = serial * (1 - serial) * (workers - 1) ** 2 / (1 + serial * (workers - 1))
    assert gap == pytest.approx(exact, rel=1e-6, abs=1e-9)
    assert exact >= 0


# --- Whose time is 100%? -----------------------------------------------------------------------


@given(WORKERS, SERIAL)
def test_converted_the_two_laws_agree(workers, serial):
    """Shi 1996: one law, two readings of s."""
    one_worker = laws.rebase(serial, measured_on=workers)
    assert laws.amdahl(workers, one_worker) == pytest.approx(laws.gustafson(workers, serial))
    all_workers = laws.rebase(serial, measured_on=1, base=workers)
    assert laws.gustafson(workers, all_workers) == pytest.approx(laws.amdahl(workers, serial))


@given(st.floats(0, 1e3), st.floats(1e-3, 1e3), st.integers(1, 4096), st.integers(1, 4096))
def test_a_rebased_fraction_is_the_share_one_would_have_measured_there(fixed, divided, here, there):
    """The job in seconds: `fixed` stays, `divided` is the parallel part on one worker."""
    measured = fixed / (fixed + divided / here)
    would_be = fixed / (fixed + divided / there)
    assert laws.rebase(measured, here, there) == pytest.approx(would_be, rel=1e-6, abs=1e-12)


@given(SERIAL, st.integers(1, 4096), st.integers(1, 64))
def test_a_law_over_a_profiled_configuration_counts_multiples_of_it(serial, profiled, multiple):
    one_worker = laws.rebase(serial, measured_on=profiled)
    gain = laws.amdahl(multiple * profiled, one_worker) / laws.amdahl(profiled, one_worker)
    assert laws.amdahl(multiple, serial) == pytest.approx(gain)


@given(st.floats(1e-6, 1e3), st.floats(0, 1e3), st.floats(1e-3, 1e3))
def test_the_serial_fraction_of_a_step_does_not_depend_on_the_unit_of_time(compute, exposed, unit):
    serial = laws.step_serial(compute, exposed)
    assert laws.step_serial(compute * unit, exposed * unit) == pytest.approx(serial)
    assert 0 <= serial < 1


def test_a_step_whose_communication_is_hidden_has_no_serial_part():
    assert laws.step_serial(0.18, 0) == 0


# --- The ceiling -------------------------------------------------------------------------------


@given(WORKERS, SOME_SERIAL)
def test_the_share_of_the_ceiling_is_the_speedup_over_it_and_the_serial_share_of_the_time(
    workers, serial
):
    share = laws.share_of_ceiling(workers, serial)
    assert share == pytest.approx(laws.amdahl(workers, serial) / speedup.ceiling(serial))
    assert share == pytest.approx(laws.rebase(serial, measured_on=1, base=workers))


@pytest.mark.parametrize("serial", [Fraction(1, n) for n in (1, 2, 5, 10, 50, 300)])
@pytest.mark.parametrize("percent", [1, 50, 75, 90, 95, 99])
def test_the_fewest_workers_for_a_share_are_what_exact_counting_finds(serial, percent):
    """Fractions have no rounding, so ties are decided exactly."""
    share = Fraction(percent, 100)
    count = 1
    while serial / (serial + (1 - serial) / count) < share:
        count += 1
    assert laws.workers_for_share(float(share), float(serial)) == count


def test_the_whole_ceiling_is_out_of_reach_unless_all_work_is_serial():
    assert list(laws.workers_for_share(1, [0.1, 1])) == [math.inf, 1]


# --- Serial work against overhead --------------------------------------------------------------


def slowest_rank(workers, serial, tasks, message):
    """Simulate one step: rank 0 does the serial part, tasks are dealt out, then a barrier of messages.

    Each rank has a clock of its own; a rank without a partner sends nothing.
    """
    clocks = [float(serial)] * workers  # nobody can start before the serial part is done
    for task in range(tasks):
        clocks[task % workers] += 1
    partners = [[other for other in range(workers) if other != rank] for rank in range(workers)]
    arrived = max(clocks)
    return max(arrived + (message if others else 0) for others in partners)


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 6, 8, 12])
@pytest.mark.parametrize(("serial", "message"), [(0, 0), (0, 7), (30, 0), (30, 7)])
def test_a_simulated_step_takes_its_serial_part_its_share_and_its_exchange(
    workers, serial, message
):
    """240 tasks divide evenly here, so that nothing but the three parts is left."""
    simulated = slowest_rank(workers, serial, 240, message)
    assert laws.seconds(workers, serial, 240, message) == pytest.approx(simulated)


@pytest.mark.parametrize("measured_on", [2, 3, 8])
@pytest.mark.parametrize("message", [1, 7, 300])
def test_a_share_of_exchange_that_was_simulated_predicts_every_other_size(measured_on, message):
    """The share is read on one size, the speedups over the lone worker are simulated on all others."""
    share = message / slowest_rank(measured_on, 0, 240, message)
    for workers in (1, 2, 4, 12, 60):
        gain = slowest_rank(1, 0, 240, message) / slowest_rank(workers, 0, 240, message)
        assert laws.overhead_speedup(workers, share, measured_on) == pytest.approx(gain)


def test_an_exchange_is_not_charged_to_the_one_worker_that_never_pays_it():
    """Two workers compute 13.65 ms and wait 3.2 ms: one worker takes twice the first, not more."""
    compute, exposed = 13.65e-3, 3.2e-3
    share = exposed / (compute + exposed)
    measured = 2 * compute / (compute + exposed)
    assert laws.overhead_speedup(2, share, measured_on=2) == pytest.approx(measured)
    assert laws.gustafson(2, share) == pytest.approx(measured + share)  # what it would add
    assert laws.overhead_ceiling(share, measured_on=2) == pytest.approx(2 * compute / exposed)


@given(st.integers(2, 4096), st.floats(0, 0.999))
def test_where_the_overhead_was_read_the_efficiency_is_what_it_leaves(workers, share):
    gain = laws.overhead_speedup(workers, share, measured_on=workers)
    assert gain == pytest.approx(workers * (1 - share))
    assert laws.gustafson(workers, share) - gain == pytest.approx(share, rel=1e-6, abs=1e-9)


@given(st.integers(2, 4096), st.floats(0.001, 0.999), st.integers(2, 4096))
def test_endless_workers_reach_the_ceiling_of_an_overhead_and_none_passes_it(
    measured_on, share, workers
):
    top = laws.overhead_ceiling(share, measured_on)
    gains = laws.overhead_speedup([workers, 1e15], share, measured_on)
    assert gains[0] < top
    assert gains[1] == pytest.approx(top, rel=1e-6)
    left = top / laws.overhead_speedup(measured_on, share, measured_on)
    assert left == pytest.approx(1 / share)  # over the run that was profiled


def test_the_second_worker_makes_a_step_slower_whose_exchange_outweighs_half_of_its_compute():
    assert laws.seconds(2, 0, 40, 21) > laws.seconds(1, 0, 40, 21)
    assert laws.seconds(2, 0, 40, 19) < laws.seconds(1, 0, 40, 19)


@given(WORKERS, st.floats(0.01, 1e3), st.floats(0.01, 1e3))
def test_without_overhead_the_three_parts_are_amdahls_law(workers, serial, parallel):
    share = serial / (serial + parallel)
    gain = laws.seconds(1, serial, parallel) / laws.seconds(workers, serial, parallel)
    assert gain == pytest.approx(laws.amdahl(workers, share))


def test_an_overhead_may_be_given_for_each_size_and_one_worker_pays_none():
    assert list(laws.seconds([1, 2, 4], 1, 8, [5, 5, 6])) == [9, 10, 9]


def test_an_overhead_cannot_have_been_read_on_one_worker():
    with pytest.raises(ValueError, match="one worker has no overhead"):
        laws.overhead_speedup(2, 0.1, measured_on=1)
    assert laws.overhead_ceiling(0, measured_on=2) == math.inf
    assert list(laws.overhead_speedup([1, 2], 1, measured_on=2)) == [1, 0]


@given(st.integers(2, 512), st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_what_is_left_after_all_losses_is_the_measured_speedup(workers, lost):
    """The account closes: what K workers spend is what one spends, and the losses."""
    step = (50 + sum(lost)) / workers
    left = laws.after_losses(50, workers, lost)
    assert left[-1] == pytest.approx(50 / step)
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise([workers, *left]))


def test_a_gain_among_the_losses_gives_back():
    assert list(laws.after_losses(100, 2, [100, -100])) == [1, 2]


# --- What a percent more workers brings, and costs ----------------------------------------------


@given(st.floats(0.01, 0.9))
def test_half_of_the_ceiling_is_where_time_and_money_weigh_the_same(serial):
    """Bill times time, K T(K)^2, has its least there; a grid of counts finds it."""
    counts = np.geomspace(1, 1e4, 200_001)
    bill_times_time = counts * (serial + (1 - serial) / counts) ** 2
    best = counts[bill_times_time.argmin()]
    assert best == pytest.approx(max(1, (1 - serial) / serial), rel=1e-3)


# --- The universal scalability law -------------------------------------------------------------


def synchronous_round(workers, think, service, exchange):
    """Seconds until all are served at one queue: all think, then each is served alone.

    Being served takes `service`, and one `exchange` with every other worker. After the last, all
    start to think together, so that the next round is the same.
    """
    arrivals = [(think, worker) for worker in range(workers)]
    heapq.heapify(arrivals)
    free = 0.0
    while arrivals:
        arrived, worker = heapq.heappop(arrivals)
        free = max(free, arrived) + service
        for other in range(workers):
            free += exchange * (other != worker)
    return free


@pytest.mark.parametrize("workers", [1, 2, 5, 16, 40])
@pytest.mark.parametrize(("service", "exchange"), [(0, 0), (0.3, 0), (0.05, 0.002), (0, 0.05)])
def test_the_universal_law_is_a_repair_shop_where_all_machines_fail_at_once(
    workers, service, exchange
):
    """Gunther 2008: the synchronous bound on the throughput of the machine repairman."""
    think = 1 - service
    alone = 1 / synchronous_round(1, think, service, exchange)
    rate = workers / synchronous_round(workers, think, service, exchange)
    assert laws.usl(workers, service, exchange) == pytest.approx(rate / alone)


def repaired(workers, think, service, jobs=4000):
    """Jobs per second of the machine repairman when everyone comes at a random time of their own."""
    random = np.random.default_rng(7)
    arrivals = [(random.exponential(think), worker) for worker in range(workers)]
    heapq.heapify(arrivals)
    free = 0.0
    for _ in range(jobs):
        arrived, worker = arrivals[0]
        free = max(free, arrived) + random.exponential(service)
        heapq.heapreplace(arrivals, (free + random.exponential(think), worker))
    return jobs / free


@pytest.mark.parametrize("workers", [2, 5, 20])
def test_workers_that_do_not_come_all_at_once_gain_more_than_amdahl_allows(workers):
    """The law bounds a synchronous step; a queue with the same times is faster, never above 1/s."""
    gain = repaired(workers, think=0.9, service=0.1)  # one worker does one job per second
    assert laws.usl(workers, 0.1, 0) < gain <= min(workers, speedup.ceiling(0.1)) * 1.03


@given(WORKERS, SERIAL)
def test_without_crosstalk_the_universal_law_is_amdahls(workers, serial):
    assert laws.usl(workers, serial, 0) == pytest.approx(laws.amdahl(workers, serial))


@given(st.floats(0, 0.9), st.floats(1e-4, 1))
def test_the_peak_is_where_brute_force_finds_it(contention, coherency):
    """The best whole count is next to the peak, as the curve rises before it and falls after."""
    counts = np.arange(1, 200)
    best = counts[np.argmax(laws.usl(counts, contention, coherency))]
    assert abs(best - laws.usl_peak(contention, coherency)) < 1


@given(st.floats(0, 0.9), COHERENCY, st.floats(1, 1e3))
def test_scaling_is_retrograde_beyond_the_peak_and_as_slow_as_one_worker_at_its_square(
    contention, coherency, factor
):
    """The curve is symmetric about its peak in log K, so K and peak^2 / K gain the same."""
    peak = laws.usl_peak(contention, coherency)
    at_peak = laws.usl(peak, contention, coherency)
    beyond = laws.usl(peak * factor, contention, coherency)
    assert beyond <= at_peak * (1 + 1e-9)
    if (1 - contention) / coherency > 1:  # otherwise the peak is at one worker, and at its edge
        assert laws.usl(peak**2, contention, coherency) == pytest.approx(1)
        if factor <= peak:
            assert laws.usl(peak / factor, contention, coherency) == pytest.approx(beyond)


def test_a_job_without_crosstalk_has_no_peak():
    assert list(laws.usl_peak([0, 0.5, 1], 0)) == [math.inf, math.inf, 1]
    assert laws.usl_peak(0.5, 2) == 1  # two workers already lose


def test_a_published_fit_of_the_universal_law_is_reproduced():
    """SPEC SDM91 on 16 processors, scripts per hour by users: Gunther 2007, and the R package usl.

    Published: residual standard error 82.85 with 4 degrees of freedom, peak at 96.52 users.
    """
    users = np.array([1, 18, 36, 72, 108, 144, 216])
    scripts = np.array([64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    contention, coherency, rate = 0.0277284, 1.04366e-4, 89.995
    residual = scripts - rate * laws.usl(users, contention, coherency)
    assert math.sqrt((residual**2).sum() / 4) == pytest.approx(82.85, abs=0.005)
    assert laws.usl_peak(contention, coherency) == pytest.approx(96.52, abs=0.005)


# --- How they answer ---------------------------------------------------------------------------


def test_a_count_below_the_profiled_configuration_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="multiples of the configuration where s was measured"):
        laws.amdahl(1 / 8, 0.2)
    with pytest.raises(ValueError, match="without one there is no ceiling"):
        laws.workers_for_share(0.9, 0)


def test_a_share_of_the_time_on_k_workers_is_not_refused_as_a_fraction_of_the_work():
    """And workers of such a run are no multiples of it; the universal law reads no s at all."""
    for refused in (lambda: laws.gustafson(8, 1.5), lambda: laws.rebase(1.5, 8)):
        with pytest.raises(ValueError, match="it is the serial share of the time"):
            refused()
    with pytest.raises(ValueError, match="it counts the workers of that run"):
        laws.gustafson(0, 0.5)
    with pytest.raises(ValueError, match="it counts workers, or users"):
        laws.usl(0, 0.5, 0)


@given(st.floats(0.001, 1), st.floats(0.05, 1))
def test_the_most_workers_keep_the_floor_and_one_more_does_not(serial, floor):
    most = laws.most_workers(serial, floor)
    assert most == int(most) >= 1
    assert laws.amdahl(most, serial) / most >= floor * (1 - 1e-9)
    assert laws.amdahl(most + 1, serial) / (most + 1) < floor * (1 + 1e-9)
    assert most <= laws.workers_at_floor(serial, floor) * (1 + 1e-9) < (most + 1) * (1 + 1e-9)


@given(st.floats(1e-6, 1), st.floats(0.01, 0.99))
def test_at_the_crossing_the_efficiency_is_the_floor_and_the_share_the_largest(serial, floor):
    workers = laws.workers_at_floor(serial, floor)
    assert laws.amdahl(workers, serial) / workers == pytest.approx(floor)
    assert speedup.largest_serial(workers, floor) == pytest.approx(serial)


def test_the_crossing_at_its_edges():
    assert laws.workers_at_floor([0, 0.5, 1, 1], [0.5, 1, 1, 0.5]).tolist() == [np.inf, 1, 1, 2]
    assert laws.most_workers(0, 1) == np.inf
    assert laws.most_workers(0.05, 0.8) == 6
    assert type(laws.most_workers(0.05, 0.8)) is float
