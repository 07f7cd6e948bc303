"""How the probe takes one part: in blocks of calls, again if it was disturbed, with all it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scalelab.measure.probe import quiet
from scalelab.measure.probe.workbench import Workbench
from scalelab.measure.timing import devices, stats, timing
from scalelab.records import Caution, Machine, Sample
from scalelab.units import text

# A reading is a block of calls, so long that a budget holds about this many.
_READINGS = 12
# Seconds: behind a call that takes as many, the launches of all but the first hide.
_LONG = 1e-4
# What is written with more figures is noise.
_FIGURES = 5


class Effort(NamedTuple):
    """How long each part may take, in seconds, and how often it may be repeated."""

    survey: float  # for each size of a product
    longest: float  # one product; sizes that take more are left out
    finalists: int  # how many sizes of a format are sustained: ...
    soak: float  # ... heated for so long, if it is the first ...
    window: float  # ... and on, until one such window is like the one before ...
    most: float  # ... or so much is over ...
    hold: float  # ... and then measured
    sweep: float  # for each working set
    tries: int
    pause: float  # between two tries


QUICK = Effort(0.06, 0.1, 1, 0.2, 0.1, 0.4, 0.3, 0.05, 2, 0.0)
# Laptops hold their boost for about half a minute.
FULL = Effort(0.2, 1.0, 3, 30.0, 1.5, 60.0, 3.0, 0.2, 5, 2.0)


@dataclass
class Taking:
    """Where the parts run and how they are judged; `samples` holds those taken so far."""

    bench: Workbench
    plan: Effort
    machine: Machine
    waited: Callable[[], float | None]
    clock: devices.Clock
    sleep: Callable[[float], object]
    samples: list[Sample] = field(default_factory=list)
    parts: int = 0
    met: int = 0  # of them disturbed at least once ...
    disturbed: int = 0  # ... and to the end
    warm: bool = False  # the machine has worked for so long that no boost is left
    blind: bool = False  # this system does not say whether anything was disturbed

    def part(
        self, measure: Callable[[], Mapping[str, Sample]], **given: float | str | bool | None
    ) -> dict[str, Sample]:
        """Call measure() -> {what: Sample}, until undisturbed, and keep what the calmest try gave."""
        best = quiet.undisturbed(
            measure,
            tries=self.plan.tries,
            pause=self.plan.pause,
            waited=self.waited,
            clock=self.clock,
            sleep=self.sleep,
        )
        self.parts += 1
        self.met += best.tries > 1 or best.disturbed
        self.disturbed += best.disturbed
        self.blind |= best.waited is None
        given |= {"device": self.bench.name, "threads": self.bench.threads, "waited": best.waited}
        calmest = {
            what: replace(
                sample,
                seconds=tuple(map(_rounded, sample.seconds)),
                machine=self.machine,
                advice=(*sample.advice, *_advice(best, given)),
                given={"what": what}
                | {name: _rounded(value) for name, value in given.items() if value is not None},
            )
            for what, sample in best.result.items()
        }
        self.samples += calmest.values()
        return calmest

    def timed(
        self,
        run: Callable[[], object],
        label: str,
        budget: float,
        *,
        device: devices.Stopwatch | None = None,
        captured: bool = False,
    ) -> Sample:
        """Return the Sample of one call; `captured`, a GPU replays many short ones with one launch.

        A long one hides its launch by itself, and a graph may run a large copy by slower means.
        """
        device = device or self.bench.device
        block, count = self.block(run, budget, device)
        if captured and hasattr(device, "captured") and budget / _READINGS / count < _LONG:
            block = device.captured(block)
        sample = timing.measure(
            block, label=label, budget=budget, precision=0.01, clock=self.clock, device=device
        )
        seconds = tuple(s / count for s in sample.seconds)
        # The calm of the machine is judged by `quiet`; 1% was only the aim.
        advice = stats.advice(seconds)
        return replace(sample, seconds=seconds, inner=sample.inner * count, advice=advice)

    def block(
        self, run: Callable[[], object], budget: float, device: devices.Stopwatch
    ) -> tuple[Callable[[], None], int]:
        """Return what makes one reading, and how many calls that are."""
        device.elapsed(run)  # the first is unlike all others
        once = device.elapsed(run)
        count = max(1, int(budget / _READINGS / once)) if once > 0 else 1

        def block() -> None:
            for _ in range(count):
                run()

        return block, count


def _advice(best, given):
    """Yield what is wrong with a part, each with its remedy."""
    if best.disturbed:
        yield Caution(
            "disturbed",
            f"Other programs kept this one waiting for {text(best.waited, '%', 2)} of the time, the "
            f"least of {best.tries} tries. Close them, then repeat.",
        )
    if not given.get("steady", True):
        yield Caution(
            "unsteady",
            f"After {text(given['heated'], 's')} of this work the machine still became slower: it "
            "may hold less than this. Cool it, or let it work for longer.",
        )


def _rounded(value):
    return float(f"{value:.{_FIGURES}g}") if isinstance(value, float) else value
