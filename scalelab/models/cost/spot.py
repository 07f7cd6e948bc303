"""Capacity that is cheap because it can be taken away: what a job on it costs (Section 3.9).

Preemptions come at random at a constant rate while the job runs, as in `failures`. Hours are billed
while the job holds its machines: working, writing, restarting; not while it waits for new ones.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import instance
from scalelab.models.cost import cost
from scalelab.models.machines.failures import expected_seconds, useful_share

_INTERVAL = "it is the work between two checkpoints, in seconds"


@dataclass(frozen=True)
class Spot:
    """An offer, for all machines of a job together: one preempted machine stops them all.

    >>> Spot(hourly=1.2, between=4 * 3600, write=60, restart=300).wait
    0.0
    """

    hourly: float  # dollars per hour
    between: float  # mean seconds of running from one preemption to the next
    write: float  # seconds to write a checkpoint
    restart: float  # seconds to come back once there are machines
    wait: float = 0.0  # mean seconds until there are

    def __post_init__(self) -> None:
        def settle(name, meaning, **limits):
            object.__setattr__(self, name, real(name, getattr(self, name), meaning, 0, **limits))

        settle("hourly", "it is in dollars per hour, for all machines")
        meaning = "it is the mean time between preemptions of any machine, in seconds"
        settle("between", meaning, above=True)
        settle("write", "it is the time to write a checkpoint, in seconds")
        settle("restart", "it is the time to come back, in seconds")
        settle("wait", "it is the time without machines, in seconds")


def billed_seconds(useful: Numbers, interval: Numbers, spot: Spot) -> Answer:
    """Expected seconds that are paid for: useful / share of the time that becomes lasting work.

    Source: Daly 2006, doi:10.1016/j.future.2004.11.016, as in `failures`. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> round(billed_seconds(10 * 3600, interval=1200, spot=offer) / 3600, 2)
    11.2
    """
    spot = _offer(spot)
    return expected_seconds(useful, interval, spot.write, spot.restart, spot.between)


def dollars(useful: Numbers, interval: Numbers, spot: Spot) -> Answer:
    """Expected cost of a job: billed hours x price. With Daly's interval it is about the least.

    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.9.

    >>> from scalelab.models.machines.failures import daly_interval
    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> round(dollars(10 * 3600, daly_interval(offer.write, offer.between), offer), 2)
    13.44
    """
    return cost.dollars(billed_seconds(useful, interval, spot), _offer(spot).hourly)


def break_even_price(on_demand: Numbers, interval: Numbers, spot: Spot) -> Answer:
    """The price per hour below which the offer beats one on demand that is never interrupted.

    on_demand x useful share of the time; the length of the job cancels.
    Source: equal bills, with Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> round(break_even_price(on_demand=4.0, interval=1200, spot=offer), 2)
    3.57
    """
    spot = _offer(spot)
    meaning = "it is in dollars per hour, for all machines"
    on_demand = numbers("on_demand", on_demand, meaning, 0)
    share = np.asarray(useful_share(interval, spot.write, spot.restart, spot.between))
    return answer(lambda p, u: p * u, on_demand, share)


def _offer(given: object) -> Spot:
    return instance("spot", given, Spot, "write Spot(hourly, between, write, restart)")
