"""A closed loop: N clients who ask, wait for the answer, think, and only then ask again (Section 3.4).

A load generator with so many connections is one. It slows down with what it measures, so its
throughput is an answer, not a question; `queues` is about requests that come whatever happens.
"""

import numpy as np

from scalelab.models.checking import Answer, Floats, Numbers, answer, numbers
from scalelab.models.choice import counts
from scalelab.models.waiting import requests

_CLIENTS = "it counts the clients, each with one request at a time"
_THINK = "it is the mean time from an answer to that client's next request, in seconds"
_RESPONSE = "it is the mean time from request to answer, in seconds"


def throughput(clients: Numbers, response: Numbers, think: Numbers = 0.0) -> Answer:
    """Requests per second of a closed loop: N / (R + Z).

    Source: Little's law for clients who are either waiting or thinking; Harchol-Balter 2013,
    chapter 6, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> throughput(clients=40, response=0.3, think=0.5)
    50.0
    """
    clients, think = _loop(clients, think)
    response = numbers("response", response, _RESPONSE, 0, above=True)
    return answer(lambda n, r, z: n / (r + z), clients, response, think)


def throughput_bound(
    clients: Numbers, service: Numbers, think: Numbers = 0.0, servers: Numbers = 1
) -> Answer:
    """The most requests per second that so many clients can get: min(c / x, N / (x + Z)).

    Beyond c (x + Z) / x clients it stays c / x. Where times vary, that many do not reach it yet: more of
    them bring a little throughput, and mostly waiting.
    Source: Harchol-Balter 2013, chapter 7, doi:10.1017/CBO9781139226424. Section 3.4.

    >>> throughput_bound([10, 40, 80], service=0.02, think=0.98)
    array([10., 40., 50.])
    """
    clients, think = _loop(clients, think)
    service, servers = requests.service(service), requests.servers(servers)
    return answer(
        lambda n, x, z, c: np.minimum(c / x, n / (x + z)), clients, service, think, servers
    )


def _loop(clients: Numbers, think: Numbers) -> tuple[Floats, Floats]:
    return counts("clients", clients, _CLIENTS), numbers("think", think, _THINK, 0)
