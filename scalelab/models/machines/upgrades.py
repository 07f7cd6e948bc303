"""The same jobs on a machine and on its successor, as MLPerf published them (Section 3.2).

Between the two only the memory changed, in size and in speed; upgrades.json names its source.
"""

import json
import math
import statistics
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_TIMES = 2  # standard errors to either side


@dataclass(frozen=True)
class Upgrade:
    """One job on both machines: the minutes of every run, and what its settings did."""

    job: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    setting: str

    @property
    def gain(self) -> float:
        """How many times as fast it became: by means that leave out the fastest and the slowest run."""
        return _mean(self.before) / _mean(self.after)

    @property
    def error(self) -> float:
        """How far off the gain may be: two standard errors, from the spread of the runs."""
        shares = (
            statistics.stdev(r) / _mean(r) / math.sqrt(len(r)) for r in (self.before, self.after)
        )
        return _TIMES * self.gain * math.hypot(*shares)


@cache
def _written() -> dict[str, Any]:
    """Return the published document, with its title, date and source."""
    text = resources.files("scalelab.data").joinpath("upgrades.json").read_text(encoding="utf-8")
    return json.loads(text)


def published_upgrades() -> tuple[Upgrade, ...]:
    """Return the jobs that were published on eight H100 and on eight H200, the greatest gain first.

    Source: upgrades.json, MLPerf Training v4.0. Section 3.2.

    >>> [f"{one.gain:.2f}" for one in published_upgrades()][:2]
    ['1.46', '1.14']
    """
    jobs = [
        Upgrade(one["job"], tuple(one["before"]), tuple(one["after"]), one["setting"])
        for one in _written()["jobs"]
    ]
    return tuple(sorted(jobs, key=lambda one: one.gain, reverse=True))


def _mean(minutes):
    """Without the fastest and the slowest run, as MLPerf scores; of 3D U-Net it drops four each."""
    return statistics.fmean(sorted(minutes)[1:-1])
