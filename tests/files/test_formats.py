"""Files in and out: round trips, formats of other tools, interruptions, and files that mean harm."""

import csv
import gzip
import io
import json
import multiprocessing
import os
import re
import signal
import time
import tracemalloc
from dataclasses import MISSING, replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from scalelab import data, records
from scalelab.files import atomic, extrap, files, formats, hyperfine, kineto, pyperf, spreadsheet
from scalelab.files.nccl import nccl_tests
from scalelab.records import Machine, Recording, Sample
from scalelab.refusal import Failure
from scalelab.tables import audit, table
from tests.cases import every
from tests.files import record_strategies as drawn
from tests.notebooks import ROOT

SAMPLES = ROOT / "tests" / "samples"
SCHEMA = json.loads((Path(data.__file__).parent / "record.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
LAPTOP = Machine("laptop", cores=4, memory=8 * 10**9, caches={"L2": 2**20}, torch="2.13.0")
STEP = Sample("a step", (0.5, 0.25, 0.125), 1, LAPTOP, "2025-11-20", given={"workers": 2})
PRINTED = ["nccl_all_reduce.txt", "nccl_old_all_gather.txt"]
SENTENCE = re.compile(r".+ must .+, got .+: .+")
any_record = st.one_of(
    drawn.machines, drawn.samples, drawn.splits(), drawn.recordings, drawn.passes, drawn.studies
)


def refused(read, path, *place):
    """The reader must answer with one sentence that names the file, and the place if there is one."""
    with pytest.raises(ValueError, match=re.escape(str(path))) as error:
        read(path)
    said = str(error.value)
    assert SENTENCE.fullmatch(said), said
    assert len(said) < 500
    for part in place:
        assert part in said, said


# --- The schema ---

PARTS = [records.Gpu, records.Caution]  # of records, never a file of their own
STORED = [*records._RECORDS.values(), *PARTS]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_knows_every_record():
    names = [record.__name__ for record in STORED]
    assert sorted(SCHEMA["$defs"]) == sorted(names)
    assert SCHEMA["properties"]["record"]["enum"] == names[: -len(PARTS)]


@pytest.mark.parametrize("record", STORED)
def test_the_schema_has_exactly_the_fields_that_are_stored(record):
    fields = record.__dataclass_fields__.values()
    stored = [f for f in fields if f.metadata.get("stored", True)]
    needed = [f.name for f in stored if f.default is f.default_factory is MISSING]
    described = SCHEMA["$defs"][record.__name__]
    assert list(described["properties"]) == [f.name for f in stored]
    assert described["required"] == needed


def test_the_page_on_records_explains_every_field():
    page = (ROOT / "book" / "records.md").read_text()
    for record in STORED:
        head = record.__name__.replace("Gpu", "GPU")
        section = page.split(f"\n## {head}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \|", section, re.M)
        stored = record.__dataclass_fields__.values()
        assert rows == [f.name for f in stored if f.metadata.get("stored", True)]


@pytest.mark.parametrize(
    "path", sorted((Path(data.__file__).parent / "recorded").glob("*.json")), ids=lambda p: p.stem
)
def test_every_bundled_recording_is_valid(path):
    VALID.validate(json.loads(path.read_text()))
    assert formats.read(path) == data.recorded(path.stem)


@given(record=any_record)
def test_what_is_written_is_valid_and_read_back_the_same(record):
    text = records.to_json(record)
    VALID.validate(json.loads(text))
    assert records.from_json(text) == record


def test_the_file_that_the_page_shows_has_the_fields_of_one():
    page = (ROOT / "book" / "records.md").read_text()
    shown = re.search(r"^```text\n(\{.*?^\})\n```$", page, re.M | re.S)[1]
    sample = Sample("s", (1.0,), 1, LAPTOP, "")
    assert re.findall(r'^ "(\w+)":', shown, re.M) == list(json.loads(records.to_json(sample)))


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in (*PRINTED, "nccl_all_reduce.json", "step_rank0.json", "hyperfine_workers.json"):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    page = (ROOT / "book" / "records.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(examples) >= 5
    known = {}
    for code in examples:
        exec(code, known)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.5, 2.0, -1.5, 10**20, "", "x", [], [1], {}, {"a": 1}, [[]], ["x"]]),
)


def places(value, path=()):
    """Yield the path of everything in a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def search(examples):
    """Change, add or delete one thing anywhere in what was written, so many times."""
    whatever = st.one_of(drawn.machines, drawn.samples, drawn.recordings)

    @settings(max_examples=examples, suppress_health_check=[HealthCheck.filter_too_much])
    @given(record=whatever, draw=st.data())
    def agree(record, draw):
        tree = json.loads(records.to_json(record))
        path = draw.draw(st.sampled_from([p for p in places(tree) if p]), label="place")
        assume(path[-1] not in ("version", "record"))
        parent = tree
        for key in path[:-1]:
            parent = parent[key]
        if draw.draw(st.booleans(), label="delete"):
            del parent[path[-1]]
        else:
            parent[path[-1]] = draw.draw(JUNK, label="instead")
        try:
            records.from_json(json.dumps(tree))
            readable = True
        except ValueError as error:
            assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
            readable = False
        assert readable == VALID.is_valid(tree)

    agree()


def test_the_schema_and_the_reader_agree_on_what_is_wrong():
    search(100)


@pytest.mark.thorough
def test_the_schema_and_the_reader_agree_on_much_that_is_wrong():
    search(400)


def test_a_whole_number_may_be_written_with_a_point():
    """As programs do that know one kind of number only."""
    machine = records.from_json('{"record": "Machine", "name": "m", "cores": 2.0, "memory": 1e9}')
    assert (type(machine.cores), machine.cores) == (int, 2)
    assert (type(machine.memory), machine.memory) == (int, 10**9)


@pytest.mark.parametrize(
    "given_", [{"a": [1]}, {"a": None}, {"a": float("nan")}, {"a": 10**400}, {"a": {1}}]
)
def test_what_could_not_be_read_is_not_written(given_):
    sample = Sample("s", (1.0,), 1, LAPTOP, "", given=given_)
    with pytest.raises(ValueError, match="record must hold finite numbers and text only"):
        records.to_json(sample)


# --- CSV ---


@given(recording=drawn.recordings)
def test_a_recording_survives_csv(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    path.write_bytes(spreadsheet.text(recording).encode())
    assert spreadsheet.read(path) == recording


def test_a_table_sorted_by_time_still_gives_the_order_of_the_clock(tmp_path):
    path = tmp_path / "sorted.csv"
    head, *rows = spreadsheet.text(Recording("r", (STEP,) * 2)).splitlines()
    rows.sort(key=lambda row: float(row.split(",")[2]))
    path.write_text("\n".join([head, *rows]))
    assert [s.seconds for s in spreadsheet.read(path).samples] == [STEP.seconds] * 2


def test_a_recording_that_was_added_to_holds_no_run_twice(tmp_path):
    """Two samples of two workers are two times three runs, to the audit of the table as well."""
    alone = replace(STEP, seconds=(1.0, 0.75), given={"workers": 1})
    path = tmp_path / "added.csv"
    path.write_text(spreadsheet.text(Recording("r", (STEP, alone, STEP))))
    with path.open() as file:
        runs = [(row["workers"], row["run"]) for row in csv.DictReader(file)]
    assert runs == [*(("2", f"{n}") for n in (1, 2, 3)), ("1", "1"), ("1", "2"),
                    *(("2", f"{n}") for n in (4, 5, 6))]  # fmt: skip
    assert "duplicates" not in {finding.name for finding in audit.audit(table.read(path))}
    assert spreadsheet.read(path).samples == (STEP, alone, STEP)


def test_pandas_reads_the_same_numbers(tmp_path):
    import pandas as pd

    path = tmp_path / "r.csv"
    path.write_text(spreadsheet.text(Recording("r", (STEP,))))
    table = pd.read_csv(path)
    assert tuple(table.seconds) == STEP.seconds
    assert list(table.workers) == [2, 2, 2]
    assert list(table.run) == [1, 2, 3]
    assert set(table["machine.name"]) == {"laptop"}


def test_a_table_made_by_hand_needs_seconds_and_a_machine(tmp_path):
    path = tmp_path / "sweep.csv"
    path.write_text("workers,seconds,run\n1,10,a\n1,10.5,b\n2,6,a\n2,6.5,b\n")
    recording = spreadsheet.read(path, machine=LAPTOP, date="2025-11-20")
    assert recording.title == "sweep"
    assert [(s.given, s.seconds, s.inner) for s in recording.samples] == [
        ({"workers": 1}, (10.0, 10.5), 1),
        ({"workers": 2}, (6.0, 6.5), 1),
    ]
    assert recording.samples[0].stamp.machine == LAPTOP
    refused(spreadsheet.read, path, "line 2", "machine.name")


def test_the_mark_that_spreadsheets_put_before_a_table_is_no_part_of_it(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("seconds,workers\n1,2\n", encoding="utf-8-sig")
    (sample,) = spreadsheet.read(path, machine=LAPTOP).samples
    assert (sample.seconds, sample.given) == ((1.0,), {"workers": 2})


def test_what_a_row_says_goes_before_what_the_caller_says(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("seconds,machine.name,date\n1,other,2024-01-01\n2,,\n")
    one, two = spreadsheet.read(path, machine=LAPTOP, date="2025-11-20").samples
    assert (one.machine.name, one.date) == ("other", "2024-01-01")
    assert (two.machine, two.date) == (LAPTOP, "2025-11-20")


@pytest.mark.parametrize("name", ["seconds", "label", "run", "machine.gpu", "title", "", " x"])
def test_a_condition_cannot_take_the_name_of_a_column(name):
    sample = Sample("s", (1.0,), 1, LAPTOP, "", given={name: 1})
    with pytest.raises(ValueError, match="conditions must have names that no column has"):
        spreadsheet.text(Recording("r", (sample,)))


def test_a_recording_without_samples_is_no_table():
    with pytest.raises(ValueError, match="recording must hold a sample, got none"):
        spreadsheet.text(Recording("r", ()))


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ("", ["header"]),
        ("workers\n1\n", ["line 1", "seconds"]),
        ("seconds,seconds\n1,2\n", ["line 1", "once"]),
        ("seconds,\n1,2\n", ["line 1"]),
        ("seconds,workers\n1,2\n3\n", ["line 3", "2 cells"]),
        ("seconds,workers\n1,2,3\n", ["line 2", "2 cells"]),
        ("seconds\nfast\n", ["line 2 column seconds", "fast"]),
        ("seconds\nnan\n", ["line 2 column seconds", "nan"]),
        ("seconds\n1e999\n", ["line 2 column seconds", "1e999"]),
        ("seconds\n-1\n", ["line 2 column seconds", "-1"]),
        ("seconds,inner\n1,many\n", ["line 2", "Sample.inner must be int", "many"]),
        ("seconds,inner\n1,0\n", ["line 2", "inner must be"]),
        ("seconds,advice\n1,[1]\n", ["line 2", "Caution"]),
        ("seconds,machine.cores\n1,no\n", ["line 2", "Machine.cores"]),
        ("seconds,batch\n1,NaN\n", ["line 2", "batch"]),
        ("seconds,batch\n1," + "9" * 400 + "\n", ["line 2", "batch"]),
        ("sample,seconds,workers\n1,5,2\n1,5,3\n", ["line 3", "agree with line 2"]),
        ('seconds,label\n1,"open\n', ["line 2", "CSV"]),
        ("seconds,label\n1," + "x" * 200_000 + "\n", ["line 2", "CSV"]),
        ("seconds,advice\n1," + "[" * 100_000 + "\n", ["line 2", "Sample.advice"]),
    ],
)
def test_a_bad_table_is_refused_at_its_place(content, places, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    refused(lambda p: spreadsheet.read(p, machine=Machine("m", 1)), path, *places)


# --- Kept as they come ---


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_file_is_whole_at_any_moment(step, error, tmp_path, monkeypatch):
    """Whatever ends the writing before its very last step leaves what was there, and nothing beside."""
    path = tmp_path / "run.json"
    atomic.write(path, LAPTOP)

    def ended(*_):
        raise error

    monkeypatch.setattr(step, ended)
    expected = (KeyboardInterrupt, None) if error is KeyboardInterrupt else (Failure, "No space")
    with pytest.raises(expected[0], match=expected[1]):
        atomic.write(path, STEP)
    assert records.from_json(path.read_text()) == LAPTOP
    assert list(tmp_path.iterdir()) == [path]


def _measure_until_killed(path):
    samples = []
    for k in range(10**6):
        samples.append(Sample(f"sample {k}", (1.0 + k,), 1, LAPTOP, "2025-11-20"))
        atomic.write(path, Recording("until killed", tuple(samples)))


@pytest.mark.parametrize("death", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_run_leaves_all_that_it_finished(death, tmp_path):
    path = tmp_path / "run.json"
    process = multiprocessing.get_context("spawn").Process(
        target=_measure_until_killed, args=(path,)
    )
    process.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 5000):
        time.sleep(0.01)
    os.kill(process.pid, death)
    process.join(30)
    found = formats.read(path).samples
    assert len(found) >= 5
    assert [s.label for s in found] == [f"sample {k}" for k in range(len(found))]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        (".", "a folder"),
        ("no/file", "a folder that is"),
        ("\0", "no path"),
        ("x" * 5000, "too long"),
    ],
)
def test_a_file_that_cannot_be_written_says_so(name, cause, tmp_path):
    with pytest.raises(ValueError, match=cause) as error:
        atomic.write(f"{tmp_path}/{name}", LAPTOP)
    assert SENTENCE.fullmatch(str(error.value))
    assert len(str(error.value)) < 500


def test_a_record_is_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    atomic.write(tmp_path / "run.json", LAPTOP)
    assert synced == [(tmp_path / "run.json").stat().st_size]


# --- nccl-tests ---


@pytest.mark.parametrize(("name", "factor"), [*zip(PRINTED, (30 / 16, 1 / 2), strict=True)])
def test_the_bandwidths_in_the_table_follow_from_what_was_read(name, factor):
    """That is algbw = size / time, and busbw = algbw times the factor of the collective."""
    rows = [re.findall(r"[\d.e+]+", line) for line in (SAMPLES / name).read_text().splitlines()]
    rows = [row for row in rows if len(row) > 8 and row[0].isdigit() and int(row[0]) >= 1024]
    recording = nccl_tests.read(SAMPLES / name)
    assert len(recording.samples) == 2 * len(rows) >= 6
    for i, sample in enumerate(recording.samples):
        _, algbw, busbw, wrong = (float(x) for x in rows[i // 2][-8:][4 * (i % 2) :][:4])
        workers = sample.given["workers"]
        formula = {16: 2 * (16 - 1) / 16, 2: (2 - 1) / 2}[workers]
        assert formula == factor
        assert sample.given["in_place"] == i % 2
        assert sample.given["bytes"] / sample.median / 1e9 == pytest.approx(
            algbw, abs=0.005 + 5e-4 * algbw
        )
        assert algbw * formula == pytest.approx(busbw, abs=0.02)
        assert wrong == 0 == len(sample.advice)


def test_the_table_says_who_and_how_often():
    first = nccl_tests.read(SAMPLES / "nccl_all_reduce.txt").samples[0]
    assert first.label == "all_reduce of 1 KiB, out of place"
    assert first.seconds == (21.52e-6,)
    assert first.inner == 20
    assert first.given["type"], first.given["redop"] == ("float", "sum")
    assert first.machine == Machine("NVIDIA H100 80GB HBM3 on 2 hosts", cores=None)
    assert first.stamp.kind == "recorded"


def test_an_old_table_is_told_what_it_does_not_say():
    path = SAMPLES / "nccl_old_all_gather.txt"
    here = Machine("a box", cores=8)
    recording = nccl_tests.read(path, collective="all_gather", date="2020-05-01", machine=here)
    first = recording.samples[0]
    assert recording.title == "all_gather on 2 workers, by size"
    assert (first.date, first.machine) == ("2020-05-01", here)
    assert first.given == {"workers": 2, "bytes": 2**20, "in_place": False, "type": "float"}
    assert nccl_tests.read(path).samples[0].machine.name == "Tesla V100-SXM2-16GB on node-a"


def test_the_json_file_has_every_iteration():
    path = SAMPLES / "nccl_all_reduce.json"
    raw = json.loads(path.read_text())
    recording = nccl_tests.read(path)
    assert len(recording.samples) == 6
    for i, sample in enumerate(recording.samples):
        result = raw["results"][i // 2]
        name = ("out_of_place", "in_place")[i % 2]
        micro = [s * 1e6 for s in sample.seconds]
        assert micro == pytest.approx(result[f"{name}_per_iter"]["times_us"], rel=1e-12)
        assert sum(micro) / 10 == pytest.approx(result[name]["time"], rel=1e-6)
        busbw = sample.given["bytes"] / (sum(micro) / 10) / 1e3 * 2 * 7 / 8
        assert busbw == pytest.approx(result[name]["bus_bw"], rel=1e-5)
        assert (sample.inner, sample.date) == (1, "2026-03-14")
        assert sample.machine.name == "NVIDIA H200 on dgx-7"
        assert sample.label.startswith("all_reduce of ")


def changed(tmp_path, change):
    """Copy the JSON sample with a change."""
    raw = json.loads((SAMPLES / "nccl_all_reduce.json").read_text())
    change(raw)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(raw))
    return path


def test_without_single_iterations_the_mean_stands_for_all_calls(tmp_path):
    def change(raw):
        raw["config"]["aggregated_iterations"] = 4

    first = nccl_tests.read(changed(tmp_path, change)).samples[0]
    assert first.seconds == pytest.approx((18.421468e-6,))
    assert first.inner == 40


def test_version_1_listed_the_devices_beside_the_configuration(tmp_path):
    def change(raw):
        raw["devices"] = raw["config"].pop("devices")

    samples = nccl_tests.read(changed(tmp_path, change)).samples
    assert samples[0].given["workers"] == 8


def test_half_of_a_split_communicator_is_the_group_that_was_timed(tmp_path):
    """Two processes of eight ranks each, in two groups: every collective has eight."""

    def change(raw):
        raw["config"]["devices"] += [raw["config"]["devices"][0] | {"rank": 8, "group": 1}]

    assert nccl_tests.read(changed(tmp_path, change)).samples[0].given["workers"] == 8

    def together(raw):
        raw["config"]["devices"] += [raw["config"]["devices"][0] | {"rank": 8}]

    assert nccl_tests.read(changed(tmp_path, together)).samples[0].given["workers"] == 16


def test_wrong_results_and_times_of_the_host_are_flagged(tmp_path):
    def change(raw):
        body = raw["results"][0]["out_of_place"]
        body["nwrong"] = 3.0
        body["cpu_time"] = body.pop("time")
        raw["results"][0]["in_place"] = None
        raw["results"][1]["in_place"]["nwrong"] = None

    first, second, *_ = nccl_tests.read(changed(tmp_path, change)).samples
    assert "3 values of the result were wrong" in first.advice[0].text
    assert "host's time to launch" in first.advice[1].text
    assert "4 MiB" in second.label


HEADER, BODY = (SAMPLES / "nccl_all_reduce.txt").read_text().split("        1024 ", 1)
ROW = "        1024 " + BODY.split("\n")[0]
TIMED = HEADER.replace("#wrong \n", "#wrong timestamp\n")


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        # Replayed traces measure in place only.
        (HEADER, "1024 256 float sum -1 21.5 0.05 0.09 0", [(True, 21.5)]),
        # Unchecked results, and blank columns.
        (HEADER, "1024 256 float 5 1 1 N/A 6 1 1 N/A", [(False, 5), (True, 6)]),
        (HEADER, f"[1,0]<stdout>: {ROW}", [(False, 21.52), (True, 22.46)]),
        (HEADER.replace("\n", "\r\n"), ROW + "\r", [(False, 21.52), (True, 22.46)]),
        (TIMED, ROW + " 2026-01-01 10:00:00",
         [(False, 21.52), (True, 22.46)]),
        # With -I 1 there are eight columns to a placement.
        (
            HEADER.replace("#wrong", "#wrong i_min i_max i_p99 i_cv%"),
            "1024 256 float sum -1 5 1 1 0 4 6 6 9.9 6 1 1 0 5 7 7 8.8",
            [(False, 5), (True, 6)],
        ),
    ],
)  # fmt: skip
def test_columns_that_come_and_go(header, row, expected, tmp_path):
    path = tmp_path / "table.txt"
    path.write_bytes((header + row + "\n").encode())
    found = [(s.given["in_place"], s.median * 1e6) for s in nccl_tests.read(path).samples]
    assert found == [(place, pytest.approx(time)) for place, time in expected]


@pytest.mark.parametrize(
    ("when", "date"), [("2026-01-01 10:00:00", "2026-01-01"), ("yesterday noon", "")]
)
def test_a_table_with_times_of_day_says_its_day(when, date, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(f"{TIMED}{ROW} {when}\n")
    assert {s.date for s in nccl_tests.read(path).samples} == {date}
    assert {s.date for s in nccl_tests.read(path, date="2025-12-31").samples} == {"2025-12-31"}


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ("", ["nThread"]),
        ("hello\n", ["nThread"]),
        (HEADER.replace("size  ", "sighs "), ["header of columns"]),
        (HEADER, ["row of results"]),
        (HEADER + ROW[:60] + "\n", ["line 26", "is the line whole?"]),
        (TIMED + "64 1\n", ["line 26", "is the line whole?"]),
        (HEADER + ROW.replace("21.52", "0.00") + "\n", ["line 26", "seconds must be positive"]),
        (HEADER + ROW.replace("21.52", "fast ") + "\n", ["line 26"]),
        (HEADER + ROW.replace("21.52", "nan") + "\n", ["line 26", "number from 0 on"]),
        (HEADER + "9" * 500 + ROW.lstrip()[4:] + "\n", ["line 26", "number from 0 on"]),
        (HEADER.replace("Rank ", "Rang ") + ROW, ["list each rank", "none"]),
        (HEADER + HEADER + ROW, ["a rank twice", "MPI=1"]),
        (HEADER.replace("Rank 15 Group  0", "Rank 15 Group  1") + ROW, ["groups of one size"]),
    ],
)
def test_a_bad_table_of_nccl_tests_is_refused_at_its_place(content, places, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    refused(nccl_tests.read, path, *places)


def _with(*keys, value):
    def change(raw):
        for key in keys[:-1]:
            raw = raw[key]
        raw[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (_with("config", value=None), ["config must be an object"]),
        (_with("config", "ngpus", value=0), ["config.ngpus", "count from 1"]),
        (_with("config", "iterations", value="20"), ["config.iterations", "whole number"]),
        (_with("config", "devices", value=[]), ["list each rank"]),
        (_with("config", "devices", value=[3]), ["devices[0] must be an object"]),
        (_with("results", value={}), ["results must be a list"]),
        (_with("results", value=[]), ["row of results"]),
        (_with("results", 1, value=7), ["results[1] must be an object"]),
        (_with("results", 1, "size", value=1.5), ["results[1].size", "whole number"]),
        (
            _with("results", 1, "in_place_per_iter", "times_us", value=["x"]),
            ["results[1].in_place"],
        ),
        (_with("results", 1, "in_place", "nwrong", value=-1), ["results[1].in_place"]),
        (_with("results", 1, "in_place_per_iter", "times_us", value=[0]), ["results[1].in_place"]),
        (_with("results", 2, "actual_iterations", value=-5), ["results[2].out_of_place", "inner"]),
    ],
)
def test_a_bad_json_file_of_nccl_tests_is_refused_at_its_place(change, places, tmp_path):
    def every(raw):
        if "actual_iterations" in places or "inner" in places:
            for result in raw["results"]:
                del result["out_of_place_per_iter"], result["in_place_per_iter"]
        change(raw)

    refused(nccl_tests.read, changed(tmp_path, every), *places)


# --- Extra-P ---

SWEEP = Recording(
    "all -> reduce",
    tuple(
        Sample(f"{w} {b}", seconds, 1, LAPTOP, "", given={"workers": w, "bytes": b, "type": t})
        for t in ("float", "half")
        for w in (1, 2, 4)
        for b, seconds in ((1e10, (0.5 / w, 1e-7)), (2.5, (w + 0.25,)))
    ),
)


def parsed(text):
    """Read Extra-P's text format as its documentation says: {region: {point: values}}."""
    sections = [line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    assert [tag for tag, _ in sections[:3]] == ["PARAMETER", "POINTS", "METRIC"]
    names = sections[0][1].split()
    number = r"[-+]?\d+(\.\d*)?"
    point = rf"\({number}( {number})*\)"
    assert re.fullmatch(rf"{point}( {point})*", sections[1][1])
    points = [tuple(map(float, p.split())) for p in re.findall(r"\(([^()]*)\)", sections[1][1])]
    found = {}
    for tag, value in sections[3:]:
        if tag == "REGION":
            found[value] = rows = []
        else:
            assert tag == "DATA"
            assert re.fullmatch(rf"{number}( {number})*", value)
            rows.append(tuple(map(float, value.split())))
    assert all(len(rows) == len(points) for rows in found.values())
    return names, {region: dict(zip(points, rows, strict=True)) for region, rows in found.items()}


def test_extra_p_gets_the_text_that_its_documentation_describes():
    assert extrap.text(SWEEP) == (SAMPLES / "extrap.txt").read_text()


@given(
    times=st.dictionaries(
        st.tuples(st.integers(1, 512), st.floats(1e-3, 1e12)),
        st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=3).map(tuple),
        min_size=2,
        max_size=8,
    )
)
def test_extra_p_reads_back_every_number_exactly(times):
    samples = [
        Sample("s", seconds, 1, LAPTOP, "", given={"workers": w, "bytes": b})
        for (w, b), seconds in times.items()
    ]
    names, found = parsed(extrap.text(Recording("job", tuple(samples)), ["workers", "bytes"]))
    assert names == ["workers", "bytes"]
    assert found == {"job": times}


def test_replicates_of_a_point_are_its_repetitions():
    samples = tuple(
        Sample("s", (w / 2, w / 4), 1, LAPTOP, "", given={"workers": w}) for w in (1, 2, 1)
    )
    _, found = parsed(extrap.text(Recording("", samples)))
    assert found == {"job": {(1.0,): (0.5, 0.25, 0.5, 0.25), (2.0,): (1.0, 0.5)}}


def test_what_is_no_parameter_makes_regions():
    names, found = parsed(extrap.text(SWEEP, ["workers"]))
    assert names == ["workers"]
    assert list(found) == [
        f"all to reduce->bytes={b}->type={t}" for t in ("float", "half") for b in (1e10, 2.5)
    ]


@pytest.mark.parametrize(
    ("recording", "parameters", "message"),
    [
        (Recording("r", (STEP,)), None, "parameters must be a list of one to 4 conditions"),
        (Recording("r", ()), None, "parameters must be a list of one to 4"),
        (SWEEP, [], "name them out of workers, bytes, type"),
        (SWEEP, "workers", "parameters must be a list"),
        (SWEEP, ["a", "b", "c", "d", "e"], "parameters must be a list"),
        (SWEEP, ["type"], "every sample must have a number for 'type', got 'float'"),
        (SWEEP, ["nodes"], "every sample must have a number for 'nodes', got None"),
        (
            Recording("r", SWEEP.samples[:-1]),
            None,
            r"region 'r->type=half' must be measured at every point, got none at .*'4.0'",
        ),
    ],
)
def test_what_extra_p_cannot_use_is_refused(recording, parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        extrap.text(recording, parameters)
    assert SENTENCE.fullmatch(str(error.value))


# --- One reader for all, and files that mean harm ---


def test_one_call_reads_every_format(tmp_path):
    recording = Recording("r", (STEP, STEP))
    (tmp_path / "r.json").write_text(records.to_json(recording))
    (tmp_path / "r.csv").write_text(spreadsheet.text(recording))
    (tmp_path / "r.json.gz").write_bytes(gzip.compress(records.to_json(recording).encode()))
    for name in ("r.json", "r.csv", "r.json.gz"):
        assert formats.read(tmp_path / name) == recording, name
    (tmp_path / "s.json").write_text(records.to_json(STEP))
    assert formats.read(tmp_path / "s.json") == Recording("s", (STEP,))
    for name in (*PRINTED, "nccl_all_reduce.json"):
        assert formats.read(SAMPLES / name) == nccl_tests.read(SAMPLES / name)


def test_a_file_of_other_records_holds_no_samples(tmp_path):
    (tmp_path / "m.json").write_text(records.to_json(LAPTOP))
    refused(formats.read, tmp_path / "m.json", "hold samples", "Machine")


READERS = [
    (formats.read, ".json"),
    (formats.read, ".txt"),
    (spreadsheet.read, ".csv"),
    (kineto.read, ".json"),
    (nccl_tests.read, ".json"),
    (hyperfine.read, ".json"),
    (pyperf.read, ".json"),
    (extrap.read, ".txt"),
]
every_reader = pytest.mark.parametrize(("read", "suffix"), READERS)
HARM = {
    "not text": b"\xff\xfe\x00",
    "deep": b"[" * 10**6,
    "deep object": b'{"a":' * 10**5,
    "cut": b'{"record": "Sample", "lab',
    "digits": b'{"version": ' + b"9" * 10**5 + b"}",
    "not gzip": b"\x1f\x8bno",
    "cut gzip": gzip.compress(b"0" * 10**5)[:60],
    "damaged gzip": gzip.compress(b"0" * 10**5)[:40] + b"\xff" * 40,
    "zeros": b"\0" * 1000,
    "blank": b"\n" * 10**5,
    "comments": b" \n# of nothing\n" * 10**4,
    "wrong type": b"5",
    "null": b"null",
    "infinity": b'{"record": "Machine", "name": "m", "cores": 1, "memory": Infinity}',
}


@every_reader
@every("harm", HARM)
def test_harmful_content_becomes_one_sentence(read, suffix, harm, tmp_path):
    path = tmp_path / f"harm{suffix}"
    path.write_bytes(HARM[harm])
    refused(read, path)


@pytest.fixture(scope="module")
def bomb():
    """Sixty-four megabytes of zeros in sixty-four kilobytes, and few of them in memory here."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        for _ in range(64):
            file.write(bytes(2**20))
    assert len(packed.getvalue()) < 2**17
    return packed.getvalue()


@every_reader
def test_a_small_file_that_unpacks_to_a_huge_one_is_not_unpacked(
    read, suffix, bomb, tmp_path, monkeypatch
):
    path = tmp_path / f"bomb{suffix}.gz"
    path.write_bytes(bomb)
    for function in (files.text, files.parsed, kineto.read):
        monkeypatch.setattr(function, "__defaults__", (2**20,))
    tracemalloc.start()
    try:
        refused(read, path, "at most 1 MiB")
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


@every_reader
def test_what_is_no_file_becomes_one_sentence(read, suffix, tmp_path):
    refused(read, tmp_path / f"absent{suffix}", "No such file")
    (tmp_path / f"folder{suffix}").mkdir()
    refused(read, tmp_path / f"folder{suffix}", "Is a directory")
    os.mkfifo(tmp_path / f"pipe{suffix}")
    refused(read, tmp_path / f"pipe{suffix}", "path of a file")
    with pytest.raises(ValueError, match="must be the path of a file, got a name with a zero byte"):
        read(f"\0{suffix}")


@given(raw=st.binary(max_size=200), index=st.integers(0, 10**6), which=st.integers(0, 7))
def test_a_sample_with_some_bytes_replaced_is_read_or_refused(raw, index, which, tmp_path_factory):
    names = ["nccl_all_reduce.txt", "nccl_all_reduce.json", "step_rank0.json", "r.csv", "r.json"]
    names += ["hyperfine_workers.json", "pyperf_workers.json", "extrap.txt"]
    name = names[which]
    if name in ("r.csv", "r.json"):
        text = spreadsheet.text(SWEEP) if "csv" in name else records.to_json(STEP)
        content = text.encode()
    else:
        content = (SAMPLES / name).read_bytes()
    cut = index % len(content)
    path = tmp_path_factory.mktemp("harm") / name
    path.write_bytes(content[:cut] + raw + content[cut + len(raw) :])
    read = kineto.read if "step" in name else formats.read
    try:
        read(path)
    except ValueError as error:
        assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
        assert str(path) in str(error)  # noqa: PT017
