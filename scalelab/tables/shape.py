"""What the curve of a scaling table gives away: rules for `audit`, each one threshold and one look.

Each returns None or a Finding; those that explain a curve silence the ones after them.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from scalelab import units
from scalelab.tables import sizes
from scalelab.tables.finding import Finding
from scalelab.tables.nouns import ScalingTable
from scalelab.tables.sizes import Size

# Two honest timings of one thing differ by a few percent; 5% above perfect is more than that.
SUPERLINEAR = 1.05
# The same 5%, below the best size so far.
TURNS = 0.95
# A row 8% below the line of its neighbours: of 125 public series 98 stay within that, 79 within 4%.
OUTLIER = 0.08
# What each later step loses is at most half of what the first lost: else the curve falls all along.
FAR_LESS = 0.5
# Sizes that are needed to call one of them odd: three make a line and a check.
FEWEST = 4
# A replicate so many spreads off the median of its size, and no less than that many times, is another
# experiment. Of normal noise one run in a billion is.
SPREADS, REPLICATE = 6.0, 1.05
# Laws without a corner still rise by more than 2% when the workers double near their start.
CAP, CAP_SIZES, CAP_SPAN = 0.02, 3, 2.0
# Throughput that has not grown by a tenth over four times the workers.
PER_WORKER, PER_WORKER_SPAN = 1.1, 4
# A jump by one of these, give or take 30%, when no cache and no network explains a factor of ten.
FACTORS = {
    60: "minutes and seconds",
    1000: "units a thousand apart, such as ms and s",
    3600: "hours and seconds",
    1e6: "units a million apart, such as µs and s",
}
JUMP, NEAR = 10.0, 1.3


def findings(table: ScalingTable, curve: Sequence[Size]) -> Iterator[Finding]:
    """Yield what the curve shows."""
    yield from filter(None, [replicates(table, curve)])
    if len(curve) < 2:
        return
    if finding := jump(curve):
        yield finding
        return  # whatever else the curve shows is the wrong unit
    if not table.each and (finding := flat(table, curve)):
        yield finding
        return
    odd = outlier(curve)
    even = [size for i, size in enumerate(curve) if i != odd]
    if odd is not None:
        yield _outlier(curve, odd)
    fast = fast_baseline(curve) if odd is None else None
    over = slow_baseline(even) or superlinear(even)
    yield from filter(None, [fast, over, hard_cap(even) or turns_back(even)])


def replicates(table: ScalingTable, curve: Sequence[Size]) -> Finding | None:
    """One run of a size far from the others, by how far runs of this table usually are."""
    runs = [
        (line, abs(math.log(rate / size.rate)))
        for size in curve
        if len(size.rates) > 2
        for line, rate in zip(size.lines, size.rates, strict=True)
    ]
    # The median of a size is off by nothing, whatever the noise, and does not count.
    offs = sorted(off for _, off in runs)[sum(len(size.rates) > 2 for size in curve) :]
    if not offs:
        return None
    spread = statistics.median_low(offs) / 0.6745
    limit = max(SPREADS * spread, math.log(REPLICATE))
    odd = [(line, off) for line, off in runs if off > limit]
    if not odd:
        return None
    worst = units.text(math.exp(max(off for _, off in odd)))
    usual = units.text(math.expm1(statistics.median_low(offs)), "%", 2)
    text = (
        f"A run is {worst} times off the median of its size, where runs are usually off by {usual}."
    )
    remedy = "Find out what else ran then; keep the row, and report the median."
    return Finding("outlier", "warning", text, remedy, tuple(line for line, _ in odd))


def jump(curve: Sequence[Size]) -> Finding | None:
    """The value of one unit among those of another."""
    for left, right in itertools.pairwise(curve):
        grown = right.rate / left.rate
        most = right.workers / left.workers
        for factor, what in FACTORS.items():
            for scaled in (grown / factor, grown * factor):
                wild = grown > JUMP * most or grown < 1 / JUMP
                if wild and 1 / NEAR <= scaled <= NEAR * most:
                    text = (
                        f"Between {left.workers} and {right.workers} workers the rate changes by "
                        f"{units.text(max(grown, 1 / grown))}, which looks like {what} in one column."
                    )
                    remedy = "Write all values of a column in one unit, and name it in the header."
                    return Finding("units", "error", text, remedy, (*left.lines, *right.lines))
    return None


def flat(table: ScalingTable, curve: Sequence[Size]) -> Finding | None:
    """Throughput of all workers that does not grow with them."""
    grown = max(size.rate for size in curve)
    span = curve[-1].workers / curve[0].workers
    if span < PER_WORKER_SPAN or grown > PER_WORKER:
        return None
    if table.measure == "throughput":
        text = f"{units.text(span)} times the workers, and never more throughput: it may be per worker."
        remedy = "If so, multiply it by the workers of its row; if not, nothing here scales."
        return Finding("per_worker", "warning", text, remedy, ())
    if table.claimed == "weak":
        return None  # the curve is then judged as one that turns back
    text = (
        f"{units.text(span)} times the workers, and never less time: this looks like weak scaling."
    )
    remedy = "Add a column `work`; if the work was the same in all rows, nothing here scales."
    return Finding("mislabelled", "warning", text, remedy, ())


def outlier(curve: Sequence[Size]) -> int | None:
    """The size that alone keeps the curve from being smooth, or None.

    A law that flattens never dips below the line between two of its points. So a dip is odd, and so
    is a peak that makes dips of its neighbours; without it no dip may be left.
    """
    dips = _dips(curve)
    if not dips or dips[-1] - dips[0] > 2:  # without one size, only its neighbours bend otherwise
        return None
    suspects = {at for dip in dips for at in (dip - 1, dip, dip + 1) if 0 < at < len(curve) - 1}
    for at in sorted(suspects, key=lambda at: -abs(sizes.bend(curve, at))):
        rest = [size for i, size in enumerate(curve) if i != at]
        if len(curve) >= FEWEST and not _dips(rest, OUTLIER / 2):
            return at
    return None


def slow_baseline(curve: Sequence[Size]) -> Finding | None:
    """Everything is better than the first size, and by much the same."""
    shares = sizes.efficiency(curve)[1:]
    if len(shares) < 2 or min(shares) <= SUPERLINEAR:
        return None
    # Falling from the second size on, the curve is an ordinary one with a starved first row.
    if any(later > earlier * SUPERLINEAR for earlier, later in itertools.pairwise(shares)):
        return None
    text = (
        f"Every size beats {curve[0].workers} workers, by {units.text(max(shares) - 1, '%', 2)} per worker, "
        "and they agree with each other: the baseline is too slow."
    )
    remedy = "Measure the baseline again: the same job, with its best number of threads and enough memory."
    return Finding("slow_baseline", "warning", text, remedy, curve[0].lines)


def fast_baseline(curve: Sequence[Size]) -> Finding | None:
    """A first size better than the smooth curve of all others would have it."""
    if not _dips(curve) or len(curve) < FEWEST or _dips(curve[1:], OUTLIER / 2):
        return None
    first, second = curve[:2]
    losses = _losses(curve)
    if max(losses[1:]) > FAR_LESS * losses[0]:
        return None
    lost = 1 - sizes.efficiency(curve)[1]
    text = (
        f"From {first.workers} to {second.workers} workers each loses {units.text(lost, '%', 2)}, and from "
        "there on far less: the baseline is not of the same kind as the rest."
    )
    remedy = "Measure the baseline again in the configuration of the others, or compare without it."
    return Finding("fast_baseline", "warning", text, remedy, first.lines)


def superlinear(curve: Sequence[Size]) -> Finding | None:
    """Efficiency above 1."""
    over = [
        (size, share)
        for size, share in zip(curve, sizes.efficiency(curve), strict=True)
        if share > SUPERLINEAR
    ]
    if not over:
        return None
    size, share = max(over, key=lambda pair: pair[1])
    text = f"Efficiency reaches {units.text(share)} at {size.workers} workers."
    remedy = (
        "Look for a starved baseline, work that changed, or a working set that now fits a cache; "
        "say which, or do not report it."
    )
    return Finding(
        "superlinear", "warning", text, remedy, tuple(n for s, _ in over for n in s.lines)
    )


def hard_cap(curve: Sequence[Size]) -> Finding | None:
    """A rate that rises and then stays: a corner that no smooth law has."""
    tail, low, high = [], math.inf, 0.0
    for size in reversed(curve):
        low, high = min(low, size.rate), max(high, size.rate)
        if high > (1 + CAP) * low:
            break
        tail.append(size)
    rises = len(tail) < len(curve)
    if len(tail) < CAP_SIZES or tail[0].workers < CAP_SPAN * tail[-1].workers or not rises:
        return None
    first = tail[-1].workers
    text = (
        f"From {first} workers on the rate is the same within {units.text(CAP, '%')}: a hard cap."
    )
    remedy = f"Fit min(linear, cap), not a smooth law, and look for what {first} workers share."
    return Finding(
        "hard_cap", "warning", text, remedy, tuple(n for s in reversed(tail) for n in s.lines)
    )


def turns_back(curve: Sequence[Size]) -> Finding | None:
    """More workers, and less done."""
    best = max(curve, key=lambda size: size.rate)
    after = [s for s in curve if s.workers > best.workers and s.rate < TURNS * best.rate]
    if not after:
        return None
    some = f"{best.workers} worker{'s' * (best.workers > 1)}"
    text = (
        f"The rate is highest at {some}; at {after[-1].workers} it is "
        f"{units.text(1 - after[-1].rate / best.rate, '%', 2)} lower."
    )
    remedy = f"Use no more than {some}, and fit a law that can turn back, such as USL."
    return Finding("turns_back", "warning", text, remedy, tuple(n for s in after for n in s.lines))


def _losses(curve: Sequence[Size]) -> list[float]:
    """What each step loses of the efficiency, in logarithms, by the logarithm of what the workers grew by."""
    shares = sizes.efficiency(curve)
    return [
        math.log(shares[i] / shares[i + 1]) / math.log(curve[i + 1].workers / curve[i].workers)
        for i in range(len(curve) - 1)
    ]


def _dips(curve: Sequence[Size], limit: float = OUTLIER) -> list[int]:
    return [at for at in range(1, len(curve) - 1) if sizes.bend(curve, at) < -limit]


def _outlier(curve: Sequence[Size], at: int) -> Finding:
    left, here, right = curve[at - 1 : at + 2]
    off = math.expm1(sizes.bend(curve, at))
    text = (
        f"At {here.workers} workers the rate is {units.text(abs(off), '%', 2)} "
        f"{'below' if off < 0 else 'above'} the line from {left.workers} to {right.workers}."
    )
    remedy = "Measure this size again; if it stays, say what is different about it."
    return Finding("outlier", "warning", text, remedy, here.lines)
