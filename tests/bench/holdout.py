"""How well a size that was not measured is predicted, on public results: families, slope, ensemble.

`python -m tests.bench.holdout` prints the table in half a minute.
"""

import numpy as np

from scalelab.curves import predict
from scalelab.curves.families import FAMILIES
from scalelab.curves.fit import log_rates
from tests.learning import calibrate

ENVELOPE = ("linear", "power", "amdahl", "usl", "gustafson")


def rows():
    """Print the table; it compares errors, so it adds no line to the comparison of speeds."""
    largest = [one for one in calibrate.hold_outs() if one.largest]
    print(f"the largest size of {len(largest)} series, predicted from the smaller ones")
    print(f"{'how':34} {'median':>7} {'90th':>7} {'held':>9} {'width':>7} {'score':>7}")
    errors = {family.name: [error(one, family) for one in largest] for family in FAMILIES}
    for name, found in errors.items():
        line(name, found)
    line("slope of the last two points", [slope(one) for one in largest])
    spread = np.array([errors[name] for name in ENVELOPE])
    line("envelope of five families", np.median(spread, 0), spread.min(0), spread.max(0))
    spread = np.array([errors[name] for name in (*ENVELOPE, "hard cap")])
    line("the same and the hard cap", np.median(spread, 0), spread.min(0), spread.max(0))
    for choice, text in ((True, "ours, largest size"), (False, "ours, every later size")):
        found = [
            outcome
            for one, outcome in zip(calibrate.hold_outs(), calibrate.judged(), strict=True)
            if one.largest or not choice
        ]
        line(text, *(np.array([getattr(o, x) for o in found]) for x in ("median", "low", "high")))
    wider = stretched(np.array([errors[name] for name in ENVELOPE]), calibrate.coverage().inside)
    print(
        f"to hold as many as ours, the first envelope must be stretched to a median of {wider:.1%}"
    )
    print("score: the interval score, width and twenty times what was missed by, on average")
    print(f"settings learned from all systems: {calibrate.settings()}")
    print(predict.measured())
    return ()


def error(one, family):
    """The error of one family's best fit, in the logarithm of the rate."""
    return log_rates(one.shown, family, [one.workers])[0] - np.log(one.truth)


def stretched(spread, held):
    """The median width of envelopes, widened alike about their middles until so many hold."""
    low, middle, high = spread.min(0), np.median(spread, 0), spread.max(0)
    sides = np.where(middle > 0, middle - low, high - middle)
    times = np.sort(np.abs(middle) / np.maximum(sides, 1e-12))[held - 1]
    return np.median((high - low) * max(times, 1.0))


def slope(one):
    """The error of carrying on in a straight line on doubly logarithmic paper."""
    (k1, k2), (x1, x2) = one.shown.workers[-2:], one.shown.rate[-2:]
    guess = x2 * (one.workers / k2) ** (np.log(x2 / x1) / np.log(k2 / k1))
    return np.log(guess / one.truth)


def line(name, errors, low=None, high=None):
    """Print one line: relative errors, and where there is an interval, its coverage and width."""
    absolute = np.abs(np.expm1(errors))
    held = width = ""
    if low is not None:
        held = f"{np.sum((low <= 0) & (high >= 0))} of {len(low)}"
        outcomes = [calibrate.Outcome(*ends) for ends in zip(low, errors, high, strict=True)]
        score = np.mean([calibrate.interval_score(one) for one in outcomes])
        width = f"{np.median(high - low):7.1%} {score:7.2f}"
    print(
        f"{name:34} {np.median(absolute):7.1%} {np.percentile(absolute, 90):7.1%} {held:>9} {width}"
    )


if __name__ == "__main__":
    rows()
