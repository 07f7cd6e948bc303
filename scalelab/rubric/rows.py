"""What a rubric judges: the configurations of one study, from columns, a table or recorded passes.

All four metrics are asked of every row. Replicates of a size are put together: the median of times
and joules, the mean of qualities.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scalelab.arguments import real, shown, whole
from scalelab.records import Machine, Pass, Passes, Stamp
from scalelab.refusal import Refusal
from scalelab.rubric.agreement import agree
from scalelab.tables import sizes
from scalelab.units import counted

# One entry per run, None where it was not measured.
Cells = Iterable[float | None]
BY_HAND = "a table made by hand"
UNBOUND = "nothing binds its rows to one pass"
MOST = 1e30  # products of two still fit a float
_MEANINGS = {
    "seconds": "it is the time of the work",
    "quality": "it is of the same run as the time",
    "rate": "it is in dollars per hour, of all workers together",
    "work": "it counts the useful results of the run",
    "joules": "it is the energy of the run",
    "exposed": "it is the part of the time that only communication took",
    "latency": "it is the time of a single result",
    "epochs": "it is the training that the target took, in epochs or samples",
}


@dataclass(frozen=True)
class Configuration:
    """All runs of one worker count."""

    workers: int
    times: tuple[float, ...]
    qualities: tuple[float, ...]
    rate: float
    work: float
    seeds: tuple[str, ...] = ()  # of the qualities, in their order; empty where the runs have none
    joules: float | None = None
    exposed: float | None = None
    latency: float | None = None
    epochs: float | None = None  # of training, until the target was reached

    @property
    def seconds(self) -> float:
        """The median of the runs."""
        return statistics.median(self.times)

    @property
    def quality(self) -> float:
        """The mean of the runs."""
        return statistics.fmean(self.qualities)


@dataclass(frozen=True)
class Measured:
    """The configurations of one study, by ascending worker count."""

    configurations: tuple[Configuration, ...]
    name: str
    stamp: Stamp
    metric: str = "quality"
    better: str = "higher"
    work_stated: bool = True  # else one run is the unit of work
    varied: tuple[str, ...] = ()  # what changed with the workers on purpose
    bound: bool = False  # by passes, not by hand
    command: str = ""  # what `scalelab run` ran for every row, where it wrote them

    @property
    def scaling(self) -> str:
        """Whether "strong" or "weak", or "neither": what the work did as workers were added."""
        return sizes.fixed([(size.workers, size.work) for size in self.configurations])


def columns(
    workers: Iterable[int],
    seconds: Iterable[float],
    rate: Iterable[float],
    quality: Iterable[float],
    *,
    work: float | Iterable[float] | None = None,
    joules: Cells | None = None,
    exposed: Cells | None = None,
    latency: Cells | None = None,
    epochs: Cells | None = None,
    seed: Iterable[object] | None = None,
    better: str = "higher",
    metric: str = "quality",
    name: str = "runs",
    flat_rate: bool = False,
    stamp: Stamp | None = None,
) -> Measured:
    """Rows given as columns, one entry per run; `work` may be one number for all. Section 41.6.

    Runs of the same seeds, where `seed` says so, are compared with each other. `epochs` is for runs to
    a target: how much training it took, in epochs or samples. `stamp` says where the rows are from.

    >>> rows = columns([1, 2, 2], [60, 32, 34], rate=[1, 2, 2], quality=[0.9, 0.9, 0.8], work=600)
    >>> rows.configurations[1].seconds, round(rows.configurations[1].quality, 2)
    (33.0, 0.85)
    """
    given: dict[str, object] = {
        "workers": workers,
        "seconds": seconds,
        "quality": quality,
        "rate": rate,
    }
    given |= {
        "work": work,
        "joules": joules,
        "exposed": exposed,
        "latency": latency,
        "epochs": epochs,
    }
    given["seed"] = seed
    length = len(_listed("workers", workers))
    listed = {n: _listed(n, v, length) for n, v in given.items() if v is not None}
    for needed in ("seconds", "quality", "rate"):
        if needed not in listed:
            raise Refusal(f"{needed} must be given for every row, got none: measure it too")
    cells = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
    places = [f"row {i}" for i in range(1, length + 1)]
    return measured(
        cells, places, name=name, metric=metric, better=better, flat_rate=flat_rate,
        stamp=stamp or by_hand(), work_stated=work is not None,
    )  # fmt: skip


def of_passes(
    passes: Passes | Pass | Sequence[Pass], *, price: float | None = None, flat_rate: bool = False
) -> Measured:
    """Rows recorded by `one_pass`: refused where they are not of one study. Section 41.6.

    `price` is in dollars per worker and hour, for passes that state no rate; with `flat_rate` it is
    that of all workers together, however many.
    """
    title, given = "passes", passes
    if isinstance(passes, Passes):
        title, given = passes.title, passes.passes
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if not listed or not all(isinstance(run, Pass) for run in listed):
        raise Refusal(
            f"passes must be records of one_pass, at least one, got {shown(passes)}: "
            "take them with `scalelab capstone --out`"
        )
    for number, run in enumerate(listed, 1):
        if not run.intact:
            raise Refusal(
                f"pass {number} must be as one_pass sealed it, got other values: it was edited or "
                "made by hand, so hand in the file that was written, or a table"
            )
    if price is not None and all(run.rate is not None for run in listed):
        raise Refusal(
            f"price must go with rows that state no rate, got {price:g} beside a rate in each: drop it, or "
            "measure with another"
        )
    varied = agree(listed)
    cells = [
        {"workers": run.workers, "seconds": run.seconds, "quality": run.quality, "work": run.work}
        | {"rate": priced(run.rate, price, run.workers, flat_rate), "joules": run.joules}
        | {"exposed": run.exposed, "latency": run.latency, "seed": run.seed}
        for run in listed
    ]
    first = listed[0]
    return measured(
        cells, [f"pass {i}" for i in range(1, len(cells) + 1)], name=title, metric=first.metric,
        better=first.better, flat_rate=flat_rate, stamp=first.stamp,
        work_stated=any(run.work is not None for run in listed), varied=varied, bound=True,
    )  # fmt: skip


def priced(
    rate: float | None, price: float | None, workers: int, flat_rate: bool = False
) -> float | None:
    """The rate of a row: its own, or that of so many workers, or the same of any number.

    >>> priced(None, 5.0, 8), priced(None, 5.0, 8, flat_rate=True), priced(3.0, 5.0, 8)
    (40.0, 5.0, 3.0)
    """
    if rate is not None or price is None:
        return rate
    meaning = "it is in dollars per worker and hour"
    return real("price", price, meaning, 0, MOST, above=True) * (1 if flat_rate else workers)


def by_hand() -> Stamp:
    """The stamp of a table that nobody's pass produced."""
    return Stamp("recorded", Machine(BY_HAND, None), note=UNBOUND)


def measured(
    cells: Iterable[Mapping[str, Any]],
    places: Iterable[str],
    *,
    better: str,
    flat_rate: bool,
    work_stated: bool,
    **about: Any,
) -> Measured:
    """Check every row, told by its place, and put the runs of a size together."""
    if better not in ("higher", "lower"):
        raise Refusal(f"better must be higher or lower, got {shown(better)}: which is good?")
    groups: dict[int, list[tuple[dict[str, Any], str]]] = {}
    for cell, place in zip(cells, places, strict=True):
        row = _checked(cell, place, work_stated)
        groups.setdefault(row["workers"], []).append((row, place))
    if len(groups) < 2:
        raise Refusal(
            f"rows must be of at least two worker counts, got {len(groups)}: "
            "a single size shows no scaling, so measure the baseline too"
        )
    configurations = tuple(_together(k, groups[k]) for k in sorted(groups))
    if (
        not flat_rate
        and sizes.fixed([(size.workers, size.rate) for size in configurations]) == "strong"
    ):
        raise Refusal(
            "rate must be the price of all workers together, got about the same for "
            f"{configurations[0].workers} and {configurations[-1].workers} workers: multiply a "
            "price per worker by the workers, or say flat_rate where it truly stays"
        )
    return Measured(configurations, better=better, work_stated=work_stated, **about)


def _checked(cell, place, work_stated):
    """Return the row with every number checked, or refuse it by its place."""
    row: dict[str, Any] = {
        "workers": whole(f"workers of {place}", cell.get("workers"), "it counts workers")
    }
    for name in ("seconds", "quality", "rate", *(["work"] if work_stated else [])):
        if cell.get(name) is None:
            raise Refusal(
                f"{name} must be given for every row, got none in {place}: a row is judged by time, "
                "quality and cost of one pass, so measure what is missing, or leave the row out"
            )
    for name, meaning in _MEANINGS.items():
        value, positive = cell.get(name), name in ("seconds", "rate", "work", "epochs")
        if value is None:
            continue
        low = -MOST if name == "quality" else 1e-30 if positive else 0
        row[name] = real(f"{name} of {place}", value, meaning, low, MOST)
    return row | {"seed": "" if cell.get("seed") is None else str(cell["seed"])}


def _together(workers, rows):
    """Put the runs of one size together."""
    for name in ("rate", "work"):
        values = [row.get(name, 1.0) for row, _ in rows]
        if max(values) > (1 + 1e-9) * min(values):
            raise Refusal(
                f"{name} must be the same in all runs of {counted(workers)}, got {min(values):g} and "
                f"{max(values):g} ({rows[0][1]} and others): replicates differ in nothing but chance"
            )

    def middle(name):
        known = [row[name] for row, _ in rows if name in row]
        return statistics.median(known) if len(known) == len(rows) else None

    first = rows[0][0]
    seeds = [row["seed"] for row, _ in rows]
    if all(seeds) and len(set(seeds)) == len(seeds):
        rows = sorted(rows, key=lambda run: run[0]["seed"])
        seeds = sorted(seeds)
    else:
        seeds = []
    return Configuration(
        workers,
        tuple(row["seconds"] for row, _ in rows),
        tuple(row["quality"] for row, _ in rows),
        first["rate"],
        first.get("work", 1.0),
        tuple(seeds),
        *(middle(name) for name in ("joules", "exposed", "latency", "epochs")),
    )


def _listed(name, given, length=None):
    if name == "work" and length and not hasattr(given, "__len__"):
        return [given] * length
    try:
        listed = list(given)
    except TypeError:
        listed = None
    if (
        isinstance(given, (str, bytes, dict))
        or not listed
        or len(listed) != (length or len(listed))
    ):
        expected = f"{length} entries" if length else "at least one entry"
        raise Refusal(
            f"{name} must be a column of {expected}, got {shown(given)}: give one number per run"
        )
    return listed
