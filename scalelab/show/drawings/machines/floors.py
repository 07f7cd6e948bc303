"""Section 3.7: a · b + c over long vectors, and what it carries from floor to floor of a machine's memory.

Where a number is found again `reuse.found` says, and what an operation moves and computes, `kernels`. The
widths of the way are bandwidths that were measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scalelab import units
from scalelab.arguments import real, shown
from scalelab.models.kernels import kernels, reuse
from scalelab.models.kernels.reuse import MEMORY, Walk
from scalelab.records import Stamp
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape

NUMBERS, PIECE, WIDTH = (
    16_000_000,
    16_000,
    4,
)  # of a vector, of a piece of it, and bytes of a number
MOST_CACHES = 3
_PRODUCT, _SUM = Walk(("a", "b"), "t"), Walk(("t", "c"), "d")
_BOTH = Walk(("a", "b", "c"), "d")
WAYS: dict[str, tuple[tuple[Walk, ...], ...]] = {
    "two operations": ((_PRODUCT,), (_SUM,)),
    "in pieces": ((_PRODUCT, _SUM),),
    "fused": ((_BOTH,),),
}
_WIDE, _TOP, _FLOOR, _BOX = 360.0, 26.0, 66.0, 28.0
_MIDDLE, _ROOM, _SLOT, _BLOCK, _PART = 196.0, 136.0, 26.0, 22.0, 9.0
_ARROW, _BESIDE = 278.0, 24.0  # where what moves is shown, to the right of the floors
_THICKEST = 14.0  # of the way between two floors
_TONE = {"a": 1, "b": 1, "c": 1, "t": 2, "d": 3}
_WAY, _MOVES = 0, 4
TONES = {"a, b, c: given": 1, "t = a · b": 2, "d = t + c": 3, "moves now": _MOVES}


class _Machine(NamedTuple):
    """Its levels, nearest first, the bandwidth of each, and how much the caches hold."""

    levels: tuple[str, ...]
    bandwidths: Mapping[str, float]
    caches: Mapping[str, float]


class _Count(NamedTuple):
    """What has been moved and done so far: bytes to and from memory, and caches only; FLOPs."""

    memory: float = 0.0
    caches: float = 0.0
    flops: float = 0.0


class _Step(NamedTuple):
    """What happens in a frame: "up", "compute" or "down" for a walk, and "rest" for all other pieces."""

    what: str
    walk: Walk | None
    places: Mapping[str, str]  # where each of its vectors comes from, or goes to
    makes: str = ""  # what is computed
    stays: frozenset[str] = frozenset()  # the caches that keep what passes


def carried(
    bandwidths: Mapping[str, float], caches: Mapping[str, float], stamp: Stamp
) -> list[Drawing]:
    """Two operations that make a · b + c, apart, in pieces and fused: what climbs, what comes down again."""
    levels = tuple(bandwidths) if isinstance(bandwidths, Mapping) else ()
    if not 2 <= len(levels) <= MOST_CACHES + 1 or levels[-1] != MEMORY:
        raise Refusal(
            f"bandwidths must be of 1 to {MOST_CACHES} caches and, last, of {MEMORY}, got "
            f"{shown(bandwidths)}: give the levels of a machine, nearest first"
        )
    if not isinstance(caches, Mapping) or not set(levels[:-1]) <= set(caches):
        raise Refusal(
            f"caches must have a size for each of {', '.join(levels[:-1])}, got {shown(caches)}"
        )
    for rate in bandwidths.values():
        real("bandwidths", rate, "it is in bytes per second", 0, above=True)
    machine = _Machine(levels, bandwidths, {name: caches[name] for name in levels[:-1]})
    return [_drawing(name, groups, machine, stamp) for name, groups in WAYS.items()]


def _drawing(name, groups, machine, stamp):
    places = reuse.found(groups, NUMBERS * WIDTH, PIECE * WIDTH, machine.caches)
    steps = [_Step("start", None, {})]
    counts = [_Count()]
    for group, found in zip(groups, places, strict=True):
        begin, stays = counts[-1], _stays(group, machine)
        for walk, where in zip(group, found, strict=True):
            for step, moved, done in _steps(walk, where, stays):
                steps.append(step)
                counts.append(_plus(counts[-1], moved, done))
        steps.append(_Step("rest", None, dict(found[-1])))
        counts.append(
            _Count(*(b + (c - b) * NUMBERS / PIECE for b, c in zip(begin, counts[-1], strict=True)))
        )
    frames = [_frame(name, steps[: turn + 1], counts[turn], machine) for turn in range(len(steps))]
    total = counts[-1]
    return Drawing(
        name,
        f"a · b + c, {name}: {units.text(total.memory, 'B')} to and from memory",
        "The floors of a machine, memory at the bottom and arithmetic at the top. The way between two is as "
        "wide as its bandwidth. A small block is a piece of a vector; an arrow at the right is what moves.",
        _WIDE,
        _y(machine, MEMORY) + 30,
        tuple(frames),
        chosen=(min(3, len(frames) - 1), len(frames) - 1),
        tones=TONES,
        stamp=stamp,
    )


def _steps(walk, where, stays):
    """Yield the steps of one walk over a piece, with the levels they move it from or to, and FLOPs."""
    kernel = kernels.elementwise(PIECE, WIDTH, operands=len(walk.reads), each=len(walk.reads) - 1)
    made = ["t", "d"] if len(walk.reads) > 2 else [walk.writes]
    up = {name: where[name] for name in walk.reads}
    yield _Step("up", walk, up, stays=stays), list(up.values()), 0.0
    for one in made:
        yield _Step("compute", walk, {}, one), [], kernel.flops / len(made)
    down = {walk.writes: where[walk.writes]}
    yield _Step("down", walk, down, stays=stays), list(down.values()), 0.0


def _plus(count, moved, done):
    each, memory = PIECE * WIDTH, moved.count(MEMORY)
    return _Count(
        count.memory + each * memory,
        count.caches + each * (len(moved) - memory),
        count.flops + done,
    )


def _stays(group, machine):
    """Return the caches that keep a piece until the next walk of its group needs it."""
    if len(group) == 1:
        return frozenset()
    touched = frozenset().union(*(walk.touches for walk in group))
    first = reuse.holds(PIECE * WIDTH * len(touched), machine.caches)
    caches = machine.levels[:-1]
    return frozenset(caches[caches.index(first) :] if first in caches else ())


def _y(machine: _Machine, level: str = "") -> float:
    """Return the height of a level, or of the arithmetic above all."""
    return _TOP + _FLOOR * (machine.levels.index(level) + 1 if level else 0)


def _x(name):
    return _MIDDLE + (list(_TONE).index(name) - 2) * _SLOT


def _frame(name, steps, count, machine):
    shapes = [
        *_building(machine),
        *_lying(steps, machine),
        *_top(steps, machine),
        *_moving(steps[-1], machine),
    ]
    return Frame(
        _caption(name, steps, count, machine),
        tuple(shapes),
        {
            "Moves in this step": _told(steps[-1]),
            "Counted so far": _counted(steps),
            "To and from memory": units.text(count.memory, "B"),
            "To and from a cache": units.text(count.caches, "B"),
            "Computed": units.text(count.flops, "FLOP"),
            "FLOP per byte of memory": f"{count.flops / count.memory:.3g}"
            if count.memory
            else "none yet",
        },
    )


def _building(machine: _Machine) -> Iterator[Shape]:
    """Yield the floors, their names, and the ways between them."""
    widest = max(machine.bandwidths.values())
    for level in ("", *machine.levels):
        y = _y(machine, level)
        size = (
            units.text(machine.caches[level], "B", binary=True) if level in machine.caches else ""
        )
        said = f"{level} {size}".strip() if level else "arithmetic"
        beside = _MIDDLE - _ROOM / 2 - 6
        yield Shape(f"name of {level}", "text", beside, y, text=said, align="end")
        yield Shape(f"floor {level}", "box", _MIDDLE, y, _ROOM, _BOX)
        if level:
            rate = machine.bandwidths[level]
            weight = max(_THICKEST * rate / widest, 1.0)
            length = _FLOOR - _BOX - weight - 2  # its ends are round
            top = y - _FLOOR / 2 - length / 2
            yield Shape(
                f"way from {level}", "line", _MIDDLE, top, 0, length, tone=_WAY, weight=weight
            )
            yield Shape(
                f"bandwidth of {level}", "text", _MIDDLE + 14, y - _FLOOR / 2,
                text=units.text(rate, "B/s"), align="start",
            )  # fmt: skip


def _lying(steps, machine):
    """Yield what lies in memory and in the caches."""
    there = dict.fromkeys(("a", "b", "c"), _BLOCK)
    kept: dict[tuple[str, str], None] = {}
    for step in steps:
        if step.what == "down" and MEMORY in step.places.values():
            there |= dict.fromkeys(step.places, _PART)
        if step.what == "rest":
            there = dict.fromkeys(there, _BLOCK)
        for one, level in step.places.items() if step.what in ("up", "down") else ():
            if step.what == "up" or level != MEMORY:
                kept |= dict.fromkeys(
                    (one, cache) for cache in machine.levels if cache in step.stays
                )
    for one, width in there.items():
        yield Shape(
            f"{one} in memory", "block", _x(one), _y(machine, MEMORY), width, 20, tone=_TONE[one], text=one
        )  # fmt: skip
    for one, cache in kept:
        yield Shape(
            f"{one} in {cache}", "block", _x(one), _y(machine, cache), _PART, 16, tone=_TONE[one], text=one,
        )  # fmt: skip


def _top(steps, machine):
    """Yield the pieces that the arithmetic works on: what came up last, and what it made of it."""
    last = max((turn for turn, step in enumerate(steps) if step.what == "up"), default=len(steps))
    if steps[-1].what not in ("up", "compute"):
        return
    for step in steps[last:]:
        for one in step.places if step.what == "up" else [step.makes]:
            fresh = step is steps[-1] and step.what == "up"
            yield Shape(
                f"{one} above", "block", _x(one), _y(machine), _PART, 16, tone=_TONE[one], text=one,
                start=(_x(one), _y(machine, step.places[one])) if fresh else None,
            )  # fmt: skip


def _moving(step, machine):
    """Yield an arrow for each piece that moves in this step, from the floor to the arithmetic or back."""
    if step.what not in ("up", "down"):
        return
    for turn, (one, level) in enumerate(step.places.items()):
        x, top, below = _ARROW + _BESIDE * turn, _y(machine), _y(machine, level)
        begin, way = (below, top - below) if step.what == "up" else (top, below - top)
        yield Shape(
            f"{one} {step.what} {x:g} {level}", "arrow", x, begin, 0, way, tone=_MOVES, weight=2
        )
        aside = 10 if step.what == "up" else -10
        yield Shape(
            f"{one} {step.what} {x:g} {level}, its name", "text", x, begin + aside, text=one
        )


def _told(step):
    """Say what moves, for those who see no arrows."""
    if step.what == "rest":
        return f"the other {NUMBERS // PIECE - 1:,} pieces, in the same way"
    way = {"up": "from", "down": "down to"}.get(step.what)
    return (
        ", ".join(f"{one} {way} {level}" for one, level in step.places.items())
        if way
        else "nothing"
    )


def _counted(steps):
    """Say of how many pieces the bytes and FLOPs are: of one, until the others follow in the same way."""
    pieces, done = NUMBERS // PIECE, [step.what for step in steps].count("rest")
    if steps[-1].what == "start":
        return "nothing yet"
    if steps[-1].what == "rest":
        return f"all {pieces:,} pieces" if "d" in steps[-1].places else "all of t"
    return f"{'all of t, and of d ' if done else ''}piece 1 of {pieces:,}"


def _caption(name, steps, count, machine):
    step = steps[-1]
    size = units.text(PIECE * WIDTH, "B")
    if step.what == "start":
        whole = units.text(NUMBERS * WIDTH, "B")
        says = {
            "two operations": "First come all products, then all sums.",
            "in pieces": f"A piece of {size} is multiplied and added before the next.",
            "fused": "One operation does both to each number.",
        }
        return (
            f"a, b and c lie in memory, {whole} each, and nothing of them in a cache. {says[name]}"
        )
    if step.what == "up":
        near = [f"{one} from {level}" for one, level in step.places.items() if level != MEMORY]
        far = [one for one, level in step.places.items() if level == MEMORY]
        rest = (
            f"{' and '.join(far)} from memory" if near else f"{', '.join(far[:-1])} and {far[-1]}"
        )
        if near:
            return (
                f"Up come {' and '.join(near)} and {rest}: what lies in a cache climbs a wide way."
            )
        return f"A piece of {rest}, {size} each, climbs from memory, first by the narrowest way of all."
    if step.what == "compute":
        sign = "multiplies, and t is made" if step.makes == "t" else "adds, and d is made"
        stays = len(step.walk.reads) > 2 and step.makes == "t"
        return f"The arithmetic {sign}." + (
            " It stays where it is, in a register." if stays else ""
        )
    if step.what == "down":
        ((one, level),) = step.places.items()
        if one == "d":
            return "d is the result. Nobody needs it now, so it goes down to memory."
        if level == MEMORY:
            return (
                "All of t is made before any of it is added, and no cache holds it: down to memory."
            )
        if name == "two operations":
            return f"All of t is made before any of it is added, and {level} holds it: no farther down."
        return (
            f"t is needed at once, by the sum. It goes down to {level} only, which holds the piece."
        )
    takes = units.text(count.memory / machine.bandwidths[MEMORY], "s")
    return (
        f"And so for all {NUMBERS // PIECE:,} pieces. What went by the lowest way takes {takes} there, "
        f"however fast the arithmetic is."
    )
