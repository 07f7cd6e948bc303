"""What hyperfine, pyperf, Extra-P and PyTorch measured is read, and they read what is written here."""

import importlib.util
import json
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from scalelab.cli import commands
from scalelab.files import extrap, formats, hyperfine, kineto, pyperf, torch_benchmark
from scalelab.records import Machine, Recording
from scalelab.tables import audit, grid, table
from tests.files import record_strategies as drawn
from tests.files.test_formats import SAMPLES, SENTENCE, STEP, SWEEP, refused

TOOLS = {"hyperfine": hyperfine, "pyperf": pyperf}
needs_pyperf = pytest.mark.skipif(not importlib.util.find_spec("pyperf"), reason="needs pyperf")
both = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
LAPTOP = Machine("laptop", cores=4)


def raw(name):
    return json.loads((SAMPLES / name).read_text())


# --- Read: real files ---


def test_every_command_of_hyperfine_is_a_sample_under_its_parameters():
    recording = formats.read(SAMPLES / "hyperfine_workers.json")
    results = raw("hyperfine_workers.json")["results"]
    assert [s.given for s in recording.samples] == [{"workers": k} for k in (1, 2, 4, 8)]
    for sample, result in zip(recording.samples, results, strict=True):
        assert sample.label == result["command"]
        assert list(sample.seconds) == result["times"]
        # The tool's own median, of times that it had not rounded.
        assert sample.median == pytest.approx(result["median"], rel=1e-9)
        assert sample.stamp.text == "recorded · not stated by hyperfine"


def test_runs_of_hyperfine_that_failed_are_no_times():
    well, half = hyperfine.read(SAMPLES / "hyperfine_failed.json").samples
    result = raw("hyperfine_failed.json")["results"][1]
    assert result["exit_codes"] == [1, 0, 1]
    assert (well.advice, half.seconds) == ((), (result["times"][1],))
    assert half.advice[0].text == "2 of 3 runs failed: their times are left out."


def test_a_benchmark_of_pyperf_has_the_values_of_all_its_runs_and_no_warmup():
    recording = formats.read(SAMPLES / "pyperf_workers.json")
    benchmarks = raw("pyperf_workers.json")["benchmarks"]
    for sample, benchmark in zip(recording.samples, benchmarks, strict=True):
        values = [value for run in benchmark["runs"] for value in run.get("values", [])]
        assert list(sample.seconds) == values
        assert sample.given == {"workers": benchmark["metadata"]["workers"], "job": "naps"}
        assert (sample.inner, sample.date) == (benchmark["metadata"]["loops"], "2026-11-23")
    assert [s.given["workers"] for s in recording.samples] == [1, 2, 4]
    assert recording.samples[0].machine.name == "Intel(R) Xeon(R) Processor @ 2.80GHz on vm"


def test_a_single_benchmark_of_pyperf_has_its_name_beside_the_suite():
    (sample,) = pyperf.read(SAMPLES / "pyperf_timeit.json").samples
    assert (sample.label, sample.inner, sample.given) == ("sum of 1000", 64, {})


def test_runs_of_pyperf_under_other_conditions_are_other_samples(tmp_path):
    suite = raw("pyperf_timeit.json")
    for k, run in enumerate(suite["benchmarks"][0]["runs"], 1):
        run["metadata"]["workers"] = k
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(suite))
    assert [s.given for s in pyperf.read(path).samples] == [{"workers": 1}, {"workers": 2}]


# As `hyperfine -L threads 1,2 -L cc gcc --export-csv` of version 1.18 writes it.
MEDIANS = (
    "command,mean,stddev,median,user,system,min,max,parameter_threads,parameter_cc\n"
    '"make -j 1, gcc",4.2,0.1,4.1,3.9,0.2,4.0,4.4,1,gcc\n'
    "make -j 2 gcc,2.3,0.1,2.2,4.0,0.2,2.1,2.5,2,gcc\n"
)


def test_the_csv_of_hyperfine_is_a_table_of_its_medians():
    found = table.parse("make.csv", MEDIANS)
    assert (found.workers, found.values) == ((1, 2), (4.1, 2.2))
    assert [(role, name) for role, name, _ in found.headings] == [
        ("seconds", "median"),
        ("workers", "parameter_threads"),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("2,gcc\n", "2,clang\n"), r"column 'parameter_cc' must be the same .* \['gcc', 'clang'\]"),
        (("threads", "size"), r"line 1 must say the workers of each .* hyperfine -L workers 1,2"),
    ],
)
def test_a_csv_of_hyperfine_that_is_no_study_of_one_job_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        table.parse("make.csv", MEDIANS.replace(*change))


def test_a_csv_of_hyperfine_holds_no_samples(tmp_path):
    (tmp_path / "make.csv").write_text(MEDIANS)
    refused(formats.read, tmp_path / "make.csv", "give what --export-json wrote")


@pytest.mark.parametrize(
    ("name", "rows"), [("hyperfine_workers", 4 * 4), ("pyperf_workers", 3 * 6)]
)
def test_a_scaling_table_comes_out_with_replicates_as_rows(name, rows):
    path = SAMPLES / f"{name}.json"
    read = table.read(path)
    assert len(read.rows) == rows
    of = {s.given["workers"]: s.seconds for s in formats.read(path).samples}
    for row in read.rows:
        assert row.seconds in of[row.workers]
    assert {f.name for f in audit.audit(read)} <= {"few_points"}
    result = CliRunner().invoke(commands, ["audit", str(path), "--json"])
    assert result.exit_code == 0, result.output


def test_failed_runs_are_missing_from_the_table_and_the_audit_says_so(tmp_path):
    tree = raw("hyperfine_workers.json")
    tree["results"][3]["exit_codes"][1] = 137
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tree))
    read = table.read(path)
    assert len(read.rows) == 15
    assert [(role, cell) for _, role, cell in read.missing] == [("seconds", "failed")]
    assert "missing" in {f.name for f in audit.audit(read)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"command": "other 4", "parameters": {"workers": "2"}}, "differ in workers only, got"),
        ({"parameters": {"workers": "2", "cc": "gcc"}}, r"differ in workers only, got \['cc'\]"),
        ({"parameters": {"workers": "many"}}, "column 'workers' must be a whole number"),
    ],
)
def test_what_is_no_study_of_one_job_is_refused(change, said, tmp_path):
    tree = raw("hyperfine_workers.json")
    tree["results"][2] |= change
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(ValueError, match=said) as error:
        table.read(path)
    assert SENTENCE.fullmatch(str(error.value))


def test_commands_without_workers_are_told_how_to_name_them():
    refused(table.read, SAMPLES / "pyperf_timeit.json", "say the workers", "-L workers 1,2,4,8")


def test_the_parameter_may_have_any_name_that_workers_have(tmp_path):
    tree = raw("hyperfine_workers.json")
    for result in tree["results"]:
        result["parameters"] = {"num_threads": result["parameters"]["workers"]}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tree))
    assert {*table.read(path).workers} == {1, 2, 4, 8}


# --- Written, and read again ---


@both
@given(recording=drawn.recordings)
def test_a_recording_survives_the_files_of_other_tools(tool, recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("tools") / "r.json"
    path.write_text(tool.text(recording))
    assert formats.read(path) == tool.read(path) == recording


def test_hyperfine_has_its_statistics_and_what_was_spent():
    spent = hyperfine.Spent(0.25, 0.125, (0, 0, None), (10, 20, 30))
    (result,) = json.loads(hyperfine.text(Recording("r", (STEP,)), [spent]))["results"]
    real = {*raw("hyperfine_workers.json")["results"][0]}
    assert {*result} == real | {"memory_usage_byte", "sample"}
    assert result["mean"] == pytest.approx(sum(STEP.seconds) / 3)
    assert result["stddev"] == statistics.stdev(STEP.seconds)
    assert (result["min"], result["median"], result["max"]) == (0.125, 0.25, 0.5)
    assert (result["user"], result["system"]) == (0.25, 0.125)
    assert result["exit_codes"] == [0, 0, None]
    assert result["parameters"] == {"workers": "2"}


@both
def test_what_cannot_be_written_is_refused(tool):
    for given_, said in [({"a": float("nan")}, "finite"), ({"a": [1]}, "finite numbers and text")]:
        with pytest.raises(ValueError, match=said):
            tool.text(Recording("r", (replace(STEP, given=given_),)))
    for nothing in (Recording("r", ()), None, [STEP]):
        with pytest.raises(ValueError, match="recording must hold a sample, got"):
            tool.text(nothing)


def test_what_was_spent_must_fit_the_samples():
    with pytest.raises(ValueError, match="spent must have one entry for each of 1 samples, got 2"):
        hyperfine.text(Recording("r", (STEP,)), [hyperfine.Spent()] * 2)
    with pytest.raises(ValueError, match="exit_codes must have an entry for each of 3 rep"):
        hyperfine.text(Recording("r", (STEP,)), [hyperfine.Spent(exit_codes=(0,))])


@pytest.mark.parametrize("name", ["loops", "command", "scalelab.title", "scalelab.given.x", "x"])
def test_a_condition_may_have_a_name_of_pyperf(name, tmp_path):
    """As every record of `scalelab time` has: the command."""
    recording = Recording("r", (replace(STEP, given={name: 3, "workers": 2}),))
    file = tmp_path / "suite.json"
    file.write_text(pyperf.text(recording))
    assert pyperf.read(file).samples[0].given == {name: 3, "workers": 2}
    assert json.loads(file.read_text())["benchmarks"][0]["metadata"]["loops"] == STEP.inner


# --- The real tools ---


@pytest.mark.skipif(not shutil.which("hyperfine"), reason="needs hyperfine")
def test_what_hyperfine_writes_today_is_audited(tmp_path):
    path, medians = tmp_path / "results.json", tmp_path / "results.csv"
    subprocess.run(
        ["hyperfine", "-r", "2", "-N", "-L", "workers", "1,2", "--export-json", path,
         "--export-csv", medians, "sleep 0.00{workers}"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    for file, rows in ((path, 4), (medians, 2)):
        result = CliRunner().invoke(commands, ["audit", str(file)])
        assert result.exit_code == 0, result.output
        assert f"{rows} rows, seconds on 1 to 2 workers" in result.output
    every = [run["median"] for run in json.loads(path.read_text())["results"]]
    assert table.read(medians).values == pytest.approx(every, rel=1e-3)


@needs_pyperf
@given(recording=drawn.recordings)
def test_pyperf_reads_every_sample_as_it_was_measured(recording):
    import pyperf as real

    suite = real.BenchmarkSuite.loads(pyperf.text(recording))
    assert len(suite) == len(recording.samples)
    for benchmark, sample in zip(suite, recording.samples, strict=True):
        assert benchmark.get_values() == sample.seconds
        metadata = benchmark.get_metadata()
        for name, value in sample.given.items():
            kept = pyperf._kept(value) if isinstance(value, str) else value
            assert metadata[name] == kept


@needs_pyperf
def test_pyperf_reads_what_was_written_for_it(tmp_path):
    again = replace(STEP, seconds=(10.0, 10.5, 11.0))
    for name, samples in (("old", (STEP, STEP)), ("new", (again, again))):
        (tmp_path / f"{name}.json").write_text(pyperf.text(Recording("r", samples)))

    def said(*arguments):
        line = [sys.executable, "-m", "pyperf", *arguments]
        return subprocess.run(
            line, check=True, capture_output=True, text=True, cwd=tmp_path, timeout=60
        ).stdout

    stats = said("stats", "old.json")
    assert stats.count("Median +- MAD:   250 ms +- 125 ms") == 2
    assert "Total number of values: 3" in stats
    assert "a step #2" in stats  # two of one name would be no suite
    compared = said("compare_to", "old.json", "new.json", "--table")
    assert compared.count("292 ms") == compared.count("10.5 sec") == 2
    assert "- workers: 2" in said("metadata", "old.json")


# --- Files that mean harm ---

BROKEN = [
    ("hyperfine_workers.json", ("results", 0, "times", 1), [0, -1, "1", None, True, 10**400, []],
     "results[0].times[1]"),
    ("hyperfine_workers.json", ("results", 0, "times"), [[], None, {}, 3], "results[0].times"),
    ("hyperfine_workers.json", ("results", 1), [None, 3, [], "x"], "results[1]"),
    ("hyperfine_workers.json", ("results", 1, "command"), [None, 3], "results[1].command"),
    ("hyperfine_workers.json", ("results", 1, "parameters"), [[], {"workers": 2}, 3, {"a": {}}],
     "results[1].parameters"),
    ("hyperfine_workers.json", ("results", 1, "parameters", "workers"), ["9" * 400], "results[1]"),
    ("hyperfine_workers.json", ("results", 1, "exit_codes"), [[0], 0, {}], "results[1].exit_codes"),
    ("hyperfine_workers.json", ("results", 1, "exit_codes"), [[1] * 4, ["0"] * 4, [False] * 4],
     "results[1] must hold a run that ended well"),
    ("hyperfine_workers.json", ("results", 1, "sample"), [{"inner": "0"}, {"inner": "x"}, 3],
     "results[1]"),
    ("pyperf_workers.json", ("benchmarks",), [[]], "hold benchmarks"),
    ("pyperf_workers.json", ("benchmarks", 0), [None, 3, [], {}], "benchmarks[0]"),
    ("pyperf_workers.json", ("benchmarks", 0, "runs"), [None, 3, {}], "benchmarks[0]"),
    ("pyperf_workers.json", ("benchmarks", 0, "runs", 1), [None, 3], "benchmarks[0].runs[1]"),
    ("pyperf_workers.json", ("benchmarks", 0, "runs", 1, "values"), [3, {}],
     "benchmarks[0].runs[1].values"),
    ("pyperf_workers.json", ("benchmarks", 0, "runs", 1, "values", 2),
     [0, -1, "1", None, True, 10**400], "benchmarks[0].runs[1].values[2]"),
    ("pyperf_workers.json", ("benchmarks", 0, "metadata"), [3, []], "benchmarks[0].metadata"),
    ("pyperf_workers.json", ("benchmarks", 0, "metadata", "loops"), [0, 1.5, "2", 10**400],
     "benchmarks[0].metadata"),
    ("pyperf_workers.json", ("benchmarks", 0, "metadata", "workers"), [[1], None, {}, 10**400],
     "benchmarks[0]"),
    ("pyperf_workers.json", ("benchmarks", 0, "metadata", "scalelab.inner"), [3], "benchmarks[0]"),
    ("pyperf_workers.json", ("metadata", "unit"), ["byte", 3], "be in seconds"),
    ("pyperf_workers.json", ("metadata",), [3, []], "metadata must be an object"),
    ("pyperf_workers.json", ("version",), ["0.8", 1, None, []], 'be "1.0"'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "keys", "instead", "place"), BROKEN, ids=[".".join(map(str, b[1])) for b in BROKEN]
)
def test_a_value_of_a_wrong_kind_is_refused_at_its_place(name, keys, instead, place, tmp_path):
    path = tmp_path / "bad.json"
    for value in instead:
        tree = raw(name)
        parent = tree
        for key in keys[:-1]:
            parent = parent[key]
        parent[keys[-1]] = value
        path.write_text(json.dumps(tree))
        refused(formats.read, path, place)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
@pytest.mark.parametrize("name", ["hyperfine_workers", "pyperf_workers"])
def test_what_is_no_number_to_json_is_refused(name, number, tmp_path):
    path = tmp_path / "bad.json"
    text = (SAMPLES / f"{name}.json").read_text()
    path.write_text(re.sub(r"0\.19\d{5,}", number, text))
    refused(formats.read, path, "seconds above 0")


def test_a_key_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "bad.json"
    for name, key in (("hyperfine_workers", "command"), ("pyperf_workers", "values")):
        text = (SAMPLES / f"{name}.json").read_text()
        path.write_text(re.sub(rf'"{key}"', rf'"{key}": [], "{key}"', text))
        refused(formats.read, path, "each key once", key)
        refused(table.read, path, "each key once", key)


def test_a_parameter_that_python_would_read_as_no_number_is_a_word(tmp_path):
    tree = raw("hyperfine_workers.json")
    tree["results"][0]["parameters"] = {"mode": "NaN", "flag": "true", "version": "007"}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(tree))
    given_ = hyperfine.read(path).samples[0].given
    assert given_ == {"mode": "NaN", "flag": True, "version": "007"}


# --- Extra-P ---


@pytest.mark.parametrize("parameters", [None, ["workers"], ["bytes", "workers"]])
def test_extra_p_is_read_as_it_was_written(parameters, tmp_path):
    path = tmp_path / "sweep.txt"
    path.write_text(extrap.text(SWEEP, parameters))
    recording = formats.read(path)
    names = parameters or ["workers", "bytes"]
    times = {}
    for sample in recording.samples:
        region, point = sample.label.partition(" at ")[0], tuple(map(sample.given.get, names))
        times[region, point] = sample.seconds
        assert [*sample.given] == names
    expected = {}
    for sample in SWEEP.samples:
        other = [f"{k}={v}" for k, v in sample.given.items() if k not in names]
        region = "->".join(["all to reduce", *other])
        expected[region, tuple(map(sample.given.get, names))] = sample.seconds
    assert times == expected


def test_a_table_of_extra_p_is_audited(tmp_path):
    path = tmp_path / "job.txt"
    path.write_text(
        "# a comment\n\nPARAMETER p\nPOINTS 1 2 4 8\n\nMETRIC visits\nREGION main\n"
        + "DATA 1\n" * 4
        + "METRIC wall time (s)\nREGION main\nDATA 8 8.1\nDATA 4\nDATA 2.5 2.4\nDATA 1.5\n"
    )
    read = table.read(path)
    assert [(row.workers, row.seconds) for row in read.rows] == [
        (1, 8.0), (1, 8.1), (2, 4.0), (4, 2.5), (4, 2.4), (8, 1.5)]  # fmt: skip


HEAD = "PARAMETER p n\nPOINTS (1 2) (2 2)\n"


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ("PARAMETER p", ["have one metric of time", "no DATA"]),
        (HEAD + "REGION r\nDATA 1\nDATA 2\nDATA 3\n", ["line 6", "at most 2 lines of DATA"]),
        (HEAD + "REGION r\nDATA fast\n", ["line 4", "hold numbers", "fast"]),
        (HEAD + "DATA nan\n", ["line 3", "hold numbers"]),
        (HEAD + "DATA 1e999\n", ["line 3", "hold numbers"]),
        (HEAD + "DATA -1\n", ["line 3", "seconds must be positive"]),
        (HEAD + "DATA\n", ["line 3", "something behind it"]),
        (HEAD + "RESULT 3\n", ["line 3", "begin with one of PARAMETER"]),
        (HEAD + "METRIC visits\nDATA 1\nMETRIC flop\nDATA 2\n", ["one metric of time", "visits"]),
        ("PARAMETER p\nPOINTS (1 2)\nDATA 1\n", ["line 2", "each of 1 parameters"]),
        ("PARAMETER p p\n", ["line 1", "each once"]),
        ("PARAMETER " + "p " * 10**5, ["line 1", "at most 4"]),
        ("PARAMETER p\nPOINTS " + "(" * 10**5, ["line 2", "a number for each"]),
    ],
)
def test_a_bad_text_of_extra_p_is_refused_at_its_place(content, places, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    refused(formats.read, path, *places)


# --- PyTorch's Timer ---


def test_measurements_of_pytorch_are_samples():
    from torch.utils.benchmark import Timer

    taken = [
        Timer("sum(x)", "x = [1.0] * 10", num_threads=k, label="sum").timeit(20) for k in (1, 2)
    ]
    taken += [replace(taken[0], metadata={"workers": 4, "notes": [1]})]
    recording = torch_benchmark.recording(taken, machine=LAPTOP, date="2026-11-23")
    for sample, one in zip(recording.samples, taken, strict=True):
        assert sample.median == one.median
        assert (sample.inner, sample.label) == (20, "sum")
    assert [s.given for s in recording.samples] == [
        {"threads": 1}, {"threads": 2}, {"threads": 1, "workers": 4}]  # fmt: skip
    first = Recording("threads", recording.samples[:2])
    assert table.of_grid("here", grid.of_recording("here", first)).workers == (1, 2)
    hyperfine.text(recording)  # and so it goes to the other tools


class _Trap:
    def __reduce__(self):
        return exec, ("raise SystemExit('a file was unpickled')",)


def test_a_file_of_measurements_is_never_unpickled(tmp_path):
    import pickle

    path = tmp_path / "measurements.pt"
    path.write_bytes(pickle.dumps([_Trap()]))
    for given_ in (path, str(path)):
        with pytest.raises(ValueError, match=r"must be (a )?Measurement"):
            torch_benchmark.recording(given_)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        formats.read(path)


@given(junk=st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers(), max_size=2)))
def test_what_is_no_measurement_is_refused(junk):
    with pytest.raises(ValueError, match="Measurement") as error:
        torch_benchmark.recording(junk)
    assert SENTENCE.fullmatch(str(error.value).replace("\n", " "))


# --- Chrome traces, written ---

names = st.text(min_size=1, max_size=8)
events = st.builds(
    lambda name, kind, pid, tid, start, length, link: kineto.Event(
        name, kind.lower(), pid, tid, start, start + length, link
    ),
    names,
    names.filter(lambda kind: kind.lower() == kind.lower().lower()),
    st.integers(0, 10**6) | names,
    st.integers(0, 10**6) | names,
    st.integers(-(10**14), 10**14),
    st.integers(0, 10**14),
    st.none() | st.integers(0, 10**9),
)


@settings(deadline=None)
@given(taken=st.lists(events, min_size=1, max_size=5), workers=st.none() | st.integers(1, 64))
def test_a_trace_survives_to_the_nanosecond(taken, workers, tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    path.write_text(kineto.text(taken, workers=workers))
    trace = kineto.read(path)
    assert trace.events == tuple(taken)
    assert trace.workers == workers


@settings(deadline=None)
@given(taken=st.lists(events, min_size=1, max_size=4), order=st.randoms())
def test_events_in_two_halves_are_the_same_events(taken, order, tmp_path_factory):
    """As Chrome and Horovod write them; each here on a thread of its own, the last one around the first."""
    alone = [event._replace(thread=k) for k, event in enumerate(taken)]
    outer = alone[0]._replace(name="outer", start=alone[0].start - 7, end=alone[0].end + 7)
    halves = []
    for event in (outer, *alone):
        (item,) = json.loads(kineto.text([event]))["traceEvents"]
        end = {"ph": "E", "pid": item["pid"], "tid": item["tid"], "ts": event.end / 1000}
        del item["dur"]
        halves.append([item | {"ph": "B"}, end])
    nested = [halves[0][0], *halves[1], halves[0][1]]  # the order on a thread is kept
    lanes = [nested, *halves[2:]]
    mixed = []
    while lanes := [lane for lane in lanes if lane]:
        mixed.append(order.choice(lanes).pop(0))
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    path.write_text(json.dumps(mixed))
    assert sorted(kineto.read(path).events, key=repr) == sorted([outer, *alone], key=repr)


@pytest.mark.parametrize(
    ("halves", "said"),
    [
        ([("E", 1, 2)], "[0] must end what began on its thread"),
        ([("B", 1, 2), ("E", 2, 3)], "[1] must end what began on its thread"),
        ([("B", 1, 2)], "[0] must end (ph E), as it begins"),
        ([("B", 1, 2), ("E", 1, 1)], "[1].ts must be 2 or later, got 1"),
        ([("B", 1, "x"), ("E", 1, 3)], "[0].ts must be a number of microseconds"),
    ],
)
def test_halves_that_do_not_meet_are_refused(halves, said, tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([{"ph": p, "tid": t, "ts": ts, "name": "a"} for p, t, ts in halves]))
    refused(kineto.read, path, f"traceEvents{said}")


def test_the_parts_of_a_measured_step_become_a_trace(tmp_path):
    from scalelab.measure.trace import timeline

    (step, *_) = timeline.steps(kineto.read(SAMPLES / "step_rank0.json"), "ProfilerStep")
    first = step.window[0]
    assert first > 10**15  # of a clock that started long ago, so it counts from the first
    rows = {name: getattr(step, name) for name in ("compute", "exposed", "launch", "idle")}
    path = tmp_path / "step.json"
    path.write_text(kineto.text(kineto.of_spans(rows), workers=2, rank=0))
    again = kineto.read(path)
    for name, spans in rows.items():
        found = [(e.start + first, e.end + first) for e in again.events if e.thread == name]
        assert tuple(found) == spans


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        ([], "must hold one at least"),
        ([kineto.Event("a", "b", 1, 1, 0.5, 1, None)], "whole nanoseconds"),
        ([kineto.Event("a", "b", 1, 1, 5, 1, None)], "end after they start"),
        ([kineto.Event("a", "b", 1, 1, 0, 10**18, None)], "is it one clock"),
        ([(0, 1)], "must be kineto.Event"),
    ],
)
def test_what_makes_no_trace_is_refused(taken, said):
    with pytest.raises(ValueError, match=said) as error:
        kineto.text(taken)
    assert SENTENCE.fullmatch(str(error.value))
