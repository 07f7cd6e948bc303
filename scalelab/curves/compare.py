"""Every family beside every other on one table, and the one that saw best what it was not shown."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from scalelab.curves.families import FAMILIES, Family
from scalelab.curves.fit import FEWEST, Fit, Refused, fit, log_rates, too_few
from scalelab.curves.rows import Rows
from scalelab.curves.solve import Shape

# Two families whose errors differ by less than this are equally good; the simpler one is chosen.
_TIE = 1.1
# More sizes than this leave in as many groups, each from all over the table: one fit less for each.
_MOST_FOLDS = 24


@dataclass(frozen=True)
class Comparison:
    """The families that could be judged, why the others could not, and the choice."""

    fits: tuple[Fit, ...]  # in the order of `families.FAMILIES`
    left_out: dict[str, str]  # name: what would be needed
    chosen: Fit | None
    refused: str | None  # why nothing was chosen


def compare(rows: Rows) -> Comparison:
    """Fit every family, leave each size out in turn, and choose.

    The choice is the smallest leave-one-out error; within 10% of it, the fewest parameters, and
    among equals the better AICc or the closer fit.
    Source: leave-one-out, Stone 1974, doi:10.1111/j.2517-6161.1974.tb00994.x; AICc, Hurvich and
    Tsai 1989, doi:10.1093/biomet/76.2.297. Section 3.9.

    >>> from scalelab.curves.rows import Rows
    >>> compare(Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25])).chosen.family.name
    'amdahl'
    """
    fits, left_out = [], {}
    if len(rows.workers) < FEWEST:
        text = too_few(rows)
        return Comparison((), {family.name: text for family in FAMILIES}, None, text)
    for family in FAMILIES:
        try:
            fitted = fit(rows, family)
        except Refused as refusal:
            left_out[family.name] = str(refusal)
        else:
            fits.append(dataclasses.replace(fitted, loo=leave_one_out(rows, family, fitted.shape)))
    return Comparison(tuple(fits), left_out, _choice(fits), None)


def leave_one_out(rows: Rows, family: Family, shape: Shape | None = None) -> float:
    """Root mean square error, in the logarithm of the rate, of sizes that the fit did not see."""
    errors, sizes = [], rows.workers
    folds = min(len(sizes), _MOST_FOLDS)
    for left in (np.arange(len(sizes)) % folds == i for i in range(folds)):
        expected = log_rates(rows.at(~left), family, sizes[left], near=shape)
        errors += list((np.log(rows.rate[left]) - expected) ** 2)
    return min(math.sqrt(np.mean(errors)), 1e6)


def _choice(fits):
    best = max(min(fitted.loo for fitted in fits), 1e-9)
    close = [fitted for fitted in fits if fitted.loo <= best * _TIE]
    return min(close, key=lambda fitted: (len(fitted.shape), fitted.residual))
