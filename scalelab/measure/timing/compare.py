"""Which of several is faster: *faster*, *slower*, or *cannot tell*.

They take turns in random order, so that what slows the machine slows all of them. What is said rests
on the ratios within the turns, where that cancels.
"""

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from scalelab import ranks
from scalelab.arguments import real, shown, whole
from scalelab.measure.timing import devices, rounds, stats
from scalelab.records import Recording, Sample, Stamp
from scalelab.refusal import Refusal
from scalelab.seen import Seen
from scalelab.units import alike, counted, text


@dataclass(frozen=True)
class Beside:
    """One of several, beside the first of them."""

    label: str
    first: str
    ratio: float  # its time over that of the first: the median of the ratios of all turns
    low: float  # the true ratio is from here ...
    high: float  # ... to here

    @property
    def says(self) -> str:
        """Faster or slower only where the whole interval is, else cannot tell."""
        return "faster" if self.high < 1 else "slower" if self.low > 1 else "cannot tell"

    @property
    def off(self) -> float:
        """How far off the ratio may be, as a share of it."""
        return max(self.high - self.ratio, self.ratio - self.low) / self.ratio

    @property
    def text(self) -> str:
        """What it says, with the factor and its interval.

        >>> Beside("new", "old", 0.5, 0.4, 0.8).text
        'faster: 2 times as fast (1.25 to 2.5)'
        """
        if self.high == math.inf:
            return (
                f"cannot tell: {text(self.ratio)} times as long, from too few turns for an interval"
            )
        if self.says == "faster":
            factor, low, high = _beside_one(1 / self.ratio, 1 / self.high, 1 / self.low)
            return f"faster: {factor} times as fast ({low} to {high})"
        factor, low, high = _beside_one(self.ratio, self.low, self.high)
        return f"{self.says}: {factor} times as long ({low} to {high})"


@dataclass(frozen=True)
class Compared(Seen):
    """Several timed by turns: the k-th repetitions of all samples are one turn."""

    samples: tuple[Sample, ...]  # in the order given
    level: float = 0.95  # the chance that all the intervals of ratios hold together

    @property
    def besides(self) -> tuple[Beside, ...]:
        """What is said of each but the first."""
        return judge(self.samples, self.level)

    @property
    def text(self) -> str:
        """A line for each but the first."""
        return "\n".join(f"{one.label}: {one.text}" for one in self.besides)

    @property
    def recording(self) -> Recording:
        """The samples as one record that can be saved, and judged again."""
        return Recording(f"{len(self.samples)} by turns", self.samples, self.text)

    @property
    def stamp(self) -> Stamp:
        """Where the timings come from."""
        return self.samples[0].stamp

    def __repr__(self) -> str:
        first, *_ = self.samples
        said = "; ".join(
            f"{one.label}: {one.text}"
            if one.says == "cannot tell"
            else f"{one.label} is {one.text}"
            for one in self.besides
        )
        return f"<Compared with {first.label}, {counted(len(first.seconds), 'turn')}: {said}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each, with its time and its ratio to the first."""
        besides = (None, *self.besides)
        return {
            "label": [one.label for one in self.samples],
            "seconds": [one.median for one in self.samples],
            "low": [one.low for one in self.samples],
            "high": [one.high for one in self.samples],
            "ratio": [1.0, *(one.ratio for one in besides[1:] if one)],
            "ratio low": [1.0, *(one.low for one in besides[1:] if one)],
            "ratio high": [1.0, *(one.high for one in besides[1:] if one)],
            "says": ["the first", *(one.says for one in besides[1:] if one)],
        }


def compare(
    functions: Mapping[str, Callable[[], object]],
    *,
    budget: float = 2.0,
    precision: float = 0.02,
    level: float = 0.95,
    seed: int = 0,
    clock: devices.Clock = time.perf_counter,
    device: str | devices.Stopwatch = "cpu",
) -> Compared:
    """Time all `functions`, {label: function}, by turns, and say how each compares with the first.

    It stops when every ratio is known within `precision`, whichever way it points, or when the
    budget is spent: to stop as soon as one looked faster would find differences in noise. Section 3.1.

    >>> found = compare({"short": lambda: sum(range(500)), "long": lambda: sum(range(5000))})
    >>> found.besides[0].says
    'slower'
    """
    if not isinstance(functions, Mapping) or len(functions) < 2:
        raise Refusal(
            f"functions must be a dictionary of at least two, got {shown(functions)}: "
            'write {"old": ..., "new": ...}'
        )
    for function in functions.values():
        budget, precision = rounds.checked(function, budget, precision)
    order = random.Random(whole("seed", seed, "it starts the random order", 0))
    enough = known(len(functions), precision, level)
    device = devices.pick(device, clock)
    readings = [rounds.reader(function, device) for function in functions.values()]
    share = budget / len(readings)
    inner = [rounds.settle(reading, device.shortest, share) for reading in readings]
    turn = one_turn(
        [partial(read, calls) for read, calls in zip(readings, inner, strict=True)], order
    )
    turns, stopped = rounds.repeat(turn, enough, budget, clock)
    rows = zip(functions, zip(*turns, strict=True), inner, strict=True)
    return Compared(
        tuple(
            rounds.sample(str(label), seconds, calls, stopped, precision)
            for label, seconds, calls in rows
        ),
        level,
    )


def _beside_one(*ratios):
    """Write ratios so that one which is not 1 does not look like it."""
    return alike([*ratios, 1.0])[:-1]


def one_turn(
    readings: Sequence[Callable[[], float]], order: random.Random
) -> Callable[[], list[float]]:
    """Return what takes each reading once, in an order drawn anew, and gives them in the one given."""
    places = range(len(readings))
    if len(readings) == 1:
        return lambda: [readings[0]()]

    def turn() -> list[float]:
        seconds = {place: readings[place]() for place in order.sample(places, len(places))}
        return [seconds[place] for place in places]

    return turn


def known(
    count: int, precision: float, level: float = 0.95
) -> Callable[[Sequence[Sequence[float]]], str]:
    """Return what looks at the turns so far, and says why they are enough, or nothing.

    The median of one, or the ratio of each of several to the first, must be known within `precision`.
    """
    each = _each(level, count)

    def looked(turns: Sequence[Sequence[float]]) -> str:
        first, *others = zip(*turns, strict=True)
        if not others:
            off, what = stats.margin(first), "the median"
        else:
            off = max(_beside("", one, "", first, each).off for one in others)
            what = "every ratio"
        return f"precise: {what} is known within {text(off, '%', 2)}" if off <= precision else ""

    return looked


def judge(samples: Sequence[Sample], level: float = 0.95) -> tuple[Beside, ...]:
    """Return what samples that took turns say of each but the first. Section 3.1.

    With m others, each interval holds with 1 - (1 - level) / m, so that all hold together with
    `level`. Too few turns for that give an infinite interval.
    """
    if not samples or not all(isinstance(one, Sample) for one in samples):
        raise Refusal(
            f"samples must be timings, at least one, got {shown(samples)}: time them by one call of compare"
        )
    first, *others = samples
    each = _each(level, len(samples))
    return tuple(
        _beside(one.label, one.seconds, first.label, first.seconds, each) for one in others
    )


def fewest(count: int, level: float = 0.95) -> int:
    """How many turns of so many candidates it takes until every interval has two ends.

    >>> [fewest(count) for count in (1, 2, 3, 8)]
    [6, 6, 7, 9]
    """
    return stats.fewest(_each(level, count))


def _each(level, count):
    level = real("level", level, "it is the chance that all intervals hold", 0, 0.999, above=True)
    return 1 - (1 - level) / max(1, count - 1)


def _beside(label, seconds, first, base, level):
    if len(seconds) != len(base):
        raise Refusal(
            f"samples must have taken turns, got {len(base)} and {len(seconds)} readings: "
            "time them by one call of compare"
        )
    ratios = [one / other for one, other in zip(seconds, base, strict=True)]
    if len(ratios) < stats.fewest(level):
        return Beside(label, first, statistics.median(ratios), 0.0, math.inf)
    return Beside(label, first, statistics.median(ratios), *ranks.enclosing(ratios, level))
