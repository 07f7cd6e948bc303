"""How many messages and bytes a collective is made of, and the factor that stands for them.

The factor of nccl-tests is one per collective; the rounds and bytes are those of the algorithm that
ran, where it is known (Section 3.8).
"""

from scalelab.arguments import shown
from scalelab.models.network.algorithms import ALGORITHMS, seconds
from scalelab.models.network.bandwidth import FACTORS, bus_factor, switch_bandwidth
from scalelab.models.network.network import Network
from scalelab.refusal import Refusal

COLLECTIVES = (*FACTORS, "send")
_OTHER_NAMES = {"alltoall": "all-to-all", "sendrecv": "send"}
IN_SWITCH = "in switch"


def named(collective: str) -> str:
    """The name of a collective as this book writes it.

    >>> named("all_reduce"), named("alltoall")
    ('all-reduce', 'all-to-all')
    """
    name = collective.replace("_", "-") if isinstance(collective, str) else collective
    name = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    if name not in COLLECTIVES:
        raise Refusal(
            f"collective must be one of {', '.join(COLLECTIVES)}, got {shown(collective)}: choose one"
        )
    return name


def factor(collective: str, workers: int) -> float:
    """What nccl-tests multiply the algorithm's bandwidth by: 2 (K-1)/K for an all-reduce.

    Source: github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md. Section 3.8.

    >>> factor("all-reduce", 8), factor("all-gather", 8), factor("broadcast", 8)
    (1.75, 0.875, 1.0)
    """
    name = named(collective)
    return 1.0 if name == "send" else bus_factor(workers, name)


def per_byte(collective: str, algorithm: str, workers: int) -> tuple[float, float]:
    """Rounds, and bytes through the busiest port for each byte of the message.

    Names are those of `models.algorithms`, those that `measure.collectives` notes of gloo, and
    "in switch" for an all-reduce that the switch adds up, `bandwidth.switch_bandwidth`. Section 3.8.

    >>> per_byte("all-reduce", "ring", 8), per_byte("all-reduce", "in switch", 8)
    ((14.0, 1.75), (2.0, 1.125))
    """
    collective = named(collective)
    if algorithm == "point to point" and collective == "send":
        return 1.0, 1.0
    if algorithm == IN_SWITCH and collective == "all-reduce":
        return 2.0, switch_bandwidth(1, 1, workers)
    if algorithm == "all-reduce by ring" and collective == "reduce-scatter":
        collective, algorithm = "all-reduce", "ring"
    known = [n for n in ALGORITHMS.get(collective, ()) if n != "double binary tree"]
    known += {"send": ["point to point"], "all-reduce": [IN_SWITCH]}.get(collective, [])
    known += ["all-reduce by ring"] * (collective == "reduce-scatter")
    if not isinstance(algorithm, str) or algorithm not in known:
        raise Refusal(
            f"algorithm must be one of {', '.join(known)} for {collective}, got {shown(algorithm)}: "
            "the rounds of others depend on the network, so leave it out where it is not known"
        )
    # What an empty message costs in latencies, and one byte where latencies are free.
    rounds = seconds(0, workers, Network(alpha=1, beta=1), collective, algorithm)
    return rounds, seconds(1, workers, Network(alpha=0, beta=1), collective, algorithm)
