"""Section 3.8: gradients travel in buckets while the backward pass goes on, and what outlasts it is exposed.

When each bucket is full, begins and has arrived says `overlap.bucket_times`.
"""

from __future__ import annotations

import math

import numpy as np

from scalelab import units
from scalelab.arguments import real, whole
from scalelab.models.network import overlap
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

_WIDE, _HIGH = 360.0, 216.0
_LEFT, _RIGHT = 8.0, 352.0
_THICK = 20.0
_PASS, _WIRE, _STEP = 28.0, 76.0, 124.0  # where the lanes are, from top to bottom
_FILLS = 200.0  # where the bucket is that fills, below the axis: how long it is is no time
_BUCKET = 120.0  # how wide a full one is
_DONE, _HIDDEN, _EXPOSED = 3, 1, 2
_IN_PASS = 6  # steps of the drawing within the backward pass
TONES = {"gradients": _DONE, "their exchange": _HIDDEN, "exposed: the step waits": _EXPOSED}


def bucketed(
    name: str,
    size: float,
    count: int,
    backward: float,
    workers: int,
    link: Network,
    layers: int = 20,
    until: float | None = None,
) -> Drawing:
    """A backward pass and its exchange in equal buckets, step by step; the axis goes on `until` seconds."""
    size = real("size", size, "it is the gradients, in bytes", 0, above=True)
    count = whole("count", count, "it counts the buckets that are drawn", 1, 128)
    backward = real(
        "backward", backward, "it is the time of the backward pass, in seconds", 0, above=True
    )
    layers = whole("layers", layers, "it counts the layers that are drawn", 1, 64)
    times = overlap.bucket_times([size / count] * count, backward, workers, link)
    end = float(times[2, -1])
    until = end if until is None else real("until", until, "it is where the axis ends, in seconds")
    if until < end:
        raise Refusal(
            f"until must be at least {end:g}, when the last bucket has arrived, got {until:g}"
        )
    exposed = units.text(end - backward, "s")
    job = _Job(size, count, backward, layers, until, times)
    return Drawing(
        name,
        f"{units.counted(count, 'bucket')} of {units.text(size / count, 'B')}: {exposed} exposed",
        f"Three rows on one axis of time: the backward pass through {units.counted(layers, 'layer')}, the "
        "exchange of its gradients, and for how long the step waits. Below the axis, a bucket fills.",
        _WIDE,
        _HIGH,
        tuple(_frame(job, float(now), done) for done, now in enumerate(_moments(job))),
        chosen=(len(_moments(job)) - 2, len(_moments(job)) - 1),
        tones=TONES,
        stamp=MODEL,
    )


class _Job:
    """What is drawn, and the places on its axis."""

    def __init__(self, size, count, backward, layers, until, times):
        self.size, self.count, self.backward, self.layers = size, count, backward, layers
        self.until, self.times, self.end = until, times, float(times[2, -1])
        self.each = size / count

    def x(self, seconds):
        return _LEFT + (_RIGHT - _LEFT) * seconds / self.until


def _moments(job):
    """Return the times of the steps: even ones, through the pass and beyond, and the end."""
    step = job.backward / _IN_PASS
    later = np.arange(job.backward + step, job.end - step / 5, step)
    return [*(step * np.arange(_IN_PASS + 1)), *later, job.end]


def _frame(job, now, done):
    made = job.size * min(now / job.backward, 1)
    full = int((job.times[0] <= now + 1e-12).sum())
    begun = int((job.times[1] < now - 1e-12).sum())
    there = int((job.times[2] <= now + 1e-12).sum())
    queue = full - int((job.times[1] <= now + 1e-12).sum())
    shapes = [*_axis(job, now), *_layers(job, now), *_filling(job, made, full)]
    shapes += [shape for at in range(begun) for shape in _travel(job, at, now)]
    waits = max(now - job.backward, 0.0)
    if waits:
        x = job.x(job.backward)
        wide = job.x(now) - x
        shapes.append(Shape("waits", "block", x + wide / 2, _STEP, wide, _THICK, tone=_EXPOSED))
    return Frame(
        _caption(job, now, done, full, there, queue),
        tuple(shapes),
        {
            "Buckets": f"{full} full, {there} exchanged, {queue} in line",
            "Gradients made": f"{units.text(made, 'B')} of {units.text(job.size, 'B')}",
            "The step waits": units.text(waits, "s") if waits else "not yet",
        },
    )


def _caption(job, now, done, full, there, queue):
    each = units.text(job.each, "B")
    if not done:
        return (
            "The backward pass begins at the last layer, and so do the gradients. The link is idle."
        )
    if there == job.count:
        hides = (
            "with everything in one bucket, nothing was hidden"
            if job.count == 1
            else "all before it were hidden"
        )
        if job.times[1, -1] > job.times[0, -1] + 1e-9:
            hides = "each one paid for its rounds, and the line grew all through the pass"
        return f"The last bucket has arrived: {hides}. Now the step can go on."
    if done > _IN_PASS:
        return "The pass is over, the exchange is not. There is nothing left to compute, so the step waits."
    if done == _IN_PASS:
        line = (
            f"{units.counted(queue, 'bucket')} stand in line"
            if queue
            else "nothing can hide that one"
        )
        return f"The pass is over, and only now is the last bucket of {each} full: {line}."
    if not full:
        made = units.counted(math.floor(job.layers * now / job.backward + 1e-9), "layer")
        return f"{made} of {job.layers} made their gradients. No bucket of {each} is full yet: an idle link."
    if queue:
        return (
            f"Buckets are full sooner than the link carries them: each pays for its rounds, and {queue} "
            "stand in line."
        )
    if there == full:
        return (
            "The full buckets are exchanged already, beneath the pass. The link waits for the next."
        )
    return "A full bucket is exchanged while the pass goes on: that costs the step nothing."


def _axis(job, now):
    top, bottom = _PASS - 12, _STEP + 16
    x = job.x(job.backward)
    yield Shape("end of the pass", "line", x, top, 0, bottom - top, weight=0.8)
    yield Shape("now", "line", job.x(now), _WIRE - 13, 0, 26, weight=1.6)
    step = 10 ** np.floor(np.log10(job.until / 2))
    for tick in range(1 + int(job.until / step + 1e-9)):
        x, word = job.x(tick * step), units.text(tick * step, "s") if tick else "0"
        align = "start" if not tick else "end" if x > _RIGHT - 14 else "middle"
        x = _WIDE if align == "end" else x
        yield Shape(f"tick {tick}", "text", x, bottom + 10, text=word, align=align)
    rows = {"backward pass": _PASS, "exchange": _WIRE, "the step waits": _STEP}
    for name, y in (rows | {"the bucket that fills": _FILLS}).items():
        yield Shape(f"name of {name}", "text", _LEFT, y - 18.5, text=name, align="start")


def _layers(job, now):
    """Yield a block for each layer, last layer first, as far as its gradients are made."""
    each = job.backward / job.layers
    for at in range(job.layers):
        wide = job.x(each) - job.x(0)
        x = job.x(at * each)
        yield Shape(f"layer {job.layers - at}", "block", x + wide / 2, _PASS, wide, _THICK)
        share = min(max((now - at * each) / each, 0), 1)
        if share > 1e-9:
            yield Shape(
                f"made in layer {job.layers - at}", "block", x + share * wide / 2, _PASS, share * wide,
                _THICK, tone=_DONE,
            )  # fmt: skip
    yield Shape(
        "last layer", "text", job.x(job.backward) + 6, _PASS, text="layer 1 is last", align="start"
    )


def _filling(job, made, full):
    """Yield the bucket that is being filled."""
    left = made - full * job.each
    share = min(max(left / job.each, 0), 1) if full < job.count else 0
    yield Shape("bucket", "box", _LEFT + _BUCKET / 2, _FILLS, _BUCKET, 16)
    if share > 1e-6:
        wide = share * _BUCKET
        yield Shape("in the bucket", "block", _LEFT + wide / 2, _FILLS, wide, 16, tone=_DONE)
    word = f"{units.text(share * job.each, 'B')} of {units.text(job.each, 'B')}"
    if full == job.count:
        word = "none is left to fill"
    yield Shape("how full", "text", _LEFT + _BUCKET + 8, _FILLS, text=word, align="start")


def _travel(job, at, now):
    """Yield a bucket on the link: what of it is beneath the pass, and what sticks out."""
    begin, end = job.times[1, at], min(job.times[2, at], now)
    for name, tone, start, stop in (
        ("hidden", _HIDDEN, begin, min(end, job.backward)),
        ("exposed", _EXPOSED, max(begin, job.backward), end),
    ):
        if stop - start > 1e-9:  # a nanosecond is not seen
            x, wide = job.x(start), job.x(stop) - job.x(start)
            yield Shape(
                f"bucket {at + 1} of {job.count}, {name}",
                "block",
                x + wide / 2,
                _WIRE,
                wide,
                _THICK,
                tone=tone,
            )
