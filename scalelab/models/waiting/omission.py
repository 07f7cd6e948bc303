"""Coordinated omission: the slow requests that a waiting client never sent (Section 3.4).

A closed-loop client sends the next request when the last one is answered. While the server stalls
it sends nothing, so a stall that would have hurt a thousand users appears as one slow request.
"""

import numpy as np

from scalelab.arguments import real
from scalelab.models.checking import Floats, Numbers, answer, numbers, table
from scalelab.refusal import Refusal

_VALUES = "they are response times, in seconds"
_INTERVAL = "it is the time from one request to the next as planned, in seconds"
_ROOM = 10**7  # values that still fit a laptop


def corrected(values: Numbers, interval: float) -> Floats:
    """The values, and for each v those that its client omitted: v - i, v - 2 i, ... down to i.

    Right for a client that plans to send every i seconds, is alone, and leaves out what it is late for;
    of one that catches up, those stand twice. It makes up what it adds.
    To send on schedule, and to count from the schedule, is better: then nothing is omitted.
    Source: HdrHistogram, recordValueWithExpectedInterval, https://hdrhistogram.org. Section 3.4.

    >>> corrected([0.001, 0.050], 0.010)
    array([0.001, 0.05 , 0.04 , 0.03 , 0.02 , 0.01 ])
    """
    (values,) = table(values=numbers("values", values, _VALUES, 0))
    interval = real("interval", interval, _INTERVAL, 0, above=True)
    # 0.3 / 0.1 is 2.9999999999999996 in floats, and still three intervals.
    omitted = np.atleast_1d(answer(lambda v: np.floor(v / interval * (1 + 1e-12)) - 1, values))
    omitted = np.maximum(omitted, 0)
    if omitted.sum() > _ROOM:
        raise Refusal(
            f"interval must be long enough to add at most {_ROOM:,} values, got {interval:g} s, "
            f"which adds {omitted.sum():.2g}: give it in seconds, like the values"
        )
    omitted = omitted.astype(int)
    first = np.cumsum(omitted) - omitted
    steps = 1 + np.arange(omitted.sum()) - np.repeat(first, omitted)
    return np.concatenate([values, np.repeat(values, omitted) - steps * interval])
