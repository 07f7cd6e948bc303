"""Capacity that is cheap because it can be taken away: what a job on it costs (Section 3.9).

Preemptions come at random at a constant rate while the job runs, as in `failures`. Hours are billed
while the job holds its machines: working, writing, restarting; while it waits for new ones, as far as
it keeps the others. A notice long enough to write a checkpoint saves the work since the last one.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import instance
from scalelab.models.machines.failures import useful_share

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
    kept: float = 0.0  # share of the machines that are kept, and paid, during the wait
    notice: float = 0.0  # seconds between the warning and the end

    def __post_init__(self) -> None:
        def settle(name, meaning, **limits):
            object.__setattr__(self, name, real(name, getattr(self, name), meaning, 0, **limits))

        settle("hourly", "it is in dollars per hour, for all machines")
        meaning = "it is the mean time between preemptions of any machine, in seconds"
        settle("between", meaning, above=True)
        settle("write", "it is the time to write a checkpoint, in seconds")
        settle("restart", "it is the time to come back, in seconds")
        settle("wait", "it is the time without machines, in seconds")
        kept = real("kept", self.kept, "it is the share of the machines paid during the wait", 0, 1)
        object.__setattr__(self, "kept", kept)
        settle("notice", "it is the warning before machines are gone, in seconds")

    @property
    def warned(self) -> bool:
        """Whether the notice is long enough to save the work."""
        return self.notice > 0 and self.notice >= self.write


def billed_seconds(useful: Numbers, interval: Numbers, spot: Spot) -> Answer:
    """Expected seconds that are paid for: useful / share of the paid time that becomes lasting work.

    Without a notice the share is that of `failures`. With one, an attempt of length L lasts
    progress for all but restart and write: e^(-(R+delta)/mu) (1 - e^(-tau/mu)) / (1 - e^(-(tau+delta)/mu)).
    What is kept and paid while the job waits comes on top, kept x wait for each preemption.
    It is infinite where a checkpoint is so rare that nothing lasts.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016; with a notice, the same integral. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> round(billed_seconds(10 * 3600, interval=1200, spot=offer) / 3600, 2)
    11.2
    """
    useful = numbers("useful", useful, "it is the time of the job if nothing happens", 0)
    share = np.asarray(lasting_share(interval, spot))
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing lasts it is endless
        return answer(lambda work, lasting: np.where(work, work / lasting, 0.0), useful, share)


def lasting_share(interval: Numbers, spot: Spot) -> Answer:
    """The share of the paid time that becomes lasting work.

    Source: as in `billed_seconds`. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=1800, write=60, restart=300)
    >>> warned = Spot(hourly=1.2, between=1800, write=60, restart=300, notice=120)
    >>> round(lasting_share(460, offer), 2), round(lasting_share(460, warned), 2)
    (0.65, 0.74)
    """
    spot = _offer(spot)
    tau = numbers("interval", interval, _INTERVAL, 0, above=True)
    if spot.warned:
        mu, delta = spot.between, spot.write

        def working(t):
            return (
                np.exp(-(spot.restart + delta) / mu)
                * np.expm1(-t / mu)
                / np.expm1(-(t + delta) / mu)
            )

        share = np.asarray(answer(working, tau))
    else:
        share = np.asarray(useful_share(tau, spot.write, spot.restart, spot.between))
    paid = 1 + spot.kept * spot.wait / spot.between
    return answer(lambda s: s / paid, share)


def dollars(useful: Numbers, interval: Numbers, spot: Spot) -> Answer:
    """Expected cost of a job: billed hours x price. With Daly's interval it is about the least.

    It is infinite where a checkpoint is so rare that nothing lasts.

    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.9.

    >>> from scalelab.models.machines.failures import daly_interval
    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> round(dollars(10 * 3600, daly_interval(offer.write, offer.between), offer), 2)
    13.44
    """
    hourly = _offer(spot).hourly
    return answer(lambda seconds: seconds / 3600 * hourly, billed_seconds(useful, interval, spot))


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
    share = np.asarray(lasting_share(interval, spot))
    return answer(lambda p, u: p * u, on_demand, share)


def _offer(given: object) -> Spot:
    return instance("spot", given, Spot, "write Spot(hourly, between, write, restart)")
