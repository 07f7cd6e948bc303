"""One server and its batches: wait until they are full, or take whatever is there (Section 3.4).

Requests arrive at random (Poisson); a batch of n is served in a + b n seconds, as in `batching`.
The response of a request counts from its arrival to the end of its batch.
"""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.waiting import requests
from scalelab.refusal import Refusal

_LARGEST = 10_000  # requests in a batch whose queue is solved root by root


def full_response(rate: Numbers, batch: Numbers, setup: Numbers, each: Numbers) -> Answer:
    """Mean response when one server waits for full batches of n: filling + queueing + service.

    Filling takes (n - 1) / (2 lambda): low traffic makes it slow. The queue of batches waits as one
    of n servers with constant service would, (L - y) / lambda, y = lambda (a + b n), where
    L = (n - (n - y)^2) / (2 (n - y)) + sum of 1 / (1 - z) over n - 1 roots z of z^n = e^(y (z - 1)).
    Source: Bailey 1954, doi:10.1111/j.2517-6161.1954.tb00149.x, with the roots by Lambert's W.
    Section 3.4.

    >>> full_response([100, 1000, 5000], 64, 1.8874e-3, 0.1438e-3).round(4)
    array([0.3261, 0.0426, 0.0175])
    """
    rate, batch = requests.rate(rate, above=True), requests.whole_batch(batch, _LARGEST)
    setup, each = requests.costs(setup, each)
    load = np.asarray(answer(lambda r, n, a, b: r * (a / n + b), rate, batch, setup, each))
    if not (load < 1).all():
        raise Refusal(
            f"rate must be below the throughput of the batch, got {load.max():.4g} times that: "
            "the queue would grow for ever; take larger batches, or turn requests away"
        )
    return answer(
        lambda r, n, a, b, y: (n - 1) / (2 * r) + _batch_waiting(n, y) / r + a + b * n,
        *(rate, batch, setup, each, load),
    )


def greedy_response(rate: Numbers, setup: Numbers, each: Numbers) -> Answer:
    """Mean response, at most, when one free server takes all that wait: min of two bounds.

    phi0 = (a + b) / (2 (1 - y)) (1 + 2 z + (1 - z) / (1 + y)), close while traffic is low,
    phi1 = 3/2 a / (1 - y) + b/2 (2 + y) / (1 - y^2), close when it is not; y = lambda b, z = lambda a.
    The batches grow with the traffic, so that it needs no tuning.
    Source: Inoue 2021, theorem 2, doi:10.1016/j.peva.2020.102183. Section 3.4.

    >>> greedy_response([100, 1000, 5000], 1.8874e-3, 0.1438e-3).round(4)
    array([0.0022, 0.0035, 0.0105])
    """
    rate, (setup, each) = requests.rate(rate, above=True), requests.costs(setup, each)
    busy = np.asarray(answer(lambda r, b: r * b, rate, each))
    if not (busy < 1).all():
        raise Refusal(
            f"rate must be below 1 / each, got {busy.max():.4g} times that: "
            "the queue would grow for ever; add servers, or turn requests away"
        )

    def formula(r, a, b, y):
        z = r * a
        low = (a + b) / (2 * (1 - y)) * (1 + 2 * z + (1 - z) / (1 + y))
        high = 1.5 * a / (1 - y) + b / 2 * (2 + y) / (1 - y**2)
        return np.minimum(low, high)

    return answer(formula, rate, setup, each, busy)


def tokens_together(
    rate: Numbers, tokens: Numbers, setup: Numbers, each: Numbers, prompt: Numbers = 0.0
) -> Answer:
    """How many answers a pass writes at, on average: n = y a / (1 - lambda p - y b), y = lambda m.

    A language model writes its answers token by token, those of all who are there in one pass of
    a + b n seconds, and takes in newcomers between two passes (continuous batching); reading a prompt
    takes p, for which all of them wait. In a second, 1 - lambda p is left for passes, which write
    lambda m tokens, n in each. At a random moment there are more: long passes are those with many.
    While nobody is inside there are no passes: where that happens, for n up to about 3, each holds more.
    Source: the balance of tokens, with the passes of Yu et al. 2022,
    https://www.usenix.org/conference/osdi22/presentation/yu. Section 3.4.

    >>> round(tokens_together(rate=4, tokens=500, setup=0.005, each=0.0001), 6)
    12.5
    """
    rate, (setup, each) = requests.rate(rate), requests.costs(setup, each)
    tokens = numbers("tokens", tokens, "it counts the tokens of an answer", 0, above=True)
    prompt = numbers("prompt", prompt, "it is how long reading a prompt takes, in seconds", 0)
    busy = np.asarray(
        answer(lambda r, m, b, p: r * (p + m * b), rate, tokens, each, prompt), dtype=float
    )
    if not (busy < 1).all():
        raise Refusal(
            f"rate must be below 1 / (prompt + tokens each), got {busy.max():.4g} times that: "
            "no batch is large enough; add GPUs, or turn requests away"
        )
    return answer(lambda r, m, a, y: r * m * a / (1 - y), rate, tokens, setup, busy)


def _batch_waiting(batch, load):
    return np.vectorize(_queued, otypes=[float])(batch, load)


def _queued(n, load):
    """Return the mean number of requests in full batches that wait, for one pair of numbers."""
    from scipy import special

    y = n * load
    unit = np.exp(2j * np.pi * np.arange(1, n) / n)
    roots = -special.lambertw(-load * np.exp(-load) * unit) / load
    present = (n - (n - y) ** 2) / (2 * (n - y)) + (1 / (1 - roots)).real.sum()
    return max(present - y, 0.0)
