"""Section 3.1: where the time of an epoch goes, on one worker and on several.

The epoch is the one that `models.scaling.epoch` lays out. Each frame is that layout up to a moment, so a
block that grows is a worker at work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scalelab import units
from scalelab.models.scaling.epoch import PARTS, Span
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

_MOST_LANES = 4  # workers that still have a lane each
_WIDE, _HIGH = 360.0, 268.0
_LEFT, _RIGHT = 82.0, 352.0  # of the lanes, in time
_TOP, _LANE, _THICK = 18.0, 25.0, 18.0
_SUMS, _ROW, _BAR = 162.0, 20.0, 13.0  # the rows below, one for each part
_TONES = {"loading": 5, "computing": 1, "waiting": 0, "exchange": 2, "update": 4}


@dataclass(frozen=True)
class _Epoch:
    """What was laid out, and what follows from it."""

    spans: tuple[Span, ...]

    @property
    def workers(self) -> int:
        return 1 + max(one.worker for one in self.spans)

    @property
    def batches(self) -> int:
        return 1 + max(one.batch for one in self.spans)

    @property
    def end(self) -> float:
        return max(one.end for one in self.spans)

    @property
    def alone(self) -> float:
        return self.work(self.end)

    def spent(self, now: float) -> dict[str, float]:
        """Return the seconds that all workers together have spent on each part until now."""
        return {
            part: sum(
                max(min(one.end, now) - one.start, 0.0) for one in self.spans if one.part == part
            )
            for part in PARTS
        }

    def needed(self, now: float) -> dict[str, float]:
        """Return the seconds of it that one worker alone would spend too: of equal updates it makes one."""
        spent = self.spent(now)
        update = spent["update"] / self.workers
        return {"loading": spent["loading"], "computing": spent["computing"], "update": update}

    def work(self, now: float) -> float:
        return sum(self.needed(now).values())

    def of(self, part: str, batch: int) -> list[Span]:
        return [one for one in self.spans if (one.part, one.batch) == (part, batch)]

    def last(self, batch: int) -> list[int]:
        """Return the workers that compute longest."""
        computing = self.of("computing", batch)
        end = max(one.end for one in computing)
        return [one.worker for one in computing if one.end == end]


def training_epoch(spans: Sequence[Span]) -> Drawing:
    """An epoch as it is laid out: a lane for each worker, and below it what all have spent on what."""
    spans = tuple(spans) if isinstance(spans, Sequence) else ()
    if not spans or not all(isinstance(one, Span) for one in spans):
        raise Refusal(
            "spans must be those of an epoch, at least one, got something else: take them from "
            "scaling.epoch.spans(...)"
        )
    epoch = _Epoch(spans)
    if epoch.workers > _MOST_LANES:
        raise Refusal(
            f"spans must be of at most {_MOST_LANES} workers to be drawn, got {epoch.workers}: draw fewer"
        )
    frames = tuple(_frame(epoch, now, caption) for now, caption in _moments(epoch))
    name = units.counted(epoch.workers, "worker")
    return Drawing(
        name,
        f"An epoch on {name}: {_text(epoch.end)}",
        "Each lane is a worker, and time runs to the right. A block is what the worker does, in the order of "
        "the rows below, with the number of the batch while it computes. The rows add up what all workers "
        "have spent on each; a stroke in them is what one worker spends in the whole epoch.",
        _WIDE,
        _HIGH,
        frames,
        chosen=(len(frames) - 1,),
        tones=_TONES,
        stamp=MODEL,
    )


def _frame(epoch, now, caption):
    done, spent = epoch.work(now), epoch.spent(now)
    return Frame(
        caption,
        (*_axis(epoch), *_lanes(epoch, now), *_sums(epoch, now)),
        {
            "Spent by all, in seconds": ", ".join(f"{part} {spent[part]:.4g}" for part in PARTS),
            "Time so far, of T(K)": f"{_text(now)} of {_text(epoch.end)}",
            "Speedup so far": f"{done:.4g}/{now:.4g} = {done / now:.2f}" if now else "–",
            "Efficiency so far": f"{done / epoch.workers / now:.2f}" if now else "–",
        },
    )


def _at(seconds, epoch):
    return _LEFT + (_RIGHT - _LEFT) * seconds / epoch.alone


def _axis(epoch):
    """Yield the time axis, which is as long as one worker's epoch, and the line of the ideal."""
    bottom = _TOP + _MOST_LANES * _LANE
    for quarter in range(5):
        seconds = quarter * epoch.alone / 4
        x = _at(seconds, epoch)
        yield Shape(f"tick {quarter}", "line", x, _TOP, 0, bottom - _TOP, weight=0.4)
        word = f"{seconds:.4g}" + " s" * (quarter == 4)
        yield Shape(f"time {quarter}", "text", min(x, _WIDE - 14), 8, text=word)
    ideal = epoch.alone / epoch.workers
    x = _at(ideal, epoch)
    yield Shape("ideal", "line", x, _TOP, 0, bottom - _TOP, tone=3, weight=2)
    says = f"ideal {_text(ideal)}"
    yield Shape("ideal says", "text", x + 1, bottom + 8, tone=3, text=says, align="end")


def _lanes(epoch, now):
    for worker in range(epoch.workers):
        y = _TOP + _LANE * (worker + 0.5)
        yield Shape(
            f"lane {worker + 1}", "text", _LEFT - 6, y, text=f"worker {worker + 1}", align="end"
        )
        for one in epoch.spans:
            if one.worker == worker and one.start < now:
                x, until = _at(one.start, epoch), _at(min(one.end, now), epoch)
                word = f"{one.batch + 1}" if one.part == "computing" else ""
                yield Shape(
                    f"{one.part} of batch {one.batch + 1} by worker {worker + 1}", "block",
                    (x + until) / 2, y, until - x, _THICK, tone=_TONES[one.part],
                    text=word,
                )  # fmt: skip


def _sums(epoch, now):
    """Yield a row for each part: its name, what all have spent on it, and what one worker would."""
    spent, alone = epoch.spent(now), epoch.needed(epoch.end)
    scale = (_RIGHT - _LEFT) / epoch.alone
    says = "spent by all, s; stroke: one worker's epoch"
    yield Shape("sums", "text", 2, _SUMS - 20, text=says, align="start")
    for row, part in enumerate(PARTS):
        y, width = _SUMS + _ROW * row, spent[part] * scale
        yield Shape(f"row {part}", "text", _LEFT - 6, y, text=part, align="end")
        if width:
            yield Shape(
                f"all {part}", "block", _LEFT + width / 2, y, width, _BAR, tone=_TONES[part]
            )
        if part in alone:
            yield Shape(
                f"one worker's {part}", "line", _LEFT + alone[part] * scale, y - _ROW / 2 + 1, 0, _ROW - 2,
                weight=1.5,
            )  # fmt: skip
        word = f"{spent[part]:.4g}"  # in a column of its own, off the bars and the strokes
        yield Shape(f"seconds of {part}", "text", _RIGHT, y, text=word, align="end")


def _moments(epoch):
    """Yield the moments that are drawn, each with what happened until then: of the first batch every part."""
    several = epoch.workers > 1
    yield 0.0, _start(epoch)
    if loading := epoch.of("loading", 0):
        now = loading[0].end
        each = "Each worker loads its share of" if several else "The worker loads"
        divides = " This divides, so nothing is lost yet." if several else ""
        yield now, f"{each} the first batch, in {_text(now)}.{divides}"
    yield from _computing(epoch)
    if exchange := epoch.of("exchange", 0):
        yield (
            exchange[0].end,
            f"Now all exchange their gradients, for {_text(exchange[0].end - exchange[0].start)}. "
            "One worker has nobody to tell, and never spends that.",
        )
    if update := epoch.of("update", 0):
        long, now = _text(update[0].end - update[0].start), update[0].end
        each = f"Each changes its copy of the weights, in {long} as ever: this does not divide."
        alone = f"It changes the weights, in {long}."
        ideal = f", where the ideal is {_text(epoch.work(now) / epoch.workers)}" if several else ""
        yield now, f"{each if several else alone} The first batch took {_text(now)}{ideal}."
    for batch in range(1, epoch.batches):
        now = max(one.end for one in epoch.spans if one.batch == batch)
        yield now, f"Batch {batch + 1} ends at {_text(now)}.{_waited(epoch, batch)}"
    yield epoch.end, _balance(epoch)


def _start(epoch):
    count = epoch.batches
    if epoch.workers == 1:
        return f"One worker, and an epoch of {count} batches. It will take {_text(epoch.alone)}."
    return (
        f"The same {count} batches, each cut in {epoch.workers} shares. Were nothing lost, all would end at "
        f"the line, after {epoch.alone:.4g}/{epoch.workers} = {_text(epoch.alone / epoch.workers)}."
    )


def _computing(epoch):
    computing = epoch.of("computing", 0)
    ends = sorted({one.end for one in computing})
    if epoch.workers == 1:
        yield (
            ends[0],
            f"It computes the gradients, until {_text(ends[0])}, and needs nobody else's.",
        )
        return
    if len(ends) > 1:
        done = [one.worker for one in computing if one.end == ends[0]]
        yield (
            ends[0],
            f"{_named(done)} done first: its samples were shorter. But the average needs everybody's "
            "gradients.",
        )
    waiting = max((one.end - one.start for one in epoch.of("waiting", 0)), default=0)
    paid = f" Whoever was sooner has waited, up to {_text(waiting)}, and waiting is paid for."
    yield ends[-1], f"{_named(epoch.last(0))} done last.{paid if waiting else ''}"


def _waited(epoch, batch):
    last = epoch.last(batch)
    if len(last) == epoch.workers:
        return " It took as long as the first." if epoch.workers == 1 else " Nobody had to wait."
    others = "the other waits" if epoch.workers == 2 else "the others wait"
    return f" {_named(last)} done last this time, and {others}."


def _balance(epoch):
    if epoch.workers == 1:
        return f"T(1) = {_text(epoch.end)}, all of it work. By this the others are measured."
    spent, paid = epoch.spent(epoch.end), epoch.workers * epoch.end
    twice = spent["update"] - epoch.needed(epoch.end)["update"]
    return (
        f"Paid for: {epoch.workers} × {epoch.end:.4g} = {_text(paid)}. Work: {_text(epoch.alone)}. The rest "
        f"is {_text(spent['waiting'])} of waiting, {_text(spent['exchange'])} of exchange and "
        f"{_text(twice)} of updates made again."
    )


def _named(workers):
    numbers = [str(who + 1) for who in workers]
    return (
        f"Worker {numbers[0]} is" if len(numbers) == 1 else f"Workers {' and '.join(numbers)} are"
    )


def _text(seconds):
    return f"{seconds:.4g} s"
