"""What a run of nccl-tests says, whichever of its formats said it: the rows and the ranks."""

import re
from pathlib import Path
from typing import NamedTuple

from scalelab.arguments import scalar
from scalelab.files import files


class Line(NamedTuple):
    """One size with the buffers in one placement; times in microseconds per call."""

    where: str  # the place in the file
    size: int
    type: str
    redop: str
    in_place: bool
    times: list[float]
    calls: int  # behind each of the times
    wrong: float  # elements of the result
    cpu_time: bool


class Rank(NamedTuple):
    """A rank and what it runs on; of a process with several, some formats name the first only."""

    rank: int
    group: int
    host: str
    kind: str


class TestRun(NamedTuple):
    """One call of a test program."""

    collective: str
    date: str
    per_process: int  # ranks
    devices: list[Rank]
    rows: list[Line]


def workers(path: str | Path, run: TestRun) -> int:
    """Return how many ranks take part in one collective; groups of a split run several at once.

    Whether a file lists every rank, or the first of each process: both tell every process.
    """
    ranks = [device.rank for device in run.devices]
    if not ranks or len(set(ranks)) < len(ranks):
        given = "a rank twice" if ranks else "none"
        remedy = "give the output of one run; processes that each print need a build with MPI=1"
        raise files.wrong(path, "", "list each rank with its device", given, remedy)
    processes = {device.rank // run.per_process: device.group for device in run.devices}
    groups = list(processes.values())
    sizes = {groups.count(group) for group in groups}
    if len(sizes) > 1:
        raise files.wrong(path, "", "have groups of one size", sorted(sizes), "split them evenly")
    return sizes.pop() * run.per_process


def collective(program: str) -> str:
    """Return "all_reduce" for ".../all_reduce_perf", and nothing if there is no such name.

    >>> collective("# Collective test starting: all_reduce_perf")
    'all_reduce'
    """
    found = re.search(r"\b(\w+)_perf", program)
    return found[1] if found else ""


def number(path: str | Path, place: str, value: object) -> float:
    """Return a float from 0 on, of JSON or of text."""
    try:
        found = float(value) if isinstance(value, str) else scalar(value)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise files.wrong(path, place, "be a number from 0 on", value, "is the line whole?")
    return found
