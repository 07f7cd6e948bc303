"""Section 3.4: a second copy of a request that has waited for a while, in the queue of the other server.

Everybody is where `simulated.hedged_visits` says that they are: the copy that loses is dropped from its line,
where somebody cancels it, and is served for nobody, where nobody does.
"""

from __future__ import annotations

import math

import numpy as np

from scalelab import units
from scalelab.arguments import real
from scalelab.models.checking import Numbers
from scalelab.models.waiting.simulated import hedged_visits
from scalelab.show.drawings.drawing import Drawing, Frame
from scalelab.show.drawings.waiting.rows import TimeRows, few, ms, until, watched
from scalelab.show.drawings.waiting.stage import (
    DONE,
    MOST,
    SERVED,
    WAITS,
    Stage,
    listed,
    told_apart,
)

COPY = 4
TONES = {"waits": WAITS, "is served": SERVED, "a copy": COPY, "answered": DONE}
_DELAY = "it is how long a request waits before its copy is sent, in seconds"
_STAGE = Stage(1, pools=2, names="AB")
_NEVER = 1e9  # seconds, the longest that the simulation takes


def hedge(
    name: str,
    arrivals: Numbers,
    service: Numbers,
    again: Numbers,
    delay: float = math.inf,
    *,
    cancel: bool = True,
    seed: int = 0,
    horizon: float | None = None,
) -> Drawing:
    """Requests at two servers, each with its queue, and copies that go to the other one after a delay.

    Without a delay nothing is sent twice. What has begun is never stopped: `cancel` empties lines.
    """
    delay = _NEVER if delay == math.inf else real("delay", delay, _DELAY, 0)
    found = told_apart(hedged_visits(arrivals, service, again, delay, cancel=cancel, seed=seed))
    first = np.atleast_1d(np.asarray(arrivals, float)).round(9).tolist()
    few(len(first), MOST, "arrivals")
    rows = TimeRows(_STAGE.high + 6, len(first), until(horizon, max(one.left for one in found)))
    done = [
        min(one.left for one in found if one.request == at and one.began is not None)
        for at in range(len(first))
    ]
    copies = sum(one.copy for one in found)
    return watched(
        name,
        f"{units.counted(len(first), 'request')}, "
        f"{copies or 'no'} {'copy' if copies == 1 else 'copies'}, {_work(found, math.inf)} ms of work",
        "Circles with numbers are requests, with a b their copies. Each server has a line of its own. Below, "
        "each request has a row: in its upper half what was sent first, in its lower half the copy.",
        rows,
        (t for one in found for t in (one.came, one.left)),
        lambda before, now: _frame(found, first, done, rows, before, now),
        TONES,
    )


def _frame(found, first, done, rows, before, now):
    clock = max(now, 0.0)
    shapes = [*rows.axis(clock, [f"{at + 1}" for at in range(len(first))])]
    shapes += _STAGE.shapes(found, now)
    brought = sorted(
        (one.left, one.request, one.copy) for one in found if one.left <= now and _first(one, done)
    )
    shapes += _STAGE.answered(_once(brought))
    for one in found:
        what = f"{'copy' * one.copy}{one.request + 1}"
        half = int(one.copy)
        if one.came <= now:
            end = min(now, one.left if one.began is None else one.began)
            shapes += rows.bar(f"wait {what}", one.request, one.came, end, WAITS, half)
        if one.began is not None and one.began <= now:
            tone = COPY if one.copy else SERVED
            end = min(now, one.left)
            shapes += rows.bar(f"work {what}", one.request, one.began, end, tone, half)
    took = [end - begin for begin, end in zip(first, done, strict=True) if end <= now]
    facts = {
        "Work of the servers": f"{_work(found, now)} ms, of it {_late(found, done, now)} ms on what was "
        "answered already",
        "Clock": f"{ms(clock)} ms",
        "Copies sent": f"{sum(one.copy and one.came <= now for one in found)}",
        "Slowest answer so far": f"{ms(max(took))} ms" if took else "none yet",
    }
    return Frame(_caption(found, first, done, before, now), tuple(shapes), facts)


def _work(found, now):
    return ms(sum(_done(one, now) for one in found))


def _late(found, done, now):
    """Return the work on what had its answer already."""
    return ms(sum(_done(one, now) - _done(one, min(done[one.request], now)) for one in found))


def _first(one, done):
    """Whether it brought the answer."""
    return one.began is not None and one.left == done[one.request]


def _once(brought):
    """Return who brought each answer: of two at one time, the first that was sent."""
    found: dict[int, bool] = {}
    for _, request, copy in brought:
        found.setdefault(request, copy)
    return found.items()


def _done(one, now):
    if one.began is None or one.began > now:
        return 0.0
    return min(one.left, now) - one.began


def _caption(found, first, done, before, now):
    if now < 0:
        return (
            "Two servers, each with a line of its own. "
            f"{len(done)} requests will come, and one of them meets a pause."
        )
    said = []
    left = [one for one in found if before < one.left <= now]
    if now >= max(one.left for one in found):
        return _end(found, first, done)
    if won := sorted({one.request for one in left if done[one.request] == one.left}):
        said.append(f"{listed(won)} answered.")
    for one in left:
        if one.began is None:
            said.append(f"{_name(one)} is cancelled in its line.")
        elif one.left > done[one.request]:
            said.append(f"{_name(one)} ends, and nobody needs it.")
    for one in found:
        if before < one.came <= now:
            said.append(_comes(found, one, now))
        elif one.began is not None and before < one.began <= now and done[one.request] <= now:
            said.append(f"{_name(one)} begins all the same.")
    return " ".join(said)


def _end(found, first, done):
    slowest = ms(max(end - begin for begin, end in zip(first, done, strict=True)))
    copies = sum(one.copy for one in found)
    done_twice = (
        f"{copies} copies made it {_work(found, math.inf)} ms of work"
        if copies
        else "nothing was sent twice"
    )
    return f"All is done. The slowest answer took {slowest} ms; {done_twice}."


def _comes(found, one, now):
    where = _STAGE.names[one.pool]
    if one.copy:
        return f"No answer to {one.request + 1} yet: a copy goes to server {where}."
    if one.waits(now):
        return f"Request {one.request + 1} comes and waits at server {where}."
    usual = sorted(two.left - two.began for two in found if two.began is not None)
    if one.left - one.began > 2 * usual[len(usual) // 2]:
        return f"Request {one.request + 1} comes, and server {where} pauses: {ms(one.left - now)} ms for it."
    return f"Request {one.request + 1} comes to server {where} and is served at once."


def _name(one):
    return f"Copy {one.request + 1}b" if one.copy else f"The original {one.request + 1}"
