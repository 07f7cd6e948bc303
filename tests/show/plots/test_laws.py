"""The charts of section 3.5."""

import numpy as np
import pytest

from scalelab.show.plots import laws


def test_the_staircase_goes_from_the_ideal_to_the_measurement_and_each_stair_starts_where_the_last_ended():
    chart = laws.losses(2, {"waiting": 1.7, "idle": 1.8, "compute": 1.5}, 1.6)
    stairs = chart.series[1]
    assert stairs.y.tolist() == [1.7, 1.8, 1.5, 1.6]
    assert stairs.names == ("less waiting", "less idle", "less compute", "measured")
    begins = [2, *stairs.y[:2]]
    spans = np.sort([begins, stairs.y[:3]], axis=0)
    assert stairs.low[:3] == pytest.approx(spans[0])
    assert stairs.high[:3] == pytest.approx(spans[1])
    assert stairs.low[3] == stairs.high[3] == 1.6


def test_a_fitted_curve_passes_through_what_was_measured_and_through_its_corners():
    chart = laws.fitted("t", [1, 3, 50], [1, 2, 3], {"law": np.log1p}, "rate", corners=(7.3,))
    line = chart.series[0]
    assert set(line.x) >= {1, 3, 7.3, 50}
    assert line.y == pytest.approx(np.log1p(line.x))
