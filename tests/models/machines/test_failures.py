"""Checkpoints and failures, against jobs and machines that are simulated event by event."""

import heapq
import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, special

from scalelab.models.machines import failures

SECONDS = st.floats(1e-3, 1e6)
HOUR = 3600.0


def times_of_failure(machines, one, rng):
    """Yield when any of N machines fails; each is replaced and goes on by its own clock."""
    clocks = [rng.exponential(one) for _ in range(machines)]
    heapq.heapify(clocks)
    while True:
        now = clocks[0]
        yield now
        heapq.heapreplace(clocks, now + rng.exponential(one))


def run(intervals, interval, write, restart, failing):
    """Walk a job along a list of failures; return when its last checkpoint is written."""
    now, next_failure = 0.0, next(failing)

    def survives(duration):
        """Spend the time, or lose it to the next failure."""
        nonlocal now, next_failure
        if now + duration <= next_failure:
            now += duration
            return True
        now, next_failure = next_failure, next(failing)
        return False

    for _ in range(intervals):
        while not survives(interval + write):
            while not survives(restart):
                pass
    return now


@pytest.mark.parametrize(
    ("interval", "write", "restart"),
    [(0.3, 0.05, 0.1), (0.05, 0.02, 0.3), (1.5, 0.1, 0.0), (0.7, 0.0, 1.0)],
)
def test_the_expected_time_is_that_of_simulated_jobs(interval, write, restart):
    """Twenty machines that last 20 on average, so that something fails once per unit of time."""
    rng = np.random.default_rng(32)
    intervals = int(6000 / interval)
    simulated = run(intervals, interval, write, restart, times_of_failure(20, 20.0, rng))
    mttf = failures.mean_time_to_failure(20.0, 20)
    model = failures.expected_seconds(intervals * interval, interval, write, restart, mttf)
    assert model == pytest.approx(simulated, rel=0.04)


@pytest.mark.parametrize("machines", [1, 10, 500])
@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_failures_of_many_machines_add_up_whatever_their_spread(machines, shape):
    """Weibull lifetimes: early deaths, pure chance, and wear; only the mean enters."""
    rng = np.random.default_rng(7)
    lives = 30_000 // machines
    mean = special.gamma(1 + 1 / shape)
    when = rng.weibull(shape, (machines, 2 * lives)).cumsum(axis=1) / mean
    # Leave the start out: machines that are all new do not fail at their long-run rate.
    seen = ((when > 0.2 * lives) & (when < lives)).sum()
    model = 0.8 * lives / failures.mean_time_to_failure(1.0, machines)
    assert seen == pytest.approx(model, rel=0.03)


@pytest.mark.parametrize(("hours", "minutes"), [(24, 117), (6, 57), (0.25, 9.1)])
def test_dalys_interval_is_the_published_one(hours, minutes):
    """Daly 2006, captions of figures 3 to 5: a checkpoint takes 5 minutes."""
    ours = failures.daly_interval(5 * 60, hours * HOUR) / 60
    assert ours == pytest.approx(minutes, abs=0.5 if minutes > 10 else 0.05)


def test_a_published_run_gives_the_life_of_one_gpu():
    """Llama 3, table 5: 419 unexpected interruptions in 54 days on 16,384 GPUs, one in 3.1 hours."""
    cluster = 54 * 24 / 419
    assert cluster == pytest.approx(3.1, abs=0.05)
    one = cluster * 16_384
    assert one / (24 * 365) == pytest.approx(5.8, abs=0.05)
    assert failures.mean_time_to_failure(one, 16_384) == pytest.approx(cluster)
    assert failures.mean_time_to_failure(one, 1024) == pytest.approx(49.5, abs=0.05)


def best_interval(write, mttf):
    """The exact optimum: where the derivative of the expected time is zero, by Lambert's W."""
    return mttf * (1 + special.lambertw(-np.exp(-write / mttf - 1)).real)


@pytest.mark.parametrize("ratio", [1e-4, 1e-3, 0.01, 0.1, 0.5, 1, 1.9, 3])
def test_dalys_interval_wastes_almost_nothing_and_youngs_no_less(ratio):
    """Against a search over all intervals, with checkpoints of up to three mean lives."""
    found = optimize.minimize_scalar(
        lambda t: failures.expected_seconds(1, t, ratio, 0.1, 1), bounds=(1e-4, 4), method="bounded"
    )
    assert found.x == pytest.approx(best_interval(ratio, 1), rel=1e-3)
    young, daly = (
        failures.expected_seconds(1, rule(ratio, 1), ratio, 0.1, 1) / found.fun
        for rule in (failures.young_interval, failures.daly_interval)
    )
    assert 1 - 1e-9 <= daly <= young + 1e-12
    assert daly < (1.0002 if ratio <= 1 else 1.002)
    if ratio <= 0.01:
        assert young < 1.0002


def test_the_best_interval_does_not_depend_on_the_restart():
    """A restart is paid per failure, however often one saves."""
    best = [
        optimize.minimize_scalar(
            lambda t, r=restart: failures.expected_seconds(1, t, 0.01, r, 1),
            bounds=(0.01, 1),
            method="bounded",
        ).x
        for restart in (0, 0.5, 2)
    ]
    assert best == pytest.approx([best_interval(0.01, 1)] * 3, rel=1e-3)


def test_with_checkpoints_far_shorter_than_lives_young_and_daly_agree():
    assert failures.daly_interval(1, 1e12) == pytest.approx(failures.young_interval(1, 1e12), 1e-5)


@given(SECONDS, SECONDS, SECONDS)
def test_machines_that_never_fail_cost_only_the_checkpoints(interval, write, restart):
    share = failures.useful_share(interval, write, restart, mttf=1e300)
    assert share == pytest.approx(interval / (interval + write))


@given(SECONDS, SECONDS, SECONDS, SECONDS)
def test_share_and_expected_time_are_two_views_of_one_number(interval, write, restart, mttf):
    share = failures.useful_share(interval, write, restart, mttf)
    assert 0 <= share <= interval / (interval + write)
    if share > 1e-300:
        expected = failures.expected_seconds(7.0, interval, write, restart, mttf)
        assert expected == pytest.approx(7.0 / share)
        assert expected >= 7.0


@given(SECONDS, SECONDS, SECONDS, SECONDS, st.floats(1.01, 10))
def test_better_machines_and_faster_restarts_only_help(interval, write, restart, mttf, factor):
    before = failures.useful_share(interval, write, restart, mttf)
    assert failures.useful_share(interval, write, restart, mttf * factor) >= before
    assert failures.useful_share(interval, write, restart / factor, mttf) >= before
    assert failures.useful_share(interval, write / factor, restart, mttf) >= before


@given(SECONDS, SECONDS, SECONDS, SECONDS, st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(interval, write, restart, mttf, unit):
    times = np.array([interval, write, restart, mttf])
    share = failures.useful_share(*times)
    assert failures.useful_share(*times * unit) == pytest.approx(share, rel=1e-9, abs=1e-300)
    daly = failures.daly_interval(write, mttf)
    assert failures.daly_interval(write * unit, mttf * unit) == pytest.approx(daly * unit)


def test_twice_the_machines_save_a_factor_of_root_two_more_often():
    mttf = failures.mean_time_to_failure(1e9, np.array([100, 200]))
    often = failures.young_interval(60, mttf)
    assert often[0] / often[1] == pytest.approx(2**0.5)


def test_beyond_some_size_more_machines_finish_less():
    """Checkpoints of 10 min, five years per machine: useful machines rise, then fall."""
    machines = 2.0 ** np.arange(8, 22)
    mttf = failures.mean_time_to_failure(5 * 365 * 24 * HOUR, machines)
    useful = machines * failures.useful_share(failures.daly_interval(600, mttf), 600, 600, mttf)
    peak = useful.argmax()
    assert 0 < peak < len(machines) - 1
    assert (np.diff(useful[: peak + 1]) > 0).all()
    assert (np.diff(useful[peak:]) < 0).all()


def test_a_checkpoint_longer_than_two_lives_waits_one_life():
    assert list(failures.daly_interval([2.0, 3.0], 1.0)) == [1, 1]


def test_scalars_answer_with_floats_and_arrays_broadcast():
    assert type(failures.expected_seconds(1, 1, 1, 1, 1)) is float
    assert failures.useful_share([[1], [2]], 0, 0, [1, 2, 3]).shape == (2, 3)
    assert failures.expected_seconds(0, 1, 1, 1, 1) == 0


def test_a_job_that_never_ends_is_refused_in_a_sentence():
    assert failures.useful_share(1, 1, 1, 1e-4) == 0
    with pytest.raises(ValueError, match=r"must give a result below 1\.8e308"):
        failures.expected_seconds(1, 1, 1, 1, 1e-4)
    with pytest.raises(ValueError, match="mttf must be a finite number above 0, got 0: it is the"):
        failures.daly_interval(1, 0)


@given(
    st.integers(1, 30),
    st.integers(0, 9),
    st.integers(0, 9),
    st.lists(st.integers(1, 200), max_size=6),
)
def test_stretches_of_a_run_touch_and_nothing_lost_or_saved_is_counted_twice(
    tau, delta, back, moments
):
    found = failures.stretches(200, tau, delta, back, moments)
    assert found[0].start == 0
    assert found[-1].end == 200
    assert all(one.end == two.start for one, two in itertools.pairwise(found))
    assert all(one.end - one.start == tau for one in found if one.kind == "saved")
    assert sum(one.kind == "unsaved" for one in found) <= 1
    lost = [one.end for one in found if one.kind == "lost"]
    assert set(lost) <= set(moments)
