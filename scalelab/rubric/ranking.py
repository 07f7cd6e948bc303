"""What may be recommended, and which of it is: constraints, the Pareto set, the choice.

A row ranks only if it passes the gate. Of those that meet every constraint the fastest is chosen; under
a deadline, or another demand on speed, the cheapest. Ties go to the better other half, then to fewer
workers, so that no chosen row is dominated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scalelab.arguments import real, shown
from scalelab.refusal import Refusal

if TYPE_CHECKING:
    from scalelab.rubric.report import Scores

PREFERENCES = ("fastest", "cheapest")
_HAIR = 1e-9  # relative: what rounding may do to a product


@dataclass(frozen=True)
class Constraints:
    """What a configuration must keep; None asks for nothing."""

    floor: float = 0.70  # least efficiency
    tolerance: float = 0.005  # of quality, in its own unit
    deadline: float | None = None  # most seconds of the run
    budget: float | None = None  # most dollars of the run
    latency: float | None = None  # most seconds of a single result
    throughput: float | None = None  # least useful results per second
    joules: float | None = None  # most joules of the run
    grams: float | None = None  # most grams of CO2 of the run
    prefer: str | None = None  # "fastest" or "cheapest"; None lets the limits say

    def __post_init__(self) -> None:
        real("floor", self.floor, "it is the least efficiency, as a fraction", 0, 1)
        real("tolerance", self.tolerance, "it is the loss of quality that is accepted", 0)
        for name in ("deadline", "budget", "latency", "throughput", "joules", "grams"):
            if (value := getattr(self, name)) is not None:
                real(name, value, "leave it out to ask for nothing", 0, above=True)
        if self.prefer is not None and self.prefer not in PREFERENCES:
            raise Refusal(
                f"prefer must be fastest or cheapest, got {shown(self.prefer)}: choose one"
            )

    @property
    def objective(self) -> str:
        """What the choice is by: a demand on speed makes it the price, else it is speed."""
        if self.prefer:
            return self.prefer
        demands = (self.deadline, self.latency, self.throughput)
        return "cheapest" if any(d is not None for d in demands) else "fastest"


def missed(row: Scores, limits: Constraints) -> tuple[str, ...]:
    """The names of the constraints that a row does not meet; what was not measured is not met.

    The quality gate is not one of them: a row that does not pass it is out of every ranking.
    """
    names = ["floor"] if row.efficiency < limits.floor * (1 - _HAIR) else []
    least = {"throughput": row.throughput}
    most = {
        "deadline": row.seconds,
        "budget": row.cost,
        "latency": row.latency,
        "joules": row.joules,
        "grams": row.grams,
    }
    for name, value in most.items():
        limit = getattr(limits, name)
        if limit is not None and (value is None or value > limit * (1 + _HAIR)):
            names.append(name)
    for name, value in least.items():
        limit = getattr(limits, name)
        if limit is not None and value < limit * (1 - _HAIR):
            names.append(name)
    return tuple(names)


def pareto(rows: Sequence[Scores]) -> list[Scores]:
    """The rows that no other beats in time to the same work and in its cost.

    >>> from types import SimpleNamespace as Row
    >>> rows = [Row(time=9, cost_per_work=1), Row(time=5, cost_per_work=2), Row(time=6, cost_per_work=3)]
    >>> [row.time for row in pareto(rows)]
    [9, 5]
    """
    return [row for row in rows if not any(_beats(other, row) for other in rows)]


def _beats(row: Scores, other: Scores) -> bool:
    no_worse = row.time <= other.time and row.cost_per_work <= other.cost_per_work
    return no_worse and (row.time < other.time or row.cost_per_work < other.cost_per_work)


def choice(rows: Iterable[Scores], objective: str) -> Scores | None:
    """The fastest or the cheapest of some rows, or None."""
    orders = {
        "fastest": lambda row: (row.time, row.cost_per_work, row.workers),
        "cheapest": lambda row: (row.cost_per_work, row.time, row.workers),
    }
    return min(rows, key=orders[objective], default=None)
