"""A real service in a process of its own: it answers in turn, stops on request, and outlives nobody."""

import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from scalelab.measure.serving import serve
from tests.measure import served
from tests.notebooks import ROOT

pytestmark = pytest.mark.turns(3)


@pytest.fixture(scope="module")
def service():
    with serve.start(served.sleeper, seconds=0.002) as running:
        yield running


def gone(pid):
    """Whether a process has ended, within some seconds."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_it_tells_how_long_each_request_kept_it_busy(service):
    service.busy()
    for _ in range(3):
        service._get("")
    busy = service.busy()
    assert len(busy) == 3
    assert min(busy) >= 0.002
    assert service.busy() == []  # asked before


def test_it_stops_answering_once_when_told_to(service):
    service.busy()
    service.pause(after=0, seconds=0.3)
    for _ in range(3):
        service._get("")
    first, *others = service.busy()
    assert first >= 0.3
    assert min(others) < 0.3


def test_a_small_network_answers_and_leaves_the_threads_alone():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    answer = serve.tower(layers=2, width=8)
    assert answer().shape == (1, 8)
    assert answer(batch=3).shape == (3, 8)
    assert torch.get_num_threads() == before


def test_a_client_who_has_hung_up_costs_no_service_if_the_server_heeds_it(service):
    service.busy()
    service.pause(after=0, seconds=0.4)
    with socket.create_connection((service.host, service.port)) as first:
        first.sendall(b"GET / HTTP/1.0\r\n\r\n")
        for path in ("heed", ""):
            with socket.create_connection((service.host, service.port)) as one:
                one.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        assert first.recv(1024).startswith(b"HTTP/1.0 200 ")
    service._get("heed")
    assert (
        len(service.busy()) == 3
    )  # the first, the one that heeds nothing, and the one that stayed


def test_drawn_times_are_exponential_and_the_same_for_a_seed(monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    for seed in (1, 1, 2):
        answer = serve.drawn(seconds=0.01, seed=seed)
        for _ in range(1000):
            answer()
    first, same, other = np.reshape(slept, (3, 1000))
    assert (first == same).all()
    assert (first != other).any()
    assert first.mean() == pytest.approx(0.01, rel=0.1)
    assert (first > 0.01 * np.log(100)).mean() == pytest.approx(0.01, abs=0.01)


def test_a_service_has_one_thread():
    with serve.start(served.counts_threads) as running:
        running._get("")
        assert running.busy()[0] < 5  # a second thread would make it sleep for longer


def test_stopping_ends_the_process_and_a_second_time_does_nothing():
    running = serve.start(served.sleeper)
    pid = running._process.pid
    running.stop()
    running.stop()
    assert gone(pid)
    with pytest.raises(serve.ServiceError, match=r"must answer, got .*: start another one"):
        running.busy()


def test_it_does_not_outlive_a_program_that_dies():
    code = (
        "import os; from scalelab.measure.serving import serve; from tests.measure import served; "
        "s = serve.start(served.sleeper); print(s._process.pid, flush=True); os._exit(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert gone(int(done.stdout))


def test_what_keeps_it_from_starting_is_named():
    with pytest.raises(serve.ServiceError, match=r"must start within 60 s, got .*no weights"):
        serve.start(served.broken)


def test_a_start_that_takes_too_long_is_given_up():
    with pytest.raises(serve.ServiceError, match=r"must start within 0.5 s, got .*raise limit"):
        serve.start(served.slow_to_load, limit=0.5)


def test_a_function_that_a_new_process_cannot_find_is_refused():
    for make in (lambda: None, 3, served):
        with pytest.raises(ValueError, match="make must be a function of an importable module"):
            serve.start(make)


@pytest.mark.parametrize("wrong", [{"after": -1, "seconds": 1}, {"after": 0, "seconds": 1e9}])
def test_a_pause_that_makes_no_sense_is_refused(service, wrong):
    with pytest.raises(ValueError, match=r"(after|seconds) must be .*, got .*: it is how long"):
        service.pause(**wrong)
