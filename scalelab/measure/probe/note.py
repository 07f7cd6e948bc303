"""What a reader of a probe must know beside its numbers: what fell, changed, or is missing."""

from collections.abc import Iterable

from scalelab.measure.probe import levels
from scalelab.measure.probe.part import Taking
from scalelab.measure.probe.workbench import ARRAYS
from scalelab.records import Sample
from scalelab.units import text

# Two looks at the same thing that differ by no more agree.
_SAME = 0.1


def _rates(samples, kind):
    """Return every bandwidth of a copy or a triad, by size, in the order taken."""
    by_size: dict[int, list[float]] = {}
    for sample in samples:
        if sample.given["what"] == kind:
            rates = by_size.setdefault(sample.given["size"], [])
            rates.append(sample.given["bytes"] / sample.median)
    return by_size


def falls(samples: Iterable[Sample]) -> list[tuple[int, int]]:
    """Return where the copy's bandwidth falls."""
    copies = _rates(samples, "copy")
    return levels.falls((size, max(rates)) for size, rates in copies.items())


def _changed(samples):
    """Yield what the memory gave at another rate after the products than before."""
    for kind in ARRAYS:
        by_size = _rates(samples, kind)
        before, after = by_size[max(by_size)]
        if abs(after / before - 1) > _SAME:
            yield (
                f"The largest {kind} moved {text(before, 'B/s')} before the products and "
                f"{text(after, 'B/s')} after: something else shares this memory."
            )


def summary(taking: Taking) -> str:
    """Say what a reader of the numbers must know."""
    bench = taking.bench
    formats = {sample.given.get("format") for sample in taking.samples}
    missing = [name for name in bench.formats if name not in formats]
    seen = falls(taking.samples)
    unseen = levels.unseen(bench.stated, seen)
    drops = [
        f"between {text(above, 'B', binary=True)} and {text(below, 'B', binary=True)}"
        for above, below in seen
    ]
    lines = [
        "Products of random matrices; copy and triad count what they name, as STREAM does.",
        f"No product here in {', '.join(missing)}." if missing else "",
        f"Bandwidth falls {', '.join(drops)}." if drops else "",
        f"No fall confirms the stated size of {', '.join(unseen)}." if unseen else "",
        *_changed(taking.samples),
        "This system does not say what other programs disturbed."
        if taking.blind
        else f"Other programs disturbed {taking.met} of {taking.parts} parts, {taking.disturbed} of "
        "them also in the calmest try.",
    ]
    return " ".join(filter(None, lines))
