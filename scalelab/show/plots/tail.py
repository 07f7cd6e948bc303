"""Section 3.4: response over utilization, tails as they are, and what a pause does to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from scalelab import units
from scalelab.models.waiting import capacity, gathering as batching, hedging, queues, tail
from scalelab.records import Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL

_TURN = (0.8, 0.83, 0.85, 0.87, 0.885, 0.9, 0.915, 0.93, 0.94, 0.95, 0.96, 0.97)
BUSY = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, *_TURN])
SHARES = {"p50": 0.50, "p99": 0.99}


def pool(utilization: float, servers: float, fan_out: float) -> Chart:
    """Response of one call to a pool, and of a page that needs an answer from many such pools."""
    servers, fan_out = int(servers), int(fan_out)

    curves, here = [], {}
    for calls, what, tones in ((1, "one call", (3, 1)), (fan_out, "page", (4, 2))):
        for (name, share), tone in zip(SHARES.items(), tones, strict=True):
            kind = "dashed" if name == "p50" else "line"
            curve = _response(servers, share, calls)
            curves.append(Points(f"{what}, {name}", BUSY, curve, kind, tone=tone))
            here[what, name] = np.exp(np.interp(utilization, BUSY, np.log(curve)))
    both = {
        what: " and ".join(f"{here[what, name]:.3g}" for name in SHARES)
        for what in ("one call", "page")
    }
    marks = [utilization] * len(here)
    curves.append(Points("where you are", marks, list(here.values()), "points", tone=0))
    return Chart(
        f"{units.counted(servers, 'server')} per pool, {utilization:.0%} busy, "
        f"{units.counted(fan_out, 'call')} per page",
        Axis("utilization of each pool", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        Axis("response, in service times", log=True, low=0.5, ticks=(1, 10, 100, 1000)),
        tuple(curves),
        {
            "One call, p50 and p99, in services": both["one call"],
            "Page, p50 and p99, in services": both["page"],
            "Pages slower than a call's p99": f"{100 * tail.fan_out(0.01, fan_out):.3g}% of all",
            "Knee of such a pool": f"{capacity.knee(servers):.0%} busy",
        },
        MODEL,
        "All four curves turn up where servers have little time to spare, and later the more of them share "
        "a queue. At the far left hardly anybody waits: what parts the curves there is the service itself.",
    )


@cache
def _response(servers, share, calls):
    """Return the percentile of the slowest of some calls, at every utilization of their pools."""
    # All calls are in time with this chance if each is with its root.
    each = share ** (1 / calls)
    return queues.response_percentile(BUSY * servers, 1.0, servers, share=each)


def requests(title: str, seconds: ArrayLike, stamp: Stamp | None = None) -> Chart:
    """The response of each request in the order in which they were sent, and three numbers for all."""
    seconds = np.asarray(seconds, dtype=float)
    p50, p99 = tail.percentile(seconds, [0.50, 0.99])
    # All beyond the p99, and of the others as many as a picture can hold.
    usual = np.flatnonzero(seconds <= p99)
    slow = np.flatnonzero(seconds > p99)
    drawn = np.union1d(slow, usual[:: max(1, len(usual) // 300)])
    ends = [1, len(seconds)]
    series = [Points("a request", drawn + 1, 1e3 * seconds[drawn], "points", tone=1)]
    lines = {
        "p99": (p99, "line", 2),
        "p50": (p50, "line", 4),
        "mean": (seconds.mean(), "dashed", 3),
    }
    for name, (value, kind, tone) in lines.items():  # the mean last: it may lie on the p50
        series.append(Points(name, ends, [1e3 * value] * 2, kind, tone=tone, end=name))
    at = int(np.argmax(seconds))
    series.append(Points("slowest", [at + 1], [1e3 * seconds[at]], "points", tone=0))
    return Chart(
        title,
        Axis("number of the request", high=1.14 * len(seconds)),  # room for the names of the lines
        Axis("response, ms", log=True),
        tuple(series),
        stamp=stamp,
        see="Half of the requests lie below the p50, and no more than one in a hundred above the p99. Slow "
        "ones pull the mean up: where the dashed line lies on the p50, they were too few or not slow enough. "
        "The axis of the response is logarithmic.",
    )


def repeated(title: str, tests: Mapping[int, ArrayLike], true: float) -> Chart:
    """What several tests of so many requests each report, and what they should."""
    sizes = np.repeat(list(tests), [np.size(found) for found in tests.values()])
    reported = np.concatenate([*tests.values()])
    ends = [min(tests), max(tests)]
    return Chart(
        title,
        Axis("requests in a test", log=True, ticks=tuple(tests)),
        Axis("p99 reported, in mean responses", low=float(np.floor(reported.min()))),
        (
            Points("the true p99", ends, [true, true], "dashed", tone=0),
            Points("one test", sizes, reported, "points", tone=2),
        ),
        stamp=MODEL,
        see="Nothing differs between the points of a column but luck. Ten times as many requests bring them "
        "about three times nearer to the dashed line.",
    )


def inside(title: str, mean: float, share: float) -> Chart:
    """For which share of the time so many are inside, if none waits for another: a Poisson distribution."""
    from scipy.stats import poisson

    most = queues.concurrency_percentile(mean, 1.0, share=share)
    counts = np.arange(*poisson.ppf([1e-4, 1 - 1e-4], mean))
    times = 100 * poisson.pmf(counts, mean)
    ends = [0.0, times.max()]
    return Chart(
        title,
        Axis("conversations inside", low=float(counts[0])),
        Axis("share of the time, %", low=0.0),
        (
            Points("this many are inside", counts, times, tone=1),
            Points("the mean, by Little's law", [mean] * 2, ends, "dashed", tone=0),
            Points(f"enough for {share:.0%} of the time", [most] * 2, ends, tone=2),
        ),
        stamp=MODEL,
        see="What lies to the right of a line is the time for which that much room is too little: about half "
        "at the mean, and hardly any at the second line, though it stands only a little further right.",
    )


def crowd(
    title: str,
    clients: ArrayLike,
    throughput: ArrayLike,
    seconds: ArrayLike,
    stamp: Stamp | None = None,
) -> Chart:
    """What more clients who wait bring, of answers and of waiting, against what one had."""
    clients, throughput, seconds = (
        np.asarray(one, dtype=float) for one in (clients, throughput, seconds)
    )
    return Chart(
        title,
        Axis("clients N", log=True, ticks=tuple(clients)),
        Axis("times as much as with one client", log=True, ticks=(1, 2, 4, 8)),
        (
            Points("N", clients, clients, "dashed", tone=0),
            Points("mean response", clients, seconds / seconds[0], "joined", tone=2),
            Points("answers per second", clients, throughput / throughput[0], "joined", tone=1),
        ),
        stamp=stamp,
        see="By Little's law the two curves multiplied nearly give the dashed line: what more clients do not "
        "bring in answers, they bring in waiting.",
    )


def spells(title: str, arrivals: np.ndarray, seconds: np.ndarray, share: float) -> Chart:
    """Twenty seconds around the slowest request of a run that was played, and the run's percentile."""
    slowest = int(np.argmax(seconds))
    near = np.abs(arrivals - arrivals[slowest]) <= 10
    at, top = arrivals[near] - arrivals[near][0], int(np.argmax(seconds[near]))
    limit = 1e3 * tail.percentile(seconds, share)
    return Chart(
        title,
        Axis("arrival, s", low=0.0),
        Axis("response, ms", low=0.0),
        (
            Points("requests, one after another", at, 1e3 * seconds[near], tone=1),
            Points(
                f"p{100 * share:g} of the whole run", at[[0, -1]], [limit] * 2, "dashed", tone=0
            ),
            Points("slowest", [at[top]], [1e3 * seconds[slowest]], "points", tone=0),
        ),
        stamp=MODEL,
        see="The slow requests, above the dashed line, are not scattered over the run. They stand behind "
        "each other in hills, because a queue that is long stays long for a while.",
    )


def pools(title: str, servers: Iterable[int]) -> Chart:
    """Mean response over utilization, for several numbers of servers at one queue, and the knee of each."""
    counts = np.array(list(servers))
    knees = np.asarray(capacity.knee(counts))
    # Every curve is told at every knee, so that the table reads nothing between points.
    at = np.union1d(1 - np.geomspace(0.98, 0.03, 100), knees)  # dense where they turn
    series = [
        Points(units.counted(n, "server"), at, queues.response(at * n, 1.0, n), tone=tone)
        for tone, n in enumerate(counts.tolist(), 1)
    ]
    marked = queues.response(knees * counts, 1.0, counts)
    series.append(Points("knee", knees, marked, "points", tone=0))
    return Chart(
        title,
        Axis("utilization", low=0.0, high=1.0),
        Axis("mean response, in service times", low=0.0, high=12.0),
        tuple(series),
        stamp=MODEL,
        see="Every curve begins at one service time and rises without end towards full load. The more "
        "servers share the queue, the later and the more sharply it turns.",
    )


_TAIL = (
    "A curve crosses 0.1 at its p90 and, if it has a hundred requests, 0.01 at its p99, with few of them "
    "behind it. The last point of each is one single request, and says no more than that."
)
_PROMISE = (
    "The promise is kept by whatever passes below the crossing of the dashed lines. More servers shift the "
    "curve to the left, as far as the service itself. A second chance elsewhere, with the loser cancelled, "
    "makes it fall more steeply; one in the same queue makes everything later."
)


def tails(
    title: str,
    columns: Mapping[str, ArrayLike],
    stamp: Stamp | None = None,
    promise: tuple[float, float] | None = None,
) -> Chart:
    """The share of requests that are slower, over the response: each tail as far as it is known.

    With a promise, a share of requests and the seconds that it names, only the slower half is drawn.
    """
    tails, kept = {name: np.sort(seconds) for name, seconds in columns.items()}, []
    for ordered in tails.values():
        most = len(ordered) // 2 if promise else len(ordered)
        keep = np.unique(np.geomspace(1, most, 60).round().astype(int))
        kept.append(ordered[np.sort(len(ordered) - keep)])  # dense where it is rare
    limits = [promise[1]] if promise else []
    series, every = [], np.unique(np.concatenate([*kept, limits]))
    for tone, ((name, ordered), own) in enumerate(zip(tails.items(), kept, strict=True), 1):
        # Each is counted where any of them is told, so that nothing is read between its points.
        at = every[(own[0] <= every) & (every <= own[-1])]
        slower = 1 - np.searchsorted(ordered, at) / len(ordered)  # at least as slow as this one
        series.append(Points(name, 1e3 * at, slower, tone=tone))
    least, high = min(one.y.min() for one in series), None
    if promise:
        share, limit = 1 - promise[0], 1e3 * promise[1]
        ends = [min(one.x.min() for one in series), max(one.x.max() for one in series)]
        rare, late = f"{share:.2g}", f"{limit:g} ms"  # the share as its axis has it
        series.append(
            Points(f"{rare} of the requests", ends, [share] * 2, "dashed", tone=0, end=rare)
        )
        series.append(Points(late, [limit] * 2, [least, 0.5], "dashed", tone=0, end=late))
        high = 2.2 * max(ends)  # room for a name
    powers = 10.0 ** -np.arange(max(4, int(-np.log10(least)) + 1))
    return Chart(
        title,
        Axis("response, ms", log=True, high=high),
        Axis("share of requests at least as slow", log=True, ticks=tuple(powers)),
        tuple(series),
        stamp=stamp,
        see=_PROMISE if promise else _TAIL,
    )


def moments(
    title: str, runs: Mapping[str, tuple[ArrayLike, np.ndarray]], stamp: Stamp | None = None
) -> Chart:
    """The response of each request over its planned start, and the slowest of all runs but the first.

    The first run lies on the others, and shows them where it is elsewhere; there each has its name.
    """
    highest = 1e3 * max(float(np.max(seconds)) for _, seconds in runs.values())
    series = [
        Points(name, planned, 1e3 * seconds, "points", tone=tone)
        for tone, (name, (planned, seconds)) in reversed([*enumerate(runs.items(), 1)])
    ]
    for tone, (name, (planned, seconds)) in [*enumerate(runs.items(), 1)][1:]:
        at = int(np.argmax(seconds))
        slowest = [np.asarray(planned)[at]], [1e3 * seconds[at]]
        series.append(Points(f"{name}: slowest", *slowest, "points", tone=tone, words=(name,)))
    return Chart(
        title,
        Axis("planned start, s"),
        Axis("response, ms", low=0.0, high=1.15 * highest),  # room for the names of the slowest
        tuple(series),
        stamp=stamp,
        see="Users who came while nothing was answered lie on a slope: whoever came later had less of the "
        "pause to wait for. The slope goes on after the pause, with those who stood behind them. The one "
        "client has only its first request up there: it sent the others late, counts from then, and so has "
        "them at the bottom, where the users have none.",
    )


def growth(
    title: str, come: np.ndarray, runs: Mapping[str, np.ndarray], every: float = 1.0
) -> Chart:
    """The mean response of those who came in each second of a run, under several policies."""
    second = (come // every).astype(int)
    whole = second < second[-1]  # the last one is not complete
    counts = np.bincount(second[whole])
    at = every * (np.arange(len(counts)) + 0.5)
    series = [
        Points(name, at, 1e3 * np.bincount(second[whole], seconds[whole]) / counts, tone=tone)
        for tone, (name, seconds) in enumerate(runs.items(), 1)
    ]
    return Chart(
        title,
        Axis("arrival, s", low=0.0),
        Axis("mean response of a second, ms", log=True, ticks=(10, 100, 1000, 10_000)),
        tuple(series),
        stamp=MODEL,
        see="Three of the policies have good and bad seconds. With uncancelled copies the service never "
        "recovers from a bad one: it makes more copies, and they make the next second worse.",
    )


def stragglers(title: str, workers: np.ndarray, columns: Mapping[str, ArrayLike]) -> Chart:
    """How long a step takes that waits for the slowest of so many, in mean times of one."""
    series = [
        Points(name, workers, means, tone=tone)
        for tone, (name, means) in enumerate(columns.items(), 1)
    ]
    return Chart(
        title,
        Axis("workers K", log=True, ticks=(1, 8, 64, 512, 4096)),
        Axis("step, in means of one worker", low=1.0),
        tuple(series),
        stamp=MODEL,
        see="All of these times have the same mean and about the same scatter. What decides is how rare the "
        "very long ones are: the curve of the heavy tail bends upwards, the others do not.",
    )


def batches(
    title: str,
    batch: Iterable[float],
    throughput: ArrayLike,
    seconds: ArrayLike,
    stamp: Stamp | None = None,
) -> Chart:
    """Each batch size as a point: what it answers per second, and how long that takes."""
    took = 1e3 * np.asarray(seconds)
    return Chart(
        title,
        Axis("requests per second", low=0.0),
        Axis("time of a batch, ms", low=0.0, high=1.15 * took.max()),  # room for the highest size
        (
            Points("from one to the next", throughput, took, tone=0),
            Points(
                "measured, with the size of the batch",
                throughput,
                took,
                "points",
                tone=2,
                words=tuple(f"{int(n)}" for n in batch),
            ),
        ),
        stamp=stamp,
        see="Up is a longer wait and right is more throughput. Where a step to the next batch goes mostly to "
        "the right it is cheap, and where it goes mostly up it buys little but waiting.",
    )


def gathering(batch: int, setup: float, each: float) -> Chart:
    """Mean response over the rate of arrivals: of batches that must be full, and of what is there."""
    rates = np.geomspace(50, 0.97 * batch / (setup + each * batch), 160)
    full = np.asarray(batching.full_response(rates, batch, setup, each))
    greedy = np.asarray(batching.greedy_response(rates, setup, each))
    return Chart(
        f"Full batches of {batch}, or greedy ones",
        Axis("images per second", log=True, ticks=(50, 100, 200, 500, 1000, 2000, 5000)),
        Axis("mean response, ms", log=True, ticks=(1, 3, 10, 30, 100, 300, 1000)),
        (
            Points(f"full batches of {batch}", rates, 1e3 * full, tone=2),
            Points("greedy, at most", rates, 1e3 * greedy, tone=1),
            Points(
                f"filling {batch}, on average",
                rates,
                1e3 * (batch - 1) / 2 / rates,
                "dashed",
                tone=0,
            ),
        ),
        stamp=MODEL,
        see="Little traffic makes full batches slow, since the dashed part is waiting for others to come. "
        "The greedy server is slow only where there is much to do. Its curve is the lesser of two bounds, "
        "and has a corner where they meet.",
    )


def shown(
    seconds: ArrayLike, limit: float, share: float, stamp: Stamp, asked: float = 0.01
) -> Chart:
    """What requests can show of a percentile, by how many there are and how many were above the limit."""
    from scipy.stats import binom

    seconds = np.asarray(seconds, dtype=float)
    requests, slower = seconds.size, int(np.sum(seconds > limit))
    sizes = np.union1d(np.geomspace(30, max(3000, 2 * requests), 60).round(), [requests])
    series = []
    for tone, count in enumerate((0, 1, 5), 1):
        chance = binom.cdf(count, sizes, 1 - share)
        series.append(Points(f"{count} slower", sizes, chance, tone=tone))
    here = float(binom.cdf(slower, requests, 1 - share))
    low = min(1e-4, here / 2)
    return Chart(
        f"What requests can show of a p{100 * share:g}",
        Axis("requests", log=True, ticks=(30, 100, 300, 1000, 3000)),
        Axis("p-value", log=True, low=low, high=1.2, ticks=(1e-4, 1e-3, 0.01, 0.1, 1)),
        (
            *series,
            Points(f"shown, at {1 - asked:.0%}", sizes[[0, -1]], [asked] * 2, "dashed", tone=0),
            Points("these requests", [requests], [here], "points", tone=5),
        ),
        stamp=stamp,
        see="Where a curve passes the dashed line there are enough requests, if so many of them were slow. "
        "Before that nothing is shown, however fast they were.",
    )


def chat(title: str, rates: np.ndarray, first: ArrayLike, token: ArrayLike, full: float) -> Chart:
    """How long the first token takes and each further one, over the answers per second."""
    series = {"first token (TTFT)": first, "each further token (TPOT)": token}
    ms = {name: 1e3 * np.asarray(seconds) for name, seconds in series.items()}
    ends = [min(one.min() for one in ms.values()), max(one.max() for one in ms.values())]
    return Chart(
        title,
        Axis("answers per second", low=0.0),
        Axis("time, ms", log=True, ticks=(10, 30, 100, 300, 1000)),
        (
            *(
                Points(name, rates, one, tone=tone)
                for tone, (name, one) in enumerate(ms.items(), 1)
            ),
            Points("caches of an average pass fill the memory", [full] * 2, ends, "dashed", tone=0),
        ),
        stamp=MODEL,
        see="Both rise all the way and turn up together towards a limit at the right edge. The dashed line "
        "stands before it: there the memory is full.",
    )


def tipping(title: str, delays: Iterable[float]) -> Chart:
    """How busy servers are with uncancelled copies, over their own load, up to where each delay tips.

    The delays are in mean services.
    """
    whole = np.linspace(0.02, 1.0, 50)
    series = [Points("without copies", whole, whole, "dashed", tone=0)]
    for tone, delay in enumerate(delays, 1):
        # Dense where the curve turns upwards: the end is where it is vertical.
        own = hedging.tipping_load(delay, 1.0) * (1 - np.linspace(0.99, 0, 60) ** 2)
        busy = hedging.hedged_load(own * (1 - 1e-9), delay, 1.0)
        series.append(Points(f"a copy after {delay:g} mean services", own, busy, tone=tone))
    return Chart(
        title,
        Axis("utilization without copies", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        Axis("utilization with copies", low=0.0, high=1.0, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        tuple(series),
        stamp=MODEL,
        see="How far a curve stands above the dashed line is the load of the copies. Where it ends it is "
        "vertical, and beyond that no utilization below 1 fits: the queues grow for ever.",
    )
