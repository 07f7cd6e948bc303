"""Section 3.3: the same job cut among more and more workers, and a job that grows with them.

Each worker has a box that holds the batch of one, and what fills it is its share. Below, one step of a
worker for each count: computing, and then an exchange that takes longer with every doubling.
"""

from __future__ import annotations

from scalelab import units
from scalelab.arguments import real, shown, whole
from scalelab.models.scaling import laws, study
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

DOUBLINGS = 5  # to 32 workers, as many as boxes fit
_WIDE, _HIGH = 360.0, 326.0
_BOX, _PITCH, _COLUMNS = 40.0, 44.0, 8
_FIRST = 26.0, 24.0  # where the box of the first worker has its middle
_HEADS, _ROWS, _ROW = (
    196.0,
    214.0,
    19.0,
)  # the heads of the rows, the first row, and from row to row
_LEFT, _LONGEST, _THICK = (
    54.0,
    218.0,
    14.0,
)  # of the rows: where a step begins, and how long one may be
_MS, _E = 316.0, 356.0
_SHARE, _COMPUTES, _EXCHANGES = 1, 3, 2
TONES = {"a worker's share": _SHARE, "computing": _COMPUTES, "exchange": _EXCHANGES}


def lens(
    name: str, grows: bool, batch: int = 64, sample: float = 0.002, level: float = 0.005
) -> Drawing:
    """One step of a job on 1, 2, 4 ... 32 workers: the batch is cut among them, or grows as they do.

    A sample costs a worker `sample` seconds, and the exchange `level` seconds for each doubling.
    """
    batch = whole("batch", batch, "it counts the samples of one step on one worker", 1)
    if batch % 2**DOUBLINGS:
        raise Refusal(
            f"batch must be a multiple of {2**DOUBLINGS}, got {shown(batch)}: as many workers share it"
        )
    sample = real("sample", sample, "it is what one sample costs, in seconds", 0, above=True)
    level = real("level", level, "it is what a doubling adds to the exchange, in seconds", 0)
    steps = [_Step(2**d, d, bool(grows), batch, sample, level) for d in range(DOUBLINGS + 1)]
    frames = [_frame(steps[:1], 1)]
    for many in range(2, len(steps) + 1):
        frames += [_frame(steps[:many], many - 1), _frame(steps[:many], many)]
    what = "a batch that grows as the workers do" if grows else f"one batch of {batch} samples"
    return Drawing(
        name,
        f"{what.capitalize()} on 1 to {2**DOUBLINGS} workers",
        f"A box is a worker with room for {batch} samples, and what fills it is its share. A bar below "
        "is one step of a worker: computing, then exchange.",
        _WIDE,
        _HIGH,
        tuple(frames),
        chosen=(len(frames) - 1,),
        tones=TONES,
        stamp=MODEL,
    )


class _Step:
    """One step on so many workers, as the models price it."""

    def __init__(self, workers, doublings, grows, batch, sample, level):
        self.workers, self.doublings, self.grows = workers, doublings, grows
        self.growth = workers if grows else 1
        self.batch = batch * self.growth
        self.share = self.batch // workers
        # All shares the same, so that one scale does for the bars of both lenses.
        self.scale = _LONGEST / (batch * sample + DOUBLINGS * level)
        self.exchange = doublings * level
        one = laws.seconds(1, 0, batch * sample)
        self.seconds = laws.seconds(workers, 0, self.batch * sample, self.exchange)
        self.computing = self.seconds - self.exchange
        self.speedup = study.scaled_speedup(one, self.seconds, self.growth)
        self.efficiency = (
            study.weak_efficiency(one, self.seconds)
            if grows
            else study.strong_efficiency(one, self.seconds, workers)
        )


def _frame(steps, run):
    """All workers with their shares, and the bars of the steps that have been run."""
    last = steps[-1]
    done = run == len(steps)
    shapes = [shape for worker in range(last.workers) for shape in _worker(last, worker, not done)]
    heads = [("one step, ms", _LEFT, "start"), ("in all", _MS, "end"), ("E", _E, "end")]
    shapes += [Shape(text, "text", x, _HEADS, text=text, align=align) for text, x, align in heads]
    shapes += [shape for row, step in enumerate(steps[:run]) for shape in _row(step, row)]
    both = (
        f"{_ms(last.computing)} computing + {_ms(last.exchange)} exchange = {_ms(last.seconds)} ms"
    )
    facts = {
        "A step": both if done else "how long will it be?",
        "Each worker's share": units.counted(last.share, "sample"),
        "Done per second": f"{last.speedup:.2f} times" if done else "?",
        "Efficiency E": f"{last.efficiency:.2f}" if done else "?",
    }
    return Frame(_told(steps) if done else _given(last), tuple(shapes), facts)


def _place(worker):
    return (
        _FIRST[0] + _PITCH * (worker % _COLUMNS),
        _FIRST[1] + _PITCH * (worker // _COLUMNS),
    )


def _worker(step, worker, new):
    """Yield a worker's box, and the share in its corner; what is new was cut off another share."""
    x, y = _place(worker)
    yield Shape(f"worker {worker + 1}", "box", x, y, _BOX, _BOX)
    folds = 0 if step.grows else step.doublings
    wide, high = _BOX / 2 ** ((folds + 1) // 2), _BOX / 2 ** (folds // 2)
    half = step.workers // 2
    start = None
    if new and not step.grows and worker >= half:
        start = _place(worker - half)
    yield Shape(
        f"share {worker + 1}", "block", x - (_BOX - wide) / 2, y - (_BOX - high) / 2, wide, high,
        tone=_SHARE, start=start,
    )  # fmt: skip
    yield Shape(f"samples {worker + 1}", "text", x + 10, y + 12, text=str(step.share))


def _row(step, row):
    """Yield one step of a worker as a bar, how long it takes, and what is left of the workers' time."""
    y, left = _ROWS + _ROW * row, _LEFT
    yield Shape(f"count {step.workers}", "text", 4, y, text=f"K = {step.workers}", align="start")
    parts = ("computing", step.computing, _COMPUTES), ("exchange", step.exchange, _EXCHANGES)
    for name, seconds, tone in parts:
        if long := seconds * step.scale:
            yield Shape(
                f"{name} {step.workers}", "block", left + long / 2, y, long, _THICK, tone=tone,
                text=_ms(seconds),
            )  # fmt: skip
            left += long
    yield Shape(f"ms {step.workers}", "text", _MS, y, text=_ms(step.seconds), align="end")
    yield Shape(f"E {step.workers}", "text", _E, y, text=f"{step.efficiency:.2f}", align="end")


def _given(step):
    workers = units.counted(step.workers, "worker")
    if step.grows:
        return (
            f"{workers}, and a batch of {step.batch:,}: every share stays at {step.share} samples."
        )
    share = units.counted(step.share, "sample")
    return (
        f"{workers}, and the batch stays at {step.batch}: every share is cut in half, to {share}."
    )


def _told(steps):
    last = steps[-1]
    if last.workers == 1:
        return (
            f"One worker has all {last.batch} samples and computes for {_ms(last.seconds)} ms. "
            "It has nobody to exchange with."
        )
    before = steps[-2].seconds
    if last.seconds > before and not last.grows:
        return (
            f"Computing lost {_ms(steps[-2].computing - last.computing)} ms and the exchange gained "
            f"{_ms(last.exchange - steps[-2].exchange)}: the step takes longer than on half the workers."
        )
    if last.grows:
        return (
            f"Everybody computes as long as before. The exchange adds {_ms(last.exchange)} ms to a step "
            f"in which {last.growth} times as much is done."
        )
    return (
        f"Each computes for {_ms(last.computing)} ms, and {_ms(last.exchange)} ms of exchange follow: "
        f"{last.exchange / last.seconds:.0%} of the step, and E is the rest."
    )


def _ms(seconds):
    return f"{1e3 * seconds:.4g}"
