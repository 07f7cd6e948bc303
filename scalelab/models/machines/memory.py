"""How many bytes a model needs, in training and in serving, and how many devices hold them (Section 3.2).

Model states (weights, gradients, optimizer) are exact; activations follow one named approximation.
What the runtime itself takes, and what fragmentation wastes, comes on top: plan with less than all.
"""

import numpy as np

from scalelab.arguments import whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import chosen

# Bytes per parameter: weights, gradients, and the copy of the weights that mixed precision keeps.
PRECISIONS = {"fp32": (4, 4, 0), "mixed": (2, 2, 4), "mixed, fp32 gradients": (2, 4, 4)}
# Bytes of statistics per parameter. The 8-bit ones add a scale per block, 0.004 bytes at 2048 each.
OPTIMIZERS = {"sgd": 0, "momentum": 4, "adam": 8, "adam 8-bit": 2}
# Bytes per token, hidden unit and layer; and bytes per pair of tokens and head.
_KEPT = {"none": (34, 5), "selective": (34, 0), "full": (2, 0)}

_PARAMETERS = "it counts the weights of the model"
_MEMORY = "it is the memory of one device, in bytes"
_WIDTH = "it is the bytes of one number: 2 in bf16, 1 in fp8, 0.5 in 4 bit"
_LAYERS = "it counts the layers of the transformer"
_CONTEXT = "it counts the tokens of one sequence"
_HEADS = "it counts the attention heads"
_HIDDEN = "it counts the hidden units of a token"
_SEQUENCES = "it counts the sequences that one device processes at once"


def state(optimizer: str = "adam", precision: str = "mixed", stage: int = 0) -> tuple[float, float]:
    """Bytes of model states per parameter, as (kept by every device, split over the devices).

    ZeRO splits the optimizer's part from stage 1 on, the gradients from 2 on, the weights at 3.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1 and figure 1; 8-bit statistics:
    Dettmers et al. 2022, arXiv:2110.02861. Section 3.2.

    >>> state("adam", "mixed"), state("adam", "mixed", stage=1), state("adam", "fp32")
    ((16.0, 0.0), (4.0, 12.0), (16.0, 0.0))
    """
    parts, stage = _parts(optimizer, precision, stage)
    split = sum(size for size, since in parts.values() if stage >= since)
    return float(sum(size for size, _ in parts.values()) - split), float(split)


def training_bytes(
    parameters: Numbers,
    devices: Numbers = 1,
    optimizer: str = "adam",
    precision: str = "mixed",
    stage: int = 0,
) -> Answer:
    """Bytes of model states on each of K devices: N (kept + split / K), from `state`.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5. Section 3.2.

    >>> [training_bytes(7.5e9, 64, stage=stage) / 1e9 for stage in range(4)]
    [120.0, 31.40625, 16.640625, 1.875]
    """
    parameters = numbers("parameters", parameters, _PARAMETERS, 0, above=True)
    devices = numbers("devices", devices, "it counts the devices that share the states", 1)
    kept, split = state(optimizer, precision, stage)
    return answer(lambda n, k: n * (kept + split / k), parameters, devices)


def states(
    parameters: Numbers,
    devices: Numbers = 1,
    optimizer: str = "adam",
    precision: str = "mixed",
    stage: int = 0,
) -> dict[str, Answer]:
    """Bytes of "weights", "gradients" and "optimizer" on each of K devices; their sum is `training_bytes`.

    The optimizer's part is its statistics and the copy of the weights that mixed precision keeps.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5. Section 3.2.

    >>> states(7.5e9, 64, stage=2)
    {'weights': 15000000000.0, 'gradients': 234375000.0, 'optimizer': 1406250000.0}
    """
    parameters = numbers("parameters", parameters, _PARAMETERS, 0, above=True)
    devices = numbers("devices", devices, "it counts the devices that share the states", 1)
    parts, stage = _parts(optimizer, precision, stage)
    return {
        name: answer(
            lambda n, k, b=size, s=since: n * b / np.where(stage >= s, k, 1), parameters, devices
        )
        for name, (size, since) in parts.items()
    }


def serving_bytes(parameters: Numbers, cache: Numbers = 0, width: Numbers = 2) -> Answer:
    """Bytes to answer requests with a model of N parameters: N width + cache.

    The cache holds the keys and values of every request in flight, from `cache_bytes`.
    Source: the definition of a format of that width. Section 3.2.

    >>> serving_bytes(70e9) / 1e9
    140.0
    """
    parameters = numbers("parameters", parameters, _PARAMETERS, 0, above=True)
    cache = numbers("cache", cache, "it is the key-value cache of all requests, in bytes", 0)
    width = numbers("width", width, _WIDTH, 0, above=True)
    return answer(lambda n, c, w: n * w + c, parameters, cache, width)


def cache_bytes(
    tokens: Numbers, layers: Numbers, kv_heads: Numbers, head_size: Numbers, width: Numbers = 2
) -> Answer:
    """Bytes of the key-value cache of some tokens: 2 tokens layers kv_heads head_size width.

    With grouped queries fewer heads have keys and values of their own than attend.
    Source: Kwon et al. 2023, arXiv:2309.06180, section 3. Section 3.2.

    >>> cache_bytes(1, layers=40, kv_heads=40, head_size=128) / 1024  # OPT-13B: "800 KB" per token
    800.0
    """
    tokens = numbers("tokens", tokens, "it counts the tokens kept, of all requests", 0)
    layers = numbers("layers", layers, _LAYERS, 1)
    kv_heads = numbers("kv_heads", kv_heads, "it counts the heads with keys of their own", 1)
    head_size = numbers("head_size", head_size, "it counts the numbers of one head's key", 1)
    width = numbers("width", width, _WIDTH, 0, above=True)
    return answer(
        lambda t, n, a, d, w: 2 * t * n * a * d * w, tokens, layers, kv_heads, head_size, width
    )


def activation_bytes(
    sequences: Numbers,
    context: Numbers,
    layers: Numbers,
    hidden: Numbers,
    heads: Numbers,
    recompute: str = "none",
) -> Answer:
    """Bytes kept for the backward pass: sequences context layers (34 hidden + 5 heads context).

    For 16-bit numbers and a GPT layer: dropout, and four times the hidden units in its middle.
    Embeddings and logits come on top.
    Recomputing "selective"-ly drops the attention matrix and leaves 34; "full" keeps only the input
    of each layer, 2.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, equations 1 and 6. Section 3.2.

    >>> activation_bytes(1, 2048, layers=96, hidden=12288, heads=96) / 1e9  # GPT-3, one sequence
    275.414777856
    """
    sequences = numbers("sequences", sequences, _SEQUENCES, 0, above=True)
    context = numbers("context", context, _CONTEXT, 1)
    layers = numbers("layers", layers, _LAYERS, 1)
    hidden = numbers("hidden", hidden, _HIDDEN, 1)
    heads = numbers("heads", heads, _HEADS, 1)
    linear, square = chosen("recompute", recompute, _KEPT)
    return answer(
        lambda b, s, n, h, a: b * s * n * (linear * h + square * a * s),
        *(sequences, context, layers, hidden, heads),
    )


def fewest_devices(split: Numbers, memory: Numbers, kept: Numbers = 0) -> Answer:
    """The fewest devices that hold `kept` on each and `split` over all: ceil(split / (memory - kept)).

    The answer is infinite where `kept` alone fills a device: then no number of them is enough.
    Source: the definition of fitting. Section 3.2.

    >>> fewest_devices(split=70e9 * 16, memory=80e9), fewest_devices(1, memory=80e9, kept=140e9)
    (14.0, inf)
    """
    split = numbers("split", split, "it is what the devices share, in bytes", 0, above=True)
    memory = numbers("memory", memory, _MEMORY, 0, above=True)
    kept = numbers("kept", kept, "it is what every device holds a copy of, in bytes", 0)

    def count(split, memory, kept):
        with np.errstate(divide="ignore"):
            devices = split / np.maximum(memory - kept, 0)
        # Rounding, in the subtraction above all, may have lifted a whole quotient: take that off.
        return np.maximum(np.ceil(devices * (1 - 1e-12)), 1)

    return answer(count, split, memory, kept)


def largest_model(memory: Numbers, per_parameter: Numbers) -> Answer:
    """The most parameters that fit in some bytes: N = memory / per_parameter.

    Source: the definition of fitting. Section 3.2.

    >>> largest_model(80e9, per_parameter=16) / 1e9
    5.0
    """
    memory = numbers("memory", memory, "it is the memory of all devices together, in bytes", 0)
    meaning = "it is bytes for each weight: 16 to train with Adam, 2 to serve in bf16"
    per_parameter = numbers("per_parameter", per_parameter, meaning, 0, above=True)
    return answer(lambda m, b: m / b, memory, per_parameter)


def _parts(optimizer, precision, stage):
    """Return the bytes per parameter of each state and the stage that splits it, and the stage itself."""
    weights, gradients, copy = chosen("precision", precision, PRECISIONS)
    statistics = copy + chosen("optimizer", optimizer, OPTIMIZERS)
    stage = whole("stage", stage, "0 splits nothing, 3 everything", 0, 3)
    return {
        "weights": (weights, 3),
        "gradients": (gradients, 2),
        "optimizer": (statistics, 1),
    }, stage
