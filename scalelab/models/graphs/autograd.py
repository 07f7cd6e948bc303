"""The backward pass of a real model, as a DAG (Section 3.6).

PyTorch keeps the graph of a computation for its backward pass. Walking it needs two attributes and
one method of its objects, so this module does not import PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from scalelab.arguments import real, shown
from scalelab.models.graphs.dag import empty
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from networkx import DiGraph


class _Operation(Protocol):
    """A `torch.autograd.graph.Node`."""

    @property
    def next_functions(self) -> tuple[tuple[_Operation | None, int], ...]:
        """What it hands its results to, and at which place."""

    def name(self) -> str:
        """What PyTorch calls it."""


class _Output(Protocol):
    """A tensor that was computed."""

    @property
    def grad_fn(self) -> _Operation | None:
        """The operation that begins its backward pass; None if no gradient is required."""


def dag(
    output: _Output, weight: Callable[[Any], float | Sequence[float]] = lambda operation: 1.0
) -> DiGraph:
    """Operations that a backward pass from `output` will run, each after those it needs.

    `weight` gives the cost of an operation of the graph from what PyTorch stores in it, or one cost
    for each gradient that it hands on: these are tasks apart then, "dW" where the gradient is a
    parameter's and "dX" elsewhere. The same DAG with its edges reversed is the forward pass.
    Source: `torch.autograd.graph.Node`, pytorch.org/docs/stable/autograd.html. Section 3.6.

    >>> import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> [label for _, label in dag((2 * x + x.exp()).sum()).nodes(data="label")]
    ['Sum', 'Add', 'Mul', 'Exp', 'AccumulateGrad']
    """
    root = getattr(output, "grad_fn", None)
    if root is None or not hasattr(root, "next_functions"):
        raise Refusal(
            f"output must be a tensor with a grad_fn, got {shown(output)}: "
            "compute it from parameters that require gradients"
        )
    if not callable(weight):
        raise Refusal(
            f"weight must be a function of an operation, got {shown(weight)}: "
            "it returns the cost of that operation"
        )
    graph = empty(1)
    operations: list[_Operation] = [root]
    tasks = {root: _tasks(graph, root, weight(root))}
    for operation in operations:  # grows while it is read
        for place, (needed, _) in enumerate(operation.next_functions):
            if needed is None:  # an input that requires no gradient
                continue
            if needed not in tasks:
                operations.append(needed)
                tasks[needed] = _tasks(graph, needed, weight(needed))
            mine = tasks[operation]
            source = mine[place] if place in mine else mine[-1]
            graph.add_edges_from([(source, task) for task in tasks[needed].values()])
    return graph


def products(operation: Any) -> float | tuple[float, ...]:
    """FLOPs of the matrix products in an operation, 2 m k n each: one number for each gradient.

    Attention is one kernel and one number: five products, as its backward pass makes the scores
    anew. What multiplies no matrices counts nothing. Source: the chain rule for C = A B, which is
    dA = dC B^T and dB = A^T dC; Dao et al. 2022, arXiv:2205.14135, algorithm 4. Section 3.6.

    >>> import torch
    >>> layer = torch.nn.Linear(32, 128)
    >>> product = layer(torch.ones(16, 32, requires_grad=True)).grad_fn
    >>> products(product)  # for the bias, dX and dW
    (0.0, 131072.0, 131072.0)
    """
    if not hasattr(operation, "next_functions"):
        raise Refusal(
            f"operation must be a node of autograd's graph, got {shown(operation)}: "
            "take the grad_fn of a tensor"
        )
    name = _label(operation)
    if name in ("Addmm", "Mm"):
        left = "mat1" if name == "Addmm" else "self"
        rows, inner = getattr(operation, f"_saved_{left}_sym_sizes")
        flops = 2.0 * rows * inner * operation._saved_mat2_sym_sizes[1]
        return (0.0, flops, flops) if name == "Addmm" else (flops, flops)
    if name.startswith("ScaledDotProduct"):
        *heads, queries, wide = operation._saved_query.shape
        keys, deep = operation._saved_value.shape[-2:]
        return 2.0 * math.prod(heads) * queries * keys * (3 * wide + 2 * deep)
    if name in ("Bmm", "Baddbmm", "Convolution", "Mv", "Dot"):
        raise Refusal(
            f"operation must be a product that is counted here, got {name}: "
            "linear layers and fused attention are; give `dag` a weight of your own"
        )
    return 0.0


def _tasks(graph: DiGraph, operation: _Operation, cost: float | Sequence[float]) -> dict[int, int]:
    """Add an operation as one task, under -1, or as one for each gradient, under its place."""
    label, why = _label(operation), "it is the cost of an operation"
    if not isinstance(cost, (list, tuple)):
        node = len(graph)
        graph.add_node(node, label=label, weight=real("weight", cost, why, 0))
        return {-1: node}
    apart = {}
    for place, (one, (needed, _)) in enumerate(zip(cost, operation.next_functions, strict=True)):
        if needed is not None:
            gradient = "dW" if _is_parameter(needed) else "dX"
            apart[place] = len(graph)
            graph.add_node(
                apart[place], label=f"{label} {gradient}", weight=real("weight", one, why, 0)
            )
    return apart


def _is_parameter(operation: _Operation) -> bool:
    """Whether a gradient goes to a parameter, at most changing its shape on the way."""
    while len(operation.next_functions) == 1 and _label(operation) in ("T", "Transpose", "View"):
        following = operation.next_functions[0][0]
        if following is None:
            return False
        operation = following
    return type(getattr(operation, "variable", None)).__name__ == "Parameter"


def _label(operation: _Operation) -> str:
    """Name an operation without the suffix that says it runs backward: AddmmBackward0 is Addmm."""
    name = operation.name().split("::")[-1]
    return name[: name.index("Backward")] if name.find("Backward") > 0 else name
