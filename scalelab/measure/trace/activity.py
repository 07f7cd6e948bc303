"""What in a trace is work, what communication, what waiting: by Kineto's categories and by name.

On a GPU the device's time counts, and the host only explains the gaps; without one the host's does.
"""

import re
from collections.abc import Iterable, Sequence

from scalelab.files.kineto import Event
from scalelab.spans import Span, difference, union

_DEVICE = {"kernel", "concurrent_kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}
_OPERATOR = {"cpu_op", "operator"}
_RUNTIME = re.compile(r"(^|_)(runtime|driver)$")
# NCCL and its relatives, and kernels of other makers that name the collective.
_KERNEL = re.compile(r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all", re.I)
# What moves data: with a GPU, NCCL's kernels do, and its annotation on the host only launches them.
_TRANSFER = re.compile(r"(gloo|mpi|nccl|ucc|xccl):(?!:)")
_HOST_TRANSFER = re.compile(r"(gloo|mpi):(?!:)")
_DISPATCH = re.compile(r"(c10d|_?c10d_functional)::|record_param_comms")
_WAIT = re.compile(
    r"synchroni[sz]e|(^|[:.])wait(_tensor|_stream)?_?$|MultiProcessingDataLoader", re.I
)

_Spans = tuple[Span, ...]
_Kinds = tuple[_Spans, _Spans, list[Event], _Spans]  # work, communication, transfers, launches


def on_device(event: Event) -> bool:
    """Whether this ran on an accelerator: a kernel or a copy, not the marks beside them."""
    return event.kind in _DEVICE


def on_host(event: Event) -> bool:
    """Whether this happened in the process itself."""
    return event.kind not in _DEVICE and not event.kind.startswith("gpu_")


def launches(host: Iterable[Event]) -> dict[object, int]:
    """Return when the host launched what carries each correlation number."""
    calls = (e for e in host if e.correlation is not None and _RUNTIME.search(e.kind))
    return {e.correlation: e.start for e in calls}


def of_host(host: Sequence[Event]) -> _Kinds:
    """Return work, communication, the transfers, and no launches: the host is all there is."""
    work: list[_Spans] = []
    talk: list[list[Span]] = []
    for own in _threads(host):
        talk.append(spans(e for e in own if _TRANSFER.match(e.name) or _DISPATCH.match(e.name)))
        waits = spans(e for e in own if _WAIT.search(e.name))
        # An operator that calls another, or a collective, lies around it on the same thread.
        operators = union(spans(e for e in own if e.kind in _OPERATOR))
        work.append(difference(operators, union(talk[-1], waits)))
    return union(*work), union(*talk), _in_order(e for e in host if _TRANSFER.match(e.name)), ()


def of_device(device: Sequence[Event], host: Sequence[Event]) -> _Kinds:
    """Return work, communication, the transfers, and when launches were prepared or under way."""
    transfers = [e for e in device if _KERNEL.search(e.name)]
    transfers += [e for e in host if _HOST_TRANSFER.match(e.name)]
    work = union(spans(e for e in device if not _KERNEL.search(e.name)))
    called = launches(host)
    busy: list[Sequence[Span]] = [
        [(called[e.correlation], e.start) for e in device if e.correlation in called]
    ]
    for own in _threads(host):
        active = spans(e for e in own if e.kind in _OPERATOR or _RUNTIME.search(e.kind))
        waits = spans(e for e in own if _WAIT.search(e.name))
        busy.append(difference(union(active), union(waits)))
    return work, union(spans(transfers)), _in_order(transfers), union(*busy)


def spans(events: Iterable[Event]) -> list[Span]:
    """Return start and end of each."""
    return [(e.start, e.end) for e in events]


def _in_order(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda e: e.start)


def _threads(host: Iterable[Event]) -> Iterable[list[Event]]:
    by: dict[object, list[Event]] = {}
    for event in host:
        by.setdefault(event.thread, []).append(event)
    return by.values()
