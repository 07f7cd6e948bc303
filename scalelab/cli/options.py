"""What several commands take, and how text becomes their numbers."""

import math
from pathlib import Path

import click

from scalelab.arguments import shown
from scalelab.refusal import Refusal

_WORKBOOKS = (".xlsx", ".xls", ".ods")


def _file(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse what would be a file by a name that nobody meant."""
    if path == Path("-"):
        raise Refusal(f"--out must be a file, got {shown('-')}: use --json for standard output")
    if path is not None and path.suffix.lower() in _WORKBOOKS:
        raise Refusal(
            f"--out must be a file of JSON or CSV, got {shown(str(path))}: name it .csv for a spreadsheet"
        )
    return path


class DeviceChoice(click.Choice[str]):
    """Knows what a GPU is called here: by its letters `gpu` is nearer to cpu."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a device."""
        if value.lower() == "gpu":
            *others, last = self.choices
            names = f"{', '.join(others)} or {last}"
            raise Refusal(f"--device must be {names}, got {shown(value)}: did you mean cuda?")
        return super().convert(value, param, ctx)


json = click.option("--json", is_flag=True, help="Print the record as JSON.")


def _json_file(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse CSV of what is no table."""
    if path is not None and path.suffix.lower() == ".csv":
        raise Refusal(f"--out must be a file of JSON, got {shown(str(path))}: name it .json")
    return _file(context, option, path)


out = click.option(
    "--out",
    type=Path,
    metavar="FILE",
    callback=_file,
    help="Keep it in FILE, as JSON or, by its name, as CSV, from the start on.",
)
out_json = click.option(
    "--out", type=Path, metavar="FILE", callback=_json_file, help="Keep it in FILE, as JSON."
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
    return [_size(part.strip(), text, option) for part in text.split(",")]


def duration(text: str, option: str, most: float = math.inf) -> float:
    """Read a time in seconds, with a unit or without, in any of the ways that a table may have it.

    >>> duration("90", "--timeout"), duration("10 min", "--timeout"), duration("1h 30m", "--timeout")
    (90.0, 600.0, 5400.0)
    >>> duration("1:30:00", "--timeout"), duration("1,5 h", "--timeout")
    (5400.0, 5400.0)
    """
    from scalelab import units
    from scalelab.tables import cells

    try:
        seconds = units.parse(text, "s", option)
    except Refusal:
        ways = (cells.value(text, "seconds", style) for style in ("dot", "comma"))
        seconds = next((found[0] for found in ways if found), math.nan)
    if not 0 < seconds < math.inf or seconds > most:
        limit = "" if math.isinf(most) else f" and at most {units.text(most, 's')}"
        raise Refusal(
            f"{option} must be a time above 0{limit}, got {shown(text)}: "
            "write it like 90, '10 min', '1h 30m' or 1:30:00"
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


def _size(part: str, text: str, option: str) -> int:
    from scalelab import units

    try:
        plain = float(part)
    except ValueError:
        plain = units.parse(part, "B", option)
    if 1 <= plain < 2**63 and (plain == int(plain) or not part[-1].isdecimal()):
        return round(plain)
    raise Refusal(
        f"{option} must be sizes from 1 B on with commas between, got {shown(text)}: "
        "write them like 1KiB,1MiB"
    )
