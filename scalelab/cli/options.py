"""What several commands take, and how text becomes their numbers."""

import math
from pathlib import Path

import click

from scalelab.arguments import shown
from scalelab.refusal import Refusal

json = click.option("--json", is_flag=True, help="Print the record as JSON.")
out = click.option(
    "--out", type=Path, metavar="FILE", help="Keep the record in FILE, as JSON, from the start on."
)


def counts(text: str, option: str = "--workers") -> list[int]:
    """Read worker counts.

    >>> counts("1,2,4")
    [1, 2, 4]
    """
    return [_whole(part, text, option) for part in text.split(",")]


def powers(fewest: int, most: int) -> list[int]:
    """Return the powers of two from the fewest to the most, or the fewest.

    >>> powers(1, 12), powers(2, 1)
    ([1, 2, 4, 8], [2])
    """
    return [2**n for n in range(most.bit_length()) if 2**n >= fewest] or [fewest]


def sizes(text: str, option: str = "--bytes") -> list[int]:
    """Read sizes in bytes.

    >>> sizes("1KiB, 4 MB, 8")
    [1024, 4000000, 8]
    """
    from scalelab import units

    return [
        int(part) if part.isdecimal() and len(part) < 16 else round(units.parse(part, "B", option))
        for part in map(str.strip, text.split(","))
    ]


def duration(text: str, option: str) -> float:
    """Read a time in seconds, with a unit or without.

    >>> duration("90", "--timeout"), duration("10 min", "--timeout")
    (90.0, 600.0)
    """
    from scalelab import units

    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = units.parse(text, "s", option)
        except Refusal:
            seconds = math.nan
    if not 0 < seconds < math.inf:
        raise Refusal(
            f"{option} must be a time above 0, got {shown(text)}: write it like 90, '10 min' or '2 h'"
        )
    return seconds


def setting(text: str) -> tuple[str, int | float | str]:
    """Read name=value; what looks like a number is one.

    >>> setting("steps=8"), setting("rate=1e-3"), setting("mode=fast")
    (('steps', 8), ('rate', 0.001), ('mode', 'fast'))
    """
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise Refusal(f"--set must be NAME=VALUE, got {shown(text)}: write it like steps=8")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _whole(part: str, text: str, option: str) -> int:
    try:
        if (count := int(part)) > 0:
            return count
    except ValueError:
        pass
    raise Refusal(
        f"{option} must be whole numbers from 1 on with commas between, got {shown(text)}: "
        "write them like 1,2,4"
    )
