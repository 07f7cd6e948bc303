"""Section 3.4: one pause of a server, met by users who come as planned and by a client that waits.

A client with one request at a time sends the next when the last is answered, so it is late by exactly what
a user would have waited in line: the same rows, of which it tells only what begins when it sends.
"""

from __future__ import annotations

import numpy as np

from scalelab import units
from scalelab.arguments import real
from scalelab.models.checking import Numbers
from scalelab.models.waiting.simulated import visits, waiting
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

UNSENT = 0
TONES = {
    "due, and not sent yet": UNSENT,
    "waits at the server": WAITS,
    "is served": SERVED,
    "answered": DONE,
}
_STAGE = Stage(1)
_LIMIT = "it is the response that is called slow, in seconds"


def load_test(
    name: str, planned: Numbers, service: Numbers, limit: float, *, waits: bool
) -> Drawing:
    """Requests planned at these times, sent by users then, or by one client that waits for its answers."""
    late = waiting(planned, service)
    planned = np.atleast_1d(np.asarray(planned, float)).round(9)
    few(len(planned), MOST, "planned")
    limit = real("limit", limit, _LIMIT, 0)
    found = told_apart(visits(planned + late if waits else planned, service))
    last = max(one.left for one in found)
    rows = TimeRows(_STAGE.high + 6, len(found), until(None, last))
    due = planned.tolist()
    return watched(
        name,
        f"{units.counted(len(found), 'request')}, one pause",
        "Circles with numbers are requests. They wait, sit in the box of the server, and gather at "
        "the right. Below, each has a row: from when it was planned to its answer.",
        rows,
        [*due, *(one.left for one in found)],
        lambda before, now: _frame(found, due, rows, before, now, limit, waits),
        TONES,
    )


def _frame(found, due, rows, before, now, limit, waits):
    clock = max(now, 0.0)
    done = [one for one in found if one.left <= now]
    unsent = [at for at, one in enumerate(found) if due[at] <= now < one.came]
    shapes = [*rows.axis(clock, [f"{one.request + 1}" for one in found])]
    shapes += _STAGE.shapes(found, now, "due, not sent" if waits else "in line")
    shapes += _STAGE.answered((one.request, False) for one in done)
    shapes += [
        _STAGE.in_line(at, False, spot, UNSENT, due[at] == now) for spot, at in enumerate(unsent)
    ]
    for row, one in enumerate(found):
        parts = (
            ("unsent", due[row], one.came, UNSENT),
            ("wait", one.came, one.began, WAITS),
            ("work", one.began, one.left, SERVED),
        )
        for what, begin, end, tone in parts:
            shapes += rows.bar(f"{what} {row + 1}", row, begin, min(end, now), tone)
    told = [one.left - one.came for one in done]
    planned = [one.left - due[at] for at, one in enumerate(found) if one.left <= now]
    slowest = f", the slowest {ms(max(told))} ms" if told else ""
    over = f"over {ms(limit)} ms"
    facts = {
        "What the test tells": f"{_slow(told, limit)} of {len(told)} {over}{slowest}",
        "Counted from the plan": f"{_slow(planned, limit)} of {len(planned)} {over}",
        "Clock": f"{ms(clock)} ms",
        "Requests out": f"{sum(one.came <= now < one.left for one in found)}",
    }
    return Frame(_caption(found, due, before, now, limit, waits), tuple(shapes), facts)


def _slow(seconds, limit):
    return sum(one > limit * (1 + 1e-9) for one in seconds)


def _caption(found, due, before, now, limit, waits):
    if now < 0:
        who = (
            "one client, who waits for each answer, has"
            if waits
            else "users, who do not wait for others, have"
        )
        return f"Before the first: {who} {len(found)} requests to send by a plan. One will meet a pause."
    if now >= max(one.left for one in found):
        return _end(found, due, limit, waits)
    said = []
    if left := [one.request for one in found if before < one.left <= now]:
        said.append(f"{listed(left)} answered.")
    for at, one in enumerate(found):
        who = f"Request {at + 1}"
        if before < due[at] <= now:
            said.append(_due(found, at, now, waits))
        elif waits and before < one.came <= now:
            said.append(f"{who} is sent, {ms(one.came - due[at])} ms late.")
        elif not waits and before < one.began <= now:
            said.append(f"{who} begins, after {ms(one.began - one.came)} ms in line.")
    return " ".join(said)


def _due(found, at, now, waits):
    who, one = f"Request {at + 1}", found[at]
    usual = sorted(two.left - two.began for two in found)[len(found) // 2]
    if one.began <= now:
        long = one.left - one.began
        if long > 2 * usual:
            return (
                f"{who} is sent and served, and now the server pauses: {ms(long)} ms for this one."
            )
        return f"{who} is sent and served at once."
    if waits:
        out = next(two.request + 1 for two in found if two.is_served(now))
        return f"{who} is due. The client waits for {out} and does not send it."
    return f"{who} comes all the same, and waits."


def _end(found, due, limit, waits):
    told = [one.left - one.came for one in found]
    planned = [one.left - at for one, at in zip(found, due, strict=True)]
    if waits:
        return (
            "All are answered. The client counts from when it sent each, and tells of "
            f"{units.counted(_slow(told, limit), 'slow request')}. "
            f"From the plan, {_slow(planned, limit)} were slow."
        )
    return f"All are answered, and {_slow(told, limit)} of the answers came after more than {ms(limit)} ms."
