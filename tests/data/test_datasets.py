"""The bundled public results: complete, sourced, and as the page about them says."""

import csv
import re
from collections import Counter

import pytest

from scalelab.data import datasets
from scalelab.models.scaling import study
from tests.notebooks import ROOT

ALL = [datasets.load(name) for name in datasets.names()]
every_series = pytest.mark.parametrize("series", ALL, ids=lambda series: series.name)
PAGE = (ROOT / "book/datasets.md").read_text()


def named(start):
    return [series for series in ALL if series.name.startswith(start)]


def test_there_are_45_series_each_once():
    assert len(datasets.names()) == len(set(datasets.names())) == 45


def test_every_number_of_the_file_is_in_a_series():
    with (ROOT / "scalelab/data/public_scaling.csv").open(encoding="utf-8", newline="") as file:
        rows = Counter((row["dataset"], float(row["value"])) for row in csv.DictReader(file))
    held = Counter((s.name, value) for s in ALL for of in (s, *s.columns) for value in of.values)
    assert rows == held


@every_series
def test_a_series_has_a_source_a_system_and_columns_of_one_length(series):
    assert len(series.source) > 20
    assert len(series.note) > 10
    assert series.teaches.endswith((".", "!"))
    assert all(trap.endswith(".") for trap in series.traps)
    assert series.counted
    assert series.scaling in ("strong", "weak", "load", "")
    assert series.claimed in ("strong", "weak", "")
    assert {len(column.values) for column in series.columns} <= {len(series.workers)}
    assert min(series.values) > 0
    assert len(series.workers) == len(series.values) >= 2


@every_series
def test_a_series_is_a_time_a_rate_or_says_that_it_is_neither(series):
    neither = series.metric in ("busbw", "mfu")
    assert [series.seconds, series.throughput, neither or None].count(None) == 2


def test_sizes_rise_except_where_only_the_payload_does():
    for series in ALL:
        rising = list(series.workers) == sorted(set(series.workers))
        assert rising != series.name.endswith("_payload"), series.name


def test_what_is_fixed_follows_from_the_batch_where_the_batch_is_known():
    for series in named("nv_bert") + named("nv_gnmt"):
        assert len(set(series.column("global_batch_size"))) == 1
        assert series.scaling == "strong"
    for series in named("tf2017"):
        each = {
            b / k for b, k in zip(series.column("global_batch_size"), series.workers, strict=True)
        }
        assert len(each) == 1
        assert series.scaling == "weak"


def test_a_heading_that_contradicts_the_batch_is_a_trap():
    mislabelled = [s for s in ALL if s.claimed and s.claimed != s.scaling]
    assert mislabelled == named("nv_bert")
    assert all("weak scaling" in s.traps[0] for s in mislabelled)


def test_throughput_per_gpu_times_gpus_is_the_aggregate_as_printed():
    """Two columns of the same published table check each other, to their rounding."""
    series = datasets.load("megatron2021_weak_a100")
    for k, each, total in zip(
        series.workers, series.column("tflops_per_gpu"), series.values, strict=True
    ):
        assert each * k / 1000 == pytest.approx(total, rel=0.01)


def test_utilization_is_proportional_to_throughput_per_gpu():
    """So that the outlier at 32 is in both columns, and no slip of the pen."""
    for series in named("mpt_"):
        rate = [
            v / k / u
            for k, v, u in zip(series.workers, series.values, series.column("mfu"), strict=True)
        ]
        assert rate == pytest.approx([rate[0]] * 5, rel=0.001)


def test_published_scaling_of_the_growing_model_follows_from_time_and_parameters():
    """100, 89.6, 82.5, 74.3 % and 100, 91.7, 84.5, 74.7 %, as the authors print them."""
    published = {"dgx2": (1, 0.896, 0.825, 0.743), "a100": (1, 0.917, 0.845, 0.747)}
    for key, shares in published.items():
        series = datasets.load(f"megatron2020_{key}_mp")
        growth = [n / series.column("parameters")[0] for n in series.column("parameters")]
        for k, t, g, share in zip(series.workers, series.seconds, growth, shares, strict=True):
            gained = study.scaled_speedup(series.seconds[0], t, g)
            assert gained / k == pytest.approx(share, abs=0.006)


def test_units_convert_to_seconds():
    assert datasets.load("megatron2020_dgx2_mp").seconds[0] == pytest.approx(1.121)
    assert datasets.load("deepspeed_bert_large").seconds[-1] == pytest.approx(44 * 60, rel=1e-6)


def test_an_unknown_name_is_refused_with_where_to_look():
    for name in ("nope", None, 3, ["usl_raytracer"]):
        with pytest.raises(
            ValueError, match=r"^name must be .+, got .+: datasets\.names\(\) lists"
        ):
            datasets.load(name)


def row(series):
    """The line of book/datasets.md on this series."""
    claimed = (
        f", published as {series.claimed}" if series.claimed not in ("", series.scaling) else ""
    )
    first, last = min(series.workers), max(series.workers)
    sizes = (
        f"{len(series.workers)} rows at {first:,}"
        if first == last
        else (f"{len(series.workers)} from {first:,} to {last:,}")
    )
    cells = [
        f"`{series.name}`",
        f"{series.note}",
        f"{sizes} {series.counted}",
        f"{series.metric}, {series.unit}",
        (series.scaling or "not a study") + claimed,
        " ".join([series.teaches, *(f"**Trap:** {trap}" for trap in series.traps)]),
    ]
    return "| " + " | ".join(cells) + " |"


def test_the_page_lists_every_series_as_the_package_holds_it():
    """To write the lines again: print what `row` returns."""
    lines = [line for line in PAGE.splitlines() if re.match(r"\| `", line)]
    assert lines == [row(series) for series in ALL]


def test_the_page_names_every_source():
    """Repository or thread, with the commit it was read at."""
    for series in ALL:
        for source in series.source.split("; "):
            where = re.match(r"(?:github )?([\w./-]+(?:@\w+)?)", source).group(1)
            assert where in PAGE, source
