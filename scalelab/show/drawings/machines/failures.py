"""Section 3.2: a run on several machines of which any may fail, and what its checkpoints save.

The run is the one that `models.machines.failures` follows from failure to failure.
"""

from __future__ import annotations

from collections.abc import Mapping

from scalelab.arguments import real, whole
from scalelab.models.machines import failures
from scalelab.refusal import Refusal
from scalelab.show.drawings.drawing import Drawing, Frame, Shape
from scalelab.show.plots import MODEL

_MOST = 8  # failures of a run that can be told one after the other
_WIDE, _HIGH = 360.0, 262.0
_LEFT, _RIGHT = 80.0, 344.0  # which leaves room for half of the last number
_TOP, _LANE = 20.0, 21.0
_SUMS, _ROW, _BAR = 152.0, 21.0, 14.0
_MARK = 10.0  # no wider to the right than a restart is long
_TONES = {"saved": 3, "unsaved": 1, "lost": 2, "saving": 5, "restarting": 4}
_MACHINES = 4


def interrupted(
    name: str,
    interval: float,
    broken: Mapping[float, int],
    write: float,
    restart: float,
    until: float,
) -> Drawing:
    """A run of four machines, saved after every `interval`; `broken` says when which of them fails.

    All times are in minutes.
    """
    if not isinstance(broken, Mapping) or not 1 <= len(broken) <= _MOST:
        raise Refusal(
            f"broken must be a mapping of 1 to {_MOST} moments to machines, got something else: write "
            "{90: 2} for machine 2 after 90 minutes"
        )
    until = real("until", until, "it is the end of the run, in minutes", 0, above=True)
    for moment, machine in broken.items():
        real("moment", moment, "it is when a machine fails, before the end, in minutes", 0, until)
        whole("machine", machine, "it is the number of the machine that fails", 1, _MACHINES)

    def seen(now):
        """Return the run as it looks at a moment: a failure at that very moment has not come yet."""
        return failures.stretches(now, interval, write, restart, list(broken))

    frames = []
    for now, happens in _moments(interval, broken, write, restart, until):
        after = now + 1e-9 * (happens == "fails")
        stretches = [one for one in seen(after) if one.end - one.start > 1e-6]
        frames.append(_frame(now, happens, stretches, interval, broken, restart, until))
    return Drawing(
        name,
        f"{_MACHINES} machines, saved after every {interval:g} minutes of work",
        "Each lane is a machine, and time runs to the right. All work together, so a block crosses all "
        "lanes; a cross stands where a machine fails. The rows below add up the minutes of each kind.",
        _WIDE,
        _HIGH,
        tuple(frames),
        chosen=(len(frames) - 1,),
        tones=_TONES,
        stamp=MODEL,
    )


def _moments(interval, broken, write, restart, until):
    """Yield the moments that are drawn, and what happens then."""
    yield 0.0, "start"
    if interval + write < min(broken):
        yield interval, "worked"
        yield interval + write, "written"
    for moment in sorted(broken):
        yield moment, "before"
        yield moment, "fails"
        back = moment + restart
        if not any(moment < other < back for other in broken) and back < until:
            yield back, "back"
    yield until, "end"


def _minutes(stretches):
    return {
        kind: sum(one.end - one.start for one in stretches if one.kind == kind) for kind in _TONES
    }


def _frame(now, happens, stretches, interval, broken, restart, until):
    spent = _minutes(stretches)
    return Frame(
        _caption(now, happens, stretches, broken, restart),
        (
            *_axis(until),
            *_run(now, happens, stretches, interval, broken, until),
            *_rows(spent, until),
        ),
        {
            "Minutes of each kind": ", ".join(f"{kind} {_number(spent[kind])}" for kind in spent),
            "Time": f"{_number(now)} of {_number(until)} min",
            "Safe": f"{spent['saved'] / now:.0%} of the time" if now else "–",
        },
    )


def _axis(until):
    """Yield the time axis and the names of the machines."""
    bottom = _TOP + _MACHINES * _LANE
    for fifth in range(6):
        x = _LEFT + fifth * (_RIGHT - _LEFT) / 5
        word = f"{until * fifth / 5:.4g}"
        yield Shape(f"tick {fifth}", "line", x, _TOP - 3, 0, bottom - _TOP + 6, weight=0.4)
        yield Shape(f"time {fifth}", "text", x, 8, text=word)
    # The unit stands before the numbers: a phone has no room for it behind the last.
    yield Shape("unit of time", "text", _LEFT - 12, 8, text="minutes", align="end")
    for machine in range(_MACHINES):
        y = _TOP + _LANE * (machine + 0.5)
        yield Shape(
            f"lane {machine + 1}", "text", _LEFT - 6, y, text=f"machine {machine + 1}", align="end"
        )


def _run(now, happens, stretches, interval, broken, until):
    """Yield a block for each stretch, and a mark for each failure so far."""
    scale, high = (_RIGHT - _LEFT) / until, _MACHINES * _LANE - 4
    middle = _TOP + _MACHINES * _LANE / 2
    for one in stretches:
        # What starts at a moment is the same work, whatever becomes of it.
        work = one.kind in ("saved", "unsaved", "lost")
        key = f"{'work' if work else one.kind} from {one.start:.6g}"
        width = (one.end - one.start) * scale
        x = _LEFT + one.start * scale + width / 2
        yield Shape(key, "block", x, middle, width, high, tone=_TONES[one.kind])
    if happens == "fails":
        # What comes next begins here, with no width yet: so it was there before the mark that stands on it.
        x, tone = _LEFT + now * scale, _TONES["restarting"]
        yield Shape(f"restarting from {now:.6g}", "block", x, middle, 0, high, tone=tone)
    # A mark stands on blocks that were there before it did, so that none comes to lie over it.
    for moment, machine in sorted(broken.items()):
        if moment < now or (moment == now and happens != "before"):
            y = _TOP + _LANE * (machine - 0.5)
            yield Shape(
                f"failure at {moment:g}, saved every {interval:g}",
                "circle",
                _LEFT + moment * scale,
                y,
                _MARK,
                _MARK,
                tone=2,
                text="×",
            )


def _rows(spent, until):
    scale = (_RIGHT - _LEFT) / until
    for row, (kind, minutes) in enumerate(spent.items()):
        y, width = _SUMS + _ROW * (row - 0.5) + 8, minutes * scale
        yield Shape(f"row {kind}", "text", _LEFT - 6, y, text=kind, align="end")
        yield Shape(f"all {kind}", "block", _LEFT + width / 2, y, width, _BAR, tone=_TONES[kind])
        inside = _LEFT + width > _RIGHT - 24
        x, align = _LEFT + width + (-3 if inside else 4), "end" if inside else "start"
        yield Shape(f"minutes {kind}, {align}", "text", x, y, text=_number(minutes), align=align)


def _caption(now, happens, stretches, broken, restart):
    if happens == "start":
        return "All four machines begin. They work on one job in step, so nobody goes on without the others."
    if happens == "worked":
        return f"{_number(now)} minutes of work are done, and nothing is safe: a failure would take it all."
    if happens == "written":
        took = _number(_minutes(stretches)["saving"])
        return f"A checkpoint is written. It took {took} minutes, in which nobody worked."
    if happens == "before":
        risk = _minutes(stretches)["unsaved"]
        return f"After {_number(now)} minutes, {_number(risk)} minutes of work are not saved."
    if happens == "fails":
        return f"Machine {broken[now]} fails. All four stop, and what was not saved is lost on all of them."
    if happens == "back":
        where = (
            "where the last checkpoint left them"
            if any(one.kind == "saved" for one in stretches)
            else "at the very beginning: there is no checkpoint"
        )
        return f"All are back after {_number(restart)} minutes, {where}."
    spent = _minutes(stretches)
    counts = _number(spent["saved"] + spent["unsaved"])
    return (
        f"Of {_number(now)} minutes {counts} are work that counts. {_number(spent['lost'])} were lost, "
        f"{_number(spent['saving'])} went into saving and {_number(spent['restarting'])} into restarts."
    )


def _number(minutes):
    return f"{minutes:.4g}"
