"""A program runs to its end, or is ended with all that it started."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scalelab.measure.commands import process
from tests.cli.command import ENVIRONMENT

pytestmark = pytest.mark.turns(3)

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only there a mark is seen")
# What says who it is, and stays whatever it is asked.
STUBBORN = "trap '' TERM INT HUP; echo $$ >> {pids}; while :; do sleep 0.2; done"


def until(true, within=60):
    """Wait for something to become true; the limit is for what never does."""
    deadline = time.monotonic() + within
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pids):
    """The processes of a file that still run: a zombie does not."""
    found = []
    for pid in Path(pids).read_text().split():
        with contextlib.suppress(OSError, IndexError):
            state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
            found += [pid] if state != "Z" else []
    return found


def sh(script, folder, **how):
    return process.run(["sh", "-c", script], folder / "log", **how)


def test_output_and_errors_are_in_the_log_in_their_order(tmp_path):
    ended = sh("echo one; echo two >&2; echo three; exit 7", tmp_path)
    assert (ended.code, ended.cut, ended.left) == (7, "", 0)
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"


def test_it_reads_nothing_and_is_told_that_it_is_measured(tmp_path):
    sh("cat; echo $SCALELAB_RUN", tmp_path)
    assert len((tmp_path / "log").read_text().strip(":\n")) == 32


def test_the_seconds_are_those_of_its_clock(tmp_path):
    """Of a program that waits for a second, whatever else the machine does."""
    assert sh("sleep 1", tmp_path).seconds >= 1


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["/no/such/program"], "No such file or directory"),
        (["/dev/null"], "Permission denied"),
        (["sh", "x" * 200_000], "Argument list too long"),
    ],
)
def test_what_cannot_be_started_says_why(words, cause, tmp_path):
    assert process.run(words, tmp_path / "log").unstarted == cause


def test_a_signal_is_a_negative_code(tmp_path):
    assert sh("kill -SEGV $$", tmp_path).code == -signal.SIGSEGV


def test_a_timeout_ends_all_that_it_started(tmp_path, monkeypatch):
    """A child that ignores what it is asked, too."""
    monkeypatch.setattr(process, "GRACE", 0.2)
    pids = tmp_path / "pids"
    stubborn = STUBBORN.format(pids=pids)
    ended = sh(f"({stubborn}) & {stubborn}", tmp_path, timeout=4)
    assert ended.cut == "timeout"
    assert ended.seconds >= 4
    assert len(pids.read_text().split()) == 2
    assert alive(pids) == []


@LINUX
def test_what_has_left_the_group_is_ended_too(tmp_path, monkeypatch):
    """As the ranks of torchrun do, each the head of its own session."""
    monkeypatch.setattr(process, "GRACE", 0.2)
    pids = tmp_path / "pids"
    script = f"setsid sh -c 'echo $$ >> {pids}; sleep 600' & sleep 600"
    assert sh(script, tmp_path, timeout=4).cut == "timeout"
    assert len(pids.read_text().split()) == 1
    assert alive(pids) == []


def test_a_grandchild_that_keeps_the_output_open_does_not_hold_it_up(tmp_path, monkeypatch):
    """It would write for ten minutes into what its parent left open; it is ended and counted."""
    monkeypatch.setattr(process, "_SETTLE", 0.05)
    pids = tmp_path / "pids"
    ended = sh(f"sleep 600 & echo $! > {pids}; echo done", tmp_path)
    assert (ended.code, ended.left) == (0, 1)
    assert ended.seconds < 300
    assert alive(pids) == []
    assert (tmp_path / "log").read_text() == "done\n"


def test_what_ends_a_little_later_was_not_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_SETTLE", 60)
    assert sh("sleep 0.3 & echo done", tmp_path).left == 0


def test_a_program_that_writes_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "MOST_OUTPUT", 2**20)
    assert process.run(["yes"], tmp_path / "log").cut == "output"


def test_no_process_of_ours_stays(tmp_path):
    """Nor a zombie: neither of the program, nor of its guard."""
    own = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = own.read_text()
    sh("true", tmp_path)
    assert own.read_text() == before


def started(script, folder):
    """Start a process of its own that runs a program."""
    code = f"from scalelab.measure.commands import process\nprocess.run(['sh', '-c', {script!r}], 'log')"
    return subprocess.Popen(
        [sys.executable, "-c", code], env=ENVIRONMENT, cwd=folder, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_then_us(number, tmp_path):
    pids = tmp_path / "pids"
    running = started(f"sleep 600 & echo $$ $! > {pids}; wait", tmp_path)
    until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == -number
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert alive(pids) == []


def test_a_signal_that_comes_while_the_program_starts_ends_it(tmp_path, monkeypatch):
    """Ours arrives before anything is ready to pass it on."""
    start = subprocess.Popen

    def interrupted(words, **how):
        child = start(words, **how)
        if words[-1] == "sleep 600":
            os.kill(os.getpid(), signal.SIGINT)
        return child

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sh("sleep 600", tmp_path)


def test_a_program_does_not_outlive_who_is_killed(tmp_path):
    pids = tmp_path / "pids"
    running = started(f"sleep 600 & echo $$ $! > {pids}; wait", tmp_path)
    until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    running.kill()
    running.communicate(timeout=60)
    until(lambda: alive(pids) == [])


def test_a_thread_may_run_a_program(tmp_path):
    """Only the main one hears signals; the others leave them alone."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(sh, "exit 4", tmp_path).result().code == 4


@LINUX
def test_a_program_ends_though_we_are_killed_before_its_guard_knows_it(tmp_path):
    code = f"""
import os, signal
from scalelab.measure.commands import process
def killed(pid, mark):
    while not os.path.exists("pids"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
process._Family = killed
process.run(["sh", "-c", "echo $$ > mine; mv mine pids; exec sleep 600"], {str(tmp_path / "log")!r})
"""
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, cwd=tmp_path, timeout=60)
    assert done.returncode == -signal.SIGKILL
    until(lambda: not alive(tmp_path / "pids"))
