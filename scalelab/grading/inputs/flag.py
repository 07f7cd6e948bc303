"""Something odd about a submission, as a record: it is put into words where it is shown.

Standard library only.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

HARMLESS, NOTICED, GRAVE = 0, 1, 2  # never cost a point; told; points may be lost or doubtful


@dataclass(frozen=True)
class Flag:
    """What is odd, how grave that is, and which cell it is about.

    `cell` is the id of a cell of the source, or the key of a step of a run, "" for all of it; `into`
    are other cells that the text ends with; `run` tells what a run found from what the file shows.
    """

    text: str
    gravity: int = NOTICED
    cell: str = ""
    into: tuple[str, ...] = ()
    run: bool = False

    def __str__(self) -> str:
        """Write it as one clause.

        >>> str(Flag("is missing", GRAVE, "answer-1-1"))
        'answer-1-1 is missing'
        """
        return " ".join(filter(None, [self.cell, self.text, " and ".join(self.into)]))

    def plain(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self) | {"into": [*self.into]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """Return what `plain` was made from."""
        return cls(**{**plain, "into": tuple(plain["into"])})
