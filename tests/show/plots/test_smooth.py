"""What a formula draws is a curve: no corner of it is seen."""

import numpy as np
import pytest

from scalelab.show import draw
from scalelab.show.plots import speedup, study

JOB = {"fixed": 0.02, "sample": 0.002, "critical": 8192.0, "least_steps": 10_000.0}
CURVES = {
    "two verdicts": lambda: speedup.two_verdicts(0.05),
    "two lenses": lambda: study.lenses(0.5),
    "steps and samples": lambda: study.batch_trade(10_000, 20_480_000, 2 ** np.arange(7, 16)),
    "more data": lambda: study.more_data(4, **JOB),
}
WIDE, HIGH = 330, 220  # points of the paper within the axes, about
MOST = 8  # degrees that two neighboring pieces may differ by: with a dozen points it is 9 to 27


def places(axis, values, size):
    """Return where values lie on the paper."""
    low, high, values = (
        np.log10(one) if axis.log else one for one in (axis.low, axis.high, values)
    )
    return size * (values - low) / (high - low)


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_of_a_formula_has_no_corner(name):
    chart = CURVES[name]()
    x, y = draw.limits([chart])
    for one in chart.series:
        if one.kind in ("line", "dashed"):
            steps = np.diff([places(x, one.x, WIDE), places(y, one.y, HIGH)])
            turns = np.diff(np.unwrap(np.arctan2(steps[1], steps[0])))
            assert np.degrees(abs(turns)).max() < MOST, one.label
