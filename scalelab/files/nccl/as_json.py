"""The file that nccl-tests write with -J: github.com/NVIDIA/nccl-tests, src/util.cu, versions 1, 2."""

import re
from pathlib import Path

from scalelab.files import files
from scalelab.files.nccl.run import Line, Rank, TestRun, collective, number

_NEEDED = object()
_KINDS = {dict: "an object", list: "a list", int: "a whole number", str: "text"}


def read(path: str | Path, text: str) -> TestRun:
    """Return the TestRun of a JSON file."""
    data = files.loaded(path, text)
    config = _get(path, "", data, "config", dict)
    counts = ("nthreads", "ngpus", "iterations", "aggregated_iterations")
    threads, gpus, iterations, aggregated = (_count(path, "config.", config, c) for c in counts)
    # Version 1 closed the object before it.
    listed = _get(path, "config.", config, "devices", list, None) or data.get("devices")
    arguments = _get(path, "", data, "args", list, [])
    day = _get(path, "", data, "start_time", str, "")[:10]
    rows = []
    for i, item in enumerate(_get(path, "", data, "results", list)):
        rows += _rows(path, f"results[{i}].", item, iterations, aggregated)
    return TestRun(
        collective=collective(str(arguments[0])) if arguments else "",
        date=day if re.fullmatch(r"\d{4}-\d\d-\d\d", day) else "",
        per_process=threads * gpus,
        devices=[
            _device(path, i, d) for i, d in enumerate(listed if isinstance(listed, list) else [])
        ],
        rows=rows,
    )


def _device(path, index, item):
    place = f"devices[{index}]."
    numbers = (_get(path, place, item, key, int) for key in ("rank", "group"))
    texts = (_get(path, place, item, key, str, "") for key in ("hostname", "device_info"))
    return Rank(*numbers, *texts)


def _rows(path, place, item, iterations, aggregated):
    """Yield the measured ones of the two placements."""
    for name in ("out_of_place", "in_place"):
        body, where = _get(path, place, item, name, dict, None), f"{place}{name}"
        if body is None:
            continue
        calls = _get(path, place, item, "actual_iterations", int, iterations) * aggregated
        cpu = "cpu_time" in body
        times = [body.get("cpu_time" if cpu else "time")]
        each = _get(path, place, item, f"{name}_per_iter", dict, {}).get("times_us")
        # Of aggregated calls it is not said what each of them took.
        if isinstance(each, list) and each and aggregated == 1:
            times, calls = each, 1
        yield Line(
            where=where,
            size=_get(path, place, item, "size", int),
            type=_get(path, place, item, "type", str, ""),
            redop=_get(path, place, item, "redop", str, "").replace("none", ""),
            in_place=name == "in_place",
            times=[number(path, where, time) for time in times],
            calls=calls,
            wrong=number(path, where, body.get("nwrong") or 0),  # null: not checked
            cpu_time=cpu,
        )


def _count(path, place, data, key):
    value = _get(path, place, data, key, int)
    if not 0 < value < 10**9:
        raise files.wrong(path, f"{place}{key}", "count from 1 on", value, "is it from nccl-tests?")
    return value


def _get(path, place, data, key, kind, default=_NEEDED):
    """Return data[key] if it is of the kind; null is the same as absent."""
    remedy = "give what nccl-tests -J wrote"
    if not isinstance(data, dict):
        raise files.wrong(path, place.rstrip("."), "be an object", data, remedy)
    value = data.get(key)
    if value is None and default is not _NEEDED:
        return default
    if type(value) is not kind:
        raise files.wrong(path, f"{place}{key}", f"be {_KINDS[kind]}", value, remedy)
    return value
