"""Erlang's formulas for a queue with c servers, in units of the service time (Section 3.4).

`load` is the utilization. For `queues` and `capacity`, which check what they are given.
Source: Harchol-Balter 2013, section 14.3, doi:10.1017/CBO9781139226424.
"""

import numpy as np

from scalelab.models.checking import Floats


def erlang_c(load: Floats, servers: Floats) -> Floats:
    """Return the chance to find all servers busy."""
    from scipy import special

    # The sum in B is a tail of the Poisson distribution; logarithms keep large c in range.
    offered = load * servers
    log_term = special.xlogy(servers, offered) - offered - special.gammaln(servers + 1)
    blocked = np.exp(log_term) / special.gammaincc(servers + 1, offered)
    return blocked / (1 - load * (1 - blocked))


def mean_waiting(load: Floats, servers: Floats) -> Floats:
    """Return the mean waiting in units of the service time."""
    return erlang_c(load, servers) / (servers * (1 - load))


def response_exceeds(time: Floats, load: Floats, servers: Floats) -> Floats:
    """Return P(response > time), both in units of the service time.

    The waiting, if any, is exponential with rate c (1 - rho), the service with rate 1; the tail of
    the sum of two such times is written so that equal rates divide nothing by zero.
    """
    from scipy import special

    queued = erlang_c(load, servers)
    drain = servers * (1 - load)
    slow, gap = np.minimum(1, drain), np.abs(1 - drain)
    both = np.exp(-slow * time) * (1 + slow * time * special.exprel(-gap * time))
    return (1 - queued) * np.exp(-time) + queued * both
