"""Who does what when (Section 3.6).

A schedule is plain data: slots of (node, worker, start, finish), ready for a plot or a table.
`schedule` makes valid ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from scalelab.arguments import shown, whole
from scalelab.models.graphs.dag import total
from scalelab.refusal import Refusal


class Slot(NamedTuple):
    """One task in a timeline: this worker is busy with this node from start to finish."""

    node: Hashable
    worker: Hashable
    start: float
    finish: float


@dataclass(frozen=True)
class Schedule:
    """A timeline of slots, and the number of workers that are paid for."""

    workers: int
    timeline: tuple[Slot, ...]

    def __post_init__(self) -> None:
        whole("workers", self.workers, "it counts the workers that are paid for")
        slots = self.timeline
        wrong = [s for s in slots if not _sound(s)] if isinstance(slots, tuple) else [slots]
        if wrong:
            raise Refusal(
                "timeline must be a tuple of slots with 0 <= start <= finish, all finite, "
                f"got {shown(wrong[0])}: write Slot(node, worker, start, finish)"
            )

    @property
    def makespan(self) -> float:
        """When the last task is done: T_K."""
        return max((slot.finish for slot in self.timeline), default=0.0)

    @property
    def efficiency(self) -> float:
        """Share of the workers' time that is busy: T_1 / (K T_K); 1 if there is nothing to do."""
        busy = total([slot.finish - slot.start for slot in self.timeline])
        return busy / self.makespan / self.workers if busy else 1.0


def _sound(slot):
    try:
        hash(slot)  # what names a node or a worker can be looked up
        return isinstance(slot, Slot) and 0 <= slot.start <= slot.finish < math.inf
    except TypeError:
        return False
