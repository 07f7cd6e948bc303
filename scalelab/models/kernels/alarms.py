"""Measured results that cannot be, each with the mistakes that usually make it (Section 3.7)."""

import math

from scalelab.arguments import real
from scalelab.models.choice import chosen
from scalelab.models.kernels import roofline
from scalelab.units import alike, text

CPU, GPU = ("cpu",), ("gpu",)
DEVICES = CPU + GPU
_SYNCHRONIZE = "a missing synchronize: the clock stopped at the launch, not at the end"
# With the largest factor above the peak that each explains, and where it can happen.
_OVER_THE_PEAK = (
    (2.0, GPU, "a dense peak drawn for sparse work, or FLOPs counted that a mask skipped"),
    (2.0, CPU, "FLOPs counted that a mask skipped"),
    (
        2.5,
        CPU,
        "a CPU's peak at its base clock, which it runs above while it has power to: give `boost`",
    ),
    (
        1.3,
        DEVICES,
        "zeros as data: they draw less power, so a chip clocks higher than while its roof was measured",
    ),
    (
        math.inf,
        DEVICES,
        "the peak of another number format, such as float32 drawn where TF32 ran",
    ),
    (math.inf, GPU, _SYNCHRONIZE),
)
_OVER_THE_SLOPE = (
    (
        DEVICES,
        "cached data: the working set fits a faster level than the one whose roof is drawn",
    ),
    (
        DEVICES,
        "bytes counted that never moved, such as an operand that stayed on chip or was named twice",
    ),
    (DEVICES, "a slope measured by copies, which also fetch the lines that they overwrite"),
    (GPU, _SYNCHRONIZE),
)


def over_the_roof(
    achieved: float,
    intensity: float,
    peak: float,
    bandwidth: float,
    tolerance: float = 0.02,
    boost: float = 1.0,
    device: str | None = None,
) -> str | None:
    """None for a point under its roof; for one above, a sentence with the likely reasons.

    The tolerance covers the noise of two measurements. `device`, "cpu" or "gpu", leaves out what
    cannot happen there. `boost` is for a CPU's peak from a data sheet,
    which counts its base clock: the top clock over that, from `hardware.boost`. Zeros gain about a
    seventh on an A100: He 2024, https://www.thonking.ai/p/strangely-matrix-multiplications. Section 3.7.

    >>> over_the_roof(780e12, 2000, 989e12, 3.35e12) is None
    True
    >>> "dense peak drawn for sparse work" in over_the_roof(1500e12, 2000, 989e12, 3.35e12)
    True
    """
    if device is not None:
        chosen("device", device, dict.fromkeys(DEVICES))
    tolerance = real("tolerance", tolerance, "it is the noise you allow, as a fraction", 0, 1)
    boost = real("boost", boost, "it is the top clock over the clock of the peak", 1, 10)
    achieved = real("achieved", achieved, "it is one measured rate, in FLOP/s", 0)
    peak = boost * real("peak", peak, "it is the peak in FLOP/s, dense", 0, above=True)
    roof = real(
        "roof",
        roofline.attainable(intensity, peak, bandwidth),
        "it is min(peak, bandwidth x intensity) of one kernel, in FLOP/s",
        0,
        above=True,
    )
    # Sparsity, masks and clocks lift the flat roof, so their factors are measured from there.
    over = achieved / peak
    reasons = [
        (where, why) for most, where, why in _OVER_THE_PEAK if over <= most * (1 + tolerance)
    ]
    boosted = f"its clock boosted {boost:g} times, " if boost > 1 else ""
    above = reasons if over > 1 + tolerance else _OVER_THE_SLOPE
    return _alarm(achieved, roof, "FLOP/s", above, tolerance, device, boosted)


def over_the_slope(
    moved: float, bandwidth: float, tolerance: float = 0.02, device: str | None = None
) -> str | None:
    """As `over_the_roof`, for a kernel without arithmetic: the bytes per second that it moved.

    >>> over_the_slope(3.2e12, 3.35e12) is None
    True
    >>> "cached data" in over_the_slope(5.5e12, 3.35e12)
    True
    """
    if device is not None:
        chosen("device", device, dict.fromkeys(DEVICES))
    tolerance = real("tolerance", tolerance, "it is the noise you allow, as a fraction", 0, 1)
    bandwidth = real("bandwidth", bandwidth, "it is in bytes per second", 0, above=True)
    moved = real("moved", moved, "it is one measured rate, in bytes per second", 0)
    return _alarm(moved, bandwidth, "B/s", _OVER_THE_SLOPE, tolerance, device)


def _alarm(rate, roof, unit, reasons, tolerance, device, boosted=""):
    over = rate / roof
    if over <= 1 + tolerance:
        return None
    possible = [why for where, why in reasons if device is None or device in where]
    of_rate, of_roof = alike([rate, roof], unit, among=[roof])
    return (
        f"{of_rate} is {text(over)} times its roof of {of_roof}, "
        f"{boosted}and nothing runs above its roof. Look for {'; '.join(possible)}."
    )
