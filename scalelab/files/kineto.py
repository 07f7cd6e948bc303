"""Traces in Chrome's JSON format, as PyTorch's profiler (Kineto) writes them: what ran when.

Format: Trace Event Format, events with a duration (ph X, or B and E), microseconds; categories and
header fields as in pytorch/kineto, libkineto/src/output_json.cpp and ActivityType.cpp. Reading judges
nothing.
"""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from scalelab.arguments import scalar, shown
from scalelab.files import files
from scalelab.records import Machine
from scalelab.refusal import Refusal
from scalelab.spans import Span

# One rank's trace of some steps has tens of megabytes.
MOST = 2**29
_FIRST_YEAR = 2015  # older dates are clocks that count from the start of the machine
_MICROSECONDS = 1e16  # 300 years
_LONGEST = 10**15  # nanoseconds, which a number of JSON holds exactly: 11 days


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
    begun: dict[str, list[tuple[str, dict[str, object]]]] = {}
    events = tuple(filter(None, (_event(path, i, item, begun) for i, item in enumerate(listed))))
    if left := next((of[-1] for of in begun.values() if of), None):
        remedy = "was the program stopped?"
        raise files.wrong(path, left[0], "end (ph E), as it begins", "no end", remedy)
    if not events:
        raise files.wrong(
            path,
            "",
            "hold events with a duration (ph X, or B and E)",
            "none",
            "was anything recorded?",
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


def of_spans(rows: Mapping[str, Iterable[Span]], process: str = "scalelab") -> tuple[Event, ...]:
    """Return the events of some sets of moments in nanoseconds, each under the name of its row. Section 3.5.

    >>> of_spans({"compute": [(0, 1500)], "exposed": [(1500, 2000)]})[1].start
    1500
    """
    return tuple(
        Event(name, "span", process, name, start, end, None)
        for name, spans in rows.items()
        for start, end in spans
    )


def text(events: Iterable[Event], *, workers: int | None = None, rank: int = 0) -> str:
    """Write events as a Chrome trace, which chrome://tracing and ui.perfetto.dev show.

    Moments of a clock that started long ago count from the first of them. Section 3.5.

    >>> json.loads(text(of_spans({"compute": [(0, 1500)]})))["traceEvents"][0]["dur"]
    1.5
    """
    taken = list(events)
    for event in taken:
        moments = event[4:6] if isinstance(event, Event) else (None,)
        if not all(type(moment) is int for moment in moments):
            remedy = "give moments as whole nanoseconds"
            raise Refusal(f"events must be kineto.Event, got {shown(event)}: {remedy}")
        if event.end < event.start:
            remedy = "give the start first"
            raise Refusal(f"events must end after they start, got {shown(event)}: {remedy}")
    if not taken:
        raise Refusal("events must hold one at least, got none: was anything recorded?")
    first, last = min(event.start for event in taken), max(event.end for event in taken)
    if last - first > _LONGEST:
        raise Refusal(
            f"events must lie within {_LONGEST:,} ns, got {shown((first, last))}: is it one clock?"
        )
    base = first if max(-first, last) > _LONGEST else 0
    head: dict[str, object] = {"displayTimeUnit": "ns", "baseTimeNanoseconds": base}
    if workers is not None:
        head["distributedInfo"] = {"world_size": workers, "rank": rank}
    listed = [_written(event, base) for event in taken]
    return json.dumps({**head, "traceEvents": listed}, separators=(",", ":")) + "\n"


def _written(event, base):
    begun, length = (event.start - base) / 1000, (event.end - event.start) / 1000
    item = {"ph": "X", "name": event.name, "cat": event.kind, "pid": event.process}
    item |= {"tid": event.thread, "ts": begun, "dur": length}
    if event.correlation is not None:
        item["args"] = {"correlation": event.correlation}
    return item


def _event(path, index, item, begun):
    """Return the Event, or None for flows, counters, names and instants."""
    place = f"traceEvents[{index}]"
    if not isinstance(item, dict):
        raise files.wrong(path, place, "be an object", item, "is it a trace?")
    phase = item.get("ph")
    if phase in ("B", "E"):
        return _half(path, place, item, begun)
    if phase != "X":
        return None
    start = _nanoseconds(path, place, "ts", item, -_MICROSECONDS)
    return _made(path, place, item, start, start + _nanoseconds(path, place, "dur", item, 0))


def _half(path, place, item, begun):
    """Keep the beginning of an event, or return the Event that ends here: the last begun on its thread."""
    stack = begun.setdefault(repr((item.get("pid"), item.get("tid"))), [])
    if item["ph"] == "B":
        stack.append((place, item))
        return None
    if not stack:
        remedy = "is the trace whole?"
        raise files.wrong(path, place, "end what began on its thread", "no beginning", remedy)
    where, first = stack.pop()
    start = _nanoseconds(path, where, "ts", first, -_MICROSECONDS)
    end = _nanoseconds(path, place, "ts", item, -_MICROSECONDS)
    if end < start:
        remedy = "are the events in order?"
        raise files.wrong(path, f"{place}.ts", f"be {first['ts']} or later", item["ts"], remedy)
    return _made(path, where, first, start, end)


def _made(path, place, item, start, end):
    name, kind, args = item.get("name"), item.get("cat", ""), item.get("args") or {}
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(args, dict)):
        expected = "have text for name and cat, an object for args"
        raise files.wrong(path, place, expected, item, "mend it")
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
