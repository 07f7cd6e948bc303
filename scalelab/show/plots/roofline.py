"""Section 3.7: kernels under the roofs of a machine, measured or published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from scalelab import units
from scalelab.models.kernels import attention, kernels, roofline
from scalelab.models.machines import hardware, reached
from scalelab.placement import Placed
from scalelab.records import Sample, Stamp
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.plots import MODEL, Values
from scalelab.show.plots.arrows import arrows
from scalelab.show.plots.yours import best_format, devices, roof

DEVICES = ("A100 SXM 40GB", "A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200 SXM")
FORMAT = "bf16 tensor"
# A step to the right is a higher roof.
YOURS = devices(sorted(hardware.names(), key=lambda name: roof(hardware.device(name))))
FOUND = devices(("H100 SXM", "H200 SXM", "B200 SXM"), within=1.5)
TICKS = (0.01, 0.1, 1, 10, 100, 1000)
FINE_TICKS = (0.03, 0.1, 0.3, 1, 3, 10)
RATES = tuple(10.0 ** np.arange(-3, 6))
WIDTH = 2  # bytes of such a number
ENDS = 0.03, 3000.0  # of the axis of intensity
_NEAR = 0.06  # of the picture
# Rows that a bar of a group takes, of which it is THICK in `draw`, and that part two groups.
_BAR, _GAP = 0.66, 0.5
SAME = 0.05  # bandwidths that differ by less are drawn as one
# Beside what is printed stands what a story tells.
CLAIMED = Stamp("published", note="data sheets; the two claims are invented")
TOLD = Stamp("model", note="data sheets, and the rates of an invented case")
# One layer of a model of 70 billion parameters: grouped queries, gated feed-forward.
HIDDEN, FEEDFORWARD, HEADS, KV_HEADS, HEAD = 8192, 28672, 64, 8, 128


def roofs(
    title: str,
    peaks: Mapping[str, float],
    bandwidths: Mapping[str, float],
    points: Mapping[str, tuple[float, float]] | None = None,
    stamp: Stamp | None = None,
    theory: float | None = None,
    after: Mapping[str, tuple[float, float]] | None = None,
) -> Chart:
    """Roofs of a machine over intensity, and kernels as points: {name: (intensity, FLOP/s)}.

    `peaks` are flat roofs by number format, `bandwidths` slopes by memory level; the first of each
    make the roof proper. The other slopes end where they meet it, or their flat parts would lie on it.
    A higher flat begins where its own roof leaves the one below it, so that its corner is seen. A slope
    has its name at its beginning, and of several flats each at its end.
    `theory` is a peak that was calculated, drawn from where it leaves the roof that was measured.
    `after` are points again, where something moved them to.
    """
    (format_name, peak), *others = peaks.items()
    (level, bandwidth), *faster = bandwidths.items()
    # A slope that lies on the first would hide it: they are one, under both names.
    level = " and ".join([level, *(name for name, value in faster if _alike(value, bandwidth))])
    faster = [(name, value) for name, value in faster if not _alike(value, bandwidth)]
    unit, unit_name = (1e12, "TFLOP/s") if peak >= 1e13 else (1e9, "GFLOP/s")
    corner = roofline.ridge(peak, bandwidth)
    # What moved is held against its slope, and so is drawn large.
    moved = [x for by_name in (points, after) if after and by_name for x, _ in by_name.values()]
    ends = (min(moved) / 2, 2 * max(*moved, corner)) if moved else ENDS
    at = _through(corner, ends=ends)

    def under(at, *roof):
        return roofline.attainable(at, *roof) / unit

    main, tag = f"{format_name}, from {level}", level if faster else ""
    name = format_name if others else ""
    series = [Points(main, at, under(at, peak, bandwidth), tone=1, tag=tag, end=name)]
    for tone, (name, value) in enumerate(faster, 3):
        end = roofline.ridge(peak, value)
        slope = _through(end, ends=ends)
        slope = slope[slope <= end]
        series.append(Points(f"from {name}", slope, under(slope, peak, value), tone=tone, tag=name))
    for name, value in others:
        # From a corner of its own, so that no slope's tag stands at its beginning.
        corners = (roofline.ridge(value, one) for one in (max(bandwidths.values()), bandwidth))
        begin = next((one for one in corners if one > at[0]), float(at[0]))
        right = np.union1d(at[at >= begin], begin)
        if below := [one for one in peaks.values() if peak <= one < value]:
            begin = roofline.ridge(max(below), bandwidth)
            right = _through(begin, roofline.ridge(value, bandwidth), ends=ends)
            right = right[right >= begin]
        up = under(right, value, bandwidth) if below else np.full_like(right, value / unit)
        series.append(Points(name, right, up, "dashed", tone=0, end=name))
    if theory:
        turn = roofline.ridge(theory, bandwidth)
        beyond = _through(corner, turn, ends=ends)
        beyond = beyond[beyond >= min(corner, turn)]
        label = f"{format_name}, clock × units × width"
        series.append(Points(label, beyond, under(beyond, theory, bandwidth), "dashed", tone=5))
    first = "before" if after else "kernel"
    for tone, label, by_name in ((2, first, points), (4, "after", after)):
        if by_name:
            x, y = zip(*by_name.values(), strict=True)
            # What moved has its name beside it, once where that is the same, and needs no number.
            names, words = (tuple(by_name), ()) if not after else ((), tuple(by_name))
            quiet = label == "after" and words == tuple(points or ())
            at, high = np.array(x), np.array(y) / unit
            drawn = Points(label, at, high, "points", tone, names=names, words=words, quiet=quiet)
            series.append(drawn)
    reached = np.concatenate([one.y for one in series])
    before = ends[0] / (3 if moved else 8) if faster else None
    behind = ends[1] * 1.33 ** (1 + max(map(len, peaks))) if others else None
    if points and after:
        across = (before or ends[0], behind or ends[1])
        pairs = zip(points.values(), after.values(), strict=True)
        led = _led(pairs, unit, across, (0.7 * reached.min(), 1.6 * reached.max()))
        series[-2:-2] = led  # below the points
    see = "Left of the corner of a roof its slope is the limit, and right of it the flat."
    if points and not after:
        see = (
            "Read each point against the roof that the legend names first, at its intensity, and not against "
            "the peak. How far below it stands is what its slower clock alone does not explain; one above it "
            "says that a count or a slope is wrong."
        )
    if after:
        see = (
            "To the right means fewer bytes for the same arithmetic, and upward less time. A point that "
            "moved along its slope is as near to its roof as before."
        )
    return Chart(
        title,
        # The names of the slopes need room before them, and those of the flats behind.
        Axis("intensity, FLOP per byte", True, before, behind, FINE_TICKS if moved else TICKS),
        # And a little above and below, lest a number or a tag is cut.
        Axis(unit_name, True, 0.7 * reached.min(), 1.6 * reached.max(), RATES),
        tuple(series),
        stamp=stamp,
        see=see,
    )


def published(device: str) -> Chart:
    """The printed roofs of a device in four number formats, and the best products found on it.

    The scale of the FLOP/s is linear: on a logarithmic one a fifth of a peak is hardly to be seen.
    """
    spec = hardware.device(device)
    printed = {"bf16": 1, "fp8": 3, "tf32": 4, "fp32": 5}
    peaks = {
        name: spec.peaks[key]
        for name in printed
        if (key := name if name == "fp32" else f"{name} tensor") in spec.peaks
    }
    low, high = 30.0, 4000.0
    # One slope for all: drawn once for each format, they would lie on one another.
    last = roofline.ridge(max(peaks.values()), spec.bandwidth)
    at = np.geomspace(low, last, 60)
    slope = roofline.attainable(at, max(peaks.values()), spec.bandwidth) / 1e12
    series = [Points("slope of the memory, printed", at, slope, tone=0)]
    for name, peak in peaks.items():
        begin = max(roofline.ridge(peak, spec.bandwidth), low)
        series.append(
            Points(
                f"{name}, printed", [begin, high], [peak / 1e12] * 2, "dashed", tone=printed[name]
            )
        )
    readouts = {}
    for one in reached.best_products(device):
        kernel = kernels.gemm(*one.shape, width=one.width)
        here = [float(kernel.intensity)], [one.rate / 1e12]
        series.append(
            Points(f"{one.format}, best found", *here, "points", tone=printed[one.format])
        )
        readouts[f"{one.format}, of the printed peak"] = f"{one.share:.1%}"
    return Chart(
        f"{device}: what is printed, and the best products found",
        Axis("intensity, FLOP per byte", True, low, high, ticks=(30, 100, 300, 1000, 3000)),
        Axis("TFLOP/s", low=0, high=1.1 * max(peaks.values()) / 1e12),
        tuple(series),
        readouts,
        said("data sheets, and Bekman's table"),
        "Each point belongs to the dashed roof of its colour, right of its corner and below its flat. The "
        "scale of the FLOP/s is linear, so that the gap to a flat is seen; a slope is bent on it.",
    )


def kernels_under(placed: Mapping[str, Sequence[Placed]], device: str) -> Chart:
    """Kernels that were measured on a device, in courses, under its printed roofs: {course: kernels}.

    A course whose name ends in fp8 belongs to the higher, dashed roof.
    """
    spec = hardware.device(device)
    wide, narrow = (hardware.peak(spec, f"{name} tensor") for name in ("bf16", "fp8"))
    low, high = 0.7, 6000.0
    corners = [roofline.ridge(one, spec.bandwidth) for one in (wide, narrow)]
    at = _through(*corners, ends=(low, high))
    beyond = at[at >= corners[0]]
    series = [
        Points(
            "roof, bf16",
            at,
            roofline.attainable(at, wide, spec.bandwidth) / 1e12,
            tone=0,
            end="bf16",
        ),
        Points(
            "roof, fp8",
            beyond,
            roofline.attainable(beyond, narrow, spec.bandwidth) / 1e12,
            "dashed",
            tone=0,
            end="fp8",
        ),
    ]
    for tone, (course, points) in enumerate(placed.items(), 1):
        x, y = zip(*((one.intensity, one.achieved / 1e12) for one in points), strict=True)
        series.append(Points(course, x, y, "joined", tone=tone))
    return Chart(
        f"One layer of a large model on an {device.split()[0]}",
        Axis("intensity, FLOP per byte", True, low, 4 * high, ticks=(1, 10, 100, 1000)),
        Axis("TFLOP/s", True, ticks=(1, 10, 100, 1000)),
        tuple(series),
        stamp=next(iter(placed.values()))[0].sample.stamp,
        see="The course of fp8 belongs to the dashed roof, all others to the solid one. What runs along the "
        "slope waits for memory; right of its corner arithmetic is the slower clock, and what keeps a point "
        "below the flat the picture does not say.",
    )


def pieces(
    sizes: Sequence[int],
    seconds: Sequence[float],
    starts: Sequence[float],
    once: float,
    every: float,
    stamp: Stamp,
) -> Chart:
    """Time of a chain of walks over the size of its pieces: measured, and what its clocks ask for.

    `starts` are the seconds of starting every call, which fall as one over the size; `once` and `every`
    those of memory, if only the first walk of a piece reaches it, or all of them.
    """
    at = np.asarray(sizes, float)
    low, high = 0.5 * once, 1.5 * max(max(seconds), every, max(starts))
    # Down to the lower edge of the picture.
    end = np.clip(at[0] * starts[0] / low, at[0], at[-1])
    along = np.append(at[at < end], end)
    return Chart(
        "A chain of walks, piece by piece",
        Axis("numbers in a piece", True),
        Axis("ms", True, 1e3 * low, 1e3 * high),
        (
            Points("measured", at, 1e3 * np.asarray(seconds), "joined", tone=1),
            Points("starts alone", along, 1e3 * at[0] * starts[0] / along, "dashed", tone=2),
            Points("every walk from memory", at, np.full(len(at), 1e3 * every), "dashed", tone=3),
            Points("one walk from memory", at, np.full(len(at), 1e3 * once), "dashed", tone=4),
        ),
        stamp=stamp,
        see="Small pieces pay for starts, large ones for walks through memory. Look for the lowest point "
        "between the two.",
    )


def three_moves(tokens: int = 4096, head: int = 128, group: int = 8) -> Chart:
    """Attention on an H100 as it was and as it became: up to the flat, under a higher one, along the slope.

    The rates of the attention that reads are published; what writes stands on the roof.
    """
    spec = hardware.device("H100 SXM")
    peak, narrow = (hardware.peak(spec, f"{name} tensor") for name in ("bf16", "fp8"))
    reads, halved = (
        float(attention.fused(tokens, tokens, head, width).intensity) for width in (2, 1)
    )
    alone, shared = (
        float(attention.decode(tokens, head, WIDTH, group, keys).intensity) for keys in (group, 1)
    )
    moves = {
        "reaching the flat: copies overlapped": ((reads, 0.35 * peak), (reads, 840e12)),
        "raising the flat: 8-bit numbers": ((reads, 840e12), (halved, 1.3e15)),
        f"along the slope: {group} heads share keys": tuple(
            (at, float(roofline.attainable(at, peak, spec.bandwidth))) for at in (alone, shared)
        ),
    }
    corners = [roofline.ridge(one, spec.bandwidth) for one in (peak, narrow)]
    at = np.union1d(np.geomspace(0.5, 10_000, 60), corners)
    high = at[at >= corners[0]]
    series = [
        Points("roof, bf16", at, roofline.attainable(at, peak, spec.bandwidth) / 1e12, tone=0),
        Points(
            "roof, fp8",
            high,
            roofline.attainable(high, narrow, spec.bandwidth) / 1e12,
            "dashed",
            tone=0,
        ),
    ]
    for tone, (name, places) in enumerate(moves.items(), 1):
        x, y = zip(*places, strict=True)
        series.append(Points(name, x, np.array(y) / 1e12, "moved", tone=tone))
    return Chart(
        "Three moves of attention on an H100",
        Axis("intensity, FLOP per byte", log=True, ticks=(1, 10, 100, 1000, 10_000)),
        Axis("TFLOP/s", log=True, ticks=(1, 10, 100, 1000)),
        tuple(series),
        stamp=said("Shah et al. 2024; the attention that writes is placed on its roof"),
        see="The first two moves concern attention that reads a prompt, at the right. The third is of "
        "attention that writes: it gains most, and stays far below the flat.",
    )


def clocks(counts: Sequence[kernels.Kernel], peak: float, bandwidth: float) -> Chart:
    """What the arithmetic and the bytes of some kernels take at least, as shares of the slower clock."""
    rows, times = {}, {}
    for one in counts:
        compute, fetch = float(one.flops / peak), float(one.bytes / bandwidth)
        slower = max(compute, fetch)
        rows[one.name] = {
            "arithmetic, F/P": 100 * compute / slower,
            "fetching, Q/b": 100 * fetch / slower,
        }
        times[one.name] = f"{units.text(compute, 's')} and {units.text(fetch, 's')}"
    return bars(
        "Two clocks of two products",
        "share of the slower clock, %",
        rows,
        MODEL,
        "The long bar is the least that a kernel takes. The short one could grow as long as that, and the "
        "least would stay.",
        times,
    )


def one_line(pairs: Mapping[str, tuple[Sample, Sample]]) -> Chart:
    """Kernels as they were timed first, and after one line was changed: {name: (before, after)}."""
    rows, times = {}, {}
    for name, (before, after) in pairs.items():
        rows[name] = {
            "as in the dozen": 1e3 * before.median,
            "one line changed": 1e3 * after.median,
        }
        times[name] = f"{units.text(before.median, 's')}, then {units.text(after.median, 's')}"
    return bars(
        "Two kernels, and one line changed",
        "ms",
        rows,
        next(iter(pairs.values()))[0].stamp,
        "The kernel is the same in both bars of a pair. Only what it is given differs.",
        times,
    )


def both_counts(names: Sequence[str], named: Values, fetched: Values, stamp: Stamp) -> Chart:
    """Bytes per second of some ways through memory, by what their code names and by what is fetched."""
    rows = {
        name: {"named": one / 1e9, "fetched": other / 1e9}
        for name, one, other in zip(names, named, fetched, strict=True)
    }
    return bars(
        "Ways through memory, by both counts",
        "GB/s",
        rows,
        stamp,
        "Where the two bars of a way differ, its code names bytes that are not fetched: they only leave.",
    )


def above(device: str, rates: Mapping[str, float]) -> Chart:
    """Rates in FLOP/s that somebody claims of a device, between its printed peaks in bf16."""
    spec = hardware.device(device)
    known = {
        "printed, dense": hardware.peak(spec, FORMAT),
        **rates,
        "printed, sparse": spec.sparse_peaks[FORMAT],
    }
    return bars(
        f"Two rates above the roof of an {device.split()[0]}",
        "TFLOP/s",
        {
            name: {"claimed" if name in rates else "printed": rate / 1e12}
            for name, rate in known.items()
        },
        CLAIMED,
        "Both claims lie above the dense peak and below the sparse one: ask which peak was meant.",
        {name: f"{rate / 1e12:,.0f} TFLOP/s" for name, rate in known.items()},  # as on the axis
    )


def tokens(told: Mapping[str, Mapping[str, float]], weights: float) -> Chart:
    """Tokens a second of one user on some devices, as somebody told them, under what memory allows.

    Each token reads all `weights`, in bytes: {device: {how it ran: tokens a second}}.
    """
    rows = {}
    for name, measured in told.items():
        rows[name] = {"at most": hardware.device(name).bandwidth / weights, **measured}
    return bars(
        "Tokens a second, one user at a time",
        "tokens a second",
        rows,
        TOLD,
        "The first bar of a device is its slope, in tokens a second. No faster arithmetic closes the gap "
        "below it.",
        {name: ", ".join(f"{k} {v:.0f}" for k, v in row.items()) for name, row in rows.items()},
    )


def bars(
    title: str,
    label: str,
    rows: Mapping[str, Mapping[str, float]],
    stamp: Stamp,
    see: str,
    readouts: Mapping[str, str] | None = None,
) -> Chart:
    """Bars from zero, in groups: {name of the group: {series: how long its bar is}}.

    Those of a group stand below each other, so that none hides another.
    """
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    middles, top = [], 0.0
    for row in rows.values():
        middles.append(top - (len(row) * _BAR + _GAP) / 2)
        top -= len(row) * _BAR + _GAP
    series = []
    for tone, name in enumerate(names, 1):
        x, y = [], []
        for middle, row in zip(middles, rows.values(), strict=True):
            if name in row:
                height = middle + _BAR * ((len(row) - 1) / 2 - list(row).index(name))
                x += [0.0, row[name], np.nan]
                y += [height, height, np.nan]
        series.append(Points(name, x, y, "lane", tone=tone))
    return Chart(
        title,
        Axis(label, low=0.0),
        Axis("", low=top, high=0.0, ticks=tuple(middles), names=tuple(rows)),
        tuple(series),
        dict(readouts or {}),
        stamp,
        see,
    )


def said(note: str) -> Stamp:
    """Return the stamp of what others have published."""
    return Stamp("published", note=note)


def _alike(one, other):
    return abs(one / other - 1) < SAME


def _led(pairs, unit, across, up):
    """Yield arrows from where points were to where they are, on axes that are both logarithmic."""
    wide, high = (np.log10(most / least) for least, most in (across, up))
    ends = [
        tuple(map(np.log10, (x, y / unit, to_x, to_y / unit))) for (x, y), (to_x, to_y) in pairs
    ]
    # What hardly moved has no room for an arrow between its marks.
    far = [
        one for one in ends if np.hypot((one[2] - one[0]) / wide, (one[3] - one[1]) / high) > _NEAR
    ]
    if far:
        led = arrows("from before to after", far, wide, high)
        yield replace(led, x=10**led.x, y=10**led.y)


def _through(*corners, ends=ENDS):
    """Return intensities over the whole axis, among them those at which a roof has a corner."""
    return np.union1d(np.geomspace(ends[0], ends[1], 60), corners)


def layer(sequences: int, context: int, width: int = WIDTH) -> dict[str, kernels.Kernel]:
    """The kernels of one layer of a large model that reads a prompt, or adds one token to it."""
    one, all_tokens = sequences, sequences * context
    heads = {"heads": HEADS, "kv_heads": KV_HEADS, "sequences": sequences}
    return {
        "product, reading": kernels.gemm(all_tokens, FEEDFORWARD, HIDDEN, width),
        "product, writing": kernels.gemm(one, FEEDFORWARD, HIDDEN, width),
        "attention, reading": attention.fused(context, context, HEAD, width, causal=True, **heads),
        "attention, writing": attention.decode(context, HEAD, width, **heads),
    }


def moving(device: str, sequences: float, context: float) -> Chart:
    """Where a layer's products and attention stand on a device, by batch and length of context."""
    spec = hardware.device(device)
    (name, peak, width), bandwidth = best_format(spec), spec.bandwidth
    points = layer(int(sequences), int(context), width)
    at = np.union1d(np.geomspace(0.5, 20000, 60), roofline.ridge(peak, bandwidth))
    series = [Points("roof", at, roofline.attainable(at, peak, bandwidth) / 1e12, tone=0)]
    readouts = {"Ridge": f"{roofline.ridge(peak, bandwidth):.0f} FLOP/B, in {name}"}
    for tone, (name, kernel) in enumerate(points.items(), 1):
        reached = float(roofline.attainable(kernel.intensity, peak, bandwidth))
        here = [float(kernel.intensity)], [reached / 1e12]
        series.append(Points(name, *here, "points", tone=tone))
        counted = kernel.flops, kernel.bytes, peak, bandwidth
        least = units.text(float(roofline.bounds(*counted)[0]), "s")
        kind = f"{units.text(float(kernel.intensity))} FLOP/B, {roofline.classify(*counted)}"
        readouts[name.capitalize()] = f"{kind}, at least {least}"
    return Chart(
        f"{device}: {sequences:,.0f} sequences of {context:,.0f} tokens",
        Axis("intensity, FLOP per byte", log=True, ticks=(1, 10, 100, 1000, 10000)),
        Axis("at most, TFLOP/s", log=True, ticks=(0.01, 0.1, 1, 10, 100, 1000)),
        tuple(series),
        readouts,
        MODEL,
        "A point can move along the roof only. More sequences move the product that writes to the right; the "
        "attention that writes stays where it is.",
    )
