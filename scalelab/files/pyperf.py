"""pyperf's JSON: suites of benchmarks, each with values of several runs and with metadata.

Format: pyperf.readthedocs.io, "pyperf JSON file format", version 1.0. Metadata that pyperf does not
write by itself are conditions; what it has no name for is kept under names that begin with `scalelab.`.
"""

import json
import math
from pathlib import Path
from typing import Any

from scalelab import records
from scalelab.arguments import scalar, shown
from scalelab.files import cells, files
from scalelab.records import Machine, Recording, Sample
from scalelab.refusal import Refusal

_OURS = ".".join(("scalelab", ""))  # as one word it would look like the name of a module
_GIVEN = f"{_OURS}given."  # before a condition whose name is taken
# What pyperf 2.10 collects of the machine, the interpreter and the run, and what its commands add.
_THEIRS = {
    *("name", "description", "unit", "tags", "loops", "inner_loops", "date", "duration", "timer"),
    *("calibrate_loops", "recalibrate_loops", "calibrate_warmups", "recalibrate_warmups"),
    *("perf_version", "pyperf_version", "hostname", "platform", "uptime", "boot_time", "aslr"),
    *("load_avg_1min", "runnable_threads", "mem_max_rss", "mem_peak_pagefile_usage"),
    *("cpu_affinity", "cpu_config", "cpu_count", "cpu_freq", "cpu_machine", "cpu_model_name"),
    *("cpu_temp", "python_cflags", "python_compiler", "python_config_args", "python_executable"),
    *("python_gc", "python_hash_seed", "python_implementation", "python_version", "command"),
    *("command_max_rss", "timeit_stmt", "timeit_setup", "timeit_teardown", "timeit_duplicate"),
    *("python_unicode", "python_jit", "python_git_branch", "python_git_revision"),
}
_HOST = {"cpu_model_name": "processor", "platform": "system", "python_version": "python"}


def text(recording: Recording) -> str:
    """Write a Recording as a suite of pyperf: a benchmark for each sample, conditions as metadata.

    >>> step = Sample("job 2", (0.5, 0.25), 1, Machine("laptop", 4), "2025-11-20", given={"workers": 2})
    >>> benchmark = json.loads(text(Recording("Jobs", (step,))))["benchmarks"][0]
    >>> benchmark["metadata"]["name"], benchmark["metadata"]["workers"], benchmark["runs"][0]["values"]
    ('job 2', 2, [0.5, 0.25])
    """
    if not isinstance(recording, Recording) or not recording.samples:
        raise Refusal(f"recording must hold a sample, got {shown(recording)}: measure something")
    records.to_json(recording)  # refuses what could not be read again
    titles = {"title": recording.title, "note": recording.note}
    shared = {f"{_OURS}{name}": _kept(cell) for name, cell in titles.items()}
    names: set[str] = set()
    suite = {
        "benchmarks": [_benchmark(sample, names) for sample in recording.samples],
        "metadata": {"unit": "second", **shared},
        "version": "1.0",
    }
    return json.dumps(suite, separators=(",", ":"), allow_nan=False) + "\n"


def _benchmark(sample, names):
    # Two benchmarks of one name are no suite to pyperf.
    base = name = _line(sample.label) or "unnamed"
    number = 1
    while name in names:
        number += 1
        name = f"{base} #{number}"
    names.add(name)
    host = {theirs: _line(getattr(sample.machine, ours)) for theirs, ours in _HOST.items()}
    host["hostname"] = _line(sample.machine.name)
    cell_of = cells.stated(sample)
    own = {n: c for n, c in cell_of.items() if n == "label" or c not in cells.EMPTY}
    metadata = {"name": name, "loops": sample.inner}
    metadata |= {n: value for n, value in host.items() if value}
    metadata |= {f"{_OURS}{n}": _kept(cell) for n, cell in own.items()}
    for n, value in sample.given.items():
        taken = n in _THEIRS or n.startswith(_OURS)
        metadata[f"{_GIVEN}{n}" if taken else n] = _kept(value) if isinstance(value, str) else value
    return {"metadata": metadata, "runs": [{"values": list(sample.seconds)}]}


def _line(given):
    return " ".join(given.split())


def _kept(given):
    """Return a text as pyperf takes it: never empty, in one line, and no space around it."""
    plain = given and given == given.strip() and given[0] != '"' and len(given.splitlines()) == 1
    return given if plain else json.dumps(given)


def _freed(given):
    """Return what `_kept` was given; whatever is none of its work stays as it is."""
    if isinstance(given, str) and given[:1] == '"':
        try:
            value = json.loads(given)
        except ValueError:
            return given
        return value if isinstance(value, str) else given
    return given


def written(data: object) -> bool:
    """Whether what JSON holds looks like a suite of pyperf.

    >>> written({"benchmarks": [{"runs": []}], "version": "1.0"}), written({"benchmarks": 3})
    (True, False)
    """
    return isinstance(data, dict) and isinstance(data.get("benchmarks"), list) and "version" in data


def read(
    path: str | Path,
    content: str | None = None,
    *,
    machine: Machine | None = None,
    date: str = "",
) -> Recording:
    """Return a Sample for each benchmark: the values of all its runs, without warm-ups and calibration.

    Runs with different conditions make a sample each. Where the content is here already, the path is for
    the words. Source: pyperf.readthedocs.io, "pyperf JSON file format". Section 3.1.
    """
    data = files.loaded(path, files.text(path) if content is None else content, once=True)
    if not written(data) or not data["benchmarks"]:
        expected = "hold benchmarks and a version"
        raise files.wrong(path, "", expected, data, "give what pyperf wrote with -o")
    if data["version"] != "1.0":
        remedy = "rewrite it with `python -m pyperf convert`"
        raise files.wrong(path, "version", 'be "1.0"', data["version"], remedy)
    suite = _metadata(path, "metadata", data)
    samples: list[Sample] = []
    for i, benchmark in enumerate(data["benchmarks"]):
        place = f"benchmarks[{i}]"
        for metadata, values in _runs(path, place, benchmark, suite):
            samples.append(_sample(path, place, metadata, values, machine, date))
    if not samples:
        raise files.wrong(path, "", "hold a run with values", "none", "let pyperf finish")
    title, note = (_freed(suite.get(f"{_OURS}{name}")) for name in ("title", "note"))
    return Recording(
        title if isinstance(title, str) else Path(path).stem,
        tuple(samples),
        note if isinstance(note, str) else "by pyperf",
    )


def _metadata(path, place, holder):
    given = holder.get("metadata", {})
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise files.wrong(path, place, "be an object", given, "is the file whole?")
    return given


def _runs(path, place, benchmark, suite):
    """Yield the metadata and the values of the runs that share their conditions."""
    if not isinstance(benchmark, dict) or not isinstance(benchmark.get("runs"), list):
        raise files.wrong(
            path, place, "be an object with a list of runs", benchmark, "is it whole?"
        )
    common = suite | _metadata(path, f"{place}.metadata", benchmark)
    groups: dict[str, tuple[dict[str, Any], list[float]]] = {}
    for j, run in enumerate(benchmark["runs"]):
        here = f"{place}.runs[{j}]"
        if not isinstance(run, dict):
            raise files.wrong(path, here, "be an object", run, "is the file whole?")
        metadata = common | _metadata(path, f"{here}.metadata", run)
        if metadata.get("unit", "second") != "second":
            remedy = "give benchmarks of time"
            raise files.wrong(path, here, "be in seconds", metadata["unit"], remedy)
        values = run.get("values", [])
        if not isinstance(values, list):
            raise files.wrong(
                path, f"{here}.values", "be a list of seconds", values, "time it anew"
            )
        for k, one in enumerate(values):
            if not 0 < scalar(one) < math.inf:
                expected = "be seconds above 0"
                raise files.wrong(path, f"{here}.values[{k}]", expected, one, "time it anew")
        if values:  # a run without them only calibrated
            key = repr(sorted(_conditions(metadata).items()))
            groups.setdefault(key, (metadata, []))[1].extend(values)
    yield from groups.values()


def _conditions(metadata):
    known = {
        n for n in metadata if n in _THEIRS or (n.startswith(_OURS) and not n.startswith(_GIVEN))
    }
    own = {n.removeprefix(_GIVEN): value for n, value in metadata.items() if n not in known}
    return {n: _freed(value) for n, value in own.items()}


def _sample(path, place, metadata, values, machine, date):
    own = {
        n.removeprefix(_OURS): _freed(v)
        for n, v in metadata.items()
        if n.startswith(_OURS) and not n.startswith(_GIVEN)
    }
    loops = [metadata.get(name, 1) for name in ("loops", "inner_loops")]
    if not all(type(one) is int and 0 < one < 2**63 for one in loops):
        raise files.wrong(path, f"{place}.metadata", "count loops from 1", loops, "time it anew")
    if not all(isinstance(cell, str) for cell in own.values()):
        expected = f"have texts for all that begins with {_OURS}"
        raise files.wrong(path, f"{place}.metadata", expected, own, "write them anew")
    started = metadata.get("date")
    day = started[:10] if isinstance(started, str) else ""
    name = metadata.get("name")
    try:
        return cells.sample(
            {"inner": str(math.prod(loops))} | own,
            _conditions(metadata),
            values,
            machine=machine or _machine(metadata),
            date=date or day,
            title=name if isinstance(name, str) else Path(path).stem,
        )
    except Refusal as error:
        raise Refusal(f"{path} {place}: {error}") from None


def _machine(metadata):
    stated = {
        ours: metadata[theirs]
        for theirs, ours in _HOST.items()
        if isinstance(metadata.get(theirs), str)
    }
    host, cores = metadata.get("hostname"), metadata.get("cpu_count")
    names = [stated.get("processor"), host if isinstance(host, str) else None]
    usable = type(cores) is int and 0 < cores < 10**9 and "cpu_affinity" not in metadata
    return Machine(
        " on ".join(filter(None, names)) or "not stated by pyperf",
        cores=cores if usable else None,
        **stated,
    )
