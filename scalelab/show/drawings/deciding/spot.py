"""Section 3.9: one run on capacity that can be taken away, hour after hour, and what it has cost so far.

The run is told by `models.cost.preempted.history`. A block is as long as it lasts and as high as the share of
the machines that is paid, so its area is money.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scalelab import units
from scalelab.arguments import real, shown
from scalelab.models.choice import instance
from scalelab.models.cost import preempted
from scalelab.models.cost.preempted import Episode
from scalelab.models.cost.spot import Spot
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

HOUR = 3600.0
LINE = 8  # hours in a line of the paper, so that a day is three
MOST_LINES, MOST_TIMES = 9, 24
_WIDE, _LEFT, _LONG = 360.0, 50.0, 302.0
_TOP, _PITCH, _FULL, _THIN = 42.0, 36.0, 18.0, 2.0
TONES = {
    "saved work": 3,
    "work not saved yet": 1,
    "lost": 2,
    "waiting": 5,
    "coming back": 4,
}
_KINDS = {"saved": 3, "lost": 2, "open": 1, "wait": 5, "restart": 4}


@dataclass(frozen=True)
class _Spell:
    """From where a run is back at work until it is there again: work, and what a preemption makes of it."""

    begin: float
    saved: float  # until then all is
    held: float  # until then it has machines
    found: float  # until then it waits for others
    back: float
    checkpoints: tuple[float, ...]  # when each was written
    work: float  # that lasts, in seconds


def spot_runs(
    useful: float, ways: Mapping[str, tuple[Spot, float]], on_demand: float, seed: int = 0
) -> list[Drawing]:
    """The same job on several offers, each with its seconds of work between two checkpoints, and one luck.

    `on_demand` is what all its machines cost an hour where nobody takes them away.
    """
    useful = real("useful", useful, "it is the time of the job if nothing happens", 0, above=True)
    on_demand = real("on_demand", on_demand, "it is the price of all machines an hour", 0)
    told = _told(useful, ways, seed)
    lines = max(math.ceil(spells[-1].back / HOUR / LINE) for spells in told.values())
    if lines > MOST_LINES:
        raise Refusal(
            f"useful must make runs of at most {MOST_LINES * LINE} hours, got one of {lines * LINE}: "
            "draw a shorter job, or fewer preemptions"
        )
    return [
        Drawing(
            name,
            f"A job of {useful / HOUR:g} hours on spot machines: {name}",
            f"A line is {LINE} hours, added to those of the lines above. A block is as high as the machines "
            "that are paid, and thin where none is. A tick below it is a checkpoint. An arrow from above "
            "takes a machine away.",
            _WIDE,
            _TOP + _PITCH * lines,
            tuple(_frames(useful, *ways[name], told[name], on_demand, lines)),
            chosen=(len(told[name]) + 3,),
            tones=TONES,
            stamp=MODEL,
        )
        for name in ways
    ]


def _told(useful, ways, seed):
    if not isinstance(ways, Mapping) or not ways:
        raise Refusal(f"ways must be offers by their names, got {shown(ways)}: name at least one")
    told = {}
    for name, given in ways.items():
        if not isinstance(given, tuple) or len(given) != 2:
            raise Refusal(
                f"way {name!r} must be an offer and an interval, got {shown(given)}: write both"
            )
        offer = instance(
            f"offer of {name!r}",
            given[0],
            Spot,
            "write cost.Spot(hourly, between, write, restart)",
        )
        told[name] = _spells(preempted.history(useful, given[1], offer, seed))
        times = len(told[name]) - 1
        if not 1 <= times <= MOST_TIMES:
            raise Refusal(
                f"{name!r} must be preempted 1 to {MOST_TIMES} times to be drawn, got {times}: try a seed"
            )
    return told


def _spells(history: tuple[Episode, ...]) -> list[_Spell]:
    """Return the run cut where it is back at work."""
    spells, now, at = [], 0.0, 0
    while at < len(history):
        begin, saved, written, work = now, now, [], 0.0
        while at < len(history) and history[at].what in ("work", "checkpoint"):
            if history[at].what == "checkpoint":
                saved = history[at].end
                written.append(saved)
            else:
                work += history[at].end - history[at].begin
            now, at = history[at].end, at + 1
        # Without time for a checkpoint every moment of work is saved.
        saved = max(saved, now)
        held = found = now
        if at < len(history) and history[at].what == "lost":
            held = found = now = history[at].end
            at += 1
        if at < len(history) and history[at].what == "wait":
            found = now = history[at].end
            at += 1
        if at < len(history) and history[at].what == "restart":
            now, at = history[at].end, at + 1
        spells.append(_Spell(begin, saved, held, found, now, tuple(written), work))
    return spells


def _frames(useful, offer, interval, spells, on_demand, lines):
    first, *rest = spells
    moments = [
        (0.0, f"{useful / HOUR:g} hours of work, on machines of which one is taken away every "
              f"{_long(offer.between)} on average. It will save every {_long(interval)}."),
        (first.held, f"It works for {_long(first.held)} and {_saves(first)}. "
                     f"{_open(first)}"),
        (first.held, _taken(offer, first)),
        (first.found, _waits(offer, first)),
        (first.back, f"{_long(first.back - first.found)} to come back: all machines are there and paid, "
                     "and no work is done."),
    ]  # fmt: skip
    for spell in rest[:-1]:
        moments.append((spell.back, _again(offer, spell)))
    moments.append((rest[-1].back, _done(useful, offer, rest[-1].back, spells, on_demand)))
    for step, (now, caption) in enumerate(moments):
        yield Frame(
            caption,
            tuple(_shapes(offer, spells, now, lines, taken=step != 1)),
            _facts(useful, offer, spells, now, on_demand, taken=step != 1),
        )


def _long(seconds):
    """Write a duration in the unit that people would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / HOUR:.2g} h"


def _saves(spell):
    times = len(spell.checkpoints)
    return f"saves {units.counted(times, 'time')}" if times else "never saves"


def _open(spell):
    return (
        f"What it did in the last {_long(spell.held - spell.saved)} is not saved yet."
        if spell.held > spell.saved
        else "The last of them was upon a notice."
    )


def _taken(offer, spell):
    if spell.held > spell.saved:
        lost = _long(spell.held - spell.saved)
        what = f"The last {lost}, since it saved," if spell.checkpoints else f"All {lost} of work"
        return f"One machine is taken away, and all must stop. {what} are lost."
    notice = f"With {offer.notice:.0f} s of notice nothing is lost."
    return f"One machine is taken away, and all must stop. {notice}"


def _waits(offer, spell):
    kept = (
        f"the others, {offer.kept:.0%} of all, are kept and paid"
        if offer.kept
        else "the others are given back and cost nothing"
    )
    return f"{_long(spell.found - spell.held)} pass until another is found. Meanwhile {kept}."


def _again(offer, spell):
    back = f"{_long(spell.back - spell.found)} to come back"
    if spell.back - spell.found < offer.restart:  # the next is taken away meanwhile
        back = f"{_long(spell.back - spell.found)} of coming back, which is cut short"
    if spell.held == spell.begin:
        return (
            f"One is taken away while the job comes back: {_long(spell.found - spell.held)} of waiting, and "
            f"{back}."
        )
    lost = spell.held - spell.saved
    what = f"{_long(lost)} of work lost" if lost > 0 else "nothing lost"
    waits = f"{_long(spell.found - spell.held)} of waiting"
    ran = _long(spell.held - spell.begin)
    return f"After {ran} of running one is taken away again: {what}, {waits}, and {back}."


def _done(useful, offer, now, spells, on_demand):
    bill, other = _bill(offer, spells, now), on_demand * useful / HOUR
    took = f"{now / HOUR:.1f} h in place of {useful / HOUR:g}"
    return f"Done after {took}, for ${bill:,.0f} in place of ${other:,.0f}."


def _parts(spells, now, taken):
    """Yield (kind, number, begin, end) of all that has happened until now."""
    for number, spell in enumerate(spells):
        ends = spell.begin, spell.saved, spell.held, spell.found, spell.back
        for kind, begin, end in zip(
            ("saved", "lost", "wait", "restart"), ends, ends[1:], strict=False
        ):
            if min(end, now) > begin:
                yield (
                    kind if taken or kind != "lost" else "open",
                    number,
                    begin,
                    min(end, now),
                )


def _bill(offer, spells, now):
    paid = {"wait": offer.kept}
    seconds = sum(
        (end - begin) * paid.get(kind, 1.0) for kind, _, begin, end in _parts(spells, now, True)
    )
    return offer.hourly * seconds / HOUR


def _facts(useful, offer, spells, now, on_demand, taken):
    spent = dict.fromkeys(_KINDS, 0.0)
    for kind, _, begin, end in _parts(spells, now, taken):
        spent[kind] += end - begin
    lasting = sum(spell.work for spell in spells if spell.saved <= now)
    return {
        "Bill so far": f"${_bill(offer, spells, now):,.2f}, at ${offer.hourly:,.2f} an hour; on demand "
        f"${on_demand * useful / HOUR:,.0f} in all",
        "Work that lasts": f"{lasting / HOUR:.1f} of {useful / HOUR:g} h",
        "Lost": f"{spent['lost'] / HOUR:.1f} h",
        "Waited": f"{spent['wait'] / HOUR:.1f} h",
    }


def _shapes(offer, spells, now, lines, taken):
    for hour in range(LINE + 1):
        yield Shape(
            f"hour {hour}",
            "text",
            _LEFT + hour * _LONG / LINE - (hour == LINE) * 4,
            10,
            text=f"{hour} h",
        )
    for line in range(lines):
        base = _base(line)
        yield Shape(
            f"from {line}",
            "text",
            _LEFT - 7,
            base - _FULL / 2,
            text=f"+{line * LINE} h",
            align="end",
        )
        yield Shape(f"ground {line}", "line", _LEFT, base, _LONG, 0)
    for kind, number, begin, end in _parts(spells, now, taken):
        share = offer.kept if kind == "wait" else 1.0
        high = max(share * _FULL, _THIN)
        for line, x, width in _pieces(begin, end):
            # What is open may be lost in the next step: it is the same thing.
            key = f"{'lost' if kind == 'open' else kind} {number}, line {line}"
            yield Shape(
                key, "block", x + width / 2, _base(line) - high / 2, width, high, _KINDS[kind]
            )
    for number, spell in enumerate(spells):
        for turn, written in enumerate(spell.checkpoints):
            if written <= now:
                line, x = _place(written)
                yield Shape(f"checkpoint {number}.{turn}", "line", x, _base(line), 0, 4)
        if number < len(spells) - 1 and spell.held <= now and taken:
            line, x = _place(spell.held)
            yield Shape(
                f"taken {number}", "arrow", x, _base(line) - _FULL - 10, 0, 9, 2, weight=1.5
            )


def _base(line):
    return _TOP + _PITCH * line + 12


def _place(seconds):
    """Return the line on which a moment is, and how far along."""
    line = int(max(seconds / HOUR / LINE - 1e-12, 0))
    return line, _LEFT + (seconds / HOUR - line * LINE) * _LONG / LINE


def _pieces(begin, end):
    """Yield (line, x, width) of what lasts from begin to end, a piece for each line."""
    for line in range(int(begin / HOUR / LINE), int(end / HOUR / LINE) + 1):
        start, stop = (
            min(max(moment / HOUR - line * LINE, 0.0), LINE) * _LONG / LINE
            for moment in (begin, end)
        )
        if stop - start > 0.05:
            yield line, _LEFT + start, stop - start
