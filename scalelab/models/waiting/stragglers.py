"""How long the slowest of K workers takes: what a barrier waits for (Section 3.4).

A synchronous step, or a request fanned out to K servers, ends with the last of K times that are drawn
independently from one distribution. Its mean exceeds the mean of one by the stragglers' share.
Source of all formulas: David and Nagaraja 2003, Order Statistics, doi:10.1002/0471722162.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.refusal import Refusal

_WORKERS = "it counts the workers that all have to finish"
_MEAN = "it is the mean time of one worker, in seconds"
_MEDIAN = "it is the median time of one worker, in seconds"
_LEAST = "it is the shortest time of a worker, in seconds"
_MOST = "it is the longest time of a worker, in seconds"
_SPREAD = "it is the standard deviation of ln(time): at 1, a third of the times are off e-fold"
_VALUES = "they are measured times of one worker, in seconds"


def uniform(workers: Numbers, low: Numbers, high: Numbers) -> Answer:
    """Mean of the slowest of K uniform times: low + (high - low) K / (K + 1).

    Source: David and Nagaraja 2003. Section 3.4.

    >>> round(uniform(3, 1.0, 1.2), 6)
    1.15
    """
    workers = _workers(workers)
    low, high = numbers("low", low, _LEAST, 0), numbers("high", high, _MOST, 0)
    width = np.asarray(answer(lambda a, b: b - a, low, high))
    if (width < 0).any():
        raise Refusal(
            f"high must be at least low, got a high that is {-width.min():g} s below: {_MOST}"
        )
    return answer(lambda k, a, d: a + d * (k / (k + 1)), workers, low, width)


def exponential(workers: Numbers, mean: Numbers) -> Answer:
    """Mean of the slowest of K exponential times: mean (1 + 1/2 + ... + 1/K), about mean (ln K + 0.577).

    Source: David and Nagaraja 2003. Section 3.4.

    >>> exponential([1, 2, 1000], 1.0).round(3)
    array([1.   , 1.5  , 7.485])
    """
    from scipy import special

    mean = numbers("mean", mean, _MEAN, 0, above=True)
    return answer(
        lambda k, m: m * (special.digamma(k + 1) + np.euler_gamma), _workers(workers), mean
    )


def normal(workers: Numbers, mean: Numbers, deviation: Numbers) -> Answer:
    """Mean of the slowest of K normal times: mean + deviation e(K), which grows like sqrt(2 ln K).

    e(K) is the integral of z d Phi(z)^K, computed numerically: 0, 0.564, 0.846 for K = 1, 2, 3;
    it is 30 to 11% below that root for 8 to 4096 workers.
    Source: David and Nagaraja 2003. Section 3.4.

    >>> normal([1, 64, 4096], 1.0, 0.05).round(3)
    array([1.   , 1.117, 1.181])
    """
    from scipy import special

    mean = numbers("mean", mean, _MEAN, 0, above=True)
    deviation = numbers("deviation", deviation, "it is the standard deviation, in seconds", 0)
    return answer(
        lambda k, m, d: m + d * _mean_largest(special.ndtri_exp, k),
        *(_workers(workers), mean, deviation),
    )


def lognormal(workers: Numbers, median: Numbers, spread: Numbers) -> Answer:
    """Mean of the slowest of K times whose logarithm is normal: median x integral of e^(s z) d Phi(z)^K.

    Source: David and Nagaraja 2003. Section 3.4.

    >>> lognormal([1, 64, 4096], 1.0, 0.05).round(3)
    array([1.001, 1.125, 1.199])
    """
    from scipy import special

    median = numbers("median", median, _MEDIAN, 0, above=True)
    spread = numbers("spread", spread, _SPREAD, 0, 3)
    return answer(
        lambda k, m, s: m * _mean_largest(lambda y, s: np.exp(s * special.ndtri_exp(y)), k, s),
        *(_workers(workers), median, spread),
    )


def pareto(workers: Numbers, least: Numbers, shape: Numbers) -> Answer:
    """Mean of the slowest of K Pareto times: least x Gamma(K+1) Gamma(1-1/a) / Gamma(K+1-1/a).

    P(time > t) = (least / t)^a. It grows like K^(1/a), and is infinite for a <= 1.
    Source: David and Nagaraja 2003. Section 3.4.

    >>> pareto([1, 64, 4096], 1.0, 2.0).round(1)
    array([  2. ,  14.2, 113.4])
    """
    from scipy import special

    least = numbers("least", least, _LEAST, 0, above=True)
    shape = numbers(
        "shape", shape, "it is the power with which long times get rarer", 0, above=True
    )

    def formula(k, x, a):
        heavy = a <= 1
        b = np.where(heavy, 0.5, 1 / np.maximum(a, 1))
        growth = special.gamma(1 - b) * special.poch(k + 1 - b, b)
        return np.where(heavy, np.inf, x * growth)

    return answer(formula, _workers(workers), least, shape)


def resampled(workers: Numbers, values: Numbers) -> Answer:
    """Mean of the slowest of K times drawn from measured ones: sum of x_i ((i/m)^K - ((i-1)/m)^K).

    x_i is the i-th smallest of m values. It never exceeds the largest of them: for K beyond
    about m / 5 it says more about the sample than about the tail.
    Source: the definition, for the empirical distribution. Section 3.4.

    >>> round(resampled(2, [1.0, 1.0, 1.0, 2.0]), 4)
    1.4375
    """
    (values,) = table(values=numbers("values", values, _VALUES, 0))
    values = np.sort(values)
    share = np.linspace(0, 1, len(values) + 1)  # of the times, up to and with each
    return answer(lambda k: np.diff(share ** k[..., None]) @ values, _workers(workers))


def _workers(given: Numbers) -> Floats:
    return numbers("workers", given, _WORKERS, 1, 1e12)


def _mean_largest(inverse, workers, *parameters):
    """Return the mean of the largest of K, by `inverse` from ln(probability) to the value.

    The largest of K uniforms is e^(-x/K) with x exponential, which keeps all digits for large K.
    """
    from scipy.integrate import tanhsinh

    found = tanhsinh(
        lambda x, k, *p: inverse(-x / k, *p) * np.exp(-x), 0, np.inf, args=(workers, *parameters)
    )
    return found.integral
