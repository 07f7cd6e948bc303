"""What a run costs, per run and per useful result (Section 3.9).

A price, `hourly`, is in dollars per hour for the whole configuration. It is the caller's own, with a
date: nothing in this module knows one. `Price` keeps the number together with where it is from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import dated, text
from scalelab.refusal import Refusal

HOUR = 3600  # seconds; prices are the one place where this book counts in hours
_SECONDS = "it is the time of the run that is paid for, in seconds"
_HOURLY = "it is the price of the whole configuration, in dollars per hour"
_DOLLARS = "it is what the run costs, in dollars"
_WORK = "it counts the useful results: items scored, tokens, samples trained on"


@dataclass(frozen=True)
class Price:
    """What something costs by the hour, when that was so, and who says so: prices move.

    Times a number it is the same price for so many of them.

    >>> node = 8 * Price(2.5, what="one GPU, on demand", date="2025-06", source="an offer to us")
    >>> node.hourly, dollars(3 * 3600, node.hourly)
    (20.0, 60.0)
    """

    hourly: float  # dollars per hour
    what: str  # one of what, and on which terms
    date: str  # a year, a month or a day: 2021, 2021-04, 2021-04-21
    source: str  # where it was read, or who offered it; "invented" is an answer too

    def __post_init__(self) -> None:
        hourly = real("hourly", self.hourly, "it is in dollars per hour", 0)
        object.__setattr__(self, "hourly", hourly)
        text("what", self.what, "say one of what, and on which terms")
        dated("date", self.date, "say when the price held")
        text("source", self.source, "say where you read it, or that you invented it")

    def __mul__(self, count: float) -> Price:
        count = real("count", count, "it counts what is paid for", 0)
        return Price(count * self.hourly, f"{count:g} x {self.what}", self.date, self.source)

    __rmul__ = __mul__

    def __str__(self) -> str:
        return f"${self.hourly:,.2f} per hour: {self.what}, {self.date}, {self.source}"


def dollars(seconds: Numbers, hourly: Numbers, extra: Numbers = 0.0) -> Answer:
    """What a run costs: hours x price, and what else it takes, such as storage and egress.

    Source: the definition. Sections 3.9 and 41.6.

    >>> dollars([3600, 250], hourly=[1, 32]).round(2)
    array([1.  , 2.22])
    """
    seconds = numbers("seconds", seconds, _SECONDS, 0)
    hourly = numbers("hourly", hourly, _HOURLY, 0)
    extra = numbers("extra", extra, "it is what the run costs beyond its hours, in dollars", 0)
    return answer(lambda t, p, x: t / HOUR * p + x, seconds, hourly, extra)


def per_work(dollars: Numbers, work: Numbers) -> Answer:
    """Dollars per useful result: dollars / work.

    Source: the definition. Sections 3.9 and 41.6.

    >>> per_work(1.2, work=1_200_000)
    1e-06
    """
    dollars = numbers("dollars", dollars, _DOLLARS, 0)
    work = numbers("work", work, _WORK, 0, above=True)
    return answer(lambda c, w: c / w, dollars, work)


def work_per_dollar(dollars: Numbers, work: Numbers) -> Answer:
    """Useful results per dollar: work / dollars, the reciprocal, where more is better.

    Source: the definition. Sections 3.9 and 41.6.

    >>> work_per_dollar(1.2, work=1_200_000)
    1000000.0
    """
    dollars = numbers("dollars", dollars, f"{_DOLLARS}; what is free has no ratio", 0, above=True)
    work = numbers("work", work, _WORK, 0)
    return answer(lambda c, w: w / c, dollars, work)


def surcharge(efficiency: Numbers) -> Answer:
    """How much more a unit of work costs than at full efficiency: 1/E - 1, not 1 - E.

    For K workers at K times the price of one. Negative, the run is superlinear.
    Source: K T(K) = T(1) / E worker-seconds are paid for T(1) of work. Section 3.9.

    >>> round(surcharge(0.7), 2)
    0.43
    """
    meaning = "it is the share of the paid workers that did useful work"
    efficiency = numbers("efficiency", efficiency, meaning, 0, above=True)
    return answer(lambda e: 1 / e - 1, efficiency)


def relative_bill(speedup: Numbers, relative_price: Numbers) -> Answer:
    """The bill of a faster and dearer configuration, in multiples of the base's: relative price / speedup.

    Twice as fast at twice the price breaks even, in half the time. Below 1 it is cheaper too.
    Source: Wood and Hill 1995, doi:10.1109/2.348002, who call the price "costup". Section 3.9.

    >>> relative_bill(speedup=[2, 6.4], relative_price=[2, 8])
    array([1.  , 1.25])
    """
    speedup = numbers("speedup", speedup, "it is how many times sooner the job ends", 0, above=True)
    meaning = "it is the price per hour, in multiples of the base's"
    relative_price = numbers("relative_price", relative_price, meaning, 0)
    return answer(lambda s, c: c / s, speedup, relative_price)


def hour_saved(
    base_seconds: Numbers, base_dollars: Numbers, seconds: Numbers, dollars: Numbers
) -> Answer:
    """What each hour saved against a base costs: dollars more / hours fewer.

    If an hour is worth more to you than this, buy. Negative, the faster run is also cheaper.
    Source: the definition. Section 3.9.

    >>> hour_saved(base_seconds=3 * 3600, base_dollars=30, seconds=3600, dollars=50)
    10.0
    """
    seconds = numbers("seconds", seconds, _SECONDS, 0)
    dollars = numbers("dollars", dollars, _DOLLARS, 0)
    meaning = "it is the time of the base, in seconds, and has to be the longer one"
    base_seconds = numbers("base_seconds", base_seconds, meaning, 0)
    base_dollars = numbers("base_dollars", base_dollars, "it is what the base costs", 0)
    saved = np.asarray(answer(lambda t, t0: (t0 - t) / HOUR, seconds, base_seconds))
    if not (saved > 0).all():
        short = -saved.min() * HOUR
        gap = f"{short:g} s too few" if short else "the same time twice"
        raise Refusal(
            f"base_seconds must be more than seconds, got {gap}: "
            "what saves no time has no price per hour saved"
        )
    return answer(lambda c, c0, h: (c - c0) / h, dollars, base_dollars, saved)


def share_to_reserve(reserved: Numbers, on_demand: Numbers) -> Answer:
    """The share of all hours from which on a reservation is cheaper: reserved / on-demand price.

    A reservation is paid for whether used or not, on-demand capacity only while used. Above 1 it
    never pays.
    Source: equal bills for a month of which a share is used. Section 3.9.

    >>> share_to_reserve(reserved=2.4, on_demand=4.0)
    0.6
    """
    reserved = numbers("reserved", reserved, f"{_HOURLY}, reserved", 0)
    on_demand = numbers("on_demand", on_demand, f"{_HOURLY}, on demand", 0, above=True)
    return answer(lambda r, p: r / p, reserved, on_demand)
