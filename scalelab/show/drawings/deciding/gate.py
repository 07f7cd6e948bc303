"""Section 41.6: the quality gate as runs are added, each run a dot, and each answer an interval of the loss.

Every answer is that of `rubric.gate.of_runs` for the runs that are there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scalelab import units
from scalelab.arguments import real, shown, whole
from scalelab.models.choice import instance
from scalelab.refusal import Refusal
from scalelab.rubric import gate
from scalelab.rubric.gate import Noise
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

MOST, MOST_ROWS = 40, 12  # runs of a size, and answers below each other
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
_WIDE, _LEFT, _RIGHT = 360.0, 62.0, 262.0
_TOP, _STRIPS = 7.0, (28.0, 58.0)
_DOT, _HIGH = 6.0, 9.0
_HEAD, _ROWS, _ROW = 126.0, 148.0, 18.0
_APART = 36.0  # between two numbers of a scale, at least
_TONE = {"pass": 3, "fail": 2, "undecided": 5}
TONES = {"undecided": 5, "pass": 3, "fail": 2}
_ASIDE = (0.0, 5.0, -5.0, 2.5, -2.5)  # dots that are alike stand beside each other
Pairs = tuple[Sequence[float], Sequence[float]]


def quality_gate(
    ways: Mapping[str, Pairs],
    tolerance: float,
    noise: Noise,
    sizes: tuple[str, str] = ("base", "row"),
    metric: str = "quality",
    counts: Sequence[int] = COUNTS,
) -> list[Drawing]:
    """What the gate says after so many runs of each size; each way is the runs of both, in their order."""
    tolerance = real("tolerance", tolerance, "it is the loss of quality that is accepted", 0)
    noise = instance("noise", noise, Noise, "write rubric.Noise(deviation, runs)")
    counts = _counts(counts)
    runs = _runs(ways, counts[-1])
    asked = {
        name: [gate.of_runs(a[:n], b[:n], [a[:n], b[:n]], tolerance, noise=noise) for n in counts]
        for name, (a, b) in runs.items()
    }
    everything = [one for pair in runs.values() for side in pair for one in side]
    across = _scale(min(everything), max(everything))
    ends = [end for answers in asked.values() for one in answers for end in (one.low, one.high)]
    lost = _scale(min(0.0, *ends), max(tolerance, *ends))
    return [
        Drawing(
            name,
            f"Is the {metric} of {sizes[1]} held? {name[:1].upper()}{name[1:]}",
            f"Above, a dot is a run of {sizes[0]} or of {sizes[1]}, and a stroke their mean. Below, each row "
            "is the loss as the runs so far leave it, from end to end; the long stroke is the tolerance.",
            _WIDE,
            _ROWS + _ROW * len(counts) + 14,
            tuple(
                _frame(
                    runs[name], asked[name], done, counts, tolerance, sizes, metric, across, lost
                )
                for done in range(len(counts) + 1)
            ),
            chosen=(len(counts),),
            tones=TONES,
            stamp=MODEL,
        )
        for name in runs
    ]


def _counts(given):
    try:
        counts = [whole("counts", one, "it counts the runs of each size", 1, MOST) for one in given]
    except TypeError:
        counts = []
    if not 1 <= len(counts) <= MOST_ROWS or sorted(set(counts)) != counts:
        raise Refusal(
            f"counts must be 1 to {MOST_ROWS} rising numbers, got {shown(given)}: each gets a row"
        )
    return counts


def _runs(ways, most):
    if not isinstance(ways, Mapping) or not ways:
        raise Refusal(f"ways must be pairs of runs by their names, got {shown(ways)}: name one")
    runs = {}
    for name, given in ways.items():
        try:
            base, row = ([real("run", one, "it is a quality") for one in side] for side in given)
        except (TypeError, ValueError):
            base, row = [], []
        if min(len(base), len(row)) < most:
            raise Refusal(
                f"way {name!r} must be {most} runs of either size, got {shown(given)}: add some"
            )
        runs[name] = base[:most], row[:most]
    return runs


class _Scale(NamedTuple):
    """Where values stand on the paper."""

    low: float
    high: float

    def __call__(self, value: float) -> float:
        return _LEFT + (value - self.low) / ((self.high - self.low) or 1) * (_RIGHT - _LEFT)

    def numbers(self) -> dict[str, float]:
        """Return round numbers that lie on it, as they are written, far enough apart."""
        least = _APART / (_RIGHT - _LEFT) * ((self.high - self.low) or 1)
        power = math.floor(math.log10(least))
        step = next(one for one in (2, 5, 10, 20) if one * 10.0**power >= least) * 10.0**power
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        turns = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        return {f"{turn * step + 0.0:.{places}f}": turn * step for turn in turns}


def _scale(low, high):
    """Return a scale on which these two lie just within the ends."""
    return _Scale(low - 0.03 * (high - low), high + 0.03 * (high - low))


def _frame(runs, answers, done, counts, tolerance, sizes, metric, across, lost):
    count = counts[done - 1] if done else 0
    now = answers[done - 1] if done else None
    shapes = [*_above(runs, count, sizes, metric, across)]
    shapes += _below(counts, tolerance, metric, lost)
    for n, one in zip(counts[:done], answers, strict=False):
        shapes += _answer(one, n, _ROWS + _ROW * counts.index(n), lost)
    return Frame(
        _caption(now, count, tolerance, sizes, metric),
        tuple(shapes),
        {
            "The loss lies between": f"{_cents(now.low)} and {_cents(now.high)} {metric}"
            if now
            else "anything",
            "Answer": now.verdict if now else "none",
            "Runs in all": str(2 * count),
            "Runs of each to decide": (f"{now.runs:,}" if now and now.runs else "–"),
        },
    )


def _above(runs, count, sizes, metric, across):
    """Yield the strips of both sizes: a dot for each run, and a stroke at their mean."""
    said = f"{metric} of each run; stroke: their mean"
    yield Shape("runs", "text", 4, _TOP, text=said, align="start")
    for text, value in across.numbers().items():
        yield Shape(f"value {text}", "text", across(value), _STRIPS[1] + 20, text=text)
        yield Shape(f"tick {text}", "line", across(value), _STRIPS[1] + 11, 0, 3)
    for side, (name, y) in enumerate(zip(sizes, _STRIPS, strict=True)):
        yield Shape(f"size {side}", "text", _LEFT - 8, y, text=name, align="end")
        yield Shape(f"ground {side}", "line", _LEFT, y + 11, _RIGHT - _LEFT, 0)
        there = runs[side][:count]
        for turn, value in enumerate(there):
            x, aside = across(value), _ASIDE[turn % len(_ASIDE)]
            yield Shape(f"run {side}.{turn}", "circle", x, y + aside, _DOT, _DOT, 1)
        if there:
            mean = math.fsum(there) / count
            yield Shape(f"mean {side}", "block", across(mean), y + 2, 1.5, 20, 1)
            yield Shape(
                f"is {side}", "text", _RIGHT + 6, y + 2, text=f"mean {mean:.3f}", align="start"
            )


def _below(counts, tolerance, metric, lost):
    deep = _ROW * (len(counts) - 1) + 16
    yield Shape("loss", "text", 4, _HEAD - 20, text=f"loss of {metric}", align="start")
    yield Shape("tolerance", "text", lost(tolerance), _HEAD, text=f"tolerance {tolerance:g}")
    yield Shape("allowed", "line", lost(tolerance), _ROWS - 12, 0, deep + 4, weight=2)
    yield Shape("nothing", "line", lost(0), _ROWS - 12, 0, deep + 4)
    yield Shape("ground", "line", _LEFT, _ROWS + deep - 8, _RIGHT - _LEFT, 0)
    for text, value in lost.numbers().items():
        yield Shape(f"loss of {text}", "text", lost(value), _ROWS + deep + 4, text=text)
        yield Shape(f"tick at {text}", "line", lost(value), _ROWS + deep - 8, 0, 3)


def _answer(answer, count, y, lost):
    """Yield a row: the interval of the loss, its middle, and the word."""
    low, high, tone = lost(answer.low), lost(answer.high), _TONE[answer.verdict]
    yield Shape(
        f"runs {count}", "text", _LEFT - 8, y, text=units.counted(count, "run"), align="end"
    )
    yield Shape(f"loss {count}", "block", (low + high) / 2, y, max(high - low, 0.5), _HIGH, tone)
    yield Shape(f"middle {count}", "block", lost(answer.loss), y, 1.5, _HIGH + 4, tone)
    yield Shape(f"word {count}", "text", _RIGHT + 6, y, text=answer.verdict, align="start")


def _cents(value):
    """Write to the hundredth, and what rounds to nothing without a sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def _caption(now, count, tolerance, sizes, metric):
    if now is None:
        return (
            f"{sizes[1]} may lose {tolerance:g} {metric} against {sizes[0]}. Runs come in pairs, one of "
            "each, and the gate is asked again and again."
        )
    where = {
        "pass": "The whole interval lies within the tolerance: pass.",
        "fail": "The whole interval lies beyond the tolerance: fail.",
        "undecided": "The interval holds the tolerance: undecided.",
    }[now.verdict]
    runs = (
        "A run of each: they differ" if count == 1 else f"The means of {count} runs of each differ"
    )
    return f"{runs} by {_cents(now.loss)} {metric}. {where}"
