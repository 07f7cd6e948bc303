"""Section 3.3: one cluster under two lenses, the problem that must grow, and what more samples buy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.scaling import statistical, study
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, doublings

MOST = 1024
# An invented job for the plane of workers and batch: seconds of a sample, samples that fit into one worker,
# and where its paths begin.
SAMPLE, FITS, BUSY = 0.002, 256, 0.8
START, BATCH = 8, 512
INNER, OUTER = 4, 16  # times the floor, within which what lies in a contour is done
FLEET = 2.0 ** np.arange(3, 13)  # 8 to 4096


def _seconds(workers, serial, exchange, parallel):
    """Return the time of a job in multiples of T(1), when its parallel part has grown."""
    return serial + exchange * np.log2(workers) + (1 - serial) * parallel / workers


def lenses(exponent: float, serial: float = 0.02, exchange: float = 0.005) -> Chart:
    """Efficiency of one cluster while the parallel work grows as a power of the workers."""
    workers = doublings(1, MOST, each=3)  # hundreds of frames hold them

    def efficiency(power):
        parallel = workers**power
        seconds = _seconds(workers, serial, exchange, parallel)
        growth = serial + (1 - serial) * parallel
        return study.scaled_speedup(1.0, seconds, growth) / workers, seconds

    own, seconds = efficiency(exponent)
    return Chart(
        f"Work that grows as K to the power {exponent:g}",
        Axis("workers K", log=True, ticks=tuple(POWERS[::2])),
        Axis("efficiency E(K)", low=0.0, high=1.05),
        (
            Points("strong: the work stays", workers, efficiency(0.0)[0], "dashed", tone=1),
            Points("weak: as much as workers", workers, efficiency(1.0)[0], "dashed", tone=3),
            Points("yours", workers, own, tone=2),
        ),
        {
            f"E at K = {MOST:,}": f"{own[-1]:.3f}",
            f"Time at K = {MOST:,}": f"{units.text(seconds[-1])} × T(1)",
            f"Parallel work at K = {MOST:,}": f"{units.text(float(MOST) ** exponent, digits=5)} times",
        },
        MODEL,
        "Your curve goes from the strong one to the weak one as the exponent goes from 0 to 1. Beyond that, "
        "the readout of the time says what the rest of the efficiency costs.",
    )


def both(
    title: str,
    strong: Mapping[int, float],
    weak: Mapping[int, float],
    stamp: Stamp | None = None,
    counted: str = "workers",
) -> Chart:
    """Measured efficiency over worker counts, once with fixed and once with growing work."""
    most = max([*strong, *weak])
    return Chart(
        title,
        Axis(f"{counted} K", log=True, ticks=tuple(sorted(strong))),
        Axis("efficiency over the first row", low=0.0, high=1.05),
        (
            Points("ideal", [min([*strong, *weak]), most], [1, 1], "dashed", tone=0),
            Points("strong: the work stays", [*strong], [*strong.values()], "joined", tone=1),
            Points("weak: the work grows", [*weak], [*weak.values()], "joined", tone=3),
        ),
        stamp=stamp,
        see="Only what was held fixed differs between the two curves. Each is relative to its own first row, "
        "so neither says how good that row was.",
    )


def pieces(
    measured: Mapping[float, float],
    line: tuple[float, float],
    published: Mapping[float, float],
    stamp: Stamp | None = None,
) -> Chart:
    """What a cell costs in a small piece: on one GPU, by the line through its steps, and in a strong study.

    `measured` has the time of a cell for pieces in GB, `line` the slope and the fixed part of a step, and
    `published` the efficiency of the study by the piece of a GPU; all begin with the same largest piece.
    """
    slope, fixed = line
    most, least = max(measured), min(*measured, *published)
    whole = slope + fixed / most
    sizes = np.unique([*np.geomspace(least, most, 40), *measured, *published])
    return Chart(
        "What a cell costs when the piece shrinks",
        Axis("GB on each GPU", log=True, ticks=(*sorted(published), most)),
        Axis(f"cost of a cell, over that in {most:g} GB", log=True, ticks=(1, 2, 4, 8, 16)),
        (
            Points("nothing stays", [least, most], [1, 1], "dashed", tone=0),
            Points("fit to one GPU", sizes, (slope + fixed / sizes) / whole, tone=1),
            Points(
                "one GPU, timed",
                [*measured],
                np.array([*measured.values()]) / whole,
                "points",
                tone=2,
            ),
            Points(
                "strong study: 1/E",
                [*published],
                1 / np.array([*published.values()]),
                "points",
                tone=3,
            ),
        ),
        stamp=stamp,
        see="In seconds of a step over GB the fit is a straight line; what a cell costs, as here, bends. It "
        "was made through the four points at the right alone, and the points of the strong study, which it "
        "has not seen, lie near it.",
    )


def share_to_keep(efficiency: float, seconds: float, sample: float) -> Chart:
    """Samples that each worker must have to keep an efficiency, for three ways in which an exchange grows."""
    workers = 2.0 ** np.arange(1, 13)
    levels: dict[str, Callable[[float], float]] = {
        "not at all": lambda k: 1,
        "with each doubling": np.log2,
        "with each worker": lambda k: k - 1,
    }
    series = []
    for tone, (name, level) in enumerate(levels.items(), 1):
        work = study.isoefficiency(workers, efficiency, _lost(seconds, level))
        series.append(Points(name, workers, work / sample / workers, "joined", tone=tone))
    return Chart(
        f"What a worker must hold to keep {efficiency:.0%}, by how the exchange grows",
        Axis("workers K", log=True, ticks=tuple(workers[::2])),
        Axis(
            "samples of a worker",
            log=True,
            low=0.8 * min(one.y.min() for one in series),
            high=1.5 * max(one.y.max() for one in series),
            ticks=(10, 100, 1_000, 10_000),
        ),
        tuple(series),
        stamp=MODEL,
        see="All three begin with the same exchange between two workers. The flat line is a job that "
        "has to grow as the workers do, and no faster; on the steepest each doubling of the workers more "
        "than doubles what each of them must hold.",
    )


def _lost(seconds, level):
    """What all workers together lose to an exchange that depends on their count alone."""
    return lambda work, workers: workers * seconds * level(workers)


def rates(
    title: str,
    workers: ArrayLike,
    rate: ArrayLike,
    batches: ArrayLike,
    stamp: Stamp | None = None,
    counted: str = "workers",
) -> Chart:
    """The rate of one worker in each row of a table, as a share of the first row's, by its batch."""
    workers, rate, batches = (np.asarray(one, float) for one in (workers, rate, batches))
    each, held = rate / workers, batches / workers
    relative = each / each[0]
    groups = dict.fromkeys(held)
    return Chart(
        title,
        Axis(f"{counted} K", log=True, ticks=tuple(workers)),
        Axis(
            f"rate of one {counted.removesuffix('s')}, over the first row",
            low=0.8 * relative.min(),
            high=1.05 * relative.max(),
        ),
        (
            Points("as in the first row", workers[[0, -1]], [1, 1], "dashed", tone=0),
            *(
                Points(
                    f"batch of {units.text(batch)} each",
                    workers[held == batch],
                    relative[held == batch],
                    "points",
                    tone=tone,
                )
                for tone, batch in enumerate(groups, 1)
            ),
        ),
        stamp=stamp,
        see="Points of one colour have the same batch per worker, so only they form one study. A point far "
        "below those on both sides asks to be measured again, whatever their colours.",
    )


def until(
    title: str,
    workers: ArrayLike,
    hours: ArrayLike,
    deadline: float,
    stamp: Stamp | None = None,
    counted: str = "GPUs",
) -> Chart:
    """Hours of a fixed job over its workers, beside the ideal and a deadline."""
    workers, hours = np.asarray(workers, float), np.asarray(hours, float)
    ends = workers[[0, -1]]
    return Chart(
        title,
        Axis(f"{counted} K", log=True, ticks=tuple(workers)),
        Axis("hours", log=True, ticks=(0.5, 1, 2, 4, 8, 16, 32)),
        (
            Points(
                "ideal: hours fall as 1/K",
                workers,
                hours[0] * workers[0] / workers,
                "dashed",
                tone=0,
            ),
            Points("published", workers, hours, "joined", tone=1),
            Points("the deadline", ends, [deadline, deadline], "dashed", tone=2),
        ),
        stamp=stamp,
        see="The first size below the deadline is the one to buy. The gap to the ideal is what is paid for "
        "and not had, and it widens to the right.",
    )


def batch_trade(least_steps: float, least_samples: float, batches: ArrayLike) -> Chart:
    """Steps and samples to a target loss over the batch, both in multiples of their least."""
    asked = np.asarray(batches, float)
    batches = doublings(asked.min(), asked.max())
    steps = statistical.training_steps(batches, least_steps, least_samples) / least_steps
    samples = statistical.training_samples(batches, least_steps, least_samples) / least_samples
    critical = statistical.critical_batch(least_steps, least_samples)
    return Chart(
        "What a larger batch saves in steps, and costs in samples",
        Axis("global batch B", log=True, ticks=tuple(asked[::2])),
        Axis("multiple of the least", log=True, ticks=(1, 2, 4, 8, 16)),
        (
            Points("steps to the target", batches, steps, tone=1),
            Points("samples to the target", batches, samples, tone=2),
            Points("critical batch", [critical], [2.0], "points", tone=4),
        ),
        stamp=MODEL,
        see="Far to the left, twice the batch nearly halves the steps and costs few samples. Far to the "
        "right it doubles the samples and saves few steps.",
    )


def two_losses(
    workers: float, *, fixed: float, sample: float, critical: float, least_steps: float
) -> Chart:
    """Hours to a target over the batch: what no batch changes of them, and the two terms that it moves."""
    job = {"fixed": fixed, "sample": sample, "critical": critical}
    best = max(round(float(study.fastest_batch(workers, **job))), 1)
    batches = np.unique([*np.geomspace(max(best / 8, 1), best * 8, 41).round(), best])
    powers = 2.0 ** np.arange(21)
    ticks = tuple(powers[(powers >= batches[0]) & (powers <= batches[-1])])
    seconds = study.target_seconds(workers, batches, **job, least_steps=least_steps)
    hours = 1 / 3600 * least_steps
    return Chart(
        f"Hours to a target on {workers:g} workers",
        Axis("global batch B", log=True, ticks=ticks),
        Axis("hours", low=0.0, high=float(seconds.max()) / 3600 * 1.05),
        (
            Points("all of it", batches, seconds / 3600, tone=3),
            Points(
                "what no batch changes",
                batches,
                np.full(len(batches), hours * (fixed + sample * critical / workers)),
                "dashed",
                tone=0,
            ),
            Points(
                "overhead of the added steps", batches, hours * fixed * critical / batches, tone=1
            ),
            Points(
                "computing of the longer steps", batches, hours * sample * batches / workers, tone=2
            ),
            Points(
                "fastest batch",
                [best],
                [float(seconds[batches == best][0]) / 3600],
                "points",
                tone=3,
            ),
        ),
        stamp=MODEL,
        see="One term falls with the batch and one grows. Where they cross, the sum of the two is least, and "
        "so is all of it; around it the curve is flat: twice the batch, or half of it, costs little.",
    )


def more_data(
    times: float, *, fixed: float, sample: float, critical: float, least_steps: float
) -> Chart:
    """Hours to a target on so many times the samples, by what becomes of the critical batch."""
    workers = doublings(FLEET[0], FLEET[-1])
    hours = {}
    for name, more, growth in (
        ("the samples of today", 1.0, 1.0),
        (f"{times:g} times, critical batch as today", times, 1.0),
        (f"{times:g} times, critical batch {times**0.5:g} times", times, times**0.5),
        (f"{times:g} times, critical batch {times:g} times", times, times),
    ):
        batch = np.asarray(
            study.fastest_batch(workers, fixed=fixed, sample=sample, critical=growth * critical)
        )
        job = {"fixed": fixed, "sample": sample, "critical": growth * critical}
        batch = np.maximum(batch, workers)  # at least one sample for each
        hours[name] = (
            study.target_seconds(workers, batch, **job, least_steps=least_steps * more / growth)
            / 3600
        )
    return Chart(
        f"{times:g} times the samples, by how the critical batch grows",
        Axis("workers K", log=True, ticks=tuple(FLEET[::3])),
        Axis("hours to the target", log=True, ticks=(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)),
        tuple(
            Points(name, workers, np.asarray(one), tone=tone)
            for tone, (name, one) in enumerate(hours.items())
        ),
        stamp=MODEL,
        see="On few workers the samples decide, and the upper three nearly agree. On many the steps "
        "decide, which follow one another: only where the critical batch grows as much as the samples does "
        "the least number of steps stay that of today.",
    )


def plane(power: float, critical: float = 8192, overhead: float = 0.02) -> Chart:
    """Workers and batch as a map: what bounds a job, its fastest batch, and a path of growth."""
    job = {"fixed": overhead, "sample": SAMPLE, "critical": critical}
    path = BATCH * (FLEET / START) ** power
    held = path >= FLEET  # with fewer samples some workers have none
    kept = BUSY / (1 - BUSY) * overhead / SAMPLE  # samples of a worker
    fastest = np.asarray(study.fastest_batch(FLEET, **job))
    series = [
        Points("your path", FLEET[held], path[held], "joined", tone=2),
        Points("fastest batch", FLEET, fastest, tone=3),
        *(_contour(times, **job) for times in (INNER, OUTER)),
        Points(f"machines {BUSY:.0%} busy", FLEET, kept * FLEET, tone=1),
        Points("critical batch", FLEET, np.full(FLEET.size, float(critical)), "dashed", tone=4),
        Points(f"{FITS} for each: all that fits", FLEET, FITS * FLEET, "dashed", tone=5),
        Points("one for each", FLEET, FLEET, "dashed", tone=0),
    ]
    at = int(np.flatnonzero(FLEET == MOST / 2)[0])
    busy, learned = _efficiencies(FLEET[at], path[at], **job)
    seconds, least = (
        study.target_seconds(FLEET[at], batch, **job, least_steps=1 / overhead)
        for batch in (path[at], max(fastest[at], FLEET[at]))
    )
    return Chart(
        f"Workers and batch: a batch that {f'grows as K to the power {power:g}' if power else 'stays'}",
        Axis("workers K", log=True, ticks=tuple(FLEET[::3])),
        Axis("global batch B", log=True, low=8, high=2**21, ticks=tuple(8.0 ** np.arange(1, 7))),
        tuple(series),
        {
            f"At K = {FLEET[at]:g}: machines busy": f"{100 * busy:.3g}%",
            "Learning per sample": f"{100 * learned:.3g}%",
            "Time to target": f"{units.text(seconds)}× the floor",
            "With the fastest batch": f"{units.text(least)}× the floor",
        },
        MODEL,
        "Where your path is below the line “fastest batch”, the machines wait too much; above it, the "
        "samples teach too little.",
    )


def _efficiencies(workers, batch, fixed, sample, critical):
    """Return how busy the machines are, and what a sample teaches of what it does in a small batch."""
    computing = sample * batch / workers
    return computing / (computing + fixed), critical / (critical + batch)


def _contour(times, fixed, sample, critical):
    """Where a job takes so many times the floor, the least steps of nothing but overhead."""
    done = times * fixed
    tip = sample * critical / (np.sqrt(done) - np.sqrt(fixed)) ** 2  # fewer workers never are
    first = min(max(tip, FLEET[0]), FLEET[-1])
    workers = first * (FLEET[-1] / first) ** np.linspace(0, 1, 37) ** 2  # dense where it is round
    middle = (done - fixed) * workers / sample / 2 - critical / 2
    spread = np.sqrt(np.maximum(middle**2 - critical * fixed * workers / sample, 0))
    return Points(
        f"{times} times the floor",
        np.concatenate([workers[::-1], workers]),
        np.concatenate([(middle - spread)[::-1], middle + spread]),
        "line" if times == INNER else "edge",
        tone=0,
    )
