"""Programs that really start: what is timed, what fails, and what is left behind, which is nothing."""

import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from scalelab.measure.timing import programs
from scalelab.measure.timing.programs import Program, Race, program, run
from scalelab.refusal import Failure, Refusal

pytestmark = pytest.mark.turns(3)

PYTHON = sys.executable


def python(code):
    return Program(f"python -c {code}", (PYTHON, "-c", code))


def children():
    """The processes that this one has to wait for, dead or alive."""
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()


@pytest.fixture
def nobody_stays():
    """No process that a test starts is there after it; one that was there before may be."""
    before = children()
    yield
    assert [pid for pid in children() if pid not in before] == []


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pid, patience=20):
    until = time.monotonic() + patience
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


def test_a_run_takes_at_least_what_the_program_does():
    done = run(program("sleep 0.2"))
    assert done.seconds >= 0.2
    assert done.user + done.system < done.seconds
    assert done.fault == ""


def test_processor_time_is_that_of_the_program_and_of_what_it_started():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    alone = run(python(burn))
    assert alone.user + alone.system >= 0.3
    inside = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    both = run(python(inside))
    assert both.user + both.system >= 0.3


def test_a_program_reads_nothing_and_is_not_heard(capfd):
    assert run(python("import sys; assert sys.stdin.read() == ''; print('heard')")).fault == ""
    assert capfd.readouterr() == ("", "")


def test_what_it_shows_goes_where_errors_go(capfd):
    with capfd.disabled():
        code = (
            "from scalelab.measure.timing.programs import run, program\n"
            "run(program('echo heard'), show=True)"
        )
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "heard\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a 'b c' d\\ e", ("a", "b c", "d e")),
        ("grep '|' \"a;b\"", ("grep", "|", "a;b")),
        ("python -c 'print(1 > 0)'", ("python", "-c", "print(1 > 0)")),
        ("a # b", ("a", "#", "b")),
    ],
)
def test_a_line_is_cut_as_a_shell_cuts_it(line, words):
    assert program(line).words == words


@pytest.mark.parametrize("line", ["ls | wc", "a && b", "a > b", "a; b", "a &", "(a)", "a <b"])
def test_what_needs_a_shell_is_refused_without_one_and_goes_with_it(line):
    with pytest.raises(Refusal, match=r"must be one program where there is no shell.*--shell"):
        program(line)
    assert program(line, shell=True).words == ("/bin/sh", "-c", line)


@pytest.mark.parametrize("line", ["", "  ", "''", "a\0b", None, 3, b"ls", ["ls"], "'open", 'a "b'])
def test_what_names_no_program_is_refused(line):
    with pytest.raises(Refusal, match=r"command must .*, got .*: "):
        program(line)


@given(st.text(max_size=30))
def test_any_text_is_a_program_or_refused(line):
    for shell in (False, True):
        try:
            made = program(line, shell=shell)
        except Refusal as error:
            assert "\n" not in str(error)  # noqa: PT017 - either is fine
        else:
            assert made.words


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "was killed by signal 40"),
        ("import os; os.abort()", "was killed by SIGABRT"),
    ],
)
@pytest.mark.usefixtures("nobody_stays")
def test_how_a_program_failed_is_said(code, fault):
    assert run(python(code)).fault == fault


@pytest.mark.usefixtures("nobody_stays")
def test_what_cannot_be_started_says_why(tmp_path):
    plain, bare = tmp_path / "plain", tmp_path / "bare"
    plain.write_text("#!/bin/sh\n")
    bare.write_text("true\n")
    bare.chmod(stat.S_IRWXU)
    for line, said in {
        "no-such-program": "was not found among the programs: install it, or check its spelling",
        "X=1 ls": "X=1 was not found among the programs: variables",
        str(tmp_path): "is a folder and no program",
        str(plain): "may not be started: chmod",
        str(bare): r"cannot be started \(Exec format error\)",
    }.items():
        with pytest.raises(Refusal, match=said):
            run(program(line))


@pytest.mark.usefixtures("nobody_stays")
def test_a_program_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    pid = tmp_path / "pid"
    line = f"sleep 600 & echo $! > {pid}; wait"
    done = run(program(line, shell=True), limit=0.7)
    assert done.fault == "took longer than 700 ms"
    assert gone(pid.read_text().strip())


def test_a_limit_does_nothing_to_what_ends_in_time():
    before = threading.active_count()
    assert run(program("true"), limit=600).fault == ""
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.parametrize("ignoring", [False, True], ids=["polite", "stubborn"])
@pytest.mark.usefixtures("nobody_stays")
def test_ctrl_c_ends_the_program_and_all_that_it_started(tmp_path, ignoring):
    pids = tmp_path / "pids"
    trap = "trap '' TERM INT; " if ignoring else ""
    line = f"{trap}sleep 600 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait; sleep 600"

    def interrupt():
        while not pids.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run(program(line, shell=True))
    assert all(gone(pid) for pid in pids.read_text().split())


def test_an_exact_number_of_runs_is_that(tmp_path):
    log = tmp_path / "log"
    race = Race([program(f"echo a >> {log}", shell=True), program(f"echo b >> {log}", shell=True)])
    found = race.run(runs=5, warmup=2)
    assert [len(one.seconds) for one in found.samples] == [5, 5]
    ran = log.read_text().split()
    assert sorted(ran[:4]) == ["a", "a", "b", "b"]
    assert [sorted(ran[k : k + 2]) for k in range(4, 14, 2)] == [["a", "b"]] * 5
    assert found.samples[0].stopped == "runs: 5 asked for"


def test_it_runs_six_times_whatever_that_costs_and_then_stops_with_the_budget():
    found = Race([program("sleep 0.05")]).run(budget=0.01, warmup=0)
    assert len(found.samples[0].seconds) == 6
    assert found.samples[0].stopped.startswith("budget: ")


def test_it_stops_when_the_median_is_known_well_enough():
    found = Race([program("sleep 0.01")]).run(budget=300, precision=50, warmup=1)
    assert len(found.samples[0].seconds) == 23  # looks at 15 and at half as many again
    assert found.samples[0].stopped.startswith("precise: the median")


def test_twice_the_sleep_is_slower_and_half_is_faster():
    race = Race([program("sleep 0.2"), program("sleep 0.8"), program("sleep 0.01")])
    longer, shorter = race.run(runs=7, warmup=0).besides
    assert shorter.ratio < 1 < longer.ratio
    assert (longer.says, shorter.says) != ("faster", "slower")
    assert longer.low > shorter.low


def test_the_same_command_twice_is_two_samples():
    found = Race([program("true"), program("true")]).run(runs=3, warmup=0)
    assert [one.label for one in found.samples] == ["true", "true (2)"]
    assert found.besides[0].high == math.inf


def test_what_prepares_runs_before_every_run_of_its_own_command_and_is_not_timed(tmp_path):
    log = tmp_path / "log"
    said = [program(f"echo {one} >> {log}; {nap}", shell=True) for one, nap in
            (("p", "sleep 0.3"), ("a", ":"))]  # fmt: skip
    found = Race([said[1]], prepare=[said[0]]).run(runs=3, warmup=1)
    assert log.read_text().split() == ["p", "a"] * 4
    assert min(found.samples[0].seconds) < 0.3


def test_what_fails_ends_the_race_and_tells_what_it_said():
    with pytest.raises(Failure, match="exit code 1: mend it, or say --ignore-failure") as caught:
        Race([python("import sys; sys.exit('no such model')")]).run(runs=3, warmup=1)
    assert caught.value.output == "no such model"
    with pytest.raises(Failure, match=r"--prepare: false ended with exit code 1: mend it$"):
        Race([program("true")], prepare=[program("false")], ignore=True).run(runs=3)


def test_failures_that_are_ignored_are_counted_and_warned_of():
    (sample,) = Race([program("false")], ignore=True).run(runs=7, warmup=0).samples
    assert sample.given["failures"] == 7
    (caution,) = [one for one in sample.advice if one.name == "failures"]
    assert "7 of 7 runs failed, the first of them ended with exit code 1" in caution.text


def test_what_was_finished_is_kept_when_it_is_interrupted():
    race = Race([program("true"), program("true")])

    def watch(seconds):
        if len(race.turns) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race.run(runs=50, warmup=0, watch=watch)
    found = race.compared()
    assert [len(one.seconds) for one in found.samples] == [4, 4]
    assert found.samples[0].stopped == "interrupted"
    with pytest.raises(Failure, match="no turn was finished"):
        Race([program("true")]).compared()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[
            (name, junk)
            for name in ("budget", "precision")
            for junk in (0, -1, math.nan, "1", None)
        ],
        *[("runs", junk) for junk in (0, -1, 1.5, "3", True, 10**9)],
        *[("warmup", junk) for junk in (-1, 1.5, "3", True)],
        ("seed", -1),
    ],
)
def test_impossible_settings_are_refused_before_anything_runs(setting, value, tmp_path):
    log = tmp_path / "log"
    race = Race([program(f"touch {log}")])
    with pytest.raises(Refusal, match=rf"{setting} must be .*, got .*: "):
        race.run(**{setting: value})
    assert not log.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"programs": []},
        {"programs": [program("true")], "names": ["a", "b"]},
        {"programs": [program("true")], "prepare": [program("true")] * 2},
        {"programs": [program("true")], "limit": 0},
        {"programs": [program("true")], "limit": math.nan},
    ],
)
def test_a_race_that_cannot_be_run_is_refused(given):
    with pytest.raises(Refusal, match=r" must .*, got .*: "):
        Race(**given)


def test_nothing_is_left_open():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(program("true"))
        with pytest.raises(Failure):
            programs.finish(program("false"))
    assert len(os.listdir("/proc/self/fd")) == before
    assert not [
        name for name in os.listdir(tempfile.gettempdir()) if name.startswith("scalelab-run")
    ]


def test_three_slow_commands_get_as_many_turns_as_their_intervals_take(monkeypatch):
    """Two intervals that hold together take seven turns; after six nothing could be told."""
    monkeypatch.setattr(Race, "_timed", lambda race, place: (1.0, 2.0, 3.0)[place])
    monkeypatch.setattr(Race, "_warm", lambda *_: None)
    race = Race([program(line) for line in ("true a", "true b", "true c")])
    race._runs = [[SimpleNamespace(fault="", user=0.0, system=0.0)] * 9 for _ in range(3)]
    assert [beside.says for beside in race.run(budget=1e-9).besides] == ["slower", "slower"]
    assert len(race.turns) == 7
