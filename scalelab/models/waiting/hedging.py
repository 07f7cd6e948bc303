"""A second copy of a slow request: what it saves, and what it costs (Section 3.4).

A hedged request is sent again after a delay, and the first answer counts. A tied request queues at
two servers at once; whichever starts it first cancels the other. The percentiles are computed from
measured times, as if those of the two servers were independent and the copies were no load: that holds
where a tail is not made by queues. Where it is, copies lengthen the queues that cause them: `hedged_load`
and `tipping_load` say to what, if nobody cancels them, and `simulated.hedged` if somebody does.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.waiting import requests

_VALUES = "they are response times of single requests, in seconds"
_DELAY = "it is how long to wait before the second copy is sent, in seconds"
_WAITING = "they are waiting times in the queue of one server, in seconds"
_SERVICE = "they are service times, in seconds"
_LOAD = "it is the utilization of each server without copies"


def hedged_percentile(values: Numbers, delay: Numbers, share: Numbers) -> Answer:
    """Seconds within which this share of hedged requests are done.

    The least t with P(X > t) P(X > t - d) <= 1 - share: both copies have to be slow, and the second
    has d less time. The times are taken to stay what they were: see `tipping_load` for queues.
    Source: Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> hedged_percentile([0.010, 0.010, 0.012, 0.500], 0.012, share=0.90)
    0.024
    """
    values = _sorted("values", values, _VALUES)
    share, delay = requests.share(share), numbers("delay", delay, _DELAY, 0)

    def least(p, d):
        # The share only changes where one of the copies may end.
        ends = np.unique(np.concatenate([values, values + d]))
        slow = _exceeds(values, ends) * _exceeds(values, ends - d)
        return ends[np.argmax(slow <= (1 - p) * (1 + 1e-12))]

    return answer(np.vectorize(least, otypes=[float]), share, delay)


def tied_percentile(waiting: Numbers, service: Numbers, share: Numbers) -> Answer:
    """Seconds within which this share of tied requests are done: the shorter wait, then service.

    P(min(W, W') + S > t), the mean of P(W > t - s)^2 over the service times s. No work is done twice.
    Two servers that get all requests tied are one queue with two: `queues`, servers = 2.
    Source: Dean and Barroso 2013, doi:10.1145/2408776.2408794. Section 3.4.

    >>> round(tied_percentile([0.0, 0.0, 0.0, 0.490], [0.010, 0.012], share=0.70), 6)
    0.012
    """
    waiting = _sorted("waiting", waiting, _WAITING)
    service = _sorted("service", service, _SERVICE)

    def least(p):
        low, high = 0.0, waiting[-1] + service[-1]
        while low < (middle := (low + high) / 2) < high:
            slow = np.mean(_exceeds(waiting, middle - service) ** 2)
            low, high = (low, middle) if slow <= (1 - p) * (1 + 1e-12) else (middle, high)
        return high

    return answer(np.vectorize(least, otypes=[float]), requests.share(share))


def hedged_load(load: Numbers, delay: Numbers, service: Numbers) -> Answer:
    """How busy servers are whose slow requests are sent again and never cancelled; infinite if it tips.

    The least u with u = load (1 + P(response > delay)), where one server, exponential, that is busy for
    a share u answers later than d with the chance e^(-(1 - u) d / x).
    Source: `queues` for one server, and many servers, among which copies arrive at random. Section 3.4.

    >>> hedged_load([0.5, 0.7, 0.8], delay=0.151, service=0.010).round(3)
    array([0.5  , 0.709,   inf])
    """
    from scipy.optimize import elementwise

    load = numbers("load", load, _LOAD, 0, 1)
    service, wait = requests.service(service), numbers("delay", delay, _DELAY, 0)

    def formula(own, d, x):
        top = _tipping(d / x)
        tips = own > _own_load(top, d / x)
        root = elementwise.find_root(
            lambda u, own, d: _own_load(u, d) - own,
            (0.0, top),
            args=(np.where(tips, 0.0, own), d / x),
        )
        return np.where(tips, np.inf, root.x)

    return answer(formula, load, wait, service)


def tipping_load(delay: Numbers, service: Numbers) -> Answer:
    """The utilization without copies beyond which uncancelled ones make the queues grow for ever.

    The largest u / (1 + e^(-(1 - u) d / x)) for u up to 1: 1/2 for a delay of up to two services, when
    almost everything is sent twice, and nearer to 1 the later the copy is sent.
    Source: `hedged_load`, at the last load for which it has an answer. Section 3.4.

    >>> tipping_load([0.010, 0.035, 0.151], service=0.010).round(3)
    array([0.5  , 0.535, 0.771])
    """
    service, wait = requests.service(service), numbers("delay", delay, _DELAY, 0)
    return answer(lambda d, x: _own_load(_tipping(d / x), d / x), wait, service)


def _own_load(busy, delay):
    """Return the load without copies of servers that are busy for this share with them."""
    return busy / (1 + np.exp(-(1 - busy) * delay))


def _tipping(delay):
    """Return how busy servers are where `_own_load` is largest: the root of its derivative, or 1."""
    from scipy.optimize import elementwise
    from scipy.special import expit

    # d/du of ln(own load) is 1/u - d e/(1 + e), e = e^(-(1 - u) d): it falls, to 1 - d/2 at u = 1.
    early = delay <= 2
    root = elementwise.find_root(
        lambda u, d: 1 - u * d * expit(-(1 - u) * d),
        (0.0, 1.0),
        args=(np.where(early, 3.0, delay),),
    )
    return np.where(early, 1.0, root.x)


def _sorted(name: str, given: Numbers, meaning: str) -> Floats:
    (values,) = table(**{name: numbers(name, given, meaning, 0)})
    return np.sort(values)


def _exceeds(values, seconds):
    """Return the share of the sorted values above `seconds`: all of them before time 0."""
    # A time that was added to and taken from again may be off in its last digit.
    return 1 - np.searchsorted(values, seconds * (1 + 1e-12), side="right") / len(values)
