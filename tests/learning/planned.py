"""What share of the peak kernels reach, and how far the plan is off: learned from published training runs.

A run is predicted with the share that the other systems teach, never with its own; a system's runs are not
independent and count as one. The band is judged the same way.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from scalelab.data import published as data
from scalelab.models.kernels import conventions, transformer
from scalelab.plan import file, step
from scalelab.plan.published import FALLBACK, LEVEL, kind

LEFT_OUT = Path(__file__).with_name("left_out.csv")


@dataclass(frozen=True)
class PublishedRun:
    """A published run: the plan it followed, and the seconds of its step."""

    name: str
    system: str
    job: file.Job
    workers: int
    seconds: float
    source: str
    note: str

    @property
    def device(self) -> str | None:
        """The kind of device, as in SHARES."""
        return kind(self.job.cluster.device)


@cache
def runs() -> tuple[PublishedRun, ...]:
    """Return all runs, read as a user's file is read."""
    return tuple(_run(told) for told in data.runs())


def _run(told):
    tables = {key: told[key] for key in ("model", "training", "layout")}
    cluster = {**told["cluster"], "largest": told["workers"]}
    job = file.described({**tables, "cluster": cluster}, told["name"])
    workers = told["workers"]
    return PublishedRun(
        told["name"],
        told["system"],
        job,
        workers,
        _seconds(job, workers, *told["reported"]),
        told["source"],
        told["note"],
    )


def _seconds(job, workers, value, unit):
    """Return the seconds of a step, from what was reported."""
    if unit == "s per step":
        return value
    tokens = job.batch * job.sequence
    if unit == "tokens/s":
        return tokens / value
    if unit == "TFLOP/s run per device":
        shape = job.shape
        flops = conventions.megatron(
            job.batch, job.sequence, shape.layers, shape.hidden, shape.vocabulary, "full"
        )
    else:
        flops = tokens * transformer.training_flops(job.shape, job.sequence)
    return flops / workers / (value * 1e12)


def left_out() -> list[tuple[PublishedRun, float]]:
    """Return the rows of MosaicML's three tables that taught nothing, each with planned over published.

    Every row from a billion parameters up, of the H100 those on one node; the layout is as in the others.
    """
    told = data.runs()
    first = {one["system"]: one for one in reversed(told)}
    shape = {
        one["name"].split()[1].rstrip(","): one["model"] for one in told if "MPT" in one["name"]
    }
    found = []
    for row in csv.DictReader(LEFT_OUT.open(encoding="utf-8")):
        like = first[row["system"]]
        layout = {"micro_batch": int(row["micro_batch"]), "recompute": row["recompute"]}
        run = _run(
            {
                **like,
                "name": f"MPT {row['model']}, {row['sequence']} tokens",
                "workers": int(row["workers"]),
                "model": shape[row["model"]],
                "training": {"sequence": int(row["sequence"]), "batch": int(row["batch"])},
                "layout": {**like["layout"], **layout},
                "reported": [float(row["tokens_per_second"]), "tokens/s"],
            }
        )
        share = shares(without=(run.system,))[run.device or FALLBACK]
        planned = step.time(run.job, run.job.layout, run.workers, share).seconds
        found.append((run, planned / run.seconds))
    return found


def needed(run: PublishedRun) -> float:
    """Return the share of the peak with which the model gives a run's time exactly."""
    from scipy.optimize import brentq

    def off(share):
        return step.time(run.job, run.job.layout, run.workers, share).seconds - run.seconds

    return 1.0 if off(1.0) > 0 else brentq(off, 0.01, 1.0, xtol=1e-6)


def shares(without: Collection[str] = ()) -> dict[str | None, float]:
    """Return {kind: share}: the median over systems of each system's median, some left out."""
    by_kind: defaultdict[str | None, defaultdict[str, list[float]]]
    by_kind = defaultdict(lambda: defaultdict(list))
    for run in runs():
        if run.system not in without:
            by_kind[run.device][run.system].append(_needed()[run.name])
    return {kind: median(median(s) for s in by.values()) for kind, by in by_kind.items()}


@cache
def _needed() -> dict[str, float]:
    return {run.name: needed(run) for run in runs()}


@cache
def errors() -> list[tuple[PublishedRun, float]]:
    """Return [(run, predicted seconds)], each with the share that the other systems teach."""
    predicted = []
    for run in runs():
        share = shares(without=(run.system,))[run.device]
        predicted.append((run, step.time(run.job, run.job.layout, run.workers, share).seconds))
    return predicted


def band(without: Collection[str] = ()) -> float:
    """Return the factor within which nine of ten runs lie, either way."""
    off = sorted(
        abs(math.log(predicted / run.seconds))
        for run, predicted in errors()
        if run.system not in without
    )
    return math.exp(off[math.ceil(LEVEL * len(off)) - 1])


def coverage() -> tuple[int, int, int]:
    """Return (inside, of, systems): runs within the band that the other systems teach."""
    inside = sum(
        abs(math.log(predicted / run.seconds)) <= math.log(band(without=(run.system,)))
        for run, predicted in errors()
    )
    return inside, len(runs()), len({run.system for run in runs()})
