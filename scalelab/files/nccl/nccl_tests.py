"""What NVIDIA's nccl-tests measured, as a Recording: times of a collective by size.

Both formats are read, the table they print and the JSON file of their option -J. Bandwidths are left
out: they follow from bytes, seconds and workers.
"""

import re
from decimal import Decimal
from pathlib import Path

from scalelab import units
from scalelab.files import files
from scalelab.files.nccl import as_json as nccl_json, as_table, run as nccl_run
from scalelab.records import Caution, Machine, Recording, Sample
from scalelab.refusal import Refusal

_THREADS = re.compile(r'\bnThread +\d+ +nGpus +\d|"nthreads" *:')
_CPU = Caution(
    "host time",
    "This is the host's time to launch the collective (-C 1), not the time it takes.",
)


def read(
    path: str | Path,
    content: str | None = None,
    *,
    collective: str = "",
    machine: Machine | None = None,
    date: str = "",
) -> Recording:
    """Return the times of one run: a Sample per size and placement of the buffers.

    A table says the day only with -S 1, and an old one not the collective: then say them here. A time
    is the mean of many calls; with -I 1 the JSON file has each of them. Where the content is here
    already, the path is for the words.
    Source: github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md. Section 3.8.
    """
    text = files.text(path) if content is None else content
    as_json = text.lstrip().startswith("{")
    run = (nccl_json if as_json else as_table).read(path, text)
    if not run.rows:
        raise files.wrong(path, "", "hold a row of results", "none", "did the test run to its end?")
    workers = nccl_run.workers(path, run)
    name = collective or run.collective or "collective"
    host = machine or Machine(_host(run), cores=None)
    samples = tuple(_sample(path, row, name, workers, host, date or run.date) for row in run.rows)
    return Recording(f"{name} on {workers} workers, by size", samples, "by nccl-tests")


def written(text: str) -> bool:
    """Whether a text looks like what nccl-tests print, or write as JSON.

    >>> written("# nThread 1 nGpus 8 minBytes 1024"), written("workers,seconds")
    (True, False)
    """
    return bool(_THREADS.search(text))


def _sample(path, row, name, workers, machine, date):
    size, place = units.text(row.size, "B", binary=True), "in" if row.in_place else "out of"
    given = {"workers": workers, "bytes": row.size, "in_place": row.in_place}
    wrong = Caution(
        "wrong result", f"{row.wrong:g} values of the result were wrong: do not use this time."
    )
    try:
        return Sample(
            label=f"{name} of {size}, {place} place",
            seconds=tuple(float(Decimal(repr(us)).scaleb(-6)) for us in row.times),
            inner=row.calls,
            machine=machine,
            date=date,
            stopped=f"all {row.calls * len(row.times)} calls done",
            advice=(wrong,) * (row.wrong > 0) + (_CPU,) * row.cpu_time,
            given=given | {k: v for k, v in (("type", row.type), ("redop", row.redop)) if v},
            kind="recorded",
        )
    except Refusal as error:
        raise Refusal(f"{path} {row.where}: {error}") from None


def _host(run):
    hosts = list(dict.fromkeys(device.host for device in run.devices if device.host))
    kinds = dict.fromkeys(device.kind for device in run.devices if device.kind)
    place = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts" if hosts else ""
    return " on ".join(filter(None, [", ".join(kinds), place])) or "not stated by nccl-tests"
