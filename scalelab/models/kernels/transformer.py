"""Parameters and FLOPs of a decoder-only transformer, counted from its shape (Sections 3.7 and 3.9).

Counted are the matrix products: each weight of a matrix is one multiply-add per token, and each pair
of positions two per head dimension, for its score and its value. Biases, norms, positions, softmax
and the look-up of embeddings are left out. Published shorthands are in `conventions`.
"""

from dataclasses import dataclass

import numpy as np

from scalelab.arguments import shown, whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import chosen, instance
from scalelab.refusal import Refusal

_MEANING = {
    "layers": "it counts the blocks of attention and feed-forward",
    "hidden": "it is the length of the vector that stands for a token",
    "heads": "it counts the query heads of a layer",
    "vocabulary": "it counts the tokens that the model can tell apart",
    "feedforward": "it is the inner width of the feed-forward part",
    "kv_heads": "it counts the key-value heads of a layer",
    "head_size": "it is the length of one head's query, key and value",
    "gated": "it adds a third matrix to the feed-forward part",
    "tied": "it makes the embedding serve as output matrix too",
}


@dataclass(frozen=True)
class Transformer:
    """The shape of a model; what is not given is as in GPT-2."""

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    feedforward: int = None  # type: ignore[assignment]  # None only until __post_init__
    kv_heads: int = None  # type: ignore[assignment]  # None only until __post_init__
    head_size: int = None  # type: ignore[assignment]  # None only until __post_init__
    gated: bool = False
    tied: bool = True

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "heads", "vocabulary"):
            self._settle(name)
        if self.head_size is None and self.hidden % self.heads:
            raise Refusal(
                f"heads must divide hidden, got {self.heads} for {self.hidden}: or give head_size"
            )
        self._settle("feedforward", 4 * self.hidden)
        self._settle("kv_heads", self.heads)
        self._settle("head_size", self.hidden // self.heads)
        if self.heads % self.kv_heads:
            raise Refusal(
                f"kv_heads must divide heads, got {self.kv_heads} for {self.heads}: "
                "all groups of query heads have one size"
            )
        for name in ("gated", "tied"):
            if not isinstance(getattr(self, name), bool):
                raise Refusal(
                    f"{name} must be True or False, got {shown(getattr(self, name))}: {_MEANING[name]}"
                )

    def _settle(self, name, usual=None):
        """Replace what was not given, and keep whole numbers only."""
        given = getattr(self, name)
        value = whole(name, usual if given is None else given, _MEANING[name], 1, 10**9)
        object.__setattr__(self, name, value)


def matrix_parameters(model: Transformer) -> int:
    """The weights in the matrices of all layers, Kaplan's non-embedding N; 12 L h^2 for GPT-2's kind.

    Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1. Section 3.7.

    >>> matrix_parameters(Transformer(layers=96, hidden=12288, heads=96, vocabulary=50257))
    173946175488
    """
    m = _model(model)
    attention = 2 * m.hidden * m.head_size * (m.heads + m.kv_heads)
    return m.layers * (attention + (3 if m.gated else 2) * m.hidden * m.feedforward)


def parameters(model: Transformer) -> int:
    """All weights in matrices: those of the layers, the embedding, and the output if it is untied.

    Source: the definition. Section 3.7.

    >>> llama = Transformer(32, 4096, 32, 128256, 14336, kv_heads=8, gated=True, tied=False)
    >>> parameters(llama)
    8029995008
    """
    m = _model(model)
    return matrix_parameters(m) + (1 if m.tied else 2) * m.vocabulary * m.hidden


def forward_flops(model: Transformer, context: Numbers, causal: bool = False) -> Answer:
    """FLOPs of a forward pass per token: 2 (N + V h) + 4 L H d times the positions it attends to.

    A token attends to the whole context s by convention, to (s + 1) / 2 positions on average if a
    causal mask is honoured, and, when decoding, to the s positions cached so far.
    Source: Narayanan et al. 2021, doi:10.1145/3458817.3476209, appendix. Section 3.7.

    >>> gpt3 = Transformer(layers=96, hidden=12288, heads=96, vocabulary=50257)
    >>> round(forward_flops(gpt3, 2048) / 1e9)
    359
    """
    m = _model(model)
    products = 2 * (matrix_parameters(m) + m.vocabulary * m.hidden)
    return answer(lambda s: products + s, np.asarray(_attention_flops(m, context, causal)))


def backward_flops(
    model: Transformer, context: Numbers, causal: bool = False, recompute: str = "none"
) -> Answer:
    """FLOPs of a backward pass per token: twice the forward pass, and what it computes again.

    A product costs one more for the gradient of each of its operands. Full recomputation repeats
    all layers, but not the output matrix; selective recomputation repeats the attention only.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, appendix A. Section 3.7.

    >>> gpt3 = Transformer(layers=96, hidden=12288, heads=96, vocabulary=50257)
    >>> backward_flops(gpt3, 2048) / forward_flops(gpt3, 2048)
    2.0
    """
    scores = np.asarray(_attention_flops(model, context, causal))
    again = {"none": 0.0, "selective": scores, "full": scores + 2.0 * matrix_parameters(model)}
    return answer(
        lambda forward, repeated: 2 * forward + repeated,
        np.asarray(forward_flops(model, context, causal)),
        np.asarray(chosen("recompute", recompute, again)),
    )


def training_flops(
    model: Transformer, context: Numbers, causal: bool = False, recompute: str = "none"
) -> Answer:
    """FLOPs of a training step per token, forward and backward; the optimiser is left out.

    Without recomputation these are the model's FLOPs, with it the hardware's.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, appendix A. Section 3.7.

    >>> gpt3 = Transformer(layers=96, hidden=12288, heads=96, vocabulary=51200)
    >>> round(64 * 2048 * training_flops(gpt3, 2048) / 1e15)
    141
    """
    forward = np.asarray(forward_flops(model, context, causal))
    backward = np.asarray(backward_flops(model, context, causal, recompute))
    return answer(np.add, forward, backward)


def _attention_flops(model: Transformer, context: Numbers, causal: bool) -> Answer:
    m = _model(model)
    context = numbers("context", context, "it counts the positions of a sequence", 1)
    if not isinstance(causal, (bool, np.bool_)):
        raise Refusal(f"causal must be True or False, got {shown(causal)}: is there a mask?")
    each = 4 * m.layers * m.heads * m.head_size
    return answer(lambda s: each * ((s + 1) / 2 if causal else s), context)


def _model(given: object) -> Transformer:
    return instance("model", given, Transformer, "describe its shape with Transformer(layers, ...)")
