"""Section 3.5: one job on two clocks, that of one worker alone and that of K workers together.

The job is cut, or grows; and what a profile of several workers says of one worker alone, where the share
that was read is work that the one has as well, and where it is an exchange, which it has not.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

from scalelab import units
from scalelab.arguments import real
from scalelab.models.scaling import laws, speedup
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

DOUBLINGS = 3  # to 8 workers, whose lanes still can hold their numbers
MANY = 2**DOUBLINGS
_WIDE, _HIGH = 360.0, 228.0
_LEFT, _LONGEST = 8.0, 344.0
_HEAD, _ALONE, _HEAD_K, _LANES, _LANE = 10.0, 34.0, 70.0, 92.0, 17.0
_TALL, _THIN = 22.0, 14.0
_STAYS, _DIVIDES, _WAITS, _EXCHANGES, _READ = 2, 3, 0, 4, 1
TONES = {"divides": _DIVIDES, "one worker alone must do it": _STAYS, "waiting": _WAITS}
READING = {"the clock that is read": _READ}
EXCHANGE = {"exchange": _EXCHANGES}


def two_clocks(name: str, grows: bool, serial: float = 10, parallel: float = 90) -> Drawing:
    """A job whose parallel part is cut among 1 to 8 workers, or grows with them, on both clocks."""
    serial = real(
        "serial", serial, "it is what no number of workers shortens, in seconds", 0, above=True
    )
    parallel = real("parallel", parallel, "it is one worker's rest, in seconds", 0, above=True)
    scenes = [_job(2**d, bool(grows), serial, parallel) for d in range(DOUBLINGS + 1)]
    scale = _LONGEST / max(one.alone for one in scenes)
    frames = [_clock(scenes[0], scale, f"{_both(scenes[0])} The two clocks agree.", ("alone", "K"))]
    for before, scene in itertools.pairwise(scenes):
        frames += [
            _clock(
                scene,
                scale,
                _added(before, scene, bool(grows)),
                (),
                before.workers if grows else MANY,
            ),
            _clock(scene, scale, _read(scene, "K"), ("K",)),
            _clock(scene, scale, _read(scene, "alone"), ("alone",)),
        ]
    frames.append(_clock(scenes[-1], scale, _laws(scenes[-1]), ("alone", "K")))
    return Drawing(
        name,
        "The job grows with the workers" if grows else "The job stays and is cut among the workers",
        "Above is the job as one worker alone would do it, below as K workers do it together, a lane for "
        "each, in the same seconds.",
        _WIDE,
        _HIGH,
        tuple(frames),
        chosen=(len(frames) - 1,),
        tones=TONES | READING,
        stamp=MODEL,
    )


def from_profile(name: str, exchange: bool, share: float = 0.2) -> Drawing:
    """A share read on two workers, of an exchange or of work: what it says of one worker, and of more."""
    share = real(
        "share", share, "it is the part of the step of two workers that was read", 0.01, 0.9
    )
    scenes = [_profile(2**d, bool(exchange), share) for d in range(1, DOUBLINGS + 1)]
    scale = _LONGEST / (200 - 100 * share)  # the longer of the two answers
    two, stays = scenes[0], 100 * share
    frames = [
        _lone(two, scale, 0, False, f"The profile of two workers: {100 - stays:.4g} parts of a step in "
              f"100 they compute, and {stays:.4g} they do not."),
        _lone(two, scale, 1, False, "And one worker alone? It does what the first of the two computed ..."),
        _lone(two, scale, 2, False, "... and what the second computed."),
        _lone(two, scale, 2, True, _alone_too(two, exchange)),
    ]  # fmt: skip
    frames.append(_gustafson(frames[-1], two, scale, exchange))
    frames += [_lone(one, scale, one.workers, True, _more(one, exchange)) for one in scenes[1:]]
    frames.append(_endless(scenes[-1], scale))
    kind = "an exchange" if exchange else "work that one has, too"
    return Drawing(
        name,
        f"{share:.0%} of the step of two: {kind}",
        "Below are the workers of a profile, a lane for each, and above is one worker alone, in hundredths "
        "of the step of two.",
        _WIDE,
        _HIGH,
        tuple(frames),
        chosen=(3,),
        tones={**TONES, **EXCHANGE},
        stamp=MODEL,
    )


@dataclass(frozen=True)
class _Scene:
    """One job on so many workers: the length of its pieces, and what the two clocks show."""

    workers: int
    piece: float  # of each worker
    stays: float
    alone: float
    together: float
    exchange: bool = False
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def shares(self):
        """What stays, as a share of the time alone and of the time together."""
        return self.stays / self.alone, self.stays / self.together


def _job(workers, grows, serial, parallel):
    work = parallel * (workers if grows else 1)
    alone, together = (laws.seconds(k, serial, work) for k in (1, workers))
    read = serial / together
    own = laws.rebase(read, measured_on=workers)
    by = laws.amdahl(workers, own), laws.gustafson(workers, read)
    facts = {
        "Speedup, one length over the other": f"{alone:.4g} / {together:.4g} = {alone / together:.3g}",
        "Share on one worker": f"{own:.3f}",
        "Share on K workers": f"{read:.3f}",
        "By the laws": f"Amdahl {by[0]:.3g}, Gustafson {by[1]:.3g}",
    }
    return _Scene(workers, work / workers, serial, alone, together, facts=facts)


def _profile(workers, exchange, share):
    stays, work = 100 * share, 200 * (1 - share)
    serial, overhead = (0, stays) if exchange else (stays, 0)
    alone, together = (laws.seconds(k, serial, work, overhead) for k in (1, workers))
    gain = (
        laws.overhead_speedup(workers, share, 2) if exchange
        else laws.amdahl(workers, laws.rebase(share, 2))
    )  # fmt: skip
    facts = {
        "One worker over all of them": f"{alone:.4g} / {together:.4g} = {gain:.3g}",
        "Workers": f"{workers}",
        "Share of their step": f"{stays / together:.0%}",
        "Efficiency": f"{gain / workers:.2f}",
    }
    return _Scene(workers, work / workers, stays, alone, together, exchange, facts)


def _clock(scene, scale, told, read, before=MANY):
    """Both clocks, with a line under those that are read; workers beyond those before are new."""
    shapes = [
        *_lanes(scene, scale),
        *_pieces(scene, scale, scene.workers, before),
        _stays(scene, scale, scene.workers),
    ]
    for which, long, y, share in (
        ("alone", scene.alone, _HEAD, scene.shares[0]),
        ("K", scene.together, _HEAD_K, scene.shares[1]),
    ):
        words = f"{scene.stays:.4g} of {long:.4g} s: share {share:.3f}"
        if which not in read:
            words = f"{long:.4g} s"
        else:
            down = _TALL / 2 + 5 if which == "alone" else -11
            line = (_ALONE if which == "alone" else _LANES) + down
            shapes.append(
                Shape(
                    f"read {which}",
                    "block",
                    _LEFT + long * scale / 2,
                    line,
                    long * scale,
                    3,
                    tone=_READ,
                )
            )
        shapes.append(Shape(f"clock {which}", "text", _WIDE - 4, y, text=words, align="end"))
    return Frame(told, (*_names(scene), *shapes), scene.facts)


def _lone(scene, scale, pieces, whole_job, told):
    """The profile below, and above as much of it as one worker alone is known to have."""
    shapes = [
        *_lanes(scene, scale),
        *_pieces(scene, scale, pieces, MANY if whole_job else pieces - 1),
    ]
    if whole_job and not scene.exchange:
        shapes.append(_stays(scene, scale, pieces))
    long = f"{scene.alone:.4g}" if whole_job else f"{pieces * scene.piece:.4g} ..."
    shapes += [
        Shape("clock alone", "text", _WIDE - 4, _HEAD, text=f"time {long}", align="end"),
        Shape(
            "clock K", "text", _WIDE - 4, _HEAD_K, text=f"time {scene.together:.4g}", align="end"
        ),
    ]
    facts = scene.facts
    if not whole_job:
        facts = {
            **dict.fromkeys(facts, "?"),
            **{n: facts[n] for n in ("Workers", "Share of their step")},
        }
    return Frame(told, (*_names(scene), *shapes), facts)


def _gustafson(frame, scene, scale, exchange):
    """The same once more, with what Gustafson's law takes the one worker's time to be."""
    share = scene.stays / scene.together
    law = f"{laws.gustafson(scene.workers, share):.3g}"
    if not exchange:
        told = f"Gustafson's law with {share:.4g} says {law} as well: it is about such work."
        return Frame(told, frame.shapes, frame.facts)
    long = scene.stays * scale
    nobody = Shape(
        "with nobody", "box", _LEFT + scene.alone * scale + long / 2, _ALONE, long, _TALL,
        tone=_WAITS, text=f"{scene.stays:.4g}",
    )  # fmt: skip
    told = (
        f"Gustafson's law with {share:.4g} says {law}: it lets the one worker wait {scene.stays:.4g}, for an "
        "exchange with nobody."
    )
    return Frame(told, (*frame.shapes, nobody), frame.facts)


def _endless(scene, scale):
    """What is left when the pieces of all have become nothing."""
    share = scene.stays / scene.together
    ceiling = (
        laws.overhead_ceiling(share, scene.workers)
        if scene.exchange
        else speedup.ceiling(laws.rebase(share, scene.workers))
    )
    frame = _lone(scene, scale, scene.workers, True, "")
    bare = _lanes(replace(scene, piece=0.0), scale)
    gone = tuple(f"lane {worker + 1}" for worker in range(scene.workers))
    kept = {shape.key: shape for shape in frame.shapes if shape.key not in gone}
    kept |= {shape.key: shape for shape in bare if shape.key not in gone}
    for key, text in (
        ("clock K", f"time {scene.stays:.4g}"),
        ("name K", "endless workers together"),
    ):
        kept[key] = replace(kept[key], text=text)
    told = (
        f"Endless workers compute for no time and keep the {scene.stays:.4g}: no number of them gains more "
        f"than {ceiling:.3g} times."
    )
    facts = (f"{scene.alone:.4g} / {scene.stays:.4g} = {ceiling:.3g}", "endless", "100%", "0")
    return Frame(told, tuple(kept.values()), dict(zip(frame.facts, facts, strict=True)))


def _names(scene):
    workers = units.counted(scene.workers, "worker")
    yield Shape("name alone", "text", 4, _HEAD, text="one worker alone", align="start")
    yield Shape("name K", "text", 4, _HEAD_K, text=f"{workers} together", align="start")


def _pieces(scene, scale, many, before):
    """Yield the pieces that one worker does alone, those that are new come from the lane of their worker."""
    for at in range(many):
        long = scene.piece * scale
        yield Shape(
            f"piece {at + 1}", "block", _LEFT + long * (at + 0.5), _ALONE, long, _TALL, tone=_DIVIDES,
            text=f"{scene.piece:.4g}",
            start=(_LEFT + long / 2, _LANES + _LANE * at) if at >= before else None,
        )  # fmt: skip


def _stays(scene, scale, many):
    long = scene.stays * scale
    x = _LEFT + scene.piece * scale * many + long / 2
    return Shape(
        "stays alone", "block", x, _ALONE, long, _TALL, tone=_STAYS, text=f"{scene.stays:.4g}"
    )


def _lanes(scene, scale):
    """Yield what each worker does: its piece, and then the one works on, all exchange or the others wait."""
    long, after = scene.piece * scale, scene.stays * scale
    for worker in range(scene.workers):
        y = _LANES + _LANE * worker
        yield Shape(
            f"lane {worker + 1}", "block", _LEFT + long / 2, y, long, _THIN, tone=_DIVIDES,
            text=f"{scene.piece:.4g}",
        )  # fmt: skip
        kind = "exchange" if scene.exchange else "waits" if worker else "stays"
        tone = _EXCHANGES if scene.exchange else _WAITS if worker else _STAYS
        text = "" if kind == "waits" else f"{scene.stays:.4g}"
        yield Shape(
            f"{kind} {worker + 1}", "block", _LEFT + long + after / 2, y, after, _THIN, tone=tone,
            text=text,
        )  # fmt: skip


def _both(scene):
    return (
        f"One worker: {scene.piece:.4g} s that divide, then {scene.stays:.4g} s that only one can do: a "
        f"share of {scene.shares[0]:.3f}."
    )


def _added(before, scene, grows):
    workers = units.counted(scene.workers, "worker")
    if grows:
        return (
            f"{workers}, {scene.piece:.4g} s of work for each. On their own clock nothing changes; alone, "
            f"one worker would need {scene.alone:.4g} s in place of {before.alone:.4g}."
        )
    return (
        f"{workers} share what divides, {scene.piece:.4g} s for each. Alone, nothing changes; together "
        f"they need {scene.together:.4g} s in place of {before.together:.4g}."
    )


def _read(scene, which):
    if which == "K":
        return (
            f"Read on the clock of the {scene.workers}: {scene.stays:.4g} of {scene.together:.4g} s, "
            f"a share of {scene.shares[1]:.3f}. It is what Gustafson's law asks for."
        )
    return (
        f"The same {scene.stays:.4g} s on the clock of one worker: {scene.stays:.4g} of {scene.alone:.4g} s, "
        f"a share of {scene.shares[0]:.3f}. It is what Amdahl's law asks for."
    )


def _laws(scene):
    own, read = scene.shares
    return (
        f"One job, two shares, {own:.3f} and {read:.3f}: each law with its own share gives the speedup that "
        "the two lengths show."
    )


def _alone_too(scene, exchange):
    if exchange:
        return (
            f"The {scene.stays:.4g} are an exchange, and alone there is nobody to exchange with: one worker "
            f"is done after {scene.alone:.4g}."
        )
    return (
        f"The {scene.stays:.4g} are work that the first did while the second waited: one worker has it, too, "
        f"and needs {scene.alone:.4g}."
    )


def _more(scene, exchange):
    return (
        f"{units.counted(scene.workers, 'worker')} compute for {scene.piece:.4g} each, and the "
        f"{scene.stays:.4g} stay{'' if exchange else ', for one of them'}: together they are "
        f"{scene.alone / scene.together:.3g} times as fast as one."
    )
