"""Section 3.6: a scan of a few numbers, up a tree and down again, with all that it adds up.

The tree is read off the graph of `graphs.blelloch_scan`, and its numbers come from running that graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from scalelab import units
from scalelab.arguments import shown, whole
from scalelab.models.graphs import dags, workdepth
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

SIZES = (4, 8)  # that have room beside each other
_LARGEST = 999  # of a sum, in its box
_WIDE, _TOP, _ROW, _BELOW = 360.0, 16.0, 70.0, 36.0
_BOX = 17.0
_ASIDE = 9.5  # how far the two boxes of a node are from its middle
_EMPTY, _OWN, _NOW, _LEFT, _AFTER = 0, 1, 2, 3, 4
TONES = {
    "right box: sum of what is below": _OWN,
    "left box: sum of all to the left": _LEFT,
    "written in this round": _NOW,
    "sum after it": _AFTER,
}


class _Node(NamedTuple):
    """A node of the tree: what computes its own sum and the one to its left, and where it stands."""

    own: Hashable
    left: Hashable
    below: tuple[_Node, ...]  # its two halves
    level: int  # 0 for a number
    x: float
    y: float


def scan(numbers: Sequence[int]) -> Drawing:
    """All partial sums of 4 or 8 numbers: the sums of pairs go up, what stands to the left comes down."""
    if not isinstance(numbers, Sequence) or len(numbers) not in SIZES:
        raise Refusal(f"numbers must be 4 or 8, got {shown(numbers)}: no others fit the paper")
    numbers = [whole("each of numbers", one, "it is added up", 0) for one in numbers]
    if sum(numbers) > _LARGEST:
        raise Refusal(
            f"numbers must add up to at most {_LARGEST}, got {sum(numbers)}: take smaller ones"
        )
    dag = dags.blelloch_scan(len(numbers))
    value = dags.values(dag, numbers)
    (zero,) = (node for node, op in dag.nodes(data="op") if op == "zero")
    (top,) = dag.pred[zero]
    levels = len(numbers).bit_length() - 1
    nodes = list(_nodes(_tree(dag, top, zero, levels, _WIDE / 2, _TOP, _WIDE / 2)))
    return Drawing(
        f"{len(numbers)} numbers",
        f"Partial sums of {len(numbers)} numbers in {workdepth.depth(dag):g} rounds",
        "A tree stands on the numbers. Each of its nodes has two boxes: in the right one is the sum of "
        "the numbers below it, in the left one the sum of all numbers to the left of those.",
        _WIDE,
        _TOP + _ROW * levels + _BELOW + 14,
        tuple(_frame(nodes, value, numbers, step) for step in range(2 * levels + 3)),
        chosen=(levels, 2 * levels, 2 * levels + 2),
        tones=TONES,
        stamp=MODEL,
    )


def _tree(dag, own, left, level, x, y, half):
    """Read the tree off the graph: the operands of a node's own sum are those of its halves."""
    if not level:
        return _Node(own, left, (), 0, x, y)
    first, second = dag.pred[own]
    # The right half is told what its node was told, plus the sum of the left half.
    (told,) = (set(dag.succ[first]) & set(dag.succ[left])) - {own}
    halves = (
        _tree(dag, first, left, level - 1, x - half / 2, y + _ROW, half / 2),
        _tree(dag, second, told, level - 1, x + half / 2, y + _ROW, half / 2),
    )
    return _Node(own, left, halves, level, x, y)


def _nodes(root: _Node) -> Iterator[_Node]:
    """Yield a node and all below it, from left to right on each level."""
    level: list[_Node] = [root]
    while level:
        yield from level
        level = [half for node in level for half in node.below]


def _frame(nodes, value, numbers, step):
    levels = nodes[0].level
    down = levels + 1 + levels - step  # the level that is told its left sum in this step
    shapes = [shape for node in nodes for shape in _drawn(node, value, step, down)]
    if step == 2 * levels + 2:
        shapes += [shape for node in nodes if not node.level for shape in _after(node, value)]
    counts = _additions(len(numbers))
    rounds = [min(step, levels), max(step - levels - 1, 0)]  # upward and downward
    done = min(sum(rounds), 2 * levels)
    more = step == 2 * levels + 2
    now = len(numbers) if more else 0 if step in (0, levels + 1) else counts[done - 1]
    return Frame(
        _caption(value, nodes, numbers, step),
        tuple(shapes),
        {
            "Rounds": f"{done} of {2 * levels}" + ", and one more" * more,
            "Additions": f"{sum(counts[:done])} of {sum(counts)}" + f", and {now}" * more,
            "At once in this round": f"{now}",
        },
    )


def _additions(count):
    """Return how many additions each round has: half as many as the one before, and back again."""
    up = [count >> turn for turn in range(1, count.bit_length())]
    return [*up, *reversed(up)]


def _drawn(node, value, step, down):
    """Yield the two boxes of a node, lines to its halves, and arrows where numbers move in this step."""
    for half in node.below:
        x, y = node.x, node.y + _BOX / 2
        yield Shape(
            f"line {half.own} {half.level}", "line", x, y, half.x - x, half.y - _BOX / 2 - y
        )  # fmt: skip
    if node.below:
        yield from _arrows(node, step, down)
    there = node.level <= step
    yield Shape(
        f"own {node.level} {node.x:g}", "box", node.x + _ASIDE, node.y, _BOX, _BOX,
        tone=_EMPTY if not there else _NOW if step == node.level > 0 else _OWN,
        text=f"{value[node.own]}" if there else "",
    )  # fmt: skip
    told = node.level >= down
    yield Shape(
        f"left {node.level} {node.x:g}", "box", node.x - _ASIDE, node.y, _BOX, _BOX,
        tone=_EMPTY if not told else _NOW if node.level == down else _LEFT,
        text=f"{value[node.left]}" if told else "",
    )  # fmt: skip


def _arrows(node, step, down):
    first, second = node.below
    if step == node.level:
        for half in node.below:
            yield _arrow(
                "up", half.x + _ASIDE, half.y - _BOX / 2, node.x + _ASIDE, node.y + _BOX / 2
            )
    if down == node.level - 1:
        for half in node.below:
            yield _arrow(
                "down", node.x - _ASIDE, node.y + _BOX / 2, half.x - _ASIDE, half.y - _BOX / 2
            )
        edge = _ASIDE + _BOX / 2
        yield _arrow("beside", first.x + edge, first.y, second.x - edge, second.y)


def _arrow(way, x, y, to_x, to_y):
    return Shape(
        f"{way} {x:g} {y:g} {to_x:g}", "arrow", x, y, to_x - x, to_y - y, tone=_NOW, weight=1.6
    )  # fmt: skip


def _after(node, value):
    """Yield what a place has when it has added its own number."""
    y = node.y + _BELOW
    yield _arrow("after", node.x, node.y + _BOX / 2 + 1, node.x, y - _BOX / 2 - 1)
    yield Shape(
        f"after {node.x:g}", "box", node.x, y, 2 * _ASIDE, _BOX,
        tone=_AFTER, text=f"{value[node.left] + value[node.own]}",
    )  # fmt: skip


def _caption(value, nodes, numbers, step):
    levels = nodes[0].level
    if not step:
        return (
            f"{len(numbers)} numbers stand in a row. One clerk alone would add them up in "
            f"{units.counted(len(numbers) - 1, 'step')}, one after the other."
        )
    if step <= levels:
        last = [node for node in nodes if node.level == step][-1]
        first, second = (value[half.own] for half in last.below)
        said = f"{first} + {second} = {value[last.own]}"
        if step == levels:
            return f"Up: the top adds its two halves, {said}. That is the total."
        return f"Up: every node of this level adds the sums of its two halves, the last one {said}."
    if step == levels + 1:
        return "Now down. To the left of everything there is nothing, so the top is told 0."
    if step < 2 * levels + 2:
        last = [node for node in nodes if node.level == 2 * levels + 2 - step][-1]
        first, second = last.below
        return (
            "Down: a left half is told what its node was told; a right half that, plus the sum of the left "
            f"one: {value[last.left]} + {value[first.own]} = {value[second.left]}."
        )
    return "One more round: every place adds its own number, and has the sum after it."
