"""A second copy of a slow request: what it saves, and what it costs (Section 3.4).

A hedged request is sent again after a delay, and the first answer counts. A tied request queues at
two servers at once; whichever starts it first cancels the other. Both are computed from measured
times, as if those of the two servers were independent and the extra load changed neither.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers, table
from scalelab.models.waiting import requests

_VALUES = "they are response times of single requests, in seconds"
_DELAY = "it is how long to wait before the second copy is sent, in seconds"
_WAITING = "they are waiting times in the queue of one server, in seconds"
_SERVICE = "they are service times, in seconds"


def hedged_percentile(values: Numbers, delay: Numbers, share: Numbers) -> Answer:
    """Seconds within which this share of hedged requests are done.

    The least t with P(X > t) P(X > t - d) <= 1 - share: both copies have to be slow, and the second
    has d less time.
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


def _sorted(name: str, given: Numbers, meaning: str) -> Floats:
    (values,) = table(**{name: numbers(name, given, meaning, 0)})
    return np.sort(values)


def _exceeds(values, seconds):
    """Return the share of the sorted values above `seconds`: all of them before time 0."""
    # A time that was added to and taken from again may be off in its last digit.
    return 1 - np.searchsorted(values, seconds * (1 + 1e-12), side="right") / len(values)
