"""The time of a training step, term by term, against simulations of it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.cost import step
from scalelab.models.cost.step import Step
from scalelab.models.graphs import pipeline
from scalelab.models.network import collectives, hierarchy, overlap
from scalelab.models.network.network import Network
from scalelab.models.scaling import speedup, study
from scalelab.models.waiting import stragglers
from scalelab.refusal import Refusal

CARD, NVLINK = Network(5e-6, 1 / 50e9), Network(2e-6, 1 / 450e9)
DOUBLINGS = 2 ** np.arange(11)


def across(size, workers):
    """Price an all-reduce over the network cards."""
    return collectives.all_reduce(size, workers, CARD)


def inside(size, workers):
    """Price an all-reduce over the fast links of a node."""
    return collectives.all_reduce(size, workers, NVLINK)


JOB = Step(microbatch=4096, worker_throughput=50, gradient=3e9, all_reduce=across)


def test_one_worker_only_computes():
    assert step.terms(JOB, 1) == {
        "compute": 4096 / 50,
        "exchange": 0.0,
        "bubble": 0.0,
        "stragglers": 0.0,
    }
    constant = replace(JOB, all_reduce=lambda size, workers: 0.5)
    assert step.seconds(constant, [1, 2]).tolist() == [4096 / 50, 4096 / 100 + 0.5]


def test_a_step_is_the_sum_of_its_terms():
    job = replace(JOB, stages=4, accumulation=8, slowest=lambda k: stragglers.normal(k, 1, 0.1))
    workers = DOUBLINGS[2:]
    parts = step.terms(job, workers)
    assert sum(parts.values()) == pytest.approx(step.seconds(job, workers), rel=1e-12)
    assert all((parts[name] > 0).all() for name in ("compute", "bubble", "stragglers"))


def test_the_all_reduce_is_the_one_that_was_given():
    assert step.communication(JOB, DOUBLINGS) == pytest.approx(across(3e9, DOUBLINGS), rel=1e-12)


def test_the_hierarchy_of_the_book_takes_1_201_seconds():
    """140 GB among 16 nodes of 8 at 50 and 450 GB/s per direction."""
    free = [Network(0, beta) for beta in (1 / 50e9, 1 / 450e9)]
    job = Step(
        microbatch=4096,
        worker_throughput=1,
        gradient=140e9,
        all_reduce=lambda size, workers: collectives.all_reduce(size, workers, free[0]),
        per_node=8,
        all_reduce_inside=lambda size, workers: collectives.all_reduce(size, workers, free[1]),
    )
    assert step.communication(job, 128) == pytest.approx(1.201, abs=5e-4)


def test_two_copies_in_each_of_eight_nodes_take_78_89_milliseconds():
    """4 GB: 2 GB between the pairs, 2 (1/2) 4 GB / 450 GB/s, and 2 (7/8) 2 GB / 50 GB/s across."""
    link = {name: Network(0, 1 / speed) for name, speed in (("in", 450e9), ("out", 50e9))}
    job = Step(
        64,
        1,
        4e9,
        lambda size, workers: collectives.all_reduce(size, workers, link["out"]),
        per_node=2,
        all_reduce_inside=lambda size, workers: collectives.all_reduce(size, workers, link["in"]),
    )
    by_hand = 2 * (1 / 2) * 4e9 / 450e9 + 2 * (7 / 8) * 2e9 / 50e9
    assert step.communication(job, 16) == pytest.approx(by_hand) == pytest.approx(0.07889, abs=5e-6)


@pytest.mark.parametrize("nodes", [2, 5, 16])
def test_a_hierarchy_costs_what_its_phases_cost(nodes):
    job = replace(JOB, per_node=8, all_reduce_inside=inside)
    phases = hierarchy.hierarchical_all_reduce(3e9, nodes, 8, inside=NVLINK, outside=CARD)
    assert step.communication(job, 8 * nodes) == pytest.approx(phases, rel=1e-12)
    assert step.communication(job, 4) == pytest.approx(inside(3e9, 4), rel=1e-12)


def finish_of_exposed(step_seconds, hidden_share, communication, window, tick=1e-3):
    """Let an exchange run, tick by tick, beside the end of a backward pass and after it."""
    eligible, rest = hidden_share * communication, (1 - hidden_share) * communication
    now = step_seconds - window
    while eligible > tick / 2 or rest > tick / 2:
        now += tick
        if eligible > tick / 2:
            eligible -= tick
        elif now > step_seconds + tick / 2:  # the rest needs the last gradient
            rest -= tick
    return max(now - step_seconds, 0.0)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("accumulation", [1, 4])
@pytest.mark.parametrize("total", [0.05, 0.4, 1.2])
def test_what_is_exposed_is_what_outlasts_the_backward_pass(share, accumulation, total):
    job = Step(
        microbatch=60,
        worker_throughput=10,
        gradient=1,
        all_reduce=lambda size, workers: total,
        accumulation=accumulation,
        overlap=share,
    )
    busy = step.compute(job, 8)
    window = busy / accumulation * 2 / 3
    simulated = finish_of_exposed(busy, share, total, window)
    assert step.exposed(job, 8) == pytest.approx(simulated, abs=3e-3)


@pytest.mark.parametrize("buckets", [2, 4, 25, 100])
def test_overlap_is_the_limit_of_many_buckets(buckets):
    """Of n buckets all but the last can hide; the first is ready an n-th into the pass, not at once."""
    job = replace(JOB, all_reduce=lambda size, workers: size / 20e9, overlap=1 - 1 / buckets)
    for workers in (64, 512, 1024):
        backward = step.BACKWARD * step.compute(job, workers)
        each = np.full(buckets, step.communication(job, workers) / buckets)
        ready = backward * np.arange(1, buckets + 1) / buckets
        bucketed = overlap.exposed_seconds(ready, each, backward)
        ours = step.exposed(job, workers)
        assert ours - 1e-12 <= bucketed <= ours + backward / buckets + 1e-12


def test_the_bubble_is_the_pipelines():
    job = replace(JOB, stages=4, accumulation=12, gradient=0)
    parts = step.terms(job, 64)
    share = parts["bubble"] / (parts["bubble"] + parts["compute"])
    assert share == pytest.approx(pipeline.bubble(4, 12), rel=1e-12)


def test_stages_share_the_gradient_and_the_copies():
    job = replace(JOB, stages=4)
    assert step.communication(job, 64) == pytest.approx(across(3e9 / 4, 16), rel=1e-12)
    assert step.communication(job, 4) == 0  # one copy has nobody to tell


@pytest.mark.parametrize("workers", [1, 4, 64])
def test_random_stragglers_cost_what_the_model_says(workers):
    """Steps simulated with normal compute times: each ends when its slowest worker does."""
    job = replace(JOB, gradient=0, slowest=lambda k: stragglers.normal(k, 1.0, 0.1))
    mean = step.compute(job, workers)
    rng = np.random.default_rng(5)
    steps = rng.normal(mean, 0.1 * mean, (20_000, workers)).max(axis=1)
    error = steps.std() / np.sqrt(len(steps))
    assert step.seconds(job, workers) == pytest.approx(steps.mean(), abs=4 * error)


def test_accumulation_adds_compute_and_no_communication():
    more = replace(JOB, accumulation=8)
    assert step.communication(more, DOUBLINGS) == pytest.approx(step.communication(JOB, DOUBLINGS))
    assert step.compute(more, DOUBLINGS) == pytest.approx(8 * step.compute(JOB, DOUBLINGS))
    assert (step.throughput(more, DOUBLINGS[1:]) > step.throughput(JOB, DOUBLINGS[1:])).all()


def test_accumulation_leaves_a_smaller_share_of_the_step_to_hide_behind():
    """Only the last micro-batch's backward pass overlaps, so hiding gains less of a longer step."""
    hiding = replace(JOB, overlap=1.0, microbatch=1024, gradient=2e9)
    assert step.exposed(hiding, 128) == 0
    split = replace(hiding, microbatch=128, accumulation=8)
    assert step.compute(split, 128) == step.compute(hiding, 128)
    assert step.exposed(split, 128) > 0


def test_compression_divides_the_bytes_and_leaves_the_latency():
    free = replace(JOB, compression=1e12)
    assert step.communication(free, 512) == pytest.approx(2 * 511 * CARD.alpha, rel=1e-6)
    saved = step.communication(JOB, 512) - step.communication(free, 512)
    tenth = step.communication(replace(JOB, compression=10), 512)
    assert tenth == pytest.approx(step.communication(free, 512) + saved / 10, rel=1e-6)


def test_a_slow_encoder_makes_compression_a_loss():
    squeezed = replace(JOB, compression=10, worker_throughput=0.9 * JOB.worker_throughput)
    assert step.seconds(squeezed, 16) > step.seconds(JOB, 16)
    assert step.seconds(squeezed, 1024) < step.seconds(JOB, 1024)


def test_at_the_critical_scale_half_of_the_step_is_communication():
    constant = replace(JOB, all_reduce=lambda size, workers: 0.64)
    critical = overlap.critical_workers(step.compute(JOB, 1), 0.64)
    assert critical == 128
    assert step.efficiency(constant, 128) == pytest.approx(0.5)


def test_efficiency_is_the_one_of_section_3_1():
    times = step.seconds(JOB, DOUBLINGS)
    measured = speedup.efficiency(times[0], times, DOUBLINGS)
    assert step.efficiency(JOB, DOUBLINGS) == pytest.approx(measured, rel=1e-12)


def test_weak_scaling_is_a_batch_that_grows_with_the_workers():
    workers = DOUBLINGS[1:]
    grown = [replace(JOB, microbatch=32 * k) for k in workers.tolist()]
    times = [step.seconds(job, k) for job, k in zip(grown, workers.tolist(), strict=True)]
    alone = step.seconds(replace(JOB, microbatch=32), 1)
    weak = study.weak_efficiency(alone, times)
    assert weak == pytest.approx(
        [step.efficiency(job, k) for job, k in zip(grown, workers.tolist(), strict=True)]
    )
    assert weak[-1] > step.efficiency(
        replace(JOB, microbatch=1024), 1024
    )  # the same K, the same work


def test_a_latency_that_grows_with_the_workers_turns_the_curve_around():
    small = replace(JOB, gradient=1e6, worker_throughput=5000)
    times = step.seconds(small, DOUBLINGS)
    assert 0 < np.argmin(times) < len(DOUBLINGS) - 1


@given(
    st.integers(1, 10),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(1, 100),
    st.integers(1, 8),
    st.floats(1e-2, 1e2),
)
def test_moves_that_help_never_hurt_and_units_do_not_matter(
    doubling, less, more, squeeze, m, scale
):
    workers = 2**doubling
    less, more = sorted((less, more))
    job = replace(JOB, overlap=less, accumulation=m)
    time = step.seconds(job, workers)
    assert step.seconds(replace(job, overlap=more), workers) <= time * (1 + 1e-12)
    assert step.seconds(replace(job, compression=squeeze), workers) <= time * (1 + 1e-12)
    assert (
        step.compute(job, workers)
        <= time
        <= step.compute(job, 1) + step.communication(job, workers)
    )
    slower = replace(
        job,
        worker_throughput=JOB.worker_throughput / scale,
        all_reduce=lambda size, k: scale * across(size, k),
    )
    assert step.seconds(slower, workers) == pytest.approx(scale * time, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"microbatch": 0}, "microbatch must be a finite number from 1 on, got 0: "),
        ({"worker_throughput": 0}, "worker_throughput must be a finite number above 0, got 0: "),
        ({"gradient": -1}, "gradient must be a finite number from 0 on, got -1: "),
        ({"accumulation": 1.5}, "accumulation must be a whole number from 1 to "),
        ({"overlap": 1.2}, r"overlap must be in \[0, 1\], got 1.2: "),
        ({"compression": 0.1}, "compression must be a finite number from 1 on, got 0.1: "),
        ({"stages": 0}, "stages must be a whole number from 1 to "),
        ({"per_node": True}, "per_node must be a whole number from 1 to "),
        (
            {"per_node": 8},
            "all_reduce_inside must be a function, got None: .* per_node > 1 needs it",
        ),
        ({"all_reduce": 0.02}, "all_reduce must be a function, got 0.02: it returns the seconds"),
        ({"slowest": 1.3}, "slowest must be a function, got 1.3: it returns"),
    ],
)
def test_a_field_that_makes_no_sense_is_refused_in_one_sentence(changes, sentence):
    with pytest.raises(Refusal, match=sentence):
        replace(JOB, **changes)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: step.seconds(JOB, 4097), "workers must be .* at most 4096, got 4097: every copy"),
        (lambda: step.seconds(replace(JOB, stages=4), 6), "a multiple of 4 and .*, got 6: "),
        (
            lambda: step.seconds(replace(JOB, stages=4), 2),
            "workers must be a multiple of 4 .*, got 2: ",
        ),
        (lambda: step.seconds(JOB, 1.5), "workers must be a whole number, got 1.5: "),
        (lambda: step.seconds(4096, 8), "step must be a Step, got 4096: "),
        (
            lambda: step.seconds(replace(JOB, all_reduce=lambda m, k: -1.0), 8),
            "all_reduce must be a finite number from 0 on, got -1: it returns the seconds",
        ),
        (
            lambda: step.seconds(replace(JOB, microbatch=1e308, accumulation=10**9), 8),
            "the numbers must give a result below 1.8e308, got one that is larger: ",
        ),
        (
            lambda: step.seconds(replace(JOB, slowest=lambda k: 0.5), 8),
            "slowest must be .*, got 0.5: it returns the time of the slowest",
        ),
    ],
)
def test_a_count_or_a_function_that_makes_no_sense_is_refused(call, sentence):
    with pytest.raises(Refusal, match=sentence):
        call()


def test_the_throughput_is_the_samples_of_a_step_over_its_seconds():
    job = replace(JOB, overlap=0.5, stages=2, accumulation=4, per_node=4, all_reduce_inside=inside)
    assert step.throughput(job, 64) == pytest.approx(4 * 4096 / step.seconds(job, 64))
