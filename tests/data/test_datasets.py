"""The bundled public results: complete, sourced, and as the page about them says."""

import csv
import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from scalelab.data import datasets
from scalelab.models.scaling import study
from tests.book.test_extension import extension
from tests.cases import every
from tests.notebooks import ROOT

ALL = [datasets.load(name) for name in datasets.names()]
every_series = every("series", ALL, ids=lambda series: series.name)
PAGE = (ROOT / "book/datasets.md").read_text()
# Two runs, two sweeps or two layouts of one size.
REPLICATES = (
    "pencilcode_dardel_2048_gnu",
    "openmc_nersc_issue6220",
    "sourcextractor_euclid_issue477",
    "synergia_weak_c4_8xlarge_issue74",
)


def named(start):
    return [series for series in ALL if series.name.startswith(start)]


def test_there_are_143_series_each_once():
    assert len(datasets.names()) == len(set(datasets.names())) == 143


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


def test_sizes_rise_except_where_only_the_payload_does_or_a_size_ran_twice():
    for series in ALL:
        sizes = sorted(set(series.workers))
        if series.name.endswith("_payload"):
            assert len(sizes) == 1
        else:
            again = series.name in REPLICATES
            assert list(series.workers) == (sorted(series.workers) if again else sizes), series.name
            assert (len(series.workers) > len(sizes)) == again, series.name


def test_a_time_is_in_one_unit_and_a_rate_in_another():
    for series in ALL:
        assert (series.unit in ("ns", "us", "ms", "s", "min", "h")) == ("time" in series.metric)


def test_a_rate_per_worker_says_so_and_is_multiplied():
    each = [series for series in ALL if series.metric == "rate_per_worker"]
    assert len(each) == 5
    for series in each:
        one = {"GPUs": "GPU", "nodes": "node"}[series.counted]
        assert series.unit.endswith(f"/{one}")
        assert any(trap.startswith(f"A rate per {one}: ") for trap in series.traps)
        assert series.throughput == tuple(
            value * k for k, value in zip(series.workers, series.values, strict=True)
        )
    assert not any(series.unit.endswith(("/GPU", "/node")) for series in ALL if series not in each)


def test_a_load_is_offered_to_one_machine():
    """Its workers are none: users, clients or threads, and never what one could buy."""
    load = [series for series in ALL if series.scaling == "load"]
    assert {series.counted for series in load} == {"simulated users", "threads", "client threads"}
    assert len(load) == 17


def test_a_base_larger_than_one_is_a_trap():
    """Of the series that came first their pages say it, or their groups do."""
    for series in ALL[45:]:
        least = f"{min(series.workers):,}"
        said = f"The smallest size is {least}, so every efficiency is relative to {least}."
        assert (said in series.traps) == (least != "1"), series.name


def test_what_a_series_teaches_is_one_plain_sentence_and_its_own():
    new = [series.teaches for series in ALL[45:]]
    assert len(set(new)) == len(new)
    assert max(len(sentence.split()) for sentence in new) <= 20
    assert not any(". " in sentence for sentence in new)


def test_series_of_one_program_share_a_group():
    """Of some programs there are many series, and they count once where systems are weighed."""
    groups = Counter(series.group for series in ALL)
    assert len(groups) == 66
    for start, group, count in [
        ("oceananigans", "oceananigans", 7),
        ("pencilcode", "pencilcode", 6),
        ("pencilffts", "pencilffts", 3),
        ("fluidx3d", "fluidx3d", 5),
        ("dlperf", "dlperf", 4),
        ("go_", "go_concurrency", 5),
        ("lightgbm", "lightgbm", 3),
        ("xgboost", "xgboost", 2),
        ("hoomd", "hoomd", 3),
        ("nanotron", "nanotron", 3),
        ("nv_weak_tf2_effnet", "nv_efficientnet", 2),
    ]:
        assert {series.group for series in named(start)} == {group}
        assert len(named(start)) == groups[group] == count
    assert groups["sysbench_mysql"] == 7


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
    assert all("weak scaling" in s.traps[0].lower() for s in mislabelled)


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
    """100, 89.6, 82.5, 74.3% and 100, 91.7, 84.5, 74.7%, as the authors print them."""
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
            ValueError, match=r"^name must be .+, got .+: (datasets\.names\(\) lists|did you mean)"
        ):
            datasets.load(name)


@pytest.fixture(scope="module")
def cards():
    """Return the cards of the page, by their anchors."""
    made = BeautifulSoup(extension("gallery").html(), "html.parser")
    return {card["id"]: card for card in made.select(".sl-cards > li")}


def lines(series):
    """What the page says of this series, a text for each line."""
    claimed = (
        f", published as {series.claimed}" if series.claimed not in ("", series.scaling) else ""
    )
    count, each = len(series.workers), len(set(series.workers))
    first, last = min(series.workers), max(series.workers)
    rows = f"{count} rows at " if count > each else ""
    sizes = f"{each} sizes from {first:,} to {last:,}" if each > 1 else f"{first:,}"
    return [
        series.note,
        series.name,
        *("Sizes", f"{rows}{sizes} {series.counted}"),
        *("Value", f"{series.metric.replace('_', ' ')}, {series.unit}"),
        *("Fixed", (series.scaling or "none of the three") + claimed),
        series.teaches,
        *(f"Trap: {trap}" for trap in series.traps),
    ]


@every_series
def test_the_page_has_a_card_of_every_series_as_the_package_holds_it(series, cards):
    card = cards[series.name]
    assert [one.get_text() for one in card.select("p, dt, dd")] == lines(series)
    assert [mark.get_text() for mark in card.select("strong")] == ["Trap:"] * len(series.traps)
    assert card.select_one("code").get_text() == series.name
    assert card.select_one("a")["href"] == f"#{series.name}"


def test_the_cards_stand_in_the_order_of_the_package(cards):
    assert list(cards) == [series.name for series in ALL]


def test_the_page_says_how_many_series_and_groups_there_are():
    assert f"These {len(ALL)} series" in PAGE
    assert f"there are {len({series.group for series in ALL})} groups" in PAGE
    nodes = max((max(s.workers), s.counted) for s in ALL if "node" in s.counted)
    assert f"one processor up to {nodes[0]:,} nodes" in PAGE


def test_the_page_names_every_source():
    """Repository or thread, with the commit it was read at, or its number."""
    for series in ALL:
        for source in series.source.split("; "):
            where = re.match(r"(?:github )?([\w./-]+(?:@\w+)?)", source).group(1)
            assert where in PAGE, source
            assert "://" not in source
            for number in re.findall(r"(?:issue|pull) #(\d+)", source):
                assert f"{where}/{'pull' if 'pull' in source else 'issues'}/{number}" in PAGE, (
                    source
                )


def test_no_word_of_the_page_is_taken_for_an_address():
    """Where a name ends like a domain, the page would link it: Metrics for .NET, and not in one word."""
    for series in ALL:
        said = " ".join([series.note, series.teaches, *series.traps])
        assert not re.search(r"\w\.(com|net|org|io|ai|dev|co|de|uk)\b", said, re.IGNORECASE), (
            series.name
        )


def test_efficiencies_that_the_lessons_name_for_the_new_gpus_and_counters():
    """39% on eight B200, 84% on eight MI300X; the striped counter 89 to 96% over its second row."""
    for name, share in (("b200", 39), ("mi300x", 84), ("mi210gigaio", 27)):
        series = datasets.load(f"fluidx3d_weak_{name}")
        gained = series.values[series.workers.index(8)] / series.values[0]
        assert round(100 * gained / 8) == share
    series = datasets.load("go_xsync_counter")
    base = series.values[1] * series.workers[1]
    shares = [base / (t * k) for t, k in zip(series.values[2:], series.workers[2:], strict=True)]
    assert (round(100 * min(shares)), round(100 * max(shares))) == (89, 96)
