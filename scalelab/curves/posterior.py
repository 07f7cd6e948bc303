"""What a table leaves open about a curve: every plausible shape of every family, weighed by the rows.

A best fit says where one curve goes; the shapes that fit almost as well say how far to trust it.
Measurement noise is independent from row to row. Beside it real systems drift away from any curve,
one doubling after the other, and what drifted stays: the further from the last row, the less is known.
Source: Bayesian model averaging, Hoeting et al. 1999, doi:10.1214/ss/1009212519; a curve with a
correlated discrepancy, Kennedy and O'Hagan 2001, doi:10.1111/1467-9868.00294.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scalelab.curves.rows import Rows

_LOWEST = 0.2  # how far below the efficiency of a job that gains nothing the priors reach
_IN_SIGHT = 0.9  # a cap counts once the largest size lies this far below linear
_LIGHT = 1e-4  # the cells that hold no more than this together are dropped at the end
_ROUNDS, _HEAVY = 4, 2e-3  # cells that hold more than this share are split, that many times


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
    one = whiten @ np.ones(len(k))
    carried = whiten.T @ (whiten @ (drift * np.minimum(steps, ahead)))
    variance = 1 + drift * ahead - carried @ (drift * np.minimum(steps, ahead))
    variance += (1 - carried.sum()) ** 2 / (one @ one)  # of the scale of the curve
    dof = len(k)  # n rows, less the scale, plus one for what `noise` says

    observed = np.log(rows.rate)
    offset = observed[-1]  # keeps the numbers small: the unit of the table must not matter

    def weigh(curve, shapes):
        gap = (observed - offset)[:, None] - curve(k[:, None], k[-1], *shapes)
        level = one @ (whiten @ gap) / (one @ one)
        squares = ((whiten @ (gap - level)) ** 2).sum(0) / noise**2
        place = level + carried @ (gap - level) + curve(target, k[-1], *shapes)
        width = noise * np.sqrt((1 + squares) / dof * variance)
        return -dof / 2 * np.log1p(squares), place, width

    parts = {
        name: _refined(functools.partial(weigh, _CURVES[name]), _box(name, k[-1]))
        for name in (families or _CURVES)
    }
    logs, place, width = (np.concatenate(column) for column in zip(*parts.values(), strict=True))
    family = np.repeat(list(parts), [len(part[0]) for part in parts.values()])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    least = np.sort(weight)
    keep = weight >= least[np.searchsorted(least.cumsum(), _LIGHT)]
    return Mixture(
        place[keep] + offset, width[keep], weight[keep] / weight[keep].sum(), dof, family[keep]
    )


def _refined(weigh, box):
    """Cells over the box of a family's shapes, finer where the rows put the probability.

    The prior is uniform in the box, so a cell weighs its likelihood times its share of the box.
    """
    if not len(box):
        return [np.atleast_1d(np.broadcast_to(x, 1)) for x in weigh(np.zeros((0, 1)))]
    edges = [np.union1d(np.geomspace(*box[0], 40), np.linspace(*box[0], 41))]
    edges += [np.linspace(*side, 11) for side in box[1:]]
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
    for upper in np.ndindex(*(2,) * len(low)):
        upper = np.array(upper, bool)[:, None]
        lows.append(np.where(upper, middle, low))
        highs.append(np.where(upper, high, middle))
    return np.concatenate(lows, 1), np.concatenate(highs, 1)


# Every family is told by the efficiency E that it gives the largest measured size, q = K / K0, which
# means the same in all of them; two-parameter families by the part f of that loss that grows, too.
# All return the logarithm of the rate at k = K / K0.


def _linear(k, q):
    return np.log(k) + 0 * q


def _hard_cap(k, q, kept):
    return np.minimum(np.log(k), np.log(q * kept))


def _power(k, q, kept):
    return (1 + np.log(kept) / np.log(q)) * np.log(k)


def _gustafson(k, q, kept):
    serial = (1 - kept) * q / (q - 1)
    return np.log(np.maximum(serial + (1 - serial) * k, 1e-12))


def _amdahl(k, q, kept):
    return np.log(k) - np.log1p((1 / kept - 1) / (q - 1) * (k - 1))


def _usl(k, q, kept, part):
    loss = 1 / kept - 1
    queue, talk = loss * (1 - part) / (q - 1), loss * part / (q * (q - 1))
    return np.log(k) - np.log1p(queue * (k - 1) + talk * k * (k - 1))


def _logarithmic(k, q, kept, part):
    loss = 1 / kept - 1
    serial, growth = loss * (1 - part) / (q - 1), loss * part / (q * np.log(q))
    return np.log(k) - np.log1p(serial * (k - 1) + growth * k * np.log(k))


_CURVES = {
    "linear": _linear,
    "hard cap": _hard_cap,
    "power": _power,
    "amdahl": _amdahl,
    "amdahl + log": _logarithmic,
    "usl": _usl,
    "gustafson": _gustafson,
}
NAMES = tuple(_CURVES)


def _box(name, q):
    """The shapes of a family: limits of E, and of f where there is one."""
    most = {"hard cap": _IN_SIGHT, "power": 1.2}.get(name, 1.0)
    nothing_gained = 1 / q
    return {
        "linear": (),
        "power": ((_LOWEST * nothing_gained, most),),
        "amdahl + log": ((_LOWEST * nothing_gained, most), (0.0, 1.0)),
        "usl": ((_LOWEST * nothing_gained, most), (0.0, 1.0)),
    }.get(name, ((min(nothing_gained, 0.99 * most), most),))
