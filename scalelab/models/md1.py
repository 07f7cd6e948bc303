"""Percentiles of one server whose service always takes the same time (Section 3.4).

M/D/1, the queue in front of a GPU that runs one fixed shape. Its means are `mg1` with v = 0.
"""

import math

import numpy as np

from scalelab.models import _requests
from scalelab.models._given import answer

# Beyond this many service times the tail is exponential to all digits of a float.
_EXACT = 25


def waiting_percentile(rate, service, *, share):
    """Seconds that this share of the requests do not wait longer than: 0 up to a share of 1 - rho.

    A request waits at most k services if it finds at most k others: P(W <= k x) = Q_k. Between
    two multiples, with u < x, P(W <= k x - u) = sum of Poisson(j; lambda u) Q_(k - j), j < k:
    of those present u before it came, one is done within x, and j more came in between.
    Source: the argument of Franx 2001, doi:10.1016/S0167-6377(01)00108-0, for one server;
    the distribution is Erlang's of 1909. Section 3.4.

    >>> round(waiting_percentile(80, 0.010, share=0.99), 4)
    0.1036
    """
    share, service, load = _read(share, rate, service)
    return answer(lambda p, s, r: s * _in_services(p, r), share, service, load)


def response_percentile(rate, service, *, share):
    """Seconds within which this share of the requests are done: waiting percentile + x.

    Only because every service takes the same time do the two percentiles add.
    Source: as `waiting_percentile`. Section 3.4.

    >>> round(response_percentile(80, 0.010, share=0.99), 4)
    0.1136
    """
    share, service, load = _read(share, rate, service)
    return answer(lambda p, s, r: s * (_in_services(p, r) + 1), share, service, load)


def _read(share, rate, service):
    share = _requests.share(share)
    rate, service = _requests.rate(rate), _requests.service(service)
    return share, service, _requests.load(rate, service)


def _in_services(share, load):
    return np.vectorize(_percentile, otypes=[float])(share, load)


def _percentile(share, load):
    """Return the waiting percentile in units of the service time, for one pair of numbers."""
    from scipy import optimize, special

    if share <= 1 - load:
        return 0.0
    decay = _decay(load)
    tail = -math.log((decay / (1 - load) - 1) * (1 - share)) / decay
    if tail > _EXACT:
        return tail

    found = _found_by_an_arrival(load)
    k = int(np.searchsorted(found, share))
    j = np.arange(k)

    def short(earlier):
        poisson = np.exp(special.xlogy(j, load * earlier) - load * earlier - special.gammaln(j + 1))
        return poisson @ found[k:0:-1] - share

    # A share that rounding puts on the multiple itself has no root to look for.
    return k - optimize.brentq(short, 0, 1, xtol=1e-14) if short(1) < 0 else k - 1.0


def _decay(load):
    """Return the d > 0 with load (e^d - 1) = d: P(waiting > t) falls like e^(-d t)."""
    from scipy import optimize

    low = -math.log(load)
    if low < 1e-6:  # where rounding would hide the root, its series has twelve digits
        return low * (2 - low / 3)
    return optimize.brentq(
        lambda d: load * math.expm1(d) - d, low, 2 * low, xtol=1e-300, rtol=1e-15
    )


def _found_by_an_arrival(load):
    """Return Q_k, the chance to find at most k requests, for k up to a little beyond `_EXACT`.

    Ramaswami 1988, doi:10.1080/15326348808807077: all terms positive, so nothing cancels.
    """
    from scipy import special

    most = _EXACT + 2
    arrivals = special.gammainc(np.arange(1, most + 2), load)  # at least 1, 2, ... during a service
    chance = [1 - load]
    for k in range(1, most + 1):
        earlier = np.array(chance[1:]) @ arrivals[1:k][::-1]
        chance.append((chance[0] * arrivals[k - 1] + earlier) / math.exp(-load))
    return np.cumsum(chance)
