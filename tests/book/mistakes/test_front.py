"""Mistakes that stood on the front pages and behind the chapters."""

import json
import re

import pybtex.database as pybtex
import pytest

from scalelab import curves, data, records, tables
from scalelab.models import cost, waiting
from scalelab.models.scaling import laws
from tests.cli.command import scalelab
from tests.notebooks import ROOT


def page(name):
    return (ROOT / "book" / name).read_text(encoding="utf-8")


def test_the_planner_says_how_much_shorter_it_planned_two_programs_than_they_took():
    text = page("planner.md")
    off = {}
    for name, share in re.findall(r"^\| (\S+) .*\| −(\d+)% \|$", text, re.MULTILINE):
        off.setdefault(name, []).append(int(share))
    said = re.search(r"(\d+) to (\d+)% too short for (\S+) and (\d+) to (\d+)% for (\S+),", text)
    assert said.groups() == tuple(
        word
        for name in ("MT-NLG", "Megatron-LM")
        for word in (str(min(off[name])), str(max(off[name])), name)
    )


def test_beyond_the_users_that_are_named_every_row_gets_less_done():
    series = data.datasets.load("usl_specsdm91")
    (said,) = re.findall(r"from (\d+) users on, every row with more load", series.teaches)
    tail = [
        rate
        for users, rate in zip(series.workers, series.values, strict=True)
        if users >= int(said)
    ]
    assert len(tail) > 3
    assert tail == sorted(tail, reverse=True)


def test_the_ceiling_of_an_overhead_is_for_work_that_divides_without_rest():
    """T(K) = W_s + W_p / K + o on endless workers: W_p / o is the ceiling only without W_s."""
    parallel, overhead = 90, 1

    def ceiling(serial):
        return (serial + parallel) / (serial + overhead)

    share = overhead / (parallel / 2 + overhead)  # on two workers
    assert laws.overhead_ceiling(share, 2) == pytest.approx(ceiling(serial=0))
    assert ceiling(serial=10) < 10
    (row,) = [line for line in page("notation.md").splitlines() if "overhead_ceiling" in line]
    assert row.startswith("| with $W_s = 0$")


def test_the_coherency_of_the_ray_tracer_is_what_the_command_prints():
    series = data.datasets.load("usl_raytracer")
    said = re.search(r"finds ([\d.e-]+), from 0 to ([\d.e-]+)", " ".join(series.traps))
    found = curves.judge(tables.of_series(series)).parameters["usl"]["coherency"]
    assert tuple(map(float, said.groups())) == pytest.approx((found.value, found.high), rel=0.05)


def test_the_spread_of_forty_runs_is_that_of_every_size():
    series = data.datasets.load("mlperf1.0_nvidia_unet3d")
    spread = [
        100 * s / m for s, m in zip(series.column("time_to_train_sd"), series.values, strict=True)
    ]
    least, most = map(int, re.search(r"deviation of (\d+) to (\d+)%", series.teaches).groups())
    assert (least, most) == (round(min(spread)), round(max(spread)))


def test_the_floor_is_crossed_between_two_counts():
    said = re.search(r"is crossed between (\d+) and (\d+)\)", page("corrections.md"))
    least, most = map(int, said.groups())
    s = (1 / 180 - 1 / 256) / (1 - 1 / 256)
    assert most == least + 1
    assert laws.amdahl(most, s) / most < 0.85 < laws.amdahl(least, s) / least


def test_a_name_that_two_modules_of_a_room_have_keeps_its_module():
    """Two of the calls in the table would be another function without it, and say nothing."""
    assert waiting.throughput is not waiting.batching.throughput
    assert waiting.waiting is not waiting.mg1.waiting
    assert cost.per_work is not cost.energy.per_work
    said = page("notation.md")
    for call in ("waiting.mg1.waiting(", "waiting.batching.throughput(", "cost.energy.per_work("):
        assert call in said


def test_the_page_on_records_names_the_version_that_is_written():
    head = json.loads(records.to_json(records.Machine("laptop", cores=4)))
    assert f"`version`, now {head['version']}." in page("records.md")


def test_the_batch_of_the_data_sets_is_told_row_by_row():
    """Of three of the MPT models the second row has a smaller batch per GPU than those after it too."""
    for name, second, later in (("7b", 16, 18), ("3b", 5, 6), ("1b", 8, 10)):
        series = data.datasets.load(f"mpt_a100_40_{name}")
        each = [
            b / k for b, k in zip(series.column("global_batch_size"), series.workers, strict=True)
        ]
        assert each[1:] == [second, later, later, later]
        assert any(f"{second} against {later}" in trap for trap in series.traps)
    used = data.datasets.load("mpt_a100_40_7b").column("mfu")
    assert f"{used[4] / used[2]:.1%}" == "97.3%"
    for name in ("dlrm", "unet3d"):
        batch = data.datasets.load(f"mlperf1.0_nvidia_{name}").column("global_batch_size")
        assert batch[0] < batch[1] == batch[2]


def test_the_columns_that_the_page_of_data_sets_names_are_there():
    assert "parameters of the Megatron series of 2020 and 2021" in page("datasets.md")
    for name in data.datasets.names():
        series = data.datasets.load(name)
        assert (series.column("parameters") is not None) == name.startswith(
            ("megatron2020", "megatron2021")
        ), name
        batch = name.startswith(("nv_bert", "mpt_", "nv_gnmt", "tf2017", "mlperf"))
        batch = batch and not name.endswith("minigo")
        assert (series.column("global_batch_size") is not None) == batch, name


def test_a_shortfall_tells_a_speedup_and_no_share_of_the_ideal():
    table = "workers,seconds,quality\n1,100,0.9\n2,107,0.9\n4,60,0.9\n"
    done = scalelab("rubric", "-", "--price", 2, text=table)
    assert done.returncode == 0, done.stderr
    assert "reach a speedup of" in done.stdout
    assert "of the ideal" not in done.stdout


def test_less_work_for_one_node_alone_brings_the_run_under_its_four_hours():
    """The cover said that only a faster node does, beside a slider that says otherwise."""
    assert 2 + 78 / 512 < 4
    assert "only a faster one does" not in page("index.md")
    assert "or less of that work, which is the second slider" in page("index.md")


def test_a_bucket_of_pytorch_is_counted_in_binary_megabytes():
    from torch.nn.parallel import distributed

    assert "25 MiB" in distributed.DistributedDataParallel.__doc__
    assert "25 MB by default" not in page("terminology.md")


def test_the_first_fraction_of_the_proposal_is_told_as_well():
    shown = page("proposal.md")
    assert "[0.105, 0.076, 0.075]" in shown
    assert "From four nodes on, seven and a half percent" in shown
    assert "at two it seems more" in shown


def test_the_exchange_is_one_reason_of_several_and_the_glossary_says_so():
    assert "the usual reason why two workers" not in page("glossary.md")


def test_each_correction_of_these_sections_is_linked_from_where_the_reader_meets_it():
    text = page("corrections.md")
    heads = re.split(r"^\((correction-[\w-]+)\)=$", text, flags=re.MULTILINE)
    read = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("chapters", "solutions")
        for path in sorted((ROOT / folder).rglob("*.ipynb"))
    )
    for name, body in zip(heads[1::2], heads[2::2], strict=True):
        if re.search(r"[Ss]ections? 3\.[1-5]\b", body.split("**Why")[0]):
            assert f"#{name}" in read, name


def test_a_section_of_the_textbook_is_never_taken_for_one_of_this_book():
    """The page said "Section 3.5 says ..." of mistakes that the section of that number here has not."""
    text = page("corrections.md")
    assert "Neither can be named or linked here" in text.partition("\n## ")[0]
    assert not re.search(r"\bSection \d+\.\d\b(?! of the textbook)", text)
    slips = text.partition("## Smaller slips")[2].partition("\n## ")[0]
    parts = re.split(r"^Section ([\d.]+) of the textbook:$", slips, flags=re.MULTILINE)
    assert parts[1::2] == ["3.1", "3.5", "41.6"]
    assert "\n- " not in parts[0]


def test_the_second_worker_is_named_where_a_constant_exchange_makes_no_step_slower():
    """The head of entry 14 said "never", and its last lines named the case in which it does."""
    seconds = [laws.seconds(k, 0, 90, 60) for k in range(1, 9)]
    assert seconds[1] > seconds[0]
    assert seconds[1:] == sorted(seconds[1:], reverse=True)
    assert "## 14. Beyond the second worker, " in page("corrections.md")


def test_what_stands_in_bold_over_a_source_is_from_its_title():
    """Some were invented, such as "As good, surely": who searched for them found nothing."""

    def words(text):
        return re.sub(r"\W+", " ", re.sub(r"[{}\\]", "", text)).lower().strip()

    sources = pybtex.parse_file(ROOT / "book" / "references.bib").entries
    heads = re.findall(r"^(.+?), \{cite:t\}`(\w+)`$", page("bibliography.md"), re.MULTILINE)
    assert len(heads) == len(sources)
    assert [
        head for head, key in heads if words(head) not in words(sources[key].fields["title"])
    ] == []
