"""Section 3.5: a step of which one part divides and the other does not, on more and more nodes."""

from __future__ import annotations

from collections.abc import Iterable

from scalelab.arguments import real, shown, whole
from scalelab.models.scaling import laws, speedup
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

MOST = 8  # rows that fit
_WIDE, _HEADS, _ROWS, _ROW, _THICK = 360.0, 12.0, 34.0, 23.0, 16.0
_LEFT, _LONGEST, _S = 50.0, 256.0, 356.0
_WAITS, _COMPUTES, _WALL = 2, 3, 4
TONES = {"stays, whoever helps": _WAITS, "divides": _COMPUTES, "the ceiling": _WALL}


def cut(name: str, parallel: float, serial: float, nodes: Iterable[int]) -> Drawing:
    """A step of `parallel` seconds that divide and `serial` that do not, a bar for each count of nodes."""
    parallel = real(
        "parallel", parallel, "it is what one node takes for what divides, in seconds", 0
    )
    serial = real(
        "serial", serial, "it is what no number of nodes shortens, in seconds", 0, above=True
    )
    if not isinstance(nodes, Iterable):
        raise Refusal(
            f"nodes must be counts, got {shown(nodes)}: each is a bar, the first of one node"
        )
    counts = [whole("nodes", one, "each counts nodes, the first of them one") for one in nodes]
    if not 2 <= len(counts) <= MOST or counts != sorted({1, *counts}):
        raise Refusal(
            f"nodes must be 2 to {MOST} growing counts that begin with 1, got {counts}: choose others"
        )
    rows = [_Row(count, at, parallel, serial) for at, count in enumerate(counts)]
    frames = [_frame(rows[:many]) for many in range(1, len(rows) + 1)]
    frames += [_wall(rows, at) for at in (1, 2)]
    return Drawing(
        name,
        f"{_ms(parallel)} ms that divide, {_ms(serial)} ms that do not",
        "Each bar is one step on K nodes: first the part that stays, then the part that divides, with "
        "the speedup S at its end.",
        _WIDE,
        _ROWS + _ROW * (len(rows) + 1),
        tuple(frames),
        chosen=(len(frames) - 1,),
        tones=TONES,
        stamp=MODEL,
    )


class _Row:
    """The step on so many nodes, as the laws have it."""

    def __init__(self, count, at, parallel, serial):
        self.count, self.y, self.serial = count, _ROWS + _ROW * at, serial
        self.scale = _LONGEST / (parallel + serial)
        self.seconds = laws.seconds(count, serial, parallel)
        self.divided = self.seconds - serial
        self.own = laws.step_serial(parallel, serial) if parallel else 1.0
        self.speedup = laws.amdahl(count, self.own)
        self.waits = laws.share_of_ceiling(count, self.own)


def _frame(rows):
    row = rows[-1]
    return Frame(_told(rows), (*_heads(), *_bars(rows)), _facts(row))


def _wall(rows, at):
    """The last row once more, with the line that no bar ends before, and then what stands at it."""
    x, y = _LEFT + rows[0].serial * rows[0].scale, _HEADS + 8
    row, ceiling = rows[-1], speedup.ceiling(rows[0].own)
    wall = Shape(
        "the wall", "line", x, y, 0, _ROWS + _ROW * (len(rows) - 1) + 10 - y, tone=_WALL, weight=2
    )
    shapes = [*_heads(), *_bars(rows), wall]
    if at == 1:
        told = (
            "No bar ends before this line: it is where a step ends of which only the "
            f"{_ms(row.serial)} ms are left."
        )
    else:
        bottom = _ROWS + _ROW * len(rows)
        shapes += _ends("∞", bottom, f"{ceiling:.4g}", _ms(row.serial))
        told = (
            f"Endless nodes would end there: {_ms(rows[0].seconds)} / {_ms(row.serial)} = {ceiling:.4g} "
            f"times one node. {row.count:,} nodes have {row.waits:.0%} of that."
        )
    return Frame(told, tuple(shapes), _facts(row))


def _ends(count, y, gain, text):
    yield Shape("endless", "text", 4, y, text=count, align="start")
    yield Shape("endless left", "text", _LEFT, y, text=f"{text} ms are left", align="start")
    yield Shape("endless S", "text", _S, y, text=gain, align="end")


def _heads():
    yield Shape("head K", "text", 4, _HEADS, text="nodes", align="start")
    yield Shape("head step", "text", _LEFT, _HEADS, text="one step, ms", align="start")
    yield Shape("head S", "text", _S, _HEADS, text="S", align="end")


def _bars(rows):
    """Yield the bars so far; the last comes from the one above it."""
    for row in rows:
        new = row is rows[-1] and len(rows) > 1
        yield Shape(f"count {row.count}", "text", 4, row.y, text=f"{row.count:,}", align="start")
        left = _LEFT
        for name, seconds, tone in (
            ("stays", row.serial, _WAITS),
            ("divides", row.divided, _COMPUTES),
        ):
            long = max(seconds * row.scale, 0.3 if seconds else 0)
            if long:
                x = left + long / 2
                yield Shape(
                    f"{name} {row.count}", "block", x, row.y, long, _THICK, tone=tone,
                    text=_ms(seconds),
                    start=(x, row.y - _ROW) if new else None,
                )  # fmt: skip
            left += long
        yield Shape(f"S {row.count}", "text", _S, row.y, text=f"{row.speedup:.2f}", align="end")


def _facts(row):
    return {
        "A step": f"{_ms(row.serial)} + {_ms(row.divided)} = {_ms(row.seconds)} ms",
        "Speedup S": f"{row.speedup:.2f}",
        "What stays, of this step": f"{row.waits:.0%}",
        "Left to gain from here": f"{1 / row.waits:.2f} times",
    }


def _told(rows):
    row = rows[-1]
    if len(rows) == 1:
        return (
            f"On one node {_ms(row.serial)} of {_ms(row.seconds)} ms are the part that does not divide: "
            f"s = {row.own:.2g}."
        )
    before = rows[-2]
    more = row.count / before.count
    times = "Twice" if more == 2 else f"{more:.3g} times"
    told = (
        f"{times} the nodes cut the second part only, and the step loses "
        f"{1e3 * (before.seconds - row.seconds):.2g} of {_ms(before.seconds)} ms"
    )
    if row.waits >= 0.5 > before.waits:
        return f"{told}. Now more than half of it is what stays."
    return f"{told}."


def _ms(seconds):
    return f"{1e3 * seconds:.4g}"
