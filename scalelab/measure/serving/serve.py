"""A real service to put under load: HTTP on this machine, in a process of its own (Section 3.4)."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING
from urllib.request import ProxyHandler, build_opener

from scalelab.arguments import real, shown, whole
from scalelab.refusal import Failure, Refusal

if TYPE_CHECKING:
    import torch

_HOST = "127.0.0.1"
_OPEN = build_opener(ProxyHandler({})).open  # this machine needs no proxy


class ServiceError(Failure):
    """The service did not start, or does not answer."""


class Service:
    """A running service: one process that answers one request at a time; the others queue."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self._process, self.host, self.port = process, _HOST, port

    def busy(self) -> list[float]:
        """Seconds that each request since the last call kept the server busy: the service times."""
        return json.loads(self._get("times"))

    def pause(self, after: float, seconds: float) -> None:
        """Make it stop answering for some seconds, once, after some seconds: a garbage collection."""
        after = real("after", after, "it is how long to wait before the pause, in seconds", 0)
        seconds = real("seconds", seconds, "it is how long nothing is answered", 0, 60)
        self._get(f"pause/{after}/{seconds}")

    def stop(self) -> None:
        """End the process; a second time does nothing."""
        stdin, stdout = _pipes(self._process)
        if not stdin.closed:
            stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _get(self, path):
        try:
            with _OPEN(f"http://{self.host}:{self.port}/{path}", timeout=60) as reply:
                return reply.read()
        except OSError as cause:
            raise ServiceError(f"the service must answer, got {cause}: start another one") from None


def start(
    make: Callable[..., Callable[[], object]], *, limit: float = 60.0, **arguments: object
) -> Service:
    """Start a service whose every request calls what `make(**arguments)` returns.

    `make` must be a function of an importable module, and is called in the new process. The service
    ends with `stop()`, with its `with` block, or with this program, whatever becomes of it. Section 3.4.
    """
    name = _named(make)
    limit = real("limit", limit, "it is how long the start may take, in seconds", 0, above=True)
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "scalelab.measure.serving.server", name, json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "OMP_NUM_THREADS": "1",  # a service is one thread; the client needs a core too
            },
            start_new_session=True,  # Ctrl-C is for the program; the service ends with it
        )
        stdin, stdout = _pipes(process)
        late = threading.Timer(limit, process.kill)
        late.start()
        try:
            line = stdout.readline()
        except BaseException:
            process.kill()
            raise
        finally:
            late.cancel()
        if not line:
            process.wait()
            stdin.close()
            stdout.close()
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["no answer in time"])[-1]
            raise ServiceError(
                f"{name} must start within {limit:g} s, got {shown(last)}: "
                "try make(...) here first, or raise limit"
            )
    return Service(process, int(line))


def tower(layers: int = 16, width: int = 1024) -> Callable[..., torch.Tensor]:
    """A small network: square layers of this width, a request is one vector.

    To answer one request it must read all of its weights from memory. Section 3.4.
    """
    layers = whole("layers", layers, "it counts the layers of the network", 1, 1000)
    width = whole("width", width, "it counts the numbers of a request", 1, 2**15)
    import torch

    parts: list[torch.nn.Module] = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    network = torch.nn.Sequential(*parts).eval()

    def answer(batch: int = 1) -> torch.Tensor:
        with torch.inference_mode():
            return network(torch.ones(batch, width))

    return answer


def drawn(seconds: float = 0.010, seed: int = 0) -> Callable[[], None]:
    """A stand-in that computes nothing: each request keeps its server for a time drawn at random.

    The times are exponential. Two such servers on one machine do not slow each other. Section 3.4.
    """
    seconds = real("seconds", seconds, "it is the mean time of a request, in seconds", 0, 60)
    import time

    import numpy as np

    rng = np.random.default_rng(whole("seed", seed, "it starts the random numbers", 0))
    return lambda: time.sleep(rng.exponential(seconds))


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """Return standard input and output of a process that was started with pipes for both."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _named(make: Callable[..., object]) -> str:
    """Return "module:function", or say that the new process could not find it."""
    module, name = getattr(make, "__module__", None), getattr(make, "__qualname__", "")
    target = module and getattr(sys.modules.get(module) or importlib, name, None)
    if target is not make or module == "__main__":
        raise Refusal(
            f"make must be a function of an importable module, got {shown(make)}: "
            "put it into a file of its own and import it"
        )
    return f"{module}:{name}"
