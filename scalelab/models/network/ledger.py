"""What one layer of a training job exchanges, and whether computing can hide it (Section 3.8).

Weights, gradients and activations are numbers of two bytes; a token costs 2 FLOPs per weight forward
and 4 backward.
"""

from __future__ import annotations

from dataclasses import dataclass

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import counts, instance

_WIDTH = 2  # bytes of a number
_TOKENS = "it counts the tokens that a worker reads in one step"
_WORKERS = "it counts the workers among which the layer or the batch is divided"


@dataclass(frozen=True)
class Layer:
    """A layer of a transformer, and what it would be with experts in place of its feed-forward."""

    parameters: float  # weights in its matrices
    hidden: int  # length of the vector that stands for a token
    expert: float = 0.0  # weights of one expert
    chosen: int = 1  # experts that a token is sent to

    def __post_init__(self) -> None:
        real("parameters", self.parameters, "it counts the weights of a layer", 1)
        whole("hidden", self.hidden, "it is the length of the vector that stands for a token")
        real("expert", self.expert, "it counts the weights of one expert", 0)
        whole("chosen", self.chosen, "it counts the experts that a token is sent to")


@dataclass(frozen=True)
class Exchange:
    """What one worker exchanges for one layer in one step, and what it computes meanwhile."""

    collective: str
    calls: int
    size: float  # bytes of the message of one call
    port: float  # bytes through the worker's port in one direction, all calls together
    flops: float
    waits: bool  # whether the next product needs the result, so that nothing of this layer hides it

    @property
    def intensity(self) -> float:
        """FLOPs per byte that goes through the port; at least peak / link, and the link keeps up."""
        return self.flops / self.port


def ledger(layer: Layer, tokens: float, workers: int, deep: int = 1) -> dict[str, Exchange]:
    """Return what a layer exchanges when `workers` divide the batch, the weights, or the layers.

    DDP all-reduces the gradients behind the backward pass. FSDP gathers the weights before each pass
    and scatters the sums of the gradients. Tensor parallelism all-reduces two activations in each
    pass, expert parallelism sends each token to its experts and back, a pipeline of stages `deep`
    layers each hands activations on. Tokens are those of one worker; those of a tensor-parallel group
    all work on the same. Source: Shoeybi et al. 2019, arXiv:1909.08053, for two all-reduces; Zhao et
    al. 2023, arXiv:2304.11277, for FSDP. Section 3.8.

    >>> rows = ledger(Layer(parameters=1e9, hidden=8192), tokens=4096, workers=8)
    >>> round(rows["DDP"].intensity), round(rows["tensor"].intensity)
    (4681, 6539)
    """
    layer = instance("layer", layer, Layer, "write Layer(parameters=..., hidden=...)")
    tokens = real("tokens", tokens, _TOKENS, 1)
    workers = whole("workers", workers, _WORKERS, 2)
    deep = whole("deep", deep, "it counts the layers of a stage")
    weights = _WIDTH * layer.parameters
    states = _WIDTH * layer.hidden * tokens
    routed = layer.chosen * states
    once = (workers - 1) / workers
    forward = 2 * layer.parameters * tokens
    rows = {
        "DDP": Exchange("all-reduce", 1, weights, 2 * once * weights, 2 * forward, False),
        "FSDP": Exchange(
            "all-gather, all-gather, reduce-scatter",
            *(3, weights, 3 * once * weights, 3 * forward, False),
        ),
        "tensor": Exchange("all-reduce", 4, states, 8 * once * states, 3 * forward / workers, True),
        "pipeline": Exchange("send", 2, states, 2 * states / deep, 3 * forward, False),
    }
    if layer.expert:
        flops = 6 * layer.chosen * layer.expert * tokens
        rows["expert"] = Exchange("all-to-all", 4, routed, 4 * once * routed, flops, True)
    return rows


def least_tokens(peak: Numbers, link: Numbers, workers: Numbers, cards: Numbers = 1) -> Answer:
    """Tokens per worker and step from which a link hides the gradients of DDP, or the weights of FSDP.

    A weight costs 4 FLOPs per token in the backward pass and 4 (K - 1) / K bytes of all-reduce, so
    t >= (K - 1) / K P / b. Where c cards of a node share the work, each carries a c-th of it.
    Source: 4 n t / P = 2 (K - 1) / K 2 n / (c b), for n weights. Section 3.8.

    >>> round(least_tokens(989.5e12, 450e9, 8))
    1924
    """
    peak = numbers("peak", peak, "it is the FLOP/s that the products reach", 0, above=True)
    link = numbers(
        "link", link, "it is the bandwidth of a link, in bytes per second", 0, above=True
    )
    workers = counts("workers", workers, _WORKERS)
    cards = counts("cards", cards, "it counts the network cards that share the bytes of a node")
    return answer(lambda p, b, k, c: (k - 1) / k * p / (b * c), peak, link, workers, cards)
