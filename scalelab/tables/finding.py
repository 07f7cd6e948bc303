"""The nouns of an audit: one thing that is wrong, and what to do about it; and all of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scalelab.seen import Seen
from scalelab.tables.nouns import ScalingTable
from scalelab.units import counted

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


@dataclass(frozen=True)
class Audit(Seen):
    """A table and what is wrong with it, the worst first."""

    table: ScalingTable
    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        counts = [
            counted(number, one)
            for one in SEVERITIES
            if (number := sum(found.severity == one for found in self.findings))
        ]
        return f"<Audit of {self.table.name}: {', '.join(counts) or 'nothing wrong was found'}>"

    def facts(self) -> Mapping[str, Sequence[object]]:
        """A row for each finding."""
        found = self.findings
        return {
            "severity": [one.severity for one in found],
            "name": [one.name for one in found],
            "rows": [", ".join(map(str, one.rows)) for one in found],
            "what is wrong": [one.text for one in found],
            "what to do": [one.remedy for one in found],
        }
