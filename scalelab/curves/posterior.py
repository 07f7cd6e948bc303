"""What a table leaves open about a curve: every plausible shape of every family, weighed by the rows.

A best fit says where one curve goes; the shapes that fit almost as well say how far to trust it.
Measurement noise is independent from row to row. Beside it real systems drift away from any curve,
one doubling after the other, and what drifted stays: the further from the last row, the less is known.
Source: Bayesian model averaging, Hoeting et al. 1999, doi:10.1214/ss/1009212519; a curve with a
correlated discrepancy, Kennedy and O'Hagan 2001, doi:10.1111/1467-9868.00294.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from scalelab.curves.families import EXTRAPOLATING, Family
from scalelab.curves.rows import Rows

_LIGHT = 1e-4  # the cells that hold no more than this together are dropped at the end
_ROUNDS, _HEAVY = 4, 2e-3  # cells that hold more than this share are split, that many times
_FLOATS = 1e-300, 1e300  # a steep curve goes beyond them, far from the rows; no answer does


@dataclass(frozen=True)
class Mixture:
    """A predictive distribution of the logarithm of a rate: Student's t curves with weights."""

    location: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    dof: float
    family: np.ndarray  # the name behind each

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

    @property
    def weights(self) -> dict[str, float]:
        """The probability of each family."""
        names = dict.fromkeys(self.family.tolist())
        return {name: float(self.weight[self.family == name].sum()) for name in names}


@functools.cache
def _student(dof):
    """Student's t below z, as a table over arctan z: ten times as fast as computing it."""
    from scipy.special import stdtr

    angle = np.linspace(-np.pi / 2, np.pi / 2, 4001)
    return angle, stdtr(dof, np.tan(angle))


def predictive(
    rows: Rows, workers: float, *, noise: float, drift: float, families: Iterable[str] | None = None
) -> Mixture:
    """The distribution of the log rate on `workers`, given the rows.

    `noise` is the relative error one row may be expected to have, before any was seen; `drift` the
    variance that one doubling adds, in units of the noise's. Section 3.9.
    """
    k, target = rows.workers / rows.base, workers / rows.base
    steps, ahead = np.log2(k), np.log2(target)
    spread = np.eye(len(k)) + drift * np.minimum.outer(steps, steps)
    whiten = np.linalg.inv(np.linalg.cholesky(spread))
    same = whiten @ np.ones(len(k))
    carried = whiten.T @ (whiten @ (drift * np.minimum(steps, ahead)))
    variance = 1 + drift * ahead - carried @ (drift * np.minimum(steps, ahead))
    variance += (1 - carried.sum()) ** 2 / (same @ same)  # of the scale of the curve
    dof = len(k)  # n rows, less the scale, plus one for what `noise` says

    observed = np.log(rows.rate)
    offset = observed[-1]  # keeps the numbers small: the unit of the table must not matter

    def weigh(family, shapes):
        gap = (observed - offset)[:, None] - _log_rate(family, k[:, None], k[-1], *shapes)
        level = same @ (whiten @ gap) / (same @ same)
        squares = ((whiten @ (gap - level)) ** 2).sum(0) / noise**2
        place = level + carried @ (gap - level) + _log_rate(family, target, k[-1], *shapes)
        width = noise * np.sqrt((1 + squares) / dof * variance)
        return -dof / 2 * np.log1p(squares), place, width

    asked = [EXTRAPOLATING[name] for name in families or EXTRAPOLATING]
    parts = {
        family.name: _refined(functools.partial(weigh, family), _box(family, k[-1]))
        for family in asked
    }
    logs, place, width = (np.concatenate(column) for column in zip(*parts.values(), strict=True))
    names = np.repeat(list(parts), [len(part[0]) for part in parts.values()])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    least = np.sort(weight)
    keep = weight >= least[np.searchsorted(least.cumsum(), _LIGHT)]
    return Mixture(
        place[keep] + offset, width[keep], weight[keep] / weight[keep].sum(), dof, names[keep]
    )


def _refined(
    weigh: Callable[[np.ndarray], tuple[np.ndarray, ...]], box: tuple[tuple[float, float], ...]
) -> tuple[np.ndarray, ...]:
    """Cells over the box of a family's shapes, finer where the rows put the probability.

    The prior is uniform in the box, so a cell weighs its likelihood times its share of the box.
    """
    if not len(box):
        return tuple(np.atleast_1d(np.broadcast_to(x, 1)) for x in weigh(np.zeros((0, 1))))
    (least, most), *others = box
    edges = [np.union1d(np.geomspace(least, most, 40), np.linspace(least, most, 41))]
    edges += [np.linspace(lowest, highest, 11) for lowest, highest in others]
    low = np.stack(np.meshgrid(*(e[:-1] for e in edges)), -1).reshape(-1, len(box)).T
    high = np.stack(np.meshgrid(*(e[1:] for e in edges)), -1).reshape(-1, len(box)).T
    volume = np.prod(np.diff(box))
    for _ in range(_ROUNDS):
        logs = weigh((low + high) / 2)[0] + np.log((high - low).prod(0) / volume)
        share = np.exp(logs - logs.max())
        heavy = share > _HEAVY * share.sum()
        low, high = _split(low, high, heavy)
    logs, place, width = weigh((low + high) / 2)
    return logs + np.log((high - low).prod(0) / volume), place, width


def _split(low, high, heavy):
    """Halve the heavy cells along every side."""
    lows, highs = [low[:, ~heavy]], [high[:, ~heavy]]
    low, high = low[:, heavy], high[:, heavy]
    middle = (low + high) / 2
    for corner in np.ndindex(*(2,) * len(low)):
        upper = np.array(corner, bool)[:, None]
        lows.append(np.where(upper, middle, low))
        highs.append(np.where(upper, high, middle))
    return np.concatenate(lows, 1), np.concatenate(highs, 1)


def _log_rate(family, k, q, *shape):
    """The logarithm of the rate at `k`, of the curve that has this shape on the largest size `q`."""
    with np.errstate(over="ignore", under="ignore"):
        rate = family.curve(k, 1.0, *family.losses.parameters(q, *shape))
    return np.log(np.clip(rate, *_FLOATS))


def _box(family: Family, q: float) -> tuple[tuple[float, float], ...]:
    """The shapes of a family: limits of E, and of f where there is one."""
    losses, nothing_gained = family.losses, 1 / q
    assert losses, "a family that extrapolates says what it loses"
    low = min(losses.least * nothing_gained, 0.99 * losses.most)
    return ((low, losses.most), (0.0, 1.0))[: len(family.parameters)]
