"""Section 3.8: two trees at once, each for one half of the message: a leaf of one has children in the other.

The plan is `messages.double_binary_tree`, which `messages.run` carries out.
"""

from __future__ import annotations

import math

from scalelab import units
from scalelab.arguments import whole
from scalelab.models.network import messages
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.drawings.network.rounds import counts, paid
from scalelab.show.plots import MODEL

_WIDE, _HIGH = 360.0, 372.0
_LEFT, _STEP, _LEVEL = 26.0, 44.0, 34.0
_MIDDLE = 186.0  # of the boxes of the workers, between the two trees
_BOX = 38.0, 62.0
_BAR = 40.0
_ROUND = 20.0  # of a worker in a tree
_LEAVES = 58.0  # from the middle to the leaves of either tree
_ONE, _SEVERAL, _ALL = 0, 1, 3
_HALVES = 2, 4
_NAMES = "first half", "second half"
_UP = "towards the roots: what arrives is added"
_DOWN = "from the roots: what arrives is kept"
TONES = {
    "gradients of one worker": _ONE,
    "of several": _SEVERAL,
    "of all": _ALL,
    "a block of the first half": _HALVES[0],
    "of the second half": _HALVES[1],
}


def two_trees(name: str, workers: int = 8, blocks: int = 1) -> Drawing:
    """An all-reduce by two trees: which block goes where in each of them, and what each worker then holds."""
    workers = whole("workers", workers, "it counts the workers that are drawn", 2, 8)
    blocks = whole("blocks", blocks, "it counts the blocks of each half that are drawn", 1, 2)
    plan = messages.double_binary_tree(workers, blocks)
    rounds = len(plan.rounds)
    return Drawing(
        name,
        f"Two trees, {units.counted(blocks, 'block')} each: {rounds} rounds, {paid(plan, rounds)}",
        f"Above is the tree of the first half of the message, below, head down, that of the second. "
        f"{workers} workers stand between, each under its place in the one and over its place in the "
        "other. A column in its box is a block, and a mark in it says whose gradients are in it.",
        _WIDE,
        _HIGH,
        tuple(_frame(plan, done) for done in range(rounds + 1)),
        chosen=tuple(sorted({1, math.ceil(rounds / 4), 1 + rounds // 2})),
        tones=TONES,
        stamp=MODEL,
    )


def _frame(plan, done):
    sent = plan.rounds[done - 1] if done else ()
    held = counts(plan, done)
    busy = {who for m in sent for who in (m.sender, m.receiver)}
    shapes = [*_words(), *_edges(plan.workers)]
    shapes += [shape for m in sent for shape in _message(plan, m)]
    for worker in range(plan.workers):
        shapes += _worker(plan, worker, held, worker in busy)
        shapes += [_place(plan, tree, worker, sent) for tree in (0, 1)]
    facts = {"Sent in this round": _told(plan, sent)}
    facts["Paid so far"] = paid(plan, done) if done else "nothing"
    whole_sums = (held == 1).all(axis=2).sum()
    facts["Hold the whole sum"] = f"{whole_sums} of {plan.workers * plan.parts} blocks"
    return Frame(_caption(plan, done, sent, busy), tuple(shapes), facts)


def _told(plan, sent):
    """Say who sends to whom in each tree, for those who see no arrows."""
    halves = []
    for tree, name in enumerate(_NAMES):
        ways = [f"{m.sender + 1}→{m.receiver + 1}" for m in sent if _tree(plan, m) == tree]
        halves += [f"{name} {', '.join(ways)}"] if ways else []
    return "; ".join(halves) or "nothing yet"


def _caption(plan, done, sent, busy):
    trees = messages.two_trees(plan.workers)
    if not done:
        leaves = [one + 1 for one in range(plan.workers) if one not in trees[0].values()]
        return (
            f"Before the first round. Workers {_listed(leaves)} are leaves of the tree above, and below "
            "they have the others under them."
        )
    adds = sent[0].adds
    said = f"Round {done} of {len(plan.rounds)}, {_UP if adds else _DOWN}."
    if done == len(plan.rounds):
        return f"{said} Now all hold all."
    if adds and not plan.rounds[done][0].adds:
        roots = [next(up + 1 for up in tree.values() if up not in tree) for tree in trees]
        return f"{said} The roots, {roots[0]} and {roots[1]}, now hold the sum of one half each."
    idle = [one + 1 for one in range(plan.workers) if one not in busy]
    if not idle:
        return f"{said} Nobody only waits."
    many = len(idle) > 1
    return f"{said} Worker{'s' * many} {_listed(idle)} wait{'s' * (not many)}."


def _listed(these):
    return (
        ", ".join(map(str, these[:-1])) + f" and {these[-1]}" if len(these) > 1 else str(these[0])
    )


def _words():
    for at, (name, align) in enumerate(zip(_NAMES, ("start", "end"), strict=True)):
        x = (4.0, _WIDE - 4.0)[at]
        yield Shape(name, "text", x, (10.0, _HIGH - 10.0)[at], text=f"{name} of M", align=align)


def _tree(plan, message):
    return int(message.first >= plan.parts // 2)


def _at(workers, tree, worker):
    """Return where a worker stands in a tree: its column, and as high as its subtree."""
    parents = messages.two_trees(workers)[tree]

    def height(one):
        return max((1 + height(low) for low, up in parents.items() if up == one), default=0)

    far = _LEAVES + _LEVEL * height(worker)
    return _LEFT + _STEP * worker, _MIDDLE + (far if tree else -far)


def _edges(workers):
    for tree, parents in enumerate(messages.two_trees(workers)):
        for low, up in parents.items():
            (x, y), (to_x, to_y) = (_at(workers, tree, one) for one in (low, up))
            yield Shape(
                f"edge {low + 1} to {up + 1}, {_NAMES[tree]}",
                "line",
                x,
                y,
                to_x - x,
                to_y - y,
                weight=0.8,
            )


def _message(plan, message):
    """Yield the arrow along an edge, and the block itself, with its number."""
    tree = _tree(plan, message)
    (x, y), (to_x, to_y) = (
        _at(plan.workers, tree, one) for one in (message.sender, message.receiver)
    )
    far = math.hypot(to_x - x, to_y - y)
    over, down = (to_x - x) / far, (to_y - y) / far
    edge = _ROUND / 2 + 2
    way = f"{message.sender + 1}→{message.receiver + 1}, {_NAMES[tree]}"
    yield Shape(
        f"arrow {way}", "arrow", x + edge * over, y + edge * down, (far - 2 * edge) * over,
        (far - 2 * edge) * down, tone=_HALVES[tree], weight=2.2,
    )  # fmt: skip
    half = plan.parts // 2
    yield Shape(
        f"block {way}", "circle", x + far / 2 * over, y + far / 2 * down, 14, 14, tone=_HALVES[tree],
        text=f"{message.first % half + 1}", start=(x, y),
    )  # fmt: skip


def _place(plan, tree, worker, sent):
    busy = any(worker in (m.sender, m.receiver) and _tree(plan, m) == tree for m in sent)
    x, y = _at(plan.workers, tree, worker)
    return Shape(
        f"{worker + 1}, {_NAMES[tree]}", "circle", x, y, _ROUND, _ROUND,
        tone=_HALVES[tree] if busy else 0, text=f"{worker + 1}",
    )  # fmt: skip


def _worker(plan, worker, held, busy):
    x, top = _LEFT + _STEP * worker, _MIDDLE - _BOX[1] / 2
    yield Shape(f"worker {worker + 1}", "box", x, _MIDDLE, *_BOX, tone=_SEVERAL if busy else 0)
    yield Shape(f"name {worker + 1}", "text", x, top + 8, text=f"{worker + 1}")
    step = (_BOX[0] - 4) / plan.parts
    for part in range(plan.parts):
        times = held[worker, part]
        yield Shape(
            f"block {part + 1} of {plan.parts} of worker {worker + 1}", "bar",
            x - _BOX[0] / 2 + 2 + step * (part + 0.5), top + 16 + _BAR / 2, step - 2.5, _BAR,
            tone=_ALL if times.all() else _SEVERAL if times.sum() > 1 else _ONE,
            cells=tuple(map(bool, times)),
        )  # fmt: skip
