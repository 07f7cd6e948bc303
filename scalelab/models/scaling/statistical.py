"""What more compute is worth to the model that is trained (Sections 3.1 and 3.3).

Systems scaling says how much arithmetic a cluster delivers; these statistical laws say what loss it
buys, and how much of it a larger batch wastes.
"""

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers

# The loss in nats per token of a transformer with N parameters after D tokens is
# E + A / N**ALPHA + B / D**BETA: the form of Hoffmann et al. 2022, arXiv:2203.15556, equation 10, with the
# constants of Besiroglu et al. 2024, arXiv:2404.10102, who fitted the same runs again. The rounded constants
# of the original put its own 70e9 parameters and 1.4e12 tokens far from its optimum; these put them on it.
E, A, B, ALPHA, BETA = 1.8172, 482.01, 2085.43, 0.3478, 0.3658
# Forward and backward: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
FLOPS_PER_PARAMETER_AND_TOKEN = 6

_BATCH = "it counts the samples of one step"
_LEAST_STEPS = "it counts the steps to the target with a batch of any size"
_LEAST_SAMPLES = "it counts the samples to the target with the smallest batch"


def loss(parameters: Numbers, tokens: Numbers) -> Answer:
    """Loss of a language model of N parameters after D tokens: L = E + A / N^alpha + B / D^beta.

    Source: Hoffmann et al. 2022, arXiv:2203.15556; Besiroglu et al. 2024, arXiv:2404.10102.
    Sections 3.1 and 3.3.

    >>> round(loss(70e9, 1.4e12), 3)
    1.974
    """
    parameters = numbers("parameters", parameters, "it counts the weights", 0, above=True)
    tokens = numbers("tokens", tokens, "it counts the training tokens", 0, above=True)
    return answer(lambda n, d: E + A / n**ALPHA + B / d**BETA, parameters, tokens)


def compute_optimal(flops: Numbers) -> tuple[Answer, Answer]:
    """The parameters and tokens that spend C FLOPs best: N = G (C / 6)^a, D = (C / 6)^b / G.

    a = beta / (alpha + beta), b = alpha / (alpha + beta), G = (alpha A / (beta B))^(1 / (alpha + beta)).
    Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 4. Sections 3.1 and 3.3.

    >>> parameters, tokens = compute_optimal(5.76e23)
    >>> round(parameters / 1e9), round(tokens / 1e12, 1)
    (72, 1.3)
    """
    flops = numbers(
        "flops", flops, "it counts the floating-point operations of the run", 0, above=True
    )
    balance = (ALPHA * A / (BETA * B)) ** (1 / (ALPHA + BETA))

    def spread(power, factor):
        return answer(lambda c: factor * (c / FLOPS_PER_PARAMETER_AND_TOKEN) ** power, flops)

    return (
        spread(BETA / (ALPHA + BETA), balance),
        spread(ALPHA / (ALPHA + BETA), 1 / balance),
    )


def training_steps(batch: Numbers, least_steps: Numbers, least_samples: Numbers) -> Answer:
    """Steps to a target loss with batch B: S = Smin + Emin / B.

    It is Amdahl's law with the batch as the workers: a serial part, and one that divides by B.
    Source: McCandlish et al. 2018, arXiv:1812.06162: (S / Smin - 1) (E / Emin - 1) = 1. Section 3.3.

    >>> training_steps([100, 1000, 10_000], least_steps=5000, least_samples=5e6)
    array([55000., 10000.,  5500.])
    """
    batch, least_steps, least_samples = _trade_off(batch, least_steps, least_samples)
    return answer(lambda b, s, e: s + e / b, batch, least_steps, least_samples)


def training_samples(batch: Numbers, least_steps: Numbers, least_samples: Numbers) -> Answer:
    """Samples to a target loss with batch B, B times the steps: E = Emin + Smin B.

    Source: McCandlish et al. 2018, arXiv:1812.06162. Section 3.3.

    >>> training_samples([100, 1000, 10_000], least_steps=5000, least_samples=5e6) / 5e6
    array([ 1.1,  2. , 11. ])
    """
    batch, least_steps, least_samples = _trade_off(batch, least_steps, least_samples)
    return answer(lambda b, s, e: e + s * b, batch, least_steps, least_samples)


def critical_batch(least_steps: Numbers, least_samples: Numbers) -> Answer:
    """The batch that takes twice the fewest steps and twice the fewest samples: B = Emin / Smin.

    Source: McCandlish et al. 2018, arXiv:1812.06162. Section 3.3.

    >>> critical_batch(least_steps=5000, least_samples=5e6)
    1000.0
    """
    _, least_steps, least_samples = _trade_off(1, least_steps, least_samples)
    return answer(lambda s, e: e / s, least_steps, least_samples)


def _trade_off(
    batch: Numbers, least_steps: Numbers, least_samples: Numbers
) -> tuple[Floats, Floats, Floats]:
    return (
        numbers("batch", batch, _BATCH, 0, above=True),
        numbers("least_steps", least_steps, _LEAST_STEPS, 0, above=True),
        numbers("least_samples", least_samples, _LEAST_SAMPLES, 0, above=True),
    )
