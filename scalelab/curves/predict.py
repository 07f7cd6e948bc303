"""A size that was not measured: a value, a 90 % interval, and how often such intervals were right.

The interval widens with the distance from the last row and with the disagreement of the families.
How much noise and drift to expect was learned (`tests/learning/calibrate.py`) from the public scaling results
in the package, where the coverage was measured, each system judged by what the others taught, and
from simulated tables. Where five rows have 0.3 % to 3 % of independent noise about an exact curve,
intervals held the next doubling in 87 to 89 %.
"""

import math
from dataclasses import dataclass

from scalelab.arguments import real
from scalelab.curves.families import EXTRAPOLATING
from scalelab.curves.fit import FEWEST, Refused, too_few
from scalelab.curves.posterior import Mixture, predictive
from scalelab.curves.rows import Rows
from scalelab.refusal import Refusal

LEVEL = 0.90
_FLOATS = 600.0  # logarithms this far from 0 stay finite, whatever unit they are turned into


@dataclass(frozen=True)
class Learned:
    """What the rows of one table cannot teach."""

    noise: float  # relative error of a row
    drift: float  # variance that a doubling adds, over that of the noise


@dataclass(frozen=True)
class Coverage:
    """How often the truth lay inside, on hold-outs of systems that had no say in the settings."""

    inside: int
    of: int
    systems: int
    share: float  # of those held, every system counting once


# What `settings` and `coverage` of tests/learning/calibrate.py return, and a digest of all that they
# depend on; a test compares it, and `python -m tests.learning.learned` learns anew.
LEARNED_FROM = "9c6766b84e80958d9fa20724d932109e50a608ccd557ae31965b32bfc6b96f03"
CALIBRATED = Learned(noise=0.0003, drift=1000.0)
# The largest size, from all smaller ones; any later size, from three or more smaller ones.
NEXT = Coverage(inside=26, of=27, systems=8, share=0.9375)
LATER = Coverage(inside=104, of=118, systems=8, share=0.8583)


def measured() -> str:
    """One sentence for under a prediction: what its interval is worth.

    >>> measured()[:53]
    'such 90% intervals held 26 of 27 largest sizes and 10'
    """
    return (
        f"such {LEVEL:.0%} intervals held {NEXT.inside} of {NEXT.of} largest sizes and "
        f"{LATER.inside} of {LATER.of} later sizes in public results of {LATER.systems} systems, "
        f"{NEXT.share:.0%} and {LATER.share:.0%} when every system counts once, each judged by "
        "settings learned from the others"
    )


@dataclass(frozen=True)
class Prediction:
    """What to expect on some number of workers."""

    workers: float
    value: float
    low: float
    high: float
    level: float
    unit: str  # "seconds" or "throughput"
    families: dict[str, float]  # the probability of each, given the rows
    beyond: float  # how many times the largest measured size this is; below 1, inside the table
    coverage: str  # what was measured of such intervals


def predict(
    rows: Rows, workers: float, *, family: str | None = None, settings: Learned = CALIBRATED
) -> Prediction:
    """Predict the value on any number of workers from the smallest measured one on.

    From all families together, or from one that the reader has reason to believe in: the interval
    is then true only if the family is. A wall that no row has met yet is in neither.
    Of repeated runs only the median of each size counts: so were the tables made on which intervals
    were calibrated, and one odd run spoils no median of three.
    Source: `posterior`. Section 3.9.

    >>> from scalelab.curves.rows import Rows
    >>> found = predict(Rows.of([1, 2, 4, 8], seconds=[100, 55, 32.5, 21.25]), 16)
    >>> found.low < 100 * (0.1 + 0.9 / 16) < found.high
    True
    """
    workers = _checked(rows, workers, family)
    chosen = None if family is None else (family,)
    rows = rows.medians()
    mixture = predictive(rows, workers, noise=settings.noise, drift=settings.drift, families=chosen)
    ends = interval(mixture)
    if max(map(abs, ends)) > _FLOATS:
        raise Refused(
            "the rows must agree on some curve, got values that jump by so many orders of magnitude "
            "that no interval can be written down: look for a wrong unit or digit in them"
        )
    low, value, high = sorted(float(rows.value(workers, math.exp(x))) for x in ends)
    return Prediction(
        workers=workers,
        value=value,
        low=low,
        high=high,
        level=LEVEL,
        unit=rows.unit,
        families=mixture.weights,
        beyond=float(workers / rows.workers[-1]),
        coverage=measured(),
    )


def interval(mixture: Mixture) -> tuple[float, float, float]:
    """Low, median and high of a log rate at `LEVEL`."""
    low, median, high = (mixture.quantile(x) for x in ((1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2))
    return low, median, high


def _checked(rows: Rows, workers: float, family: str | None) -> float:
    workers = real("workers", workers, "it counts the workers to predict for", 1, 1e12)
    if workers < rows.base:
        raise Refusal(
            f"workers must be a number from the smallest measured size {rows.base:g} on, got "
            f"{workers:g}: the rows say nothing of smaller ones, so measure one"
        )
    if len(rows.sizes) < FEWEST:
        raise Refused(too_few(rows))
    if family is not None and family not in EXTRAPOLATING:
        raise Refusal(
            f"family must be one of {', '.join(EXTRAPOLATING)}, got {family!r}: others describe a table "
            "but do not extrapolate"
        )
    return workers
