"""One function on a GPU by every clock that sees it: the device's, the caller's, and without launches.

The device's clock says what the work takes, the caller's what waiting for it takes. Replayed from
a CUDA graph, the same work needs one launch for all of it: what then goes away was launching.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scalelab.arguments import shown
from scalelab.measure.timing import devices, rounds, stats
from scalelab.records import Recording, Sample
from scalelab.refusal import Refusal
from scalelab.units import text

# A difference between two clocks that is worth a sentence.
_TELLING = 0.1


@dataclass(frozen=True)
class Clocks:
    """What one call takes; the k-th repetitions of all samples are one round."""

    device: Sample  # between two events on the stream
    host: Sample  # from the call until the device has nothing left to do
    graph: Sample | None  # between two events, replayed from a CUDA graph
    advice: tuple[str, ...]  # what the clocks say of each other

    @property
    def overhead(self) -> float:
        """Seconds of each call in which the caller waits and the device does not work."""
        clocks = [one.median for one in (self.device, self.graph) if one]
        return self.host.median - min(clocks)

    @property
    def recording(self) -> Recording:
        """The samples as one record that can be saved."""
        samples = tuple(filter(None, (self.device, self.host, self.graph)))
        return Recording(self.device.label, samples, " ".join(self.advice))


def measure(
    function: Callable[[], object],
    *,
    label: str = "",
    budget: float = 1.0,
    precision: float = 0.02,
    clock: devices.Clock = time.perf_counter,
    given: Mapping[str, float | str | bool] | None = None,
    device: str | devices.Stopwatch = "cuda",
    graph: bool = True,
) -> Clocks:
    """Time `function()` on a GPU until all clocks know its median within `precision`.

    Calls follow each other and find what the last one left in the cache; with
    `device=devices.Cuda(cold=True)`, each is alone and finds nothing. The function should start
    work on the current stream only; one that waits for the GPU needs `graph=False`. Section 3.7.
    """
    budget, precision = rounds.checked(function, budget, precision)
    asked, device = device, devices.pick(device)
    if not hasattr(device, "captured"):
        raise Refusal(
            f"device must be a GPU, got {shown(asked)}: time the processor with timing.measure"
        )
    inner = rounds.settle(rounds.reader(function, device), device.shortest, budget)
    label = label or rounds.named(function)

    def calls() -> None:
        for _ in range(inner):
            function()

    readings = {
        "device": lambda: device.elapsed(calls),
        "host": lambda: _waited(device, calls, clock),
    }
    refused = ""
    if graph:
        try:
            replay = device.captured(calls)
            readings["graph"] = lambda: device.elapsed(replay)
        except RuntimeError as error:
            refused = str(error) or type(error).__name__

    def known(turns: list[list[float]]) -> str:
        off = max(map(stats.margin, zip(*turns, strict=True)))
        return (
            f"precise: all medians are known within {text(off, '%', 2)}" if off <= precision else ""
        )

    turns, stopped = rounds.repeat(
        lambda: [read() / inner for read in readings.values()], known, budget, clock
    )
    samples = {
        name: rounds.sample(f"{label}, {name}", seconds, inner, stopped, precision, given)
        for name, seconds in zip(readings, zip(*turns, strict=True), strict=True)
    }
    return Clocks(
        samples["device"],
        samples["host"],
        samples.get("graph"),
        tuple(_advice(**samples, refused=refused, alone=not device.shortest)),
    )


def _waited(device, calls, clock):
    """Return the caller's seconds from an idle device to an idle device."""
    device.prepare()
    device.synchronize()
    start = clock()
    calls()
    device.synchronize()
    return clock() - start


def _advice(device, host, graph=None, *, refused, alone):
    """Yield what the clocks say of each other, each with its remedy."""
    if refused:
        yield (
            f"No CUDA graph could be captured ({' '.join(refused.split())[:200]}), so that launching "
            "cannot be told from working. Keep waiting and copies to the host out of the function."
        )
    if graph and graph.high < (1 - _TELLING) * device.low:
        idle = 1 - graph.median / device.median
        yield (
            f"The device is idle {text(idle, '%', 2)} of the time and waits for launches. Replay a "
            "CUDA graph, fuse the kernels, or give each more to do."
        )
    if graph and graph.low > (1 + _TELLING) * device.high:
        more = graph.median / device.median - 1
        yield (
            f"Replayed, the work takes {text(more, '%', 2)} longer than launched: a graph copies by "
            "other means. Quote the device's times."
        )
    # A call waited for alone always takes longer by the caller's clock.
    if not alone and device.high < (1 - _TELLING) * host.low:
        yield (
            f"The device's clock sees {text(device.median / host.median, '%', 2)} of the caller's "
            "time: part of the work runs on another stream, or on the processor after the last "
            "launch. Quote the host's times, or keep the work on the current stream."
        )
