"""Published runs: shapes that add up, what they taught, and that nobody is judged by his own run."""

import dataclasses
import itertools
import re
from statistics import median

import pytest

from scalelab.data import datasets, published
from scalelab.models.cost import mfu
from scalelab.models.kernels import transformer
from scalelab.plan import memory as plan_memory, plan, published as plan_published, step
from tests.learning import planned
from tests.notebooks import ROOT

RUNS = planned.runs()
PAGE = (ROOT / "book/planner.md").read_text()
every_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)


@every_run
def test_a_shape_has_the_parameters_that_were_published(run):
    told = next(one for one in published.runs() if one["name"] == run.name)
    assert run.job.parameters == pytest.approx(told["model"]["parameters"], rel=0.035)  # as rounded


@every_run
def test_a_run_has_a_source_and_a_whole_number_of_copies(run):
    assert "arXiv:" in run.source or "github" in run.source
    assert run.note
    assert run.workers % run.job.layout.split == 0


def test_what_is_said_twice_agrees_with_the_bundled_series():
    """The rates of Megatron-LM and of MPT stand in public_scaling.csv too."""
    series = datasets.load("megatron2021_weak_a100")
    rates = dict(zip(series.workers, series.column("tflops_per_gpu"), strict=True))
    for told in published.runs():
        if told["system"] == "megatron-2021":
            assert rates[told["workers"]] == told["reported"][0]
        if told["system"] == "mpt-a100-40" and told["name"].split()[1] in ("7b,", "3b,"):
            own = datasets.load(f"mpt_a100_40_{told['name'].split()[1][:-1]}")
            assert (
                dict(zip(own.workers, own.values, strict=True))[told["workers"]]
                == told["reported"][0]
            )


def test_seconds_give_the_utilization_that_was_published():
    """MosaicML prints MFU beside throughput, Meta beside the rate; they count a little otherwise."""
    published_mfu = {"MPT 70b, 128 A100 40 GB": 0.4891, "MPT 30b, 8 H100": 0.3811}
    published_mfu |= {"MPT 13b, 8 A100 80 GB": 0.5957, "Llama 3 405B, 16384 GPUs": 0.41}
    for run in RUNS:
        if run.name in published_mfu:
            flops = transformer.training_flops(run.job.shape, run.job.sequence)
            tokens = run.job.batch * run.job.sequence / run.seconds
            own = mfu.mfu(tokens, flops, run.workers, run.job.cluster.peak)
            assert own == pytest.approx(published_mfu[run.name], rel=0.02)


def test_the_constants_are_what_the_runs_teach():
    assert planned.shares() == pytest.approx(plan_published.SHARES, abs=5e-4)
    assert planned.band() == pytest.approx(plan_published.BAND, abs=5e-4)
    assert planned.coverage() == plan_published.COVERAGE


def test_a_run_is_predicted_without_its_own_system():
    """Were Llama 3 a hundred times slower, its own prediction would not move."""
    alone = planned.shares(without=("llama-3",))["H100"]
    own = [planned.needed(run) for run in RUNS if run.system == "mpt-h100"]
    assert alone == pytest.approx(median(own))


def test_the_model_is_off_by_no_more_than_it_says():
    off = [abs(seconds / run.seconds - 1) for run, seconds in planned.errors()]
    assert len(off) >= 8
    assert median(off) < 0.12
    assert max(off) < 0.35


@every_run
def test_a_run_that_happened_fits_into_its_memory(run):
    """But one, by 4%: Llama 3 frees activations early, which the model does not know."""
    share = (
        sum(plan_memory.bytes_by_part(run.job, run.job.layout, run.workers).values())
        / run.job.cluster.memory
    )
    assert share < (1.05 if run.name == "Llama 3 405B, 8192 GPUs" else 1.0)


def test_the_page_shows_the_errors_that_the_code_makes():
    lines = []
    for system, runs in itertools.groupby(planned.errors(), key=lambda one: one[0].system):
        lines.append(f"| **{system}** | | | | |")
        for run, seconds in runs:
            steps = (f"{one:#.3g}".rstrip(".") for one in (run.seconds, seconds))
            off = f"{seconds / run.seconds - 1:+.0%}".replace("-", "−")
            name = run.name.partition(",")[0]  # without the devices, which have a column
            lines.append(f"| {name} | {run.workers:,} | {' | '.join(steps)} | {off} |")
    assert "\n".join(["|---|---:|---:|---:|---:|", *lines, "\n"]) in PAGE
    off = median(abs(seconds / run.seconds - 1) for run, seconds in planned.errors())
    assert f"The median error is {off:.0%}." in PAGE
    inside, of, _ = plan_published.COVERAGE
    assert f"{inside} of {of} do" in PAGE
    assert f"a factor of {plan_published.BAND:.2f}" in PAGE


def test_the_page_says_what_is_not_modelled_and_where_the_runs_are_from():
    plain = PAGE.replace("`", "")  # the page marks the names of keys
    for note in plan.NOT_MODELLED:
        assert f"- {note}\n" in plain
    for run in RUNS:
        assert said_of(run.system).endswith(f". {run.note}")
    for share in plan_published.SHARES.values():
        assert f"{share:.0%} of" in PAGE


def said_of(system):
    """Return what the page says of a system, without the marks of code."""
    return re.search(rf"^- \*\*{system}\*\*: (.*)$", PAGE, re.M)[1].replace("`", "")


@pytest.mark.parametrize(("system", "source"), {run.system: run.source for run in RUNS}.items())
def test_the_page_links_every_source_by_a_title_and_not_by_its_address(system, source):
    links = re.findall(r"\[([^\]]+)\]\((https://[^)]+)\)", said_of(system))
    assert not any("/" in title or "arXiv" in title for title, _ in links)
    wanted = [f"https://arxiv.org/abs/{one}" for one in re.findall(r"arXiv:([\d.]+)", source)]
    wanted += re.findall(r"https://\S+", source)
    for folder, commit, path in re.findall(r"github (\S+)@(\w+) ([^\s,;]+)", source):
        wanted += [
            address
            for _, address in links
            if re.fullmatch(rf"https://github.com/{folder}/\w+/{commit}/{path}", address)
        ] or [f"{folder}@{commit} {path}"]
    assert sorted(address for _, address in links) == sorted(wanted)


@every_run
def test_the_page_says_where_in_its_source_a_run_stands(run):
    for part in re.split("; |, ", run.source):
        if not re.search(r"@|arXiv|https|\d{4}$", part):
            assert part in said_of(run.system)


def test_one_run_of_a_system_calibrates_its_others_as_well_as_the_page_says():
    off = []
    for one in RUNS:
        share = planned.needed(one)
        for other in RUNS:
            if other.system == one.system and other is not one:
                planned_as = step.time(other.job, other.job.layout, other.workers, share).seconds
                off.append(planned_as / other.seconds)
    said = re.search(r"the median error is (\d+)%, and the largest factor ([\d.]+)\.", PAGE)
    assert said[1] == f"{100 * median(abs(one - 1) for one in off):.0f}"
    assert said[2] == f"{max(max(one, 1 / one) for one in off):.2f}"
    seven = {
        run.workers: run for run in RUNS if run.name.endswith("A100 40 GB") and "7b" in run.name
    }
    share = round(planned.needed(seven[16]), 2)
    assert f'`kernel_share = "{100 * share:.0f}%"`' in PAGE
    there = step.time(seven[128].job, seven[128].job.layout, 128, share).seconds
    assert f"then says {there:.1f} s, where {seven[128].seconds:.1f} were published" in PAGE


def test_what_hides_of_the_exchange_matters_as_little_as_the_page_says():
    (said,) = re.findall(r"no step would move by more than ([\d.]+)%", PAGE)
    moved = []
    for run, seconds in planned.errors():
        share = planned.shares(without=(run.system,))[run.device]
        layout = dataclasses.replace(run.job.layout, overlap=0.9)
        moved.append(abs(step.time(run.job, layout, run.workers, share).seconds / seconds - 1))
    assert 100 * max(moved) == pytest.approx(float(said), abs=0.05)


def test_rows_that_had_no_part_in_anything_are_as_far_off_as_the_page_says():
    """The page had taken 18 of 111 rows, all of 2,048 tokens, and had not said so."""
    rows, band = planned.left_out(), planned.band()
    within = [1 / band <= off <= band for _, off in rows]
    assert (len(rows), sum(within)) == (93, 81)
    assert {run.job.sequence for run, _ in rows} >= {512, 65536}
    assert median(abs(off - 1) for _, off in rows) == pytest.approx(0.08, abs=0.005)
    far = [off for (run, off), held in zip(rows, within, strict=True) if not held and long(run)]
    assert len(far) == 11
    assert [round(f(far) - 1, 2) for f in (max, min)] == [-0.23, -0.39]
    assert round(1 / min(far), 1) == 1.6
    of_long = [held for (run, _), held in zip(rows, within, strict=True) if long(run)]
    of_a100 = [held for (run, _), held in zip(rows, within, strict=True) if run.device == "A100"]
    assert (sum(of_long), len(of_long), sum(of_a100), len(of_a100)) == (3, 14, 66, 67)
    for words in (
        "other 93 rows",
        "median error is 8%, and 81 of 93",
        "Of the 12 rows outside it, 11 are",
    ):
        assert words in PAGE
    for words in ("23 to 39% too short; of all 14 such rows only 3", "66 of 67", "up to 1.6 times"):
        assert words in PAGE
    assert {one.job.sequence for one in RUNS if one.name.startswith("MPT")} == {2048}


def long(run):
    return run.device == "H100" and run.job.sequence >= 8192
