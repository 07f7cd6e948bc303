"""Section 3.2: the bytes of a training step on the rungs out of a device, each as wide as it is fast.

What crosses which rung, and how fast, are the crossings that `models.machines.rungs` counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from scalelab.arguments import real
from scalelab.models.machines.rungs import Crossing
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

_WIDE, _HIGH = 360.0, 322.0
_EDGE = 268.0  # where the box ends
_GPU = 8.0, 54.0  # from left to right
_TANK, _FILL = (62.0, 30.0), 11.0  # how wide and high, and how high what is in it
_INSIDE, _OUTSIDE = 190.0, 292.0  # where the tanks begin
_ROWS = 62.0, 124.0, 170.0  # the middle of each pipe
_FULL = 67.0  # units of the widest pipe
_LEFT, _RIGHT, _AXIS, _ROW, _BAR = 92.0, 346.0, 222.0, 22.0, 14.0
_TONES = {"arithmetic": 0, "weights": 1, "activations": 5, "gradients": 2}
_WHERE = {"weights": "its memory", "activations": "other GPUs", "gradients": "other boxes"}


def way_out(
    name: str, crossings: Sequence[Crossing], arithmetic: float, until: float = 1.5
) -> Drawing:
    """A race of the bytes of a step, all setting out at once; two on the same rung go one after the other.

    `arithmetic` is what the device computes meanwhile, in seconds, and `until` where the time axis ends.
    """
    crossings = tuple(crossings) if isinstance(crossings, Sequence) else ()
    if [getattr(one, "what", None) for one in crossings] != [*_WHERE]:
        raise Refusal(
            f"crossings must be those of {', '.join(_WHERE)}, got others: take them from "
            "machines.crossings(...)"
        )
    arithmetic = real("arithmetic", arithmetic, "it is in seconds", 0, above=True)
    until = real("until", until, "it is where the axis ends, in seconds", 0, above=True)
    begins = _begins(crossings)
    ends = {one.what: begins[one.what] + one.seconds for one in crossings}
    if (last := max(*ends.values(), arithmetic)) > until:
        raise Refusal(
            f"until must be at least {last:.3g} s, got {until:g}: some bytes take as long"
        )
    happens = _moments(crossings, ends, arithmetic)
    return Drawing(
        name,
        f"One step of a GPU: activations over {_through(crossings)}",
        f"{_inside(crossings)} stand within the edge of the box, other boxes outside. Pipes lead from the "
        "GPU to each, as wide as they are fast. A tank fills with what has crossed its pipe, and the bars "
        "below grow with time.",
        _WIDE,
        _HIGH,
        tuple(_frame(crossings, begins, arithmetic, until, now, said) for now, said in happens),
        chosen=(len(happens) - 1,),
        tones=_TONES,
        stamp=MODEL,
    )


def _begins(crossings):
    """Return when each sets out: at once, or when the one before it on the same rung has arrived."""
    free: dict[str, float] = {}
    found: dict[str, float] = {}
    for one in crossings:
        found[one.what] = free.get(one.rung, 0.0)
        free[one.rung] = found[one.what] + one.seconds
    return found


def _through(crossings):
    return "NVLink" if not crossings[1].outside else "the network card"


def _inside(crossings):
    return f"A GPU{' and its memory' if crossings[1].outside else ', its memory and the others of its box'}"


def _moved(one, begin, now):
    """Return the bytes that have arrived."""
    return min(max(now - begin, 0.0) * one.rate, one.size)


def _frame(crossings, begins, arithmetic, until, now, caption):
    moved = {one.what: _moved(one, begins[one.what], now) for one in crossings}
    arrived = [
        f"{one.what} {moved[one.what] / 1e9:.3g} of {one.size / 1e9:.3g}" for one in crossings
    ]
    shapes = [*_scene(crossings)]
    for row, one in enumerate(crossings):
        shapes += _pipe(crossings, row, one, moved[one.what])
    shapes += _bars(crossings, begins, arithmetic, until, now)
    return Frame(
        caption,
        tuple(shapes),
        {
            "Across so far, in GB": ", ".join(arrived),
            "Time": _text(now),
            "Arithmetic done": f"{min(now / arithmetic, 1):.0%} of {_text(arithmetic)}",
        },
    )


def _scene(crossings):
    """Yield the box, its edge, and the GPU."""
    high = _ROWS[-1] + 22
    yield Shape("box", "box", _EDGE / 2 + 1, high / 2 + 8, _EDGE - 2, high - 2)
    yield Shape("box says", "text", 8, 18, text="the box", align="start")
    left, right = _GPU
    top = _ROWS[0] - _FULL / 2 - 4
    bottom = _ROWS[-1] + 10
    yield Shape(
        "GPU", "box", (left + right) / 2, (top + bottom) / 2, right - left, bottom - top, text="GPU"
    )


def _pipe(crossings, row, one, moved):
    """Yield the pipe of a crossing, its name, and the tank at its end."""
    y, wide = _ROWS[row], _FULL * one.rate / max(other.rate for other in crossings)
    begin = _OUTSIDE if one.outside else _INSIDE
    where = "outside" if one.outside else "inside"
    key, tone = f"{one.what}, {where}", _TONES[one.what]
    yield Shape(
        f"pipe of {key}", "block", (_GPU[1] + begin) / 2, y, begin - _GPU[1], wide, tone=tone
    )
    # Between the GPU and the tanks inside, whatever the pipe.
    middle = (_GPU[1] + _INSIDE) / 2
    rate = f"{one.rate / 1e9:,.0f} GB/s"
    if wide > 30:
        yield Shape(f"rung of {key}", "text", middle, y - 7, text=one.rung)
        yield Shape(f"rate of {key}", "text", middle, y + 7, text=rate)
    else:
        yield Shape(f"rung of {key}", "text", middle, y - wide / 2 - 8, text=f"{one.rung} {rate}")
    x, share = begin + _TANK[0] / 2, moved / one.size if one.size else 1.0
    yield Shape(f"tank of {key}", "box", x, y, *_TANK, tone=tone)
    # It fills along the bottom, so that its end never stands on the number.
    yield Shape(
        f"in the tank of {key}",
        "block",
        begin + share * _TANK[0] / 2,
        y + (_TANK[1] - _FILL) / 2,
        share * _TANK[0],
        _FILL,
        tone=tone,
    )
    yield Shape(f"arrived of {key}", "text", x, y - _FILL / 2, text=f"{moved / 1e9:.3g} GB")
    whose = "other boxes" if one.outside else _WHERE[one.what]
    x, align = (_WIDE - 2, "end") if one.outside else (begin + 3, "start")
    yield Shape(f"whose tank, {key}", "text", x, y - _TANK[1] / 2 - 8, text=whose, align=align)


def _bars(crossings, begins, arithmetic, until, now):
    """Yield the time axis and a bar for the arithmetic and for each crossing."""
    scale = (_RIGHT - _LEFT) / until
    rows = [("arithmetic", 0.0, arithmetic)]
    rows += [(one.what, begins[one.what], one.seconds) for one in crossings]
    bottom = _AXIS + 6 + _ROW * len(rows)
    for third in range(4):
        x = _LEFT + third * (_RIGHT - _LEFT) / 3
        word = f"{1e3 * until * third / 3:,.4g}" + " ms" * (third == 3)
        yield Shape(f"tick {third}", "line", x, _AXIS + 6, 0, bottom - _AXIS - 6, weight=0.4)
        at, align = (_WIDE - 1, "end") if third == 3 else (x, "middle")
        yield Shape(f"time {third}", "text", at, _AXIS, text=word, align=align)
    for row, (what, begin, seconds) in enumerate(rows):
        y = _AXIS + 6 + _ROW * (row + 0.5)
        width = min(max(now - begin, 0.0), seconds) * scale
        yield Shape(f"row {what}", "text", _LEFT - 6, y, text=what, align="end")
        yield Shape(
            f"bar {what}",
            "block",
            _LEFT + begin * scale + width / 2,
            y,
            width,
            _BAR,
            tone=_TONES[what],
        )
        done = now >= begin + seconds
        word = _text(seconds) if done else ""
        x = _LEFT + (begin + seconds) * scale
        side = ("end", x - 3) if seconds * scale > 100 else ("start", x + 4)
        yield Shape(f"took {what}, {side[0]}", "text", side[1], y, text=word, align=side[0])


def _moments(crossings, ends, arithmetic):
    """Return the moments that are drawn, each with what happens then."""
    rates = [one.rate for one in crossings]
    wide = " : ".join(f"{rate / min(rates):.0f}" for rate in sorted(set(rates), reverse=True))
    begins = _begins(crossings)
    found = [
        (
            0.0,
            f"{_setting_out(begins)} The pipes are as wide as the rungs are fast, {wide}.",
        ),
        (
            0.001,
            "A millisecond later. The memory has sent by far the most, and the card next to nothing.",
        ),
    ]
    events = sorted([*ends.items(), ("arithmetic", arithmetic)], key=lambda item: item[1])
    waiting = {one.what: one for one in crossings}
    before = 0.001
    for what, end in events:
        if end - before > 0.3:
            middle = (before + end) / 2
            found.append((middle, f"After {_text(middle)}. {_going(waiting, begins, middle)}"))
        if what == "arithmetic":
            left = [one for one in waiting if ends[one] > end]
            rest = f" From now on the GPU waits for its {' and '.join(left)}." if left else ""
            found.append((end, f"The arithmetic of the step is done, after {_text(end)}.{rest}"))
        else:
            one = waiting.pop(what)
            found.append((end, _arrived(one, begins[what], end, arithmetic)))
        before = end
    sizes = [one.size / 1e9 for one in crossings]
    found.append(
        (
            max(*ends.values(), arithmetic),
            f"Each of the three had {min(sizes):.0f} to {max(sizes):.0f} GB to move. What it took was "
            "decided by the rung.",
        )
    )
    return found


def _setting_out(begins):
    late = [what for what, begin in begins.items() if begin]
    if not late:
        return "The bytes of one step set out at once."
    first = " and the ".join(what for what, begin in begins.items() if not begin)
    return f"The {first} of one step set out at once; the {' and the '.join(late)} queue."


def _going(waiting, begins, now):
    """Say what is still under way, and how far it has come."""
    said = [
        f"{one.what} {_moved(one, begins[one.what], now) / one.size:.0%}"
        for one in waiting.values()
        if begins[one.what] < now
    ]
    stuck = [one for one in waiting if begins[one] >= now]
    late = f" The {stuck[0]} have not left: the card is taken." if stuck else ""
    return f"Still under way: {', '.join(said)} there.{late}"


def _arrived(one, begin, end, arithmetic):
    way = {"memory": "from memory", "network card": "through the card"}.get(
        one.rung, f"over {one.rung}"
    )
    told = f"The {one.what} are there: {one.size / 1e9:.3g} GB took {_text(one.seconds)} {way}."
    if begin:
        return f"{told} They had to queue for {_text(begin)} first."
    if one.seconds > arithmetic:
        return f"{told} That is more than the arithmetic."
    times = arithmetic / one.seconds
    return f"{told} The arithmetic takes {times:.{int(times < 10)}f} times as long."


def _text(seconds):
    return f"{1e3 * seconds:,.0f} ms"
