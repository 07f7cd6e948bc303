"""`scalelab time` as somebody types it: in a pipe, in a real terminal, and stopped in the middle."""

import contextlib
import csv
import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from scalelab import records
from scalelab.measure.timing import compare
from tests.cli.command import ENVIRONMENT, MODULE, process, scalelab
from tests.measure.timing.test_programs import alive, gone

pytestmark = pytest.mark.turns(3)


@contextlib.contextmanager
def terminal(*arguments, **environment):
    """Start a command in a terminal of its own; give the process, what types, and what reads till the end."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    running = subprocess.Popen(
        [*MODULE, *map(str, arguments)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**ENVIRONMENT, "TERM": "xterm", **environment},
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    seen = b""

    def until(sign=None, patience=60):
        nonlocal seen
        end = time.monotonic() + patience
        while time.monotonic() < end and not (sign and sign in seen):
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    some = os.read(ours, 4096)
                except OSError:  # Linux says so when the other end is closed
                    some = b""
                if not some:
                    break
                seen += some
        return seen.decode()

    try:
        yield running, lambda text: os.write(ours, text), until
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def test_one_command_has_its_median_with_an_interval_and_where_that_is_from():
    done = scalelab("time", "true", "--runs", 8)
    title, heads, row, stamp, said, *_ = done.stdout.splitlines()
    assert title == "From start to end"
    assert heads.split() == ["command", "median", "interval", "fastest", "user", "system", "runs"]
    assert re.fullmatch(r" *true  +\S+ (.?s)  +\S+ \1 to \S+ \1  +\S+ \1  +.* 8", row)
    assert stamp.startswith("measured here · ")
    assert said == "8 runs, as asked for"
    assert (done.returncode, done.stderr) == (0, "")


def test_two_commands_end_in_a_line_that_compares_them():
    done = scalelab(
        "time", "sleep 0.4", "sleep 0.001", "-r", 7, "-w", 0, "-n", "long", "-n", "short"
    )
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"short is faster: \S+ times as fast \(\S+ to \S+\)", last)
    assert "\x1b" not in done.stdout


def test_the_record_holds_what_the_table_says_and_can_be_judged_again(tmp_path):
    kept = tmp_path / "two.json"
    asked = ("time", "sleep 0.3", "true", "--runs", 6, "--warmup", 0)
    done = scalelab(*asked, "--json", "--out", kept)
    assert kept.read_text() == done.stdout
    recording = records.from_json(done.stdout)
    assert [one.given["command"] for one in recording.samples] == ["sleep 0.3", "true"]
    assert [len(one.seconds) for one in recording.samples] == [6, 6]
    assert compare.judge(recording.samples)[0].ratio < 1
    assert recording.note == "6 runs of each, as asked for"


def test_a_table_for_spreadsheets_has_a_row_for_each_run(tmp_path):
    scalelab("time", "true", "--runs", 3, "--out", tmp_path / "runs.csv")
    rows = list(csv.DictReader((tmp_path / "runs.csv").read_text().splitlines()))
    assert [(row["run"], json.loads(row["command"])) for row in rows] == [
        (n, "true") for n in "123"
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["false"], "false ended with exit code 1: mend it, or say --ignore-failure"),
        (["sh -c 'kill -9 $$'"], "was killed by SIGKILL: mend it"),
        (["sleep 9", "--limit", "0.2 s"], "sleep 9 took longer than 200 ms: mend it"),
        (["true", "--setup", "false"], "--setup: false ended with exit code 1: mend it"),
        (["true", "--prepare", "false"], "--prepare: false ended with exit code 1: mend it"),
        (["true", "false", "--runs", "3"], "false ended with exit code 1"),
        (["-i", "--setup", "false", "true"], "--setup: false ended with exit code 1: mend it"),
        (["test *.py = x"], "if * is meant for a shell, say --shell; else mend it"),
    ],
)
def test_a_command_that_fails_is_one_sentence_and_exit_code_1(asked, said):
    done = scalelab("time", *asked)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("scalelab: ")
    assert said in line


def test_what_a_failing_command_said_follows():
    done = scalelab("time", "ls /no-such-folder")
    assert len(done.stderr.splitlines()) == 2
    assert "No such file" in done.stderr


def test_failures_may_be_ignored_and_are_told():
    done = scalelab("time", "false", "-i", "--runs", 6)
    assert done.returncode == 0
    assert "6 of 6 runs failed, the first of them ended with exit code 1" in done.stdout


@pytest.mark.parametrize(
    "asked",
    [
        ["no-such-program -x"],
        ["/"],
        ["true", "no-such-program"],
        ["true", "--prepare", "no-such-program"],
        ["true", "--setup", "no-such-program", "-i"],
        ["true", "--precision", "2"],
        ["true", "--out", "-"],
        ["true", "--out", "x.xlsx"],
        ["true", "true", "-n", "a", "-n", "a"],
        ["true", "--runs", "0"],
        ["true", "--runs", "-3"],
        ["true", "--runs", "many"],
        ["true", "--runs", "1000000001"],
        ["true", "--warmup", "-1"],
        ["true", "--budget", "0"],
        ["true", "--budget", "soon"],
        ["true", "--budget", "5 parsecs"],
        ["true", "--precision", "-2%"],
        ["true", "--precision", "nan"],
        ["true", "--precision", "inf"],
        ["true", "--limit", "0"],
        ["true", "--limit", ""],
        ["true", "--name", "a", "--name", "b"],
        ["true", "-p", "true", "-p", "true"],
        ["true", "--prepare", ""],
        ["true", "--setup", "'"],
        ["true", "--out", "/no/such/folder/here.json"],
        ["true | wc"],
        ["'"],
        [""],
        [],
        ["--bogus"],
    ],
    ids=repr,
)
def test_a_mistake_is_one_sentence_and_exit_code_2_before_anything_runs(asked):
    done = scalelab("time", *asked)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r"scalelab: .+: .+", line)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["sleep", "1"], "if it is a word of one command, put all of it in quotes: 'sleep 1'"),
        (["python", "-c", "pass"], 'write it like "python -c ..."'),
        (["true", "-s", "nosuch"], "--setup: nosuch was not found among the programs"),
        (["true", "--precision", "2"], "--precision must be above 0% and at most 100%, got '2'"),
        (["true", "--runz", "3"], "scalelab time has no option '--runz': did you mean --runs?"),
    ],
)
def test_a_mistake_says_what_to_type_instead(asked, said):
    done = scalelab("time", *asked)
    assert done.returncode == 2
    assert said in done.stderr


def test_times_are_read_in_every_way_that_a_table_may_have_them():
    how = ("--budget", "1:00:00", "--limit", "1h 30m", "-r", 1, "-w", 0)
    assert scalelab("time", "true", *how).returncode == 0


def test_a_run_that_fails_later_is_no_interruption(tmp_path):
    """Eight starts are good: the seventh turn of the timed ones is not."""
    count, kept = tmp_path / "count", tmp_path / "kept.json"
    line = f"echo >> {count}; test $(wc -l < {count}) -lt 5"
    done = scalelab("time", "--shell", line, "-w", 0, "-r", 9, "--out", kept)
    assert done.returncode == 1
    assert "4 runs · a run failed\n" in done.stdout
    (sample,) = records.from_json(kept.read_text()).samples
    assert (len(sample.seconds), sample.stopped) == (4, "a run failed")


@pytest.mark.parametrize("content", ["precious\n", "a,b\n1,2\n", '{"record": "Machine"}', "\xff"])
@pytest.mark.parametrize("name", ["mine.py", "p.csv", "p.json"])
def test_a_file_of_something_else_is_left_alone(content, name, tmp_path):
    file = tmp_path / name
    file.write_text(content)
    done = scalelab("time", "true", "-r", 2, "--out", file)
    assert done.returncode == 2
    assert "must be a file that is not there yet or what `scalelab time` wrote" in done.stderr
    assert file.read_text() == content


def test_a_record_of_this_command_and_an_empty_file_are_written_anew(tmp_path):
    file = tmp_path / "t.json"
    file.touch()
    for runs in (2, 3):
        assert scalelab("time", "true", "-r", runs, "-w", 0, "--out", file).returncode == 0
    assert len(records.from_json(file.read_text()).samples[0].seconds) == 3


def test_of_a_single_run_there_is_no_interval():
    row = scalelab("time", "true", "-r", 1, "-w", 0).stdout.splitlines()[2]
    assert row.split()[3] == "-"


def test_a_command_that_stands_twice_has_two_names():
    done = scalelab("time", "true", "true ", "-r", 1, "-w", 0)
    assert "\ntrue (2): cannot tell" in done.stdout


def test_what_a_failing_command_says_does_not_steer_the_terminal():
    done = scalelab("time", "--shell", r"printf '\033]0;title\007\033[31mred\a' >&2; exit 1")
    assert done.stderr.endswith("\nred?\n")


def test_medians_that_say_the_other_than_the_turns_are_explained(monkeypatch):
    monkeypatch.setattr(
        compare.Compared, "besides", (compare.Beside("true (2)", "true", 1e6, 1e6, 2e6),)
    )
    done = scalelab("time", "true", "true", "-r", 1, "-w", 0)
    assert ", turn by turn: the medians above are of all turns" in done.stdout


def test_a_shell_reads_a_command_only_if_asked_and_the_known_letter_says_no(tmp_path):
    file = tmp_path / "x"
    assert scalelab("time", f"echo $((1+1)) > {file}", "--shell", "-r", 1).returncode == 0
    assert file.read_text() == "2\n"
    assert scalelab("time", "echo '*'", "-N", "-r", 1).returncode == 0


def test_setup_runs_once_and_may_make_what_is_timed(tmp_path):
    made = tmp_path / "made"
    setup = f"cp /bin/true {made}"
    assert scalelab("time", str(made), "--setup", setup, "-r", 2).returncode == 0


def test_a_terminal_shows_progress_and_colour_and_a_pipe_neither():
    asked = ("time", "sleep 0.3", "sleep 0.001", "--runs", 7, "--warmup", 0)
    with terminal(*asked) as (running, _, until):
        seen = until()
        assert running.wait(20) == 0
    assert re.search(r"2 commands by turns: +\d+%", seen)
    assert re.search(r"\x1b\[32msleep 0.001 is faster: .*\x1b\[0m", seen)
    done = process(*asked)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "sleep 0.001 is faster: " in done.stdout


@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colour_gets_none(wish):
    asked = ("time", "true", "true", "--runs", 2, "--warmup", 0, "-q")
    with terminal(*asked, **wish) as (running, _, until):
        seen = until()
        assert running.wait(20) == 0
    assert "cannot tell" in seen
    assert "\x1b[" not in seen


def test_ctrl_c_in_a_terminal_ends_the_command_and_tells_what_was_kept(tmp_path):
    kept = tmp_path / "kept.json"
    code = (
        f"import os, sys; n = sum(x.startswith('run') for x in os.listdir({str(tmp_path)!r})); "
        f"open({str(tmp_path)!r} + f'/run{{n}}', 'w').write(str(os.getpid())); "
        "n == 8 and os.execvp('sleep', ['sleep', '600'])"
    )
    command = shlex.join([sys.executable, "-c", code])
    with terminal("time", command, "-w", 0, "--precision", "0.0001%", "--out", kept) as (
        running, type_, until,
    ):  # fmt: skip
        end = time.monotonic() + 60
        while not (tmp_path / "run8").exists() and time.monotonic() < end:
            time.sleep(0.02)
        while not (number := (tmp_path / "run8").read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        assert alive(number)
        type_(b"\x03")
        seen = until()
        assert running.wait(20) == 130
    assert gone(number)
    assert f"scalelab: interrupted. {kept} holds what was measured." in seen
    assert "8 runs · interrupted" in seen
    assert "Traceback" not in seen
    assert len(records.from_json(kept.read_text()).samples[0].seconds) == 8


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whatever_ends_it_ends_the_command(which, tmp_path):
    pid = tmp_path / "pid"
    line = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"
    running = subprocess.Popen(
        [*MODULE, "time", "--shell", line],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    end = time.monotonic() + 60
    while not pid.exists() and time.monotonic() < end:
        time.sleep(0.02)
    running.send_signal(which)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (
        130,
        "",
        "scalelab: interrupted. Nothing was measured to its end, so nothing is kept.\n",
    )
    assert gone(Path(pid).read_text().strip())


def test_json_is_json_although_the_command_writes():
    done = process("time", "echo heard", "--show-output", "--json", "-r", 2, "-w", 0)
    assert json.loads(done.stdout)["record"] == "Recording"
    assert done.stderr == "heard\nheard\n"
