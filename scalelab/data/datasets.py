"""Public scaling results: 143 series that others measured, each with its source and its traps.

public_scaling.csv holds the numbers, one value per row; public_scaling.json says of each series what
was counted, what was held fixed and what it teaches.
"""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from scalelab.arguments import meant, shown
from scalelab.refusal import Refusal

# In seconds; every other unit of a main metric is a rate.
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Column:
    """Another quantity of the same rows."""

    metric: str
    unit: str
    values: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class Series:
    """One published series: values over worker counts, as printed."""

    name: str
    workers: tuple[int, ...]
    values: tuple[float, ...]
    metric: str
    unit: str  # as printed; `seconds` converts
    source: str
    note: str  # the system it was measured on
    counted: str  # what a worker is: GPUs, nodes, threads, users
    scaling: str  # what was held fixed: "strong", "weak", "load" (more users, same machine), or ""
    claimed: str  # what the source calls it, where it says so
    group: str  # series that share this word are of one program or system, and not independent
    teaches: str
    traps: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    remarks: tuple[str, ...] = ()  # on single values

    @property
    def seconds(self) -> tuple[float, ...] | None:
        """The values in seconds where they are times, else None.

        >>> load("deepspeed_bert_large").seconds[0]
        119592.0
        """
        factor = _TIMES.get(self.unit)
        return None if factor is None else tuple(v * factor for v in self.values)

    @property
    def throughput(self) -> tuple[float, ...] | None:
        """How much all workers together get done per time, where the values say so, else None.

        A rate per worker is multiplied by the workers of its row.

        >>> series = load("pytorch_ddp_weak_bert_issue17159")
        >>> series.values, series.throughput
        ((122.0, 115.0, 111.0, 110.0, 80.0), (122.0, 230.0, 444.0, 880.0, 1280.0))
        """
        if self.metric == "rate_per_worker":
            return tuple(v * k for v, k in zip(self.values, self.workers, strict=True))
        # A bus bandwidth is constructed not to grow with the workers, and a utilization is a share.
        return self.values if self.metric in ("throughput", "aggregate_pflops") else None

    @property
    def quality(self) -> Column | None:
        """What was evaluated in the same runs, the first of it, or None."""
        return next((c for c in self.columns if c.metric.startswith("quality")), None)

    def column(self, metric: str) -> tuple[float, ...] | None:
        """Return the values of another quantity of the same rows, or None.

        >>> load("nv_bert_tf2_a100_seq128_fp16").column("global_batch_size")
        (79872.0, 79872.0, 79872.0, 79872.0)
        """
        return next((c.values for c in self.columns if c.metric == metric), None)


def names() -> tuple[str, ...]:
    """Return the names of all series.

    >>> len(names()), names()[0]
    (143, 'usl_raytracer')
    """
    return tuple(_all())


def load(name: str) -> Series:
    """Return the series of this name.

    >>> series = load("sysbench_cpu")
    >>> series.workers[:4], series.unit, series.traps[0][:23]
    ((1, 2, 4, 8), 'events/s', 'A hard cap at 3.3 times')
    """
    if not isinstance(name, str) or name not in _all():
        remedy = meant(name, _all(), "datasets.names() lists them")
        raise Refusal(
            f"name must be one of the {len(_all())} bundled series, got {shown(name)}: {remedy}"
        )
    return _all()[name]


@cache
def _all() -> dict[str, Series]:
    rows: dict[str, dict[str, list[dict[str, str]]]] = {}
    for row in csv.DictReader(_text("public_scaling.csv").splitlines()):
        rows.setdefault(row["dataset"], {}).setdefault(row["metric"], []).append(row)
    descriptions = json.loads(_text("public_scaling.json"))
    return {name: _series(name, dict(about), rows[name]) for name, about in descriptions.items()}


def _series(name: str, about: dict[str, Any], metrics: dict[str, list[dict[str, str]]]) -> Series:
    main = metrics.pop(about["metric"])
    return Series(
        name=name,
        workers=tuple(int(row["p"]) for row in main),
        values=_values(main),
        unit=main[0]["unit"],
        source="; ".join(dict.fromkeys(row["source"] for row in main)),
        counted=about.pop("workers"),
        traps=tuple(about.pop("traps")),
        columns=tuple(
            Column(metric, of[0]["unit"], _values(of), of[0]["note"])
            for metric, of in metrics.items()
        ),
        remarks=tuple(f"at {row['p']}: {row['note']}" for row in main if row["note"]),
        **about,
    )


def _values(rows: Iterable[dict[str, str]]) -> tuple[float, ...]:
    return tuple(float(row["value"]) for row in rows)


def _text(file: str) -> str:
    return (resources.files(__package__) / file).read_text(encoding="utf-8")
