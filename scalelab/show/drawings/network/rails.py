"""Section 3.8: an all-reduce among two nodes, and the cables that its messages take between them.

The plan is one that `messages.run` carries out, and what each of its messages takes says
`hierarchy.arrivals`: NVLink within a node, network cards between the two, one for each GPU or one for all.
"""

from __future__ import annotations

import itertools

from scalelab import units
from scalelab.arguments import whole
from scalelab.models.choice import instance
from scalelab.models.network import hierarchy, messages
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.drawings.network.rounds import WRONG, counts, tone_of
from scalelab.show.plots import MODEL

PER_NODE = 4  # GPUs, as many as there is place for
_WIDE, _HIGH = 360.0, 308.0
_LEFT, _STEP = 54.0, 84.0
_BOX = 58.0, 60.0
_BAR = 5.2, 38.0
_ROWS = 64.0, 242.0  # of the GPUs of both nodes
_CARDS = 110.0, 196.0
_CARD = 34.0, 14.0
_WRAPS = 25.0, 281.0  # of the message from one end of a node to the other
_FRAMES = (2.0, 122.0), (184.0, 304.0)  # of both nodes, from top to bottom
_WORD = 13.0  # how high a message is
_ONE, _SEVERAL, _ALL, _SENT, _AWAITED = 0, 1, 3, 2, 4
_WAITS = {"a slower message, for which the others wait": _AWAITED}
_NVLINK, _CABLE = 3.2, 1.4  # how wide an arrow is
TONES = {
    "gradients of one GPU": _ONE,
    "of several": _SEVERAL,
    "of all": _ALL,
    "a message, with its parts": _SENT,
}


def two_nodes(
    name: str,
    plan: messages.MessagePlan,
    size: float,
    inside: Network,
    outside: Network,
    cards: int | None = None,
) -> Drawing:
    """An all-reduce among two nodes of four: who sends what to whom, over which cable, and for how long."""
    instance("plan", plan, messages.MessagePlan, "make one with messages.hierarchical(2, 4)")
    if plan.workers != 2 * PER_NODE or plan.parts != plan.workers:
        raise Refusal(
            f"plan must be of {2 * PER_NODE} workers and as many parts to be drawn on two nodes, got "
            f"{plan.workers} and {plan.parts}: draw another by all_reduce"
        )
    if cards is not None and whole("cards", cards, "it counts the cards of a node") not in (
        1,
        PER_NODE,
    ):
        raise Refusal(
            f"cards must be 1 or {PER_NODE} for each node to be drawn, got {cards!r}: price others"
        )
    took = hierarchy.arrivals(plan, size, PER_NODE, inside, outside, cards)
    alone = hierarchy.arrivals(plan, size, PER_NODE, inside, outside)
    total = sum(map(max, took))
    one = cards == 1
    awaits = any(any(_awaited(*two)) for two in zip(took, alone, strict=True))
    wrong = _twice(plan, len(took))
    return Drawing(
        name,
        f"{name[:1].upper()}{name[1:]}: {len(took)} rounds, {units.text(total, 's')}",
        "Two nodes of four GPUs, one below the other. In the box of each GPU, a column is a part of its "
        "gradients, and a mark in it says whose are in it. NVLink, the wide arrows, joins the GPUs of a "
        + (
            "node; one network card and one cable, the thin ones, are shared by all four."
            if one
            else "node; each GPU has a network card, and a cable of its own, thin, to the other node."
        ),
        _WIDE,
        _HIGH,
        tuple(_frame(plan, done, size, took, alone, one) for done in range(len(took) + 1)),
        chosen=tuple(sorted({1, len(took) if wrong else len(took) // 2})),
        tones=TONES | (_WAITS if awaits else {}) | (WRONG if wrong else {}),
        stamp=MODEL,
    )


def _frame(plan, done, size, took, alone, one):
    sent = plan.rounds[done - 1] if done else ()
    seconds = took[done - 1] if done else ()
    longest = max(seconds, default=0.0)
    shared = done > 0 and _shared(seconds, alone[done - 1])
    awaited = _awaited(seconds, alone[done - 1]) if done else []
    tones = [_AWAITED if late else _SENT for late in awaited]
    shapes = [*_frames(), *_wires(one, _busy(sent, tones, one))]
    for m, tone in zip(sent, tones, strict=True):
        shapes += _crossing(plan, m, tone, one, sent) if _crosses(m) else _inner(plan, m, tone)
    held = counts(plan, done)
    shapes += [shape for gpu in range(plan.workers) for shape in _gpu(gpu, held)]
    part = units.text(size / plan.parts * max((m.last - m.first for m in sent), default=1), "B")
    facts = {
        "Waits for": _where(sent, shared, part),
        "This round": units.text(longest, "s") if done else "not begun",
        "Time so far": units.text(sum(map(max, took[:done])), "s"),
        "Hold the whole sum": f"{(held == 1).all(axis=2).sum()} of {plan.workers * plan.parts} parts",
    }
    return Frame(_caption(plan, done, sent, seconds, shared, part), tuple(shapes), facts)


def _shared(seconds, alone):
    """Whether messages of a round take turns on one cable: without the others each would be there sooner."""
    return max(seconds) > 1.01 * max(alone)


def _awaited(seconds, alone):
    """Return which messages a round waits for: others have long arrived, or take turns with them."""
    longest, shared = max(seconds), _shared(seconds, alone)
    return [shared or (longest > 1.01 * min(seconds) and t > 0.99 * longest) for t in seconds]


def _twice(plan, done):
    """Whether after so many rounds some gradients have been added more than once."""
    return bool((counts(plan, done) > 1).any())


def _crosses(message):
    return message.sender // PER_NODE != message.receiver // PER_NODE


def _kind(sent):
    """Return what a round is: within the nodes, across, or both at once as in a flat ring."""
    crossing = sum(map(_crosses, sent))
    return "inside" if not crossing else "across" if crossing == len(sent) else "both"


def _where(sent, shared, part):
    if not sent:
        return "nothing yet"
    if shared:
        return f"one cable, {sum(map(_crosses, sent)) // 2} messages each way"
    if _kind(sent) == "inside":
        return f"NVLink, {part} each"
    if _kind(sent) == "both":
        return f"{sum(map(_crosses, sent))} cables, {part} each"
    return f"{PER_NODE} cables, {part} each way"


def _caption(plan, done, sent, seconds, shared, part):
    if not done:
        return f"Before the first round, each GPU holds its own gradients: {plan.parts} parts of {part}."
    kind, adds = _kind(sent), sent[0].adds
    kinds = [(_kind(one), _kind(one) != "across" and one[0].adds) for one in plan.rounds]
    phases = [len(list(alike)) for _, alike in itertools.groupby(kinds)]
    ends = list(itertools.accumulate(phases))
    phase = next(at for at, end in enumerate(ends) if done <= end)
    turn = f"round {done - ends[phase] + phases[phase]} of {phases[phase]}"
    if kind == "both":
        soon, late = (units.text(f(seconds), "s") for f in (min, max))
        many, few = (sum(_crosses(m) == across for m in sent) for across in (False, True))
        half = f"A flat ring, {'adding' if adds else 'handing round'}, {turn}"
        if done == 1:
            there = f"{many} messages are there after {soon}"
            return f"{half}: {there}, and wait until {late} for {few} on cables."
        if done == len(plan.rounds):
            return (
                f"{half}: the last of {done} rounds at the pace of a cable. NVLink was mostly idle."
            )
        if not adds and plan.rounds[done - 2][0].adds:
            return f"{half}: each GPU had one whole part, which goes around now. A round still takes {late}."
        return f"{half}: again {many} messages wait for {few}. The other cables carry nothing."
    if kind == "inside":
        name = "Reduce-scatter inside" if adds else "All-gather inside"
        does = "and adds what arrives" if adds else "and keeps what arrives"
        if adds and _twice(plan, done):
            does += " once more"
        return f"{name}, {turn}: each GPU hands {part} on over NVLink, {does}. The cables rest."
    if shared:
        return (
            f"All-reduce across, {turn}: the same four messages each way share one cable and take "
            "turns, so it takes four times as long."
        )
    does = ", which it adds" if adds else ": the finished sum of a part"
    return (
        f"All-reduce across, {turn}: each GPU sends its counterpart {part}{does}. "
        "Each pair has a cable of its own."
    )


def _frames():
    """Yield the edges of both nodes, and their names; lines, so that arrows are not below a box."""
    for node, (top, bottom) in enumerate(_FRAMES):
        sides = {
            "top": (8.0, top, 344.0, 0.0),
            "bottom": (8.0, bottom, 344.0, 0.0),
            "left": (8.0, top, 0.0, bottom - top),
            "right": (352.0, top, 0.0, bottom - top),
        }
        for side, where in sides.items():
            yield Shape(f"{side} of node {node + 1}", "line", *where, weight=0.8)
        y = (11.0, 296.0)[node]
        yield Shape(
            f"name of node {node + 1}", "text", 14, y, text=f"node {node + 1}", align="start"
        )


def _x(gpu):
    return _LEFT + _STEP * (gpu % PER_NODE)


def _busy(sent, tones, one):
    """Return the colours of the cables that carry something."""
    found = {}
    for m, tone in zip(sent, tones, strict=True):
        if _crosses(m):
            found[0 if one else m.sender % PER_NODE] = tone
    return found


def _wires(one, busy):
    """Yield the cards, the wires from the GPUs to them, and the cables between the nodes."""
    which = "shared" if one else "own"
    for card in range(1 if one else PER_NODE):
        x = _WIDE / 2 if one else _x(card)
        tone = busy.get(card, 0)
        top, bottom = _CARDS[0] + _CARD[1] / 2, _CARDS[1] - _CARD[1] / 2
        yield Shape(
            f"{which} cable {card + 1}", "line", x, top, 0, bottom - top, tone=tone, weight=1
        )
        for node, y in enumerate(_CARDS):
            yield Shape(
                f"{which} card {card + 1} of node {node + 1}",
                "box",
                x,
                y,
                *_CARD,
                tone=tone,
                text="card",
            )
    for node, row in enumerate(_ROWS):
        down = 1 if node == 0 else -1
        for gpu in range(PER_NODE):
            x, y = _x(gpu), row + down * _BOX[1] / 2
            to_x = _WIDE / 2 + (gpu - 1.5) * _CARD[0] / 4 if one else x
            to_y = _CARDS[node] - down * _CARD[1] / 2
            yield Shape(
                f"{which} wire of GPU {gpu + 1 + node * PER_NODE}",
                "line",
                x,
                y,
                to_x - x,
                to_y - y,
                weight=0.8,
            )


def _parts(message):
    return f"{message.first + 1}" + f"-{message.last}" * (message.last - message.first > 1)


def _word(message, tone, x, y):
    text = _parts(message)
    from_y = _ROWS[message.sender // PER_NODE]
    return Shape(
        f"message {message.sender + 1}→{message.receiver + 1} of {len(text)}", "box", x, y,
        7 + 5.6 * len(text), _WORD, tone=tone, text=text, start=(_x(message.sender), from_y),
    )  # fmt: skip


def _inner(plan, message, tone):
    """Yield a message within a node: to the neighbour, or around from one end to the other."""
    node, way = message.sender // PER_NODE, f"{message.sender + 1}→{message.receiver + 1}"
    x, to_x = _x(message.sender), _x(message.receiver)
    right = 1 if to_x > x else -1
    if abs(to_x - x) <= _STEP:
        edge = _BOX[0] / 2 + 2
        yield Shape(
            f"arrow {way}", "arrow", x + right * edge, _ROWS[node] + 6, right * (_STEP - 2 * edge), 0,
            tone=tone, weight=_NVLINK,
        )  # fmt: skip
        yield _word(message, tone, (x + to_x) / 2, _ROWS[node] - 10)
        return
    y = _WRAPS[node]
    toward = _ROWS[node] - _BOX[1] / 2 if node == 0 else _ROWS[node] + _BOX[1] / 2
    yield Shape(f"out of {way}", "line", x, toward, 0, y - toward, tone=tone, weight=_NVLINK)
    yield Shape(f"along {way}", "line", x, y, to_x - x, 0, tone=tone, weight=_NVLINK)
    yield Shape(f"arrow {way}", "arrow", to_x, y, 0, toward - y, tone=tone, weight=_NVLINK)
    yield _word(message, tone, _WIDE / 2, y)


def _crossing(plan, message, tone, one, sent):
    """Yield a message between the nodes, beside its cable; on a shared one they stand in line."""
    down = message.sender < message.receiver
    side = -1 if down else 1
    x = _WIDE / 2 if one else _x(message.sender)
    top, bottom = _CARDS[0] + _CARD[1] / 2 + 2, _CARDS[1] - _CARD[1] / 2 - 2
    key = (
        f"arrow {'down' if down else 'up'}"
        if one
        else f"arrow {message.sender + 1}→{message.receiver + 1}"
    )
    line = [m for m in sent if _crosses(m) and (m.sender < m.receiver) == down]
    turn = line.index(message)
    if not one or not turn:
        y, far = (top, bottom - top) if down else (bottom, top - bottom)
        yield Shape(key, "arrow", x + 5 * side, y, 0, far, tone=tone, weight=_CABLE)
    middle = (_CARDS[0] + _CARDS[1]) / 2
    stands = middle + ((turn - (len(line) - 1) / 2) * (_WORD + 2) * side if one else 0)
    yield _word(message, tone, x + 19 * side, stands)


def _gpu(gpu, held):
    x, y = _x(gpu), _ROWS[gpu // PER_NODE]
    yield Shape(f"GPU {gpu + 1}", "box", x, y, *_BOX)
    top = y - _BOX[1] / 2
    yield Shape(f"name {gpu + 1}", "text", x, top + 8, text=f"GPU {gpu + 1}")
    parts = held.shape[1]
    step = (_BOX[0] - 4) / parts
    for part in range(parts):
        times = held[gpu, part]
        yield Shape(
            f"part {part + 1} of GPU {gpu + 1}", "bar", x - _BOX[0] / 2 + 2 + step * (part + 0.5),
            top + 16 + _BAR[1] / 2, *_BAR,
            tone=tone_of(times),
            cells=tuple(map(bool, times)),
        )  # fmt: skip
