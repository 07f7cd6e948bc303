"""What failures cost a long job, and how often to save it (Section 3.2).

A job works for an interval, writes a checkpoint, and goes on; a failure costs a restart and all work
since the last checkpoint. Failures come at random, at a constant rate, also while it writes or restarts.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.refusal import Refusal

_MTTF = "it is the mean time between failures of everything the job runs on, in seconds"
_WRITE = "it is the time to write one checkpoint, in seconds"
_INTERVAL = "it is the work between two checkpoints, in seconds"
_RESTART = "it is the time to come back after a failure, in seconds"


_MOST = 10_000  # stretches of a run that is told one by one


@dataclass(frozen=True)
class Stretch:
    """What a run did for a while: "saved", "unsaved" or "lost" work, "saving", or "restarting"."""

    kind: str
    start: float
    end: float


def stretches(
    until: float, interval: float, write: float, restart: float, failures: Numbers
) -> tuple[Stretch, ...]:
    """A run that fails at given moments, as it looks at one moment: what is saved, and what is lost.

    A failure takes all work since the last checkpoint that was written to its end, and what was written of
    the next; one that comes during a restart begins it anew.
    Source: the assumptions of Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.2.

    >>> [(one.kind, one.end) for one in stretches(60, interval=20, write=5, restart=3, failures=[40])]
    [('saved', 20.0), ('saving', 25.0), ('lost', 40.0), ('restarting', 43.0), ('unsaved', 60.0)]
    """
    until = real("until", until, "it is the moment at which one looks, in seconds", 0)
    interval = real("interval", interval, _INTERVAL, 0, above=True)
    write, restart = real("write", write, _WRITE, 0), real("restart", restart, _RESTART, 0)
    moments = numbers("failures", failures, "they are the moments of the failures, in seconds", 0)
    if until / (interval + write) + moments.size > _MOST:
        raise Refusal(
            f"interval must leave fewer than {_MOST:,} checkpoints, got {interval:g}: take a longer one, or "
            "look sooner"
        )
    found: list[Stretch] = []
    begin = 0.0
    for end in [*sorted(one for one in moments.ravel().tolist() if one < until), until]:
        if begin < end:
            found += _attempt(begin, end, interval, write, restart if begin else 0.0, end < until)
        begin = end
    return tuple(found)


def _attempt(begin, end, interval, write, restart, fails):
    """Return what happens from a start, or a failure, to the next failure, or to where one looks."""
    now = min(begin + restart, end)
    found = [Stretch("restarting", begin, now)] if restart else []
    while now < end:
        worked = min(now + interval, end)
        written = worked + write
        if written <= end and worked < end:
            found += [Stretch("saved", now, worked)] + [Stretch("saving", worked, written)] * bool(
                write
            )
        elif fails:
            found.append(Stretch("lost", now, end))
        else:
            found.append(Stretch("unsaved", now, worked))
            found += [Stretch("saving", worked, end)] * (worked < end)
        now = written
    return found


def mean_time_to_failure(one: Numbers, machines: Numbers) -> Answer:
    """Seconds between failures of K machines of which the job needs all: mu(K) = mu(1) / K.

    Rates add; this holds for any spread of failures once machines have been replaced for a while.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.2.

    >>> mean_time_to_failure(5 * 365 * 86400, 10_000) / 3600  # five years each: hours
    4.38
    """
    one = numbers("one", one, "it is the mean time between failures of one machine", 0, above=True)
    machines = numbers("machines", machines, "it counts the machines that must all work", 1)
    return answer(lambda mu, k: mu / k, one, machines)


def young_interval(write: Numbers, mttf: Numbers) -> Answer:
    """The work between checkpoints that loses least, to first order: sqrt(2 delta mu).

    Source: Young 1974, doi:10.1145/361147.361115. Section 3.2.

    >>> young_interval(write=300, mttf=86400) / 60  # minutes
    120.0
    """
    write = numbers("write", write, _WRITE, 0, above=True)
    mttf = numbers("mttf", mttf, _MTTF, 0, above=True)
    return answer(lambda delta, mu: np.sqrt(2 * delta * mu), write, mttf)


def daly_interval(write: Numbers, mttf: Numbers) -> Answer:
    """The same to higher order: sqrt(2 delta mu) (1 + r / 3 + r^2 / 9) - delta, r^2 = delta / 2 mu.

    Where a checkpoint takes twice as long as the machines last, delta >= 2 mu, the answer is mu.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.2.

    >>> round(daly_interval(write=300, mttf=86400) / 60)  # minutes; figure 3 of the paper
    117
    """
    write = numbers("write", write, _WRITE, 0, above=True)
    mttf = numbers("mttf", mttf, _MTTF, 0, above=True)

    def interval(delta, mu):
        root = np.sqrt(np.minimum(delta / mu / 2, 1))
        series = np.sqrt(2 * delta * mu) * (1 + root / 3 + root**2 / 9) - delta
        return np.where(delta < 2 * mu, series, mu)

    return answer(interval, write, mttf)


def useful_share(interval: Numbers, write: Numbers, restart: Numbers, mttf: Numbers) -> Answer:
    """The share of the time that becomes lasting work: tau e^(-R/mu) / (mu (e^((tau+delta)/mu) - 1)).

    (tau + delta) / mu is what an attempt takes, in mean times between failures.
    Exact for failures at a constant rate; the reciprocal is what `expected_seconds` grows by.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.2.

    >>> round(useful_share(117 * 60, write=300, restart=600, mttf=86400), 3)
    0.913
    """
    interval = numbers("interval", interval, _INTERVAL, 0, above=True)
    write = numbers("write", write, _WRITE, 0)
    restart = numbers("restart", restart, _RESTART, 0)
    mttf = numbers("mttf", mttf, _MTTF, 0, above=True)

    def share(tau, delta, r, mu):
        x = (tau + delta) / mu
        # x / (e^x - 1), written so that it neither overflows nor divides by zero.
        survival = np.where(x > 0, x * np.exp(-x) / np.where(x > 0, -np.expm1(-x), 1), 1)
        return tau / (tau + delta) * survival * np.exp(-r / mu)

    return answer(share, interval, write, restart, mttf)


def expected_seconds(
    useful: Numbers, interval: Numbers, write: Numbers, restart: Numbers, mttf: Numbers
) -> Answer:
    """Expected time of a job with checkpoints and failures: (W / tau) mu e^(R/mu) (e^((tau+delta)/mu) - 1).

    (tau + delta) / mu is what an attempt takes, in mean times between failures.
    Exact for failures at a constant rate and work of a whole number of intervals.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016. Section 3.2.

    >>> round(expected_seconds(500 * 3600, 117 * 60, 300, 600, mttf=86400) / 3600)  # hours
    548
    """
    useful = numbers("useful", useful, "it is the time of the job if nothing fails, in seconds", 0)

    def stretched(w, share):
        # A share too small for a float means a job that never ends: refuse it like an overflow.
        with np.errstate(divide="raise", invalid="raise"):
            return w / share

    share = np.asarray(useful_share(interval, write, restart, mttf))
    return answer(stretched, useful, share)
