"""Latency and bandwidth of the published sweeps: in sample, of sizes left out, and by least squares.

`python -m tests.bench.alphabeta` prints the table in some ten seconds.
"""

import numpy as np

from scalelab.links import alphabeta, compare
from scalelab.links.sweep import Sweep, published_names
from scalelab.units import text


def rows():
    """Print the table; it compares errors, so it adds no line to the comparison of speeds."""
    print(f"{'sweep and method':50} {'median':>7} {'90th':>7} {'held':>9}  least latency")
    for name in published_names():
        sweep = Sweep.published(name)
        fitted = alphabeta.fit(sweep)
        latency = min(regime.latency.value for regime in fitted.regimes)
        line(f"{name}, in sample", fitted.seconds(sweep.size), sweep.seconds, latency)
        found = [left_out(sweep, size) for size in sweep.size]
        middle = np.array([one.value for one in found])
        held = sum(one.low <= s <= one.high for one, s in zip(found, sweep.seconds, strict=True))
        line("   each size left out in turn", middle, sweep.seconds, held=f"{held} of {len(found)}")
        latency, per_byte, _ = compare.least_squares(sweep)
        line("   least squares, in sample", latency + per_byte * sweep.size, sweep.seconds, latency)
        kept = len(fitted.regimes)
        print(f"   {kept} regimes, noise {text(fitted.noise, '%')}, ends at "
              f"{[text(r.stop, 'B', binary=True) for r in fitted.regimes]}")  # fmt: skip
    return ()


def left_out(sweep, size):
    """What the other sizes predict of this one."""
    return alphabeta.fit(sweep.at(sweep.size != size)).predict(size)


def line(name, guess, truth, latency=None, held=""):
    """Print one line of relative errors."""
    errors = np.abs(guess / truth - 1)
    least = "" if latency is None else text(latency, "s")
    print(f"{name:50} {np.median(errors):7.1%} {np.percentile(errors, 90):7.1%} {held:>9}  {least}")


if __name__ == "__main__":
    rows()
