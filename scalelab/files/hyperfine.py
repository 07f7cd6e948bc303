"""hyperfine's JSON: times of commands, and the parameters that they were run with; and its CSV, the medians.

Format: github.com/sharkdp/hyperfine, src/benchmark/benchmark_result.rs. What it has no place for, the
machine and the day among it, stands under a key of its own, `sample`, that its scripts pass over.
"""

import dataclasses
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scalelab import records
from scalelab.arguments import scalar, shown
from scalelab.files import cells, files
from scalelab.records import Caution, Machine, Recording
from scalelab.refusal import Refusal

FAILED = "failed runs"  # the case of a Caution
_SUMMARY = ["command", "mean", "stddev", "median", "user", "system", "min", "max"]
_PARAMETER = "parameter_"
_UNKNOWN = Machine("not stated by hyperfine", cores=None)


class Spent(NamedTuple):
    """What hyperfine keeps of a command beside its times."""

    user: float | None = None  # mean seconds of the processor
    system: float | None = None
    exit_codes: Sequence[int | None] = ()  # one for each repetition, None where a signal ended it
    memory: Sequence[int] = ()  # the most bytes in use, one for each repetition


def text(recording: Recording, spent: Sequence[Spent] = ()) -> str:
    """Write a Recording as `hyperfine --export-json` does: conditions are its parameters. Section 3.1.

    >>> from scalelab.records import Sample
    >>> step = Sample("job 2", (0.5, 0.25), 1, Machine("laptop", 4), "2025-11-20", given={"workers": 2})
    >>> result = json.loads(text(Recording("Jobs", (step,))))["results"][0]
    >>> result["command"], result["median"], result["parameters"]
    ('job 2', 0.375, {'workers': '2'})
    """
    if not isinstance(recording, Recording) or not recording.samples:
        raise Refusal(f"recording must hold a sample, got {shown(recording)}: measure something")
    if spent and len(spent) != len(recording.samples):
        raise Refusal(
            f"spent must have one entry for each of {len(recording.samples)} samples, got "
            f"{len(spent)}: leave it out where it is not known"
        )
    records.to_json(recording)  # refuses what could not be read again
    pairs = zip(recording.samples, spent or [Spent()] * len(recording.samples), strict=True)
    head = {"title": recording.title, "note": recording.note}
    results = [_result(sample, beside) for sample, beside in pairs]
    return json.dumps({"results": results, **head}, indent=2, allow_nan=False) + "\n"


def _result(sample, beside):
    times = sample.seconds
    for name, of in (("exit_codes", beside.exit_codes), ("memory", beside.memory)):
        if len(of) not in (0, len(times)):
            raise Refusal(
                f"{name} must have an entry for each of {len(times)} repetitions, got {len(of)}: "
                "leave it out where it is not known"
            )
    result: dict[str, Any] = {
        "command": sample.label,
        "mean": statistics.fmean(times),
        "stddev": statistics.stdev(times) if len(times) > 1 else None,
        "median": sample.median,
        "user": beside.user,
        "system": beside.system,
        "min": min(times),
        "max": max(times),
        "times": list(times),
    }
    if beside.memory:
        result["memory_usage_byte"] = list(beside.memory)
    # What is in a sample came to its end.
    result["exit_codes"] = list(beside.exit_codes) or [0] * len(times)
    result["parameters"] = cells.conditions(sample)
    own = cells.stated(sample)
    result["sample"] = {
        n: cell for n, cell in own.items() if n != "label" and cell not in cells.EMPTY
    }
    return result


def written(data: object) -> bool:
    """Whether what JSON holds looks like hyperfine's.

    >>> written({"results": [{"command": "sleep 1", "times": [1.0]}]}), written({"results": []})
    (True, False)
    """
    results = data.get("results") if isinstance(data, dict) else None
    first = results[0] if isinstance(results, list) and results else None
    return isinstance(first, dict) and {"command", "times"} <= {*first}


def medians(header: Sequence[str]) -> dict[str, str]:
    """Return what the columns of `--export-csv` mean in a scaling table; nothing if the header is another.

    It holds no single run, so there is no Sample in it. Source: src/export/csv.rs, in seconds.

    >>> medians("command,mean,stddev,median,user,system,min,max,parameter_gpus".split(","))
    {'median': 'seconds', 'parameter_gpus': 'gpus'}
    """
    if [*header[: len(_SUMMARY)]] != _SUMMARY:
        return {}
    parameters = header[len(_SUMMARY) :]
    return {"median": "seconds"} | {name: name.removeprefix(_PARAMETER) for name in parameters}


def read(
    path: str | Path,
    content: str | None = None,
    *,
    machine: Machine | None = None,
    date: str = "",
) -> Recording:
    """Return a Sample for each command, with its parameters as conditions.

    The file says neither the machine nor the day. A run that did not end with exit code 0 is left out, and
    advice says so. Where the content is here already, the path is for the words.
    Source: github.com/sharkdp/hyperfine, src/benchmark/benchmark_result.rs. Section 3.1.
    """
    data = files.loaded(path, files.text(path) if content is None else content, once=True)
    if not written(data):
        expected = "hold results, each with command and times"
        remedy = "give what hyperfine wrote with --export-json"
        raise files.wrong(path, "", expected, data, remedy)
    title, note = (data.get(key) for key in ("title", "note"))
    samples = [
        _sample(path, f"results[{i}]", result, machine, date)
        for i, result in enumerate(data["results"])
    ]
    return Recording(
        title if isinstance(title, str) else Path(path).stem,
        tuple(samples),
        note if isinstance(note, str) else "by hyperfine",
    )


def _sample(path, place, result, machine, date):
    if not isinstance(result, dict):
        raise files.wrong(path, place, "be an object", result, "is the file whole?")
    command, parameters = result.get("command"), result.get("parameters", {})
    own = result.get("sample", {})
    if not isinstance(command, str):
        raise files.wrong(path, f"{place}.command", "be text", command, "is the file whole?")
    for name, one in (("parameters", parameters), ("sample", own)):
        if not isinstance(one, dict) or not all(isinstance(cell, str) for cell in one.values()):
            expected = "be an object of texts"
            raise files.wrong(path, f"{place}.{name}", expected, one, "write numbers as text too")
    times, failed = _times(path, place, result)
    given = {name: _condition(cell) for name, cell in parameters.items()}
    try:
        sample = cells.sample(
            own, given, times, machine=machine or _UNKNOWN, date=date, title=command
        )
    except Refusal as error:
        raise Refusal(f"{path} {place}: {error}") from None
    return dataclasses.replace(sample, advice=(*sample.advice, *failed))


def _times(path, place, result):
    """Return the times of the runs that ended well, and a Caution if others did not."""
    times, codes = result.get("times"), result.get("exit_codes")
    if not isinstance(times, list) or not times:
        raise files.wrong(path, f"{place}.times", "be a list of seconds", times, "time it again")
    for i, one in enumerate(times):
        if not 0 < scalar(one) < math.inf:
            expected = "be seconds above 0"
            # hyperfine takes off what a shell needs to start, and shows no less than zero.
            remedy = "time a command so short without a shell (-N)" if one == 0 else "time it again"
            raise files.wrong(path, f"{place}.times[{i}]", expected, one, remedy)
    if codes is None:
        return times, ()
    if not isinstance(codes, list) or len(codes) != len(times):
        expected = f"be a list with one for each of {len(times)} times"
        raise files.wrong(path, f"{place}.exit_codes", expected, codes, "is the file whole?")
    well = [one for one, code in zip(times, codes, strict=True) if code == 0 and code is not False]
    if not well:
        remedy = "mend the command, or take it out of the file"
        raise files.wrong(path, place, "hold a run that ended well", "none", remedy)
    lost = len(times) - len(well)
    failure = Caution(FAILED, f"{lost} of {len(times)} runs failed: their times are left out.")
    return well, (failure,) * (lost > 0)


def _condition(cell):
    value = cells.condition(cell)
    # A word, although Python's JSON reads a number.
    return cell if isinstance(value, float) and not math.isfinite(value) else value
