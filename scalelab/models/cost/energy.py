"""Joules per result, and grams of CO2 for a dated grid (Section 3.9).

What the machines draw, modelled from two powers and a utilization; times what the building adds;
times what the grid emits. Measured joules, where a counter exists, replace the first step.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import dated, instance, text
from scalelab.refusal import Refusal

KILOWATT_HOUR = 3.6e6  # joules
_IDLE = "it is what one worker draws while it waits, in watts"
_BUSY = "it is what one worker draws while it computes, in watts"
_UTILIZATION = "it is the share of the time in which a worker computes"
_PUE = "it is the power of the building over that of its computers, at least 1"
_JOULES = "it is the energy of the run, in joules"


@dataclass(frozen=True)
class ElectricityGrid:
    """What a grid emits, at a place and a date: it differs tenfold, and from hour to hour.

    >>> ElectricityGrid(intensity=429, place="USA", date="2020").intensity
    429.0
    """

    intensity: float  # grams of CO2-equivalent per kilowatt-hour
    place: str
    date: str  # a year, a month or a day: 2021, 2021-04, 2021-04-21
    source: str = ""

    def __post_init__(self) -> None:
        intensity = real("intensity", self.intensity, "it is in grams of CO2 per kilowatt-hour", 0)
        object.__setattr__(self, "intensity", intensity)
        text("place", self.place, "name the grid or the region")
        dated("date", self.date, "say when the intensity held")


def watts(utilization: Numbers, idle: Numbers, busy: Numbers) -> Answer:
    """The mean power of one worker: idle + (busy - idle) u.

    What a worker draws while it waits is why an inefficient run costs energy too.
    Source: Fan, Weber and Barroso 2007, doi:10.1145/1250662.1250665. Section 3.9.

    >>> watts([0, 0.5, 1], idle=100, busy=700)
    array([100., 400., 700.])
    """
    utilization = numbers("utilization", utilization, _UTILIZATION, 0, 1)
    idle = numbers("idle", idle, _IDLE, 0)
    busy = numbers("busy", busy, _BUSY, 0)
    more = np.asarray(answer(lambda b, i: b - i, busy, idle))
    if (more < 0).any():
        raise Refusal(
            f"busy must be at least idle, got {-more.min():g} W less: computing draws power too"
        )
    return answer(lambda u, i, m: i + m * u, utilization, idle, more)


def joules(seconds: Numbers, watts: Numbers, workers: Numbers = 1, pue: Numbers = 1.0) -> Answer:
    """The energy of a run: K x power x time x PUE.

    Source: Patterson et al. 2021, arXiv:2104.10350. Section 3.9.

    >>> gpt3 = joules(14.8 * 86400, watts=330, workers=10_000, pue=1.10)
    >>> round(gpt3 / 3.6e9)  # MWh; the paper says 1287
    1289
    """
    seconds = numbers("seconds", seconds, "it is the time of the run, in seconds", 0)
    watts = numbers("watts", watts, "it is the mean power of one worker, in watts", 0)
    workers = numbers("workers", workers, "it counts the workers", 1)
    pue = numbers("pue", pue, _PUE, 1)
    return answer(lambda t, w, k, p: k * w * t * p, seconds, watts, workers, pue)


def per_work(joules: Numbers, work: Numbers) -> Answer:
    """Joules per useful result: joules / work.

    Source: the definition. Sections 3.9 and 41.6.

    >>> per_work(3.6e6, work=1_200_000)
    3.0
    """
    joules = numbers("joules", joules, _JOULES, 0)
    meaning = "it counts the useful results: items scored, tokens, samples trained on"
    work = numbers("work", work, meaning, 0, above=True)
    return answer(lambda e, w: e / w, joules, work)


def grams(joules: Numbers, grid: ElectricityGrid) -> Answer:
    """Grams of CO2-equivalent of a run: kilowatt-hours x intensity of the grid.

    Source: Patterson et al. 2021, arXiv:2104.10350. Section 3.9.

    >>> grid = ElectricityGrid(intensity=429, place="USA", date="2020")
    >>> round(grams(1287 * 3.6e9, grid) / 1e6, 1)  # tonnes, for GPT-3
    552.1
    """
    joules = numbers("joules", joules, _JOULES, 0)
    remedy = (
        "write ElectricityGrid(intensity, place, date): without place and date it means nothing"
    )
    grid = instance("grid", grid, ElectricityGrid, remedy)
    return answer(lambda e: e / KILOWATT_HOUR * grid.intensity, joules)
