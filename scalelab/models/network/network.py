"""What one message costs: alpha + beta M, and gamma M more if its bytes are reduced (Section 3.8).

Everything a collective costs is a sum of such messages; `collectives` adds them up.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import instance

SIZE = "it is the message, in bytes"


@dataclass(frozen=True)
class Network:
    """A link between workers that send and receive at once, one message each way at a time.

    >>> Network(alpha=5e-6, beta=1 / 50e9).bandwidth
    50000000000.0
    """

    alpha: float  # seconds that a message costs however short it is
    beta: float  # seconds per byte, in one direction
    gamma: float = 0.0  # seconds to reduce one byte into another

    def __post_init__(self) -> None:
        # Wide limits, but narrow enough to refuse a bandwidth where its inverse belongs.
        real("alpha", self.alpha, "it is the seconds that even an empty message takes", 0, 1e6)
        real("beta", self.beta, "it is in seconds per byte and direction, 1 / bandwidth", 1e-18, 1)
        real("gamma", self.gamma, "it is the seconds to reduce one byte into another", 0, 1)

    @property
    def bandwidth(self) -> float:
        """Bytes per second in one direction, 1 / beta; data sheets like to add both directions."""
        return 1 / self.beta

    @classmethod
    def checked(cls, given: object) -> Self:
        """Return the network that was given, or say that one was expected."""
        return instance("network", given, cls, "write Network(alpha=seconds, beta=1 / bandwidth)")


def message_seconds(size: Numbers, network: Network) -> Answer:
    """Seconds until a message of M bytes has arrived: T = alpha + beta M.

    Source: Hockney 1994, doi:10.1016/S0167-8191(06)80021-9. Section 3.8.

    >>> message_seconds([0, 1e6], Network(alpha=5e-6, beta=1 / 50e9))
    array([5.0e-06, 2.5e-05])
    """
    size = numbers("size", size, SIZE, 0)
    network = Network.checked(network)
    return answer(lambda m: network.alpha + network.beta * m, size)


def half_size(network: Network) -> float:
    """The message that gets half the bandwidth, n-half: M = alpha / beta bytes.

    Below it the latency decides, above it the bandwidth.
    Source: Hockney 1994, doi:10.1016/S0167-8191(06)80021-9. Section 3.8.

    >>> round(half_size(Network(alpha=5e-6, beta=1 / 50e9)))
    250000
    """
    network = Network.checked(network)
    return answer(np.divide, np.asarray(network.alpha), np.asarray(network.beta))
