"""Lines and servers, for drawings of requests: everybody is where a visit says that they are.

For `queueing`, `omission` and `hedging`, which draw `rows` of time below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from scalelab.models.waiting.simulated import Visit
from scalelab.show.drawings.drawing import Shape
from scalelab.show.drawings.waiting.rows import ms

MOST, MOST_SERVERS = 12, 4  # requests and servers that still find room
WAITS, SERVED, DONE = 2, 1, 3
TONES = {"waits": WAITS, "is served": SERVED, "answered": DONE}
_HEAD, _LANE, _LEAST = 16.0, 25.0, 84.0
_ROUND = 15.0  # across
_FRONT, _NEXT = 190.0, 19.5  # of a line: its first place, and how far the next one is from it
_NAME, _SEAT, _LEFT_OVER = 205.0, 222.0, 256.5
_SERVER = 246.0, 69.0, 22.0
_ANSWERED, _BESIDE = 292.3, 4  # at a phone's width as far from a server as from each other
_ENTRY = 8.0


@dataclass(frozen=True)
class Stage:
    """Where servers and lines are drawn: of several pools, each with a line of its own."""

    servers: int  # of a pool
    pools: int = 1
    names: str = ""  # a letter for each server

    @property
    def high(self) -> float:
        """How high lines and servers are."""
        return max(_HEAD + self.servers * self.pools * _LANE, _LEAST)

    def shapes(self, found: Sequence[Visit], now: float, line: str = "in line") -> Iterator[Shape]:
        """Yield the servers, and everybody who is in a line or at a server."""
        seats = range(self.servers * self.pools)
        yield Shape("in line", "text", _FRONT + 9, 7, text=line, align="end")
        yield Shape("servers", "text", _SERVER[0], 7, text="server" + "s" * (len(seats) > 1))
        yield Shape("answered", "text", _ANSWERED + 29, 7, text="answered")
        held = {
            one.pool * self.servers + (one.server or 0): one for one in found if one.is_served(now)
        }
        for seat in seats:
            yield Shape(f"server {seat + 1}", "box", _SERVER[0], _lane(seat), *_SERVER[1:])
        for seat in seats:
            x, told = _SERVER[0], "free"
            if seat in held:  # its circle has the left side
                x, told = _LEFT_OVER, f"{ms(held[seat].left - now)} ms"
            yield Shape(f"left {seat + 1}", "text", x, _lane(seat), text=told)
        for seat, name in enumerate(self.names):
            yield Shape(f"name of {name}", "text", _NAME, _lane(seat), text=name)
        for pool in range(self.pools):
            waiting = [one for one in found if one.pool == pool and one.waits(now)]
            for spot, one in enumerate(waiting):
                yield self.in_line(one.request, one.copy, spot, WAITS, one.came == now, pool)
        for seat, one in held.items():
            entry = (_ENTRY, _lane(seat)) if one.came == now else None
            yield _circle(one.request, one.copy, _SEAT, _lane(seat), SERVED, entry)

    def in_line(
        self, request: int, copy: bool, spot: int, tone: int, new: bool, pool: int = 0
    ) -> Shape:
        """Return a request at this spot of a line, whose first one is next to the server."""
        y = (_lane(pool * self.servers) + _lane((pool + 1) * self.servers - 1)) / 2
        return _circle(request, copy, _FRONT - _NEXT * spot, y, tone, (_ENTRY, y) if new else None)

    def answered(self, who: Iterable[tuple[int, bool]]) -> Iterator[Shape]:
        """Yield those with an answer, or the copies that brought it, in the order of the answers."""
        for spot, (request, copy) in enumerate(who):
            x = _ANSWERED + _NEXT * (spot % _BESIDE)
            y = _HEAD + 11 + _NEXT * (spot // _BESIDE) * 1.1
            yield _circle(request, copy, x, y, DONE, None)


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


def listed(requests: Iterable[int]) -> str:
    """Name requests, and what they are.

    >>> listed([0]), listed([0, 4])
    ('Request 1 is', 'Requests 1 and 5 are')
    """
    *others, last = [f"{one + 1}" for one in requests]
    return f"Requests {', '.join(others)} and {last} are" if others else f"Request {last} is"


def _lane(seat):
    return _HEAD + (seat + 0.5) * _LANE


def _circle(request, copy, x, y, tone, entry):
    key = f"{'copy of' if copy else 'request'} {request + 1}"
    text = f"{request + 1}{'b' * copy}"
    return Shape(key, "circle", x, y, _ROUND, _ROUND, tone=tone, text=text, start=entry)
