"""The steps of a trace, each as sets of moments that tile it."""

import itertools
from bisect import bisect_left
from typing import NamedTuple

from scalelab.arguments import shown
from scalelab.files import files
from scalelab.files.kineto import Event, Trace
from scalelab.measure.trace import activity
from scalelab.spans import Span, difference, intersection, within


class TracedStep(NamedTuple):
    """One step; compute, exposed, launch and idle tile its window."""

    label: str
    window: Span
    compute: tuple[Span, ...]
    communication: tuple[Span, ...]
    exposed: tuple[Span, ...]
    launch: tuple[Span, ...]
    idle: tuple[Span, ...]
    transfers: tuple[Event, ...]  # the events that move data, in order of their start


def steps(trace: Trace, name: str) -> tuple[TracedStep, ...]:
    """Return the TracedStep of every annotation of this name, or of this name, # and a number."""
    marks = _marks(trace, name)
    device = [e for e in trace.events if activity.on_device(e)]
    host = [e for e in trace.events if activity.on_host(e) and e.process == marks[0].process]
    host = [e for e in host if not _is_step(e, name)]
    if len({e.process for e in device}) > 1:
        given = f"{len({e.process for e in device})} devices"
        raise _wrong(trace, "be of one device", given, "export one trace per rank")
    kinds = activity.of_device(device, host) if device else activity.of_host(host)
    windows = _windows(trace, marks, device, activity.launches(host))
    return tuple(_step(m.name, w, *kinds) for m, w in zip(marks, windows, strict=True))


def _step(label, window, work, talk, transfers, busy):
    compute, communication = within(work, *window), within(talk, *window)
    exposed = difference(communication, compute)
    rest = difference(difference((window,), compute), exposed)
    launch = intersection(rest, within(busy, *window))
    idle = difference(rest, launch)
    own = tuple(e for e in transfers if window[0] <= e.start < window[1])
    return TracedStep(label, window, compute, communication, exposed, launch, idle, own)


def _windows(trace, marks, device, launched):
    """Return when each step begins and ends.

    The device lags behind the host: its step ends with the last thing that the host launched in it,
    and the next one does not begin before that.
    """
    calls = sorted((launched.get(e.correlation, e.start), e.end) for e in device)
    windows, done = [], marks[0].start
    for mark in marks:
        start = max(mark.start, done)
        own = calls[bisect_left(calls, (mark.start,)) : bisect_left(calls, (mark.end,))]
        done = max([mark.end, *(end for _, end in own)])
        if done <= start:
            raise _wrong(trace, "have steps that take time", mark.name, "are they marked right?")
        windows.append((start, done))
    return windows


def _marks(trace, name):
    """Return the annotations of the steps in order, of one process and apart from each other."""
    host = [e for e in trace.events if activity.on_host(e)]
    marks = sorted((e for e in host if _is_step(e, name)), key=lambda e: (e.start, e.end))
    if not marks:
        known = sorted({e.name.partition("#")[0] for e in host if e.kind == "user_annotation"})
        remedy = f"name one of {', '.join(map(shown, known[:8]))}, or " if known else ""
        got = f"{len(known)} other annotations" if known else "no annotation"
        remedy += "call profiler.step() after each step"
        raise _wrong(trace, f"contain the step {shown(name)}", got, remedy)
    if len({e.process for e in marks}) > 1:
        raise _wrong(trace, "be of one process", "several", "export one trace per rank")
    for earlier, later in itertools.pairwise(marks):
        if later.start < earlier.end:
            got = f"{earlier.name} and {later.name} at once"
            remedy = "name what encloses exactly one step"
            raise _wrong(trace, "have steps one after another", got, remedy)
    return marks


def _is_step(event, name):
    return event.name == name or event.name.startswith(f"{name}#")


def _wrong(trace, expected, given, remedy):
    return files.wrong(trace.source, "", expected, given, remedy)
