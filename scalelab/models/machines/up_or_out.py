"""Two ways to spend the same money: a better machine, or more machines (Section 3.2).

Throughput is counted in units of the small machine, so a machine that does twice as much has gain 2
and K small ones at efficiency E do K E. A price, `hourly`, is in dollars per hour; it is
the caller's own, with a date.
"""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers, table
from scalelab.refusal import Refusal

_GAIN = "it is the throughput of the big machine, in small ones"
_WORKERS = "it counts the small machines"
_EFFICIENCY = "it is the share of the small machines that does useful work"
_HOURLY = "it is the price of one small machine, in dollars per hour"
_EXTRA = "it is what going out costs beyond the machines, in dollars per hour: switches, staff"


def upgraded_speedup(shares: Numbers, gains: Numbers) -> Answer:
    """What a better machine brings to a job whose parts gain differently: 1 / sum(share / gain).

    Amdahl's law inside a machine: a share of the time that gains nothing caps the rest.
    Source: Amdahl 1967, doi:10.1145/1465482.1465560. Section 3.2.

    >>> upgraded_speedup([0.9, 0.1], [2, 1])  # 90% waits for memory that got twice as fast
    1.8181818181818181
    """
    shares = numbers("shares", shares, "it is each part's share of the time today", 0, 1)
    gains = numbers("gains", gains, "it is how many times faster each part runs", 0, above=True)
    shares, gains = table(shares=shares, gains=gains)
    if abs(shares.sum() - 1) > 1e-6:
        raise Refusal(
            f"shares must add up to 1, got {shares.sum():g}: list every part of the time, also "
            "what gains nothing"
        )
    return answer(lambda share, gain: 1 / (share / gain).sum(), shares, gains)


def workers_to_match(gain: Numbers, serial: Numbers) -> Answer:
    """The fewest small machines that do what one big one does: K = 1 + (gain - 1) / (1 - gain s).

    Rounded up: machines come whole. Where the serial fraction s alone takes as long as the big
    machine needs for everything, no number does, and the answer is infinite.
    Source: Amdahl 1967, doi:10.1145/1465482.1465560, solved for K. Section 3.2.

    >>> workers_to_match(4, serial=[0, 0.05, 0.25])
    array([ 4.,  5., inf])
    """
    gain = numbers("gain", gain, _GAIN, 1)
    meaning = "it is the fraction of the work that cannot run in parallel"
    serial = numbers("serial", serial, meaning, 0, 1)

    def match(g, s):
        with np.errstate(divide="ignore", invalid="ignore"):
            workers = 1 + (g - 1) / np.maximum(1 - g * s, 0)
        # One machine always matches itself, even where nothing runs in parallel: fmax mends 0/0.
        # Rounding must not cost a machine: 4.000000000000001 is 4.
        return np.fmax(np.ceil(workers * (1 - 1e-12)), 1)

    return answer(match, gain, serial)


def price_per_throughput(hourly: Numbers, throughput: Numbers) -> Answer:
    """Dollars per hour for each unit of throughput: hourly / throughput.

    Source: the definition. Section 3.2.

    >>> price_per_throughput(hourly=4 * 2.0, throughput=4 * 0.8)  # four at 2 dollars and 80%
    2.5
    """
    meaning = "it is the price of the whole configuration, in dollars per hour"
    hourly = numbers("hourly", hourly, meaning, 0)
    meaning = "it is in any unit, the same for all that you compare"
    throughput = numbers("throughput", throughput, meaning, 0, above=True)
    return answer(lambda p, t: p / t, hourly, throughput)


def crossover_price(
    gain: Numbers, workers: Numbers, efficiency: Numbers, hourly: Numbers, extra: Numbers = 0
) -> Answer:
    """The price of the big machine at which up and out cost the same: gain (K hourly + extra) / (K E).

    Below it the big machine is the better buy, above it the K small ones are.
    Source: equal `price_per_throughput` on both sides. Section 3.2.

    >>> crossover_price(gain=2, workers=8, efficiency=0.8, hourly=2.0)
    5.0
    """
    gain = numbers("gain", gain, _GAIN, 0, above=True)
    workers = numbers("workers", workers, _WORKERS, 1)
    efficiency = numbers("efficiency", efficiency, _EFFICIENCY, 0, above=True)
    hourly = numbers("hourly", hourly, _HOURLY, 0)
    extra = numbers("extra", extra, _EXTRA, 0)
    return answer(
        lambda g, k, e, p, x: g * (p + x / k) / e, gain, workers, efficiency, hourly, extra
    )
