"""Section 3.8: the messages of a plan, round after round, among workers on a circle.

The plan is the one that `messages.run` carries out and prices. Every worker begins with a number of its own,
so that a sum tells who is in it, and how often.
"""

from __future__ import annotations

import math

import numpy as np

from scalelab import units
from scalelab.models.network import messages
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

MOST = 8  # workers, and parts, that still are told apart
_BASE = 128  # each worker adds a digit to the sums, which says how often it is in them
_WIDE, _HIGH, _CIRCLE = 360.0, 366.0, 150.0
_BOX = 56.0, 58.0
_BAR = 5.2, 38.0
_HEAD = 13.0  # of a box, for the worker's name
_DOES = {True: "added to what is there", False: "kept in place of what was there"}
_ASIDE = 8.5  # by which the arrows of one pair are apart
_CLEAR = 2.0  # between an arrow and a box
_ONE, _SEVERAL, _ALL, _SENT, _TWICE = 0, 1, 3, 2, 4
TONES = {
    "gradients of one worker": _ONE,
    "of several": _SEVERAL,
    "of all": _ALL,
    "a message, with its parts": _SENT,
}
WRONG = {"some added more than once": _TWICE}


def all_reduce(name: str, plan: messages.MessagePlan) -> Drawing:
    """A plan as it is carried out: who sends which parts to whom, and whose gradients each part holds."""
    if max(plan.workers, plan.parts) > MOST:
        raise Refusal(
            f"plan must have at most {MOST} workers and parts to be drawn, got {plan.workers} and "
            f"{plan.parts}: draw a smaller one, or run it"
        )
    rounds = len(plan.rounds)
    wrong = any((counts(plan, done) > 1).any() for done in range(rounds + 1))
    return Drawing(
        name,
        f"{name.capitalize()} of {plan.workers}: {units.counted(rounds, 'round')}, {paid(plan, rounds)}",
        f"{plan.workers} workers stand on a circle. In the box of each, a column is a part of its "
        f"gradients, and a mark in it says whose are in it, worker 1 at the bottom. An arrow is a message.",
        _WIDE,
        _HIGH,
        tuple(_frame(plan, done) for done in range(rounds + 1)),
        chosen=tuple(sorted({min(1, rounds), math.ceil(rounds / 2)})),
        tones=TONES | (WRONG if wrong else {}),
        stamp=MODEL,
    )


def counts(plan: messages.MessagePlan, done: int) -> np.ndarray:
    """Return how often each worker's gradients are in each part of each worker, after so many rounds.

    >>> counts(messages.ring(2), 1)[0].tolist()  # worker 1: its own part, then the sum of both
    [[1, 1], [1, 0]]
    """
    sums, _ = _carried_out(plan, done)
    return sums[:, :, None] // _BASE ** np.arange(plan.workers) % _BASE


def _carried_out(plan, done):
    own = np.repeat(_BASE ** np.arange(plan.workers)[:, None], plan.parts, axis=1)
    return messages.run(messages.MessagePlan(plan.workers, plan.parts, plan.rounds[:done]), own)


def paid(plan: messages.MessagePlan, done: int) -> str:
    """Return what so many rounds cost, as the price counts it: of M bytes.

    >>> paid(messages.ring(4), 6)
    '6α + 1.5 βM'
    """
    moved = _carried_out(plan, done)[1].moved
    return f"{done}α + {moved / (plan.parts * np.dtype(int).itemsize):g} βM"


def _frame(plan, done):
    held = counts(plan, done)
    sent = plan.rounds[done - 1] if done else ()
    shapes = [shape for worker in range(plan.workers) for shape in _worker(plan, worker, held)]
    shapes += [shape for message in sent for shape in _message(plan, message)]
    return Frame(
        _caption(plan, done),
        tuple(shapes),
        {
            "Sent in this round": _told(plan, sent) if sent else "nothing yet",
            "Paid so far": paid(plan, done),
            "Hold the whole sum": f"{(held == 1).all(axis=2).sum()} of {plan.workers * plan.parts} parts",
        },
    )


def _place(plan, worker):
    turn = 2 * math.pi * worker / plan.workers
    return _WIDE / 2 + _CIRCLE * math.sin(turn), _HIGH / 2 - _CIRCLE * math.cos(turn)


def _worker(plan, worker, held):
    """Yield the box of a worker, its name, and a bar for each of its parts."""
    x, y = _place(plan, worker)
    yield Shape(f"worker {worker + 1}", "box", x, y, *_BOX)
    top = y - _BOX[1] / 2
    yield Shape(f"name {worker + 1}", "text", x, top + _HEAD / 2 + 1, text=f"worker {worker + 1}")
    step = (_BOX[0] - 4) / plan.parts
    for part in range(plan.parts):
        times = held[worker, part]
        left = x - _BOX[0] / 2 + 2 + step * (part + 0.5)
        middle = top + _HEAD + 2 + _BAR[1] / 2
        yield Shape(
            f"part {part + 1} of worker {worker + 1}", "bar", left, middle, *_BAR,
            tone=tone_of(times), cells=tuple(map(bool, times)),
        )  # fmt: skip


def tone_of(times: np.ndarray) -> int:
    """Return the colour of a part that has each worker's gradients so many times."""
    if times.max() > 1:
        return _TWICE
    return _ALL if times.all() else _SEVERAL if times.sum() > 1 else _ONE


def _message(plan, message):
    """Yield the arrow of a message, and the message itself, which comes from its sender."""
    (x, y), (to_x, to_y) = (_place(plan, one) for one in (message.sender, message.receiver))
    far = math.hypot(to_x - x, to_y - y)
    over, down = (to_x - x) / far, (to_y - y) / far
    aside = -_ASIDE * down, _ASIDE * over  # the way back runs on the other side
    begin, end = _edge((over, down), aside), far - _edge((-over, -down), aside)
    length = end - begin
    from_x, from_y = x + aside[0] + begin * over, y + aside[1] + begin * down
    way = f"{message.sender + 1}→{message.receiver + 1}"
    count = message.last - message.first
    weight = 1 + 2.5 * count / plan.parts
    yield Shape(
        f"arrow {way}", "arrow", from_x, from_y, length * over, length * down,
        tone=_SENT, weight=weight,
    )  # fmt: skip
    rest = max(0.7 * length, length - 24)
    text = _parts(plan, message)
    yield Shape(
        f"message {way} of {units.counted(count, 'part')}", "box", from_x + rest * over,
        from_y + rest * down, 6 + 5 * len(text), 13, tone=_SENT, text=text, start=(from_x, from_y),
    )  # fmt: skip


def _edge(way, aside):
    """Return how far it is to just outside a box, from beside its middle."""
    return _CLEAR + min(
        (half / 2 - math.copysign(off, off * side)) / abs(side)
        for half, side, off in zip(_BOX, way, aside, strict=True)
        if abs(side) > 1e-9
    )


def _parts(plan, message):
    if message.last - message.first == plan.parts:
        return "all"
    return f"{message.first + 1}" + f"-{message.last}" * (message.last - message.first > 1)


def _told(plan, sent):
    """Say who sends what to whom, for those who see no arrows."""
    ways = [f"{m.sender + 1}→{m.receiver + 1}" for m in sent]
    if all(m.last - m.first == plan.parts for m in sent):
        return f"all parts: {', '.join(ways)}"
    together: dict[str, list[str]] = {}
    for m, way in zip(sent, ways, strict=True):
        many = m.last - m.first > 1
        span = f"parts {m.first + 1} to {m.last}" if many else f"part {m.first + 1}"
        together.setdefault(span, []).append(way)
    # No line breaks between a part and its first way.
    return "; ".join(
        f"{span}: {', '.join(these)}".replace(" ", "\xa0", span.count(" ") + 1)
        for span, these in together.items()
    )


def _caption(plan, done):
    if not done:
        return (
            f"Before the first round, each of {plan.workers} workers holds its own gradients, cut in "
            f"{units.counted(plan.parts, 'part')}."
        )
    sent = plan.rounds[done - 1]
    counted = {m.last - m.first for m in sent}
    much = (
        f"all {plan.parts} parts" if counted == {plan.parts}
        else " or ".join(units.counted(one, "part") for one in sorted(counted))
    )  # fmt: skip
    kinds = {m.adds for m in sent}
    does = "added to what is there, or kept" if len(kinds) > 1 else _DOES[kinds.pop()]
    return f"Round {done} of {len(plan.rounds)}: {_who(plan, sent, much)}. What arrives is {does}."


def _who(plan, sent, much):
    """Say who sends to whom: by the rule, where there is one for everybody."""
    turns = {(m.receiver - m.sender) % plan.workers for m in sent}
    reach = {abs(m.receiver - m.sender) for m in sent}
    ways = {(m.sender, m.receiver) for m in sent}
    if len(sent) == plan.workers:
        if turns == {1}:
            return f"every worker sends {much} to the next"
        if turns == {plan.workers - 1}:
            return f"every worker sends {much} to the one before it"
        if len(reach) == 1 and ways == {(to, of) for of, to in ways}:
            partner = "its neighbour" if reach == {1} else f"the worker {reach.pop()} numbers away"
            return f"every worker swaps {much} with {partner}"
    senders, receivers = (
        ", ".join(str(one + 1) for one in side) for side in zip(*sorted(ways), strict=True)
    )
    if len(sent) == 1:
        return f"worker {senders} sends {much} to worker {receivers}"
    return f"workers {senders} send {much} each, to workers {receivers}"
