"""Section 3.4: requests that come, wait in line, are served and leave, and the clock beside them.

Everybody is where `simulated.visits` says that they are. Above stand the lines and the servers, below a row
for each request: as many rows as the clock crosses are inside, which is what Little's law counts.
"""

from __future__ import annotations

from scalelab import units
from scalelab.models.checking import Numbers
from scalelab.models.waiting.simulated import visits
from scalelab.show.drawings.drawing import Drawing, Frame
from scalelab.show.drawings.waiting.rows import TimeRows, few, ms, until, watched
from scalelab.show.drawings.waiting.stage import (
    MOST,
    MOST_SERVERS,
    SERVED,
    TONES,
    WAITS,
    Stage,
    listed,
    told_apart,
)


def queue(
    name: str,
    arrivals: Numbers,
    service: Numbers,
    servers: int = 1,
    pools: int = 1,
    horizon: float | None = None,
) -> Drawing:
    """Requests at servers with one queue, or dealt in turn to several queues with servers of their own."""
    found = told_apart(visits(arrivals, service, servers, pools))
    few(len(found), MOST, "arrivals")
    few(servers * pools, MOST_SERVERS, "servers")
    last = max(one.left for one in found)
    stage = Stage(servers, pools)
    rows = TimeRows(stage.high + 6, len(found), until(horizon, last))
    work = sum(one.left - (one.began or 0.0) for one in found)
    many = units.counted(servers * pools, "server")
    return watched(
        name,
        f"{units.counted(len(found), 'request')}, {ms(work)} ms of work, {many}",
        "Circles with numbers are requests. They come from the left, stand in line, sit in the box of a "
        "server, and gather at the right. Below, each has a row: how long it waited and was served.",
        rows,
        (t for one in found for t in (one.came, one.left)),
        lambda before, now: _frame(found, rows, before, now, stage),
        TONES,
    )


def _frame(found, rows, before, now, stage):
    clock = max(now, 0.0)
    done = sorted((one for one in found if one.left <= now), key=lambda one: one.left)
    shapes = [*rows.axis(clock, [f"{one.request + 1}" for one in found])]
    shapes += stage.shapes(found, now)
    shapes += stage.answered((one.request, False) for one in done)
    for row, one in enumerate(found):
        if one.came <= now:
            shapes += rows.bar(f"wait {row + 1}", row, one.came, min(one.began, now), WAITS)
        if one.began <= now:
            shapes += rows.bar(f"work {row + 1}", row, one.began, min(one.left, now), SERVED)
    inside = [one for one in found if one.came <= now < one.left]
    presence = sum(min(one.left, now) - one.came for one in found if one.came <= now)
    begun = [one.began - one.came for one in found if one.began <= now]
    mean = f"{presence / clock:.2f} inside on average" if clock else "nobody yet"
    facts = {
        "Length of all rows, over the clock": f"{ms(presence)} ms in {ms(clock)} ms: {mean}",
        "Clock": f"{ms(clock)} ms",
        "Inside now": f"{len(inside)}, {sum(one.waits(now) for one in found)} of them waiting"
        if inside
        else "nobody",
        "Mean wait of those who began": f"{ms(sum(begun) / len(begun))} ms"
        if begun
        else "none yet",
    }
    return Frame(_caption(found, before, now, stage), tuple(shapes), facts)


def _caption(found, before, now, stage):
    if now < 0:
        return _before(found, stage.servers * stage.pools, stage.pools)
    if now >= max(one.left for one in found):
        stay = sum(one.left - one.came for one in found)
        return (
            f"The last is answered. Little's law: {len(found)} requests in {ms(now)} ms, "
            f"{ms(stay / len(found))} ms each on average, are {stay / now:.2f} inside on average."
        )
    said = []
    if left := [one.request for one in found if before < one.left <= now]:
        said.append(f"{listed(left)} answered.")
    said += [
        f"Request {one.request + 1} begins, after a wait of {ms(one.began - one.came)} ms."
        for one in found
        if one.came < now and before < one.began <= now
    ]
    come = [one for one in found if before < one.came <= now]
    return " ".join([*said, *(_comes(found, one, now, stage) for one in come)])


def _before(found, seats, pools):
    work = sum(one.left - one.began for one in found)
    free = "the server is" if seats == 1 else f"all {seats} servers are"
    deal = f", in {pools} queues to which they are dealt in turn" if pools > 1 else ""
    return (
        f"Before the first request {free} free. "
        f"{len(found)} requests will bring {ms(work)} ms of work{deal}."
    )


def _comes(found, one, now, stage):
    who = f"Request {one.request + 1} comes"
    if one.began <= now:
        return f"{who} and is served at once."
    line = [two for two in found if two.pool == one.pool and two.waits(now)]
    before = sum(two.request < one.request for two in line)
    if idle := stage.servers * stage.pools - sum(two.is_served(now) for two in found):
        free = "one server is" if idle == 1 else f"{idle} servers are"
        return f"{who} and waits for its own server, although {free} free."
    stand = "stands" if before == 1 else "stand"
    return f"{who} and waits: {before} {stand} before it." if before else f"{who} and waits."
