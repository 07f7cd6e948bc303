"""Section 3.8: sweeps of message sizes and their fits, algorithms to choose from, and the critical scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from scalelab import units
from scalelab.models.kernels import roofline
from scalelab.models.machines import hardware
from scalelab.models.network import (
    algorithms,
    collectives,
    crossover,
    ledger,
    messages,
    network,
    overlap,
)
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, POWERS
from scalelab.show.plots.arrows import arrows
from scalelab.show.sliders import Slider

if TYPE_CHECKING:
    from scalelab.links.alphabeta import AlphaBeta

_MB = 1e6
# In the rendered book these two start from the reader's own wire.
LATENCY = Slider("latency α", (2e-6, 5e-6, 25e-6), start=5e-6, unit="s", follows="latency")
LINKS = (1.25e9, 12.5e9, 50e9, 300e9, 450e9, 900e9)
# One layer of a model of 70 billion parameters, or experts 1,024 wide in place of its feed-forward.
LAYER = ledger.Layer(855_638_016, 8192, expert=3 * 8192 * 1024, chosen=8)
GPUS = 8  # of a node
STEPPED = 8  # workers of the figure that goes through an all-reduce round by round
WAY = Slider("algorithm", tuple(messages.ALL_REDUCE), start="ring")
ROUND = Slider("after round", range(1, 2 * (STEPPED - 1) + 1), start=1)
_SENDS, _GETS = -2.3, -0.2  # where messages leave and arrive, left of the parts
_LEFT, _RIGHT = -0.84, 0.1  # of the bar of a part, around the mark of what just arrived
LINK = Slider("link 1/β", LINKS, start=50e9, unit="B/s", follows="link")


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
    return Chart(
        title,
        Axis("message M, MB", log=True, ticks=_ticks(series)),
        Axis("milliseconds", log=True),
        tuple(series),
        stamp=stamp,
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


def stepped(way: str, after: float) -> Chart:
    """An all-reduce after some of its rounds: who just sent, and whose gradients each part now holds.

    The plan is carried out: every worker begins with a power of two, so a sum tells who is in it.
    """
    plan = messages.ALL_REDUCE[way](STEPPED)
    done = min(int(after), len(plan.rounds))
    sent = plan.rounds[done - 1]
    begun = messages.MessagePlan(plan.workers, plan.parts, plan.rounds[:done])
    own = np.repeat(2 ** np.arange(STEPPED)[:, None], plan.parts, axis=1)
    sums, cost = messages.run(begun, own)
    _, whole = messages.run(plan, own)
    complete = sums == 2**STEPPED - 1
    high = STEPPED + 0.6
    mine, several, everybody = (
        _parts(label, there, sums, tone)
        for label, there, tone in (
            ("of one worker", sums == own, 0),
            ("of several", (sums != own) & ~complete, 1),
            ("of all", complete, 3),
        )
    )
    arrived = [(part + 1, m.receiver + 1) for m in sent for part in range(m.first, m.last)]
    x, y = zip(*arrived, strict=True)
    ends = [(_SENDS, m.sender + 1, _GETS, m.receiver + 1) for m in sent]
    workers, size = tuple(range(1, STEPPED + 1)), own[0].nbytes
    names = ("sends", "gets", *map(str, workers))
    middles = (part + (_LEFT + _RIGHT) / 2 for part in workers)
    return Chart(
        f"{way.capitalize()} of {STEPPED}: after round {done} of {len(plan.rounds)}",
        Axis("part", False, _SENDS - 0.3, STEPPED + 0.3, (_SENDS, _GETS, *middles), names),
        Axis("worker", low=0.4, high=high, ticks=workers),
        (
            arrows("sends", ends, STEPPED + 0.6 - _SENDS, high - 0.4, tone=2),
            mine,
            several,
            everybody,
            Points("just arrived", x, y, "points", tone=2),
        ),
        {
            "Sent in this round": _told(sent),
            "Paid so far": f"{done}α + {cost.moved / size:g} βM",
            "In the end": f"{len(plan.rounds)}α + {whole.moved / size:g} βM",
            "Have the whole sum": f"{complete.all(axis=1).sum()} of {STEPPED} workers",
        },
        MODEL,
    )


def _parts(label, there, held, tone):
    """Return bars for the parts in one state, and in each the workers whose gradients it holds."""
    spots = [(worker, part) for part, worker in np.argwhere(there.T)]
    x = [edge for _, part in spots for edge in (part + 1 + _LEFT, part + 1 + _RIGHT, np.nan)]
    y = [edge for worker, _ in spots for edge in (worker + 1, worker + 1, np.nan)]
    inside = tuple(_members(int(held[spot])) for spot in spots)
    return Points(label, x or [np.nan], y or [np.nan], "lane", tone=tone, inside=inside)


def _members(total):
    """Name the workers in a sum: 3 or more in a row, on beyond the last to the first, by their ends."""
    found = [worker for worker in range(STEPPED) if total >> worker & 1]
    if len(found) == STEPPED:
        return "all"
    begins = [worker for worker in found if (worker - 1) % STEPPED not in found]
    if len(begins) == 1 and len(found) > 2:
        return f"{begins[0] + 1}-{(begins[0] + len(found) - 1) % STEPPED + 1}"
    return "".join(str(worker + 1) for worker in found)


def _told(sent):
    """Say who sends what to whom, for those who see no arrows."""
    every = all(m.last - m.first == STEPPED for m in sent)
    ways = (f"{m.sender + 1}→{m.receiver + 1}" for m in sent)
    if every:
        return f"all parts: {', '.join(ways)}"
    ends = (f"{m.first + 1}" + f"-{m.last}" * (m.last - m.first > 1) for m in sent)
    return "; ".join(f"part {end}: {way}" for end, way in zip(ends, ways, strict=True))


def choice(workers: float, size: float, latency: float, speed: float) -> Chart:
    """How long each all-reduce takes, over the size of the message; yours is marked."""
    workers = int(workers)
    link = network.Network(latency, 1 / speed)
    sizes = np.geomspace(1e3, 1e10, 15)
    series = [
        Points(
            name, sizes / _MB, 1e3 * collectives.all_reduce(sizes, workers, link, name), tone=tone
        )
        for tone, name in enumerate(algorithms.ALGORITHMS["all-reduce"], 1)
    ]
    best = crossover.fastest(size, workers, link)
    seconds = collectives.all_reduce(size, workers, link, best)
    ring = collectives.all_reduce(size, workers, link, "ring")
    return Chart(
        f"All-reduce among K = {workers:,}",
        Axis("message M, MB", log=True, ticks=(0.001, 0.1, 10.0, 1000.0)),
        Axis("milliseconds", True, 1e-3, 1e6, (0.001, 0.1, 10.0, 1000.0, 1e5)),
        (*series, Points("your message", [size / _MB] * 2, [1e-3, 1e6], "dashed", tone=0)),
        {
            "Fastest": best,
            "It takes": units.text(seconds, "s"),
            "A ring takes": f"{units.text(ring, 's')}, {ring / seconds:.3g} times that",
            "A ring gets half the link at": units.text(workers * latency * speed, "B"),
        },
        MODEL,
    )


def clocks(tokens: float) -> Chart:
    """Three roofs of one H100, by memory, NVLink and network card, and what training sends over each.

    A node has eight of each. Sixteen nodes share the gradients, and a card carries an eighth of them.
    What else goes by card goes between eight GPUs that sit in eight nodes, so each has a card of its own.
    """
    gpu = hardware.device("H100 SXM")
    peak = hardware.peak(gpu, "bf16 tensor")
    ways = {"memory": gpu.bandwidth, "NVLink": 450e9, "card": 50e9}
    rows = ledger.ledger(LAYER, tokens, GPUS)
    gradients, states = rows["DDP"].intensity, rows["tensor"].intensity
    many = ledger.ledger(LAYER, tokens, 16 * GPUS)["DDP"].intensity
    experts = rows["expert"].intensity
    at = np.union1d(np.geomspace(30, 3e5, 41), [peak / b for b in ways.values()])
    series = [
        Points(f"roof of {name}", at, roofline.attainable(at, peak, b) / 1e12, tone=tone)
        for tone, (name, b) in enumerate(ways.items(), 1)
    ]
    points = {
        ("weights", "from memory"): (float(tokens), "memory"),
        ("gradients", "by NVLink"): (gradients, "NVLink"),
        ("gradients", "by 8 cards"): (GPUS * many, "card"),
        ("tensor parallel", "by NVLink"): (states, "NVLink"),
        ("tensor parallel", "by card"): (states, "card"),
        ("experts", "by card"): (experts, "card"),
    }
    for tone, (way, b) in enumerate(ways.items(), 1):
        sent = {what: x for (what, _), (x, by) in points.items() if by == way}
        where = sorted(sent.values())
        reached = [roofline.attainable(x, peak, b) / 1e12 for x in where]
        series.append(Points(f"{way}: {', '.join(sent)}", where, reached, "points", tone=tone))
    return Chart(
        f"One H100 and its three clocks, {int(tokens):,} tokens in a step",
        Axis("FLOP per byte that goes this way", True, 30, ticks=(100, 1e3, 1e4, 1e5)),
        Axis("at most, TFLOP/s", True, 1, 2500, ticks=(1, 10, 100, 1000)),
        tuple(series),
        {
            f"{what}, {by}": f"{units.text(x)} FLOP/B of {units.text(peak / ways[way])}"
            for (what, by), (x, way) in points.items()
        },
        MODEL,
    )


def critical(compute: float, size: float, link: network.Network, most: int = 1024) -> Chart:
    """Computation and ring all-reduce of a step over the workers: where they cross is the critical scale."""
    workers = POWERS[most >= POWERS]
    exchange = collectives.all_reduce(size, workers, link)
    there = overlap.critical_ring_workers(compute, size, link)
    # A single worker exchanges nothing, which has no place on a logarithmic axis.
    shown = np.where(exchange > 0, exchange, math.nan)
    return Chart(
        "A fixed step, divided, and its all-reduce",
        Axis("workers K", log=True, ticks=tuple(workers[::2])),
        Axis("seconds of a step", log=True),
        (
            Points("computation T(1) / K", workers, compute / workers, tone=1),
            Points("all-reduce by ring", workers, shown, tone=2),
            Points("both, nothing hidden", workers, compute / workers + exchange, tone=3),
            Points("critical scale", [there], [compute / there], "points", tone=4),
        ),
        stamp=MODEL,
    )


def _ticks(series):
    least, most = (f(f(one.x) for one in series) for f in (min, max))
    every = 2 if most / least > 1e5 else 1
    return tuple(10.0**n for n in range(-3, 6)[::every] if least <= 10.0**n <= most)


def _ends(estimate, unit):
    """An estimate and its interval as text; an end that the data leave open stays open."""
    if estimate is None:
        return "none to be seen"
    low, high = (
        "?" if end is None else units.text(end, unit, 3) for end in (estimate.low, estimate.high)
    )
    return f"{units.text(estimate.value, unit)} ({low} to {high})"
