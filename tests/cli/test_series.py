"""`scalelab series`: what there is, narrowed down; and each as a table of which all that holds is said."""

import json

import pytest

from scalelab.data import datasets
from tests.cli.command import scalelab

NAMES = datasets.names()
TABLES = [n for n in NAMES if datasets.load(n).seconds or datasets.load(n).throughput]


def listed(*arguments):
    done = scalelab("series", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split()[0] for line in done.stdout.splitlines()[1:-2]]


def test_all_series_are_listed_each_with_its_lesson_on_one_line():
    assert listed() == list(NAMES)
    said = scalelab("series").stdout
    assert all(datasets.load(name).teaches in said for name in NAMES)
    assert said.splitlines()[-1].startswith(f"{len(NAMES)} series; ")


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        (("--kind", "weak"), lambda s: s.scaling == "weak"),
        (("--system", "h100"), lambda s: "h100" in s.note.casefold()),
        (("--group", "nv_jasper"), lambda s: s.group == "nv_jasper"),
        (("--text", "BERT v100"), lambda s: "bert" in s.name and "V100" in s.note),
    ],
)
def test_a_filter_lets_through_what_it_names(arguments, holds):
    found = listed(*arguments)
    assert 0 < len(found) < len(NAMES)
    assert all(holds(datasets.load(name)) for name in found)
    if arguments[0] != "--text":
        assert found == [name for name in NAMES if holds(datasets.load(name))]


def test_filters_narrow_each_other_down_and_nothing_left_is_an_answer():
    both = listed("--kind", "weak", "--system", "V100")
    assert set(both) == set(listed("--kind", "weak")) & set(listed("--system", "V100"))
    assert scalelab("series", "--text", "no such words").stdout == "no series is like that\n"


def test_json_holds_everything_of_those_that_were_found():
    (one,) = json.loads(scalelab("series", "--text", "usl_raytracer", "--json").stdout)
    assert one["traps"] == list(datasets.load("usl_raytracer").traps)
    assert json.loads(scalelab("series", "usl_raytracer", "--json").stdout) == one
    assert "\n1 series; " in scalelab("series", "--text", "usl_raytracer").stdout


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        (140, "series sizes of kind what it teaches"),
        (100, "series sizes kind what it teaches"),
        (80, "series kind what it teaches"),
        (50, "series"),
    ],
)
def test_a_narrow_terminal_keeps_room_for_the_lesson(columns, head):
    said = scalelab("series", columns=columns).stdout.splitlines()
    assert " ".join(said[0].split()) == head
    assert sum("Contention alone bends" in line for line in said) == 1


def test_the_csv_of_a_series_is_audited_as_the_series_is(tmp_path):
    """Findings, kind and curve: of every one that is a table."""
    for name in TABLES:
        file = tmp_path / f"{name}.csv"
        file.write_text(scalelab("series", name).stdout)
        of_file, of_name = (
            json.loads(scalelab("audit", given, "--json").stdout) for given in (file, name)
        )
        assert of_file["sizes"] == of_name["sizes"], name
        assert of_file["understood"]["kind"] == of_name["understood"]["kind"], name
        told = [
            [(f["name"], f["severity"], f["text"]) for f in of["findings"]]
            for of in (of_file, of_name)
        ]
        assert told[0] == told[1], name


def test_a_series_that_is_no_scaling_table_is_printed_too():
    (name, *_) = [name for name in NAMES if name not in TABLES]
    head, first, *_ = scalelab("series", name).stdout.splitlines()
    series = datasets.load(name)
    assert head == f"workers,{series.metric} ({series.unit})"
    assert first == f"{series.workers[0]},{series.values[0]}"


def test_the_source_and_the_traps_stand_below_the_rows():
    said = scalelab("series", "sysbench_cpu").stdout
    assert f"# source: {datasets.load('sysbench_cpu').source}" in said
    assert "# mind: A hard cap" in said


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("sysbnch_cpu", "did you mean sysbench_cpu?"),
        ("nv_bert", "did you mean nv_bert_tf2_"),
        ("Sysbench_CPU", "did you mean sysbench_cpu?"),
        ("qqqq", "--text WORD` looks for a word"),
    ],
)
def test_a_name_that_is_none_gets_the_one_that_was_meant(name, remedy):
    done = scalelab("series", name)
    assert done.returncode == 2
    assert remedy in done.stderr
    if "did you" in remedy:
        assert remedy in scalelab("audit", name).stderr
        assert remedy in scalelab("fit", name, "--at", "64").stderr
