"""What crosses each rung of the way out of a device, per training step (Section 3.2).

Its memory, the fast link, the network card: each is slower than the one before it, so what a step must
move decides how far out it may be split. Counted for a transformer whose layers are split over the devices
of a box, with a copy of it in each box.
"""

from dataclasses import dataclass

from scalelab.arguments import real, whole
from scalelab.models.checking import Answer, Numbers, answer, numbers
from scalelab.models.choice import MOST, instance
from scalelab.models.machines.hardware import Node

_PARAMETERS = "it counts the weights of the model"
_SPLIT = "it counts the devices over which each layer is split"
_WIDTH = "it is the bytes of one number: 2 in bf16"
_TOKENS = "it counts the tokens that a copy of the model takes in a step"
_ALL_REDUCES = 4  # in a layer: two on the way forward, two on the way back


@dataclass(frozen=True)
class Crossing:
    """What a step sends over one rung: bytes of one device, and the bytes per second of its share."""

    what: str
    rung: str
    size: float
    rate: float
    outside: bool  # of the box

    @property
    def seconds(self) -> float:
        """How long it takes, alone on its rung."""
        return self.size / self.rate


def crossings(
    node: Node,
    parameters: float,
    tokens: float,
    hidden: float,
    layers: float,
    copies: int,
    apart: bool = False,
) -> tuple[Crossing, ...]:
    """What one device of a box sends in a step, and over which rung; layers split over as many as a box has.

    Where the devices of a split stand `apart`, each in another box, activations take the network card.
    Source: `weights_read`, `activations_sent`, `gradients_sent`. Section 3.2.

    >>> from scalelab.models.machines import hardware
    >>> usual = crossings(hardware.node("DGX H100"), 70e9, 4096, 8192, 80, copies=16)
    >>> [(one.what, one.rung, round(1e3 * one.seconds)) for one in usual]
    [('weights', 'memory', 10), ('activations', 'NVLink', 84), ('gradients', 'network card', 656)]
    """
    node = instance("node", node, Node, "take one from node(name)")
    parameters = real("parameters", parameters, _PARAMETERS, 0, above=True)
    tokens = real("tokens", tokens, _TOKENS, 0)
    hidden = real("hidden", hidden, "it counts the hidden units of a token", 1)
    layers = real("layers", layers, "it counts the layers of the transformer", 1)
    copies = whole("copies", copies, "it counts the copies of the model", 1, MOST)
    split, near, card = node.count, node.device.bandwidth, node.outside_bandwidth / node.count
    activations = activations_sent(tokens, hidden, layers, split)
    way = ("network card", card) if apart else ("NVLink", node.inside.bandwidth)
    return (
        Crossing("weights", "memory", weights_read(parameters, split), near, False),
        Crossing("activations", way[0], activations, way[1], bool(apart)),
        Crossing(
            "gradients", "network card", gradients_sent(parameters, split, copies), card, True
        ),
    )


def weights_read(
    parameters: Numbers, split: Numbers, passes: Numbers = 2, width: Numbers = 2
) -> Answer:
    """Bytes of weights that a device reads from its memory: passes width N / split.

    Once on the way forward and once on the way back, for each micro-batch.
    Source: the definition of a format of that width. Section 3.2.

    >>> weights_read(70e9, split=8) / 1e9
    35.0
    """
    parameters = numbers("parameters", parameters, _PARAMETERS, 0, above=True)
    split = numbers("split", split, _SPLIT, 1)
    passes = numbers("passes", passes, "it counts how often all weights are read", 0)
    width = numbers("width", width, _WIDTH, 0, above=True)
    return answer(lambda n, k, p, w: p * w * n / k, parameters, split, passes, width)


def activations_sent(
    tokens: Numbers, hidden: Numbers, layers: Numbers, split: Numbers, width: Numbers = 2
) -> Answer:
    """Bytes that a device of a tensor split sends: 4 layers 2 (split - 1) / split tokens hidden width.

    Each layer adds up the activations of its devices twice forward and twice back, here by ring.
    Source: Narayanan et al. 2021, doi:10.1145/3458817.3476209, section 3.2. Section 3.2.

    >>> round(activations_sent(4096, hidden=8192, layers=80, split=8) / 1e9, 2)
    37.58
    """
    tokens = numbers("tokens", tokens, _TOKENS, 0)
    hidden = numbers("hidden", hidden, "it counts the hidden units of a token", 1)
    layers = numbers("layers", layers, "it counts the layers of the transformer", 1)
    split = numbers("split", split, _SPLIT, 1)
    width = numbers("width", width, _WIDTH, 0, above=True)

    def sent(t, h, n, k, w):
        return _ALL_REDUCES * n * _ring(k) * t * h * w

    return answer(sent, tokens, hidden, layers, split, width)


def gradients_sent(
    parameters: Numbers, split: Numbers, copies: Numbers, width: Numbers = 2
) -> Answer:
    """Bytes that a device sends to the other copies of its share: 2 (copies - 1) / copies width N / split.

    Once a step, however many tokens it takes.
    Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Section 3.2.

    >>> gradients_sent(70e9, split=8, copies=16) / 1e9
    32.8125
    """
    parameters = numbers("parameters", parameters, _PARAMETERS, 0, above=True)
    split = numbers("split", split, _SPLIT, 1)
    copies = numbers("copies", copies, "it counts the copies of the model", 1)
    width = numbers("width", width, _WIDTH, 0, above=True)
    return answer(lambda n, k, c, w: _ring(c) * w * n / k, parameters, split, copies, width)


def mean_seconds_per_byte(far: Numbers, near_rate: Numbers, far_rate: Numbers) -> Answer:
    """Mean time of a byte of which a share comes from farther out: (1 - far) / near_rate + far / far_rate.

    Source: Barroso, Hoelzle and Ranganathan 2018, doi:10.1007/978-3-031-01761-2, chapter 3. Section 3.2.

    >>> round(mean_seconds_per_byte(0.01, 3.35e12, 50e9) * 3.35e12, 2)  # a hundredth from outside
    1.66
    """
    far = numbers("far", far, "it is the share of the bytes that comes from outside", 0, 1)
    meaning = "it is in bytes per second and one direction"
    near_rate = numbers("near_rate", near_rate, meaning, 0, above=True)
    far_rate = numbers("far_rate", far_rate, meaning, 0, above=True)
    return answer(lambda f, near, out: (1 - f) / near + f / out, far, near_rate, far_rate)


def _ring(workers):
    """What a ring all-reduce sends of a message: 2 (K - 1) / K."""
    return 2 * (workers - 1) / workers
