"""What may be recommended, and which of it is: what misses a limit, the Pareto set, the choice.

A row ranks only if it passes the gate. Of those that meet every constraint the fastest is chosen; under
a deadline, or another demand on speed, the cheapest. Ties go to the better other half, then to fewer
workers, so that no chosen row is dominated.
"""

from collections.abc import Iterable, Sequence

from scalelab.rubric.report import Constraints, Scores

_HAIR = 1e-9  # relative: what rounding may do to a product


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
