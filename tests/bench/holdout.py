"""How well a size that was not measured is predicted on programs that had no part: families, rival, ours.

`python -m tests.bench.holdout` prints the table, for each kind of study, in a minute.
"""

from functools import partial

import numpy as np

from scalelab.curves.families import FAMILIES
from scalelab.curves.fit import log_rates
from tests.learning import calibrate
from tests.learning.calibrate import Outcome


def rows():
    """Print the tables; they compare errors, so they add no line to the comparison of speeds."""
    for kind in ("", *calibrate.KINDS):
        print_table(kind)
    return ()


def print_table(kind):
    """Print how every way did on tables of one kind, or of all."""
    splits = [one for one in calibrate.hold_outs(judging=True) if kind in ("", one.kind)]
    programs = len({one.program for one in splits})
    print(f"{kind or 'all'}: {len(splits)} sizes beyond what was shown, of {programs} programs")
    print(f"{'how':36} {'median error':>12} {'worst tenth':>12} {'held':>7} {'score':>7}")
    for name, way in WAYS.items():
        found = calibrate.score(splits, way, interval=name in WITH_INTERVAL)
        held = "" if found.held is None else f"{found.held:7.1%} {found.score:7.2f}"
        print(f"{name:36} {found.median:12.1%} {found.far:12.1%} {held}")
    print("score: the width of an interval and twenty times what it missed by, on average\n")


def by_family(split, family):
    """What the best fit of one family foretells; a curve that is zero there is off by all it can be."""
    logs = log_rates(split.shown, family, [split.workers])[0] - np.log(split.truth)
    return Outcome(0, float(np.clip(logs, -50, 50)), 0)


def by_slope(split):
    """What the slope of the last two sizes foretells, if it stays."""
    ahead = predict_slope(split.shown) * split.ahead * np.log(2)
    return Outcome(0, float(np.log(split.shown.rate[-1]) + ahead - np.log(split.truth)), 0)


def predict_slope(shown):
    """The slope between the last two sizes on doubly logarithmic paper."""
    (x0, x1), (k0, k1) = np.log(shown.rate[-2:]), np.log(shown.workers[-2:])
    return (x1 - x0) / (k1 - k0)


WITH_INTERVAL = ("the rival, damped slope", "ours")
WAYS = {family.name: partial(by_family, family=family) for family in FAMILIES}
WAYS |= {"slope of the last two sizes": by_slope}
WAYS |= dict(zip(WITH_INTERVAL, (calibrate.rivals, calibrate.ours), strict=True))


if __name__ == "__main__":
    rows()
