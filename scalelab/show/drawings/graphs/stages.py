"""Section 3.6: what each stage of a pipeline does when, and the activations that it holds meanwhile.

The schedule is the one that `schedule.placed` computes from the graph of `graphs.pipeline`. A forward pass
costs 1, and each half of a backward pass 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scalelab.models.graphs import pipeline as pipelines, schedule
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

SCHEDULES: dict[str, dict[str, Any]] = {
    "GPipe": {"order": "gpipe"},
    "1F1B": {"order": "1f1b"},
    "1F1B, interleaved": {"order": "1f1b", "chunks": 2},
    "zero bubble, H1": {"order": "zb-h1"},
    "zero bubble, H2": {"order": "zb-h2"},
}
MOST_STAGES, MOST_MICROBATCHES = 4, 6  # whose numbers still fit into their blocks
_ROWS = {"forward": "F", "backward": "B", "weights": "W"}
_STEP = 2.0  # from frame to frame
_WIDE = 360.0
_LEFT, _RIGHT, _TOP = 20.0, 350.0, 16.0
_ROW, _APART, _HELD = 13.0, 16.0, 19.0
_BAR, _MICROBATCH = (
    52.0,
    24.0,
)  # where the bars of what is held begin, and one on them: no scale of time
_TONE = {"forward": 1, "backward": 2, "weights": 3}
_STILL, _ACTIVATIONS = 0, 4
TONES = {
    "F: forward": 1,
    "B: back, to the input": 2,
    "W: back, of the weights": 3,
    "stands still": _STILL,
    "activations held": _ACTIVATIONS,
}


_RULES = {
    "GPipe": "All forward passes come first, then all backward ones.",
    "1F1B": "As soon as it can, a stage goes forward once and back once, in turn.",
    "1F1B, interleaved": "Each device has two pieces of the model, and passes of both take turns.",
    "zero bubble, H1": "B is handed on at once, and W fills what would stand still.",
    "zero bubble, H2": "As in H1, and more goes forward before the first B comes back.",
}


class _Part(NamedTuple):
    """One block: this stage does this for this micro-batch, with one of its pieces of the model."""

    stage: int
    op: str
    chunk: int
    microbatch: int
    start: float
    finish: float


def pipeline(stages: int, microbatches: int) -> list[Drawing]:
    """The known schedules of one step of a pipeline, a drawing each, on the same scale of time."""
    timetables = {}
    for name, options in SCHEDULES.items():
        dag = pipelines.dag(stages, microbatches, **options)
        timetables[name] = _parts(dag, schedule.placed(dag))
    if stages > MOST_STAGES or microbatches > MOST_MICROBATCHES:
        raise Refusal(
            f"a drawing must have at most {MOST_STAGES} stages and {MOST_MICROBATCHES} micro-batches, got "
            f"{stages} and {microbatches}: draw a smaller one, or schedule it"
        )
    longest = max(part.finish for parts in timetables.values() for part in parts)
    scale = (_RIGHT - _LEFT) / longest
    return [
        _drawing(name, parts, stages, microbatches, scale) for name, parts in timetables.items()
    ]


def _parts(dag, timetable):
    """Return what is drawn: a backward pass that is one task is two halves, one after the other."""
    apart = any(op == "weights" for _, op in dag.nodes(data="op"))
    found = []
    for node, stage, start, finish in timetable.timeline:
        at = dag.nodes[node]
        middle = finish if apart or at["op"] == "forward" else (start + finish) / 2
        found.append(_Part(stage, at["op"], at["chunk"], at["microbatch"], start, middle))
        if middle < finish:
            found.append(_Part(stage, "weights", at["chunk"], at["microbatch"], middle, finish))
    return found


def _drawing(name, parts, stages, microbatches, scale):
    end = _end(parts)
    moments = [_STEP * turn for turn in range(int(end // _STEP) + 1)]
    moments += [end] * (moments[-1] < end)
    still = sum(
        finish - start for stage in range(stages) for start, finish in _gaps(parts, stage, end)
    )
    frames = [
        _frame(name, parts, (stages, microbatches), scale, before, now)
        for before, now in zip([0.0, *moments], moments, strict=False)
    ]
    return Drawing(
        name,
        f"{name}: {end:g} units of time, {still / stages / end:.1%} of them bubble",
        "Each stage has three rows, for forward passes, F, and the two halves of backward ones, B and W. "
        "Time runs to the right, and the number in a block is its micro-batch. Below are the activations "
        "that each stage holds.",
        _WIDE,
        _held_row(stages, stages) + 10,
        tuple(frames),
        chosen=(len(frames) // 2, len(frames) - 1),
        tones=TONES,
        stamp=MODEL,
    )


def _end(parts):
    return max(part.finish for part in parts)


def _frame(name, parts, sizes, scale, before, now):
    stages, _ = sizes
    begun = [part for part in parts if part.start < now]
    held = [_held(parts, stage, now) for stage in range(stages)]
    most = [max(_course(parts, stage, now)) for stage in range(stages)]
    still = sum(end - start for stage in range(stages) for start, end in _gaps(parts, stage, now))
    shapes = [*_rows(stages), *_times(stages, scale)]
    for stage in range(stages):
        shapes += _gone_by(parts, stage, scale, now)
        shapes += _memory(stage, stages, held[stage], most[stage])
    shapes += [_block(part, scale, now) for part in begun]
    return Frame(
        _caption(name, parts, sizes, before, now),
        tuple(shapes),
        {
            "Done in this step": _told(parts, stages, before, now),
            "Stood still so far": f"{still:g} of {stages * now:g}",
            "Held now, stage by stage": ", ".join(f"{amount:g}" for amount in held),
            "Held at most so far": f"{max(most):g}",
        },
    )


def _gaps(parts, stage, end):
    """Return when a stage stands still, from the beginning of the step until `end`."""
    mine = sorted((part.start, part.finish) for part in parts if part.stage == stage)
    found, free = [], 0.0
    for start, finish in [*mine, (end, end)]:
        if min(start, end) > free:
            found.append((free, min(start, end)))
        free = max(free, finish)
    return found


def _held(parts, stage, now):
    """Return of how many micro-batches a stage holds the activations: from F on, until W is done.

    Those of one of several pieces of the model count in proportion.
    """
    pieces = 1 + max(part.chunk for part in parts)
    mine = [part for part in parts if part.stage == stage]
    begun = sum(part.op == "forward" and part.start < now for part in mine)
    ended = sum(part.op == "weights" and part.finish <= now for part in mine)
    return (begun - ended) / pieces


def _course(parts, stage, now):
    """Yield what a stage held in each of its tasks so far."""
    yield 0.0
    for part in parts:
        if part.stage == stage and part.start < now:
            yield _held(parts, stage, min((part.start + part.finish) / 2, now))


def _row(stage, op):
    return _TOP + stage * (3 * _ROW + _APART) + (list(_ROWS).index(op) + 0.5) * _ROW


def _held_row(stage, stages):
    return _row(stages, "forward") + 42 + _HELD * stage


def _rows(stages):
    for stage in range(stages):
        above = _row(stage, "forward") - 14
        yield Shape(
            f"stage {stage + 1}", "text", 2, above, text=f"stage {stage + 1}", align="start"
        )
        for op, letter in _ROWS.items():
            yield Shape(f"{letter} of {stage + 1}", "text", 9, _row(stage, op), text=letter)


def _times(stages, scale):
    """Yield the rule below the lanes and its numbers, and those of what is held, which has its own scale."""
    y = _row(stages, "forward") - 18
    yield Shape("rule", "line", _LEFT, y, _RIGHT - _LEFT, 0)
    yield Shape("rule, in words", "text", _LEFT + 3 * scale, y + 9, text="time")
    for time in range(0, int((_RIGHT - _LEFT) / scale + 0.5) + 1, 6):
        yield Shape(f"time {time}", "text", _LEFT + time * scale, y + 9, text=f"{time}")
    said = "micro-batches held; stroke: the most so far"
    yield Shape("held", "text", 2, _held_row(0, stages) - 18, text=said, align="start")
    y = _held_row(stages, stages) - 8
    yield Shape("rule of amounts", "line", _BAR, y, _MICROBATCH * MOST_MICROBATCHES, 0)
    for count in range(0, MOST_MICROBATCHES + 1, 2):
        yield Shape(f"{count} held", "text", _BAR + _MICROBATCH * count, y + 9, text=f"{count}")


def _block(part, scale, now):
    letter, piece = _ROWS[part.op], f" of piece {part.chunk + 1}" if part.chunk else ""
    finish = min(part.finish, now)
    return Shape(
        f"{letter}{part.microbatch + 1}{piece} on {part.stage + 1}", "block",
        _LEFT + scale * (part.start + finish) / 2, _row(part.stage, part.op),
        scale * (finish - part.start) - 0.8, _ROW - 1, tone=_TONE[part.op], text=f"{part.microbatch + 1}",
    )  # fmt: skip


def _gone_by(parts, stage, scale, now):
    """Yield the time in which a stage stood still."""
    for turn, (start, finish) in enumerate(_gaps(parts, stage, now)):
        yield Shape(
            f"still {turn + 1} on {stage + 1}", "block", _LEFT + scale * (start + finish) / 2,
            _row(stage, "backward"), scale * (finish - start) - 0.8, 3 * _ROW - 1, tone=_STILL,
        )  # fmt: skip


def _memory(stage, stages, held, most):
    y = _held_row(stage, stages)
    yield Shape(f"holder {stage + 1}", "text", 2, y, text=f"stage {stage + 1}", align="start")
    if held:
        yield Shape(
            f"held by {stage + 1}", "block", _BAR + _MICROBATCH * held / 2, y, _MICROBATCH * held, _HELD - 5,
            tone=_ACTIVATIONS, text=f"{held:g}",
        )  # fmt: skip
    if most:
        yield Shape(
            f"most of {stage + 1}",
            "line",
            _BAR + _MICROBATCH * most,
            y - 8,
            0,
            16,
            tone=_ACTIVATIONS,
            weight=2,
        )


def _told(parts, stages, before, now):
    """Say what each stage did between two moments; a prime marks its second piece of the model."""
    words = []
    for stage in range(stages):
        mine = sorted(
            (p for p in parts if p.stage == stage and p.start < now and p.finish > before),
            key=lambda part: part.start,
        )
        done = " ".join(f"{_ROWS[p.op]}{p.microbatch + 1}{'′' * p.chunk}" for p in mine)
        words.append(f"stage {stage + 1}: {done or 'nothing'}")
    return "; ".join(words) if now else "nothing yet"


def _caption(name, parts, sizes, before, now):
    stages, microbatches = sizes
    if not now:
        return f"{microbatches} micro-batches wait before stage 1. {_RULES[name]}"
    said: dict[str, list[str]] = {}
    for stage in range(stages):
        if any(finish > before for _, finish in _gaps(parts, stage, now)):
            said.setdefault(_why(parts, stage, now), []).append(str(stage + 1))
    words = [
        f"{'stages' if len(these) > 1 else 'stage'} {' and '.join(these)} {why}".replace(
            "wait ", "wait " if len(these) > 1 else "waits "
        ).replace("have ", "have " if len(these) > 1 else "has ")
        for why, these in said.items()
    ]
    rest = "; ".join(words)
    rest = (
        f"{rest[0].upper()}{rest[1:]}."
        if rest
        else "All stages work, and the bubble does not grow."
    )
    peak = [max(max(_course(parts, s, time)) for s in range(stages)) for time in (before, now)]
    more = f" More is held than ever before: {peak[1]:g}." if peak[1] > peak[0] else ""
    last = f" All {microbatches} micro-batches are done." if now >= _end(parts) else ""
    return f"Until {now:g}. {rest}{more}{last}"


def _why(parts, stage, now):
    """Say why a stage has just stood still."""
    mine = sorted((p for p in parts if p.stage == stage), key=lambda part: part.start)
    if mine[0].start >= now:
        return "have nothing to do yet"
    if mine[-1].finish < now:
        return "have nothing left to do"
    gap = _gaps(parts, stage, now)[-1][1]
    following = next(part for part in mine if part.start >= gap)
    if following.op == "forward":
        return "wait for what the stage before has to send"
    return "wait for a gradient to come back"
