"""Section 3.9: one step on more and more GPUs, what of it is hidden, and what all of them are paid for.

The seconds are the terms that `models.cost.step` adds up. Above, a step as wide as the paper, whoever it is
that computes or waits; below, GPU-seconds to scale, a row for each size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalelab.arguments import shown, whole
from scalelab.models.choice import instance
from scalelab.models.cost import step as model
from scalelab.models.cost.step import BACKWARD, Step
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

MOST = 10  # sizes, or their rows get too thin
_WIDE, _LEFT, _LONG = 360.0, 92.0, 262.0  # a step lies to the right of _LEFT, and is _LONG
_TOP = {"typical GPU": 44.0, "slowest GPU": 72.0, "the link": 100.0}
_BILLS, _ROW = 156.0, 18.0
_HIGH, _THIN = 22.0, 12.0
_PAID = 46.0  # left free beside the longest bill
TONES = {
    "compute": 1,
    "exchange, exposed": 2,
    "exchange, hidden": 5,
    "bubble": 3,
    "wait for the slowest": 4,
}
_TONE = {"compute": 1, "exchange": 2, "bubble": 3, "stragglers": 4}


@dataclass(frozen=True)
class _Size:
    """What a step takes on one size."""

    workers: int
    terms: dict[str, float]
    exchange: float

    @property
    def seconds(self) -> float:
        return sum(self.terms.values())

    @property
    def hidden(self) -> float:
        return self.exchange - self.terms["exchange"]

    @property
    def bill(self) -> float:
        """In multiples of what one GPU alone is paid for."""
        return self.seconds / self.terms["compute"]


def steps(jobs: Mapping[str, Step], workers: Sequence[int]) -> list[Drawing]:
    """A step on each of these sizes, for one job or several; all bills on one scale.

    A size is left out where a job has no use for it: no whole copy of a model, or more copies than samples.
    """
    if not isinstance(jobs, Mapping) or not jobs:
        raise Refusal(f"jobs must be steps by their names, got {shown(jobs)}: name at least one")
    sizes = _sizes(workers)
    remedy = "describe it with cost.Step(microbatch, worker_throughput, gradient, all_reduce)"
    took = {
        name: _took(name, instance(f"job {name!r}", job, Step, remedy), sizes)
        for name, job in jobs.items()
    }
    largest = max(size.bill for of in took.values() for size in of)
    return [
        Drawing(
            name,
            f"A step on {took[name][0].workers} to {took[name][-1].workers} GPUs: {name}",
            "Above, one step over the whole width, with a lane for a typical GPU, one for the slowest and "
            "one for the link. Below, a row for each size: the GPU-seconds of a step that are paid for.",
            _WIDE,
            _BILLS + _ROW * len(sizes) + 8,
            tuple(
                _frame(jobs[name], took[name], at, (_LONG - _PAID) / largest, sizes)
                for at in range(len(took[name]))
            ),
            chosen=(2 * len(took[name]) // 3, len(took[name]) - 1),  # on paper the last
            tones=TONES,
            stamp=MODEL,
        )
        for name in jobs
    ]


def _sizes(workers):
    try:
        sizes = sorted({whole("workers", one, "it counts GPUs", 1, 10**6) for one in workers})
    except TypeError:  # no row at all
        sizes = []
    if not 1 <= len(sizes) <= MOST:
        raise Refusal(
            f"workers must be a row of 1 to {MOST} sizes, got {shown(workers)}: each gets a row of its own"
        )
    return sizes


def _took(name, job, sizes):
    usable = [k for k in sizes if k % job.stages == 0 and k / job.stages <= job.microbatch]
    if not usable:
        raise Refusal(
            f"workers must hold a size for {name!r}, got {shown(sizes)}: a copy takes {job.stages} of them"
        )
    return [
        _Size(
            k,
            {term: float(part) for term, part in model.terms(job, k).items()},
            float(model.communication(job, k)),
        )
        for k in usable
    ]


def _frame(job, took, at, unit, sizes):
    now = took[at]
    # Every job has all rows' labels, so that the eye finds the same size at the same place.
    shapes = [
        Shape(f"lane {name}", "text", _LEFT - 6, y, text=name, align="end")
        for name, y in _TOP.items()
    ]
    shapes += [
        Shape(f"end {side}", "line", x, 17, 0, 10)
        for side, x in (("left", _LEFT), ("right", _LEFT + _LONG))
    ]
    shapes += [
        Shape("length", "line", _LEFT, 22, _LONG, 0),
        Shape(
            "seconds", "text", _LEFT + _LONG / 2, 11, text=f"K = {now.workers}: {now.seconds:.3g} s"
        ),
        Shape(
            "paid",
            "text",
            8,
            _BILLS - 20,
            text="paid for a step, in steps of one GPU",
            align="start",
        ),
        *_lanes(now),
    ]
    for size in took[: at + 1]:
        shapes += _bill(size, _BILLS + _ROW * sizes.index(size.workers), unit)
    return Frame(
        _caption(job, now, at),
        tuple(shapes),
        {
            "A step": _told(now),
            "Efficiency": f"{1 / now.bill:.2f}",
            "Bill": f"{now.bill:.2f} × one GPU's",
        },
    )


def _lanes(now):
    """Yield the blocks above: who computes, who waits, and what the link carries meanwhile."""
    t = now.terms
    compute, bubble, late = t["compute"], t["bubble"], t["stragglers"]
    per = _LONG / now.seconds

    def block(key, lane, begin, end, tone, text):
        width = (end - begin) * per
        if width > 0.05:
            middle = _LEFT + (begin + end) / 2 * per
            yield Shape(key, "block", middle, _TOP[lane], width, _HIGH, tone, text)

    done = compute + bubble + late
    for lane, over in (("typical GPU", 0.0), ("slowest GPU", late)):
        forth, busy = (1 - BACKWARD) * (compute + over), compute + over
        yield from block(f"forward, {lane}", lane, 0, forth, 1, "forward")
        yield from block(f"backward, {lane}", lane, forth, busy, 1, "backward")
        yield from block(f"bubble, {lane}", lane, busy, busy + bubble, 3, "bubble")
        yield from block(f"wait, {lane}", lane, busy + bubble, done, 4, "wait")
    yield from block("hidden", "the link", done - now.hidden, done, 5, "hidden")
    yield from block("exposed", "the link", done, now.seconds, 2, "exposed")


def _bill(size, y, unit):
    """Yield a row below: what of the GPU-seconds is for what, in multiples of one GPU's."""
    yield Shape(f"K {size.workers}", "text", _LEFT - 6, y, text=f"K = {size.workers}", align="end")
    x = _LEFT
    for name, seconds in size.terms.items():
        width = unit * seconds / size.terms["compute"]
        if width > 0.05:
            key = f"{name} of {size.workers}"
            yield Shape(key, "block", x + width / 2, y, width, _THIN, _TONE[name])
        x += width
    yield Shape(f"bill of {size.workers}", "text", x + 5, y, text=f"{size.bill:.2f}", align="start")


def _told(now):
    t = now.terms
    parts = {
        "compute": t["compute"],
        "exchange, hidden": now.hidden,
        "exposed": t["exchange"],
        "bubble": t["bubble"],
        "waiting": t["stragglers"],
    }
    return ", ".join(
        f"{name}\xa0{part:.3g}\xa0s"
        for name, part in parts.items()
        if part > 1e-9 or name == "compute"
    )


def _caption(job, now, at):
    t, k = now.terms, now.workers
    if not at and k == 1:
        return (
            f"One GPU computes for {now.seconds:.3g} s, a third forward and two thirds backward. It has "
            "nobody to tell and nobody to wait for."
        )
    begins = f"{k} GPUs compute for {t['compute']:.3g} s each."
    if not now.exchange:
        return (
            f"{begins} One copy of the model exchanges no gradients, but its stages idle in turn."
        )
    if now.hidden > 1e-12 and t["exchange"] > (1 - job.overlap) * now.exchange * (1 + 1e-9):
        return (
            f"{begins} The backward pass is now shorter than the exchange of {now.exchange:.3g} s, which "
            "outlasts it."
        )
    if now.hidden > 1e-12:
        return (
            f"{begins} Of an exchange of {now.exchange:.3g} s, {now.hidden:.3g} s run behind the backward "
            "pass, at no cost."
        )
    if t["exchange"] > t["compute"]:
        return f"{begins} The exchange takes longer than that, and meanwhile all of them are paid for idling."
    largest = max(("exchange", "bubble", "stragglers"), key=lambda name: t[name])
    least = {
        "exchange": "The largest loss is the exchange",
        "bubble": "The largest loss is the bubble of the pipeline",
        "stragglers": "The largest loss is the wait for the slowest",
    }[largest]
    return f"{begins} {least}, {t[largest] / now.seconds:.0%} of the step."
