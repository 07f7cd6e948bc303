"""Percentiles: reading them, knowing them, and what fan-out does to them (Section 3.4).

A percentile is asked of response times; how many are needed to know it does not depend on their
distribution. What corrects measured ones is in `omission`; what shortens the tail in `hedging`.
"""

import bisect

import numpy as np

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.waiting import requests
from scalelab.models.waiting.requests import ALMOST_ALL, SHARE

_VALUES = "they are response times, in seconds"
_CONFIDENCE = "it is the chance that the statement is true, 0.99 for one mistake in a hundred"
_SLOW = "it is the share of requests that are slow"
_WORKERS = "it counts the workers that all have to answer"


def percentile(values: Numbers, share: Numbers) -> Answer:
    """The smallest value that this share of the values does not exceed: of n, the ceil(share n)-th.

    Always a time that somebody got, never a mean of two.
    Source: Hyndman and Fan 1996, definition 1, doi:10.1080/00031305.1996.10473566. Section 3.4.

    >>> percentile([0.012, 0.011, 0.250, 0.013], [0.5, 0.99])
    array([0.012, 0.25 ])
    """
    values = _sorted(values)
    share = numbers("share", share, SHARE, 0, 1)

    def formula(p):
        # 0.07 * 100 is 7.000000000000001 in floats, and still the seventh value.
        rank = np.ceil(p * len(values) * (1 - 1e-12)).astype(int)
        return values[np.maximum(rank, 1) - 1]

    return answer(formula, share)


def percentile_interval(
    values: Numbers, share: float, confidence: float = 0.95
) -> tuple[float, float]:
    """The two values between which the true percentile lies, at least at this confidence.

    Of n values, the number below the true percentile is Binomial(n, share): count the same risk in
    from either end. With too few values the upper end is infinite, or the lower 0: nothing bounds it.
    Source: David and Nagaraja 2003, section 7.1, doi:10.1002/0471722162. Section 3.4.

    >>> percentile_interval(range(1, 1001), 0.99)
    (983.0, 997.0)
    >>> percentile_interval(range(1, 201), 0.99)
    (195.0, inf)
    """
    from scipy.stats import binom

    values = _sorted(values)
    share = real("share", share, SHARE, 0, ALMOST_ALL, above=True)
    # `ranks.enclosing` counts alike from both ends, which is right for the median alone.
    risk = (1 - real("confidence", confidence, _CONFIDENCE, 0, ALMOST_ALL, above=True)) / 2
    risk *= 1 + 1e-12  # of two ends that both keep it, the one further in
    below, above = binom.ppf([risk, 1 - risk], len(values), share).astype(int)
    low = float(values[below - 1]) if below > 0 else 0.0
    return low, float(values[above]) if above < len(values) else np.inf


def samples_needed(share: Numbers, confidence: Numbers, slower: int = 0) -> Answer:
    """How many requests show that a percentile holds, when this many of them may be slower.

    The least n with P(Binomial(n, 1 - share) <= slower) <= 1 - confidence: if the percentile did
    not hold, so few slow ones would be rare. None slower: n = ln(1 - confidence) / ln(share).
    Source: Wilks 1941, doi:10.1214/aoms/1177731788; the rule of MLPerf Inference since 2022,
    https://github.com/mlcommons/inference_policies/pull/237. Section 3.4.

    >>> samples_needed(0.99, 0.99), samples_needed(0.99, 0.99, 1), samples_needed(0.90, 0.99, 1)
    (459, 662, 64)
    """
    share = requests.share(share)
    confidence = numbers("confidence", confidence, _CONFIDENCE, 0, ALMOST_ALL, above=True)
    slower = whole("slower", slower, "it counts the requests beyond the percentile", 0, 10**6)
    least = np.vectorize(lambda p, c: _least(p, c, slower), otypes=[int])
    samples = answer(least, share, confidence)
    return int(samples) if isinstance(samples, float) else samples


def fan_out(slow: Numbers, workers: Numbers) -> Answer:
    """The share of requests that are slow when each waits for K workers: 1 - (1 - q)^K.

    q is the share that is slow at one worker; the workers are slow independently.
    Source: Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> fan_out([0.01, 0.0001], [100, 2000]).round(2)
    array([0.63, 0.18])
    """
    slow = numbers("slow", slow, _SLOW, 0, 1)
    workers = numbers("workers", workers, _WORKERS, 1)
    with np.errstate(divide="ignore"):  # slow always: the logarithm of 0 does what it should
        return answer(lambda q, k: -np.expm1(k * np.log1p(-q)), slow, workers)


def fan_out_budget(slow: Numbers, workers: Numbers) -> Answer:
    """The share that may be slow at one worker, for this share of fan-outs: 1 - (1 - q)^(1/K).

    Each worker must keep its own percentile 1 - budget within the limit.
    Source: `fan_out`, solved for q. Section 3.4.

    >>> round(fan_out_budget(0.01, 100), 7)
    0.0001005
    """
    slow = numbers("slow", slow, _SLOW, 0, 1)
    workers = numbers("workers", workers, _WORKERS, 1)
    with np.errstate(divide="ignore"):
        return answer(lambda q, k: -np.expm1(np.log1p(-q) / k), slow, workers)


def _sorted(values: Numbers) -> Floats:
    (values,) = table(values=numbers("values", values, _VALUES, 0))
    return np.sort(values)


def _at_most(count, n, chance):
    """Return P(Binomial(n, chance) <= count)."""
    from scipy import special

    return special.betaincc(count + 1, n - count, chance) if count < n else 1.0


def _least(share, confidence, slower):
    risk = (1 - confidence) * (1 + 1e-12)
    return bisect.bisect_left(
        range(2**60), -risk, slower + 1, key=lambda n: -_at_most(slower, n, 1 - share)
    )
