"""Alpha and beta of a sweep of message sizes, with intervals, in up to three regimes (Section 3.8).

Errors are relative, and a latency cannot be negative; `alphabeta_compare.least_squares` shows what
happens otherwise.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scalelab.arguments import real, shown
from scalelab.curves.fit import Refused
from scalelab.curves.intervals import Bounded
from scalelab.links.factors import factor, per_byte
from scalelab.links.posterior import Mixture, polished, posterior
from scalelab.links.regimes import DOF, FEWEST, shape, split
from scalelab.links.sweep import Sweep
from scalelab.models.checking import Answer, Numbers
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal

LEVEL = 0.90
# A plausible way to cut a sweep: its weight, edges and noise, and for each regime the lines that
# are possible: half, level, error and share.
Cut = tuple[float, Sequence[float], float, Sequence[tuple[np.ndarray, ...]]]


@dataclass(frozen=True)
class Regime:
    """Sizes over which one line holds: seconds = latency + bytes / bandwidth."""

    start: float  # its smallest and largest measured size
    stop: float
    latency: Bounded  # seconds of the whole operation
    bandwidth: Bounded | None  # bytes of the message per second; None where none is to be seen
    half: float  # bytes that get half of it, latency x bandwidth; infinite where there is none
    alpha: Bounded | None  # seconds of one message: latency over rounds, of a known algorithm ...
    beta: Bounded | None  # ... and seconds per byte through one port, adding up included

    def seconds(self, size: float) -> float:
        """The line itself, wherever."""
        return self.latency.value + (0.0 if self.bandwidth is None else size / self.bandwidth.value)

    @property
    def network(self) -> Network | None:
        """The link as the models take it, or None where the algorithm or the bandwidth is unknown."""
        if self.alpha is None or self.beta is None:
            return None
        return Network(alpha=self.alpha.value, beta=self.beta.value)


@dataclass(frozen=True)
class AlphaBeta:
    """A fitted sweep."""

    sweep: Sweep
    regimes: tuple[Regime, ...]  # cut where the Bayesian information criterion is least
    noise: float  # relative error of a row
    dof: float  # of the Student's t that the intervals are made of
    ways: tuple[Cut, ...] = field(repr=False, compare=False)  # all that `predict` mixes

    @property
    def edges(self) -> tuple[float, ...]:
        """The sizes at which one regime gives way to the next: between two measured ones."""
        pairs = itertools.pairwise(self.regimes)
        return tuple(math.sqrt(one.stop * other.start) for one, other in pairs)

    def regime(self, size: float) -> Regime:
        """The regime that a message of this size belongs to."""
        return self.regimes[int(np.searchsorted(self.edges, size))]

    def seconds(self, size: Numbers) -> Answer:
        """Seconds at one size or many, without an interval."""
        sizes = np.atleast_1d(np.asarray(size, float))
        times = [self.regime(one).seconds(one) for one in sizes]
        return times[0] if np.ndim(size) == 0 else np.array(times)

    def predict(self, size: float) -> Bounded:
        """Seconds at one size, with the interval in which 90% of single rows would lie.

        All plausible cuts into regimes have a say in it, by their weight. Beyond the last size the
        last regime is carried on: no row could say where it ends. The interval holds if one line
        does: sizes left out of the two published sweeps, where the library changes its ways within
        a doubling, lay inside in two of three cases (tests/bench). Measure the size you need.
        """
        size = real("size", size, "it is the message, in bytes", 1, 1e18)
        parts = []
        for weight, edges, noise, curves in self.ways:
            half, level, error, share = curves[int(np.searchsorted(edges, size))]
            parts.append((level + shape(half, size), np.hypot(error, noise), weight * share))
        place, width, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        mixed = Mixture(place, width, weights / weights.sum(), self.dof)
        low, middle, high = (
            math.exp(mixed.quantile(x)) for x in ((1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2)
        )
        return Bounded(middle, low, high)

    @property
    def bus_bandwidth(self) -> float | None:
        """What nccl-tests would print for endless messages, or None."""
        last = self.regimes[-1].bandwidth
        times = factor(self.sweep.collective, self.sweep.workers)
        return None if last is None else last.value * times


def fit(sweep: Sweep) -> AlphaBeta:
    """Latency and bandwidth of every regime of a sweep, and of one link where the algorithm is known.

    The intervals hold given the cuts: on eleven sizes of one noisy line, 90% ones held in about
    83%. Source: the model is Hockney's 1994, doi:10.1016/S0167-8191(06)80021-9; `alphabeta_regimes` says
    how it is fitted. Section 3.8.

    >>> size = [2**n for n in range(10, 24)]
    >>> seconds = [14 * 5e-6 + 1.75 * m / 50e9 for m in size]
    >>> ring = {"workers": 8, "collective": "all-reduce", "algorithm": "ring"}
    >>> (regime,) = fit(Sweep.of(size, seconds, **ring)).regimes
    >>> f"{regime.alpha.value * 1e6:.2f} us, {regime.network.bandwidth / 1e9:.1f} GB/s"
    '5.00 us, 50.0 GB/s'
    """
    if not isinstance(sweep, Sweep):
        raise Refusal(f"sweep must be a Sweep, got {shown(sweep)}: make one with Sweep.of(...)")
    sizes = np.unique(sweep.size)
    if len(sizes) < FEWEST:
        raise Refused(
            f"size must take at least {FEWEST} different values, got {len(sizes)}: two points fit "
            "any line and test none, so measure one more size"
        )
    per = None if sweep.algorithm is None else _steps(sweep)
    ways, n = split(sweep), len(sweep.size)
    dofs = [max(1, n - 2 * len(way.edges)) for way in ways]
    tails = min(DOF, dofs[0])  # as heavy as those that the rows were weighed with
    noises = [
        polished(sweep, way) * math.sqrt(n / dof) for way, dof in zip(ways, dofs, strict=True)
    ]
    curves = []
    for way, noise in zip(ways, noises, strict=True):
        breaks = [math.sqrt(sweep.size[i - 1] * sweep.size[i]) for i, _ in way.edges[1:]]
        parts = [posterior(sweep.at(slice(*edge)), noise)[2:] for edge in way.edges]
        curves.append((way.weight, breaks, noise, parts))
    regimes = tuple(
        _regime(sweep.at(slice(*edge)), noises[0], tails, per) for edge in ways[0].edges
    )
    return AlphaBeta(sweep, regimes, noises[0], tails, tuple(curves))


def _steps(sweep):
    return per_byte(sweep.collective, sweep.algorithm, sweep.workers)


def _regime(part, noise, dof, per):
    (half, level), (no_latency, no_rate), halves, levels, errors, weight = posterior(part, noise)

    def estimate(value, log, unseen):
        mixed = Mixture(log, errors, weight, dof)
        low, high = (math.exp(mixed.quantile(x)) for x in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return Bounded(value, None if unseen else min(low, value), max(high, value))

    flat = math.isinf(half)
    latency = estimate(math.exp(level) * (1 if flat else half), np.log(halves) + levels, no_latency)
    slope = None if flat else estimate(math.exp(level), levels, no_rate)
    bandwidth = slope and Bounded(1 / slope.value, 1 / slope.high, slope.low and 1 / slope.low)
    alpha = beta = None
    if per is not None:
        alpha, beta = (_scaled(x, 1 / y) for x, y in zip((latency, slope), per, strict=True))
    return Regime(float(part.size[0]), float(part.size[-1]), latency, bandwidth, half, alpha, beta)


def _scaled(estimate, times):
    if estimate is None:
        return None
    ends = (None if x is None else x * times for x in (estimate.low, estimate.high))
    return Bounded(estimate.value * times, *ends)
