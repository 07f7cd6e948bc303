"""Extra-P's text format, so that its models can be fitted to what was measured here.

Format: github.com/extra-p/extrap, docs/file-formats.md. Extra-P wants five or more values of every
parameter, takes at most four parameters, and reads every sample of a point as a repetition.
"""

from collections.abc import Sequence
from decimal import Decimal

from scalelab.arguments import scalar, shown
from scalelab.records import Recording
from scalelab.refusal import Refusal

_MOST = 4


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
