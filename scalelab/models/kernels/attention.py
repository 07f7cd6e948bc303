"""FLOPs and bytes of attention: a whole prompt or one token, its scores in memory or not (Section 3.7).

In each head q queries of size d meet k keys: scores Q K^T, their softmax, its product with V. The
two products are counted and the softmax is not, as in the published conventions; it would add
5 / (4 d). Bytes are compulsory traffic, as in `kernels`.
"""

import numpy as np

from scalelab.arguments import shown
from scalelab.models.checking import Floats, Numbers, answer, numbers
from scalelab.models.kernels import kernels
from scalelab.refusal import Refusal

_MEANING = {
    "queries": "it counts the positions that attend",
    "keys": "it counts the positions attended to",
    "context": "it counts the positions in the cache",
    "head_size": "it is the length of one head's query, key and value",
    "heads": "it counts the query heads",
    "kv_heads": "it counts the key-value heads, each shared by a group of query heads",
    "sequences": "it counts the sequences",
    "block": "it counts the query rows held on chip, of all heads that share keys together",
}


def fused(
    queries: Numbers,
    keys: Numbers,
    head_size: Numbers,
    width: Numbers,
    heads: Numbers = 1,
    kv_heads: Numbers | None = None,
    sequences: Numbers = 1,
    causal: bool = False,
    block: Numbers | None = None,
) -> kernels.Kernel:
    """Attention whose scores stay on chip: 4 d FLOPs a query, key and head; Q, K, V read, O written.

    A causal mask leaves the q k - q (q - 1) / 2 pairs that it lets see each other. With `block`
    query rows on chip at a time, K and V pass once per block; by default they pass once. The heads
    of a group meet the same keys, so their rows fill a block together, h / g to a position.
    Source: Dao 2023, arXiv:2307.08691, algorithm 1. Section 3.7.

    >>> fused(4096, 4096, 128, width=2).intensity
    2048.0
    >>> round(fused(4096, 4096, 128, width=2, block=128).intensity)
    124
    """
    shape = _shape(queries, keys, head_size, width, heads, kv_heads, sequences)
    sharing = np.asarray(answer(np.divide, shape[4], shape[5]))  # query heads to a group
    if block is None:
        rows = shape[0]
    else:
        rows = np.asarray(answer(np.divide, _size("block", block), sharing))
        if np.any(rows < 1):
            raise Refusal(
                f"block must hold one row of each of the {sharing.max():g} heads that share keys, "
                f"got {shown(block)}: they meet a key together"
            )
    if not isinstance(causal, (bool, np.bool_)):
        raise Refusal(f"causal must be True or False, got {shown(causal)}: is there a mask?")
    if causal and np.any(answer(np.greater, *shape[:2])):
        raise Refusal(
            f"keys must be no fewer than queries under a causal mask, got {shown(keys)} for "
            f"{shown(queries)}: a position sees itself and all before it"
        )

    def pairs(q, k):
        return q * k - (q * (q - 1) / 2 if causal else 0)

    def passed(q, k, rows):
        # Rows of K that pass by in all; block i of a causal mask stops at its own last query.
        blocks = np.ceil(q / rows)
        return blocks * k - ((blocks - 1) * (q - rows * blocks / 2) if causal else 0)

    return kernels.Kernel(
        "attention",
        answer(lambda q, k, d, w, h, g, b: 4 * b * h * d * pairs(q, k), *shape),
        answer(
            lambda q, k, d, w, h, g, b, rows: 2 * b * d * w * (h * q + g * passed(q, k, rows)),
            *shape,
            rows,
        ),
    )


def naive(
    queries: Numbers,
    keys: Numbers,
    head_size: Numbers,
    width: Numbers,
    heads: Numbers = 1,
    kv_heads: Numbers | None = None,
    sequences: Numbers = 1,
) -> kernels.Kernel:
    """Attention as gemm, softmax and gemm: the scores pass through memory four times.

    No pair is skipped: a causal mask only fills in scores that were computed.
    Source: Dao et al. 2022, arXiv:2205.14135, algorithm 0. Section 3.7.

    >>> round(naive(4096, 4096, 128, width=2).intensity)
    62
    """
    shape = _shape(queries, keys, head_size, width, heads, kv_heads, sequences)
    return kernels.Kernel(
        "attention, naive",
        answer(lambda q, k, d, w, h, g, b: 4 * b * h * d * q * k, *shape),
        answer(
            lambda q, k, d, w, h, g, b: 2 * b * w * (d * (h * q + g * k) + 2 * h * q * k), *shape
        ),
    )


def decode(
    context: Numbers,
    head_size: Numbers,
    width: Numbers,
    heads: Numbers = 1,
    kv_heads: Numbers | None = None,
    sequences: Numbers = 1,
) -> kernels.Kernel:
    """Attention of one new token over a cache of keys and values, all of which moves for it.

    The intensity nears 2 heads / (kv_heads width), whatever the context and the sequences.
    Source: Shazeer 2019, arXiv:1911.02150. Section 3.7.

    >>> round(decode(8192, 128, width=2, heads=32, kv_heads=8).intensity, 1)
    4.0
    """
    one = fused(1, _size("context", context), head_size, width, heads, kv_heads, sequences)
    return kernels.Kernel("attention, decode", one.flops, one.bytes)


def _size(name: str, given: Numbers) -> Floats:
    return numbers(name, given, _MEANING[name], 1)


def _shape(
    queries: Numbers,
    keys: Numbers,
    head_size: Numbers,
    width: Numbers,
    heads: Numbers,
    kv_heads: Numbers | None,
    sequences: Numbers,
) -> tuple[Floats, ...]:
    """Return all sizes as arrays; by default every query head has keys and values of its own."""
    groups = _size("kv_heads", heads if kv_heads is None else kv_heads)
    if np.any(answer(np.remainder, _size("heads", heads), groups)):
        raise Refusal(
            f"kv_heads must divide heads, got {shown(kv_heads)} for {shown(heads)}: "
            "all groups of query heads have one size"
        )
    return (
        _size("queries", queries),
        _size("keys", keys),
        _size("head_size", head_size),
        numbers("width", width, "it is the bytes of a number, 2 for bfloat16", 0, above=True),
        _size("heads", heads),
        groups,
        _size("sequences", sequences),
    )
