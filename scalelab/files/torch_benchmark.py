"""Measurements of torch.utils.benchmark, as the objects that its Timer returns.

A file of them is a pickle, and whoever reads a pickle runs what its writer wanted to be run. So this
room opens none: load it yourself, if you know who wrote it.
"""

import math
from collections.abc import Iterable
from typing import Any

from scalelab.arguments import scalar, shown
from scalelab.files import cells
from scalelab.records import Machine, Recording, Sample
from scalelab.refusal import Refusal

_UNKNOWN = Machine("not stated by torch.utils.benchmark", cores=None)
_WORDS = ("sub_label", "description", "env")


def recording(
    measurements: Iterable[Any],
    title: str = "torch.utils.benchmark",
    *,
    machine: Machine | None = None,
    date: str = "",
) -> Recording:
    """Return a Sample for each Measurement; its threads, labels and metadata are conditions.

    Of metadata, numbers and texts are read, such as {"workers": 4}. A Measurement does not say where or when
    it was taken. Source: torch/utils/benchmark/utils/common.py. Section 3.1.
    """
    try:
        given = list(measurements)
    except TypeError:
        given = [measurements]
    if isinstance(measurements, (str, bytes)) or not given:
        raise Refusal(
            f"measurements must be Measurement objects, got {shown(measurements)}: take them from a "
            "Timer; a file of them is a pickle, to be loaded only by who trusts its writer"
        )
    samples = tuple(_sample(i, one, machine or _UNKNOWN, date) for i, one in enumerate(given))
    return Recording(title, samples, "by torch.utils.benchmark")


def _sample(index, one, machine, date):
    place = f"measurements[{index}]"
    task = getattr(one, "task_spec", None)
    raw, calls = getattr(one, "raw_times", None), getattr(one, "number_per_run", None)
    if task is None or not isinstance(raw, (list, tuple)):
        raise Refusal(
            f"{place} must be a Measurement, got {shown(one)}: take it from torch.utils.benchmark.Timer"
        )
    if type(calls) is not int or calls < 1 or not all(0 < scalar(t) < math.inf for t in raw):
        raise Refusal(
            f"{place} must hold seconds above 0 of one call or more, got {shown(raw)} of "
            f"{shown(calls)}: time it again"
        )
    conditions: dict[str, cells.Condition] = {"threads": getattr(task, "num_threads", 1)}
    conditions |= {n: v for n in _WORDS if isinstance(v := getattr(task, n, None), str) and v}
    metadata = getattr(one, "metadata", None) or {}
    conditions |= {n: v for n, v in metadata.items() if isinstance(n, str) and _plain(v)}
    try:
        return Sample(
            label=" ".join(str(getattr(task, "title", "")).split()) or "unnamed",
            seconds=tuple(float(time) / calls for time in raw),
            inner=calls,
            machine=machine,
            date=date,
            given=conditions,
            kind="recorded",
        )
    except Refusal as error:
        raise Refusal(f"{place}: {error}") from None


def _plain(value):
    number = type(value) in (int, float) and math.isfinite(scalar(value))
    return number or type(value) in (str, bool)
