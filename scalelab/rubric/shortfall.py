"""What keeps a speedup from the ideal: a serial fraction, communication, or cannot tell.

A serial part takes the same time on any number of workers, communication takes more on more. Rows that
stop before the two part ways fit both; then only a measured exposed communication can tell.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalelab.curves import intervals
from scalelab.curves.families import FAMILIES
from scalelab.curves.fit import Refused, fit
from scalelab.curves.rows import Rows
from scalelab.curves.solve import search, squares
from scalelab.models.scaling import laws, speedup

LEVEL = 0.90


@dataclass(frozen=True)
class Serial:
    """A serial fraction of the time on the base, and its interval; None where no row is spare."""

    value: float
    low: float | None
    high: float | None

    @property
    def ceiling(self) -> float:
        """The speedup that no number of workers passes; infinite for 0."""
        return speedup.ceiling(self.value)


@dataclass(frozen=True)
class Shortfall:
    """How far the largest size is from the ideal, and what takes it."""

    workers: int
    ideal: float
    predicted: float  # by the serial fraction alone
    measured: float
    cause: str  # "serial", "communication", "both", "none" or "cannot tell"
    low: float | None  # share of the lost time that communication takes
    high: float | None
    how: str  # "measured", "fitted" or ""


def serial(factors: Sequence[float], gains: Sequence[float], weak: bool = False) -> Serial:
    """The serial fraction of speedups on `factors` times the base's workers, by least squares.

    Strong: (1/S - 1/k) = s (1 - 1/k); weak: (k - S) = s (k - 1). A fraction is in [0, 1], whatever
    superlinear rows say. The interval is Student's, at 90%.
    Source: Amdahl 1967, doi:10.1145/1465482.1465560; Gustafson 1988, doi:10.1145/42411.42415.
    Section 41.6.

    >>> round(serial([1, 2, 4], [1, 1 / 0.55, 1 / 0.325]).value, 6)
    0.1
    """
    from scipy.special import stdtrit

    k, s = np.asarray(factors, float), np.asarray(gains, float)
    # Weak rows are divided by k, so that the largest does not decide alone.
    x, y = (1 - 1 / k, 1 - s / k) if weak else (1 - 1 / k, 1 / s - 1 / k)
    value = float(x @ y / (x @ x))
    spare = int(np.count_nonzero(x)) - 1
    if spare < 1:
        return Serial(_share(value), None, None)
    error = math.sqrt(float(np.sum((y - value * x) ** 2)) / spare / float(x @ x))
    margin = float(stdtrit(spare, (1 + LEVEL) / 2)) * error
    return Serial(_share(value), _share(value - margin), _share(value + margin))


def shortfall(
    workers: Sequence[int],
    base: int,
    gains: Sequence[float],
    serial: Serial,
    seconds: Sequence[float],
    exposed: Sequence[float | None],
) -> Shortfall:
    """Split what the largest size lost, by exposed communication if measured, else by fits."""
    top = int(np.argmax(workers))
    factor = workers[top] / base
    predicted = float(laws.amdahl(factor, serial.value)) if factor >= 1 else float(factor)
    known: dict[str, Any] = {
        "workers": int(workers[top]), "ideal": float(factor), "predicted": predicted,
        "measured": float(gains[top]),
    }  # fmt: skip
    if gains[top] >= factor * (1 - 1e-9):
        return Shortfall(**known, cause="none", low=None, high=None, how="")
    at_base = list(workers).index(base)
    communicated = exposed[top]
    if communicated is not None:
        lost = seconds[top] - seconds[at_base] / factor
        share = min(1.0, communicated / lost)
        return Shortfall(**known, cause=_cause(share, share), low=share, high=share, how="measured")
    # A fit starts at the smallest size, whichever the baseline is.
    low, high = _fitted(tuple(workers), tuple(seconds), workers[top] / min(workers))
    if low is None:
        return Shortfall(**known, cause="cannot tell", low=None, high=None, how="")
    return Shortfall(**known, cause=_cause(low, high), low=low, high=high, how="fitted")


def _cause(low, high):
    """Which of the two takes more than half, if the whole range says so."""
    if high < 0.5:
        return "serial"
    if low > 0.5:
        return "communication"
    return "both" if high - low < 0.2 else "cannot tell"


@functools.lru_cache(
    maxsize=16
)  # a slider that moves a demand asks for the same rows again and again
def _fitted(workers, seconds, factor):
    """The least and the largest share of communication that rows and either of its shapes allow."""
    rows = Rows.of(workers, seconds=seconds)
    try:
        fits = [fit(rows, family) for family in FAMILIES if family.growing]
    except Refused:
        return None, None
    limit = _limit(rows, fits)
    shares = []
    for fitted in fits:
        if squares(rows, fitted.family, fitted.shape) > limit:
            continue  # not the shape of these rows
        for growth in _range(rows, fitted, limit):
            rest = fitted.family.fixing(1, growth)
            serial = float(search(rows, rest, near=fitted.shape[:1], grid=0)[0])
            shares.append(_share_of(fitted.family, serial, growth, factor))
    return min(shares), max(shares)


def _limit(rows, fits):
    """The sum of squares within which a curve fits as well as the best, at LEVEL."""
    from scipy.special import fdtri

    least = min(squares(rows, fitted.family, fitted.shape) for fitted in fits)
    # Rows on a curve to the last digit leave no room; printed digits leave this much.
    return max(least * (1 + fdtri(1, fits[0].dof, LEVEL) / fits[0].dof), len(rows.workers) * 1e-18)


def _range(rows, fitted, limit):
    """The growth that the rows allow: both ends, or the best where an end is open."""
    value = fitted.shape[1]
    for bound in (0.0, math.inf):
        end = intervals.end(rows, fitted, 1, value, limit, bound) if value != bound else value
        yield value if end is None else float(end)


def _share_of(family, serial, growth, factor):
    """Share of the lost time at k times the base's workers; both in times of the curve's base."""
    steady = serial * (1 - 1 / factor)
    grows = growth * float(family.growing(factor))
    return grows / (steady + grows) if steady + grows > 0 else 0.0


def _share(value):
    return min(1.0, max(0.0, value))
