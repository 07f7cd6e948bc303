"""Jobs on capacity that can be taken away, followed attempt by attempt (Section 3.9).

What `spot` says of the mean, this says of every single run: how many end in time, and what the dear
ones cost.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Floats
from scalelab.models.choice import instance
from scalelab.models.cost import cost
from scalelab.models.cost.spot import Spot, lasting_share
from scalelab.refusal import Refusal

_MOST = 1_000_000
_FEWEST = 1e-3  # of the time that becomes work: below it a run is all preemptions
_MOST_TOLD, _FEWEST_TOLD = 1000, 0.02  # the same, of a run that is told in words


@dataclass(frozen=True)
class Runs:
    """One entry for each run of the same job."""

    billed: Floats  # seconds of holding machines, and of what is kept while waiting
    elapsed: Floats  # seconds from start to end, waiting included
    preemptions: Floats
    hourly: float

    @property
    def dollars(self) -> Floats:
        """What each run costs."""
        return cost.dollars(self.billed, self.hourly)

    def within(self, deadline: float) -> float:
        """The share of the runs that end by a deadline, in seconds.

        >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
        >>> runs(10 * 3600, 1200, offer, jobs=100, seed=1).within(9 * 3600)
        0.0
        """
        deadline = real("deadline", deadline, "it is the one time you have, in seconds", 0)
        return float(np.mean(self.elapsed <= deadline))


@dataclass(frozen=True)
class Episode:
    """What a run did for a while: "work" that lasts, a "checkpoint", what was "lost", "wait" or "restart"."""

    what: str
    begin: float  # seconds from the start of the run
    end: float


def runs(useful: float, interval: float, spot: Spot, jobs: int = 1000, seed: int = 0) -> Runs:
    """Follow `jobs` runs of the same job, whose last interval may be a short one.

    Preemptions come at a constant rate while machines are held, and machines come back after a
    wait that is exponential too. Whoever is warned in time saves once more before the end.
    Source: the model of Daly 2006, doi:10.1016/j.future.2004.11.016, played out. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300)
    >>> found = runs(10 * 3600, 1200, offer, jobs=2000, seed=1)
    >>> round(float(found.billed.mean()) / 3600, 1)  # spot.billed_seconds says 11.2
    11.2
    """
    useful, interval, spot, random = _checked(useful, interval, spot, seed)
    jobs = whole("jobs", jobs, "it counts the runs to follow", 1, _MOST)
    left = np.full(jobs, useful)
    billed, waited, preempted, restart = np.zeros((4, jobs))
    while (going := left > 0).any():
        needed = restart + np.minimum(interval, left) + spot.write
        # A constant rate has no memory: the time to the next preemption may be drawn afresh.
        calm = random.exponential(spot.between, jobs)
        lost, done = going & (calm < needed), going & (calm >= needed)
        billed += np.where(lost, calm, np.where(done, needed, 0.0))
        waited += np.where(lost, random.exponential(spot.wait, jobs) if spot.wait else 0.0, 0.0)
        preempted += lost
        restart_before, restart = restart, np.where(lost, spot.restart, 0.0)
        saved = np.clip(calm - restart_before - spot.write, 0.0, np.minimum(interval, left))
        left = np.where(done, left - interval, np.where(lost & spot.warned, left - saved, left))
    return Runs(billed + spot.kept * waited, billed + waited, preempted, spot.hourly)


def history(useful: float, interval: float, spot: Spot, seed: int = 0) -> tuple[Episode, ...]:
    """Tell one run from start to end: the only one of `runs` with `jobs=1` and the same seed.

    What was lost is all since the last checkpoint, with what was written of the next. Each "wait" begins
    where machines are taken away, and is as long as a moment if the next come at once.
    Source: the same model, played out. Section 3.9.

    >>> offer = Spot(hourly=1.2, between=4 * 3600, write=60, restart=300, wait=600)
    >>> told = history(3 * 3600, 1200, offer, seed=0)
    >>> [one.what for one in told if one.what in ("lost", "wait", "restart")]
    ['lost', 'wait', 'restart']
    """
    left, interval, spot, random = _checked(
        useful, interval, spot, seed, most=_MOST_TOLD, fewest=_FEWEST_TOLD
    )
    told: list[Episode] = []
    now = restart = 0.0

    def goes_on(what, seconds):
        nonlocal now
        if seconds > 0 or what == "wait":
            told.append(Episode(what, now, now + seconds))
            now += seconds

    while left > 0:
        work = min(interval, left)
        calm = float(random.exponential(spot.between, 1)[0])
        wait = float(random.exponential(spot.wait, 1)[0]) if spot.wait else 0.0
        goes_on("restart", min(restart, calm))
        if calm >= restart + work + spot.write:
            goes_on("work", work)
            goes_on("checkpoint", spot.write)
            left, restart = left - interval, 0.0
            continue
        held = max(calm - restart, 0.0)
        if spot.warned and held > spot.write:
            goes_on("work", held - spot.write)
            goes_on("checkpoint", spot.write)
            left -= held - spot.write
        else:
            goes_on("lost", held)
        goes_on("wait", wait)
        restart = spot.restart
    return tuple(told)


def _checked(useful, interval, spot, seed, most=_MOST, fewest=_FEWEST):
    """Return a job that ends, its offer, and the luck that a seed stands for."""
    useful = real("useful", useful, "it is the time of the job if nothing happens", 0, above=True)
    interval = real("interval", interval, "it is the work between two checkpoints", 0, above=True)
    spot = instance("spot", spot, Spot, "write Spot(hourly, between, write, restart)")
    share = lasting_share(min(interval, useful), spot)
    if share < fewest or useful / interval > most:
        raise Refusal(
            f"interval must leave a run that ends, got {interval:g} s for a job of {useful:g} s that is "
            f"preempted every {spot.between:g} s: save once in a while, and well within that time"
        )
    random = np.random.default_rng(whole("seed", seed, "it is a whole number", 0, 2**63))
    return useful, interval, spot, random
