"""The noun of an audit: one thing that is wrong, and what to do about it."""

from dataclasses import dataclass

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and what to do about it."""

    name: str
    severity: str  # one of SEVERITIES
    text: str
    remedy: str
    # Lines of the file, or entries of its list; empty for the whole table.
    rows: tuple[int, ...] = ()
