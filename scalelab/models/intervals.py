"""What may be added up from a profiler's trace: covered time and exposed time (Sections 3.5 and 3.9).

Events of a trace nest (a step holds a layer holds a kernel) and overlap (an all-reduce runs behind a
backward pass), so their durations do not add up to a time. The lengths of unions do.
"""

import numpy as np

from scalelab import spans
from scalelab.models._given import answer, numbers, table

_STARTS = "it is when each event starts, in seconds"
_ENDS = "it is when each event ends, in seconds, and not before it starts"


def covered(starts, ends):
    """Seconds in which at least one of the events runs: the length of their union.

    Source: the definition. Section 3.5.

    >>> covered(starts=[0, 1, 2, 6], ends=[4, 3, 5, 7])  # durations add up to 10
    6.0
    """
    starts, ends = _events("starts", starts, "ends", ends)
    return answer(lambda *events: spans.length(_union(*events)), starts, ends)


def exposed(starts, ends, other_starts, other_ends):
    """Seconds in which one of the events runs and none of the others: |A or B| - |B|.

    With communication for A and computation for B it is the `exposed` of `laws.step_serial`, whose
    share belongs to the K at which the trace was taken.
    Source: the definition. Sections 3.5 and 3.9.

    >>> exposed(starts=[3], ends=[8], other_starts=[0, 6], other_ends=[5, 7])
    2.0
    """
    starts, ends = _events("starts", starts, "ends", ends)
    others = _events("other_starts", other_starts, "other_ends", other_ends)

    def alone(starts, ends, other_starts, other_ends):
        own = _union(starts, ends)
        return spans.length(spans.difference(own, _union(other_starts, other_ends)))

    return answer(alone, starts, ends, *others)


def _union(starts, ends):
    return spans.union(zip(starts, ends, strict=True))


def _events(starts_name, starts, ends_name, ends):
    starts = numbers(starts_name, starts, _STARTS)
    ends = numbers(ends_name, ends, _ENDS)
    starts, ends = table(**{starts_name: starts, ends_name: ends})
    if (ends < starts).any():
        first = int(np.flatnonzero(ends < starts)[0])
        raise ValueError(
            f"{ends_name} must be at least {starts_name}, got {ends[first]:g} for an event that "
            f"starts at {starts[first]:g}, at position {first}: {_ENDS}"
        )
    return starts, ends
