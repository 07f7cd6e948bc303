"""Published jobs on two machines that differ in their memory."""

import json
import statistics
from importlib import resources

import pytest

from scalelab.models.machines import hardware, upgrades

FASTER = hardware.device("H200 SXM").bandwidth / hardware.device("H100 SXM").bandwidth


def test_the_gains_are_ratios_of_means_without_the_extreme_runs():
    text = resources.files("scalelab.data").joinpath("upgrades.json").read_text(encoding="utf-8")
    for one in json.loads(text)["jobs"]:
        (ours,) = (u for u in upgrades.published_upgrades() if u.job == one["job"])
        inner = [statistics.mean(sorted(one[when])[1:-1]) for when in ("before", "after")]
        assert ours.gain == pytest.approx(inner[0] / inner[1])


def test_what_only_a_faster_memory_could_give_is_exceeded_only_where_more_fits():
    """A gain above the ratio of the bandwidths needs another cause: bytes on a faster rung."""
    above = [one for one in upgrades.published_upgrades() if one.gain > FASTER]
    assert [one.job for one in above] == ["graph network (R-GAT)"]
    assert above[0].setting != "the same settings"


def test_the_error_is_two_standard_errors_of_a_ratio():
    """Against a bootstrap of the runs."""
    import numpy as np

    rng = np.random.default_rng(4)
    one = upgrades.Upgrade("", tuple(rng.normal(20, 1, 40)), tuple(rng.normal(10, 0.5, 40)), "")
    means = [
        np.sort(rng.choice(one.before, 40))[1:-1].mean()
        / np.sort(rng.choice(one.after, 40))[1:-1].mean()
        for _ in range(4000)
    ]
    assert one.error == pytest.approx(2 * np.std(means), rel=0.25)
