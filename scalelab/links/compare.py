"""A fit of a sweep against least squares in seconds (Section 3.8).

Least squares in seconds is decided by the largest message, whose error of a few percent is larger
than any latency.
"""

import numpy as np

from scalelab.arguments import real
from scalelab.links.sweep import Sweep


def least_squares(sweep: Sweep, noise: float = 0.02) -> tuple[float, float, float]:
    """What not to do: latency and seconds per byte by least squares in seconds, and a chance.

    It is the chance that the latency comes out negative when the sweep is measured again with that
    much noise: the latency is a weighted sum of the times, and the largest brings its percents along.
    Where larger messages get a better bandwidth, as they do in published sweeps, the line through
    the largest meets the axis far above the small ones instead. Section 3.8.

    >>> from scalelab.links.sweep import Sweep
    >>> latency, _, chance = least_squares(Sweep.published("nccl_allreduce_8xH200_payload"), 0.05)
    >>> f"{latency * 1e6:.0f} us where 40 were measured; negative in {chance:.0%} of repetitions"
    '93 us where 40 were measured; negative in 18% of repetitions'
    """
    from scipy.special import ndtr

    noise = real("noise", noise, "it is the relative error of one row", 0, 1, above=True)
    design = np.stack([np.ones_like(sweep.size), sweep.size], axis=1)
    largest = design.max(0)
    weights = np.linalg.pinv(design / largest) / largest[:, None]
    latency, per_byte_ = weights @ sweep.seconds
    error = np.linalg.norm(weights[0] * noise * sweep.seconds)
    return float(latency), float(per_byte_), float(ndtr(-latency / error))
