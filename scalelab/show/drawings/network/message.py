"""Section 3.8: one message over one link, from the first byte to the last, beside shorter and longer ones.

All times are `network.message_seconds`; the sizes are told in n-half, at which both terms are equal.
"""

from __future__ import annotations

from scalelab import units
from scalelab.models.network.network import Network, half_size, message_seconds
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

_WIDE, _HIGH = 360.0, 252.0
_BOX = 62.0, 64.0
_ENDS, _TOP = (39.0, 321.0), 42.0
_BAR = 34.0, 46.0
_CELLS = 10
_LEFT, _ALPHA = 76.0, 52.0  # where time begins, and how wide one latency is
_MOST = 5  # latencies that the axis holds
_ROWS, _STEP, _THICK = 112.0, 24.0, 15.0
_STARTS, _BYTES = 2, 1
TONES = {"latency α: it starts": _STARTS, "βM: its bytes arrive": _BYTES}


def one_message(link: Network) -> Drawing:
    """Messages of n-half, of a tenth and of four times that: when the first byte is there, and the last."""
    link = Network.checked(link)
    if not link.alpha:
        raise Refusal(
            "alpha of link must be above 0 to be drawn, got 0: without it there is only βM"
        )
    return Drawing(
        "one message",
        f"One message over a link of {units.text(link.alpha, 's')} and {units.text(link.bandwidth, 'B/s')}",
        "On the left a sender with its message, on the right the receiver and what has arrived of it. "
        "Below, each row is a message on one axis of time: first its latency, then its bytes.",
        _WIDE,
        _HIGH,
        tuple(_frame(link, *step) for step in _steps(link)),
        chosen=(4, 9),
        tones=TONES,
        stamp=MODEL,
    )


def _steps(link):
    """Return, of each step, what the rows hold, how much of the last has arrived, and what is said."""
    half = half_size(link)
    short, double, long = half / 10, 4 * half / 10, 4 * half
    first, tenth, four, joined, longer = [half], [short], [short] * 4, [double], [long]
    size = {m: units.text(m, "B") for m in (half, short, double, long)}
    start = units.text(link.alpha, "s")
    took = {m: units.text(message_seconds(m, link), "s") for m in size}
    full = units.text(link.bandwidth, "B/s")
    return [
        ([], 0, 0, f"A message of {size[half]} is to be sent. The link carries {full}."),
        ([first], 0.5, 0, "The systems at both ends prepare. Time passes, and not one byte has arrived."),
        ([first], 1, 0, f"Only now does the first byte arrive: {start} for a single byte."),
        ([first], 1, 0.5, f"The other bytes follow at the full {full}."),
        ([first], 1, 1, f"The last byte is there after {took[half]}: half of it was the start. This size is "
                        "n-half."),
        ([first, tenth], 1, 0, f"Now a tenth of that, {size[short]}: its first byte comes no sooner."),
        ([first, tenth], 1, 1, f"Its last byte comes after {took[short]}: a tenth of the bytes takes more "
                               "than half of the time."),
        ([first, tenth, longer], 1, 0, f"And four times as much, {size[long]}: again it starts for {start}."),
        ([first, tenth, longer], 1, 1, f"It takes {took[long]}: four times the bytes in two and a half times "
                                       "the time, for the start was paid once."),
        ([first, tenth, longer, four], 1, 1, f"Four messages of {size[short]}, one after the other, pay for "
                                             "four starts."),
        ([first, tenth, longer, four, joined], 1, 1, "The same bytes in one message pay for one. On this "
                                                    "side of n-half, send fewer messages."),
    ]  # fmt: skip


def _frame(link, rows, started, arrived, said):
    shapes = [*_axis(link), *_wire(link, rows, started, arrived)]
    for at, row in enumerate(rows):
        last = at == len(rows) - 1
        shapes += _row(link, at, row, started if last else 1, arrived if last else 1)
    sizes = rows[-1] if rows else []
    alone = sum(message_seconds(m, link) for m in sizes) if arrived == 1 else 0
    spent = alone or sum(started * link.alpha + arrived * link.beta * m for m in sizes)
    bytes_there = arrived * sum(sizes)
    return Frame(
        said,
        tuple(shapes),
        {
            "Arrived": f"{units.text(bytes_there, 'B')} of {units.text(sum(sizes), 'B')}"
            if rows
            else "0 B",
            "After": units.text(spent, "s"),
            "Bytes over time": units.text(bytes_there / spent, "B/s") if spent else "none yet",
        },
    )


def _x(link, seconds):
    return _LEFT + _ALPHA * seconds / link.alpha


def _axis(link):
    bottom = _ROWS + 4.5 * _STEP + 8
    for tick in range(_MOST + 1):
        x = _x(link, tick * link.alpha)
        yield Shape(
            f"tick {tick}", "line", x, _ROWS - _STEP / 2, 0, bottom - _ROWS + _STEP / 2, weight=0.5
        )
        word = units.text(tick * link.alpha, "s") if tick else "0"
        yield Shape(f"time {tick}", "text", x, bottom + 9, text=word)


def _wire(link, rows, started, arrived):
    """Yield both ends, the wire between them, and the columns of cells of what has left and arrived."""
    for name, x in zip(("sender", "receiver"), _ENDS, strict=True):
        yield Shape(name, "box", x, _TOP, *_BOX)
        yield Shape(f"name of {name}", "text", x, _TOP - 23, text=name)
    filled = round(arrived * _CELLS)
    for name, x, cells in (
        ("to be sent", _ENDS[0], [at < _CELLS - filled for at in range(_CELLS)]),
        ("arrived", _ENDS[1], [at < filled for at in range(_CELLS)]),
    ):
        yield Shape(name, "bar", x, _TOP + 7, *_BAR, tone=_BYTES, cells=tuple(cells))
    edge = _BOX[0] / 2 + 3
    tone = _BYTES if arrived else _STARTS if rows else 0
    weight = 1 + 3 * (arrived > 0)
    yield Shape(
        "wire",
        "arrow",
        _ENDS[0] + edge,
        _TOP,
        _ENDS[1] - _ENDS[0] - 2 * edge,
        0,
        tone=tone,
        weight=weight,
    )
    sizes = rows[-1] if rows else [half_size(link)]
    many = f"{len(sizes)} × " if len(sizes) > 1 else ""
    yield Shape("size", "text", _WIDE / 2, _TOP - 14, text=f"{many}{units.text(sizes[0], 'B')}")
    state = (
        "all is there"
        if arrived == 1
        else "bytes arrive"
        if arrived
        else "the first byte is there"
        if started == 1
        else "it starts"
    )
    yield Shape("state", "text", _WIDE / 2, _TOP + 15, text=state if rows else "not sent yet")


def _row(link, at, sizes, started, arrived):
    """Yield the blocks of the messages of a row, one after another, and what they take together."""
    y, now = _ROWS + _STEP * at, 0.0
    name = units.text(sizes[0], "B")
    yield Shape(
        f"row {at}",
        "text",
        _LEFT - 4,
        y,
        text=f"4 × {name}" if len(sizes) > 1 else name,
        align="end",
    )
    for turn, size in enumerate(sizes):
        for kind, tone, seconds in (
            ("start", _STARTS, started * link.alpha),
            ("bytes", _BYTES, arrived * link.beta * size),
        ):
            if seconds:
                wide = _ALPHA * seconds / link.alpha
                key = f"{kind} {turn} of row {at}"
                yield Shape(key, "block", _x(link, now) + wide / 2, y, wide, _THICK, tone=tone)
                now += seconds
