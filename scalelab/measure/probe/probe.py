"""The roofs of this machine, measured: rates per number format, bandwidths per memory level, launches.

All of it is in one Recording, which `roofs` reads. What runs is in `workbench`; when it counts as
settled, as undisturbed or as another level, in `sustained`, `quiet` and `levels`.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from scalelab.measure.host.machine import this_machine
from scalelab.measure.probe import levels, note, quiet, sustained, workbench
from scalelab.measure.probe.part import FULL, QUICK, Effort, Taking
from scalelab.measure.ranks import torchrun
from scalelab.measure.timing import cuda, devices, timing
from scalelab.records import Recording
from scalelab.refusal import Refusal
from scalelab.units import text

_TITLE = "The roofs of this machine"
_Report = Callable[[int, int, str], object]
_Keep = Callable[[Recording], object]


def probe(
    *,
    quick: bool = False,
    device: str = "auto",
    report: _Report | None = None,
    keep: _Keep | None = None,
) -> Recording:
    """Measure the roofs of "cpu", "cuda" or, by default, the GPU if there is one.

    A quick look takes about 10 s, otherwise minutes: products run until the machine is as warm as
    it gets. `report(done, total, what)` is called before each part, and at the end; with it, once
    there is something to keep, `keep(recording)`. Section 3.7.
    """
    if torchrun.inside():
        raise Refusal(
            f"probe must have its machine to itself, got {torchrun.sizes()[1]} ranks of a torchrun: "
            "start it without torchrun, once on each node"
        )
    return take(workbench.pick(device), QUICK if quick else FULL, report, keep)


def take(
    bench: workbench.Workbench,
    plan: Effort,
    report: _Report | None = None,
    keep: _Keep | None = None,
    *,
    waited: Callable[[], float | None] = quiet.waited,
    clock: devices.Clock = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
) -> Recording:
    """Do as `probe`, with this bench and plan."""
    taking = Taking(bench, plan, this_machine(), waited, clock, sleep)
    each = len(bench.products) + plan.finalists
    stages = [
        (1, _launches(taking)),
        (2 * len(bench.sizes()), _sweeps(taking)),
        *((each, _products(taking, name)) for name in bench.formats),
        (2, _memory_again(taking)),
    ]
    done, total = 0, sum(parts for parts, _ in stages)
    report, keep = report or (lambda *_: None), keep or (lambda _: None)
    with timing.seeds(0):
        for parts, stage in stages:
            for step, what in enumerate(stage):
                report(done + step, total, what)
                if taking.samples:
                    missing = f"Ended after {done + step} of {total} parts: the others are missing."
                    keep(Recording(_TITLE, tuple(taking.samples), missing))
            done += parts
    report(total, total, "done")
    return Recording(_TITLE, tuple(taking.samples), note.summary(taking))


# Each stage yields what it does next, before it does it.


def _launches(taking):
    """Time what an operation costs before it does any work."""
    yield "launch"
    run, device, budget = taking.bench.nothing(), taking.bench.device, taking.plan.survey
    if not hasattr(device, "captured"):
        taking.part(lambda: {"launch": taking.timed(run, "launch", budget)})
        return

    def trip():
        run()
        device.synchronize()

    def launches():
        clocks = cuda.measure(run, label="launch", budget=budget, clock=taking.clock, device=device)
        host = devices.Processor(taking.clock)
        samples = {"launch": clocks.device, "replay": clocks.graph}
        samples["round trip"] = taking.timed(trip, "round trip", budget, device=host)
        return {what: sample for what, sample in samples.items() if sample}

    taking.part(launches)


def _sweeps(taking):
    """Time copy and triad over every size of working set, and name the level each lives in."""
    bench, first = taking.bench, len(taking.samples)
    for kind in workbench.ARRAYS:
        for size in bench.sizes():
            yield (label := f"{kind} of {text(size, 'B', binary=True)}")
            _sweep(taking, kind, size, label)
    if not bench.stated:
        seen = note.falls(taking.samples)
        for k, sample in enumerate(taking.samples[first:], start=first):
            level = levels.between_falls(sample.given["size"], seen, bench.last)
            taking.samples[k] = replace(sample, given=sample.given | {"level": level})


def _memory_again(taking):
    """Sweep the largest sets once more: whoever shares this memory's bandwidth comes and goes."""
    for kind in workbench.ARRAYS:
        size = taking.bench.sizes()[-1]
        yield (label := f"{kind} of {text(size, 'B', binary=True)}, again")
        _sweep(taking, kind, size, label)


def _sweep(taking, kind, size, label):
    """Take one sweep."""
    bench, budget = taking.bench, taking.plan.sweep
    run, moved = bench.sweep(kind, size)
    level = levels.level(size, workbench.ARRAYS[kind], bench.stated, bench.last)
    given = {"format": "fp32", "size": size, "bytes": moved, "level": level}
    if kind == "triad":
        given["flops"] = moved // 6  # of three numbers, one is multiplied and added to another
    taking.part(lambda: {kind: taking.timed(run, label, budget, captured=True)}, **given)


def _products(taking, name):
    """Survey the sizes of one number format, then hold the fastest."""
    bench, plan = taking.bench, taking.plan
    rates: dict[int, float] = {}
    for size in bench.products:
        yield (label := f"{name} product of {size}")
        fits = 3 * 8 * size**2 <= bench.memory
        if fits and sustained.affordable(size, rates, plan.longest):
            try:
                rates[size] = _product(taking, name, size, label, "survey")
            except (RuntimeError, TypeError, AttributeError):
                # No such product in this build of PyTorch, on this device, or of this size.
                continue
    for size in sustained.finalists(rates, plan.finalists):
        yield (label := f"{name} product of {size}, sustained")
        _product(taking, name, size, label, "sustained")


def _product(taking, name, size, label, phase):
    """Take one product; return its rate."""
    bench, plan, flops = taking.bench, taking.plan, 2 * size**3
    given = {"format": name, "size": size, "flops": flops, "phase": phase}
    budget = plan.hold if phase == "sustained" else plan.survey
    with bench.product(name, size) as run:
        if phase == "sustained":
            block, count = taking.block(run, budget, bench.device)
            heat = sustained.heat(
                lambda: bench.device.elapsed(block) / count,
                0 if taking.warm else plan.soak,
                plan.window,
                plan.most,
                taking.clock,
            )
            taking.warm = True
            given |= {"burst": heat.burst, "heated": heat.seconds, "steady": heat.steady}
        measured = taking.part(lambda: {"product": taking.timed(run, label, budget)}, **given)
    return flops / measured["product"].median
