"""Section 3.4: pages that ask several servers and wait for all, or steps that wait for all workers.

Beside the answers to one page stand those to all pages so far, as cells: few cells are slow, and many pages
have one.
"""

from __future__ import annotations

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Numbers, numbers
from scalelab.models.waiting import tail
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.drawings.waiting.rows import HIGH, WIDE, TimeRows, few, ms, until
from scalelab.show.plots import MODEL

MOST = 10  # pages, and calls to each
WORKS, SLOW, WAITS = 1, 2, 0
_TOP, _RIGHT = 32.0, 196.0
_CELL, _FIRST = 14.0, 220.0
_TIMES = "they are how long each call of each page takes, in seconds, a row for a page"
_LIMIT = "it is the time beyond which a call is called slow, in seconds"


def fan_out(
    name: str,
    times: Numbers,
    limit: float,
    *,
    whole: str = "page",
    part: str = "server",
    horizon: float | None = None,
) -> Drawing:
    """Pages, or whatever waits for all of its parts: a row of `times` for each."""
    times = numbers("times", times, _TIMES, 0, above=True)
    if times.ndim != 2 or not times.size:
        raise Refusal(
            f"times must be a table, a row for a {whole}, got shape {times.shape}: {_TIMES}"
        )
    limit = real("limit", limit, _LIMIT, 0)
    few(max(times.shape), MOST, "times")
    rows = TimeRows(
        _TOP, times.shape[1], until(horizon, float(times.max())), left=26.0, right=_RIGHT
    )
    frames = [_frame(times, limit, rows, done, whole, part) for done in range(len(times) + 1)]
    last = frames[-1]
    frames.append(Frame(_end(times, limit, whole, part), last.shapes, last.facts))
    return Drawing(
        name,
        f"{name.capitalize()}: each {whole} waits for {times.shape[1]} {part}s",
        f"On the left a row for each {part}, as long as it takes for this {whole}, and grey while others are "
        f"not done. On the right a column for each {whole}, with a cell for each {part}; below, the {whole}.",
        WIDE,
        rows.bottom + 30,
        tuple(frames),
        chosen=(len(frames) // 2, len(frames) - 1),
        tones={f"a {part} at work": WORKS, "a slow one": SLOW, "done, and others are not": WAITS},
        stamp=MODEL,
    )


def _frame(times, limit, rows, done, whole, part):
    end = float(times[done - 1].max()) if done else 0.0
    slow = times > limit
    count = times.shape[1]
    shapes = [*rows.axis(end, [f"{at + 1}" for at in range(count)])]
    shapes.append(Shape("whole", "text", (26 + _RIGHT) / 2, 8, text=f"this {whole}"))
    middle = _FIRST + _CELL * (len(times) - 1) / 2
    shapes.append(Shape("all", "text", middle, 8, text=f"all {whole}s"))
    for at in range(len(times)):
        shapes.append(Shape(f"number {at + 1}", "text", _x(at), 23, text=f"{at + 1}"))
    if done:
        for row, took in enumerate(times[done - 1].tolist()):
            tone = SLOW if took > limit else WORKS
            shapes += rows.bar(f"{part} {row + 1}", row, 0.0, took, tone)
            shapes += rows.bar(f"rest {row + 1}", row, took, end, WAITS)
    for page in range(done):
        for row in range(count):
            tone = SLOW if slow[page, row] else WORKS
            shapes.append(_cell(f"cell {page + 1}.{row + 1}", page, rows.y(row), tone, 8.0))
        tone = SLOW if slow[page].any() else WORKS
        shapes.append(_cell(f"{whole} {page + 1}", page, rows.bottom + 9, tone, 11.0))
    shapes.append(Shape("sum", "text", middle, rows.bottom + 23, text=f"each {whole}"))
    pages, calls = int(slow[:done].any(axis=1).sum()), int(slow[:done].sum())
    mean = (
        f"{whole} {ms(times[:done].max(axis=1).mean())} ms, {part} {ms(times[:done].mean())} ms"
        if done
        else "nothing yet"
    )
    facts = {
        "Mean times so far": mean,
        f"Slow {whole}s": f"{pages} of {done}",
        "Slow times": f"{calls} of {done * count}",
        f"This {whole}": f"{ms(end)} ms" if done else "not yet",
    }
    return Frame(_caption(times, limit, done, whole, part), tuple(shapes), facts)


def _x(page):
    return _FIRST + _CELL * page


def _cell(key, page, y, tone, high):
    return Shape(key, "block", _x(page), y, _CELL - 2, min(high, HIGH - 2), tone=tone)


def _caption(times, limit, done, whole, part):
    if not done:
        return f"Each {whole} asks all {times.shape[1]} {part}s at the same time, and waits for the last."
    took = times[done - 1]
    slow = np.flatnonzero(took > limit)
    if not len(slow):
        return (
            f"{whole.capitalize()} {done}: nobody is slow. It still takes the longest time, "
            f"{ms(took.max())} ms, where the mean is {ms(took.mean())} ms."
        )
    who = " and ".join(str(one + 1) for one in slow)
    rest = took[took <= limit]
    others = (
        f" The others were done after {ms(rest.max())} ms, and the {whole} waits."
        if len(rest)
        else ""
    )
    return (
        f"{whole.capitalize()} {done}: {part}{'s' * (len(slow) > 1)} {who} "
        f"{'are' if len(slow) > 1 else 'is'} slow.{others}"
    )


def _end(times, limit, whole, part):
    slow = times > limit
    share = float(slow.mean())
    count = times.shape[1]
    if not slow.any():
        return (
            f"Nobody was slow. Still the mean {whole} took {ms(times.max(axis=1).mean())} ms, and the mean "
            f"{part} {ms(times.mean())} ms."
        )
    return (
        f"{slow.sum()} of {slow.size} times were slow, and {slow.any(axis=1).sum()} of {len(times)} {whole}s."
        f" Computed: 1 − (1 − {share:.2g})^{count} = {tail.fan_out(share, count):.0%}."
    )
