"""Fit every family to a scaling table, and refuse where nothing is left to judge the fit by.

Residuals are relative (in the logarithm of the rate), because a large configuration is no more
certain than a small one. The scale of a curve has a closed form, so only shapes are searched for.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from scalelab.curves.families import BY_NAME, Family
from scalelab.curves.rows import Rows
from scalelab.curves.solve import Shape, scaled, search, spread, squares
from scalelab.models.checking import Answer, Numbers
from scalelab.refusal import Refusal

_EXACT = 1e-9  # relative: two numbers that agree this well are the same measurement
FEWEST = 3  # different sizes, below which nothing can be judged
SPACES = ("log", "linear")


class Refused(Refusal):
    """The table does not carry the answer; the text says what would be needed."""


@dataclass(frozen=True)
class Fit:
    """One family, fitted: what it says, and how well it said what it had not seen."""

    family: Family
    base: float  # K0, the configuration of which shares are shares
    scale: float  # the rate on K0 workers
    shape: tuple[float, ...]
    at_bound: tuple[bool, ...]  # such a parameter is not an estimate and gets no interval
    residual: float  # standard error of the residuals; relative in log space
    dof: int
    aicc: float | None  # None where there are too few rows for the correction
    loo: float | None = None  # root mean square error of the sizes left out in turn, relative
    space: str = field(default="log")

    def rate(self, workers: Numbers) -> Answer:
        """Work per second at any number of workers."""
        return self.scale * self.family.curve(np.asarray(workers, float), self.base, *self.shape)


def fit(rows: Rows, family: Family | str, *, space: str = "log") -> Fit:
    """The best curve of one family, by least squares from several starts.

    `space="linear"` weighs absolute residuals, as most published fits do.
    Source: AICc, Hurvich and Tsai 1989, doi:10.1093/biomet/76.2.297. Section 3.9.

    >>> from scalelab.curves.rows import Rows
    >>> found = fit(Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25]), "amdahl")
    >>> round(found.shape[0], 6)
    0.1
    """
    family = BY_NAME[family] if isinstance(family, str) else family
    if space not in SPACES:
        raise Refusal(f"space must be one of {', '.join(SPACES)}, got {space!r}: choose one")
    count = 1 + len(family.parameters)
    if len(rows.workers) <= count:
        raise Refused(
            f"workers must take at least {count + 1} different values for the {count} parameters of "
            f"{family.name}, got {len(rows.workers)}: measure {count + 1 - len(rows.workers)} more"
        )
    shape = search(rows, family, space)
    scale, residuals = scaled(rows, family, shape, space)
    n, total = len(rows.workers), float(residuals @ residuals)
    # A perfect fit would be infinitely good: numbers are printed, so it is as good as they are.
    floor = max(total / n, (_EXACT * spread(rows, space)) ** 2)
    estimated = count + 1  # the variance too
    spare = n - estimated - 1
    penalty = 2 * estimated * (1 + (estimated + 1) / spare) if spare > 0 else None
    return Fit(
        family=family,
        base=rows.base,
        scale=scale,
        shape=tuple(float(x) for x in shape),
        at_bound=_at_bound(rows, family, shape, total, space),
        residual=math.sqrt(total / (n - count)),
        dof=n - count,
        aicc=None if penalty is None else n * math.log(floor) + penalty,
        space=space,
    )


def too_few(rows: Rows) -> str:
    """Why a table of one or two sizes is refused."""
    return (
        f"workers must take at least {FEWEST} different values, got {len(rows.workers)}: two points "
        "fit any curve and test none, so measure one more size"
    )


def log_rates(
    rows: Rows, family: Family, workers: Numbers, near: Shape | None = None
) -> list[float]:
    """The logarithm of the rate at some sizes, from as many rows as there are; infinite if below 0.

    A shape that more rows had is `near`, and one look elsewhere then is enough.
    """
    shape = search(rows, family) if near is None else search(rows, family, near=near, grid=1)
    scale, _ = scaled(rows, family, shape)
    with np.errstate(all="ignore"):
        rates = scale * family.curve(np.asarray(workers, float), rows.base, *shape)
    return [math.log(rate) if 0 < rate < math.inf else -math.inf for rate in rates.tolist()]


def _at_bound(rows, family, shape, total, space):
    """Which parameters the data pushes against their limits: moving them there costs nothing."""
    noise = len(rows.workers) * (_EXACT * spread(rows, space)) ** 2
    marks = []
    for i, limits in enumerate(zip(*family.bounds(rows.workers), strict=True)):
        moved = [(*shape[:i], limit, *shape[i + 1 :]) for limit in limits if math.isfinite(limit)]
        costs = [squares(rows, family, other, space) for other in moved]
        marks.append(any(cost <= total * (1 + 1e-9) + noise for cost in costs))
    return tuple(marks)
