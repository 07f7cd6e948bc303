"""Ctrl-C while processes start: later for this one, never for them, and all as it was afterwards."""

import signal
import subprocess
import sys
import threading

import pytest

from scalelab.measure.ranks import ctrl_c


def state():
    return signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_what_comes_meanwhile_is_heard_afterwards():
    before, done = state(), []

    def start():
        with ctrl_c.held():
            signal.raise_signal(signal.SIGINT)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["started"]
    assert state() == before


def test_an_error_goes_first_and_restores_as_well():
    before = state()
    with pytest.raises(ValueError, match="no memory"), ctrl_c.held():
        raise ValueError("no memory")
    assert state() == before


def test_what_is_started_never_hears_it():
    script = "import os, signal; signal.raise_signal(signal.SIGINT); print('still here')"
    with ctrl_c.held():
        found = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
    assert (found.stdout, found.stderr) == ("still here\n", "")


def test_whoever_ignores_it_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ctrl_c.held():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_may_start_processes_too():
    before, done = state(), []

    def start():
        with ctrl_c.held():
            done.append("started")

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert done == ["started"]
    assert state() == before
