"""Section 3.8: sweeps of message sizes and their fits, algorithms to choose from, and the critical scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.kernels import roofline
from scalelab.models.machines import hardware
from scalelab.models.network import (
    algorithms,
    bandwidth,
    collectives,
    crossover,
    ledger,
    network,
    overlap,
)
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS, yours
from scalelab.show.sliders import Slider

if TYPE_CHECKING:
    from scalelab.links.alphabeta import AlphaBeta
    from scalelab.links.sweep import Sweep

_MB = 1e6
# In the rendered book these two start from the reader's own network: K leave the box, where NVLink ends.
LATENCY = Slider("latency α", (2e-6, 5e-6, 25e-6), start=5e-6, unit="s", follows="latency")
LINKS = (1.25e9, 12.5e9, 50e9, 450e9)  # from 10 Gbit/s to a card of 400, and NVLink
# One layer of a model of 70 billion parameters, or experts 1,024 wide in place of its feed-forward.
LAYER = ledger.Layer(855_638_016, 8192, expert=3 * 8192 * 1024, chosen=8)
BOX = yours.boxes()
_DASHED = ("halving-doubling",)
_FAR = 10  # times a value: an end of its interval that is farther away is as good as open
_COVERS = 0.02  # of two times, in logarithms: their points lie on each other
_BESIDE = 0.9, 250.0  # times the fastest: a ring of 1,024 is up to 205
LINK = Slider("link 1/β", LINKS, start=50e9, unit="B/s", follows="network")


def sweep(
    title: str,
    fitted: Mapping[str, AlphaBeta],
    stamp: Stamp | None = None,
    naive: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Chart:
    """Measured times over message sizes, the lines fitted to them, and a naive line beside them."""
    series = []
    for tone, (name, fit) in enumerate(fitted.items(), 1):
        size = np.geomspace(fit.sweep.size.min(), fit.sweep.size.max(), 60)
        series.append(Points(f"fitted, {name}", size / _MB, 1e3 * fit.seconds(size), tone=tone))
        measured = fit.sweep.size / _MB, 1e3 * fit.sweep.seconds
        series.append(Points(name, *measured, "points", tone=tone))
    if naive is not None:
        line = 1e3 * naive(size)
        series.append(
            Points(
                "least squares in seconds",
                size / _MB,
                np.where(line > 0, line, np.nan),
                "dashed",
                0,
            )
        )
    if naive is not None:
        see = (
            "The dashed line fits the long messages as well as any. Follow it to the left, where it misses "
            "the short ones by far."
        )
    elif len(fitted) > 1:
        one, two, *_ = fitted
        see = f"On the left their starts set {one} and {two} apart, on the right only their bytes can."
        if _one_behind_the_other(fitted[one].sweep, fitted[two].sweep):
            see += " Where a point seems to be missing, it lies behind the other."
        if any(fit.edges for fit in fitted.values()):
            see += " Where a line jumps, one fit ends and the next begins, with its own latency."
    else:
        see = (
            "Where the line is level, a message pays for its start, and its bytes come nearly free. "
            "Where it climbs in step with M, it pays for bytes."
        )
    return Chart(
        title,
        _whole_marks("message M, MB", [one.x for one in series], _ticks(series)),
        _whole_marks("milliseconds", [one.y for one in series]),
        tuple(series),
        stamp=stamp,
        see=see,
    )


def few_rows(every: Sweep, few: AlphaBeta, stamp: Stamp) -> Chart:
    """The busbw over message size of all rows of a sweep, and of what was fitted to a few of them."""
    factor = float(bandwidth.bus_factor(every.workers)) / 1e9
    given, sizes = few.sweep, np.geomspace(every.size.min(), every.size.max(), 60)
    known = factor * every.size / every.seconds
    fitted = factor * sizes / np.asarray(few.seconds(sizes))
    points = Points("all rows of the sweep", every.size / _MB, known, "points", tone=1)
    marks = factor * given.size / given.seconds
    return Chart(
        "A few rows of a sweep, and what they say of the others",
        _whole_marks("message M, MB", [points.x], _ticks([points])),
        Axis("busbw, GB/s", low=0.0),
        (
            Points("fitted to a few rows", sizes / _MB, fitted, tone=2),
            points,
            Points("the rows it was fitted to", given.size / _MB, marks, "points", tone=2),
        ),
        stamp=stamp,
        see="The line, a single latency and a single bandwidth, knows the marks of its own colour only. "
        "Where rows leave it, its own or others, one line is too few.",
    )


def latencies(fitted: ArrayLike, true: float) -> Chart:
    """What share of many fits put the latency below so much, beside the true one."""
    micros = 1e6 * np.sort(np.asarray(fitted, float))
    share = 100 * (np.arange(micros.size) + 0.5) / micros.size
    few = np.linspace(0, micros.size - 1, 101).round().astype(int)
    return Chart(
        "Latencies that least squares in seconds finds for one link",
        Axis("fitted latency, µs"),
        Axis("% of the fits below", low=0, high=100),
        (
            Points("fits", micros[few], share[few], tone=2),
            Points("true latency", [1e6 * true] * 2, [0, 100], "dashed", tone=0),
        ),
        stamp=MODEL,
        see="The steeper the curve, the more the fits would agree. Read off how many of them lie left of "
        "zero, where a message arrives before it is sent, and how many within, say, 10 µs of the true one.",
    )


def busbw(
    workers: ArrayLike, ring: ArrayLike, switch: ArrayLike, link: float, stamp: Stamp
) -> Chart:
    """The busbw of two ways to add up, and what the second of them has on its wire, in GB/s."""
    workers, switch = np.asarray(workers, float), np.asarray(switch, float)
    carried = switch / bandwidth.bus_factor(workers) * (workers + 1) / workers
    return Chart(
        "Bus bandwidth of 8 GiB on up to eight H200, and the wire",
        Axis("GPUs", low=0.8 * workers.min(), ticks=tuple(workers)),
        Axis("GB/s", low=0.8 * carried.min()),
        (
            Points("ring: busbw, and its wire", workers, ring, "joined", tone=1),
            Points("added up in the switch: busbw", workers, switch, "joined", tone=2),
            Points("added up in the switch: its wire", workers, carried, "joined", tone=3),
            Points(
                "link, by data sheet", workers, np.full(workers.shape, link / 1e9), "dashed", tone=0
            ),
        ),
        stamp=stamp,
        see="One column of the table exceeds the data sheet's line, and no wire does: what the switch's "
        "wire carries lies below the ring's, though the switch is done sooner.",
    )


def rounds(link: network.Network, size: float, most: int = 1024) -> Chart:
    """How many rounds each all-reduce goes through, over the workers, all of them powers of two."""
    workers = POWERS[(POWERS >= 2) & (most >= POWERS)]
    # Two workers are a leaf and a root each, and need half of the rounds that two trees are charged.
    several = workers[workers > 2]

    def counted(name, workers=workers):
        return [algorithms.traffic(size, k, link, "all-reduce", name).rounds for k in workers]

    return Chart(
        "Rounds of an all-reduce",
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("rounds", log=True, ticks=(1, 10, 100, 1000)),
        (
            Points("ring", workers, counted("ring"), tone=1),
            Points("recursive doubling", workers, counted("recursive doubling"), tone=2),
            Points(
                "halving-doubling and binomial tree", workers, counted("halving-doubling"), tone=3
            ),
            Points(
                f"two trees, {units.text(size, 'B')}, at most",
                several,
                counted("double binary tree", several),
                tone=5,
            ),
        ),
        stamp=MODEL,
        see="Each doubling of the workers more than doubles the rounds of the ring. It adds one or two to "
        "those of the others, and four or eight to those of the two trees, whose blocks become more, too. "
        "Two workers need half of the rounds that the formula charges for two trees, so that line begins "
        "at four.",
    )


def waits(counts: Sequence[int], columns: Mapping[str, Sequence[float]], stamp: Stamp) -> Chart:
    """What a step waited for and what it should have, in ms, over the number of buckets."""
    series = [
        Points(
            name, counts, values, "dashed" if "predicted" in name else "joined", tone=1 + at // 2
        )
        for at, (name, values) in enumerate(columns.items())
    ]
    return Chart(
        "How long the steps waited, and how long by the formula",
        Axis("buckets", log=True, ticks=tuple(counts)),
        Axis("exposed, ms"),
        tuple(series),
        stamp=stamp,
        see="Of each colour, the dashes are predicted and the points measured. How far apart a pair lies is "
        "what the formula leaves out: what each bucket costs beside its bytes, cores that are shared, "
        "and two buckets that travel at once.",
    )


def hidden(peak: float, ways: Mapping[str, tuple[float, int, int]]) -> Chart:
    """The exchange of gradients over the backward pass that hides it, over the tokens of each GPU."""
    tokens = np.geomspace(256, 65536, 25)
    series = [
        Points(name, tokens, ledger.least_tokens(peak, *way) / tokens, tone=tone)
        for tone, (name, way) in enumerate(ways.items(), 1)
    ]
    return Chart(
        "Does the backward pass hide the gradients?",
        Axis("tokens per GPU", log=True, ticks=(256, 1024, 4096, 16384, 65536)),
        Axis("exchange over backward pass", log=True, ticks=(0.01, 0.1, 1, 10, 100)),
        (*series, Points("as long as each other", [256, 65536], [1, 1], "dashed", tone=0)),
        stamp=MODEL,
        see="Below the dashed line the exchange is hidden. Half the tokens make the ratio twice as large, "
        "whatever the size of the model.",
    )


def speeds(
    title: str, measured: Sweep, size: float, priced: Mapping[str, float], stamp: Stamp
) -> Chart:
    """Bytes of message per second over its size, beside what prices without latencies allow at any size."""
    last = measured.size >= 1e6
    sizes = measured.size[last]
    ends = sizes[[0, -1]] / _MB
    levels = [
        Points(name, ends, [size / seconds / 1e9] * 2, tone=tone)
        for tone, (name, seconds) in enumerate(priced.items(), 1)
    ]
    points = Points("measured", sizes / _MB, sizes / measured.seconds[last] / 1e9, "points", tone=5)
    ticks = _ticks(levels)
    return Chart(
        title,
        Axis("message M, MB", log=True, ticks=ticks),
        Axis("message over time, GB/s", low=0),
        (*levels, points),
        stamp=stamp,
        see="Each line is as fast as a plan can ever be on these wires. A plan that the points climb above "
        "is not the one that ran.",
    )


def offers(size: float, workers: int, latency: float, speeds: Sequence[float]) -> Chart:
    """An all-reduce by two algorithms over the bandwidth of the links, today's and those on offer marked."""
    at = np.geomspace(min(speeds) / 1.6, max(speeds) * 8, 33)
    at = np.union1d(at, speeds)
    series = []
    for tone, name in enumerate(("ring", "halving-doubling"), 1):
        times = {
            s: collectives.all_reduce(size, workers, network.Network(latency, 1 / s), name)
            for s in at
        }
        series.append(Points(name, at / 1e9, [1e3 * t for t in times.values()], tone=tone))
        marked = [1e3 * times[s] for s in speeds]
        series.append(
            Points(
                f"{name}, today and on offer", np.array(speeds) / 1e9, marked, "points", tone=tone
            )
        )
    return Chart(
        f"{units.text(size, 'B')} among {workers} workers over faster links of the same latency",
        Axis("link 1/β, GB/s", log=True, ticks=(1, 3, 10, 30, 100)),
        Axis("milliseconds", low=0),
        tuple(series),
        stamp=MODEL,
        see="The left point of each curve is today's link, the right one the link on offer. The curves fall "
        "only to the latencies of their rounds. Compare the right point of the ring with the left one of "
        "halving-doubling.",
    )


def skewed(clocks: Sequence[float], late: float, stamp: Stamp) -> Chart:
    """Two ranks in one all-reduce on one axis of time: the first comes in time, the second late."""
    begins = 0.0, 1e3 * late
    ends = [begin + 1e3 * clock for begin, clock in zip(begins, clocks, strict=True)]
    rows = 2.0, 1.0
    return Chart(
        "The same all-reduce, from a common start",
        Axis("milliseconds since the punctual rank began", low=0),
        Axis("", low=0.4, high=2.6, ticks=rows, names=("rank 0", "rank 1, late")),
        (
            Points("on its clock in the all-reduce", [0, ends[0], np.nan, begins[1], ends[1]],
                   [2, 2, np.nan, 1, 1], "lane", tone=2),
            Points("not there yet", [0, begins[1]], [1, 1], "lane", tone=0),
        ),
        stamp=stamp,
        see="Both bars end at nearly the same time, since nobody leaves before the last has come. What "
        "rank 0 spends there beyond rank 1 is its wait.",
    )  # fmt: skip


def exposed(
    size: float, backward: float, workers: int, link: network.Network, most: int = 128
) -> Chart:
    """What a step waits for over the number of equal buckets, and its two reasons."""
    counts = np.unique(np.geomspace(1, most, 60).round())
    each = collectives.all_reduce(size / counts, workers, link)
    waits = overlap.equal_buckets_seconds(size, counts, backward, workers, link)
    best = overlap.best_buckets(size, backward, workers, link, most=most)
    least = overlap.equal_buckets_seconds(size, best, backward, workers, link)
    queue = counts * each - (1 - 1 / counts) * backward
    return Chart(
        f"{units.text(size, 'B')} behind a backward pass of {units.text(backward, 's')}",
        Axis("buckets", log=True, ticks=(1, 4, 16, 64, 256)),
        Axis("exposed, ms", low=0),
        (
            # An area, for a line of its own would lie on the two of which it is the higher.
            Points(
                "exposed",
                counts,
                1e3 * waits,
                "band",
                tone=1,
                low=np.zeros(counts.size),
                high=1e3 * waits,
            ),
            Points("the last bucket alone", counts, 1e3 * each, tone=3),
            Points("the queue of all buckets", counts, 1e3 * np.maximum(queue, 0), tone=2),
            Points("best", [best], [1e3 * least], "points", tone=4),
        ),
        stamp=MODEL,
        see="What is exposed reaches up to the higher of the two curves: on the left one bucket that is too "
        "large, on the right a queue of them that is too long. In between, the exchange keeps up with the "
        "pass, and the curve of the queue lies at zero.",
    )


def moves(ways: Mapping[str, Callable[[int], float]], title: str) -> Chart:
    """Milliseconds of each way to exchange, over the workers."""
    workers = POWERS[(POWERS >= 8) & (POWERS <= 1024)]
    series = [
        Points(
            name,
            workers,
            [1e3 * way(int(k)) for k in workers],
            "line" if tone > 1 else "dashed",
            tone=tone - 1,
        )
        for tone, (name, way) in enumerate(ways.items(), 1)
    ]
    return Chart(
        title,
        Axis("workers K", log=True, ticks=tuple(workers)),
        Axis("milliseconds per step", log=True),
        tuple(series),
        stamp=MODEL,
        see="A move pays where its line is below the dashed one. On the right all climb: each still pays for "
        "the rounds of a ring, or gathers from everybody.",
    )


def regimes(fit: AlphaBeta) -> dict[str, list[str]]:
    """The columns of a table that tells the lines of a fit, with the ends of their intervals."""
    rates = [one.bandwidth for one in fit.regimes]
    return {
        "messages from": [units.text(one.start, "B", binary=True) for one in fit.regimes],
        "to": [units.text(one.stop, "B", binary=True) for one in fit.regimes],
        "latency": [_ends(one.latency, "s") for one in fit.regimes],
        "bytes of message per second": [_ends(rate, "B/s") for rate in rates],
    }


def choice(workers: float, size: float, latency: float, speed: float) -> Chart:
    """How many times as long as the fastest each all-reduce takes, over the size of the message."""
    workers = int(workers)
    link = network.Network(latency, 1 / speed)
    sizes = np.geomspace(1e3, 1e10, 22)
    # Halving-doubling often lies on the ring or on the binomial tree; dashed and last, it hides neither.
    names = sorted(algorithms.ALGORITHMS["all-reduce"], key=lambda name: name in _DASHED)
    tones = {name: tone for tone, name in enumerate(algorithms.ALGORITHMS["all-reduce"], 1)}
    took = {name: collectives.all_reduce(sizes, workers, link, name) for name in names}
    least = np.min(list(took.values()), axis=0)
    series = [
        Points(
            name,
            sizes / _MB,
            took[name] / least,
            "dashed" if name in _DASHED else "line",
            tone=tones[name],
        )
        for name in names
    ]
    best = crossover.fastest(size, workers, link)
    seconds = collectives.all_reduce(size, workers, link, best)
    ring = collectives.all_reduce(size, workers, link, "ring")
    return Chart(
        f"All-reduce among K = {workers:,}, each algorithm beside the fastest",
        Axis("message M, MB", log=True, ticks=(0.001, 0.1, 10.0, 1000.0)),
        Axis("times the fastest", True, *_BESIDE, (1, 2, 5, 10, 20, 50, 100, 200)),
        (*series, Points("your message", [size / _MB] * 2, _BESIDE, "dashed", tone=0)),
        {
            "Fastest": best,
            "It takes": units.text(seconds, "s"),
            "A ring takes": f"{units.text(ring, 's')}, {ring / seconds:.3g} times that",
            "A ring gets half the link at": units.text(workers * latency * speed, "B"),
        },
        MODEL,
        "The fastest lies at 1. On the far left the lines are as far apart as their rounds, "
        "and the further right, the more as their bytes are; where the dashes of halving-doubling lie on "
        "another line, the two cost the same.",
    )


def clocks(box: str, tokens: float) -> Chart:
    """Three roofs of a GPU, by memory, NVLink and network card, and what training sends over each.

    Sixteen boxes share the gradients, and a card carries one GPU's part of them. What else goes by card
    goes between the GPUs of as many boxes, so each has a card of its own.
    """
    node = hardware.node(box)
    peak = hardware.peak(node.device, "bf16 tensor")
    ways = {
        "memory": node.device.bandwidth,
        "NVLink": node.inside.bandwidth,
        "card": node.outside_bandwidth / node.count,
    }
    rows = ledger.ledger(LAYER, tokens, node.count)
    gradients, states = rows["DDP"].intensity, rows["tensor"].intensity
    many = ledger.ledger(LAYER, tokens, 16 * node.count)["DDP"].intensity
    experts = rows["expert"].intensity
    at = np.union1d(np.geomspace(30, 3e5, 41), [peak / b for b in ways.values()])
    # All have the same flat, which is drawn once and in no way's colour; each slope ends where it meets it.
    flat = at[at >= min(peak / b for b in ways.values())]
    series = [
        Points("peak, a roof of all three", flat, np.full(flat.size, peak / 1e12), tone=0),
        *(
            Points(
                f"roof of {name}",
                at[at <= peak / b],
                roofline.attainable(at[at <= peak / b], peak, b) / 1e12,
                tone=tone,
            )
            for tone, (name, b) in enumerate(ways.items(), 1)
        ),
    ]
    points = {
        ("weights", "from memory"): (float(tokens), "memory"),
        ("gradients", "by NVLink"): (gradients, "NVLink"),
        ("gradients", f"by {node.count} cards"): (node.count * many, "card"),
        ("tensor parallel", "by NVLink"): (states, "NVLink"),
        ("tensor parallel", "by card"): (states, "card"),
        ("experts", "by card"): (experts, "card"),
    }
    # What is sent has a colour, its way's where it goes only one; the way is the roof that it lies on.
    for what, tone in (("weights", 1), ("gradients", 4), ("tensor parallel", 5), ("experts", 3)):
        sent = sorted((x, ways[by]) for (one, _), (x, by) in points.items() if one == what)
        reached = [roofline.attainable(x, peak, b) / 1e12 for x, b in sent]
        series.append(Points(what, [x for x, _ in sent], reached, "points", tone=tone))
    return Chart(
        f"A GPU of a {box} and its three clocks, {int(tokens):,} tokens in a step",
        Axis("FLOP per byte that goes this way", True, 30, ticks=(100, 1e3, 1e4, 1e5)),
        Axis("at most, TFLOP/s", True, 0.6, 4000, ticks=(1, 10, 100, 1000)),
        tuple(series),
        {
            f"{what}, {by}": f"{x:,.0f} FLOP/B, ridge\N{NO-BREAK SPACE}{peak / ways[way]:,.0f}"
            for (what, by), (x, way) in points.items()
        },
        MODEL,
        "A point on the flat roof, past its ridge, belongs to a link that keeps up with the computing, and "
        "one on a slope to a link that does not. Of two points of one colour the left or upper one goes by "
        "NVLink, the other by card. Points that stand still while the tokens change are those that no batch "
        "helps.",
    )


def critical(compute: float, size: float, link: network.Network, most: int = 1024) -> Chart:
    """Computation and ring all-reduce of a step over the workers: where they cross is the critical scale."""
    there = overlap.critical_ring_workers(compute, size, link)
    # From where the exchange begins to show, or two of the lines would lie on each other.
    powers = POWERS[(min(there / 8, most / 4) <= POWERS) & (most >= POWERS)]
    # Between two doublings the curves are no straight lines, and they cross between two.
    curve = np.geomspace(powers[0], powers[-1], 8 * len(powers) - 7).round()
    crossing = [one for one in (np.floor(there), np.ceil(there)) if one < powers[-1]]
    workers = np.unique(np.concatenate([curve, powers, crossing]))
    exchange = collectives.all_reduce(size, workers, link)
    return Chart(
        "A fixed step, divided, and its all-reduce",
        Axis("workers K", log=True, ticks=tuple(powers)),
        Axis("seconds of a step", low=0),
        (
            Points("computation T(1) / K", workers, compute / workers, tone=1),
            Points("all-reduce by ring", workers, exchange, tone=2),
            Points("both, nothing hidden", workers, compute / workers + exchange, tone=3),
            Points("critical scale", [there], [compute / there], "points", tone=4),
        ),
        stamp=MODEL,
        see="Computation falls with every doubling, the exchange does not. Right of where they cross, most "
        "of a step is exchange, and no number of workers halves the sum again.",
    )


def _whole_marks(label, values, ticks=()):
    """Return a logarithmic axis with air for a whole mark at either end."""
    known = np.concatenate(values)
    low, high = np.nanmin(known), np.nanmax(known)
    air = max(1.12, (high / low) ** 0.02)
    return Axis(label, True, low / air, high * air, ticks)


def _one_behind_the_other(one, two):
    """Say whether at some size only one of two points can be seen."""
    _, first, second = np.intersect1d(one.size, two.size, return_indices=True)
    return bool((np.abs(np.log(one.seconds[first] / two.seconds[second])) < _COVERS).any())


def _ticks(series):
    least, most = (f(f(one.x) for one in series) for f in (min, max))
    every = 2 if most / least > 1e5 else 1
    return tuple(10.0**n for n in range(-3, 6)[::every] if least <= 10.0**n <= most)


def _ends(estimate, unit):
    """An estimate and its interval as text; an end that is open, or as good as open, stays open."""
    if estimate is None:
        return "none to be seen"
    value, ends = estimate.value, (estimate.low, estimate.high)
    low, high = (
        units.text(end, unit, 3) if end and value / _FAR < end < value * _FAR else "?"
        for end in ends
    )
    return f"{units.text(estimate.value, unit)} ({low} to {high})"
