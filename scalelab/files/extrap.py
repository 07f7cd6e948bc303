"""Extra-P's text format: its models fitted to what was measured here, and its measurements read.

Format: github.com/extra-p/extrap, docs/file-formats.md. Extra-P wants five or more values of every
parameter, takes at most four parameters, and reads every sample of a point as a repetition.
"""

import io
import itertools
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from scalelab.arguments import scalar, shown
from scalelab.files import files
from scalelab.records import Machine, Recording, Sample
from scalelab.refusal import Refusal

_MOST = 4
_TAGS = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA")
_PREAMBLE = 1000  # lines of comments that may stand above
_TIME = re.compile(
    r"(?:.*[\s_])?(?:times?|seconds?|runtime|walltime|duration)(?:[\s_\[(].*)?", re.I
)
_UNKNOWN = Machine("not stated by Extra-P", cores=None)


class _Data(NamedTuple):
    line: int
    metric: str
    region: str
    point: tuple[float, ...]
    seconds: tuple[float, ...]


def text(recording: Recording, parameters: Sequence[str] | None = None) -> str:
    """Write a Recording for Extra-P: parameters are conditions, else all numbers that vary.

    Other conditions that vary make regions of the job, each of which needs the same points.
    Section 3.3.
    """
    samples = recording.samples
    varying = [
        name
        for name in dict.fromkeys(name for s in samples for name in s.given)
        if len({repr(s.given.get(name)) for s in samples}) > 1
    ]
    if parameters is None:
        parameters = [
            n for n in varying if all(_number(s.given.get(n)) is not None for s in samples)
        ]
    if isinstance(parameters, str) or not 1 <= len(parameters) <= _MOST:
        raise Refusal(
            f"parameters must be a list of one to {_MOST} conditions, got {shown(parameters)}: name "
            f"them out of {', '.join(varying) or 'none that vary'}"
        )
    others = [name for name in varying if name not in parameters]
    regions: dict[str, dict[tuple[float, ...], list[float]]] = {}
    for sample in samples:
        region = "->".join(
            [_name(recording.title or "job")]
            + [_name(f"{name}={sample.given[name]}") for name in others if name in sample.given]
        )
        point = tuple(_coordinate(sample, name) for name in parameters)
        regions.setdefault(region, {}).setdefault(point, []).extend(sample.seconds)
    points = list(dict.fromkeys(point for of in regions.values() for point in of))
    for region, of in regions.items():
        missing = [point for point in points if point not in of]
        if missing:
            raise Refusal(
                f"region {shown(region)} must be measured at every point, got none at "
                f"{dict(zip(parameters, map(str, missing[0]), strict=True))}: measure it, or leave "
                "samples out"
            )
    lines = ["PARAMETER " + " ".join(_name(name, "_") for name in parameters)]
    lines += ["POINTS " + " ".join(f"({' '.join(map(_plain, point))})" for point in points)]
    lines += ["METRIC seconds"]
    for region, of in regions.items():
        lines += [f"REGION {region}"]
        lines += ["DATA " + " ".join(map(_plain, of[point])) for point in points]
    return "\n".join(lines) + "\n"


def written(text: str) -> bool:
    r"""Whether a text looks like Extra-P's.

    >>> written("# of a job\nPARAMETER p\n"), written("PARAMETERS,seconds")
    (True, False)
    """
    lines = (line.split(None, 1) for line in itertools.islice(io.StringIO(text), _PREAMBLE))
    first = next((words for words in lines if words and not words[0].startswith("#")), [])
    return len(first) == 2 and first[0] == "PARAMETER"


def read(
    path: str | Path,
    content: str | None = None,
    *,
    machine: Machine | None = None,
    date: str = "",
) -> Recording:
    """Return a Sample for each region and point: its values are repetitions, its coordinates conditions.

    Of several metrics it reads the one whose name says time. The file says neither the machine nor the day.
    Where the content is here already, the path is for the words.
    Source: github.com/extra-p/extrap, docs/file-formats.md. Section 3.3.
    """
    raw = files.text(path) if content is None else content
    names, data = _parsed(path, raw)
    metrics = list(dict.fromkeys(one.metric for one in data))
    times = [name for name in metrics if _TIME.fullmatch(name)] if len(metrics) > 1 else metrics
    if len(times) != 1:
        remedy = "leave one metric in the file, in seconds"
        raise files.wrong(path, "", "have one metric of time", metrics or "no DATA", remedy)
    samples = []
    for one in data:
        if one.metric != times[0]:
            continue
        given = dict(zip(names, map(_short, one.point), strict=True))
        label = f"{one.region} at " + ", ".join(f"{n}={v}" for n, v in given.items())
        try:
            sample = Sample(
                label, one.seconds, 1, machine or _UNKNOWN, date, given=given, kind="recorded"
            )
        except Refusal as error:
            raise Refusal(f"{path} line {one.line}: {error}") from None
        samples.append(sample)
    return Recording(Path(path).stem, tuple(samples), f"{times[0] or 'time'}, by Extra-P")


def _parsed(path, raw):
    names, points, data = [], [], []
    metric = region = ""
    at = 0
    for number, line in enumerate(raw.splitlines(), 1):
        tag, _, rest = line.strip().partition(" ")
        place, rest = f"line {number}", " ".join(rest.split())
        if not tag or tag.startswith("#"):
            continue
        if tag not in _TAGS or not rest:
            expected = f"begin with one of {', '.join(_TAGS)}, and something behind it"
            raise files.wrong(path, place, expected, line[:80], "give Extra-P's text format")
        if tag == "PARAMETER":
            names += rest.split()
            if len(names) > _MOST or len({*names}) < len(names):
                expected = f"name at most {_MOST} parameters, each once"
                raise files.wrong(path, place, expected, names[:9], "leave some out")
        elif tag == "POINTS":
            points += _points(path, place, rest, len(names))
        elif tag in ("METRIC", "REGION"):
            metric, region, at = (rest, region, 0) if tag == "METRIC" else (metric, rest, 0)
        else:
            if at >= len(points):
                expected = f"be at most {len(points)} lines of DATA, as many as POINTS"
                raise files.wrong(path, place, expected, "more", "is a REGION missing?")
            values = tuple(_float(path, place, one) for one in rest.split())
            data.append(_Data(number, metric, region or "job", points[at], values))
            at += 1
    return names, data


def _points(path, place, rest, width):
    groups = re.findall(r"\(([^()]*)\)", rest) if "(" in rest else rest.split()
    found = [tuple(_float(path, place, one) for one in group.split()) for group in groups]
    odd = [point for point in found if len(point) != width or not width]
    if odd or not found:
        expected = f"give each point a number for each of {width} parameters"
        raise files.wrong(path, place, expected, odd[0] if odd else rest, "write (1 2) (1 4)")
    return found


def _float(path, place, word):
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise files.wrong(path, place, "hold numbers", word, "write them like 0.0035")
    return number


def _short(number):
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _coordinate(sample, name):
    value = _number(sample.given.get(name))
    if value is None:
        raise Refusal(
            f"every sample must have a number for {shown(name)}, got "
            f"{shown(sample.given.get(name))} in {shown(sample.label)}: leave it out"
        )
    return value


def _number(value):
    number = scalar(value)
    return number if number == number else None


def _plain(value):
    """Write a number without an exponent, which the format does not have; nothing is rounded."""
    return format(Decimal(repr(float(value))), "f").removesuffix(".0")


def _name(given, space=" "):
    """Write a name in one line and without the arrow that would make two of it."""
    return space.join(str(given).replace("->", "to").split()) or "unnamed"
