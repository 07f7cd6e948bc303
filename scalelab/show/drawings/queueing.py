"""Section 3.4: requests that come, wait in line, are served and leave, and the clock beside them.

Everybody is where `simulated.visits` says that they are. Above stand the lines and the servers, below a row
for each request: as many rows as the clock crosses are inside, which is what Little's law counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scalelab import units
from scalelab.arguments import real
from scalelab.models.checking import Numbers
from scalelab.models.waiting.simulated import Visit, visits
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.drawings.rows import WIDE, Rows, few, ms
from scalelab.show.plots import MODEL

MOST, MOST_SERVERS = 12, 4  # requests and servers that still find room
_HEAD, _LANE, _STAGE = 16.0, 25.0, 84.0
_ROUND = 18.0  # across
_FRONT, _NEXT = 192.0, 19.0  # of a line: its first place, and how far the next one is from it
_SEAT, _LEFT_OVER = 224.0, 253.0
_SERVER = 244.0, 62.0, 22.0
_ANSWERED, _BESIDE = 291.0, 4
WAITS, SERVED, DONE = 2, 1, 3
_HORIZON = "it is where the clock ends, in seconds, when the last has been answered"
TONES = {"waits": WAITS, "is served": SERVED, "answered": DONE}


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
    rows = Rows(stage(servers * pools) + 6, len(found), until(horizon, last))
    moments = [-1.0, *sorted({t for one in found for t in (one.came, one.left)})]
    frames = tuple(
        _frame(found, rows, before, now, servers, pools)
        for before, now in zip([-1.0, *moments], moments, strict=False)
    )
    work = sum(one.left - (one.began or 0.0) for one in found)
    many = units.counted(servers * pools, "server")
    return Drawing(
        name,
        f"{name.capitalize()}: {units.counted(len(found), 'request')}, {ms(work)} ms of work, {many}",
        "Circles with numbers are requests. They come from the left, stand in line, sit in the box of a "
        "server, and gather at the right. Below, each has a row: how long it waited and was served.",
        WIDE,
        rows.end,
        frames,
        chosen=(len(frames) // 2, len(frames) - 1),
        tones=TONES,
        stamp=MODEL,
    )


def told_apart(found: Iterable[Visit]) -> tuple[Visit, ...]:
    """Return the visits to the nanosecond: two moments that differ by less are one."""
    return tuple(
        replace(
            one,
            came=round(one.came, 9),
            began=None if one.began is None else round(one.began, 9),
            left=round(one.left, 9),
        )
        for one in found
    )


def stage(seats: int) -> float:
    """Return how high lines and servers are."""
    return max(_HEAD + seats * _LANE, _STAGE)


def scene(
    found: Sequence[Visit], now: float, servers: int, pools: int, line: str = "in line"
) -> Iterator[Shape]:
    """Yield the servers, and everybody where they are: in a line, at a server, or answered."""
    yield Shape("in line", "text", _FRONT + 9, 7, text=line, align="end")
    yield Shape("servers", "text", _SERVER[0], 7, text="server" + "s" * (servers * pools > 1))
    yield Shape("answered", "text", _ANSWERED + 29, 7, text="answered")
    for seat in range(servers * pools):
        yield Shape(f"server {seat + 1}", "box", _SERVER[0], lane(seat), *_SERVER[1:])
    held = {seat_of(one, servers): one for one in found if at_server(one, now)}
    for seat in range(servers * pools):
        told = f"{ms(held[seat].left - now)} ms" if seat in held else "free"
        yield Shape(f"left {seat + 1}", "text", _LEFT_OVER, lane(seat), text=told)
    for pool in range(pools):
        middle = (lane(pool * servers) + lane((pool + 1) * servers - 1)) / 2
        waiting = [one for one in found if one.pool == pool and in_line(one, now)]
        for spot, one in enumerate(waiting):
            yield _circle(one, place(spot), middle, WAITS, now)
    for seat, one in held.items():
        yield _circle(one, _SEAT, lane(seat), SERVED, now)


def answered(who: Iterable[tuple[int, bool]]) -> Iterator[Shape]:
    """Yield those with an answer, or the copies that brought it, in the order of the answers."""
    for spot, (request, copy) in enumerate(who):
        x = _ANSWERED + _NEXT * (spot % _BESIDE)
        y = _HEAD + 11 + _NEXT * (spot // _BESIDE) * 1.1
        yield Shape(
            key(request, copy), "circle", x, y, _ROUND, _ROUND,
            tone=DONE, text=_number(request, copy),
        )  # fmt: skip


def place(spot: int) -> float:
    """Return where in a line this is: its first spot is next to the server."""
    return _FRONT - _NEXT * spot


def lane(seat: int) -> float:
    """Return the height of a server."""
    return _HEAD + (seat + 0.5) * _LANE


def key(request: int, copy: bool = False) -> str:
    """Return what a circle is called."""
    return f"{'copy of' if copy else 'request'} {request + 1}"


def at_server(one: Visit, now: float) -> bool:
    """Whether it is being served now."""
    return one.began is not None and one.began <= now < one.left


def in_line(one: Visit, now: float) -> bool:
    """Whether it waits now."""
    return one.came <= now < (one.left if one.began is None else one.began)


def seat_of(one: Visit, servers: int) -> int:
    """Return which of all servers it is at."""
    return one.pool * servers + (one.server or 0)


def _circle(one, x, y, tone, now):
    come = (8.0, y) if one.came == now else None
    text = _number(one.request, one.copy)
    return Shape(
        key(one.request, one.copy), "circle", x, y, _ROUND, _ROUND,
        tone=tone, text=text, start=come,
    )  # fmt: skip


def _number(request, copy):
    return f"{request + 1}{'b' * copy}"


def until(horizon: float | None, last: float) -> float:
    """Return where the time axis ends: where it should, and not before the last has its answer."""
    if last <= 0:
        raise Refusal("service must take some time to be drawn, got 0: give it in seconds")
    return last if horizon is None else real("horizon", horizon, _HORIZON, last)


def _frame(found, rows, before, now, servers, pools):
    clock = max(now, 0.0)
    done = sorted((one for one in found if one.left <= now), key=lambda one: one.left)
    shapes = [*rows.axis(clock, [f"{one.request + 1}" for one in found])]
    shapes += scene(found, now, servers, pools)
    shapes += answered((one.request, False) for one in done)
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
        "Inside now": f"{len(inside)}, of whom {sum(in_line(one, now) for one in found)} wait",
        "Mean wait so far": f"{ms(sum(begun) / len(begun))} ms" if begun else "none yet",
    }
    return Frame(_caption(found, before, now, servers, pools), tuple(shapes), facts)


def _caption(found, before, now, servers, pools):
    if now < 0:
        return _before(found, servers, pools)
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
    return " ".join([*said, *(_comes(found, one, now, servers, pools) for one in come)])


def listed(requests: Iterable[int]) -> str:
    """Name requests, and what they are.

    >>> listed([0]), listed([0, 4])
    ('Request 1 is', 'Requests 1 and 5 are')
    """
    *others, last = [f"{one + 1}" for one in requests]
    return f"Requests {', '.join(others)} and {last} are" if others else f"Request {last} is"


def _before(found, servers, pools):
    work = sum(one.left - one.began for one in found)
    free = "the server is" if servers * pools == 1 else f"all {servers * pools} servers are"
    deal = f", in {pools} queues to which they are dealt in turn" if pools > 1 else ""
    return (
        f"Before the first request {free} free. "
        f"{len(found)} requests will bring {ms(work)} ms of work{deal}."
    )


def _comes(found, one, now, servers, pools):
    who = f"Request {one.request + 1} comes"
    if one.began <= now:
        return f"{who} and is served at once."
    line = [two for two in found if two.pool == one.pool and in_line(two, now)]
    before = sum(two.request < one.request for two in line)
    if idle := servers * pools - sum(at_server(two, now) for two in found):
        free = "one server is" if idle == 1 else f"{idle} servers are"
        return f"{who} and waits for its own server, although {free} free."
    stand = "stands" if before == 1 else "stand"
    return f"{who} and waits: {before} {stand} before it." if before else f"{who} and waits."
