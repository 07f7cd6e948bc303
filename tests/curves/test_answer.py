"""Audit and fit on the command line: every fault by name, the JSON of a fit, refusals, junk."""

import ast
import csv
import io
import json
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scalelab.cli import main
from scalelab.curves import text
from scalelab.curves.answer import judge, kind, rows_of
from scalelab.curves.families import FAMILIES
from scalelab.data import datasets
from scalelab.models.scaling import laws
from scalelab.tables.table import of_series, parse
from tests.models.test_bad_input import SENTENCE
from tests.notebooks import ROOT
from tests.sampling import sampled
from tests.tables.test_table_reader import CELL, HEADER, REAL

pytestmark = pytest.mark.turns(3)

K = (1, 2, 4, 8, 16)
RATES = [round(100 * laws.amdahl(k, 0.02), 2) for k in K]
TIMES = [round(6000 / rate, 3) for rate in RATES]


def columns(title="", **more):
    """A CSV file of columns."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([[title]] if title else [])
    writer.writerows([list(more), *zip(*more.values(), strict=True)])
    return out.getvalue()


def twice(values):
    return [v * noise for v in values for noise in (0.999, 1.001)]


TWICE = [k for k in K for _ in "ab"]
# Each table is right but for one thing; notes beside it follow from there being one run of each size.
FAULTS = {
    "no_baseline": columns(workers=[1, 1], seconds=[5, 6]),
    "slow_baseline": columns(workers=K, seconds=[2 * TIMES[0], *TIMES[1:]]),
    "fast_baseline": columns(workers=K, throughput=[1.2 * 100, 200, 400, 800, 1600]),
    "relative_base": columns(workers=[8 * k for k in TWICE], seconds=twice(TIMES)),
    "few_points": columns(workers=K[:2], seconds=TIMES[:2]),
    "one_run": columns(workers=K, seconds=TIMES),
    "duplicates": columns(workers=[*K, 16], seconds=[*TIMES, TIMES[-1]]),
    "superlinear": columns(workers=[1, 2], seconds=[100, 45]),
    "turns_back": columns(workers=[*K, 32], throughput=[100, 190, 340, 540, 700, 600]),
    "mixed": columns(workers=K, seconds=TIMES, scaling=["strong"] * 3 + ["weak"] * 2),
    "mislabelled": columns("Weak scaling", workers=K, throughput=RATES, work=[512] * 5),
    "batch": columns(workers=K, throughput=RATES, batch=[384, 128, 256, 512, 1024]),
    "quality": columns(workers=K, seconds=TIMES, quality=[0.76, 0.76, 0.76, 0.75, 0.7]),
    "outlier": columns(workers=K, throughput=[100, 199, 395, 560, 1540]),
    "per_worker": columns(workers=K, throughput=[100, 99, 98, 97, 95]),
    "units": columns(
        workers=K, throughput=["10 GB/s", "18 GiB/s", "36 GB/s", "70 GB/s", "130 GB/s"]
    ),
    "cost": columns(workers=K, seconds=TIMES, rate=[2, 4, 8, 16, 20]),
    "machines": columns(workers=K, seconds=TIMES, machine=["a", "a", "a", "b", "b"]),
    "hard_cap": columns(workers=[*K, 32, 64], throughput=[100 * min(k, 8) for k in (*K, 32, 64)]),
    "missing": columns(workers=[*TWICE, 32], seconds=[*twice(TIMES), "-"]),
    "failed": columns(workers=[*TWICE, 32], seconds=[*twice(TIMES), "OOM"]),
}
# What few sizes and single runs bring with them.
BESIDE = {"one_run", "few_points"}


@pytest.fixture
def cli(tmp_path, capsys):
    """Run a command on content, and return its exit code, output and error."""

    def run(verb, content, *options, name="runs.csv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(SystemExit) as end:
            main([verb, str(file), *options])
        return end.value.code or 0, *capsys.readouterr()

    return run


@pytest.mark.parametrize("name", FAULTS)
def test_a_table_with_one_fault_gets_that_finding(cli, name):
    code, out, _ = cli("audit", FAULTS[name], "--json")
    assert code == 0
    found = {one["name"] for one in json.loads(out)["findings"]}
    assert name in found
    assert found - {name} <= BESIDE


def test_minutes_among_seconds_are_found_too(cli):
    values = [*TIMES[:3], TIMES[3] / 60, TIMES[4] / 60]
    assert "units, lines 4 and 5\n" in cli("audit", columns(workers=K, seconds=values))[1]


def test_every_finding_of_the_audit_has_its_table():
    named = set()
    for path in (ROOT / "scalelab/tables").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                name = node.args[0]
                named |= {name.value} if isinstance(name, ast.Constant) else set()
    assert named == set(FAULTS)


def test_an_audit_says_where_and_what_to_do(cli):
    code, out, error = cli("audit", FAULTS["outlier"])
    assert (code, error) == (0, "")
    assert "warning  outlier, line 5\n" in out
    assert "         → Measure this size again" in out


def test_strict_turns_what_is_serious_into_an_exit_code(cli):
    assert cli("audit", FAULTS["outlier"], "--strict")[0] == 1
    assert cli("audit", FAULTS["one_run"], "--strict")[0] == 0
    assert cli("fit", FAULTS["few_points"], "--at", "64", "--strict")[0] == 1


def test_a_good_table_has_nothing_wrong(cli):
    assert cli("audit", columns(workers=TWICE, seconds=twice(TIMES)))[1].endswith(
        "nothing wrong was found\n"
    )


def test_standard_input_and_public_series_are_tables_too(monkeypatch, capsys):
    class Input:
        buffer = io.BytesIO(FAULTS["outlier"].encode())

    monkeypatch.setattr("sys.stdin", Input)
    for file, finding in (("-", "outlier"), ("sysbench_cpu", "hard_cap")):
        with pytest.raises(SystemExit):
            main(["audit", file])
        assert finding in capsys.readouterr().out


def test_the_json_of_a_fit_is_what_is_promised(cli):
    code, out, _ = cli("fit", FAULTS["one_run"], "--at", "32", "--at", "64,128", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found) == ["unit", "families", "chosen", "predictions", "refused"]
    assert (found["unit"], found["chosen"], found["refused"]) == ("seconds", "amdahl", None)
    assert {one["name"] for one in found["families"]} == {family.name for family in FAMILIES}
    for one in found["families"]:
        assert list(one) == ["name", "parameters", "loo", "aicc", "dof"]
        assert all(list(p) == ["value", "low", "high"] for p in one["parameters"].values())
    serial = next(f for f in found["families"] if f["name"] == "amdahl")["parameters"]["serial"]
    assert [serial["low"], serial["high"]] == pytest.approx([0.02, 0.02], rel=1e-3)
    assert [one["workers"] for one in found["predictions"]] == [32, 64, 128]
    for one in found["predictions"]:
        assert list(one) == ["workers", "value", "low", "high", "level"]
        truth = 60 / laws.amdahl(one["workers"], 0.02)
        assert one["low"] < truth < one["high"]
        assert one["level"] == 0.9


def test_the_full_json_adds_findings_coverage_and_advice(cli):
    found = json.loads(
        cli("fit", FAULTS["cost"], "--at", "64", "--json", "--full", "--rate", "2")[1]
    )
    assert "cost" in [one["name"] for one in found["findings"]]
    assert found["coverage"].startswith("such 90% intervals held")
    assert found["next"]["best"] == 32
    assert all(one["price"] > 0 for one in found["next"]["options"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("few_points", "measure one more size"),
        ("no_baseline", "All rows have 1 worker,"),
        ("mixed", "Part the table in two"),
    ],
)
def test_what_a_table_cannot_carry_is_refused_with_what_it_needs(cli, name, said):
    code, out, error = cli("fit", FAULTS[name], "--at", "64", "--json")
    found = json.loads(out)
    assert (code, error, found["chosen"], found["predictions"]) == (0, "", None, [])
    assert said in found["refused"]
    assert f"refused: {found['refused']}" in cli("fit", FAULTS[name], "--at", "64")[1]


def test_an_error_can_be_overruled(cli):
    found = json.loads(cli("fit", FAULTS["mixed"], "--at", "64", "--json", "--despite")[1])
    assert found["refused"] is None
    assert found["predictions"]


def test_a_family_of_ones_own_answers_alone_and_one_that_cannot_is_left_out(cli):
    alone = cli("fit", FAULTS["one_run"], "--at", "64", "--family", "USL")[1]
    assert "by usl alone: the interval is true only if that law holds" in alone
    assert "* usl: as you asked" in alone
    other = cli("fit", FAULTS["one_run"], "--at", "64", "--family", "empirical")[1]
    assert "empirical describes a table and does not extrapolate: the answer is without it" in other
    assert "carried on from the last sizes" in other
    # Its own answer was never judged, and three rows cannot refuse what is not asked of them.
    alone = json.loads(
        cli("fit", FAULTS["one_run"], *["--at", "64", "--family", "usl", "--json", "--full"])[1]
    )
    assert alone["coverage"] is None
    three = columns(workers=K[:3], seconds=TIMES[:3])
    assert "carried on" in cli("fit", three, "--at", "64", "--family", "empirical")[1]


def test_a_choice_that_is_not_the_best_says_why_it_was_made(cli):
    """The six times of section 41.6: Amdahl's law within a tenth of two that have a parameter more."""
    six = columns(workers=[1, 2, 4, 8, 16, 32], seconds=[3600, 1880, 1010, 560, 340, 250])
    out = cli("fit", six)[1]
    assert "* amdahl: the simplest of those within a tenth of the best" in out


def test_advice_looks_at_all_the_workers_there_are(cli):
    told = cli("fit", FAULTS["one_run"], "--at", "64", "--most", "24")[1]
    assert "→ measure 24 workers" in told
    none = cli("fit", FAULTS["one_run"], "--at", "4096", "--most", "16")[1]
    assert "no single measurement on up to 16 workers would narrow that much" in none


def test_a_family_with_too_many_parameters_is_refused(cli):
    three = columns(workers=K[:3], seconds=TIMES[:3])
    found = json.loads(cli("fit", three, "--at", "64", "--family", "usl", "--json")[1])
    assert "for the 3 parameters of usl, got 3: measure 1 more" in found["refused"]


def test_for_people_the_serious_comes_first_and_then_the_number_with_what_it_is_worth(cli):
    out = cli("fit", FAULTS["cost"], "--at", "64", "--rate", "2")[1]
    parts = ["warning  cost", "error on sizes left out", "90% interval", "such 90% intervals held"]
    parts += ["one more measurement", "price of a run", "→ measure 32 workers"]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--at", "x"], "--at must be whole numbers from 1 on with commas between, got 'x'"),
        (["--at", "0"], "--at must be whole numbers from 1 on"),
        (["--at", "64", "--family", "cubic"], "family must be one of linear, hard cap"),
        (["--at", "64", "--rate", "-1"], "rate must be"),
        (["--at", "64", "--rate", "nan"], "rate must be"),
        (["--at", "64", "--most", "0"], "most must be a whole number from 1"),
        (["--plot", "x.gif"], "--plot must end in .svg, .png or .html, got 'x.gif'"),
        (
            ["--plot", "/none/x.svg"],
            "must be a file that can be written, got a folder that is missing",
        ),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(cli, options, said):
    code, out, error = cli("fit", FAULTS["one_run"], *options)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert said in error
    assert SENTENCE.fullmatch(error.strip())


def test_a_target_below_the_table_is_refused(cli):
    code, out, error = cli("fit", FAULTS["relative_base"], "--at", "256,4")
    assert (code, error) == (0, "")
    assert "error on sizes left out" in out  # the families stay
    assert "refused: workers must be a number from the smallest measured size 8 on, got 4" in out


def test_weak_times_are_predicted_as_times_and_work_without_a_rule_as_work_per_second():
    weak = parse("w", columns("Weak scaling", workers=K, seconds=[60, 61, 62, 63.5, 65]))
    found = judge(weak, [64])
    assert found.rows.grows
    assert 60 < found.predictions[0].low < 70
    assert "its work is taken to grow" in found.remarks[0]
    odd = parse("o", columns(workers=K, seconds=[60] * 5, work=[1, 2, 5, 7, 19]))
    assert judge(odd, [64], despite=True).rows.unit == "throughput"


def test_efficiency_of_a_prediction_is_that_of_its_law():
    found = judge(parse("runs", FAULTS["one_run"]), [32], family="amdahl")
    share = found.efficiency(found.predictions[0])
    assert share == pytest.approx(laws.amdahl(32, 0.02) / 32, rel=0.02)


@pytest.mark.parametrize("times", [1.06, 1.5, 40])
def test_one_odd_run_among_three_moves_no_answer_and_is_named(times):
    """One robust row for each size: families, choice and prediction all start from it."""
    runs = [value * noise for value in TIMES for noise in (0.998, 1, 1.002)]
    workers = [k for k in K for _ in "abc"]
    odd = [*runs[:-1], runs[-1] * times]
    good, bad = (
        judge(parse("runs", columns(workers=workers, seconds=values)), [64])
        for values in (runs, odd)
    )
    assert bad.predictions == good.predictions
    assert bad.comparison == good.comparison
    assert bad.parameters == good.parameters
    assert [finding.name for finding in good.findings] == []
    (finding,) = bad.findings
    assert (finding.name, finding.rows) == ("outlier", (len(runs) + 1,))
    assert f"{times * 1.002:.3g} times off" in finding.text


def test_what_was_held_fixed_is_read_from_the_table():
    """By its heading, its work or its batch; a throughput alone does not tell."""
    told = {
        kind(parse("t", columns(title, workers=K, **rest))): title
        for title, rest in (
            ("Weak scaling", {"seconds": [60, 61, 62, 63.5, 65]}),
            ("", {"seconds": TIMES}),
            ("", {"throughput": RATES}),
            ("load scaling", {"throughput": RATES}),
        )
    }
    assert set(told) == {"weak", "strong", "", "load"}
    batch = columns(workers=K, throughput=RATES, batch=[32 * k for k in K])
    assert kind(parse("t", batch)) == "weak"
    # Work that grows is told by its column, also of times; a batch that grows may serve one job.
    grown = parse("t", columns(workers=K, seconds=[60, 61, 62, 63.5, 65], work=K))
    assert (kind(grown), judge(grown, [32]).rows.grows) == ("weak", True)
    assert judge(grown, [32]).coverage.kind in ("weak", "")
    larger = columns(workers=K, seconds=TIMES, batch=[32 * k for k in K])
    assert kind(parse("t", larger)) == "strong"
    assert (
        "is not said: it is taken not to"
        in judge(parse("t", columns(workers=K, throughput=RATES)), [64]).remarks[-1]
    )


def test_thousands_of_runs_are_answered_at_once_from_the_median_of_each_size():
    luck = random.Random(7)
    workers = [k for k in K for _ in range(400)]
    rates = [100 * laws.amdahl(k, 0.02) * luck.gauss(1, 0.02) for k in workers]
    found, remarks = rows_of(parse("many", columns(workers=workers, throughput=rates)))
    assert remarks == ["Of several runs of one size the median counts."]
    assert found.workers.tolist() == list(K)
    assert found.rate == pytest.approx([100 * laws.amdahl(k, 0.02) for k in K], rel=0.01)


def test_what_no_machine_does_is_refused():
    with pytest.raises(ValueError, match="rates within a factor of 1e"):
        judge(parse("x", columns(workers=K, throughput=[1, 2, 1e25, 3, 4])), [64], despite=True)
    many = columns(workers=range(1, 300), throughput=range(1, 300))
    with pytest.raises(ValueError, match="at most 200 different worker counts, got 299"):
        judge(parse("x", many), [400])


def checked(answer):
    """Exit code 0 and no number that is none, or 2 and one sentence."""
    code, out, error = answer
    if code == 2:
        assert SENTENCE.fullmatch(error.strip().replace("\n", " ")), error
        assert (out, error.count("\n")) == ("", 1)
    else:
        assert (code, error) == (0, "")
        assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b|∞", out), out
        if out.startswith("{"):
            json.loads(out, parse_constant=pytest.fail)
    return code


quick = settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
FILES = [
    *REAL,
    *(path.read_bytes() for path in sorted((ROOT / "tests/samples").iterdir())),
    (ROOT / "scalelab/data/recorded/superlinear.json").read_bytes(),
    *(text.encode() for text in FAULTS.values()),
]


@quick
@given(st.sampled_from(FILES), st.integers(0, 2**32))
def test_a_real_file_with_damage_is_judged_or_refused_in_a_sentence(cli, content, seed):
    luck, damaged = random.Random(seed), bytearray(content)
    for _ in range(luck.randint(0, 4)):
        at = luck.randrange(len(damaged) + 1)
        numbers = [found.span() for found in re.finditer(rb"\d+", damaged)]
        if luck.random() < 0.5 and numbers:
            start, end = luck.choice(numbers)
            damaged[start:end] = luck.choice(
                [b"0", b"1", b"7", b"1000000", b"9" * 20, b"1e25", b""]
            )
        elif luck.random() < 0.5:
            del damaged[at : at + luck.randint(1, 8)]
        else:
            damaged[at:at] = luck.choice([b",", b"\n", b'"', b"nan", b"\x00", "–".encode()])
    name = luck.choice(["runs.csv", "runs.json", "runs"])
    checked(cli("audit", bytes(damaged), name=name))
    options = luck.choice([["--json", "--full"], [], ["--despite"]])
    checked(
        cli("fit", bytes(damaged), "--at", str(luck.choice([1, 64, 10**9])), *options, name=name)
    )


@quick
@given(st.lists(HEADER, max_size=3), st.lists(st.lists(CELL, max_size=5), max_size=5))
def test_any_csv_is_judged_or_refused_in_a_sentence(cli, header, rows):
    out = io.StringIO()
    csv.writer(out).writerows([["workers", "seconds", *header], *rows])
    content = out.getvalue().encode("utf-8", "surrogatepass")
    checked(cli("audit", content, "--json"))
    checked(cli("fit", content, "--at", "64"))


def test_the_fuzz_meets_both_outcomes(cli):
    assert checked(cli("fit", FAULTS["one_run"], "--at", "64")) == 0
    assert checked(cli("fit", FAULTS["one_run"][:19], "--at", "64")) == 2


@pytest.mark.parametrize(
    "name",
    sampled(["mfc_frontier_weak_rdmaT", "megatron2021_weak_a100", "nv_gnmt_dgx1_v100_fp16"], 1),
)
def test_public_series_are_judged_whatever_they_count(name):
    table = of_series(datasets.load(name))
    found = judge(table, [2 * max(table.workers)])
    assert found.refused or 0 < found.predictions[0].low < found.predictions[0].high


CRASHED = "workers,seconds,failed\n1,100,\n2,55,\n3,40,\n4,,out of memory\n8,,out of memory\n"


def test_a_size_that_failed_is_told_marked_and_not_to_be_measured_again():
    found = judge(parse("runs", CRASHED), [3, 4, 8, 64])
    lines = list(text.lines(found))
    assert any("4 and 8 workers failed: out of memory" in line for line in lines)
    said = {
        line.split()[0]: "if it ran: 4 workers failed" in line
        for line in lines
        if line[:7].strip().isdigit()
    }
    assert said == {"3": False, "4": True, "8": True, "64": True}
    assert max(one.workers for one in found.advice.options) <= 3
    assert text.document(found, full=True)["failed"] == [
        {"workers": 4, "why": "out of memory"}, {"workers": 8, "why": "out of memory"}
    ]  # fmt: skip


def test_what_failed_below_a_size_that_ran_casts_no_doubt_on_larger_ones():
    found = judge(parse("runs", CRASHED.replace("8,,out of memory", "8,20,")), [4, 8, 16])
    assert [found.lost(one) for one in found.predictions] == [4, None, None]
    assert 4 not in [one.workers for one in found.advice.options]
