"""Joules that a block of code took: counted, and integrated from the power, so that one checks the other.

What no counter or sensor tells is None, never zero. The whole package and the whole GPU count,
whoever used them; nothing is subtracted for being idle.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

from scalelab.arguments import real
from scalelab.measure.energy import meters
from scalelab.measure.energy.joules import MachinePart, from_counter, integrated
from scalelab.measure.host.machine import this_machine
from scalelab.records import Stamp
from scalelab.units import text

# A counter and an integral that differ by more than this do not agree.
_AGREE = 0.05


class Meter:
    """What `meter` yields: complete once the block is over."""

    def __init__(
        self,
        sources: Sequence[meters.Sensor],
        missing: Iterable[meters.Missing],
        clock: Callable[[], float],
    ) -> None:
        self._sources, self._clock = sources, clock
        self.missing = tuple(missing)  # why this machine has no other sources
        self.machine, self.date = this_machine(), date.today().isoformat()
        self._trace: list[tuple[float, dict[str, meters.Reading]]] = []  # since when, by part
        self._turn = threading.Lock()

    def read(self) -> None:
        """Take one reading of everything, now."""
        with self._turn:
            readings: dict[str, meters.Reading] = {}
            for source in self._sources:
                readings |= source.read()
            self._trace.append((self._clock(), readings))

    @property
    def seconds(self) -> float:
        """From the first reading to the last."""
        return self._trace[-1][0] - self._trace[0][0]

    @property
    def parts(self) -> dict[str, MachinePart]:
        """Each part that had something to read: package, memory, GPU."""
        times = [moment for moment, _ in self._trace]
        wraps = {name: limit for source in self._sources for name, limit in source.wraps.items()}
        by_name = {}
        for name in self._trace[0][1]:
            readings = [readings.get(name, meters.Reading()) for _, readings in self._trace]
            by_name[name] = MachinePart(
                from_counter([r.joules for r in readings], wraps.get(name)),
                integrated(times, [r.watts for r in readings]),
            )
        return by_name

    @property
    def joules(self) -> float | None:
        """Of all parts together; None where there is none, or one of them stopped telling."""
        each = [part.joules for part in self.parts.values()]
        known = [joules for joules in each if joules is not None]
        return sum(known) if each and len(known) == len(each) else None

    @property
    def disagreement(self) -> float | None:
        """The largest between counter and integral; None where no part has both."""
        each = [p.disagreement for p in self.parts.values() if p.disagreement is not None]
        return max(each, key=abs, default=None)

    @property
    def advice(self) -> tuple[str, ...]:
        """What is wrong with these joules, or why there are none, each with a remedy."""
        lines = [f"No joules: {why.text}." for why in self.missing if not self._sources]
        silent = [name for name, part in self.parts.items() if part.joules is None]
        if silent:
            lines.append(
                f"No joules: {', '.join(silent)} did not move, or could not be read to the end. "
                "Let the block take longer."
            )
        least = max((source.least for source in self._sources), default=0)
        if self.seconds < least:
            lines.append(
                f"The block took {text(self.seconds, 's')}, and readings change too rarely for less "
                f"than {text(least, 's')}. Repeat the work inside the block."
            )
        if self.disagreement is not None and abs(self.disagreement) > _AGREE:
            lines.append(
                f"The integral of the power is {text(abs(self.disagreement), '%', 2)} "
                f"{'above' if self.disagreement > 0 else 'below'} the counter. Quote the counter, and "
                "let the block take longer or draw its power evenly."
            )
        return tuple(lines)

    @property
    def given(self) -> dict[str, float]:
        """What a Sample may be given: the joules, and nothing where there are none."""
        return {} if self.joules is None else {"joules": self.joules}

    @property
    def stamp(self) -> Stamp:
        """Where the joules come from, and what they cover."""
        note = " + ".join(self.parts) if self.joules is not None else "no joules"
        return Stamp("measured here", self.machine, self.date, note)


@contextlib.contextmanager
def meter(
    *,
    root: Path = meters.POWERCAP,
    sources: Sequence[meters.Sensor] | None = None,
    interval: float | None = 0.1,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Meter]:
    """Measure the joules of the block: `with energy.meter() as spent: train()`, then spent.joules.

    Readings are taken at both ends and every `interval` seconds between, so that no counter can
    start again twice unseen; with interval=None only at both ends. `sources` replaces what the
    machine has under `root` and by NVIDIA's driver. Section 3.9.

    >>> with meter() as spent:
    ...     total = sum(range(1000))
    >>> spent.joules is None or spent.joules > 0
    True
    """
    if interval is not None:
        interval = real("interval", interval, "it is in seconds", 0, 60, above=True)
    metered, missing = meters.sensors(root) if sources is None else (sources, [])
    spent, over = Meter(metered, missing, clock), threading.Event()

    def watch() -> None:
        while not over.wait(interval):
            spent.read()

    watcher = threading.Thread(target=watch, daemon=True) if interval and metered else None
    spent.read()
    if watcher:
        watcher.start()
    try:
        yield spent
    finally:
        over.set()
        if watcher:
            watcher.join()
        spent.read()
