"""What crosses between a student's process and ours: frames of JSON that stand for plain data.

Nothing is ever unpickled or evaluated on our side; a frame is bounded before it is read. On their
side the arguments of a call arrive pickled, so that tables and records come whole: those bytes are
ours. Standard library only, plus `plain.Unreadable`.
"""

import base64
import json
import pickle
import re
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scalelab.checks.call import Outcome
from scalelab.checks.plain import DEPTH, ITEMS, LETTERS, Unreadable

MOST = 8_000_000  # bytes of one frame: `plain` allows 100 000 items
_PARTS = (
    5 * ITEMS
)  # of one frame: a complex number, the widest item, takes four brackets and commas
_HEAD = struct.Struct("!I")
# To its end or that of the frame: never tried twice, and with no group that Python before 3.11.5 gets wrong.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.?+[^"\\]*+)*+"?+')


class Broken(Exception):
    """The other side sent what is no frame."""


def send(channel: socket.socket, message: object) -> None:
    """Write one frame to a socket."""
    data = json.dumps(message).encode()
    channel.sendall(_HEAD.pack(len(data)) + data)


@dataclass
class Room:
    """The bytes that somebody may still send, in all their frames."""

    left: int = MOST


def receive(channel: socket.socket, end: float | None = None, room: Room | None = None) -> Any:
    """Read one frame; EOFError is the end, Broken no frame, TimeoutError none by the time `end`."""
    (size,) = _HEAD.unpack(_exactly(channel, _HEAD.size, end))
    if size > (MOST if room is None else min(MOST, room.left)):
        raise Broken(f"a frame of {size} bytes")
    if room is not None:
        room.left -= size
    data = _exactly(channel, size, end)
    if _too_many(data):  # an empty list takes three bytes here, and over sixty once it is read
        raise Broken("more parts than any answer has")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Broken("no JSON") from None


def _too_many(data):
    """Say whether a frame has more lists, dictionaries and items than it may, without reading it."""
    if _marks(data, 0, len(data)) <= _PARTS:
        return False
    parts = end = 0
    for text in _TEXT.finditer(data):  # those in texts are none
        parts, end = parts + _marks(data, end, text.start()), text.end()
        if parts > _PARTS:
            return True
    return parts + _marks(data, end, len(data)) > _PARTS


def _marks(data, start, end):
    return sum(data.count(mark, start, end) for mark in (b",", b"[", b"{"))


def _exactly(channel, size, end):
    parts = []
    while size:
        if end is not None:  # of the whole frame: one that comes byte by byte gets no more time
            channel.settimeout(max(end - time.monotonic(), 0.001))
        part = channel.recv(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def packed(arguments: Iterable[object]) -> str:
    """Write the arguments of a call, ours, for the student's process."""
    return base64.b85encode(pickle.dumps(tuple(arguments))).decode()


def unpacked(text: str) -> tuple[object, ...]:
    """Read what `packed` wrote; only ever called in the student's process."""
    return pickle.loads(base64.b85decode(text))


def encoded(value: Any) -> Any:
    """Turn plain data into what JSON can say.

    >>> encoded([1, ..., 2j, {3: "x"}])
    [1, {'...': 0}, {'c': [0.0, 2.0]}, {'d': [[3, 'x']]}]
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return [encoded(item) for item in value]
    if kind is dict:
        return {"d": [[encoded(k), encoded(v)] for k, v in value.items()]}
    if value is ...:
        return {"...": 0}
    if kind is complex:
        return {"c": [value.real, value.imag]}
    if kind is int and value.bit_length() > 64:
        return {"i": hex(value)}
    if kind is Unreadable:
        return {"u": value.what}
    if value is None or kind in (bool, int, float, str):
        return value
    return {"u": "something that cannot be sent"}


def decoded(value: Any) -> object:
    """Return the plain data of `encoded`, and an Unreadable for anything else.

    >>> decoded(encoded({"a": [float("inf"), None, 10**30]}))
    {'a': [inf, None, 1000000000000000000000000000000]}
    >>> decoded({"os.system": "rm"})
    Unreadable(what='something that cannot be read')
    """
    try:
        return _decoded(value, DEPTH, [ITEMS])
    except (TypeError, ValueError, LookupError, RecursionError, OverflowError):
        return Unreadable("something that cannot be read")


def _decoded(value, depth, left):
    left[0] -= 1
    if left[0] < 0 or depth < 0:  # `plain` gave no more; what did is somebody else
        raise ValueError
    if isinstance(value, list):
        return [_decoded(item, depth - 1, left) for item in value]
    if isinstance(value, str):
        long = len(value) > LETTERS
        return Unreadable(f"a text of {len(value)} letters") if long else clean(value)
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "d":
        pairs = [tuple(_decoded(one, depth - 1, left) for one in pair) for pair in inner]
        if not all(isinstance(key, (str, int, float)) for key, _ in pairs):
            raise ValueError
        return dict(pairs)
    read = {
        "...": lambda _: ...,
        "c": lambda two: complex(*map(float, two)),
        "i": lambda text: int(text[:LETTERS], 16),
        "u": lambda text: Unreadable(clean(text)[:200]),
    }
    return read[tag](inner)


def clean(text: str) -> str:
    r"""Return text that can be written anywhere: whole characters, no control ones.

    >>> clean("a\x00b\udc80\n")
    'a\ufffdb?\n'
    """
    text = str.encode(text, errors="replace").decode()
    return "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in text)


def as_message(outcome: Outcome) -> list[Any]:
    """Turn an Outcome into what JSON can say."""
    return [encoded(outcome.value), outcome.error, outcome.said, outcome.attempted]


def from_message(message: Any) -> Outcome:
    """Return the Outcome that `as_message` made a message of, whatever it is."""
    try:
        value, error, said, attempted = message
        return Outcome(decoded(value), clean(error)[:80], clean(said)[:200], attempted is True)
    except (TypeError, ValueError):
        return Outcome(Unreadable("something that cannot be read"))
