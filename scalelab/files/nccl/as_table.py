"""The table that nccl-tests print: github.com/NVIDIA/nccl-tests, src/util.cu, and common.cu before.

Columns grew over the years (root, timestamps, per-iteration statistics), so the header decides.
Other lines between the rows, such as NCCL's own, are left out.
"""

import re
from pathlib import Path

from scalelab.files import files
from scalelab.files.nccl.run import Line, Rank, TestRun, collective, number

_TAG = re.compile(r"^\[\d+,\d+\]<std(out|err)>: ?")  # mpirun --tag-output
_RANKS = re.compile(r"nThread +(\d{1,9}) +nGpus +(\d{1,9})")
_ITERATIONS = re.compile(r"warmup iters: +\d+ +iters: +(\d{1,9})(?: +agg iters: +(\d{1,9}))?")
_DEVICE = re.compile(
    r"#? *Rank +(\d{1,9})(?: +Group +(\d{1,9}))? +Pid +\d+ +on +(\S+) +device +\d+ +\[[^]]*\] *(.*)"
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_VALUE = re.compile(r"N/A|\d+(\.\d*)?([eE][+-]?\d+)?|nan|inf")


def read(path: str | Path, text: str) -> TestRun:
    """Return the TestRun of a table."""
    name = ranks = iterations = columns = None
    date = ""
    devices, rows = [], []
    for index, line in enumerate(text.split("\n"), start=1):
        line = _TAG.sub("", line).strip()
        if line.startswith("#") or columns is None:
            name = name or collective(line)
            ranks, iterations = ranks or _RANKS.search(line), iterations or _ITERATIONS.search(line)
            if device := _DEVICE.match(line):
                rank, group, host, kind = device.groups()
                devices.append(Rank(int(rank), int(group or 0), host, kind.strip()))
            words = line.lstrip("# ").split()
            if words[:3] == ["size", "count", "type"]:
                columns = words
        elif re.match(r"\d+\s", line):
            cells = line.split()
            if columns[-1] == "timestamp":
                cells, when = cells[:-2], cells[-2:]
                date = date or (when[0] if _DAY.fullmatch(when[0]) else "")
            rows += _rows(path, f"line {index}", cells, columns, iterations)
    if ranks is None or columns is None:
        missing = "a header of columns" if ranks else "a line '# nThread 1 nGpus 8 ...'"
        raise files.wrong(path, "", f"hold {missing}", "none", "give all that nccl-tests printed")
    return TestRun(
        collective=name or "",
        date=date,
        per_process=max(1, int(ranks[1]) * int(ranks[2])),
        devices=devices,
        rows=rows,
    )


def _rows(path, place, cells, columns, iterations):
    """Return the placements of a row: its last columns, for the ones before may be blank."""
    starts = [i for i, column in enumerate(columns) if column in ("time", "cputime")]
    width = (starts[-1] - starts[0]) or (len(columns) - starts[0]) if starts else 0
    for placements in (2, 1):  # in place only, when a trace is replayed
        split = len(cells) - placements * width
        if (
            width >= 4
            and 2 <= split <= starts[0]
            and all(_VALUE.fullmatch(c) for c in cells[split:])
        ):
            break
    else:
        expected = f"hold size, count, type and times under {len(columns)} columns"
        raise files.wrong(path, place, expected, " ".join(cells), "is the line whole?")
    words = [cell for cell in cells[1:split] if not _VALUE.fullmatch(cell) and cell != "-1"]
    calls = int(iterations[1]) * int(iterations[2] or 1) if iterations else 1
    made = []
    for i in range(placements):
        time, _, _, wrong = cells[split + i * width :][:4]
        made.append(
            Line(
                where=place,
                size=int(number(path, place, cells[0])),
                type=words[0] if words else "",
                redop=words[1] if len(words) > 1 and words[1] != "none" else "",
                in_place=i == placements - 1,
                times=[number(path, place, time)],
                calls=max(1, calls),
                wrong=0.0 if wrong == "N/A" else number(path, place, wrong),
                cpu_time=columns[starts[0]] == "cputime",
            )
        )
    return made
