"""How well a size that was not measured is predicted on programs that had no part: families, rival, ours.

`python -m tests.bench.holdout` prints the table, for each kind of study, in a minute or two.
"""

from collections import defaultdict
from functools import cache, partial

import numpy as np

from scalelab.curves.families import BY_NAME, FAMILIES
from scalelab.curves.fit import log_rates
from tests.learning import calibrate
from tests.learning.calibrate import Outcome

RIVAL, OURS = "slope, damped by its fall", "predict"


def rows():
    """Print the tables; they compare errors, so they add no line to the comparison of speeds."""
    for kind in ("", *calibrate.KINDS):
        found = scores(kind)
        print(f"{kind or 'all'}: sizes beyond what was shown, of programs that had no part")
        print(f"{'how':28} {'median error':>12} {'worst tenth':>12} {'held':>7} {'score':>7}")
        for name, one in found.items():
            held = "" if one.held is None else f"{one.held:7.1%} {one.score:7.2f}"
            print(f"{name:28} {one.median:12.1%} {one.far:12.1%} {held}")
    print("score: the width of an interval and twenty times what it missed by, on average")
    return ()


def scores(kind=""):
    """How every way did on tables of one kind, or of all; an interval has only who gives one."""
    splits = [one for one in calibrate.hold_outs(judging=True) if kind in ("", one.kind)]
    with_interval = (RIVAL, OURS)
    return {name: calibrate.score(splits, way, name in with_interval) for name, way in WAYS.items()}


def by_family(split, family):
    """What the best fit of one family foretells; a curve that is zero there is off by all it can be."""
    told = foretold(family)[split.name, len(split.shown.workers)][split.workers]
    return Outcome(0, float(np.clip(told - np.log(split.truth), -50, 50)), 0)


@cache
def foretold(family):
    """The log rates of all later sizes, by what was shown: a table is fitted once for all of them."""
    shown, later = {}, defaultdict(list)
    for one in calibrate.hold_outs(judging=True):
        key = one.name, len(one.shown.workers)
        shown[key] = one.shown
        later[key].append(one.workers)
    return {
        key: dict(zip(sizes, log_rates(shown[key], BY_NAME[family], sizes), strict=True))
        for key, sizes in later.items()
    }


def by_slope(split):
    """What the slope of the last two sizes foretells, if it stays."""
    (x0, x1), (k0, k1) = np.log(split.shown.rate[-2:]), np.log(split.shown.workers[-2:])
    told = x1 + (x1 - x0) / (k1 - k0) * split.ahead * np.log(2)
    return Outcome(0, float(told - np.log(split.truth)), 0)


WAYS = {family.name: partial(by_family, family=family.name) for family in FAMILIES}
WAYS |= {"slope of the last two sizes": by_slope, RIVAL: calibrate.rivals, OURS: calibrate.ours}


if __name__ == "__main__":
    rows()
