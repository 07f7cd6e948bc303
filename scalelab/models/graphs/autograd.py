"""The backward pass of a real model, as a DAG (Section 3.6).

PyTorch keeps the graph of a computation for its backward pass. Walking it needs two attributes and
one method of its objects, so this module does not import PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
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


def dag(output: _Output, weight: Callable[[Any], float] = lambda operation: 1.0) -> DiGraph:
    """Operations that a backward pass from `output` will run, each after those it needs.

    `weight` gives the cost of an operation of the graph, for example its FLOPs, from what PyTorch
    stores in it. The same DAG with its edges reversed is the forward pass.
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
    seen: dict[_Operation, int] = {root: 0}
    operations: list[_Operation] = [root]
    for operation in operations:  # grows while it is read
        cost = real("weight", weight(operation), "it is the cost of an operation", 0)
        graph.add_node(seen[operation], label=_label(operation), weight=cost)
        for needed, _ in operation.next_functions:
            if needed is None:  # an input that requires no gradient
                continue
            if needed not in seen:
                seen[needed] = len(operations)
                operations.append(needed)
            graph.add_edge(seen[operation], seen[needed])
    return graph


def _label(operation: _Operation) -> str:
    """Name an operation without the suffix that says it runs backward: AddmmBackward0 is Addmm."""
    name = operation.name().split("::")[-1]
    return name[: name.index("Backward")] if name.find("Backward") > 0 else name
