"""DAGs of classic parallel algorithms: sums, scans, a matrix product, map-reduce (Section 3.6).

Each builder returns a networkx.DiGraph that can be drawn, measured, scheduled and, with
`evaluate`, run on real values: it is the computation, not a picture of it. Nodes are integers;
`op` says what a node computes, `label` what to write into it, `column` the array index it fills.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Hashable
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from scalelab.arguments import real, shown, whole
from scalelab.models.checking import Numbers, numbers
from scalelab.models.choice import chosen
from scalelab.models.graphs.dag import compact, empty, task
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph

_ITEMS = "it counts the numbers that go in"
_SIZE = "it is a side of the matrices"
_COST = "it is the cost of one such task"


def sequential_sum(items: int) -> DiGraph:
    """Sum of n numbers, one after the other: work n - 1, depth n - 1.

    Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> evaluate(sequential_sum(4), [1, 2, 3, 4])
    [10]
    """
    dag, level = _inputs(items, 2)
    (total, _), *rest = level
    for node, column in rest:
        total = _add(dag, total, node, column)
    return _finish(dag, [total])


def tree_sum(items: int) -> DiGraph:
    """Sum of n numbers, in pairs, then pairs of pairs: work n - 1, depth log2 n rounded up.

    Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> evaluate(tree_sum(4), [1, 2, 3, 4])
    [10]
    """
    dag, level = _inputs(items, 2)
    while len(level) > 1:
        level = _pairs_added(dag, level)
    return _finish(dag, [level[0][0]])


def blelloch_scan(items: int) -> DiGraph:
    """All sums of the first i of n numbers, i from 0: work 2 (n - 1), depth 2 log2 n for n = 2^k.

    An up-sweep adds pairs as `tree_sum` does; then a down-sweep hands each half the sum of what
    stands to its left. Source: Blelloch 1990, CMU-CS-90-190. Section 3.6.

    >>> evaluate(blelloch_scan(4), [1, 2, 3, 4])
    [0, 1, 3, 6]
    """
    dag, level = _inputs(items, 3)
    levels = [level]
    while len(levels[-1]) > 1:
        levels.append(_pairs_added(dag, levels[-1]))
    (root, column), *_ = levels.pop()
    # In place: the total leaves its slot of the array before the down-sweep begins there.
    before = [task(dag, "zero", after=[root], weight=0.0, label="0", column=column)]
    for level in reversed(levels):
        halves = []
        for i, left_of_pair in enumerate(before):
            halves.append(left_of_pair)
            if 2 * i + 1 < len(level):
                (left, _), (_, column) = level[2 * i : 2 * i + 2]
                halves.append(_add(dag, left_of_pair, left, column))
        before = halves
    return _finish(dag, before)


def hillis_steele_scan(items: int) -> DiGraph:
    """All sums of the first i of n numbers, i from 1: depth log2 n, work n log2 n - n + 1.

    Half the depth of `blelloch_scan`, for about log2 n / 2 times its work; both for n = 2^k.
    Source: Hillis and Steele 1986, doi:10.1145/7902.7903. Section 3.6.

    >>> evaluate(hillis_steele_scan(4), [1, 2, 3, 4])
    [1, 3, 6, 10]
    """
    items = whole("items", items, _ITEMS)
    dag, level = _inputs(items, 1 + items.bit_length())
    sums, reach = [node for node, _ in level], 1
    while reach < items:
        sums = sums[:reach] + [_add(dag, sums[i - reach], sums[i], i) for i in range(reach, items)]
        reach *= 2
    return _finish(dag, sums)


def matrix_product(rows: int, inner: int, columns: int) -> DiGraph:
    """Product of a rows x inner and an inner x columns matrix: every number is a tree sum.

    Work rows columns (2 inner - 1), depth 1 + log2 inner rounded up.
    Source: the definition of the product. Section 3.6.

    >>> evaluate(matrix_product(1, 2, 1), [1, 2, 3, 4])
    [11]
    """
    rows = whole("rows", rows, _SIZE)
    inner = whole("inner", inner, _SIZE)
    columns = whole("columns", columns, _SIZE)
    nodes = rows * inner + inner * columns + rows * columns * (2 * inner - 1)
    dag = empty(nodes, rows=rows, inner=inner, columns=columns)
    a = [[_input(dag, f"a{i},{k}") for k in range(inner)] for i in range(rows)]
    b = [[_input(dag, f"b{k},{j}") for j in range(columns)] for k in range(inner)]
    outputs = []
    for i in range(rows):
        for j in range(columns):
            level = [
                (task(dag, "multiply", (a[i][k], b[k][j]), label="×"), k) for k in range(inner)
            ]
            while len(level) > 1:
                level = _pairs_added(dag, level)
            outputs.append(level[0][0])
    return _finish(dag, outputs)


def map_reduce(
    maps: int, reduces: int, map_weight: float = 1.0, reduce_weight: float = 1.0
) -> DiGraph:
    """Independent map tasks, then reduce tasks, each of which needs a piece from every map.

    Depth is one map and one reduce. Costs only: `evaluate` does not run it.
    Source: Dean and Ghemawat 2008, doi:10.1145/1327452.1327492. Section 3.6.

    >>> len(map_reduce(maps=100, reduces=10))
    111
    """
    maps = whole("maps", maps, "it counts the map tasks")
    reduces = whole("reduces", reduces, "it counts the reduce tasks")
    map_weight = real("map_weight", map_weight, _COST, 0)
    reduce_weight = real("reduce_weight", reduce_weight, _COST, 0)
    dag = empty(maps + reduces + 1, maps=maps, reduces=reduces)
    mapped = [task(dag, "map", weight=map_weight, label="map") for _ in range(maps)]
    # One node in the middle says the same as maps x reduces edges.
    shuffle = task(dag, "shuffle", mapped, weight=0.0, label="shuffle")
    reduced = [
        task(dag, "reduce", [shuffle], weight=reduce_weight, label="reduce") for _ in range(reduces)
    ]
    return _finish(dag, reduced)


def language_model(prompt: int, answer: int, layers: int) -> DiGraph:
    """Tokens through the layers of a causal model: work (n + g) L, depth (1 + g) L.

    Each task is one layer for one token and waits for that token and all before it in the layer below. The
    n tokens of the prompt are there at once; each of the g tokens of the answer is known only when the one
    before has left the last layer. Costs only: `evaluate` does not run it.
    Source: Pope et al. 2022, arXiv:2211.05102, section 2. Section 3.6.

    >>> from scalelab.models.graphs import workdepth
    >>> read, answered = language_model(64, 0, 12), language_model(1, 63, 12)
    >>> [(workdepth.work(dag), workdepth.depth(dag)) for dag in (read, answered)]
    [(768.0, 12.0), (768.0, 768.0)]
    """
    prompt = whole("prompt", prompt, "it counts the tokens that are given")
    answer = whole("answer", answer, "it counts the tokens that are fed back", 0)
    layers = whole("layers", layers, "it counts the layers of the model")
    dag = empty((prompt + answer) * layers, prompt=prompt, answer=answer, layers=layers)
    below: list[list[int]] = [[] for _ in range(layers)]  # what each layer has done, token by token
    for token in range(prompt + answer):
        known = below[-1][-1:] if token >= prompt else []
        for layer, done in enumerate(below):
            needed = [*below[layer - 1]] if layer else known
            done.append(task(dag, "layer", needed, label=f"{token}", column=token))
    return _finish(dag, below[-1][prompt - 1 :])


def backward_pass(layers: int, product: float = 1.0) -> DiGraph:
    """Two products a layer, from the last to the first: dX for the layer below, and dW, for which none waits.

    Nobody needs the dX of the first layer, so 2 L - 1 products at a depth of L. Costs only.
    Source: the chain rule, dX = dY W^T and dW = X^T dY. Section 3.6.

    >>> dag = backward_pass(6)
    >>> len(dag), [dag.nodes[node]["label"] for node in dag.pred[3]]
    (11, ['6'])
    """
    layers = whole("layers", layers, "it counts the layers, each a matrix product")
    product = real("product", product, "it is the cost of one product", 0)
    dag = empty(2 * layers - 1, layers=layers)
    above: list[int] = []  # what makes the gradient that reaches this layer
    updates = []
    for layer in range(layers, 0, -1):
        ops = ("dX", "dW") if layer > 1 else ("dW",)
        made = [task(dag, op, above, (), product, layer=layer, label=str(layer)) for op in ops]
        updates.append(made[-1])
        above = made[:1]
    return _finish(dag, updates)


def independent(costs: Numbers) -> DiGraph:
    """Tasks that need nothing of each other: work is the sum of the costs, depth the largest.

    Costs only: `evaluate` does not run it. Source: the definition of a DAG. Section 3.6.

    >>> from scalelab.models.graphs import workdepth
    >>> workdepth.work(independent([1, 1, 3])), workdepth.depth(independent([1, 1, 3]))
    (5.0, 3.0)
    """
    costs = numbers("costs", costs, "each is the cost of one task", 0).ravel()
    dag = empty(len(costs))
    return _finish(dag, [task(dag, "task", weight=float(cost)) for cost in costs])


def evaluate(dag: DiGraph, inputs: Collection[Any], zero: Any = 0) -> list[Any]:
    """Run a DAG on values, and return those that nothing needs, or that it names as its outputs.

    Source: each node's `op`, applied to the values of its predecessors. Section 3.6.

    >>> evaluate(blelloch_scan(3), ["work ", "and ", "depth"], zero="")
    ['', 'work ', 'work and ']
    """
    found = values(dag, inputs, zero)
    ends = [node for node in dag if not dag.succ[node]]
    return [found[node] for node in dag.graph.get("outputs", ends)]


def values(dag: DiGraph, inputs: Collection[Any], zero: Any = 0) -> dict[Hashable, Any]:
    """Return the value of each node: a number, array, string, whatever can be added to others and to zero.

    Source: each node's `op`, applied to the values of its predecessors. Section 3.6.

    >>> [*values(tree_sum(4), [3, 1, 4, 1]).values()]
    [3, 1, 4, 1, 4, 5, 9]
    """
    form = compact(dag)
    given = [node for node, op in dag.nodes(data="op") if op == "input"]
    try:
        fits = len(inputs) == len(given)
    except TypeError:
        fits = False
    if not fits:
        raise Refusal(
            f"inputs must hold {len(given)} values, got {shown(inputs)}: "
            "one per input node, in the order of the nodes"
        )
    found: dict[Hashable, Any] = dict(zip(given, inputs, strict=True))
    for node in (form.nodes[i] for i in form.order):
        compute = chosen("op", dag.nodes[node].get("op"), _OPS)
        operands = [found[u] for u, edge in dag.pred[node].items() if not edge.get("order")]
        found.setdefault(node, reduce(compute, operands) if operands else zero)
    return found


def _single(first: object, second: object) -> NoReturn:
    raise Refusal(
        f"a node that is no sum or product must have one operand, got {shown(first)} and "
        f"{shown(second)}: give it the op 'add' or 'multiply', or the edge order=True"
    )


_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "input": _single,
    "zero": _single,
    "copy": _single,
    "add": operator.add,
    "multiply": operator.mul,
}


def _inputs(items, rows):
    """Start a DAG with one node per item, and room for that many rows of them."""
    items = whole("items", items, _ITEMS)
    dag = empty(rows * items, items=items)
    return dag, [(_input(dag, f"x{i}", column=i), i) for i in range(items)]


def _input(dag, label, **attributes):
    return task(dag, "input", weight=0.0, label=label, **attributes)


def _add(dag, left, right, column):
    return task(dag, "add", (left, right), label="+", column=column)


def _pairs_added(dag, level):
    """Add neighbours; one without a partner waits for the next round."""
    pairs = zip(level[::2], level[1::2], strict=False)
    added = [(_add(dag, left, right, column), column) for (left, _), (right, column) in pairs]
    return added + level[2 * len(added) :]


def _finish(dag, outputs):
    dag.graph["outputs"] = outputs
    return dag
