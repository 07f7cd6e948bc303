"""How hot a pool of servers may be run: the knee, and the rate that a response cap allows (Section 3.4).

The servers share one queue as in `queues`. The knee needs no target; a cap on a percentile is one.
"""

import numpy as np

from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.waiting import requests
from scalelab.models.waiting.erlang import mean_waiting, response_exceeds

_CAP = "it is the longest response you accept, in seconds"


def knee(servers: Numbers = 1) -> Answer:
    """The utilization that gets most throughput per second of response: max of rho / response.

    Also where a line from the origin touches the curve of the response over the utilization.
    It is 1/2 for one server and grows with their number: large pools can be run hotter.
    Source: Kleinrock 1979, Power and deterministic rules of thumb, ICC 43.1; Millsap 2010,
    https://queue.acm.org/detail.cfm?id=1854041. Section 3.4.

    >>> knee([1, 2, 8, 64]).round(3)
    array([0.5  , 0.577, 0.745, 0.9  ])
    """
    from scipy.optimize import elementwise

    def formula(c):
        found = elementwise.find_minimum(
            lambda r, c: np.log((mean_waiting(r, c) + 1) / r),
            (0.1, (c + 1) ** (-1 / c), 1 - 1e-12),
            args=(c,),
        )
        return found.x

    return answer(formula, requests.servers(servers))


def largest_rate(cap: Numbers, service: Numbers, servers: Numbers = 1, *, share: Numbers) -> Answer:
    """The most requests per second for which this share of the responses stay within the cap.

    For one server lambda = 1 / x - ln(1 / q) / cap, q = 1 - share; 0 where an idle one is too slow.
    Source: `queues.response_percentile`, solved for the rate. Section 3.4.

    >>> round(largest_rate(0.100, 0.010, share=0.99), 2)
    53.95
    """
    from scipy.optimize import elementwise

    share = requests.share(share)
    cap = numbers("cap", cap, _CAP, 0, above=True)
    service, servers = requests.service(service), requests.servers(servers)

    def formula(p, t, s, c):
        t = t / s
        idle = np.exp(-t)
        possible = idle < 1 - p
        root = elementwise.find_root(
            lambda r, e, t, c: response_exceeds(t, r, c) - e,
            (0.0, 1.0),
            args=(np.where(possible, 1 - p, (1 + idle) / 2), t, c),
        )
        return np.where(possible, root.x, 0) * c / s

    return answer(formula, share, cap, service, servers)
