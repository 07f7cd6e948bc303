"""Published shorthands for the FLOPs of training a transformer (Sections 3.7 and 3.9).

Kaplan leaves the attention scores out; PaLM adds them, with whatever N the paper at hand counts;
Megatron writes N out for the shape of a GPT. None halves the scores for a causal mask. A share of
the peak means little until it says which of them it divides.
"""

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import chosen

_MEANING = {
    "parameters": "it counts the weights of the model",
    "tokens": "it counts the tokens trained on",
    "layers": "it counts the blocks of attention and feed-forward",
    "heads": "it counts the attention heads of a layer",
    "head_size": "it is the length of one head's query, key and value",
    "hidden": "it is the length of the vector that stands for a token",
    "vocabulary": "it counts the tokens that the model can tell apart",
    "context": "it counts the tokens of a sequence",
    "sequences": "it counts the sequences in one batch",
}


def kaplan(parameters: Numbers, tokens: Numbers) -> Answer:
    """FLOPs of training on all tokens, without attention scores: C = 6 N D.

    Kaplan's N leaves the embeddings out; most who quote the formula put all weights in.
    Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1. Section 3.7.

    >>> kaplan(174.6e9, 300e9)  # GPT-3, table D.1 of arXiv:2005.14165: 3.14e23
    3.1428e+23
    """
    return answer(lambda N, D: 6 * N * D, *_sizes(parameters=parameters, tokens=tokens))


def palm(
    parameters: Numbers,
    tokens: Numbers,
    layers: Numbers,
    heads: Numbers,
    head_size: Numbers,
    context: Numbers,
) -> Answer:
    """FLOPs of training on all tokens, with attention scores: C = (6 N + 12 L H Q T) D.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B. Section 3.7.

    >>> round(palm(540e9, 1, layers=118, heads=48, head_size=256, context=2048) / 6 / 540e9, 3)
    1.011
    """
    sizes = _sizes(
        parameters=parameters,
        tokens=tokens,
        layers=layers,
        heads=heads,
        head_size=head_size,
        context=context,
    )
    return answer(lambda N, D, L, H, Q, T: (6 * N + 12 * L * H * Q * T) * D, *sizes)


def megatron(
    sequences: Numbers,
    context: Numbers,
    layers: Numbers,
    hidden: Numbers,
    vocabulary: Numbers,
    recompute: str = "full",
) -> Answer:
    """FLOPs of one iteration of a GPT: 96 B s L h^2 (1 + s / 6h + V / 16Lh) with full recomputation.

    Without, 72 B s L h^2 (1 + s / 6h + V / 12Lh); with selective recomputation 2s / 9h for s / 6h.
    Sources: Narayanan et al. 2021, doi:10.1145/3458817.3476209, equation 3; Korthikanti et al. 2022,
    arXiv:2205.05198, appendix A, whose s / 3h an author corrected to 2s / 9h in
    https://github.com/NVIDIA/Megatron-LM/issues/523. Section 3.7.

    >>> round(megatron(16, 1024, 24, 1920, 51200) / 1.076 / 1e12, 1)  # reported: 149.8
    149.8
    """
    # What stands before B s L h^2, before s / h, and before V / L h.
    forms = {
        "none": (72, 1 / 6, 1 / 12),
        "selective": (72, 2 / 9, 1 / 12),
        "full": (96, 1 / 6, 1 / 16),
    }
    total, scores, output = chosen("recompute", recompute, forms)
    sizes = _sizes(
        sequences=sequences, context=context, layers=layers, hidden=hidden, vocabulary=vocabulary
    )
    return answer(
        lambda B, s, L, h, V: (
            total * B * s * L * h**2 * (1 + scores * s / h + output * V / (L * h))
        ),
        *sizes,
    )


def _sizes(**given: Numbers) -> list[Floats]:
    return [numbers(name, value, _MEANING[name], 1) for name, value in given.items()]
