"""Plans: against arithmetic by hand, limits, monotonicity, and what a goal must choose."""

import dataclasses
import itertools
import json
import math

import pytest
from hypothesis import given, settings, strategies as st

from scalelab.models.cost import step
from scalelab.models.network import collectives
from scalelab.models.network.network import Network
from scalelab.plan import (
    file,
    memory as plan_memory,
    plan,
    published,
    step as plan_step,
    text as plan_text,
)
from scalelab.plan.row import Against
from tests.learning import planned

TINY = {
    "model": {"layers": 8, "hidden": 1024, "heads": 16, "vocabulary": 32000},
    "training": {"sequence": 1024, "batch": 256},
    "layout": {"tensor": 1, "pipeline": 1, "micro_batch": 1, "recompute": "none"},
    "cluster": {"node": "DGX A100", "largest": 64, "price": 2.0, "power": 400, "idle_power": 100},
    "goal": {"tokens": "20B"},
}


def job(**tables):
    """Return the tiny job with some keys changed; None takes a key away."""
    told = {name: dict(table) for name, table in TINY.items()}
    for name, changes in tables.items():
        told[name] |= changes
        told[name] = {key: value for key, value in told[name].items() if value is not None}
    return file.described(told)


def laid(one, **changes):
    return dataclasses.replace(one.layout, **changes)


def test_a_step_by_hand_from_the_published_numbers_of_megatron():
    """1.7 billion parameters on 32 A100: 512 sequences, 16 at once, all computed twice (arXiv:2104.04473)."""
    told = {
        "model": {"layers": 24, "hidden": 2304, "heads": 24, "vocabulary": 51200},
        "training": {"sequence": 2048, "batch": 512},
        "layout": {"tensor": 1, "pipeline": 1, "micro_batch": 16, "recompute": "full"},
        "cluster": {"device": "A100 SXM 80GB", "per_node": 8, "largest": 32},
    }
    told["layout"] |= {"fused_attention": False, "overlap": 0, "sharding": 0}
    told["cluster"] |= {"inside": "300 GB/s", "outside": "25 GB/s", "link_share": 1}
    told["cluster"] |= {"inside_latency": 0, "outside_latency": 0}
    one = file.described(told)
    time = plan_step.time(one, one.layout, 32, share=0.5)

    B, s, L, h, V, a = 512, 2048, 24, 2304, 51200, 24
    ran = 96 * B * s * L * h**2 * (1 + s / (6 * h) + V / (16 * L * h))
    asked = 72 * B * s * L * h**2 * (1 + s / (6 * h) + V / (12 * L * h))
    rate = 32 * 312e12 * 0.5
    weights = 12 * L * h**2 + V * h
    moved = 7 * L * 16 * s * (34 * h + 5 * a * s) + 28 * weights
    # A ring inside a node, a ring of each eighth across four nodes, the bytes in 16 bit.
    ring = 2 * weights * (2 * 7 / 8 / 300e9 + 2 * 3 / 4 / 8 / 25e9)
    assert time.useful == pytest.approx(asked / rate)
    assert time.repeated == pytest.approx((ran - asked) / rate)
    assert time.memory == pytest.approx(moved / 2039e9)
    # The cheaper of two algorithms without latency is a ring, or a tree that comes close.
    assert time.gradients == pytest.approx(ring, rel=0.02)
    assert (time.uneven, time.tensor, time.stages, time.bubble) == (0, 0, 0, 0)
    assert time.seconds == pytest.approx(sum([ran / rate, moved / 2039e9, ring]), rel=1e-3)


def test_the_published_rate_of_that_run_lies_within_the_band():
    """137 TFLOP/s of what ran, per device."""
    run = planned.runs()[0]
    share = published.SHARES["A100"]
    seconds = plan_step.time(run.job, run.job.layout, run.workers, share).seconds
    flops = 96 * 512 * 2048 * 24 * 2304**2 * (1 + 2048 / 6 / 2304 + 51200 / 16 / 24 / 2304)
    assert run.seconds == pytest.approx(flops / 32 / 137e12)
    assert 1 / published.BAND < seconds / run.seconds < published.BAND


def test_on_one_device_there_is_nobody_to_wait_for():
    one = job()
    time = plan_step.time(one, one.layout, 1, share=0.5)
    assert time.communication == time.bubble == 0
    assert time.seconds == pytest.approx(time.useful + time.memory)


def test_with_data_parallelism_alone_the_step_is_that_of_models_step():
    one = job(layout={"sharding": 0, "overlap": 0.5, "hierarchy": False})
    flops = 1024 * 3 * 2 * (12 * 8 * 1024**2 + 32000 * 1024)
    flops += 1024 * 3 * 4 * 8 * 1024 * 1024  # scores and values of all pairs
    inside, outside = one.cluster.inside, one.cluster.outside
    for workers in (8, 16, 64):
        own = step.Step(
            microbatch=workers,
            worker_throughput=312e12 * 0.5 / flops,
            gradient=one.parameters * 2 / (1 if workers == 8 else 8),  # a ring through each card
            all_reduce=lambda size, k: min(
                collectives.all_reduce(size, k, inside if k == 8 else outside),
                collectives.all_reduce(
                    size, k, inside if k == 8 else outside, "double binary tree"
                ),
            ),
            accumulation=256 // workers,
            overlap=0.5,
        )
        time = plan_step.time(one, one.layout, workers, share=0.5)
        assert time.seconds - time.memory == pytest.approx(step.seconds(own, workers))


def test_the_bubble_is_that_of_the_pipeline():
    """Four stages, 64 micro-batches of one copy: (p - 1) / m of the busy time, half with two chunks."""
    one = job(layout={"pipeline": 4, "overlap": 1}, cluster={"largest": 4})
    busy = plan_step.time(one, one.layout, 4, 0.5)
    assert busy.bubble / (busy.useful + busy.memory) == pytest.approx(3 / 256, rel=0.02)
    halved = plan_step.time(one, laid(one, chunks=2), 4, 0.5)
    assert halved.bubble == pytest.approx(busy.bubble / 2)


def test_full_sharding_moves_every_layer_three_times_per_micro_batch():
    """Two gathers and a scatter of 2 N / L bytes among eight of a node, ring by ring; 32 rounds."""
    one = job(layout={"sharding": 3, "overlap": 0}, cluster={"inside_latency": "5 us"})
    time = plan_step.time(one, one.layout, 8, 0.5)
    ring = 7 * 5e-6 + 7 / 8 * 2 * one.parameters / 8 / (300e9 * 0.81)
    assert time.gradients == pytest.approx(32 * 8 * 3 * ring)
    hidden = plan_step.time(one, laid(one, overlap=1), 8, 0.5)
    assert hidden.gradients == 0


def test_states_on_a_device_are_those_of_zero():
    """16 bytes a parameter, of which stage 1 splits 12 and stage 3 all."""
    one = job()
    held = [
        plan_memory.bytes_by_part(one, laid(one, sharding=stage), 8)["states"] / one.parameters
        for stage in (0, 1, 2)
    ]
    assert held == pytest.approx([16, 4 + 12 / 8, 2 + 14 / 8])
    whole = plan_memory.bytes_by_part(one, laid(one, sharding=3), 8)["states"]
    assert whole == pytest.approx(
        2 * one.parameters + 4 * one.parameters / 8
    )  # and two layers at work


def test_uneven_shares_of_the_batch_cost_the_busiest_copy():
    """Of 256 sequences on 48 devices, some take six and none fewer than five."""
    one = job(cluster={"largest": 48, "sizes": [48]})
    time = plan_step.time(one, one.layout, 48, 0.5)
    assert (time.useful + time.uneven) / time.useful == pytest.approx(6 / (256 / 48))


@pytest.mark.parametrize("sharding", [0, 3])
@pytest.mark.parametrize(
    "better",
    [
        {"cluster": {"outside": "100 GB/s"}},
        {"cluster": {"inside": "900 GB/s"}},
        {"cluster": {"outside_latency": "1 us"}},
        {"cluster": {"peak": "624 TFLOP/s"}},
        {"cluster": {"bandwidth": "4 TB/s"}},
        {"cluster": {"kernel_share": "90%"}},
        {"layout": {"overlap": 1}},
        {"layout": {"compression": 8}},
    ],
    ids=str,
)
def test_what_is_better_never_makes_a_step_longer(better, sharding):
    own = {"layout": {"sharding": sharding}, "cluster": {"kernel_share": "50%"}}
    improved = {name: own.get(name, {}) | better.get(name, {}) for name in ("layout", "cluster")}
    before, after = (plan.plan(job(**tables)).rows for tables in (own, improved))
    for one, other in zip(before, after, strict=True):
        assert other.seconds <= one.seconds * (1 + 1e-12)


def test_rows_agree_with_each_other():
    """Throughput, time, bill, energy and shares are one set of numbers."""
    found = plan.plan(job())
    for one in found.rows:
        assert one.throughput == pytest.approx(256 * 1024 / one.seconds)
        assert one.run == pytest.approx(20e9 / one.throughput)
        assert one.dollars == pytest.approx(one.run / 3600 * one.workers * 2.0)
        assert one.dollars_per_million == pytest.approx(one.dollars / 20e3)
        assert one.joules == pytest.approx(one.joules_per_token * 20e9)
        assert 100 <= one.joules / one.run / one.workers <= 400
        assert one.mfu == pytest.approx(one.efficiency * found.share)
        parts = (one.time.computing, one.time.communication, one.time.bubble)
        assert sum(parts) == pytest.approx(one.seconds)
    for one, next_one in itertools.pairwise(found.rows):
        assert next_one.seconds < one.seconds
        assert next_one.efficiency <= one.efficiency * (1 + 1e-9)


def test_failures_stretch_a_run_as_dalys_formula_says():
    often = {"mean_time_between_failures": "640 h", "checkpoint": "60 s", "restart": "600 s"}
    calm, failing = plan.plan(job()).rows[-1], plan.plan(job(cluster=often)).rows[-1]
    assert failing.workers == 64  # so one failure in ten hours
    interval = math.sqrt(2 * 60 * 36000)
    lost = 60 / interval + interval / 2 / 36000 + 600 / 36000  # to first order
    assert calm.run / failing.run == pytest.approx(1 - lost, abs=0.01)
    never = plan.plan(job(cluster=often | {"mean_time_between_failures": "60 s"}))
    assert never.chosen is None or never.chosen == 1
    assert any(why.kind == "endless" for reasons in never.excluded.values() for why in reasons)


def test_a_deadline_buys_the_cheapest_size_that_meets_it():
    rows = plan.plan(job()).rows
    for one in rows:
        found = plan.plan(job(goal={"deadline": one.run * 1.001}))
        assert found.chosen == one.workers
        assert found.excluded == {
            row.workers: (Against("too late", row.run, one.run * 1.001),)
            for row in rows
            if row.run > one.run * 1.001
        }


def test_a_budget_buys_the_fastest_size_within_it():
    rows = plan.plan(job()).rows
    for one in rows:
        found = plan.plan(job(goal={"budget": one.dollars * 1.0001}))
        within = [row for row in rows if row.dollars <= one.dollars * 1.0001]
        assert found.chosen == min(within, key=lambda row: row.run).workers


def test_a_floor_of_efficiency_buys_the_largest_size_above_it():
    rows = plan.plan(job()).rows
    found = plan.plan(job(goal={"efficiency": rows[3].efficiency * 0.9999}))
    assert found.chosen == rows[3].workers


def test_what_cannot_be_had_is_refused_with_what_comes_closest():
    found = plan.plan(job(goal={"deadline": 60}))
    assert found.chosen is None
    assert f"the fastest, {found.rows[-1].workers}, takes" in plan_text.why(found)
    large = plan.plan(job(model={"layers": 96, "hidden": 12288, "heads": 96}))
    assert large.chosen is None
    assert "fits on none of these sizes" in plan_text.why(large)


def test_what_is_against_a_group_of_sizes_is_said_of_the_one_that_comes_nearest():
    found = plan.plan(file.parse(file.example()))
    said = " ".join(" ".join(plan_text.lines(found)).split())
    assert "not 1: it needs 136 GB on a device, 77 GB of 85.5 GB are usable" in said
    assert "not 2, 4, 8, 16, 32, 64: at 64 it takes 22.6 d, 1.57 d too long" in said


def test_a_size_is_safe_if_the_band_does_not_cost_the_deadline():
    rows = plan.plan(job()).rows
    close = plan.plan(job(goal={"deadline": rows[3].run * 1.05}))
    assert (close.chosen, close.safe) == (rows[3].workers, rows[4].workers)
    easy = plan.plan(job(goal={"deadline": rows[3].run * 1.5}))
    assert easy.chosen == easy.safe == rows[3].workers


def test_without_a_layout_the_plan_finds_one_that_is_at_least_as_fast():
    free = {"tensor": None, "pipeline": None, "micro_batch": None, "recompute": None}
    for fixed, found in zip(plan.plan(job()).rows, plan.plan(job(layout=free)).rows, strict=True):
        assert found.seconds <= fixed.seconds * (1 + 1e-12)
        assert found.fits


def test_sizes_are_multiples_of_a_copy():
    one = job(layout={"tensor": 4, "pipeline": 2}, cluster={"largest": 100})
    assert plan.sizes(one) == (8, 16, 32, 64)
    found = plan.plan(job(layout={"tensor": 4}, cluster={"sizes": [6, 8]}))
    assert found.impossible == {6: Against("split copies", 6, 4)}
    assert plan_text.against(found, found.impossible[6]) == (
        "6 devices hold no whole number of copies of 4"
    )


def test_what_ifs_change_what_they_name_and_nothing_else():
    found = plan.plan(job(goal={"deadline": "1 d"}))
    gains = {one.change: one.gain for one in found.whatifs}
    assert gains["overlap: nothing of it hides"] <= 1 <= gains["overlap: all of it may hide"]
    assert gains["gradients compressed fourfold"] >= 1
    assert gains["twice the batch, accumulated"] >= 1 >= gains["half the batch"] * 0.999
    assert gains["links outside the node twice as fast"] >= 1
    following = found.whatifs[-1]
    assert following.change == "next device: A100 SXM 80GB"
    assert following.worth == pytest.approx(2.0 * following.gain)


def test_a_batch_that_shares_evenly_is_asked_for_and_wastes_nothing():
    found = plan.plan(job(cluster={"sizes": [48]}))
    even = next(one for one in found.whatifs if one.change.startswith("a batch of 288,"))
    assert found.rows[0].time.uneven > 0
    assert even.row.time.uneven == pytest.approx(0, abs=1e-12)
    assert even.gain > 1


def test_a_whole_published_run_lies_within_the_band():
    """Llama 3 405B took 30.84 million H100 hours for 15.6 T tokens, by its model card and its paper."""
    run = next(one for one in planned.runs() if one.name == "Llama 3 405B, 16384 GPUs")
    cluster = dataclasses.replace(
        run.job.cluster, failures=50_000 * 3600.0, usable_memory=1.0, sizes=(16384,)
    )
    goal = dataclasses.replace(run.job.goal, tokens=15.6e12)
    found = plan.plan(dataclasses.replace(run.job, cluster=cluster, goal=goal))
    assert 1 / found.band < found.bought.hours / 30.84e6 < found.band


@settings(max_examples=25)
@given(
    largest=st.integers(1, 300),
    batch=st.integers(1, 300),
    layers=st.integers(1, 40),
    heads=st.sampled_from([1, 3, 8, 40]),
    sharding=st.integers(0, 3),
)
def test_any_shape_gives_finite_rows_or_a_reason(largest, batch, layers, heads, sharding):
    told = {name: dict(table) for name, table in TINY.items()}
    told["model"] |= {"layers": layers, "heads": heads, "hidden": 64 * heads}
    told["training"]["batch"] = batch
    told["layout"] = {"sharding": sharding}
    told["cluster"]["largest"] = largest
    found = plan.plan(file.described(told))
    assert len(found.rows) + len(found.impossible) == int(math.log2(largest)) + 1
    document = json.loads(json.dumps(plan_text.document(found), allow_nan=False))
    for one in document["rows"]:
        assert 0 < one["efficiency"] <= 1
        assert sum(one["terms"].values()) == pytest.approx(one["seconds"])
        assert min(one["terms"].values()) >= 0


def test_a_link_without_end_leaves_no_communication():
    """The limit of free bytes: only computing is left."""
    one = job()
    free = Network(alpha=0, beta=1e-18)
    swift = dataclasses.replace(
        one, cluster=dataclasses.replace(one.cluster, inside=free, outside=free)
    )
    time = plan_step.time(swift, one.layout, 64, 0.5)
    assert time.communication < 1e-6 * time.seconds


def test_the_figure_shows_what_the_rows_say():
    from scalelab.show.plots import plan as plots

    found = plan.plan(job(goal={"deadline": "1 d"}))
    chart = plots.sizes(found)
    line = next(one for one in chart.series if one.label == "model")
    assert list(line.x) == [one.workers for one in found.rows]
    assert list(line.y) == pytest.approx([one.run / 86400 for one in found.rows])
    assert chart.stamp.kind == "model"
    assert chart.readouts["Size to buy"] == str(found.chosen)


@pytest.mark.parametrize("tables", [{"cluster": {"sizes": [64]}}, {"goal": {"tokens": None}}])
def test_a_figure_of_one_size_or_without_an_end_still_shows_its_band(tables):
    from scalelab.show.plots import plan as plots

    found = plan.plan(job(**tables))
    one = next(one for one in plots.sizes(found).series if one.low is not None)
    assert list(one.high / one.y) == pytest.approx([found.band] * len(found.rows))
