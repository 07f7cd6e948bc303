"""Traces in Chrome's JSON format, as PyTorch's profiler (Kineto) writes them: what ran when.

Format: Trace Event Format, "complete" events (ph X), microseconds; categories and header fields as
in pytorch/kineto, libkineto/src/output_json.cpp and ActivityType.cpp. Reading judges nothing.
"""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from scalelab.arguments import scalar
from scalelab.files import files
from scalelab.records import Machine

# One rank's trace of some steps has tens of megabytes.
MOST = 2**29
_FIRST_YEAR = 2015  # older dates are clocks that count from the start of the machine
_MICROSECONDS = 1e16  # 300 years


class Event(NamedTuple):
    """One thing that ran, in whole nanoseconds so that parts add up exactly."""

    name: str
    kind: str  # Kineto's category in lower case: cpu_op, user_annotation, kernel, cuda_runtime ...
    process: object
    thread: object
    start: int
    end: int
    correlation: object  # the same for a kernel and for the call that launched it, or None


class Trace(NamedTuple):
    """What a trace file says: the events, and where they come from if it says that too."""

    source: str
    events: tuple[Event, ...]
    workers: int | None
    rank: int | None
    machine: Machine
    date: str


def read(path: str | Path, most: int = MOST) -> Trace:
    """Return the Trace of a .json or .json.gz file.

    Source: Trace Event Format, https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
    Section 3.5.
    """
    data = files.parsed(path, most)
    # Chrome also accepts the bare list.
    head, listed = (data, data.get("traceEvents")) if isinstance(data, dict) else ({}, data)
    if not isinstance(listed, list):
        raise files.wrong(
            path, "", 'hold a list "traceEvents"', type(data).__name__, "give a trace of a profiler"
        )
    events = tuple(filter(None, (_event(path, i, item) for i, item in enumerate(listed))))
    if not events:
        raise files.wrong(
            path, "", "hold events with a duration (ph X)", "none", "was anything recorded?"
        )
    group = head.get("distributedInfo")
    workers, rank = (_count(group, key) for key in ("world_size", "rank"))
    return Trace(
        source=str(path),
        events=events,
        workers=workers or None,
        rank=rank if workers and rank is not None and rank < workers else None,
        machine=Machine(_machine(head), cores=None),
        date=_date(head, events),
    )


def _event(path, index, item):
    """Return the Event, or None for flows, counters, names and instants."""
    place = f"traceEvents[{index}]"
    if not isinstance(item, dict):
        raise files.wrong(path, place, "be an object", item, "is it a trace?")
    phase = item.get("ph")
    if phase in ("B", "E"):
        raise files.wrong(
            path, place, "be a complete event (ph X)", phase, "export it with PyTorch's profiler"
        )
    if phase != "X":
        return None
    name, kind, args = item.get("name"), item.get("cat", ""), item.get("args") or {}
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(args, dict)):
        expected = "have text for name and cat, an object for args"
        raise files.wrong(path, place, expected, item, "mend it")
    start = _nanoseconds(path, place, "ts", item, -_MICROSECONDS)
    end = start + _nanoseconds(path, place, "dur", item, 0)
    names = item.get("pid"), item.get("tid"), args.get("correlation")
    named = (value if isinstance(value, (int, str)) else None for value in names)
    process, thread, correlation = named
    return Event(name, kind.lower(), process, thread, start, end, correlation)


def _nanoseconds(path, place, key, item, least):
    value = item.get(key)
    if type(value) not in (int, float) or not least <= value <= _MICROSECONDS:
        expected = "be a number of microseconds"
        raise files.wrong(path, f"{place}.{key}", expected, value, "is the event whole?")
    return round(value * 1000)


def _count(group, key):
    value = group.get(key) if isinstance(group, dict) else None
    return value if type(value) is int and 0 <= value < 10**9 else None


def _machine(head):
    devices = head.get("deviceProperties") or head.get("computeProperties")
    devices = devices if isinstance(devices, list) else []
    candidates = [d.get("name") for d in devices if isinstance(d, dict)] + [head.get("host_name")]
    names = [name for name in candidates if isinstance(name, str) and name]
    return ", ".join(dict.fromkeys(names)) or "not stated in the trace"


def _date(head, events):
    base = scalar(head.get("baseTimeNanoseconds", 0))
    seconds = (min(e.start for e in events) + (base if math.isfinite(base) else 0)) / 1e9
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.date().isoformat() if moment.year >= _FIRST_YEAR else ""
