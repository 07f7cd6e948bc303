"""What a stream of requests, and a batch of them, is described by: read and checked (Section 3.4).

For the queueing and batching models of this folder only.
"""

import numpy as np

from scalelab.models.checking import Floats, Numbers, answer, numbers
from scalelab.models.choice import counts
from scalelab.refusal import Refusal

_RATE = "it is how many requests arrive per second"
_SERVICE = "it is the mean time that one request keeps a server busy, in seconds"
_SERVERS = "it counts the servers that share one queue"
_MOST_SERVERS = 1_000_000  # up to here Erlang's formula holds nine digits
_BATCH = "it counts the requests that are served together"
_SETUP = "it is what a batch of any size takes, in seconds"
_EACH = "it is what every request adds to a batch, in seconds"
_ONE_SERVER = np.array(1.0)

SHARE = "it is the share of requests that are no slower, 0.99 for the p99"
ALMOST_ALL = 0.999_999  # the slowest request of all has no bound
HARDLY_ANY = 1e-9  # below, 1 minus it loses its digits


def share(given: Numbers) -> Floats:
    """Return the share of requests that a percentile covers."""
    return numbers("share", given, SHARE, HARDLY_ANY, ALMOST_ALL)


def rate(given: Numbers, *, above: bool = False) -> Floats:
    """Return the arrivals per second."""
    return numbers("rate", given, _RATE, 0, above=above)


def service(given: Numbers) -> Floats:
    """Return the mean seconds of service."""
    return numbers("service", given, _SERVICE, 0, above=True)


def servers(given: Numbers) -> Floats:
    """Return the number of servers."""
    return numbers("servers", counts("servers", given, _SERVERS), _SERVERS, 1, _MOST_SERVERS)


def batch(given: Numbers) -> Floats:
    """Return the number of requests that are served together."""
    return numbers("batch", given, _BATCH, 1)


def whole_batch(given: Numbers, most: float) -> Floats:
    """Return the same, where the formula needs whole numbers and has a limit."""
    return numbers("batch", counts("batch", given, _BATCH), _BATCH, 1, most)


def costs(setup: Numbers, each: Numbers) -> tuple[Floats, Floats]:
    """Return what a batch takes once, and what for each of its requests."""
    return numbers("setup", setup, _SETUP, 0), numbers("each", each, _EACH, 0, above=True)


def load(rate: Floats, service: Floats, servers: Floats = _ONE_SERVER) -> Floats:
    """Return the utilization, rate x service / servers, or refuse a queue without a steady state."""
    busy = np.asarray(answer(lambda r, s, c: r * s / c, rate, service, servers))
    if not (busy < 1).all():
        raise Refusal(
            f"rate must keep the servers busy for less than all of their time, "
            f"got a utilization of {busy.max():.4g}: the queue would grow for ever; "
            "add servers, shorten the service, or turn requests away"
        )
    return busy
