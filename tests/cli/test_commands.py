"""The command line: what it prints, keeps and refuses, and what it takes a real process to see."""

import contextlib
import io
import json
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from unittest import mock

import hypothesis
import pytest
from hypothesis import given, settings, strategies as st

from scalelab import records
from scalelab.cli import commands, main, options, streams
from scalelab.data import datasets
from scalelab.files import spreadsheet
from scalelab.grading.box import bubblewrap
from scalelab.measure.host.machine import this_machine
from scalelab.measure.ranks import agent, capacity, workers
from scalelab.measure.ranks.workers import WorkerError
from scalelab.records import Caution, Machine, Recording, Sample
from tests.cli.command import ENVIRONMENT, MODULE, installed, process, scalelab
from tests.measure import worker_jobs
from tests.notebooks import ROOT
from tests.sampling import sampled, seed

pytestmark = pytest.mark.turns(3)

SAMPLE = Sample("a step", (1.0,), 1, Machine("laptop", cores=4), "2025-11-20")
# One measurement, as short as can be.
SHORT = ("run", "independent", "--workers", "1", "--set", "items=2", "--repetitions", "1")
# What these print says that it was measured here; the others judge what somebody else measured.
MEASURING = {"machine", "probe", "run", "time"}


def examples(command):
    return re.findall(r"^ +scalelab (.+)$", command.help, re.MULTILINE)


FIRST = [examples(command)[0] for command in commands.commands.values()]
EXAMPLES = [example for command in commands.commands.values() for example in examples(command)]


@pytest.mark.parametrize("name", commands.commands)
def test_every_command_shows_an_example(name):
    assert examples(commands.commands[name])


def place(example, folder):
    """Return where an example is typed: what writes into a course gets one of its own."""
    if example.split()[0] not in ("keys", "leaks", "release"):
        return ROOT
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for name in ("solutions", "exercises"):
        shutil.copytree(ROOT / name / "01_speedup", folder / name / "01_speedup")
    (folder / "students.csv").write_text("student\nada\nben\n")
    (folder / "course").mkdir()
    (folder / "course" / "secret").write_text("a word\n")
    return folder


def works(example, done):
    assert done.stderr == ""
    assert done.returncode == 0
    judges = example.split()[0] not in MEASURING
    if "--json" in example:
        assert json.loads(done.stdout) if judges else records.from_json(done.stdout)
    else:
        assert done.stdout if judges else "measured here · " in done.stdout


@pytest.mark.parametrize("example", sampled([e for e in EXAMPLES if "probe" not in e], 1))
def test_the_examples_of_the_help_work(example, tmp_path):
    works(example, scalelab(*shlex.split(example), folder=place(example, tmp_path)))


@pytest.mark.parametrize("name", [None, *commands.commands])
def test_help_is_printed_without_importing_what_is_heavy(name):
    arguments = [name, "--help"] if name else ["--help"]
    code = (
        f"import sys; from scalelab.cli import main\ntry: main({arguments!r})\n"
        "except SystemExit as end: code = end.code\n"
        "print(code, sorted({'torch', 'numpy', 'tqdm', 'networkx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *text, last = done.stdout.splitlines()
    assert text[0].startswith("Usage: scalelab")
    assert last == "0 []"


def test_without_a_command_the_help_is_shown():
    assert process().stdout == scalelab("--help").stdout


def test_the_installed_command_is_the_same():
    assert process("--version", start=[installed()]).stdout == scalelab("--version").stdout


def test_what_is_printed_as_json_is_what_is_kept(tmp_path):
    done = scalelab("machine", "--json", "--out", tmp_path / "machine.json")
    assert (tmp_path / "machine.json").read_text() == done.stdout
    assert records.from_json(done.stdout).cores >= 1
    assert [path.name for path in tmp_path.iterdir()] == ["machine.json"]


def test_progress_is_for_the_terminal_and_json_for_the_pipe(tmp_path):
    """The examples above show that where there is no terminal, there is no progress."""
    resource_tracker.ensure_running()  # or it would keep the terminal open, as its own stderr
    terminal, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 80))
    with open(end, "w") as screen:
        done = scalelab(*SHORT, "--json", "--out", tmp_path / "run.json", errors=screen)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while some := os.read(terminal, 1024):
            seen += some
    os.close(terminal)
    assert re.search(rb"independent, strong scaling: +0%.*0/1", seen)
    assert (tmp_path / "run.json").read_text() == done.stdout
    recording = records.from_json(done.stdout)
    assert recording.title == "independent, strong scaling"
    assert recording.samples[0].given["items"] == 2


def test_a_function_of_ones_own_is_found_where_one_is(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "def job(share, work=2, factor=1.5):\n    return work * factor\n"
    )
    asked = ("run", "mine:job", "--weak", "--workers", "1,2", "--set", "factor=2.5", "--json")
    done = scalelab(*asked, folder=tmp_path)
    monkeypatch.delitem(sys.modules, "mine")
    samples = records.from_json(done.stdout).samples
    told = [{name: s.given[name] for name in ("workers", "work", "factor")} for s in samples]
    assert told == [
        {"workers": 1, "work": 2, "factor": 2.5},
        {"workers": 2, "work": 4, "factor": 2.5},
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("start", [MODULE, [installed()]], ids=["module", "installed"])
def test_every_way_to_start_it_finds_a_function_of_ones_own(start, tmp_path):
    (tmp_path / "mine.py").write_text("def job(): pass\n")
    done = process("run", "mine:job", "--workers", "1", start=start, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "measured here" in done.stdout


def test_a_collective_that_fails_is_called_what_it_was_asked_for(monkeypatch):
    def fail(*_, **__):
        raise WorkerError("timed", "must finish on 2 ranks", cause="boom")

    monkeypatch.setattr(workers, "launch", fail)
    done = scalelab("run", "all-reduce", "--workers", "2", "--bytes", "1KiB")
    assert done.stderr.startswith("scalelab: all-reduce must finish on 2 ranks")


def test_what_is_gained_counts_from_the_fewest_workers_whatever_the_order(monkeypatch, capsys):
    """4 s on two workers, 2.5 s on four: 1.6 times as fast, for twice the workers."""
    times = {2: 4.0, 4: 2.5}
    monkeypatch.setattr(
        workers, "launch", lambda job, count, **_: [{"seconds": [times[count]]}] * count
    )
    with pytest.raises(SystemExit):
        main([*SHORT[:2], "--workers", "4,2"])
    _, head, four, two, *_ = capsys.readouterr().out.splitlines()
    assert re.split(r" {2,}", head)[-2:] == ["speedup over 2", "efficiency over 2"]
    assert (four.split()[-2:], two.split()[-2:]) == (["1.6", "0.800"], ["1.0", "1.000"])


@pytest.mark.parametrize(("more", "device"), [(["--emulate"], "cpu"), ([], "cuda")])
def test_a_gpu_is_taken_where_there_is_one_and_nothing_is_emulated(
    more, device, monkeypatch, capsys
):
    placed = []

    def launch(job, count, *, device, **_):
        placed.append(device)
        return [{"seconds": [1.0]}] * count

    monkeypatch.setattr(capacity, "_gpus", lambda: 8)
    monkeypatch.setattr(workers, "launch", launch)
    with pytest.raises(SystemExit):
        main([*SHORT, *more])
    assert placed == [device]


def kept(path, machine):
    sample = Sample("before", (1.0,), 1, machine, "2025-11-20", given={"workers": 1})
    path.write_text(records.to_json(Recording("before", (sample,))))


def test_appending_adds_to_a_file_of_this_machine(tmp_path, monkeypatch, capsys):
    kept(tmp_path / "run.json", this_machine())
    monkeypatch.setattr(workers, "launch", lambda *_, **__: [{"seconds": [0.25]}])
    with pytest.raises(SystemExit) as end:
        main([*SHORT, "--out", str(tmp_path / "run.json"), "--append", "--json"])
    assert not end.value.code
    both = records.from_json((tmp_path / "run.json").read_text())
    (new,) = records.from_json(capsys.readouterr().out).samples
    assert [sample.label for sample in both.samples] == ["before", new.label]
    assert new.seconds == (0.25,)


def test_a_csv_holds_what_the_json_would_and_is_added_to_and_audited(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "launch", lambda *_, **__: [{"seconds": [0.25]}])
    table = tmp_path / "run.csv"
    printed = [scalelab(*SHORT, "--out", table, "--append", "--json").stdout for _ in range(2)]
    measured = [records.from_json(one).samples[0] for one in printed]
    assert spreadsheet.read(table).samples == tuple(measured)
    assert scalelab("audit", table).stdout.startswith("run: 2 rows, seconds on 1 worker\n")
    table.write_text("workers\n1\n")
    sentence = refusal(scalelab(*SHORT, "--out", table, "--append"))
    assert sentence.startswith(f"{table} line 1 must name each column once, `seconds` among them")


def test_appending_to_another_machine_s_file_is_refused_and_leaves_it_alone(tmp_path):
    kept(tmp_path / "run.json", Machine("server, 64 cores", cores=64))
    before = (tmp_path / "run.json").read_text()
    done = scalelab(*SHORT, "--out", tmp_path / "run.json", "--append")
    sentence = refusal(done)
    assert sentence.startswith("measurements must come from one machine, got 'server, 64 core")
    assert sentence.endswith(f"name another file than {tmp_path / 'run.json'}")
    assert (tmp_path / "run.json").read_text() == before


def refusal(done):
    """The one sentence of a command that refused, with exit code 2 and nothing else said."""
    assert (done.returncode, done.stdout) == (2, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("scalelab: ")
    assert len(sentence) < 500
    return sentence.removeprefix("scalelab: ")


JUNK = [
    ("nothing",),
    ("--nothing",),
    ("machine", "more"),
    ("machine", "--out"),
    ("machine", "--out", "."),
    ("machine", "--out", "no/such/folder/file.json"),
    ("machine", "--out", "x" * 5000),
    ("run",),
    ("run", "nothing"),
    ("run", ""),
    ("run", "no.such.module:job"),
    ("run", "tests.measure.worker_jobs:no_such_job"),
    ("run", "training", "--workers", ""),
    ("run", "training", "--workers", "two"),
    ("run", "training", "--workers", "1,,2"),
    ("run", "training", "--workers", "0"),
    ("run", "training", "--workers", "-1"),
    ("run", "training", "--workers", "1e9"),
    ("run", "training", "--workers", "9" * 5000),
    ("run", "training", "--workers", "1000000"),
    ("run", "training", "--workers", "1", "--set", "colour=red"),
    ("run", "training", "--workers", "1", "--set", "steps"),
    ("run", "training", "--workers", "1", "--set", "batch=many"),
    ("run", "training", "--workers", "1", "--repetitions", "0"),
    ("run", "training", "--workers", "1", "--repetitions", "x"),
    ("run", "training", "--workers", "1", "--limit", "nan"),
    ("run", "training", "--workers", "1", "--device", "tpu"),
    ("run", "training", "--workers", "1", "--bytes", "1KiB"),
    ("run", "training", "--workers", "3"),
    ("run", "training", "--workers", "1", "--append"),
    ("run", "training", "--workers", "1", "--out", "no/such/folder/file.json"),
    ("run", "all-reduce", "--workers", "1"),
    ("run", "all-reduce", "--bytes", "many"),
    ("run", "all-reduce", "--bytes", "-1KiB"),
    ("run", "all-reduce", "--bytes", "0 B"),
    ("run", "all-reduce", "--bytes", "9" * 5000),
    ("run", "all-reduce", "--bytes", "1e30 B"),
    ("run", "all-reduce", "--weak"),
    ("run", "all-reduce", "--emulate"),
    ("run", "all-reduce", "--set", "steps=3"),
]


@pytest.mark.parametrize("arguments", JUNK, ids=lambda arguments: " ".join(arguments)[:60])
def test_junk_is_refused_in_one_sentence(arguments, tmp_path):
    refusal(scalelab(*arguments, folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_public_series_are_read_only_where_no_file_has_the_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sysbench_cpu").write_text("workers,seconds\n1,60\n2,31\n")
    datasets._all.cache_clear()
    assert streams.source("sysbench_cpu") == ("sysbench_cpu", Path("sysbench_cpu").read_text())
    assert datasets._all.cache_info().currsize == 0
    Path("sysbench_cpu").unlink()
    assert streams.source("sysbench_cpu").unit == "events/s"


def test_a_case_is_told_once_whatever_its_numbers_and_words_are():
    said = [("few", "Only 2."), ("wide", "Within 2%."), ("few", "Only three, and that at night.")]
    samples = [
        replace(SAMPLE, label=f"run {n}", advice=(Caution(name, text),))
        for n, (name, text) in enumerate(said, 1)
    ]
    told = streams.advice(Recording("three", tuple(samples)))
    assert told == ["run 1 (and 1 more alike): Only 2.", "run 2: Within 2%."]
    told = streams.advice(Recording("two", (samples[0], replace(samples[0], label="run 4"))))
    assert told == ["run 1 (and 1 more): Only 2."]


@pytest.mark.parametrize("command", [("machine",), SHORT], ids=["machine", "run"])
def test_what_is_no_file_is_never_replaced_by_one(command, tmp_path):
    """Nor through a link: as root, `--out` would otherwise turn a device into a file."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        assert "got something else" in refusal(scalelab(*command, "--out", path))
        assert path.is_fifo()
    assert link.is_symlink()


@pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing)
def test_a_full_disk_is_a_failure_and_no_mistake_of_who_asked(tmp_path):
    """Both of what is recorded and of what is drawn; a page of memory is the whole disk."""
    disk, table = tmp_path / "disk", tmp_path / "table.csv"
    disk.mkdir()
    table.write_text("workers,seconds\n1,60\n2,31\n4,16\n8,9\n")
    box = ["bwrap", "--dev-bind", "/", "/", "--size", "4096", "--tmpfs", str(disk)]
    for command in (
        ["machine", "--out", disk / "m.json"],
        ["fit", table, "--plot", disk / "p.png"],
    ):
        line = shlex.join([*MODULE, *map(str, command)])
        script = (
            f"head -c 4096 /dev/zero > {disk}/filler; {line}; code=$?; ls -A {disk}; exit $code"
        )
        done = subprocess.run(
            [*box, "sh", "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 1, done.stderr
        assert "could not be written (No space left on device)" in done.stderr
        assert done.stdout == "filler\n"


@pytest.mark.parametrize(
    "command", [("machine",), ("probe", "--quick"), ("capstone", "--workers", "1")]
)
def test_a_file_of_something_else_is_never_written_over(command, tmp_path):
    kept(tmp_path / "run.json", this_machine())
    (tmp_path / "mine.py").write_text("precious = 1\n")
    for name, found in (("run.json", "'before'"), ("mine.py", "'precious = 1'")):
        before = (tmp_path / name).read_text()
        sentence = refusal(scalelab(*command, "--out", tmp_path / name))
        wrote = f"must be a file that is not there yet or what `scalelab {command[0]}` wrote"
        assert f"{wrote}, got {found}: name another file" in sentence
        assert (tmp_path / name).read_text() == before


def test_a_machine_is_written_anew_and_never_by_the_name_of_a_table(tmp_path):
    for _ in range(2):
        assert scalelab("machine", "--out", tmp_path / "m.json").returncode == 0
    assert "name it .json" in refusal(scalelab("machine", "--out", tmp_path / "m.csv"))


def test_a_link_to_a_file_stays_a_link(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    scalelab("machine", "--out", link)
    assert link.is_symlink()
    assert records.from_json((tmp_path / "file").read_text()).cores >= 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "must continue as JSON"),
        ("[1, 2", "must continue as JSON"),
        ('{"record": "Machine", "name": "m", "cores": 2}', "must hold a Recording, got a Machine"),
        ('{"record": "Recording", "title": "t"}', "must have the field 'samples'"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_named(content, expected, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(content)
    sentence = refusal(scalelab(*SHORT, "--append", "--out", path))
    assert sentence.startswith(str(path))
    assert expected in sentence
    assert path.read_text() == content


def test_a_rank_that_fails_is_named_and_its_output_shown():
    """Exit code 1: nothing was wrong with the question."""
    done = scalelab("run", "tests.measure.worker_jobs:last_words", "--workers", "2")
    sentence, *words = done.stderr.splitlines()
    assert done.returncode == 1
    assert sentence.startswith(
        "scalelab: tests.measure.worker_jobs:last_words must finish on 2 ranks within"
    )
    assert "got exit code 3 on rank 1" in sentence
    assert words == ["the disk is full"]
    assert done.stdout == ""


# A process in which a third measurement never ends, nor is a rank started for the others.
STANDING = """
import signal
from scalelab.cli import main
from scalelab.measure.ranks import workers
answers = iter([[{"seconds": [0.25]}]] * 2)
workers.launch = lambda *_, **__: next(answers, None) or signal.pause()
main()
"""
STANDING_STILL = (sys.executable, "-c", STANDING)


@pytest.mark.parametrize(
    "start",
    [STANDING_STILL, pytest.param(MODULE, marks=pytest.mark.thorough)],
    ids=["still", "real"],
)
def test_what_was_measured_survives_ctrl_c(start, tmp_path):
    """It is in the file whole, and it is shown."""
    out = tmp_path / "run.json"
    arguments = (
        "run",
        "tests.measure.worker_jobs:own",
        "--workers",
        ",".join("1" * 60),
        "--out",
        str(out),
    )
    running = subprocess.Popen(
        [*start, *arguments],
        env=ENVIRONMENT, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: out.exists() and len(records.from_json(out.read_text()).samples) >= 2)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert stderr == f"scalelab: interrupted. {out} holds what was measured.\n"
    assert "measured here" in stdout
    assert 2 <= len(records.from_json(out.read_text()).samples) < 60


def until(true, within=60):
    """Wait for something to become true; the limit is for what never does."""
    deadline = time.monotonic() + within
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_ctrl_c_of_a_terminal_ends_in_one_sentence_while_the_processes_start(tmp_path):
    """It goes to every process in the foreground: to the fork server that imports torch, to the ranks."""
    running = subprocess.Popen(
        [*MODULE, *SHORT], env=ENVIRONMENT, cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip

    def importing():
        """Whether the fork server has begun to load torch."""
        group = subprocess.run(
            ["ps", "-g", str(running.pid), "-o", "pid=,args="],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        servers = [line.split()[0] for line in group.stdout.splitlines() if "forkserver" in line]
        maps = [Path("/proc", server, "maps") for server in servers]
        return any("torch" in path.read_text() for path in maps if path.exists())

    until(importing)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout) == (130, "")
    nothing = "Nothing was measured to its end, so nothing is kept."
    assert stderr.strip() == f"scalelab: interrupted. {nothing}"


def test_an_interrupted_probe_leaves_what_it_had(tmp_path, monkeypatch, capsys):
    sample = Sample("launch", (1e-6,), 1, this_machine(), "2025-11-20", given={"what": "launch"})

    def interrupted(*, quick, device, report, keep):
        report(0, 3, "launch")
        keep(Recording("The roofs", (sample,), "Ended after 1 of 3 parts."))
        raise KeyboardInterrupt

    monkeypatch.setattr("scalelab.measure.probe.probe.probe", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["probe", "--out", str(tmp_path / "probe.json")])
    assert end.value.code == 130
    out, err = capsys.readouterr()
    assert err == f"scalelab: interrupted. {tmp_path / 'probe.json'} holds what was measured.\n"
    assert "launch" in out
    assert out.endswith("\nEnded after 1 of 3 parts.\n")
    assert records.from_json((tmp_path / "probe.json").read_text()).samples == (sample,)


WORDS = st.one_of(
    st.sampled_from(
        ["run", "machine", "training", "independent", "all-reduce", "send", "0", "1,2"]
    ),
    st.sampled_from(
        [option for c in commands.commands.values() for p in c.params for option in p.opts]
    ),
    st.sampled_from(
        [
            "steps=1",
            "1KiB",
            "nan",
            "inf",
            "-1",
            "cpu",
            "cuda",
            "9" * 5000,
            "--",
            "-",
            "true {workers}",
        ]
    ),
    st.text("ab:1-=, \0é\n", max_size=6),
)


@pytest.mark.parametrize("tries", [60, pytest.param(300, marks=pytest.mark.thorough)])
def test_no_words_lead_to_a_traceback(tries):
    """In this process, with nothing launched and nothing written."""

    @hypothesis.seed(seed())
    @settings(max_examples=tries)
    @given(words=st.lists(WORDS, max_size=7), first=st.sampled_from([["machine"], ["run"], []]))
    def led(words, first):
        failed = WorkerError("the job", "must finish, got a test: take it easy")
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(workers, "launch", side_effect=failed),
            mock.patch("scalelab.files.atomic.write"),
            mock.patch("scalelab.measure.commands.study.runs", return_value=()),
            mock.patch("scalelab.measure.commands.study.logs", contextlib.nullcontext),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main([*first, *words])
        said = err.getvalue().splitlines()
        assert "this must not happen" not in err.getvalue()
        if end.value.code == 0:
            assert said == []
        else:
            failed = "got a test" in said[0]  # a sentence for each size of a job
            assert end.value.code == (1 if failed else 2)
            assert len(said) == 1 or (failed and all("got a test" in line for line in said))
            assert out.getvalue() == ""

    led()


@pytest.mark.parametrize(
    "error", [KeyError("x"), MemoryError(), TypeError("no\nroom"), ValueError("x"), RuntimeError()]
)
def test_a_bug_is_called_one_and_its_traceback_is_kept(error, monkeypatch, capsys):
    def broken():
        raise error

    monkeypatch.setattr("scalelab.measure.host.machine.this_machine", broken)
    with pytest.raises(SystemExit) as end:
        main(["machine"])
    assert end.value.code == 70
    out, (sentence,) = (text.splitlines() for text in capsys.readouterr())
    assert out == []
    assert sentence.startswith(f"scalelab: this is a bug of scalelab, got {type(error).__name__}: ")
    kept = Path(sentence.rpartition(" ")[2])
    assert "in broken\n    raise error\n" in kept.read_text()
    kept.unlink()


def test_a_terminal_that_knows_only_ascii_gets_its_answer():
    ascii_only = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    assert refusal(process("run", "µ", env=ascii_only)).startswith("JOB must be training")
    assert process("machine", env=ascii_only).returncode == 0


def test_a_reader_that_has_seen_enough_is_no_error():
    command = f"{shlex.join(MODULE)} run --help | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.stdout == "Usage: scalelab run [OPTIONS] [JOB]\n"
    assert done.stderr == ""


@pytest.mark.parametrize("line", ["fit usl_raytracer --at 96", "plan example", "--help"])
def test_nobody_who_reads_is_no_error_of_any_command(line):
    """With `set -o pipefail` a script would end there."""
    command = f"{shlex.join(MODULE)} {line} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("line", ["audit sysbench_cpu", "machine --json", "--help"])
def test_a_full_disk_is_no_bug(line):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*MODULE, *line.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
    assert done.returncode == 1
    assert (
        done.stderr
        == "scalelab: output could not be written (No space left on device): make room for it\n"
    )


def test_closed_streams_are_no_bug():
    """What is closed takes anything and gives nothing, as in Python itself."""
    for line, code in (("machine >&-", 0), ("machine 2>&-", 0), ("audit - <&-", 2)):
        done = subprocess.run(
            f"{shlex.join(MODULE)} {line}",
            shell=True,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
        )
        assert done.returncode == code
        assert "bug" not in done.stderr


TRAINING = ("run", "training", "--set", "steps=2", "--set", "width=8", "--repetitions", "2")


def test_the_ranks_of_a_torchrun_are_the_workers_and_one_speaks_and_writes(tmp_path):
    """Without its program: `_agent` is its engine, and forks its ranks from a process with torch."""
    out = tmp_path / "run.json"
    arguments = (*TRAINING, "--json", "--out", str(out))
    said = agent.run(worker_jobs.command, (arguments,), workers=2, limit=120)
    assert said[1] == (0, "", "")
    assert said[0] == (0, out.read_text(), "")
    samples = records.from_json(out.read_text()).samples
    assert [sample.given["workers"] for sample in samples] == [1, 2]


def torchrun(*arguments):
    """Start a torchrun, as one of the nodes of a job."""
    command = [sys.executable, "-m", "torch.distributed.run", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=ENVIRONMENT, **pipes)


@pytest.mark.thorough
def test_the_same_command_runs_on_the_nodes_of_a_torchrun(tmp_path):
    """Two agents on this machine stand for two nodes; rank 0 speaks and writes for all."""
    meeting = ("--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d", "--rdzv-id=test")
    where = f"--rdzv-endpoint=localhost:{free_port()}"
    job = ("-m", "scalelab", *TRAINING)
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    nodes = [torchrun(*meeting, where, *job, "--json", "--out", str(file)) for file in files]
    said = [node.communicate(timeout=120) for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], said
    (written,) = [file for file in files if file.exists()]
    (printed,) = [out for out, _ in said if out]
    assert written.read_text() == printed
    samples = records.from_json(printed).samples
    assert [s.given["workers"] for s in samples] == [1, 2]
    assert [s.given.get("nodes") for s in samples] == [None, 2]


@pytest.mark.thorough
def test_a_rank_that_fails_under_torchrun_is_named_and_ends_the_job():
    node = torchrun(
        "--nproc-per-node=2",
        "-m",
        "scalelab",
        "run",
        "tests.measure.worker_jobs:raises",
        "--workers",
        "2",
    )
    out, err = node.communicate(timeout=120)
    assert node.returncode == 1
    assert out == ""
    assert "got ValueError: the disk is full on rank 1: mend the job" in err


def free_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def test_settings_become_numbers_where_they_look_like_it():
    assert dict(map(options.setting, ["a=1", "b=1.5", "c=x=y", "d="])) == {
        "a": 1, "b": 1.5, "c": "x=y", "d": "",
    }  # fmt: skip
