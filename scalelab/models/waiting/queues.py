"""Little's law, and how long requests wait for servers that share one queue (Section 3.4).

Arrivals come at random (Poisson), service times are exponential, the first come is the first served:
M/M/c, with M/M/1 as its case of one server. Waiting ends when service starts; response is both.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.waiting import requests
from scalelab.models.waiting.erlang import erlang_c, mean_waiting, response_exceeds

_MANY = 1e8  # in progress on average


def concurrency(rate: Numbers, seconds: Numbers) -> Answer:
    """How many requests are in progress on average, Little's law: L = lambda W.

    It holds for any queue, any order and any distribution, as long as what comes in goes out.
    Source: Little 1961, doi:10.1287/opre.9.3.383. Section 3.4.

    >>> concurrency(200, 0.35)
    70.0
    """
    rate = requests.rate(rate)
    seconds = numbers("seconds", seconds, "it is the mean time from arrival to departure", 0)
    return answer(lambda r, w: r * w, rate, seconds)


def concurrency_percentile(rate: Numbers, seconds: Numbers, *, share: Numbers) -> Answer:
    """How many requests are in progress at most, for this share of the time, if none waits for another.

    Arrivals at random and no queue: the number in progress is Poisson with the mean lambda W, whatever
    the distribution of the times.
    Source: M/G/infinity, Harchol-Balter 2013, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> concurrency_percentile(4, 15, share=0.99), concurrency(4, 15)
    (79.0, 60.0)
    """
    share = requests.share(share)
    rate = requests.rate(rate)
    seconds = numbers("seconds", seconds, "it is the mean time from arrival to departure", 0)
    return answer(lambda p, r, w: _most(p, r * w), share, rate, seconds)


def _most(share, mean):
    """The percentile of a Poisson number; of a large one by the normal law and its skew, within 1.

    There the library's own may return nan. Source: Cornish and Fisher 1938, doi:10.2307/1400905.
    """
    from scipy.stats import norm, poisson

    z = norm.ppf(share)
    large = np.ceil(mean + z * np.sqrt(mean) + (z**2 - 4) / 6)
    return np.where(mean > _MANY, large, poisson.ppf(share, np.minimum(mean, _MANY)))


def utilization(rate: Numbers, service: Numbers, servers: Numbers = 1) -> Answer:
    """The share of the time that a server is busy: rho = lambda x / c.

    Source: Little's law, applied to the servers. Section 3.4.

    >>> utilization(80, 0.010)
    0.8
    """
    *_, load = _read(rate, service, servers)
    return answer(lambda r: r, load)


def waiting_chance(rate: Numbers, service: Numbers, servers: Numbers = 1) -> Answer:
    """The chance that a request finds all servers busy, Erlang's C formula: rho for one server.

    C = B / (1 - rho (1 - B)), where B = (y^c / c!) / sum of y^k / k! for k = 0 to c, y = c rho.
    Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> round(waiting_chance(160, 0.010, 2), 4)
    0.7111
    """
    _, servers, load = _read(rate, service, servers)
    return answer(erlang_c, load, servers)


def waiting(rate: Numbers, service: Numbers, servers: Numbers = 1) -> Answer:
    """Mean seconds before service starts: C x / (c (1 - rho)).

    Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> round(waiting(80, 0.010), 6)
    0.04
    """
    service, servers, load = _read(rate, service, servers)
    return answer(lambda s, c, r: s * mean_waiting(r, c), service, servers, load)


def response(rate: Numbers, service: Numbers, servers: Numbers = 1) -> Answer:
    """Mean seconds from arrival to departure, waiting + service: x / (1 - rho) for one server.

    Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> round(response(80, 0.010), 6)
    0.05
    """
    service, servers, load = _read(rate, service, servers)
    return answer(lambda s, c, r: s * (mean_waiting(r, c) + 1), service, servers, load)


def waiting_percentile(
    rate: Numbers, service: Numbers, servers: Numbers = 1, *, share: Numbers
) -> Answer:
    """Seconds that this share of the requests do not wait longer than: 0 up to a share of 1 - C.

    P(waiting > t) = C e^(-c (1 - rho) t / x). It is not what a user sees: that is the response.
    Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> round(waiting_percentile(80, 0.010, share=0.99), 4)
    0.2191
    """
    share = requests.share(share)
    service, servers, load = _read(rate, service, servers)

    def formula(p, s, c, r):
        # Where hardly anybody waits, C may be 0: its logarithm is not needed.
        queued = np.maximum(erlang_c(r, c), 1 - p)
        return s * np.log(queued / (1 - p)) / (c * (1 - r))

    return answer(formula, share, service, servers, load)


def response_percentile(
    rate: Numbers, service: Numbers, servers: Numbers = 1, *, share: Numbers
) -> Answer:
    """Seconds within which this share of the requests are done, waiting and service together.

    The t with P(response > t) = q = 1 - share; for one server t = x ln(1 / q) / (1 - rho).
    Waiting and service are independent, so the tail is that of their sum; percentiles do not add.
    Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> round(response_percentile(80, 0.010, share=0.99), 4)
    0.2303
    """
    from scipy.optimize import elementwise

    share = requests.share(share)
    service, servers, load = _read(rate, service, servers)

    def formula(p, s, c, r):
        slower = 1 - p
        # A response lasts at least its service; and if neither part is among its slowest
        # (1 - p) / 2, the sum is not among the slowest 1 - p.
        low = -np.log(slower)
        high = np.log(2 / slower) * (1 + 1 / (c * (1 - r)))
        root = elementwise.find_root(
            lambda t, e, r, c: np.log(response_exceeds(t, r, c) / e),
            (low * (1 - 1e-9), high),
            args=(slower, r, c),
        )
        return s * root.x

    return answer(formula, share, service, servers, load)


def _read(rate: Numbers, service: Numbers, servers: Numbers) -> tuple[Floats, Floats, Floats]:
    rate, service = requests.rate(rate), requests.service(service)
    servers = requests.servers(servers)
    return service, servers, requests.load(rate, service, servers)
