"""What a recorded probe says: the roofs of a roofline, ready for `models.roofline`."""

from typing import Any

from scalelab.arguments import shown
from scalelab.records import Recording
from scalelab.refusal import Refusal


def rates(probe: Recording) -> dict[str, float]:
    """Return the sustained FLOP/s of each number format: the best over sizes; int8 counts its own.

    Section 3.7.

    >>> from scalelab import data
    >>> rates(data.recorded("probe")).keys() >= {"fp64", "fp32", "bf16"}
    True
    """
    return _best(probe, "format", "flops", phase="sustained")


def bandwidths(probe: Recording) -> dict[str, float]:
    """Return the bytes per second of each memory level, the fastest first: the best over sizes.

    Section 3.7.

    >>> from scalelab import data
    >>> list(bandwidths(data.recorded("probe")))
    ['L1d', 'L2', 'L3', 'DRAM']
    """
    return dict(sorted(_best(probe, "level", "bytes").items(), key=lambda one: -one[1]))


def launch(probe: Recording) -> float:
    """Return the seconds that starting a kernel, or an operation on a processor, takes.

    Section 3.7.

    >>> from scalelab import data
    >>> launch(data.recorded("probe")) < 1e-5
    True
    """
    return min(sample.median for sample in _of(probe, what="launch"))


def _best(probe, name, quantity, **wanted):
    """Return the highest quantity per second for each value of given[name]."""
    best: dict[Any, float] = {}
    for sample in _of(probe, **wanted):
        key = sample.given.get(name)
        if key and quantity in sample.given:
            best[key] = max(best.get(key, 0.0), sample.given[quantity] / sample.median)
    return best


def _of(probe, **wanted):
    samples = probe.samples if isinstance(probe, Recording) else ()
    if not any(sample.given.get("what") == "launch" for sample in samples):
        raise Refusal(
            f"probe must be a Recording made by measure.probe, got {shown(probe)}: take one, or use "
            'scalelab.data.recorded("probe")'
        )
    return [s for s in samples if all(s.given.get(k) == v for k, v in wanted.items())]
