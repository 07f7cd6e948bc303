"""One server whose service times have any distribution: what their variability costs (Section 3.4).

M/G/1 in Kendall's notation: arrivals at random, one server, first come, first served.
The mean needs only the mean and the spread of the service times. They do not determine a percentile:
for those of exponential service, v = 1, see `queues`.
"""

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.waiting import requests

_VARIABILITY = (
    "it is the variance of the service time over its squared mean, 0 where it is constant"
)


def waiting(rate: Numbers, service: Numbers, variability: Numbers) -> Answer:
    """Mean seconds before service starts, Pollaczek and Khinchine: rho x (1 + v) / (2 (1 - rho)).

    v, in the book c_x^2, is the variance of the service time / mean^2: constant 0, exponential 1.
    Source: Pollaczek 1930, doi:10.1007/BF01194620. Section 3.4.

    >>> waiting(80, 0.010, [0, 1, 9]).round(6)
    array([0.02, 0.04, 0.2 ])
    """
    service, variability, load = _read(rate, service, variability)
    return answer(_waiting, service, variability, load)


def response(rate: Numbers, service: Numbers, variability: Numbers) -> Answer:
    """Mean seconds from arrival to departure: waiting + x.

    Source: Pollaczek 1930, doi:10.1007/BF01194620. Section 3.4.

    >>> response(80, 0.010, [0, 1, 9]).round(6)
    array([0.03, 0.05, 0.21])
    """
    service, variability, load = _read(rate, service, variability)
    return answer(lambda s, v, r: _waiting(s, v, r) + s, service, variability, load)


def _read(rate: Numbers, service: Numbers, variability: Numbers) -> tuple[Floats, Floats, Floats]:
    rate, service = requests.rate(rate), requests.service(service)
    variability = numbers("variability", variability, _VARIABILITY, 0)
    return service, variability, requests.load(rate, service)


def _waiting(service, variability, load):
    return service * (1 + variability) * load / (2 * (1 - load))
