"""An epoch of data-parallel training, second by second: who does what, and who waits (Section 3.1).

A batch is cut in shares. Each worker loads and computes its own, waits for the slowest, exchanges
gradients with the others, and changes its copy of the weights. Nothing overlaps, and no step begins before
the one before it has ended.
"""

from dataclasses import dataclass

from scalelab.arguments import real, whole
from scalelab.models.checking import Numbers, numbers
from scalelab.refusal import Refusal

PARTS = ("loading", "computing", "waiting", "exchange", "update")
MOST = 100  # workers, and batches: nobody reads the spans of more
_LONGEST = 1e15  # seconds of anything
_BATCHES = "they are the seconds that each piece of a batch computes, a row for each batch"
_WORKERS = "it counts the workers that share each batch"


@dataclass(frozen=True)
class Span:
    """What one worker did from one second to another; batches and workers are counted from zero."""

    worker: int
    batch: int
    part: str
    start: float
    end: float


def spans(
    batches: Numbers, workers: int, load: float = 0.0, gradient: float = 0.0, update: float = 0.0
) -> tuple[Span, ...]:
    """Return what every worker does, batch after batch, as spans of time that touch.

    `load` is the time to load a batch, `gradient` to send all gradients once, and `update` to change the
    weights. An exchange takes 2 (K - 1) / K times `gradient`, as by a ring; the update is everybody's own.
    Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002, for the exchange; the sum is ours.
    Section 3.1.

    >>> [(one.part, one.start, one.end) for one in spans([[3, 5]], 2, gradient=1) if one.worker == 0]
    [('computing', 0.0, 3.0), ('waiting', 3.0, 5.0), ('exchange', 5.0, 6.0)]
    """
    pieces = numbers("batches", batches, _BATCHES, 0, _LONGEST, above=True)
    if pieces.ndim != 2 or not pieces.size or pieces.shape[0] > MOST:
        raise Refusal(
            f"batches must be rows of as many pieces each, from 1 to {MOST} rows, got shape "
            f"{pieces.shape}: {_BATCHES}"
        )
    workers = whole("workers", workers, _WORKERS, 1, MOST)
    if pieces.shape[1] % workers:
        raise Refusal(
            f"workers must share the {pieces.shape[1]} pieces of a batch evenly, got {workers}: cut the "
            "batches in more pieces, or take fewer workers"
        )
    load = real("load", load, "it is the time to load one batch, in seconds", 0, _LONGEST)
    gradient = real(
        "gradient", gradient, "it is the time to send all gradients, in seconds", 0, _LONGEST
    )
    update = real("update", update, "it is the time to change the weights, in seconds", 0, _LONGEST)
    exchange = 2 * (workers - 1) / workers * gradient
    found, now = [], 0.0
    for batch, row in enumerate(pieces.reshape(len(pieces), workers, -1).sum(axis=2)):
        slowest = float(row.max())
        for worker, own in enumerate(row.tolist()):
            lengths = (load / workers, own, slowest - own, exchange, update)
            start = now
            for part, length in zip(PARTS, lengths, strict=True):
                if length:
                    found.append(Span(worker, batch, part, start, start + length))
                start += length
        now += load / workers + slowest + exchange + update
    return tuple(found)
