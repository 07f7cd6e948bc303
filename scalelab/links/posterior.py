"""Every line that some rows of a sweep allow, weighed: what the intervals are made of."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from scalelab.links.regimes import Way, halves, lines
from scalelab.links.sweep import Sweep

UNSEEN = 1.353  # log likelihood that an open end costs at most: half of chi square's 90% point
_SHARPEST = 1e-3  # nobody's clock is better than that


@dataclass(frozen=True)
class Mixture:
    """A distribution of a logarithm: Student's t curves with weights."""

    location: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    dof: float

    def quantile(self, share: float) -> float:
        """The value below which this share of the probability lies."""
        from scipy.optimize import toms748
        from scipy.special import stdtrit

        angle, below = _student(self.dof)
        ends = self.location + self.scale * stdtrit(self.dof, share)  # each curve's own
        if ends.max() - ends.min() < 1e-9:
            return float(ends[0])

        def excess(x):
            seen = np.arctan((x - self.location) / self.scale)
            return self.weight @ np.interp(seen, angle, below) - share

        # A hair further out, because the weights add up to one only nearly.
        return toms748(excess, ends.min() - 1e-6, ends.max() + 1e-6, xtol=1e-7)


@functools.cache
def _student(dof):
    """Student's t below z, as a table over arctan z: ten times as fast as computing it."""
    from scipy.special import stdtr

    angle = np.linspace(-np.pi / 2, np.pi / 2, 4001)
    return angle, stdtr(dof, np.tan(angle))


def polished(sweep: Sweep, way: Way) -> float:
    """The likeliest noise, between the ones that were tried."""
    from scipy.optimize import minimize_scalar

    parts = [sweep.at(slice(*edge)) for edge in way.edges]
    halves = [_refined(part, way.noise) for part in parts]

    def surprise(log):
        pairs = zip(parts, halves, strict=True)
        return -sum(lines(part, half, math.exp(log)).likelihood.max() for part, half in pairs)

    middle = math.log(way.noise)
    best = minimize_scalar(surprise, bounds=(middle - 0.7, middle + 0.7), options={"xatol": 0.02})
    return max(math.exp(best.x), _SHARPEST)


def posterior(
    part: Sweep, noise: float
) -> tuple[tuple[float, float], tuple[bool, bool], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The lines through some rows: which is best, which of its ends are open, and all, weighed.

    The prior is flat in the logarithms of half and level.
    """
    fitted = lines(part, _refined(part, noise), noise)
    best = int(np.argmax(fitted.likelihood))
    lost = fitted.likelihood[best] - fitted.likelihood
    weight = np.exp(-lost[1:-1]) * np.gradient(np.log(fitted.half[1:-1]))
    keep = weight > 1e-6 * weight.max()
    columns = (column[1:-1][keep] for column in (fitted.half, fitted.level, fitted.error))
    line = float(fitted.half[best]), float(fitted.level[best])
    return (
        line,
        (lost[0] < UNSEEN, lost[-1] < UNSEEN),
        *columns,
        weight[keep] / weight[keep].sum(),
    )


def _refined(part, noise):
    """Where the likelihood is, finely: the coarse grid, and 100 steps between its likely points."""
    half = halves(part)
    for _ in range(3):
        likelihood = lines(part, half, noise).likelihood
        near = np.flatnonzero(likelihood > likelihood.max() - 12)
        last = len(half) - 1
        low, high = (
            half[np.clip(near[0] - 1, 1, last - 3)],
            half[np.clip(near[-1] + 1, 3, last - 1)],
        )
        half = np.concatenate([[0.0], np.geomspace(low, high, 100), [np.inf]])
    return half
